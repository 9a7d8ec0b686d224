// Package index finds what has a term, such as a word or a tag. What is found are ordinals: numbers above 0 that a domain has given to its
// records. The index of a space has for each term the list of the ordinals that have it:
//
//	index               the state: which segments there are, and the latest changes
//	new/<number>        a segment: the changes of some updates
//	t/<term>            a page: the lists of this term and of some after it
//	t/<term> <ordinal>  a page that begins within the list of this term: with the ordinals from this one on
//
// The terms of an update are all over the index, so its changes are not made in the pages. A small update adds its changes to the state.
// When these are too many, they become a segment. Segments are merged as they become more, and when they have some 500,000 changes
// together, these are folded into the pages: by later updates, in slices of a few milliseconds. So a page is written once for many
// records. The state has the first term that is not folded yet. The pages have what the segments that are being folded change below it,
// and nothing else of any segment.
//
// A term is UTF-8 of at most 256 bytes. It stands in the key as it is, so terms sort as their bytes do.
package index

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine/internal/record"
	"github.com/vitrine-go/vitrine/storage"
)

// MaxTerm is how many bytes a term has at most.
const MaxTerm = 256

// Index is the index of a space.
type Index struct {
	Space string
	Cache *Cache // keeps segments
}

// Key returns the key of the record with the state, so that a caller can read it together with records of its own.
func (x Index) Key() string { return record.Key(x.Space, "index/") }

func (x Index) segmentKey(number int64) string {
	return record.Key(x.Space, "new/", record.Number(number))
}

// pages is what the keys of pages begin with.
func (x Index) pages() string { return record.Prefix(x.Space, "t/") }

// place is that of an ordinal in the list of a term. Places are in the order of the terms, and then of the ordinals.
type place struct {
	term    string
	ordinal int64
}

func (p place) before(o place) bool {
	return cmp.Or(strings.Compare(p.term, o.term), cmp.Compare(p.ordinal, o.ordinal)) < 0
}

// pageKey returns the key of a page that begins at a place, which has the ordinal 0 if the page has the list of the term from its
// beginning.
func (x Index) pageKey(p place) string {
	key := x.pages() + record.Escape(p.term)
	if p.ordinal > 0 {
		key += " " + record.Number(p.ordinal)
	}
	return key
}

// placeOf returns the place at which a page begins.
func (x Index) placeOf(key string) (p place, err error) {
	term, number, within := strings.Cut(key[len(x.pages()):], " ")
	if within {
		p.ordinal, err = record.ParseNumber(number)
	}
	if p.term = record.Unescape(term); err != nil {
		err = fmt.Errorf("%w (%q: %w)", errDamaged, key, err)
	}
	return p, err
}

// pageWith is a range that yields the page that a place belongs to.
func (x Index) pageWith(p place) storage.Range {
	return storage.Range{From: x.pages(), To: x.pageKey(p) + "\x00", Reverse: true, Limit: 1}
}

// state is what the record of the state says.
type state struct {
	segments []reference // the oldest first
	folding  int         // how many of the first segments are being folded
	at       string      // the first term that is not folded
	folded   bool        // a fold has begun, so there may be pages
	owed     int         // changes since the last slice of a fold
	recent   []segment   // changes since the last segment, the oldest first
	// building says that the index is built anew and has what has an ordinal up to built.
	building bool
	built    int64
}

// reference is what the state has of a segment.
type reference struct {
	number  int64
	changes int
}

// stateForm is the first byte of a state as it is stored. It changes with the form of pages and segments, and with the terms of a domain.
const stateForm = 2

func (s state) encode() []byte {
	b := []byte{stateForm}
	for _, n := range []int{s.folding, s.owed, len(s.segments)} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	for _, r := range s.segments {
		b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(r.number)), uint64(r.changes))
	}
	b = record.AppendText(b, s.at)
	b = binary.AppendUvarint(b, uint64(s.built)<<2|flag(s.building)<<1|flag(s.folded))
	for _, r := range s.recent {
		b = record.AppendText(b, []byte(r))
	}
	return b
}

func flag(is bool) uint64 {
	if is {
		return 1
	}
	return 0
}

func (x Index) decode(value []byte) (s state, err error) {
	f := record.FieldsOf(storage.Entry{Key: x.Key(), Value: value})
	if form := f.Uint(); form != stateForm && f.Err() == nil {
		return s, fmt.Errorf("the record %q is damaged, or of an earlier release: it has the form %d, want %d: build the index anew", x.Key(), form, stateForm)
	}
	s.folding, s.owed = int(f.Uint()), int(f.Uint())
	for n := f.Uint(); n > 0 && f.Err() == nil; n-- {
		s.segments = append(s.segments, reference{int64(f.Uint()), int(f.Uint())})
	}
	s.at = string(f.Text())
	built := f.Uint()
	s.folded, s.building, s.built = built&1 == 1, built>>1&1 == 1, int64(built>>2)
	for len(f.Rest()) > 0 {
		s.recent = append(s.recent, f.Text())
	}
	if s.folding > len(s.segments) {
		return s, fmt.Errorf("the record %q is damaged: it folds %d segments of %d", x.Key(), s.folding, len(s.segments))
	}
	return s, f.Err()
}

// Reader reads an index in a snapshot.
type Reader struct {
	Index
	r      storage.Reader
	state  state
	stored []segment // those of the state, once they are read
	all    []segment // these, and what has changed since
	writer *Writer   // nil in a View
}

// Reader returns a Reader. value is the value of x.Key().
func (x Index) Reader(r storage.Reader, value []byte) (*Reader, error) {
	out := &Reader{Index: x, r: r}
	if value == nil {
		return out, nil
	}
	var err error
	out.state, err = x.decode(value)
	return out, err
}

// load reads the segments. It returns ErrBusy while the index is built anew.
func (r *Reader) load(ctx context.Context) error {
	if r.state.building {
		return fmt.Errorf("%w: the search index is being built anew", storage.ErrBusy)
	}
	return r.loadSegments(ctx)
}

func (r *Reader) loadSegments(ctx context.Context) error {
	if r.stored == nil {
		segments := make([]segment, len(r.state.segments))
		var missing []int
		var keys []string
		for i, s := range r.state.segments {
			key, known := r.segmentKey(s.number), false
			if segments[i], known = r.Cache.Get(key); !known {
				missing, keys = append(missing, i), append(keys, key)
			}
		}
		values, err := r.r.Get(ctx, keys...)
		if err != nil {
			return err
		}
		for i, at := range missing {
			if segments[at] = values[i]; values[i] == nil {
				return fmt.Errorf("%w (there is no %q)", errDamaged, keys[i])
			}
			r.Cache.Put(keys[i], segments[at], len(values[i])+len(keys[i])+200)
		}
		r.stored = segments
	}
	r.all = slices.Concat(r.stored, r.state.recent)
	if r.writer != nil {
		r.all = append(r.all, r.writer.unwritten()...)
	}
	return nil
}

// parts returns the parts of the lists of terms, without what segments change. The terms are sorted, and each is there once.
func (r *Reader) parts(ctx context.Context, terms []string) (map[string][][]byte, error) {
	if !r.state.folded {
		return nil, nil
	}
	// The page that each list begins in. The ranges do not overlap: a page before those of the term before is that term's page.
	var ranges []storage.Range
	from := r.pages()
	for _, term := range terms {
		in := r.pageWith(place{term: term})
		in.From, from = from, in.To
		ranges = append(ranges, in)
	}
	pages, err := r.scan(ctx, ranges)
	if err != nil {
		return nil, err
	}
	slices.Reverse(pages)
	out := make(map[string][][]byte, len(terms))
	var more []storage.Range // the pages in which lists may go on
	var page []byte
	for _, term := range terms {
		key := r.pageKey(place{term: term})
		for len(pages) > 0 && pages[0].Key <= key {
			page, pages = pages[0].Value, pages[1:]
		}
		v, last, err := findIn(page, term)
		if err != nil {
			return nil, err
		}
		if v != nil {
			out[term] = [][]byte{v}
		}
		if last {
			more = append(more, storage.Range{From: key + " ", To: key + "!"})
		}
	}
	pages, err = r.scan(ctx, more)
	for _, e := range pages {
		at, err := r.placeOf(e.Key)
		var v []byte
		if err == nil {
			v, _, err = findIn(e.Value, at.term)
		}
		if err != nil {
			return nil, err
		}
		if v != nil {
			out[at.term] = append(out[at.term], v)
		}
	}
	return out, err
}

// scan returns the entries of ranges, none for no ranges.
func (r *Reader) scan(ctx context.Context, ranges []storage.Range) (found []storage.Entry, err error) {
	if len(ranges) == 0 {
		return nil, nil
	}
	for e, err := range r.r.Scan(ctx, ranges...) {
		if err != nil {
			return nil, err
		}
		found = append(found, e)
	}
	return found, nil
}

// changesOf returns the changes of terms that are not in the pages. The terms are sorted, and each is there once.
func (r *Reader) changesOf(terms []string) (map[string][][]byte, error) {
	out := map[string][][]byte{}
	if len(terms) == 0 {
		return out, nil
	}
	for i, s := range r.all {
		c := s.seek(r.firstIn(i, Span{From: terms[0]}))
		for _, term := range terms {
			if c.forward(s, term); c.ok && string(c.term) == term {
				out[term] = append(out[term], c.changes)
			}
		}
		if c.err != nil {
			return nil, c.err
		}
	}
	return out, nil
}

// Query asks for what has at least one of the terms of each set in All, and at least one term in one of the spans of each set in Spans.
type Query struct {
	All   [][]string
	Spans [][]Span
}

// Span is a range of terms: those from From on and below To for which Match, unless it is nil, returns true.
type Span struct {
	From, To string
	Match    func(term string) bool
}

// Prefix returns the span of the terms that begin with a text.
func Prefix(text string) Span { return Span{From: text, To: text + "\xff"} } // no term has this byte

// Find returns what matches a query that has at least one set. The caller may change the result.
func (r *Reader) Find(ctx context.Context, q Query) (found *Set, err error) {
	if err := r.load(ctx); err != nil {
		return nil, err
	}
	terms := slices.Compact(slices.Sorted(slices.Values(slices.Concat(q.All...))))
	parts, err := r.parts(ctx, terms)
	if err != nil {
		return nil, err
	}
	changes, err := r.changesOf(terms)
	if err != nil {
		return nil, err
	}
	for i := range len(q.All) + len(q.Spans) {
		s := &Set{}
		if i < len(q.All) {
			for _, term := range q.All[i] {
				s.addList(parts[term], changes[term])
			}
		} else {
			for _, in := range q.Spans[i-len(q.All)] {
				err := r.walk(ctx, in, func(term string, parts, changes [][]byte) bool {
					if in.Match == nil || in.Match(term) {
						s.addList(parts, changes)
					}
					return true
				})
				if err != nil {
					return nil, err
				}
			}
		}
		if found == nil {
			found = s
		} else {
			found.And(s)
		}
		if len(found.at) == 0 {
			break
		}
	}
	return found, nil
}

// listOf returns the list that has these parts and changes.
func listOf(parts, changes [][]byte) (list []int64) {
	for _, v := range parts {
		list = append(list, ordinals(v)...)
	}
	if all := together(changes); len(all) > 0 {
		list = changed(list, all)
	}
	return list
}

// Each calls fn with each term of a span that ordinals of a set have, and with these ordinals, ascending. It begins with the first term,
// or with the last one if back is true, and ends when fn returns false. A nil set has all ordinals.
func (r *Reader) Each(ctx context.Context, s *Set, in Span, back bool, fn func(term string, list []int64) bool) error {
	if err := r.load(ctx); err != nil {
		return err
	}
	list := func(parts, changes [][]byte) []int64 {
		if s.count(parts, changes) == 0 {
			return nil
		}
		return slices.DeleteFunc(listOf(parts, changes), func(o int64) bool { return s != nil && !s.has(o) })
	}
	if !back {
		return r.walk(ctx, in, func(term string, parts, changes [][]byte) bool {
			some := list(parts, changes)
			return len(some) == 0 || fn(term, some)
		})
	}
	// Backwards, the last pages of the rest of the span are gone through forwards, more of them each time.
	type termList struct {
		term string
		list []int64
	}
	for pages := 1; in.From < in.To; pages = min(2*pages, 64) {
		before, err := r.scan(ctx, []storage.Range{{From: r.pages(), To: r.pageKey(place{term: in.To}), Reverse: true, Limit: pages}})
		if err != nil {
			return err
		}
		part := in
		if len(before) == pages {
			first, err := r.placeOf(before[pages-1].Key)
			if err != nil {
				return err
			}
			part.From = max(in.From, first.term)
		}
		var found []termList
		err = r.walk(ctx, part, func(term string, parts, changes [][]byte) bool {
			if some := list(parts, changes); len(some) > 0 {
				found = append(found, termList{term, some})
			}
			return true
		})
		if err != nil {
			return err
		}
		for _, f := range slices.Backward(found) {
			if !fn(f.term, f.list) {
				return nil
			}
		}
		in.To = part.From
	}
	return nil
}

// CountTerms calls fn with each term that begins with a prefix and how many ordinals of a set have it, above 0, in the order of the terms,
// until fn returns false. A nil set has all. It may leave out terms that fewer ordinals have than least returns at that time; a nil least
// asks for all terms.
func (r *Reader) CountTerms(ctx context.Context, s *Set, prefix string, least func() int64, fn func(term string, n int64) bool) error {
	if err := r.load(ctx); err != nil {
		return err
	}
	if s != nil && len(s.at) == 0 {
		return nil
	}
	return r.walk(ctx, Prefix(prefix), func(term string, parts, changes [][]byte) bool {
		most := int64(0)
		for _, v := range changes {
			most += int64(len(v)) // each takes a byte or more
		}
		for _, v := range parts {
			most += mostOf(v)
		}
		if least != nil && most < least() {
			return true
		}
		n := s.count(parts, changes)
		return n == 0 || fn(term, n)
	})
}

// walk calls fn, for each term of a span, whatever its Match, with the parts of its list and its changes that are not in them, until fn
// returns false. The segments are loaded. The changes are only good until fn returns.
func (r *Reader) walk(ctx context.Context, in Span, fn func(term string, parts, changes [][]byte) bool) error {
	m := merger{}
	for i, s := range r.all {
		m.cursors = append(m.cursors, s.seek(r.firstIn(i, in)))
	}
	m.next()
	// upTo calls fn with the terms below one that are in segments alone.
	upTo := func(term string, all bool) bool {
		for ; m.ok && string(m.term) < in.To && (all || string(m.term) < term); m.next() {
			if !fn(string(m.term), nil, m.changes) {
				return false
			}
		}
		return true
	}
	term, parts := "", [][]byte(nil) // of the list that has begun
	end := func() bool {
		switch {
		case parts == nil:
			return true
		case !upTo(term, false):
			return false
		case !m.ok || string(m.term) != term:
			return fn(term, parts, nil)
		}
		more := fn(term, parts, m.changes)
		m.next()
		return more
	}
	first := r.pageWith(place{term: in.From})
	rest := storage.Range{From: first.To, To: r.pageKey(place{term: in.To})}
	if !r.state.folded {
		upTo("", true)
		return damage(m.cursors)
	}
	for _, pages := range []storage.Range{first, rest} {
		if pages.From >= pages.To {
			continue
		}
		for e, err := range r.r.Scan(ctx, pages) {
			if err != nil {
				return err
			}
			c := cursor{rest: e.Value}
			for c.next(); c.ok; c.next() {
				switch {
				case string(c.term) < in.From || string(c.term) >= in.To:
				case parts != nil && string(c.term) == term:
					parts = append(parts, c.changes)
				case !end():
					return damage(m.cursors)
				default:
					term, parts = string(c.term), [][]byte{c.changes}
				}
			}
			if c.err != nil {
				return c.err
			}
		}
	}
	if end() {
		upTo("", true)
	}
	return damage(m.cursors)
}

// firstIn returns the first term of a span whose changes in a segment count.
func (r *Reader) firstIn(number int, in Span) string {
	if number < r.state.folding {
		return max(in.From, r.state.at)
	}
	return in.From
}
