package assets

import (
	"context"

	"github.com/vitrine-go/vitrine/internal/index"
	"github.com/vitrine-go/vitrine/internal/record"
	"github.com/vitrine-go/vitrine/storage"
)

// Rebuild builds the indices of all libraries anew, from their assets, in many short updates. It may be called again if it was
// interrupted. Meanwhile libraries can be changed, and searches of the one that is being built anew are ErrBusy.
func Rebuild(ctx context.Context, db storage.Store) error {
	for lib, err := range Libraries(ctx, db) {
		if err == nil {
			err = rebuildIndex(ctx, db, lib)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func rebuildIndex(ctx context.Context, db storage.Store, lib Library) error {
	terms := index.Index{Space: spaceOf(lib)}
	update := func(anew bool, fn func(*records) error) error {
		return record.Update(ctx, db, terms.Space, storage.UpdateOptions{Large: true}, func(t *record.Tx) error {
			if anew { // whatever its state was, which may be damaged
				if err := t.Delete(ctx, terms.Key()); err != nil {
					return err
				}
			}
			r, err := openRecords(ctx, lib, nil, t, t)
			if err == nil {
				err = fn(r)
			}
			if err != nil {
				return err
			}
			return r.writer.Finish(ctx)
		})
	}
	for more := true; more; {
		err := update(true, func(r *records) (err error) {
			more, err = r.writer.Clear(ctx)
			return err
		})
		if err != nil {
			return err
		}
	}
	for end := false; !end; {
		err := update(false, func(r *records) error {
			last, building := r.writer.Built()
			if end = !building; end { // another process has ended it
				return nil
			}
			var entries []index.Entry
			for a, err := range r.assetsIn(nil, pageRange{after: last, ascending: true, limit: atOnce}) {
				var e index.Entry
				if err == nil {
					e, err = indexEntry(a)
				}
				if err != nil {
					return err
				}
				entries = append(entries, e)
			}
			end = len(entries) == 0
			return r.writer.Build(ctx, entries, end)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
