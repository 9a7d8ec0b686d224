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
	pending []unwritten
	latest  segment // what is pending, nil if something was added to it since
}

// Writer returns a Writer. value is the value of x.Key() in the transaction. The transaction changes the index through it alone, and
// calls Finish at its end.
func (x Index) Writer(t storage.Tx, value []byte) (*Writer, error) {
	r, err := x.Reader(t, value)
	if err != nil {
		return nil, err
	}
	w := &Writer{Reader: *r, tx: t}
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
		w.pending = append(w.pending, unwritten{term, change{ordinal, gone}, len(w.pending)})
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
	w.pending = nil
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

// FoldSome goes on with a fold, in place of Finish, and returns whether there is more to do. If none is under way and begin is true, it
// begins one, of everything that was changed so far. When that has ended, no key and no value has a term of an ordinal that was removed
// before. Whoever must be certain of that ends the fold that is under way, and then a whole one.
func (w *Writer) FoldSome(ctx context.Context, begin bool) (more bool, err error) {
	if err := w.Finish(ctx); err != nil {
		return false, err
	}
	if begin && w.state.Folding == 0 {
		w.state.Folding, w.state.At, w.state.Owed = len(w.state.Segments), "", 0
	}
	if w.state.Folding == 0 {
		return false, nil
	}
	if err := w.fold(ctx, 2*slice, 1<<40); err != nil {
		return false, err
	}
	return w.state.Folding > 0, w.putState(ctx)
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
		if err := w.load(ctx); err != nil {
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
	// A counter would give a number twice, when an update is rolled back and after a failover to a standby that lacks the last commits.
	// With a random one, a cache never has a wrong segment.
	number := rand.Int64N(1 << 53)
	w.Cache.put(w.segmentKey(number), s)
	w.state.Segments = append(all[:kept:kept], reference{number, n})
	w.segments = nil
	return w.tx.Put(ctx, storage.Entry{Key: w.segmentKey(number), Value: s})
}

// task is a term with changes of its list, or of its blocks.
type task struct {
	term    string
	changes []change
	spilled int // how many of the last changes add what was in the tail
}

// fold folds changes into blocks: those of at most so many terms, and of more terms only until there are so many changes.
func (w *Writer) fold(ctx context.Context, terms, changes int) error {
	if err := w.load(ctx); err != nil {
		return err
	}
	m := merger{}
	for _, s := range w.segments[:w.state.Folding] {
		m.cursors = append(m.cursors, s.seek(w.state.At))
	}
	var all []task
	for m.next(); m.ok && len(all) < terms && changes > 0; m.next() {
		if list := together(m.changes); len(list) > 0 {
			all = append(all, task{term: string(m.term), changes: list})
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

// apply changes lists. The tasks are sorted by terms.
func (w *Writer) apply(ctx context.Context, all []task) error {
	if len(all) == 0 {
		return nil
	}
	terms := make([]string, len(all))
	for i, at := range all {
		terms[i] = at.term
	}
	leaves, err := w.leavesOf(ctx, terms)
	if err != nil {
		return err
	}
	// Each leaf with the tasks of its terms. Those before the first leaf get one of their own.
	var changed []*leafChange
	for len(all) > 0 {
		at := w.leafIn(leaves, all[0].term)
		n := 1
		for n < len(all) && w.leafIn(leaves, all[n].term) == at {
			n++
		}
		l := &leafChange{}
		if at >= 0 {
			l.key, l.value = leaves[at].Key, leaves[at].Value
		}
		if err := l.apply(all[:n]); err != nil {
			return err
		}
		changed, all = append(changed, l), all[n:]
	}
	var blocks []task
	for _, l := range changed {
		blocks = append(blocks, l.blocks...)
	}
	for part := range slices.Chunk(blocks, 100) {
		if err := w.applyBlocks(ctx, part); err != nil {
			return err
		}
	}
	var e edits
	for _, l := range changed {
		if err := w.dropEmpty(ctx, l); err != nil {
			return err
		}
		w.writeLeaf(&e, l)
	}
	return e.write(ctx, w.tx)
}

// leafChange is a leaf, nil if it is not there yet, and what becomes of it.
type leafChange struct {
	key    string
	value  []byte
	tails  []tail
	blocks []task   // what changes in the blocks of its terms
	empty  []string // terms whose tail has no ordinals, and whose blocks have fewer than before
}

// tail is an entry of a leaf.
type tail struct{ term, value []byte }

// apply computes the tails after tasks.
func (l *leafChange) apply(all []task) error {
	c := cursor{rest: l.value}
	c.next()
	keep := func() { l.tails = append(l.tails, tail{slices.Clone(c.term), c.changes}); c.next() }
	for _, t := range all {
		for c.ok && string(c.term) < t.term {
			keep()
		}
		if c.ok && string(c.term) == t.term {
			l.change(t, c.changes)
			c.next()
		} else {
			l.change(t, nil)
		}
	}
	for c.ok {
		keep()
	}
	return c.err
}

// change applies changes to a tail, nil if there is none.
func (l *leafChange) change(t task, before []byte) {
	from, _, _, _ := open(before)
	n := 0
	for n < len(t.changes) && t.changes[n].ordinal < from {
		n++
	}
	blocks := task{term: t.term, changes: t.changes[:n:n]}
	list := ordinals(before)
	if n < len(t.changes) {
		list = changed(list, t.changes[n:])
	}
	value := appendBlock(nil, from, list)
	if len(value) > tailLimit {
		for _, o := range list {
			blocks.changes = append(blocks.changes, change{ordinal: o})
		}
		blocks.spilled = len(list)
		from, list = list[len(list)-1]+1, nil
		value = appendBlock(nil, from, nil)
	}
	if len(blocks.changes) > 0 {
		l.blocks = append(l.blocks, blocks)
	}
	if len(list) == 0 && from == 0 {
		return
	}
	if len(list) == 0 && blocks.spilled == 0 {
		l.empty = append(l.empty, t.term)
	}
	l.tails = append(l.tails, tail{[]byte(t.term), value})
}

// dropEmpty drops the tails without ordinals that have no blocks any more.
func (w *Writer) dropEmpty(ctx context.Context, l *leafChange) error {
	for _, term := range l.empty {
		in := all(w.block(term))
		in.Limit = 1
		some := false
		for _, err := range w.r.Scan(ctx, in) {
			if err != nil {
				return err
			}
			some = true
		}
		if !some {
			l.tails = slices.DeleteFunc(l.tails, func(t tail) bool { return string(t.term) == term })
		}
	}
	return nil
}

// writeLeaf replaces a leaf by as many as its tails need.
func (w *Writer) writeLeaf(e *edits, l *leafChange) {
	size := 0
	for _, t := range l.tails {
		size += len(t.term) + len(t.value)
	}
	most := leafLimit // in leaves of the same size
	if n := (size + leafLimit - 1) / leafLimit; n > 1 {
		most = size/n + tailLimit/2
	}
	replaced := false
	var key string
	var value, last []byte
	put := func() {
		if value != nil {
			e.puts = append(e.puts, storage.Entry{Key: key, Value: value})
			replaced = replaced || key == l.key
		}
	}
	for _, t := range l.tails {
		if value == nil || len(value)+len(t.value) > most {
			put()
			key, value, last = w.leaf(string(t.term)), []byte{}, nil
		}
		value = appendEntry(value, common(last, t.term), t.term, t.value)
		last = t.term
	}
	put()
	if l.value != nil && !replaced {
		e.deletes = append(e.deletes, l.key)
	}
}

// manyPlaces is from how many changes on all blocks of a list are read, in place of those that change.
const manyPlaces = 50

// applyBlocks applies changes to blocks, of which it is not known beforehand where they begin.
func (w *Writer) applyBlocks(ctx context.Context, all []task) error {
	var ranges []storage.Range
	for _, t := range all {
		list := w.block(t.term)
		places := t.changes[:len(t.changes)-t.spilled]
		switch {
		case len(places) > manyPlaces:
			in := blockWith(list, t.changes[len(t.changes)-1].ordinal)
			in.Limit = 0
			ranges = append(ranges, in)
			continue
		case t.spilled > 0: // what was in the tail goes into the last block
			places = t.changes[:len(places)+1]
		}
		for _, c := range places {
			ranges = append(ranges, blockWith(list, c.ordinal))
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
			return blockKey(list, 0) // no block begins that early
		}
		return keys[i]
	}
	var e edits
	for _, t := range all {
		list := w.block(t.term)
		for first := 0; first < len(t.changes); {
			key, end := blockOf(list, t.changes[first].ordinal), first+1
			for end < len(t.changes) && blockOf(list, t.changes[end].ordinal) == key {
				end++
			}
			e.rewrite(list, key, blocks[key], t.changes[first:end])
			first = end
		}
	}
	return e.write(ctx, w.tx)
}

// edits are the changes of leaves and blocks.
type edits struct {
	puts    []storage.Entry
	deletes []string
}

// rewrite applies changes to a block, nil if it is not there, and splits it if it gets too long.
func (e *edits) rewrite(list, key string, block []byte, changes []change) {
	from, _, _, _ := open(block)
	all := changed(ordinals(block), changes)
	if len(all) == 0 && block != nil {
		e.deletes = append(e.deletes, key)
	}
	for len(all) > 0 {
		n := fits(from, all)
		e.puts = append(e.puts, storage.Entry{Key: blockKey(list, from), Value: appendBlock(nil, from, all[:n])})
		if all = all[n:]; len(all) > 0 {
			from = all[0]
		}
	}
}

func (e *edits) write(ctx context.Context, t storage.Tx) error {
	if len(e.deletes) > 0 {
		if err := t.Delete(ctx, e.deletes...); err != nil {
			return err
		}
	}
	if len(e.puts) == 0 {
		return nil
	}
	return t.Put(ctx, e.puts...)
}
