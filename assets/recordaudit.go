package assets

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/vitrine-go/vitrine/internal/index"
	"github.com/vitrine-go/vitrine/internal/record"
	"github.com/vitrine-go/vitrine/storage"
)

// Audit looks at all records of all libraries, and yields what a Service with these limits cannot have written, or an error as the last
// pair. A zero limit is the default. Each library is looked at in one View.
func Audit(ctx context.Context, db storage.Store, limits Limits) iter.Seq2[storage.Fault, error] {
	return func(yield func(storage.Fault, error) bool) {
		for lib, err := range NewRecords(db).Libraries(ctx) {
			var faults []storage.Fault
			if err == nil {
				err = NewRecords(db).View(ctx, lib, func(r Reader) error {
					faults = nil
					if fault, err := auditRules(ctx, r, lib, limits); err != nil {
						return err
					} else if fault != nil {
						faults = append(faults, storage.Fault{Key: spaceOf(lib) + " ", Wrong: fault.Error()})
					}
					return nil
				})
			}
			if err == nil && faults == nil {
				err = db.View(ctx, func(r storage.Reader) error {
					faults = nil
					for fault, err := range auditRecords(ctx, r, lib) {
						if err != nil {
							return err
						}
						faults = append(faults, storage.Fault{Key: spaceOf(lib) + " ", Wrong: fault})
					}
					return nil
				})
			}
			for _, fault := range faults {
				if !yield(fault, nil) {
					return
				}
			}
			if err != nil {
				yield(storage.Fault{}, err)
				return
			}
		}
	}
}

func auditRules(ctx context.Context, r Reader, lib Library, limits Limits) (fault, err error) {
	state, err := r.State(ctx)
	if err != nil {
		return nil, err
	}
	a, fault := NewAuditor(lib, state, limits)
	if fault != nil {
		return fault, nil
	}
	for f, err := range r.Folders(ctx) {
		if err != nil {
			return nil, err
		}
		if fault := a.Folder(f); fault != nil {
			return fault, nil
		}
	}
	for x, err := range r.Assets(ctx, AssetQuery{Ascending: true}) {
		if err != nil {
			return nil, err
		}
		if fault := a.Asset(x); fault != nil {
			return fault, nil
		}
	}
	return a.End(), nil
}

// auditRecords compares the records of a library with each other, and yields a sentence for each contradiction, or an error as the
// last pair:
//
//   - the State counts the assets, and none has a higher ordinal than it says;
//   - each asset is in folders that exist, is not added before the one with a lower ordinal, and its origin leads to it;
//   - each origin leads to an asset that has it;
//   - the parent of each folder exists, and no folder is below itself;
//   - the index has the terms that follow from the assets, and no others.
func auditRecords(ctx context.Context, r storage.Reader, lib Library) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		a := recordAudit{ctx: ctx, folders: map[string]bool{}}
		a.yield = func(format string, args ...any) {
			a.left = a.left || !yield(fmt.Sprintf(format, args...), nil)
		}
		err := a.run(r, lib)
		if err != nil && !a.left {
			yield("", err)
		}
	}
}

type recordAudit struct {
	*recordReader
	ctx     context.Context
	yield   func(format string, args ...any)
	left    bool // the loop over the faults has ended
	folders map[string]bool
	count   int64
	last    Record
}

func (a *recordAudit) run(r storage.Reader, lib Library) (err error) {
	var value []byte
	if a.recordReader, value, err = (&records{}).reader(a.ctx, lib, r); err != nil {
		return err
	}
	for f, err := range a.Folders(a.ctx) {
		if err != nil {
			return err
		}
		a.folders[f.ID] = true
	}
	if err := CheckTree(a.Folders(a.ctx)); err != nil {
		a.yield("%v", err)
	}
	for part, err := range a.inParts(a.ctx, 0) {
		if err == nil {
			err = a.checkAssets(part)
		}
		if err != nil || a.left {
			return err
		}
	}
	if a.count != a.state.Count {
		a.yield("the State counts %d assets, and there are %d", a.state.Count, a.count)
	}
	if err := a.checkOrigins(); err != nil || a.left {
		return err
	}
	in, err := a.terms().Reader(r, value)
	if err != nil {
		return err
	}
	for fault, err := range in.Audit(a.ctx, a.indexed(a.ctx)) {
		if err != nil || a.left {
			return err
		}
		a.yield("the index: %s", fault)
	}
	return nil
}

// inParts yields the assets after an ordinal, some at once.
func (r *recordReader) inParts(ctx context.Context, after int64) iter.Seq2[[]assetRow, error] {
	return func(yield func([]assetRow, error) bool) {
		in := storage.Prefix(r.assets)
		in.From, in.Expect = r.asset(after+1), atOnce
		var part []assetRow
		for e, err := range r.r.Scan(ctx, in) {
			var a assetRow
			if err == nil {
				a, err = r.decode(e)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if part = append(part, a); len(part) == atOnce {
				if !yield(part, nil) {
					return
				}
				part = nil
			}
		}
		if len(part) > 0 {
			yield(part, nil)
		}
	}
}

func (a *recordAudit) checkAssets(part []assetRow) error {
	keys := make([]string, len(part))
	for i, row := range part {
		keys[i] = a.origin(row.Origin)
	}
	values, err := a.r.Get(a.ctx, keys...)
	if err != nil {
		return err
	}
	for i, row := range part {
		if want := record.Number(row.Ordinal); string(values[i]) != want {
			a.yield("the asset %d has an origin that leads to %q and not to %q", row.Ordinal, values[i], want)
		}
		if highest := max(a.state.Last, a.state.Highest); row.Ordinal > highest {
			a.yield("the asset %d is above the highest ordinal, %d", row.Ordinal, highest)
		}
		if row.CreatedAt < a.last.CreatedAt && a.count > 0 {
			a.yield("the asset %d was added before the asset %d, whose ordinal is lower", row.Ordinal, a.last.Ordinal)
		}
		for _, id := range row.Folders {
			if !a.folders[id] {
				a.yield("the asset %d is in the folder %q, which does not exist", row.Ordinal, id)
			}
		}
		a.last = row.Record
		a.count++
	}
	return nil
}

// checkOrigins looks for origins without an asset. Those with one were checked with it.
func (a *recordAudit) checkOrigins() error {
	var entries []storage.Entry
	check := func() error {
		keys := make([]string, len(entries))
		for i, e := range entries {
			keys[i] = a.assets + string(e.Value)
		}
		values, err := a.r.Get(a.ctx, keys...)
		if err != nil {
			return err
		}
		for i, v := range values {
			row, err := decodeAsset(1, v)
			if v == nil || err != nil || a.origin(row.Origin) != entries[i].Key {
				a.yield("the origin %q leads to %q, which is no asset with this origin", entries[i].Key, keys[i])
			}
		}
		entries = entries[:0]
		return nil
	}
	for e, err := range a.r.Scan(a.ctx, storage.Prefix(a.origins)) {
		if err != nil || a.left {
			return err
		}
		if entries = append(entries, e); len(entries) == atOnce {
			if err := check(); err != nil {
				return err
			}
		}
	}
	if len(entries) == 0 {
		return nil
	}
	return check()
}

// indexed yields what the index shall have.
func (r *recordReader) indexed(ctx context.Context) iter.Seq2[index.Entry, error] {
	return func(yield func(index.Entry, error) bool) {
		for part, err := range r.inParts(ctx, 0) {
			for _, row := range part {
				var e index.Entry
				if e, err = row.indexed(); !yield(e, err) || err != nil {
					return
				}
			}
			if err != nil {
				yield(index.Entry{}, err)
				return
			}
		}
	}
}

// indexed returns what the index shall have of an asset.
func (a assetRow) indexed() (index.Entry, error) {
	terms, err := a.terms()
	if err != nil {
		err = fmt.Errorf("asset %d: %w", a.Ordinal, err)
	}
	return index.Entry{Ordinal: a.Ordinal, Terms: terms}, err
}

// Rebuild builds the indices of all libraries anew, from their assets. It may be called again if it was interrupted. Meanwhile
// libraries can be changed, and searches of the one that is being built anew are ErrBusy.
func Rebuild(ctx context.Context, db storage.Store) error {
	for lib, err := range NewRecords(db).Libraries(ctx) {
		if err == nil {
			err = rebuildIndex(ctx, db, lib)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// rebuildIndex builds the index of a library anew, in many short updates. Meanwhile the library can be changed, and searches are ErrBusy.
// It may be called again if it was interrupted.
func rebuildIndex(ctx context.Context, db storage.Store, lib Library) error {
	update := func(fn func(*recordReader, *index.Writer) error) error {
		return updateIndex(ctx, db, lib, storage.UpdateOptions{Large: true}, fn)
	}
	for more := true; more; {
		err := update(func(_ *recordReader, w *index.Writer) (err error) {
			more, err = w.Clear(ctx)
			return err
		})
		if err != nil {
			return err
		}
	}
	for end := false; !end; {
		err := update(func(r *recordReader, w *index.Writer) error {
			last, building := w.Built()
			if end = true; !building { // another process has ended it
				return nil
			}
			var entries []index.Entry
			for part, err := range r.inParts(ctx, last) {
				if err != nil {
					return err
				}
				for _, row := range part {
					e, err := row.indexed()
					if err != nil {
						return err
					}
					entries = append(entries, e)
				}
				end = false
				break
			}
			return w.Build(ctx, slices.Clip(entries), end)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// eraseRemoved leaves no word of the assets that were removed in the index, and nothing of them in the files of the store.
func eraseRemoved(ctx context.Context, db storage.Store, lib Library) error {
	return updateIndex(ctx, db, lib, storage.UpdateOptions{Large: true, Erase: true}, func(_ *recordReader, w *index.Writer) error {
		return w.Fold(ctx)
	})
}

// updateIndex changes the index of a library.
func updateIndex(ctx context.Context, db storage.Store, lib Library, o storage.UpdateOptions, fn func(*recordReader, *index.Writer) error) error {
	return db.Update(ctx, spaceOf(lib), o, func(t storage.Tx) error {
		r, value, err := (&records{}).reader(ctx, lib, t)
		if err != nil {
			return err
		}
		w, err := r.terms().Writer(t, value)
		if err != nil && !o.Erase {
			w, err = r.terms().Writer(t, nil) // its state is damaged, and it is built anew
		}
		if err == nil {
			err = fn(r, w)
		}
		if err != nil {
			return err
		}
		return w.Finish(ctx)
	})
}
