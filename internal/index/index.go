// Package index finds what has a term, such as a word or a tag. What is found are ordinals: numbers above 0 that a domain has given to its
// records. The index of a space has for each term the list of the ordinals that have it:
//
//	index               the state: which segments there are
//	new/<number>        a segment: the changes of one update, or of several
//	t/<term> <ordinal>  a block of the list of a term, without an ordinal the newest one
//
// What an update changes is put as one segment, since its terms are all over the index. Segments are merged as they become more, and when
// they have some 250,000 changes together, these are folded into the blocks: by later updates, in slices of a few milliseconds. So a block
// is written once for thousands of records. The state has the first term that is not folded yet. What is below it has the changes of the
// segments that are being folded in its blocks, and everything else has not.
//
// A term is UTF-8 of at most 256 bytes. It stands in the key as it is, so terms sort as their bytes do.
package index

import (
	"context"
	"encoding/json"
	"fmt"
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

// lists is what the keys of all lists begin with.
func (x Index) lists() string           { return record.Prefix(x.Space, x.Name+"t/") }
func (x Index) list(term string) string { return x.lists() + record.Escape(term) }

func blockKey(list string, from int64) string { return list + " " + record.Number(from) }

// fullBlocks is the range of the blocks of a list but the tail.
func fullBlocks(list string) storage.Range {
	return storage.Range{From: list + " ", To: list + "!"}
}

// blockWith is a range that yields, of these blocks, the one that an ordinal belongs to.
func blockWith(list string, ordinal int64) storage.Range {
	return storage.Range{From: list + " ", To: blockKey(list, ordinal) + " ", Reverse: true, Limit: 1}
}

// termOf returns the term of the key of a block.
func (x Index) termOf(key string) string {
	term, _, _ := strings.Cut(key[len(x.lists()):], " ")
	return record.Unescape(term)
}

// state is the state as it is stored.
type state struct {
	Next     int64       `json:"next"`     // the number of the next segment
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

// load reads the segments, and the values of some keys in the same trip.
func (r *Reader) load(ctx context.Context, keys ...string) (values [][]byte, err error) {
	if r.writer != nil {
		r.own = r.writer.unwritten()
	}
	segments := r.segments
	var missing []int
	if segments == nil {
		segments = make([]segment, len(r.state.Segments))
		for i, s := range r.state.Segments {
			key := r.segmentKey(s.Number)
			if segments[i] = r.Cache.get(key); segments[i] == nil {
				missing = append(missing, i)
				keys = append(keys, key)
			}
		}
	}
	if len(keys) > 0 {
		if values, err = r.r.Get(ctx, keys...); err != nil {
			return nil, err
		}
	}
	found := len(keys) - len(missing)
	for i, at := range missing {
		segments[at] = values[found+i]
		if values[found+i] == nil {
			return nil, fmt.Errorf("%w (there is no %q)", errDamaged, keys[found+i])
		}
		if r.writer == nil { // a transaction may be rolled back, and its numbers given again
			r.Cache.put(keys[found+i], segments[at])
		}
	}
	r.segments = segments
	return values[:found:found], nil
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
	var terms, keys []string
	known := map[string][]byte{} // tails
	for _, set := range q.All {
		for _, term := range set {
			if _, twice := known[term]; !twice {
				known[term] = nil
				terms, keys = append(terms, term), append(keys, r.list(term))
			}
		}
	}
	tails, err := r.load(ctx, keys...)
	if err != nil {
		return nil, err
	}
	for i, term := range terms {
		known[term] = tails[i]
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
	if len(list) == 0 {
		return 0
	}
	from, _, _, _ := open(tail)
	last := list[len(list)-1]
	return int64(float64(len(list)) * float64(last+1) / float64(last-from+1))
}

// fewPlaces is up to how many blocks are looked up for the candidates, in place of whole lists.
const fewPlaces = 64

// anyOf returns what has one of these terms; of that, if there are candidates, at least what is among them.
func (r *Reader) anyOf(ctx context.Context, terms []string, tails map[string][]byte, among *Set) (*Set, error) {
	out := &Set{}
	apart := map[string]*Set{} // by list: what has left it may still be in another one
	var ranges []storage.Range
	candidates := -1 // that there are none
	if among != nil {
		candidates = among.Count()
	}
	for _, term := range terms {
		changes, err := r.changesOf(term)
		if err != nil {
			return nil, err
		}
		into, list := out, r.list(term)
		for _, c := range changes {
			if into == out && removes(c) {
				into = &Set{}
				apart[list] = into
			}
		}
		tail := tails[term]
		into.addBlock(tail)
		for _, c := range changes {
			if into == out {
				into.apply(c)
			}
		}
		from, _, _, _ := open(tail)
		switch {
		case from == 0:
		case candidates >= 0 && candidates*len(terms) <= fewPlaces:
			for o := range among.All(true) {
				if o < from {
					ranges = append(ranges, blockWith(list, o))
				}
			}
		default:
			ranges = append(ranges, fullBlocks(list))
		}
	}
	if len(ranges) > 0 {
		if err := r.read(ctx, ranges, out, apart); err != nil {
			return nil, err
		}
	}
	return out, r.settle(out, apart)
}

// anyPrefix returns what has a term that begins with one of these texts.
func (r *Reader) anyPrefix(ctx context.Context, prefixes []string) (*Set, error) {
	out, apart := &Set{}, map[string]*Set{}
	var ranges []storage.Range
	for _, p := range prefixes {
		ranges = append(ranges, storage.Prefix(r.list(p)))
		err := r.below(p, func(term string, changes [][]byte) {
			for _, c := range changes {
				if removes(c) {
					apart[r.list(term)] = &Set{}
				}
			}
			if apart[r.list(term)] == nil {
				for _, c := range changes {
					out.apply(c)
				}
			}
		})
		if err != nil {
			return nil, err
		}
	}
	if len(ranges) > 0 {
		if err := r.read(ctx, ranges, out, apart); err != nil {
			return nil, err
		}
	}
	return out, r.settle(out, apart)
}

// below calls fn with the changes of each term that begins with a prefix and has some.
func (r *Reader) below(prefix string, fn func(term string, changes [][]byte)) error {
	m := merger{cursors: r.cursors(prefix)}
	for m.next(); m.ok && strings.HasPrefix(string(m.term), prefix); m.next() {
		fn(string(m.term), m.changes)
	}
	return damage(m.cursors)
}

// read adds blocks to the set of their list, or to out if their list has none.
func (r *Reader) read(ctx context.Context, ranges []storage.Range, out *Set, apart map[string]*Set) error {
	for e, err := range r.r.Scan(ctx, ranges...) {
		if err != nil {
			return err
		}
		into := out
		if len(apart) > 0 {
			list, _, _ := strings.Cut(e.Key[len(r.lists()):], " ")
			if s := apart[r.lists()+list]; s != nil {
				into = s
			}
		}
		into.addBlock(e.Value)
	}
	return nil
}

// settle applies the changes of the lists that are apart, and adds them to the others.
func (r *Reader) settle(out *Set, apart map[string]*Set) error {
	for list, s := range apart {
		changes, err := r.changesOf(r.termOf(list))
		if err != nil {
			return err
		}
		for _, c := range changes {
			s.apply(c)
		}
		out.or(s)
	}
	return nil
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
// until fn returns false. A nil set has all.
func (r *Reader) CountTerms(ctx context.Context, s *Set, prefix string, fn func(term string, n int64) bool) error {
	if err := r.ready(); err != nil {
		return err
	}
	if _, err := r.load(ctx); err != nil {
		return err
	}
	n := int64(0)
	return r.walk(ctx, prefix, func(_ string, block []byte) { n += s.countBlock(block) }, func(term string, changes [][]byte) bool {
		for _, part := range changes {
			for c := range each(part) {
				switch {
				case !s.has(c.ordinal):
				case c.gone:
					n--
				default:
					n++
				}
			}
		}
		count := n
		n = 0
		return count == 0 || fn(term, count)
	})
}

// walk calls, for each term that begins with a prefix, block with each of its blocks and then end with its changes that are not in them,
// until end returns false. The segments are loaded.
func (r *Reader) walk(ctx context.Context, prefix string, block func(key string, v []byte), end func(term string, changes [][]byte) bool) error {
	m := merger{cursors: r.cursors(prefix)}
	m.next()
	// before ends the terms without blocks that come before one, or all.
	before := func(term string, all bool) bool {
		for m.ok && strings.HasPrefix(string(m.term), prefix) && (all || string(m.term) < term) {
			if !end(string(m.term), m.changes) {
				return false
			}
			m.next()
		}
		return true
	}
	at, list := "", ""
	// ended ends the term of the blocks that were read last, if there is one.
	ended := func() bool {
		if list == "" || !m.ok || string(m.term) != at {
			return list == "" || end(at, nil)
		}
		defer m.next()
		return end(at, m.changes)
	}
	for e, err := range r.r.Scan(ctx, storage.Prefix(r.list(prefix))) {
		if err != nil {
			return err
		}
		if list == "" || !strings.HasPrefix(e.Key, list) || len(e.Key) > len(list) && e.Key[len(list)] != ' ' {
			if !ended() {
				return damage(m.cursors)
			}
			at = r.termOf(e.Key)
			list = r.list(at)
			if !before(at, false) {
				return damage(m.cursors)
			}
		}
		block(e.Key, e.Value)
	}
	if ended() {
		before("", true)
	}
	return damage(m.cursors)
}
