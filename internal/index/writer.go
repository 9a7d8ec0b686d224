package index

import (
	"context"
	"math/bits"
	"math/rand/v2"

	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/storage"
)

// The thresholds of segments and folds. Tests change them.
var (
	recentBytes = 2 << 10 // the maximum number of bytes of changes in the state
	foldAt      = 1 << 19 // the number of changes in all segments at which a fold begins
	fanout      = 8       // the number of segments of the same size class that are merged
	mergeAt     = 1 << 16 // the maximum number of changes in a merged segment
	sliceAt     = 500     // the number of changes between two slices of a fold
	slicePages  = 120     // the maximum number of pages that a slice writes, unless its update is large itself
)

// Writer changes an index in a transaction. It reads its own changes.
type Writer struct {
	Reader
	tx      storage.Tx
	pending []unwritten
	latest  segment // pending as a segment; nil if pending has changed since
}

// Writer returns a Writer. value is the value of the key x.Key() in the transaction. The transaction must change the
// index through this Writer alone, and call Finish at its end.
func (x Index) Writer(t storage.Tx, value []byte) (*Writer, error) {
	r, err := x.Reader(t, value)
	if err != nil {
		return nil, err
	}
	w := &Writer{Reader: *r, tx: t}
	w.writer = w
	return w, nil
}

// Change replaces the terms of an ordinal. Both lists must be sorted and unique, and old must have exactly the terms
// that the ordinal has in the index.
func (w *Writer) Change(ordinal int64, old, new []string) {
	if w.state.building && ordinal > w.state.built {
		return
	}
	note := func(term string, gone bool) {
		w.pending = append(w.pending, unwritten{term, change{ordinal, gone}})
		w.latest = nil
	}
	for len(old) > 0 || len(new) > 0 {
		switch {
		case len(new) == 0 || len(old) > 0 && old[0] < new[0]:
			note(old[0], true)
			old = old[1:]
		case len(old) == 0 || new[0] < old[0]:
			note(new[0], false)
			new = new[1:]
		default:
			old, new = old[1:], new[1:]
		}
	}
}

// unwritten returns the changes that are not stored yet.
func (w *Writer) unwritten() []segment {
	if len(w.pending) == 0 {
		return nil
	}
	if w.latest == nil {
		w.latest, _ = segmentOf(w.pending)
	}
	return []segment{w.latest}
}

// Finish stores the changes and continues a fold. It must be the last call.
func (w *Writer) Finish(ctx context.Context) error {
	n := len(w.pending)
	if n == 0 {
		return nil
	}
	if err := w.settle(ctx, recentBytes); err != nil {
		return err
	}
	total := 0
	for _, s := range w.state.segments {
		total += s.changes
	}
	if w.state.folding == 0 && total >= foldAt {
		w.state.folding, w.state.at, w.state.owed = len(w.state.segments), "", 0
	} else if w.state.folding > 0 {
		w.state.owed += n
	}
	if w.state.owed >= sliceAt {
		pages := max(slicePages, n/20) * (1 + total/(4*foldAt)) // more pages if the folds cannot keep up
		if err := w.fold(ctx, pages, 2*w.state.owed); err != nil {
			return err
		}
		w.state.owed = 0
	}
	return w.putState(ctx)
}

// FoldSome continues a fold and reports whether there is more to do. It is called in place of Finish. If no fold is
// under way and begin is true, it begins one of all changes so far. After that fold, no key and no value contains a
// term of an ordinal that was removed before it began. To be sure of that, a caller ends the fold that is under way,
// then runs a whole one.
func (w *Writer) FoldSome(ctx context.Context, begin bool) (more bool, err error) {
	if err := w.settle(ctx, 0); err != nil {
		return false, err
	}
	if begin && w.state.folding == 0 {
		w.state.folding, w.state.at, w.state.owed = len(w.state.segments), "", 0
	}
	if w.state.folding > 0 {
		if err := w.fold(ctx, slicePages, 1<<40); err != nil {
			return false, err
		}
	}
	return w.state.folding > 0, w.putState(ctx)
}

func (w *Writer) putState(ctx context.Context) error {
	return w.tx.Put(ctx, storage.Entry{Key: w.Key(), Value: w.state.encode()})
}

// settle adds the pending changes to the state. If the state then has more than most bytes of changes, they all become
// a segment.
func (w *Writer) settle(ctx context.Context, most int) error {
	recent := append(w.state.recent[:len(w.state.recent):len(w.state.recent)], w.unwritten()...)
	w.pending, w.latest = nil, nil
	size := 0
	for _, s := range recent {
		size += len(s)
	}
	if w.state.recent = recent; size <= most {
		return nil
	}
	s, n, err := merged(recent)
	if w.state.recent = nil; err != nil || n == 0 {
		return err
	}
	return w.append(ctx, s, n)
}

// sizeClass returns the size class of a segment. Segments of the same class are merged.
func sizeClass(changes int) int { return bits.Len(uint(changes)) / 3 }

// append adds a segment. It is merged with the last segments if there are many of its size class.
func (w *Writer) append(ctx context.Context, s segment, n int) error {
	all, merge := w.state.segments, 0
	for class, total := sizeClass(n), n; ; class = sizeClass(total) {
		k := merge
		for k < len(all)-w.state.folding && sizeClass(all[len(all)-1-k].changes) <= class {
			total += all[len(all)-1-k].changes
			k++
		}
		if k-merge < fanout-1 || total > mergeAt {
			break
		}
		merge = k
	}
	kept := len(all) - merge
	if merge > 0 {
		if err := w.loadSegments(ctx); err != nil {
			return err
		}
		if err := w.drop(ctx, all[kept:]); err != nil {
			return err
		}
		var err error
		if s, n, err = merged(append(w.stored[kept:len(all):len(all)], s)); err != nil {
			return err
		}
	}
	w.stored = nil
	if w.state.segments = all[:kept:kept]; n == 0 {
		return nil
	}
	// The number is random. A counter would repeat numbers after an update was rolled back and after a failover to a
	// standby that lacks the last commits, and a cache could then return a wrong segment.
	number := rand.Int64N(1 << 53)
	key := w.segmentKey(number)
	w.Cache.Put(key, s, len(s)+len(key)+200)
	w.state.segments = append(w.state.segments, reference{number, n})
	return w.tx.Put(ctx, storage.Entry{Key: key, Value: s})
}

// drop deletes segments from the store.
func (w *Writer) drop(ctx context.Context, all []reference) error {
	var keys []string
	for _, s := range all {
		keys = append(keys, w.segmentKey(s.number))
	}
	return w.tx.Delete(ctx, keys...)
}

// Begin begins to build the index, of which there is nothing yet. The caller then calls Build in further updates.
// Meanwhile other updates may change the index, and reading it returns ErrBusy.
func (x Index) Begin(ctx context.Context, t storage.Tx) error {
	return t.Put(ctx, storage.Entry{Key: x.Key(), Value: state{building: true}.encode()})
}

// Drop deletes the index, whatever its state, or as many as limit entries of it if limit is above 0. It reports whether
// there are more. What remains is a state without terms.
func (x Index) Drop(ctx context.Context, t storage.Tx, limit int) (more bool, err error) {
	for _, kind := range x.Kinds()[:2] {
		in := storage.Prefix(keyval.Prefix(x.Space, kind))
		if in.Limit = limit; limit > 0 {
			var keys []string
			for e, err := range t.Scan(ctx, in) {
				if err != nil {
					return false, err
				}
				keys = append(keys, e.Key)
			}
			if len(keys) > 0 {
				return true, t.Delete(ctx, keys...)
			}
		} else if err := t.DeleteRange(ctx, in); err != nil {
			return false, err
		}
	}
	return false, t.Put(ctx, storage.Entry{Key: x.Key(), Value: Dropped})
}

// Dropped is the value of the key of an index that has no terms.
var Dropped = state{}.encode()

// Build adds the terms of the next ordinals, in ascending order, starting after Built. The caller calls Finish
// afterwards. end is true with the last ordinals: the index is complete then.
func (w *Writer) Build(ctx context.Context, entries []Entry, end bool) error {
	for _, e := range entries {
		w.state.built = e.Ordinal
		w.Change(e.Ordinal, nil, e.Terms)
	}
	if end {
		w.state.building, w.state.built = false, 0
	}
	return w.putState(ctx) // Finish stores nothing if nothing has changed
}
