package reviews

import "math/bits"

// set is a set of fingerprints that takes some 15 bytes for each if it has very many, and up to 50 KB if it has few. It grows
// without a second copy of itself and without garbage, because a check of a large file has very many. Each entry may be marked:
// the set of a collection's reviews marks the accepted ones. Entries are not removed one by one; clear empties the set. The
// zero set is empty. A set is used by one goroutine.
//
// It is a hash table with linear probing. Fingerprints are spread over the table as they are spread over all numbers: an entry
// with a fingerprint of a third of the highest one has its home at a third of the table. Entries with the same home stand one
// after the other from there on. So all entries are in the order of their fingerprints, and the table can grow in place: all
// entries move to the right, and then each to its new home.
//
// In a table of 8 homes, whose fingerprints go from 0 to 99, the entries 10, 30, 31 and 90 stand like this. 30 and 31 have the
// home 2; the entry 31 is one slot after it:
//
//	slot   0    1    2    3    4    5    6    7    8
//	       10        30   31                  90
//
// A map of 12-byte arrays would be simpler. It takes 18 to 29 bytes for an id, up to 40 while it grows, and three times as long
// for the ten ids of a usual collection.
type set struct {
	pages []*page // the slots
	homes int     // slots that are the home of entries; some more slots are after them
	used  int     // entries
}

const pageSlots = 4096 // slots of a page

// page is a part of the slots. The table grows by pages, so it needs no second, larger copy while it grows. The two halves of a
// fingerprint are in two arrays: a struct of both would be padded to 16 bytes.
type page struct {
	hi [pageSlots]uint64
	lo [pageSlots]uint32 // the two lowest bits are the flags taken and marked
}

// The flags of a slot, in the two lowest bits of page.lo, which are not part of a fingerprint.
const (
	taken  = 1 // the slot has an entry
	marked = 2 // the entry is marked
	flags  = taken | marked
)

// How a set grows, see full and grow.
const (
	firstHomes = 16            // homes of a set with its first entry
	manyHomes  = 8 * pageSlots // a set with so many homes or more becomes fuller, and grows by less, to save memory
)

// add puts f into the set and returns whether it is new. A new entry is not marked.
func (s *set) add(f fingerprint) bool {
	at, found := s.find(f)
	if found {
		return false
	}
	// Growing moves every entry, so the place of f is another one afterwards.
	if s.full() {
		s.grow()
		at, _ = s.find(f)
	}
	// Make room at the place of f: the entries from there up to the next free slot move by one.
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

// has returns whether f is in the set.
func (s *set) has(f fingerprint) bool {
	_, found := s.find(f)
	return found
}

// mark marks f. It does nothing if f is not in the set.
func (s *set) mark(f fingerprint) {
	if at, found := s.find(f); found {
		slot := s.slot(at)
		slot.page.lo[slot.i] |= marked
	}
}

// marked returns whether f is in the set and marked.
func (s *set) marked(f fingerprint) bool {
	at, found := s.find(f)
	return found && s.slot(at).get().lo&marked != 0
}

// clear empties the set. A set of one page keeps its memory, since it is used for one collection after the other; a larger one
// gives it back, so that one large collection does not cost all later ones.
func (s *set) clear() {
	if s.used == 0 {
		return
	}
	if len(s.pages) > 1 {
		*s = set{}
		return
	}
	// A slot without flags is free, so the other half of the fingerprints may stay. A small set has at most half as many
	// entries as homes, so none of them is further than that behind the last home.
	clear(s.pages[0].lo[:min(2*s.homes, pageSlots)])
	s.used = 0
}

// slot is where an entry can be.
type slot struct {
	page *page
	i    int
}

// slot returns slot i, and makes the page that it is on if there is none.
func (s *set) slot(i int) slot {
	for i/pageSlots >= len(s.pages) {
		s.pages = append(s.pages, new(page))
	}
	return slot{s.pages[i/pageSlots], i % pageSlots}
}

// get and set read and write the slot with its flags. taken returns whether it has an entry.
func (l slot) get() fingerprint  { return fingerprint{l.page.hi[l.i], l.page.lo[l.i]} }
func (l slot) set(f fingerprint) { l.page.hi[l.i], l.page.lo[l.i] = f.hi, f.lo }
func (l slot) taken() bool       { return l.page.lo[l.i]&taken != 0 }

// find returns the slot of f, or the slot where f belongs if it is not in the set. Entries are in order, so the search ends at
// the first one that is not lower than f, or at a free slot.
func (s *set) find(f fingerprint) (at int, found bool) {
	if s.used == 0 {
		return s.home(f), false
	}
	// The order ignores flags.
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

// home returns the home of f: f.hi/2^64 of all homes, rounded down.
func (s *set) home(f fingerprint) int {
	high, _ := bits.Mul64(f.hi, uint64(s.homes))
	return int(high)
}

// full returns whether the set must grow before the next entry, so that probing stays short. A small set is full when half of its
// homes have entries, which is fast; a large one, of manyHomes or more, at 17 of 20, which saves memory.
func (s *set) full() bool {
	if s.homes < manyHomes {
		return 2*s.used >= s.homes
	}
	return 20*s.used >= 17*s.homes
}

// grow makes room for more entries: it sets the new number of homes, and moves every entry to its new place. A small set doubles
// and a large one grows by an eighth, so that little of its memory is empty.
func (s *set) grow() {
	switch {
	case s.homes == 0:
		s.homes = firstHomes
	case s.homes < manyHomes:
		s.homes *= 2
	default:
		s.homes += s.homes / 8
	}
	// First all entries move to the right of their new slots, then each to its new slot. Fingerprints are spread evenly, so
	// one page after the last home is nearly always room enough; shift makes more.
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

// gather moves all entries together in front of slot end, without free slots between them, and returns the slot of the first. It
// moves the last entry first, so that none is overwritten.
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

// shift moves the slots from first up to end by a page to the right, when the entries that are still to be placed would be
// overwritten.
func (s *set) shift(first, end int) {
	for i := end - 1; i >= first; i-- {
		here := s.slot(i)
		e := here.get()
		here.set(fingerprint{})
		s.slot(i + pageSlots).set(e)
	}
}
