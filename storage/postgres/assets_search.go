package postgres

import (
	"context"
	"math"
	"math/bits"
	"slices"

	"github.com/vitrine-go/vitrine/assets/assetstore"
)

// search intersects sets of terms: it finds the ordinals in a range that are in a list of every set, from one end of the range to
// the other. It reads the posting lists part by part and no further than needed. Where one set has no ordinals in a long
// stretch, it skips the parts of the others.
type search struct {
	r         *assetReader
	ascending bool
	low, high int64 // the range that is left, without high
	sets      []searchSet
	lists     []searchList // one for each term
	portion   int          // how many parts of a list to read next
}

// searchSet is a set of terms. Its ordinals are those of all its lists together.
type searchSet struct {
	lists []int  // indices of its lists; none if they were read completely
	read  blocks // the ordinals read so far
}

// searchList is the list of a term, and how far it was read.
type searchList struct {
	term string
	sets []int // indices of the sets that have the term
	// edge bounds the range that was read: from edge up to the high of a descending search, or from the low of an ascending
	// one up to edge. When the list was read to its end, edge is 0 or math.MaxInt64.
	edge  int64
	after int64 // in an ascending search, the next part does not begin before
}

const (
	maxParts    = 512 // parts that one round trip reads, unless there are more lists
	pageParts   = 8   // parts of a list in the first round trip, for a page of several sets; for one set it is 1
	allParts    = 64  // parts of a list in the first round trip, when all will be read
	moreAtATime = 8   // each round trip reads so many times the parts of the one before
)

// newSearch starts a search for the ordinals that match q. ok is false if none can match. The lists of all terms with a prefix
// are read completely at the beginning, since there may be very many.
func (r *assetReader) newSearch(ctx context.Context, q assetstore.AssetQuery, portion int) (s *search, ok bool, err error) {
	s = &search{r: r, ascending: q.Ascending, low: min(max(q.After, 0), assetstore.MaxOrdinal) + 1, high: math.MaxInt64, portion: portion}
	if q.Before != 0 {
		s.high = q.Before
	}
	known := map[string]int{}
	for i, terms := range q.All {
		set := searchSet{read: blocks{}}
		for _, term := range terms {
			n, seen := known[term]
			if !seen {
				n = len(s.lists)
				known[term] = n
				s.lists = append(s.lists, searchList{term: term, edge: s.here()})
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

// endOf returns the first string after all terms with a prefix.
func endOf(prefix string) string {
	end := []byte(prefix)
	end[len(end)-1]++ // terms are UTF-8, which has no byte 0xff
	return string(end)
}

// here returns the end of the range that the search goes on from.
func (s *search) here() int64 {
	if s.ascending {
		return s.low
	}
	return s.high
}

// run calls out with the matching ordinals, block by block in order, until out returns false.
func (s *search) run(ctx context.Context, out func(number int64, b *block) bool) error {
	for s.leap(); s.low < s.high; s.leap() {
		edge := s.edgeOf(nil)
		if edge == s.here() {
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

// edgeOf returns how far all lists of a set were read, or all lists of the search if set is nil.
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

// leap moves to the first position at which every set may have an ordinal.
func (s *search) leap() {
	to := s.here()
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

// move moves to a position, and drops the blocks that lie before it.
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

// match calls out with the ordinals that all sets have in a range that was read. It returns false if out does.
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

const (
	partsDown = `SELECT u.number, p.low, p.ordinals FROM unnest($2::bytea[], $3::int8[]) WITH ORDINALITY AS u (term, edge, number)
		CROSS JOIN LATERAL (SELECT low, ordinals FROM asset_list WHERE library = $1 AND term = u.term AND low < u.edge ORDER BY low DESC LIMIT $4) p`
	partsUp = `SELECT u.number, p.low, p.ordinals FROM unnest($2::bytea[], $3::int8[], $5::int8[]) WITH ORDINALITY AS u (term, edge, after, number)
		CROSS JOIN LATERAL (SELECT low, ordinals FROM asset_list WHERE library = $1 AND term = u.term AND low >= greatest(u.after,
				(SELECT low FROM asset_list WHERE library = $1 AND term = u.term AND low <= u.edge ORDER BY low DESC LIMIT 1))
			ORDER BY low LIMIT $4) p`
)

// fetch reads more parts of the lists that were not read beyond the position of the search.
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
			wanting, terms, edges, afters = append(wanting, i), append(terms, l.term), append(edges, s.here()), append(afters, l.after)
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

// take adds a part of a list that was read.
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

// lastOf returns the last ordinal of a part.
func lastOf(data []byte) (last int64, err error) {
	err = eachWord(data, func(first int64, word uint64) {
		if word != 0 {
			last = first + 63 - int64(bits.LeadingZeros64(word))
		}
	})
	return last, err
}
