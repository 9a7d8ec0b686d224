// Package index finds what has a term, such as a word or a tag. What is found are ordinals: numbers above 0 that a domain has given to its
// records. The index of a space has for each term the list of the ordinals that have it:
//
//	index               the state: which segments there are
//	new/<number>        a segment: the changes of one update, or of several
//	t/<term>            a leaf: the last ordinals of the lists of this term and of some after it
//	b/<term> <ordinal>  a block: ordinals of a list before those
//
// What an update changes is put as one segment, since its terms are all over the index. Segments are merged as they become more, and when
// they have some 250,000 changes together, these are folded into leaves and blocks: by later updates, in slices of a few milliseconds. So a block
// is written once for thousands of records. The state has the first term that is not folded yet. What is below it has the changes of the
// segments that are being folded in its blocks, and everything else has not.
//
// A term is UTF-8 of at most 256 bytes. It stands in the key as it is, so terms sort as their bytes do.
package index

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine/internal/record"
	"github.com/vitrine-go/vitrine/storage"
)

// Index is an index of a space. A space with several gives each a Name, which the kinds of its records begin with.
type Index struct {
	Space string
	Name  string
	Cache *Cache // keeps segments; may be nil
}

// Key returns the key of the record with the state, so that a caller can read it together with records of its own.
func (x Index) Key() string { return record.Key(x.Space, x.Name+"index/") }

func (x Index) segmentKey(number int64) string {
	return record.Key(x.Space, x.Name+"new/", record.Number(number))
}

// leaves and blocks are what their keys begin with.
func (x Index) leaves() string           { return record.Prefix(x.Space, x.Name+"t/") }
func (x Index) leaf(term string) string  { return x.leaves() + record.Escape(term) }
func (x Index) blocks() string           { return record.Prefix(x.Space, x.Name+"b/") }
func (x Index) block(term string) string { return x.blocks() + record.Escape(term) }

func blockKey(list string, from int64) string { return list + " " + record.Number(from) }

// all is the range of the blocks of a list.
func all(list string) storage.Range {
	return storage.Range{From: list + " ", To: list + "!"}
}

// blockWith is a range that yields, of these blocks, the one that an ordinal belongs to.
func blockWith(list string, ordinal int64) storage.Range {
	return storage.Range{From: list + " ", To: blockKey(list, ordinal) + " ", Reverse: true, Limit: 1}
}

// leafWith is a range that yields the leaf that a term belongs to.
func (x Index) leafWith(term string) storage.Range {
	return storage.Range{From: x.leaves(), To: x.leaf(term) + "\x00", Reverse: true, Limit: 1}
}

// termOf returns the term of the key of a block.
func (x Index) termOf(key string) string {
	term, _, _ := strings.Cut(key[len(x.blocks()):], " ")
	return record.Unescape(term)
}

// state is the state as it is stored.
type state struct {
	Segments []reference `json:"segments"` // the oldest first
	Folding  int         `json:"folding"`  // how many of the first segments are being folded
	At       string      `json:"at"`       // the first term that is not folded
	Owed     int         `json:"owed"`     // changes since the last slice of a fold
	// Building says that the index is built anew and has what has an ordinal up to Built.
	Building bool  `json:"building,omitempty"`
	Built    int64 `json:"built,omitempty"`
}

// reference is what the state has of a segment.
type reference struct {
	Number  int64 `json:"number"`
	Changes int   `json:"changes"`
}

// Reader reads an index in a snapshot.
type Reader struct {
	Index
	r        storage.Reader
	state    state
	segments []segment // those of the state, once they are read
	own      []segment // what a transaction has changed
	writer   *Writer   // nil in a View
}

// Reader returns a Reader. value is the value of x.Key().
func (x Index) Reader(r storage.Reader, value []byte) (*Reader, error) {
	out := &Reader{Index: x, r: r}
	if value == nil {
		return out, nil
	}
	if err := json.Unmarshal(value, &out.state); err != nil {
		return nil, fmt.Errorf("the record %q is damaged: %w", x.Key(), err)
	}
	return out, nil
}

// ready returns ErrBusy while the index is built anew.
func (r *Reader) ready() error {
	if r.state.Building {
		return fmt.Errorf("%w: the search index is being built anew", storage.ErrBusy)
	}
	return nil
}

// load reads the segments.
func (r *Reader) load(ctx context.Context) error {
	if r.writer != nil {
		r.own = r.writer.unwritten()
	}
	if r.segments != nil {
		return nil
	}
	segments := make([]segment, len(r.state.Segments))
	var missing []int
	var keys []string
	for i, s := range r.state.Segments {
		key := r.segmentKey(s.Number)
		if segments[i] = r.Cache.get(key); segments[i] == nil {
			missing, keys = append(missing, i), append(keys, key)
		}
	}
	if len(keys) > 0 {
		values, err := r.r.Get(ctx, keys...)
		if err != nil {
			return err
		}
		for i, at := range missing {
			if segments[at] = values[i]; values[i] == nil {
				return fmt.Errorf("%w (there is no %q)", errDamaged, keys[i])
			}
			r.Cache.put(keys[i], segments[at])
		}
	}
	r.segments = segments
	return nil
}

// manyTerms is from how many terms of a kind on, which their first byte tells, everything between them may be read at once.
const manyTerms = 16

// leavesOf returns the leaves that some terms belong to, and maybe others between them, in the order of their keys. The terms are sorted.
func (r *Reader) leavesOf(ctx context.Context, terms []string) ([]storage.Entry, error) {
	var single, runs []storage.Range
	for len(terms) > 0 {
		n := 1
		for n < len(terms) && terms[0] != "" && terms[n] != "" && terms[n][0] == terms[0][0] {
			n++
		}
		first := r.leafWith(terms[0])
		run := storage.Range{From: first.To, To: r.leafWith(terms[n-1]).To, Limit: 4 * n}
		between := 4 * n
		if n >= manyTerms {
			var err error
			if between, err = r.r.Estimate(ctx, run); err != nil {
				return nil, err
			}
		}
		if between < 2*n {
			run.Limit = 0
			single, runs = append(single, first), append(runs, run)
		} else {
			for _, term := range terms[:n] {
				single = append(single, r.leafWith(term))
			}
		}
		terms = terms[n:]
	}
	return r.scanLeaves(ctx, single, runs)
}

// scanLeaves returns the leaves in ranges, in the order of their keys.
func (r *Reader) scanLeaves(ctx context.Context, lists ...[]storage.Range) (found []storage.Entry, err error) {
	for _, ranges := range lists {
		if len(ranges) == 0 {
			continue
		}
		for e, err := range r.r.Scan(ctx, ranges...) {
			if err != nil {
				return nil, err
			}
			found = append(found, e)
		}
	}
	slices.SortFunc(found, func(a, b storage.Entry) int { return strings.Compare(a.Key, b.Key) })
	return slices.CompactFunc(found, func(a, b storage.Entry) bool { return a.Key == b.Key }), nil
}

// leafIn returns the place of the leaf that a term belongs to, -1 if there is none.
func (x Index) leafIn(leaves []storage.Entry, term string) int {
	i, found := slices.BinarySearchFunc(leaves, x.leaf(term), func(e storage.Entry, key string) int { return strings.Compare(e.Key, key) })
	if found {
		return i
	}
	return i - 1
}

// tails returns the tails of terms.
func (r *Reader) tails(ctx context.Context, sets [][]string) (map[string][]byte, error) {
	terms := slices.Sorted(slices.Values(slices.Concat(sets...)))
	terms = slices.Compact(terms)
	leaves, err := r.leavesOf(ctx, terms)
	if err != nil {
		return nil, err
	}
	tails := make(map[string][]byte, len(terms))
	for _, term := range terms {
		if i := r.leafIn(leaves, term); i >= 0 {
			if tails[term], err = findIn(leaves[i].Value, term); err != nil {
				return nil, err
			}
		}
	}
	return tails, nil
}

// tails goes through the terms that begin with a prefix and have a tail.
type tails struct {
	cursor
	prefix string
	next   func() (storage.Entry, error, bool) // the next leaf
}

// tailsOf returns the tails of the terms that begin with a prefix, and stands at the first. stop must be called.
func (r *Reader) tailsOf(ctx context.Context, prefix string) (t *tails, stop func()) {
	first, rest := r.leafWith(prefix), storage.Prefix(r.leaf(prefix))
	rest.From = first.To
	t = &tails{prefix: prefix}
	t.next, stop = iter.Pull2(func(yield func(storage.Entry, error) bool) {
		for _, in := range []storage.Range{first, rest} {
			for e, err := range r.r.Scan(ctx, in) {
				if !yield(e, err) || err != nil {
					return
				}
			}
		}
	})
	t.step()
	return t, stop
}

// step goes to the next term.
func (t *tails) step() {
	for {
		for t.cursor.next(); t.ok; t.cursor.next() {
			if bytes.HasPrefix(t.term, []byte(t.prefix)) {
				return
			}
		}
		if t.err != nil {
			return
		}
		e, err, more := t.next()
		if t.err = err; !more || err != nil {
			return
		}
		t.cursor = cursor{rest: e.Value}
	}
}

// cursors returns cursors at the first term from a given one on whose changes are not in the blocks. They are in the order of time.
func (r *Reader) cursors(term string) []cursor {
	out := make([]cursor, 0, len(r.segments)+len(r.own))
	for i, s := range r.segments {
		if i < r.state.Folding {
			out = append(out, s.seek(max(term, r.state.At)))
		} else {
			out = append(out, s.seek(term))
		}
	}
	for _, s := range r.own {
		out = append(out, s.seek(term))
	}
	return out
}

// changesOf returns the changes of a term that are not in its blocks.
func (r *Reader) changesOf(term string) (list [][]byte, err error) {
	add := func(s segment) {
		if c, e := s.find(term); e != nil {
			err = e
		} else if c != nil {
			list = append(list, c)
		}
	}
	for i, s := range r.segments {
		if i >= r.state.Folding || term >= r.state.At {
			add(s)
		}
	}
	for _, s := range r.own {
		add(s)
	}
	return list, err
}

// Query asks for what has at least one of the terms of each set in All, and at least one term that begins with one of the texts of each
// set in Prefixes.
type Query struct{ All, Prefixes [][]string }

// Find returns what matches a query that has at least one set. The caller may change the result.
func (r *Reader) Find(ctx context.Context, q Query) (*Set, error) {
	if err := r.ready(); err != nil {
		return nil, err
	}
	if err := r.load(ctx); err != nil {
		return nil, err
	}
	known, err := r.tails(ctx, q.All)
	if err != nil {
		return nil, err
	}
	// What has the fewest ordinals first, as far as the tails tell.
	type union struct {
		terms []string
		size  int64
	}
	var all []union
	for _, set := range q.All {
		u := union{set, 0}
		for _, term := range set {
			u.size += roughSize(known[term])
		}
		all = append(all, u)
	}
	slices.SortStableFunc(all, func(a, b union) int { return int(min(max(a.size-b.size, -1), 1)) })
	var found *Set
	for i := range len(all) + len(q.Prefixes) {
		var s *Set
		if i < len(all) {
			s, err = r.anyOf(ctx, all[i].terms, known, found)
		} else {
			s, err = r.anyPrefix(ctx, q.Prefixes[i-len(all)])
		}
		if err != nil {
			return nil, err
		}
		if found == nil {
			found = s
		} else {
			found.and(s)
		}
		if len(found.at) == 0 {
			break
		}
	}
	return found, nil
}

// roughSize returns about how many ordinals a list has, if those before its tail are as close to each other as those in it.
func roughSize(tail []byte) int64 {
	if tail == nil {
		return 0
	}
	list := ordinals(tail)
	from, _, _, _ := open(tail)
	if len(list) == 0 {
		return from
	}
	last := list[len(list)-1]
	return int64(float64(len(list)) * float64(last+1) / float64(last-from+1))
}

// fewPlaces is up to how many blocks are looked up for the candidates, in place of whole lists.
const fewPlaces = 64

// anyOf returns what has one of these terms; of that, if there are candidates, at least what is among them.
func (r *Reader) anyOf(ctx context.Context, terms []string, tails map[string][]byte, among *Set) (*Set, error) {
	out := &Set{}
	type list struct {
		*Set
		changes [][]byte
	}
	apart := map[string]list{} // lists with removals: what has left one may still be in another one
	var ranges []storage.Range
	candidates := -1 // how many; -1 without a set of them
	if among != nil {
		candidates = among.Count()
	}
	for _, term := range terms {
		changes, err := r.changesOf(term)
		if err != nil {
			return nil, err
		}
		into, blocks, tail := out, r.block(term), tails[term]
		if slices.ContainsFunc(changes, removes) {
			into = &Set{}
			apart[blocks] = list{into, changes}
		} else {
			into.apply(changes)
		}
		into.addBlock(tail)
		from, _, _, _ := open(tail)
		switch {
		case from == 0:
		case candidates >= 0 && candidates*len(terms) <= fewPlaces:
			for o := range among.All(true) {
				if o < from {
					ranges = append(ranges, blockWith(blocks, o))
				}
			}
		default:
			ranges = append(ranges, all(blocks))
		}
	}
	if len(ranges) > 0 {
		for e, err := range r.r.Scan(ctx, ranges...) {
			if err != nil {
				return nil, err
			}
			into := out
			if len(apart) > 0 {
				if l, ok := apart[e.Key[:strings.LastIndexByte(e.Key, ' ')]]; ok {
					into = l.Set
				}
			}
			into.addBlock(e.Value)
		}
	}
	for _, l := range apart {
		l.apply(l.changes)
		out.or(l.Set)
	}
	return out, nil
}

// anyPrefix returns what has a term that begins with one of these texts.
func (r *Reader) anyPrefix(ctx context.Context, prefixes []string) (*Set, error) {
	out, blocks := &Set{}, [][]byte(nil) // of the present term
	for _, p := range prefixes {
		err := r.walk(ctx, p, func(_ string, v []byte) { blocks = append(blocks, v) }, func(_ string, changes [][]byte) bool {
			into := out
			if slices.ContainsFunc(changes, removes) { // what has left this list may be in another one
				into = &Set{}
			}
			for _, v := range blocks {
				into.addBlock(v)
			}
			if into.apply(changes); into != out {
				out.or(into)
			}
			blocks = blocks[:0]
			return true
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

func removes(changes []byte) bool {
	for c := range each(changes) {
		if c.gone {
			return true
		}
	}
	return false
}

// CountTerms calls fn with each term that begins with a prefix and how many ordinals of a set have it, above 0, in the order of the terms,
// until fn returns false. A nil set has all. It may leave out terms that fewer ordinals have than least returns at that time; a nil least
// asks for all terms.
func (r *Reader) CountTerms(ctx context.Context, s *Set, prefix string, least func() int64, fn func(term string, n int64) bool) error {
	if err := r.ready(); err != nil {
		return err
	}
	if s != nil && len(s.at) == 0 {
		return nil
	}
	if err := r.load(ctx); err != nil {
		return err
	}
	n, most := int64(0), int64(0) // of the present term: how many are counted, and how many the whole list has so far
	var waiting [][]byte          // its blocks, until most is enough
	count := func(_ string, v []byte) {
		if least != nil && s != nil {
			if most += (*Set)(nil).countBlock(v); most < least() {
				waiting = append(waiting, v)
				return
			}
			for _, v := range waiting {
				n += s.countBlock(v)
			}
			waiting = waiting[:0]
		}
		n += s.countBlock(v)
	}
	return r.walk(ctx, prefix, count, func(term string, changes [][]byte) bool {
		for _, part := range changes {
			n += s.countChanges(part)
			most += int64(len(part)) // each takes a byte or more
		}
		if len(waiting) > 0 && most >= least() {
			for _, v := range waiting {
				n += s.countBlock(v)
			}
			waiting = waiting[:0]
		}
		rare, found := len(waiting) > 0, n
		n, most, waiting = 0, 0, waiting[:0]
		return rare || found == 0 || fn(term, found)
	})
}

// walk calls, for each term that begins with a prefix, block with its tail, for which key is "", and then with each of its blocks, and
// then end with its changes that are in neither, until end returns false. The segments are loaded. The changes are only good until end
// returns.
func (r *Reader) walk(ctx context.Context, prefix string, block func(key string, v []byte), end func(term string, changes [][]byte) bool) error {
	m := merger{cursors: r.cursors(prefix)}
	m.next()
	changed := func() bool { return m.ok && strings.HasPrefix(string(m.term), prefix) }
	t, stop := r.tailsOf(ctx, prefix)
	defer stop()
	// begin begins the term of a tail, after those that are in segments alone. finish ends it.
	begin := func() bool {
		for changed() && bytes.Compare(m.term, t.term) < 0 {
			if !end(string(m.term), m.changes) {
				return false
			}
			m.next()
		}
		block("", t.changes)
		return true
	}
	finish := func() bool {
		if changed() && bytes.Equal(m.term, t.term) {
			if !end(string(t.term), m.changes) {
				return false
			}
			m.next()
		} else if !end(string(t.term), nil) {
			return false
		}
		t.step()
		return true
	}
	list := "" // what the keys of the blocks of the term that has begun begin with
	for e, err := range r.r.Scan(ctx, storage.Prefix(r.block(prefix))) {
		if err != nil {
			return err
		}
		if list == "" || !strings.HasPrefix(e.Key, list) {
			if list != "" && !finish() {
				return damage(m.cursors)
			}
			term := r.termOf(e.Key)
			for t.ok && string(t.term) < term {
				if !begin() || !finish() {
					return damage(m.cursors)
				}
			}
			if !t.ok || string(t.term) != term {
				return cmp.Or(t.err, fmt.Errorf("%w (%q has no tail)", errDamaged, e.Key))
			}
			if !begin() {
				return damage(m.cursors)
			}
			list = e.Key[:strings.LastIndexByte(e.Key, ' ')+1]
		}
		block(e.Key, e.Value)
	}
	if list != "" && !finish() {
		return damage(m.cursors)
	}
	for t.ok {
		if !begin() || !finish() {
			return damage(m.cursors)
		}
	}
	if t.err != nil {
		return t.err
	}
	for changed() && end(string(m.term), m.changes) {
		m.next()
	}
	return damage(m.cursors)
}
