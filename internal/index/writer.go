package index

import (
	"context"
	"encoding/json"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine/storage"
)

// How much is done at once. Tests change it.
var (
	foldAt  = 1 << 18 // how many changes segments have together when a fold begins
	fanout  = 8       // how many segments of a size there are when they are merged
	mergeAt = 1 << 16 // how many changes merged segments have together at most
	sliceAt = 500     // how many changes there are between two slices of a fold
	slice   = 1500    // how many terms one has at most, unless its update is large itself
)

// Writer changes an index in a transaction, and reads what it has changed.
type Writer struct {
	Reader
	tx      storage.Tx
	pending map[string][]change
	latest  segment // what is pending, nil if something was added to it since
}

// Writer returns a Writer. value is the value of x.Key() in the transaction. The transaction changes the index through it alone, and
// calls Finish at its end.
func (x Index) Writer(t storage.Tx, value []byte) (*Writer, error) {
	r, err := x.Reader(t, value)
	if err != nil {
		return nil, err
	}
	if value == nil {
		r.state.Next = rand.Int64N(1e12) // not a number that a cache may know of a space that was deleted
	}
	w := &Writer{Reader: *r, tx: t, pending: map[string][]change{}}
	w.writer = w
	return w, nil
}

// Change replaces the terms of an ordinal. Both lists are sorted, and have each term once. The old terms must be exactly those that the
// ordinal has.
func (w *Writer) Change(ordinal int64, old, new []string) {
	if w.state.Building && ordinal > w.state.Built {
		return
	}
	note := func(term string, gone bool) {
		w.pending[term] = append(w.pending[term], change{ordinal, gone})
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

// unwritten returns the changes that Finish has not put yet.
func (w *Writer) unwritten() []segment {
	if len(w.pending) == 0 {
		return nil
	}
	if w.latest == nil {
		w.latest, _ = segmentOf(w.pending)
	}
	return []segment{w.latest}
}

// Finish puts what was changed, and goes on with a fold. It must be the last call.
func (w *Writer) Finish(ctx context.Context) error {
	if len(w.pending) == 0 {
		return nil
	}
	s, n := segmentOf(w.pending)
	clear(w.pending)
	if err := w.append(ctx, s, n); err != nil {
		return err
	}
	total := 0
	for _, s := range w.state.Segments {
		total += s.Changes
	}
	if w.state.Folding == 0 && total >= foldAt {
		w.state.Folding, w.state.At, w.state.Owed = len(w.state.Segments), "", 0
	} else if w.state.Folding > 0 {
		w.state.Owed += n
	}
	if w.state.Owed >= sliceAt {
		most := max(slice, n/8)
		if total > 8*foldAt { // there are more new terms than that
			most = 2 * n
		}
		if err := w.fold(ctx, most, 2*w.state.Owed); err != nil {
			return err
		}
		w.state.Owed = 0
	}
	return w.putState(ctx)
}

// Fold folds all segments, as after the removal of what must leave no trace: afterwards no key and no value has a term of an
// ordinal that was removed. The update should be Large. Finish comes after it, if at all.
func (w *Writer) Fold(ctx context.Context) error {
	if err := w.Finish(ctx); err != nil {
		return err
	}
	for len(w.state.Segments) > 0 {
		if w.state.Folding == 0 {
			w.state.Folding, w.state.At, w.state.Owed = len(w.state.Segments), "", 0
		}
		if err := w.fold(ctx, 10*slice, 1<<40); err != nil {
			return err
		}
	}
	return w.putState(ctx)
}

func (w *Writer) putState(ctx context.Context) error {
	value, err := json.Marshal(w.state)
	if err != nil {
		return err
	}
	return w.tx.Put(ctx, storage.Entry{Key: w.Key(), Value: value})
}

// sizeClass says which segments are merged with each other.
func sizeClass(changes int) int { return bits.Len(uint(changes)) / 3 }

// append adds a segment, together with the last ones if these are many.
func (w *Writer) append(ctx context.Context, s segment, n int) error {
	if n == 0 {
		return nil
	}
	all, merge := w.state.Segments, 0
	for class, total := sizeClass(n), n; ; class = sizeClass(total) {
		k := merge
		for k < len(all)-w.state.Folding && sizeClass(all[len(all)-1-k].Changes) <= class {
			total += all[len(all)-1-k].Changes
			k++
		}
		if k-merge < fanout-1 || total > mergeAt {
			break
		}
		merge = k
	}
	kept := len(all) - merge
	if merge > 0 {
		if _, err := w.load(ctx); err != nil {
			return err
		}
		m, keys := merger{}, []string{}
		for i, old := range all[kept:] {
			m.cursors = append(m.cursors, w.segments[kept+i].seek(""))
			keys = append(keys, w.segmentKey(old.Number))
		}
		m.cursors = append(m.cursors, s.seek(""))
		var b builder
		for m.next(); m.ok; m.next() {
			b.add(m.term, together(m.changes))
		}
		if err := damage(m.cursors); err != nil {
			return err
		}
		if err := w.tx.Delete(ctx, keys...); err != nil {
			return err
		}
		s, n = b.segment(), b.changes
	}
	w.state.Segments = append(all[:kept:kept], reference{w.state.Next, n})
	w.segments = nil
	w.state.Next++
	return w.tx.Put(ctx, storage.Entry{Key: w.segmentKey(w.state.Next - 1), Value: s})
}

// task is a term whose changes are folded.
type task struct {
	list    string
	changes []change
}

// fold folds changes into blocks: those of at most so many terms, and of more terms only until there are so many changes.
func (w *Writer) fold(ctx context.Context, terms, changes int) error {
	if _, err := w.load(ctx); err != nil {
		return err
	}
	m := merger{}
	for _, s := range w.segments[:w.state.Folding] {
		m.cursors = append(m.cursors, s.seek(w.state.At))
	}
	var all []task
	for m.next(); m.ok && len(all) < terms && changes > 0; m.next() {
		if list := together(m.changes); len(list) > 0 {
			all = append(all, task{w.list(string(m.term)), list})
			changes -= len(list)
		}
	}
	if err := damage(m.cursors); err != nil {
		return err
	}
	if err := w.apply(ctx, all); err != nil {
		return err
	}
	if m.ok {
		w.state.At = string(m.term)
		return nil
	}
	var keys []string
	for _, s := range w.state.Segments[:w.state.Folding] {
		keys = append(keys, w.segmentKey(s.Number))
	}
	w.state.Segments = slices.Clone(w.state.Segments[w.state.Folding:])
	w.segments, w.state.Folding, w.state.At, w.state.Owed = nil, 0, "", 0
	return w.tx.Delete(ctx, keys...)
}

// apply changes the blocks of lists.
func (w *Writer) apply(ctx context.Context, all []task) error {
	keys := make([]string, len(all))
	for i, at := range all {
		keys[i] = at.list
	}
	tails, err := w.r.Get(ctx, keys...)
	if err != nil {
		return err
	}
	var e edits
	var old []task // the changes before the tails
	for i, at := range all {
		from, _, _, _ := open(tails[i])
		n := 0
		for n < len(at.changes) && at.changes[n].ordinal < from {
			n++
		}
		if n > 0 {
			old = append(old, task{at.list, at.changes[:n]})
		}
		if n < len(at.changes) {
			e.rewrite(at.list, at.list, tails[i], at.changes[n:])
		}
	}
	for part := range slices.Chunk(old, 100) {
		if err := w.applyOld(ctx, &e, part); err != nil {
			return err
		}
	}
	return e.write(ctx, w.tx)
}

// manyPlaces is from how many changes on all blocks of a list are read, in place of those that change.
const manyPlaces = 50

// applyOld applies changes to the blocks before the tails, of which it is not known beforehand where they begin.
func (w *Writer) applyOld(ctx context.Context, e *edits, all []task) error {
	var ranges []storage.Range
	for _, at := range all {
		places := at.changes
		if len(places) > manyPlaces {
			places = places[len(places)-1:]
		}
		for _, c := range places {
			in := blockWith(at.list, c.ordinal)
			if len(at.changes) > manyPlaces {
				in.Limit = 0
			}
			ranges = append(ranges, in)
		}
	}
	blocks, keys := map[string][]byte{}, []string(nil)
	for entry, err := range w.r.Scan(ctx, ranges...) {
		if err != nil {
			return err
		}
		if _, twice := blocks[entry.Key]; !twice {
			keys = append(keys, entry.Key)
		}
		blocks[entry.Key] = entry.Value
	}
	slices.Sort(keys)
	// blockOf returns the key of the block that an ordinal belongs to.
	blockOf := func(list string, ordinal int64) string {
		i, found := slices.BinarySearch(keys, blockKey(list, ordinal))
		if !found {
			i--
		}
		if i < 0 || !strings.HasPrefix(keys[i], list+" ") {
			return blockKey(list, 0) // there is none so far back
		}
		return keys[i]
	}
	for _, at := range all {
		for first := 0; first < len(at.changes); {
			key, end := blockOf(at.list, at.changes[first].ordinal), first+1
			for end < len(at.changes) && blockOf(at.list, at.changes[end].ordinal) == key {
				end++
			}
			e.rewrite(at.list, key, blocks[key], at.changes[first:end])
			first = end
		}
	}
	return nil
}

// edits are the changes of blocks.
type edits struct {
	puts    []storage.Entry
	deletes []string
	empty   []string // lists whose tail has nothing left, and may not be the only block
}

// rewrite applies changes to a block, nil if it is not there, and splits it if it gets too long.
func (e *edits) rewrite(list, key string, block []byte, changes []change) {
	var from int64
	var all []int64
	if block != nil {
		from, _, _, _ = open(block)
		all = ordinals(block)
	}
	tail := key == list
	all = changed(all, changes)
	switch {
	case len(all) > 0:
	case tail && from > 0:
		e.empty = append(e.empty, list)
		return
	default:
		if block != nil {
			e.deletes = append(e.deletes, key)
		}
		return
	}
	for len(all) > 0 {
		n := fits(from, all)
		if !tail || n < len(all) {
			key = blockKey(list, from)
		} else {
			key = list
		}
		e.puts = append(e.puts, storage.Entry{Key: key, Value: appendBlock(nil, from, all[:n])})
		if all = all[n:]; len(all) > 0 {
			from = all[0]
		}
	}
}

// write writes what was changed. Of a list whose tail is empty the block before becomes the tail.
func (e *edits) write(ctx context.Context, t storage.Tx) error {
	if len(e.deletes) > 0 {
		if err := t.Delete(ctx, e.deletes...); err != nil {
			return err
		}
	}
	if len(e.puts) > 0 {
		if err := t.Put(ctx, e.puts...); err != nil {
			return err
		}
	}
	for _, list := range e.empty {
		in := fullBlocks(list)
		in.Reverse, in.Limit = true, 1
		var last storage.Entry
		for entry, err := range t.Scan(ctx, in) {
			if err != nil {
				return err
			}
			last = entry
		}
		if last.Key == "" {
			if err := t.Delete(ctx, list); err != nil {
				return err
			}
			continue
		}
		if err := t.Delete(ctx, last.Key); err != nil {
			return err
		}
		if err := t.Put(ctx, storage.Entry{Key: list, Value: last.Value}); err != nil {
			return err
		}
	}
	return nil
}
