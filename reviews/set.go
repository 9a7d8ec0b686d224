package reviews

import "math/bits"

// A set of fingerprints in some 15 bytes each, growing without a second copy of itself and without
// garbage: a check may hold as many as it has memory for.
//
// It is a hash table with linear probing whose entries are in the order of their fingerprints: the
// fingerprint, taken as a fraction, says where in the table its entry would like to be, and entries
// that want the same place stand one after the other behind it. So the table can grow in place, by
// moving all entries to the right and then each to where it belongs.
//
// A map of 12-byte arrays is simpler, and was measured: it takes 18 to 29 bytes an id, and up to 40 while it grows; with the
// ten ids of a usual collection it takes three times as long.
type set struct {
	pages []*page // the slots
	homes int     // places that entries want; there are some more slots behind them
	used  int
}

const pageSlots = 4096

type page struct {
	hi [pageSlots]uint64
	lo [pageSlots]uint32 // the two lowest bits are taken and marked
}

const (
	taken  = 1
	marked = 2
	flags  = taken | marked
)

const (
	firstHomes = 16
	manyHomes  = 8 * pageSlots // from here on memory counts: fuller, and growing by less
)

// add puts f into the set and says whether it was not there yet.
func (s *set) add(f fingerprint) bool {
	at, found := s.find(f)
	if found {
		return false
	}
	if s.full() {
		s.grow()
		at, _ = s.find(f)
	}
	free := at
	for s.slot(free).taken() {
		free++
	}
	for ; free > at; free-- {
		s.slot(free).set(s.slot(free - 1).get())
	}
	s.slot(at).set(fingerprint{f.hi, f.lo&^flags | taken})
	s.used++
	return true
}

// has says whether f is in the set.
func (s *set) has(f fingerprint) bool {
	_, found := s.find(f)
	return found
}

// mark marks f, which is in the set.
func (s *set) mark(f fingerprint) {
	if at, found := s.find(f); found {
		slot := s.slot(at)
		slot.page.lo[slot.i] |= marked
	}
}

// marked says whether f is in the set and marked.
func (s *set) marked(f fingerprint) bool {
	at, found := s.find(f)
	return found && s.slot(at).get().lo&marked != 0
}

// clear empties the set; a small one keeps its memory.
func (s *set) clear() {
	if s.used == 0 {
		return
	}
	if len(s.pages) > 1 {
		*s = set{}
		return
	}
	clear(s.pages[0].lo[:min(2*s.homes, pageSlots)]) // no entry of a half full set stands further
	s.used = 0
}

// slot is a place for an entry.
type slot struct {
	page *page
	i    int
}

// slot gives slot i; behind the last there is always another.
func (s *set) slot(i int) slot {
	for i/pageSlots >= len(s.pages) {
		s.pages = append(s.pages, new(page))
	}
	return slot{s.pages[i/pageSlots], i % pageSlots}
}

func (l slot) get() fingerprint  { return fingerprint{l.page.hi[l.i], l.page.lo[l.i]} }
func (l slot) set(f fingerprint) { l.page.hi[l.i], l.page.lo[l.i] = f.hi, f.lo }
func (l slot) taken() bool       { return l.page.lo[l.i]&taken != 0 }

// find gives the slot of f, or the one where it belongs.
func (s *set) find(f fingerprint) (at int, found bool) {
	if s.used == 0 {
		return s.home(f), false
	}
	for at = s.home(f); ; at++ {
		here := s.slot(at)
		if !here.taken() {
			return at, false
		}
		if e := here.get(); e.hi > f.hi || e.hi == f.hi && e.lo&^flags >= f.lo&^flags {
			return at, e.hi == f.hi && e.lo&^flags == f.lo&^flags
		}
	}
}

// home is the slot that f wants.
func (s *set) home(f fingerprint) int {
	high, _ := bits.Mul64(f.hi, uint64(s.homes))
	return int(high)
}

// full says whether another entry would make the probing long: in a small set each second place is
// taken, in a large one 17 of 20.
func (s *set) full() bool {
	if s.homes < manyHomes {
		return 2*s.used >= s.homes
	}
	return 20*s.used >= 17*s.homes
}

func (s *set) grow() {
	switch {
	case s.homes == 0:
		s.homes = firstHomes
	case s.homes < manyHomes:
		s.homes *= 2
	default:
		s.homes += s.homes / 8
	}
	// All entries to the right of where they will be, and then each to its place. Fingerprints are
	// spread evenly, so that a page behind the last home is room enough; if not, there is another.
	end := max(s.homes+min(s.used, pageSlots), len(s.pages)*pageSlots)
	from := s.gather(end)
	next := 0
	for range s.used {
		e := s.slot(from).get()
		if next = max(next, s.home(e)); next > from {
			s.shift(from, end)
			from, end = from+pageSlots, end+pageSlots
		}
		s.slot(from).set(fingerprint{})
		s.slot(next).set(e)
		next++
		from++
	}
}

// gather moves all entries to where the last stands before end, and gives the first.
func (s *set) gather(end int) (first int) {
	first = end
	for i := len(s.pages)*pageSlots - 1; i >= 0; i-- {
		here := s.slot(i)
		if !here.taken() {
			continue
		}
		e := here.get()
		here.set(fingerprint{})
		first--
		s.slot(first).set(e)
	}
	return first
}

// shift moves the slots from first to end by a page.
func (s *set) shift(first, end int) {
	for i := end - 1; i >= first; i-- {
		here := s.slot(i)
		e := here.get()
		here.set(fingerprint{})
		s.slot(i + pageSlots).set(e)
	}
}
