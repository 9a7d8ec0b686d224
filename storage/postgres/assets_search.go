package postgres

import (
	"context"
	"math"
	"math/bits"
	"slices"

	"github.com/vitrine-go/vitrine/assets/assetstore"
)

// search intersects sets of terms: it finds the ordinals of a range that are in a list of at least one term of every set. It goes
// from one end of the range to the other, and reads the posting lists part by part and no further than needed. Where one set has
// no ordinals in a long stretch, it skips the parts of the others.
type search struct {
	r         *assetReader
	ascending bool
	low, high int64 // the rest of the range, without high; position says which of them moves
	sets      []searchSet
	lists     []searchList // one for each term of q.All
	portion   int          // how many parts of a list to read next
}

// searchSet is a set of terms. Its ordinals are those of all its lists together.
type searchSet struct {
	lists []int  // indices of its lists in search.lists; none for prefixes, whose lists were read completely at the beginning
	read  blocks // the ordinals that were read, and that the search has not passed
}

// searchList is the list of a term, and how far it was read.
type searchList struct {
	term string
	sets []int // indices of the sets that have the term
	// edge bounds the range that was read. In a descending search all ordinals from edge on were read, in an ascending one all
	// below edge. When the list was read to its end, edge is 0 or math.MaxInt64.
	edge  int64
	after int64 // in an ascending search, the low of the next part is at least this
}

const (
	maxParts    = 512 // parts that one round trip reads, unless there are more lists
	pageParts   = 8   // parts of a list in the first round trip, for a page of several sets; for one set it is 1
	allParts    = 128 // parts of a list in the first round trip, when all will be read
	moreAtATime = 8   // each round trip reads this many times as many parts of a list as the one before
)

// newSearch starts a search for the ordinals that match q. portion is how many parts of a list the first round trip reads. ok is
// false if no ordinal can match. The lists of all terms with a prefix are read completely at the beginning, since there may be
// too many lists to read each of them part by part.
func (r *assetReader) newSearch(ctx context.Context, q assetstore.AssetQuery, portion int) (s *search, ok bool, err error) {
	s = &search{r: r, ascending: q.Ascending, portion: portion}
	s.low, s.high = bounds(q)
	known := map[string]int{}
	for i, terms := range q.All {
		set := searchSet{read: blocks{}}
		for _, term := range terms {
			n, seen := known[term]
			if !seen {
				n = len(s.lists)
				known[term] = n
				s.lists = append(s.lists, searchList{term: term, edge: s.position()})
			}
			if !slices.Contains(s.lists[n].sets, i) {
				s.lists[n].sets = append(s.lists[n].sets, i)
				set.lists = append(set.lists, n)
			}
		}
		if len(set.lists) == 0 {
			return nil, false, nil
		}
		s.sets = append(s.sets, set)
	}
	if s.low >= s.high {
		return nil, false, nil
	}
	for _, prefixes := range q.Prefixes {
		set := searchSet{read: blocks{}}
		for _, prefix := range prefixes {
			if err := s.readPrefix(ctx, prefix, set.read); err != nil {
				return nil, false, err
			}
		}
		if len(set.read) == 0 {
			return nil, false, nil
		}
		s.sets = append(s.sets, set)
	}
	return s, true, nil
}

// bounds returns the range of the ordinals that q admits, from low on and below high.
func bounds(q assetstore.AssetQuery) (low, high int64) {
	low, high = min(max(q.After, 0), assetstore.MaxOrdinal)+1, q.Before
	if high == 0 {
		high = math.MaxInt64
	}
	return low, high
}

// prefixPortion is how many parts one round trip reads of the lists of terms with a prefix.
const prefixPortion = 512

// readPrefix adds to read the ordinals that the lists of all terms with the prefix have in the range of the search.
func (s *search) readPrefix(ctx context.Context, prefix string, read blocks) error {
	found := s.r.c.walk(ctx, prefixPortion, "SELECT ordinals FROM asset_list WHERE library = $1 AND term >= $2 AND term < $3 AND low < $4",
		s.r.key, prefix, endOf(prefix), s.high)
	defer found.close()
	for found.next() {
		if err := s.r.check(ctx); err != nil {
			return err
		}
		if err := read.add(found.blob(0)); err != nil {
			return err
		}
	}
	return found.err
}

// endOf returns the lowest string that is above all terms with a prefix. prefix is not empty.
func endOf(prefix string) string {
	end := []byte(prefix)
	end[len(end)-1]++ // terms are UTF-8, which has no byte 0xff
	return string(end)
}

// position returns the end of the range from which the search goes on: all that match on the other side of it were found.
func (s *search) position() int64 {
	if s.ascending {
		return s.low
	}
	return s.high
}

// run calls out with the matching ordinals, block by block in the order of the search, until out returns false. A block whose
// ordinals were not all read yet comes in pieces, in several calls with the same number.
func (s *search) run(ctx context.Context, out func(number int64, b *block) bool) error {
	for s.leap(); s.low < s.high; s.leap() {
		edge := s.edgeOf(nil)
		if edge == s.position() {
			if err := s.fetch(ctx); err != nil {
				return err
			}
			continue
		}
		low, high := edge, s.high
		if s.ascending {
			low, high = s.low, edge
		}
		if !s.match(low, high, out) {
			return nil
		}
		s.move(edge)
	}
	return nil
}

// edgeOf returns how far all lists of a set were read, or all lists of the search if set is nil: between the position of the
// search and the edge, none of these lists has an ordinal that was not read.
func (s *search) edgeOf(set *searchSet) int64 {
	edge := s.low
	if s.ascending {
		edge = s.high
	}
	meet := func(l *searchList) {
		if s.ascending {
			edge = min(edge, max(l.edge, s.low))
		} else {
			edge = max(edge, min(l.edge, s.high))
		}
	}
	if set == nil {
		for i := range s.lists {
			meet(&s.lists[i])
		}
		return edge
	}
	for _, i := range set.lists { // none if they were read completely
		meet(&s.lists[i])
	}
	return edge
}

// leap moves to the first position at which every set may have an ordinal: one that was read, or one beyond what was read of its
// lists. So a set without ordinals in a long stretch moves the search over it.
func (s *search) leap() {
	to := s.position()
	for i := range s.sets {
		set := &s.sets[i]
		next := s.edgeOf(set)
		for n := range set.read {
			if s.ascending {
				next = min(next, max(n<<blockBits, s.low))
			} else {
				next = max(next, min((n+1)<<blockBits, s.high))
			}
		}
		if s.ascending {
			to = max(to, next)
		} else {
			to = min(to, next)
		}
	}
	s.move(to)
}

// move moves the search to a position, and drops the blocks that are no longer in the range.
func (s *search) move(to int64) {
	if s.ascending {
		s.low = to
	} else {
		s.high = to
	}
	for _, set := range s.sets {
		for n := range set.read {
			if (n+1)<<blockBits <= s.low || n<<blockBits >= s.high {
				delete(set.read, n)
			}
		}
	}
}

// match calls out with the ordinals that all sets have in a range that was read of all lists. It returns false if out does.
func (s *search) match(low, high int64, out func(number int64, b *block) bool) bool {
	fewest := slices.MinFunc(s.sets, func(a, b searchSet) int { return len(a.read) - len(b.read) })
	numbers := make([]int64, 0, len(fewest.read))
	for n := range fewest.read {
		if (n+1)<<blockBits > low && n<<blockBits < high {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	if !s.ascending {
		slices.Reverse(numbers)
	}
	for _, n := range numbers {
		both := *fewest.read[n]
		for _, set := range s.sets {
			if b := set.read[n]; b != nil {
				both.and(b)
			} else {
				both = block{}
			}
		}
		both.cut(n, low, high)
		if both != (block{}) && !out(n, &both) {
			return false
		}
	}
	return true
}

// partsDown and partsUp read up to $4 parts of each of several lists, from an edge on, downwards or upwards. Upwards, the part
// that contains the edge begins below it.
const (
	partsDown = `SELECT u.number, p.low, p.ordinals FROM unnest($2::bytea[], $3::int8[]) WITH ORDINALITY AS u (term, edge, number)
		CROSS JOIN LATERAL (SELECT low, ordinals FROM asset_list WHERE library = $1 AND term = u.term AND low < u.edge ORDER BY low DESC LIMIT $4) p`
	partsUp = `SELECT u.number, p.low, p.ordinals FROM unnest($2::bytea[], $3::int8[], $5::int8[]) WITH ORDINALITY AS u (term, edge, after, number)
		CROSS JOIN LATERAL (SELECT low, ordinals FROM asset_list WHERE library = $1 AND term = u.term AND low >= greatest(u.after,
				(SELECT low FROM asset_list WHERE library = $1 AND term = u.term AND low <= u.edge ORDER BY low DESC LIMIT 1))
			ORDER BY low LIMIT $4) p`
)

// fetch reads more parts, in one round trip, of the lists that were not read beyond the position of the search. It reads more
// parts from call to call, so that a short search reads little, and a long one takes few round trips.
func (s *search) fetch(ctx context.Context) error {
	if err := s.r.check(ctx); err != nil {
		return err
	}
	var (
		wanting []int
		terms   []string
		edges   []int64
		afters  []int64
	)
	for i, l := range s.lists {
		if s.ascending && l.edge <= s.low || !s.ascending && l.edge >= s.high {
			wanting, terms, edges, afters = append(wanting, i), append(terms, l.term), append(edges, s.position()), append(afters, l.after)
		}
	}
	portion := max(1, min(s.portion, maxParts/len(wanting)))
	s.portion *= moreAtATime
	var found *rows
	if s.ascending {
		found = s.r.c.query(ctx, partsUp, s.r.key, terms, edges, portion, afters)
	} else {
		found = s.r.c.query(ctx, partsDown, s.r.key, terms, edges, portion)
	}
	got := make([]int, len(wanting))
	for found.next() {
		n := found.int(0) - 1
		got[n]++
		if err := s.take(&s.lists[wanting[n]], found.int(1), found.blob(2)); err != nil {
			return err
		}
	}
	for n, i := range wanting {
		switch l := &s.lists[i]; {
		case got[n] == portion:
		case s.ascending:
			l.edge = math.MaxInt64
		default:
			l.edge = 0
		}
	}
	return found.err
}

// take adds a part that was read to the sets of its list, and moves the edge of the list.
func (s *search) take(l *searchList, low int64, data []byte) error {
	for _, i := range l.sets {
		if err := s.sets[i].read.add(data); err != nil {
			return err
		}
	}
	if !s.ascending {
		l.edge = min(l.edge, low, s.high)
		return nil
	}
	last, err := lastOf(data)
	l.edge, l.after = max(l.edge, last+1), max(l.after, low+1)
	return err
}

// lastOf returns the last ordinal of a part. The low of the next part is not known, so an ascending search has read the list up
// to here.
func lastOf(data []byte) (last int64, err error) {
	err = eachWord(data, func(first int64, word uint64) {
		if word != 0 {
			last = first + 63 - int64(bits.LeadingZeros64(word))
		}
	})
	return last, err
}
