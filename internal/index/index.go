// Package index is an inverted index: it finds the records that have a term, such as a word or a tag. Records are named
// by ordinals, numbers above 0 that a domain assigns. The index of a space has a posting list for each term, the
// ordinals that have it:
//
//	index               the state: the list of segments, and the latest changes
//	new/<number>        a segment: the changes of several updates
//	t/<term>            a page: the posting lists of this term and of terms after it
//	t/<term> <ordinal>  a page that begins within the posting list of this term, at this ordinal
//
// A domain that changes which terms its records have builds another index of the same space, with other Rules, beside
// the one that is searched. Its kinds of keys end in the number of the rules: index1, new1, t1.
//
// The terms of an update are spread over the whole index, so an update does not write pages. A small update adds its
// changes to the state. When the state has too many, they become a segment. Segments are merged as their number grows.
// When they have about 500,000 changes together, later updates fold them into the pages, in slices of a few
// milliseconds. So a page is written once for many records. The state has the first term that is not folded yet: the
// pages include the changes of the segments being folded for all terms below it, and no other changes of segments.
//
// A term is UTF-8 of at most 256 bytes. Keys contain it such that terms sort by their bytes.
package index

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/storage"
)

// MaxTerm is the maximum length of a term in bytes.
const MaxTerm = 256

// Index is the index of a space.
type Index struct {
	Space string
	Rules int    // the number of the domain's rules by which records have terms, from 0 on
	Cache *Cache // keeps segments
}

// kind returns the kind of the keys of this index that are called name.
func (x Index) kind(name string) string {
	if x.Rules > 0 {
		name += strconv.Itoa(x.Rules)
	}
	return name + "/"
}

// Kinds returns the kinds of the keys of an index.
func (x Index) Kinds() []string { return []string{x.kind("t"), x.kind("new"), x.kind("index")} }

// Key returns the key of the state record, so that a caller can read it together with records of its own.
func (x Index) Key() string { return keyval.Key(x.Space, x.kind("index")) }

func (x Index) segmentKey(number int64) string {
	return keyval.Key(x.Space, x.kind("new"), keyval.Number(number))
}

// pages returns the prefix of the keys of pages.
func (x Index) pages() string { return keyval.Prefix(x.Space, x.kind("t")) }

// place is the position of an ordinal in the posting list of a term. Places are ordered by term, then by ordinal.
type place struct {
	term    string
	ordinal int64
}

func (p place) before(o place) bool {
	return cmp.Or(strings.Compare(p.term, o.term), cmp.Compare(p.ordinal, o.ordinal)) < 0
}

// pageKey returns the key of a page that begins at a place. The ordinal is 0 if the page has the posting list from its
// beginning.
func (x Index) pageKey(p place) string {
	key := x.pages() + keyval.Escape(p.term)
	if p.ordinal > 0 {
		key += " " + keyval.Number(p.ordinal)
	}
	return key
}

// placeOf returns the place at which a page begins.
func (x Index) placeOf(key string) (p place, err error) {
	term, number, within := strings.Cut(key[len(x.pages()):], " ")
	if within {
		p.ordinal, err = keyval.ParseNumber(number)
	}
	if p.term = keyval.Unescape(term); err != nil {
		err = fmt.Errorf("%w (%q: %w)", errDamaged, key, err)
	}
	return p, err
}

// pageWith returns a range that yields the page of a place.
func (x Index) pageWith(p place) storage.Range {
	return storage.Range{From: x.pages(), To: x.pageKey(p) + "\x00", Reverse: true, Limit: 1}
}

// state is the decoded state record.
type state struct {
	segments []reference // oldest first
	folding  int         // the number of segments being folded, the first ones of the list
	at       string      // the first term that is not folded
	folded   bool        // a fold has begun, so pages may exist
	owed     int         // changes since the last slice of a fold
	recent   []segment   // changes since the last segment, oldest first
	// building is true while the index is being rebuilt. It then has the terms of all ordinals up to built.
	building bool
	built    int64
}

// reference names a segment in the state.
type reference struct {
	number  int64
	changes int
}

// stateForm is the first byte of a stored state. It changes when the format of pages or segments changes. The form of
// v0.2.0 has the same format. v0.2.0 rejects any other, so it cannot change one of two indices and not the other.
const stateForm, firstForm = 3, 2

func (s state) encode() []byte {
	b := []byte{stateForm}
	for _, n := range []int{s.folding, s.owed, len(s.segments)} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	for _, r := range s.segments {
		b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(r.number)), uint64(r.changes))
	}
	b = keyval.AppendText(b, s.at)
	b = binary.AppendUvarint(b, uint64(s.built)<<2|flag(s.building)<<1|flag(s.folded))
	for _, r := range s.recent {
		b = keyval.AppendText(b, []byte(r))
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
	f := keyval.Fields{Key: x.Key(), Rest: value}
	if form := f.Uint(); form != stateForm && form != firstForm && f.Err() == nil {
		return s, fmt.Errorf("the record %q is damaged, or of an earlier release: it has the form %d, want %d: "+
			"build the index anew", x.Key(), form, stateForm)
	}
	s.folding, s.owed = int(f.Uint()), int(f.Uint())
	for n := f.Uint(); n > 0 && f.Err() == nil; n-- {
		s.segments = append(s.segments, reference{int64(f.Uint()), int(f.Uint())})
	}
	s.at = string(f.Text())
	built := f.Uint()
	s.folded, s.building, s.built = built&1 == 1, built>>1&1 == 1, int64(built>>2)
	for len(f.Rest) > 0 {
		s.recent = append(s.recent, f.Text())
	}
	if s.folding > len(s.segments) {
		return s, fmt.Errorf("the record %q is damaged: it folds %d segments of %d", x.Key(), s.folding,
			len(s.segments))
	}
	return s, f.Err()
}

// Reader reads an index from a snapshot.
type Reader struct {
	Index
	r      storage.Reader
	state  state
	stored []segment // the segments of the state; nil until they are read
	all    []segment // stored, followed by the changes since
	writer *Writer   // nil in a View
}

// Reader returns a Reader. value is the value of the key x.Key().
func (x Index) Reader(r storage.Reader, value []byte) (*Reader, error) {
	out := &Reader{Index: x, r: r}
	if value == nil {
		return out, nil
	}
	var err error
	out.state, err = x.decode(value)
	return out, err
}

// Built returns the last ordinal that Build has added. ok is false if the index is not being built.
func (r *Reader) Built() (last int64, ok bool) { return r.state.built, r.state.building }

// load reads the segments. It returns ErrBusy while the index is being rebuilt.
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

// parts returns the stored parts of the posting lists of terms, without the changes in segments. terms must be sorted
// and unique.
func (r *Reader) parts(ctx context.Context, terms []string) (map[string][][]byte, error) {
	if !r.state.folded {
		return nil, nil
	}
	// Find the page in which each list begins. The ranges do not overlap: each one starts where the range of the
	// previous term ends.
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
	var more []storage.Range // the pages in which lists may continue
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

// scan returns the entries of ranges, or nil if there are no ranges.
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

// changesOf returns the changes of terms that are not in the pages. terms must be sorted and unique.
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

// Query matches ordinals that have at least one term of each set in All and, for each set in Spans, at least one term
// in one of its spans.
type Query struct {
	All   [][]string
	Spans [][]Span
}

// Span is a range of terms: from From up to, but not including, To. If Match is not nil, only terms for which it
// returns true are part of the span.
type Span struct {
	From, To string
	Match    func(term string) bool
}

// Prefix returns the span of the terms that begin with text.
func Prefix(text string) Span { return Span{From: text, To: text + "\xff"} } // no term has this byte

// Find returns the ordinals that match a query, which must have at least one set. The caller may change the result.
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

// listOf returns the posting list with these parts and changes.
func listOf(parts, changes [][]byte) (list []int64) {
	for _, v := range parts {
		list = append(list, ordinals(v)...)
	}
	if all := together(changes); len(all) > 0 {
		list = changed(list, all)
	}
	return list
}

// Each calls fn with each term of a span that an ordinal of s has, and with those ordinals, ascending. It goes through
// the terms in ascending order, or in descending order if back is true, and ends when fn returns false. A nil s
// contains all ordinals.
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
	// Pages are scanned in ascending order only. To go backwards, read a number of pages at the end of the span, then
	// the pages before them, twice as many each time.
	type termList struct {
		term string
		list []int64
	}
	for pages := 1; in.From < in.To; pages = min(2*pages, 64) {
		before, err := r.scan(ctx,
			[]storage.Range{{From: r.pages(), To: r.pageKey(place{term: in.To}), Reverse: true, Limit: pages}})
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

// TermCount is how many ordinals have a term.
type TermCount struct {
	Term  string
	Count int64
}

// CountTerms calls fn, in ascending order, with the terms that begin with prefix and that ordinals of s have. Terms
// that are the same up to mark are a group: fn gets them together, with their counts and with the number of ordinals
// that have one of them. It ends when fn returns false. A nil s contains all ordinals. It may skip groups with fewer
// ordinals than the present result of least. A nil least skips none. group is valid until fn returns.
func (r *Reader) CountTerms(
	ctx context.Context, s *Set, prefix, mark string, least func() int64, fn func(group []TermCount, n int64) bool,
) error {
	if err := r.load(ctx); err != nil {
		return err
	}
	if s != nil && len(s.at) == 0 {
		return nil
	}
	type list struct {
		term           string
		parts, changes [][]byte
	}
	var lists []list // of the present group
	head := ""       // what its terms begin with
	var group []TermCount
	end := func() bool {
		most := int64(0)
		for _, l := range lists {
			for _, v := range l.changes {
				most += int64(len(v)) // each change takes at least one byte
			}
			for _, v := range l.parts {
				most += mostOf(v)
			}
		}
		if len(lists) == 0 || least != nil && most < least() {
			return true
		}
		n := int64(0)
		group = group[:0]
		for _, l := range lists {
			if n = s.count(l.parts, l.changes); n > 0 {
				group = append(group, TermCount{l.term, n})
			}
		}
		switch len(group) {
		case 0:
			return true
		case 1:
			n = group[0].Count
		default:
			all := &Set{}
			for _, l := range lists {
				all.addList(l.parts, l.changes)
			}
			if s != nil {
				all.And(s)
			}
			n = int64(all.Count())
		}
		return fn(group, n)
	}
	more := true
	err := r.walk(ctx, Prefix(prefix), func(term string, parts, changes [][]byte) bool {
		rest, same := strings.CutPrefix(term, head)
		if len(lists) == 0 || !same || rest != "" && !strings.HasPrefix(rest, mark) {
			more = end()
			lists = lists[:0]
			value, _, _ := strings.Cut(term[len(prefix):], mark)
			head = prefix + value
		}
		var had [][]byte // to be used again
		if n := len(lists); n < cap(lists) {
			had = lists[:n+1][n].changes[:0]
		}
		lists = append(lists, list{term, parts, append(had, changes...)})
		return more
	})
	if err == nil && more {
		end()
	}
	return err
}

// walk calls fn for each term of a span with the parts of its posting list and with its changes in segments, until fn
// returns false. It ignores Match. The segments must be loaded. changes is valid until fn returns.
func (r *Reader) walk(ctx context.Context, in Span, fn func(term string, parts, changes [][]byte) bool) error {
	m := merger{}
	for i, s := range r.all {
		m.cursors = append(m.cursors, s.seek(r.firstIn(i, in)))
	}
	m.next()
	// upTo calls fn with the terms below term that only segments have.
	upTo := func(term string, all bool) bool {
		for ; m.ok && string(m.term) < in.To && (all || string(m.term) < term); m.next() {
			if !fn(string(m.term), nil, m.changes) {
				return false
			}
		}
		return true
	}
	term, parts := "", [][]byte(nil) // of the list being collected
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

// firstIn returns the first term of a span for which the changes of a segment are not in the pages.
func (r *Reader) firstIn(number int, in Span) string {
	if number < r.state.folding {
		return max(in.From, r.state.at)
	}
	return in.From
}
