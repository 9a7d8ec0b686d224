package assets

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/vitrine-go/vitrine/internal/index"
	"github.com/vitrine-go/vitrine/internal/record"
	"github.com/vitrine-go/vitrine/storage"
)

// recordTx changes the records of a library. It keeps what it writes until it ends, or until a scan must see it.
type recordTx struct {
	recordReader
	tx      storage.Tx
	writer  *index.Writer
	highest int64             // no asset has a higher ordinal
	pending map[string][]byte // what is not written yet, by key; nil is to be deleted
	read    map[string][]byte // values that were read, nil for what is not there
	entries []FeedEntry
	changed bool // the State
}

// mostRead is how many values a transaction remembers. Assets are mostly read just before they are put.
const mostRead = 2000

func (t *recordTx) get(ctx context.Context, keys []string) ([][]byte, error) {
	values := make([][]byte, len(keys))
	var missing []int
	var names []string
	for i, key := range keys {
		v, known := t.pending[key]
		if !known {
			v, known = t.read[key]
		}
		if values[i] = v; !known {
			missing, names = append(missing, i), append(names, key)
		}
	}
	if len(names) == 0 {
		return values, ctx.Err()
	}
	found, err := t.r.Get(ctx, names...)
	if err != nil {
		return nil, err
	}
	if len(t.read)+len(names) > mostRead {
		clear(t.read)
	}
	for i, at := range missing {
		values[at] = found[i]
		t.read[names[i]] = found[i]
	}
	return values, nil
}

// flush writes what is pending.
func (t *recordTx) flush(ctx context.Context) error {
	var puts []storage.Entry
	var deletes []string
	for _, key := range slices.Sorted(maps.Keys(t.pending)) {
		if v := t.pending[key]; v != nil {
			puts = append(puts, storage.Entry{Key: key, Value: v})
		} else {
			deletes = append(deletes, key)
		}
	}
	clear(t.pending)
	clear(t.read)
	if len(deletes) > 0 {
		if err := t.tx.Delete(ctx, deletes...); err != nil {
			return err
		}
	}
	if len(puts) == 0 {
		return nil
	}
	return t.tx.Put(ctx, puts...)
}

// finish writes everything that is not written yet.
func (t *recordTx) finish(ctx context.Context) error {
	if t.highest > max(t.state.Last, t.state.Highest) {
		t.state.Highest, t.changed = t.highest, true
	}
	if t.changed {
		if err := t.put(t.key(stateKind), t.state); err != nil {
			return err
		}
	}
	if len(t.entries) > 0 {
		if err := t.feed().Add(ctx, t.tx, t.entries...); err != nil {
			return err
		}
	}
	if err := t.writer.Finish(ctx); err != nil {
		return err
	}
	return t.flush(ctx)
}

func (t *recordTx) put(key string, value any) error {
	e, err := jsonEntry(key, value)
	t.pending[key] = e.Value
	return err
}

func (t *recordTx) SetState(ctx context.Context, s State) error {
	if t.state.Key == nil {
		if err := t.put(t.key(libraryKind), t.lib); err != nil {
			return err
		}
	}
	highest := max(t.highest, t.state.Highest)
	if highest <= s.Last {
		highest = 0
	}
	t.state = libraryState{s.Key[:], s.Last, s.At, s.Count, s.Tree, highest}
	t.changed = true
	return ctx.Err()
}

func (t *recordTx) PutAsset(ctx context.Context, r Record, x Index) error {
	if r.Ordinal < 1 || r.Ordinal > MaxOrdinal {
		return fmt.Errorf("asset %d: want an ordinal from 1 to %d", r.Ordinal, int64(MaxOrdinal))
	}
	var old assetRow
	var terms []string
	if r.Ordinal <= t.highest {
		rows, err := t.rows(ctx, []int64{r.Ordinal})
		if err != nil {
			return err
		}
		if old = rows[0]; old.Ordinal != 0 {
			if terms, err = old.termsBeside(r, x); err != nil {
				return err
			}
		}
	}
	t.highest = max(t.highest, r.Ordinal)
	t.writer.Change(r.Ordinal, terms, storedTerms(x))
	if old.Ordinal != 0 && old.Origin != r.Origin {
		t.pending[t.origin(old.Origin)] = nil
	}
	if old.Ordinal == 0 || old.Origin != r.Origin {
		t.pending[t.origin(r.Origin)] = []byte(record.Number(r.Ordinal))
	}
	t.pending[t.asset(r.Ordinal)] = encodeAsset(r, x)
	return ctx.Err()
}

func (t *recordTx) DeleteAsset(ctx context.Context, ordinal int64) error {
	old, err := t.row(ctx, ordinal)
	if err != nil {
		return err
	}
	terms, err := old.terms()
	if err != nil {
		return err
	}
	t.writer.Change(ordinal, terms, nil)
	t.pending[t.origin(old.Origin)], t.pending[t.asset(ordinal)] = nil, nil
	return nil
}

func (t *recordTx) PutFolder(ctx context.Context, f FolderRecord) error {
	if err := t.put(t.folder(f.ID), f); err != nil {
		return err
	}
	return ctx.Err()
}

func (t *recordTx) AddEntry(ctx context.Context, e FeedEntry) error {
	e.Names, e.Data = slices.Clone(e.Names), slices.Clone(e.Data)
	t.entries = append(t.entries, e)
	return ctx.Err()
}

func (t *recordTx) RemoveEntries(ctx context.Context, before int64, limit int) error {
	return t.feed().Remove(ctx, t.tx, before, limit)
}
