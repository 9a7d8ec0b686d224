package reviews

import (
	"encoding/binary"
	"hash/maphash"
	"math/bits"
)

// fingerprint stands for a text of any length: 94 bits of two seeded hashes, so that nobody can
// write a file with collisions on purpose, and chance needs some 10^13 ids for one.
type fingerprint struct {
	hi uint64
	lo uint32
}

// hasher makes the fingerprints of one run.
type hasher struct {
	hi, lo maphash.Hash
}

func newHasher() *hasher {
	h := &hasher{}
	h.hi.SetSeed(maphash.MakeSeed())
	h.lo.SetSeed(maphash.MakeSeed())
	return h
}

// clone gives a hasher for another goroutine that makes the same fingerprints.
func (h *hasher) clone() *hasher {
	c := &hasher{}
	c.hi.SetSeed(h.hi.Seed())
	c.lo.SetSeed(h.lo.Seed())
	return c
}

// of fingerprints a text at hand.
func (h *hasher) of(text []byte) fingerprint {
	return fingerprint{maphash.Bytes(h.hi.Seed(), text), uint32(maphash.Bytes(h.lo.Seed(), text))}
}

// reset, write and sum fingerprint a text that comes in pieces; the result equals of(all of it).
func (h *hasher) reset() { h.hi.Reset(); h.lo.Reset() }

func (h *hasher) write(piece []byte) { h.hi.Write(piece); h.lo.Write(piece) }

func (h *hasher) sum() fingerprint { return fingerprint{h.hi.Sum64(), uint32(h.lo.Sum64())} }

// pair fingerprints two texts as one.
func (h *hasher) pair(a, b fingerprint) fingerprint {
	var both [24]byte
	binary.LittleEndian.PutUint64(both[0:], a.hi)
	binary.LittleEndian.PutUint32(both[8:], a.lo)
	binary.LittleEndian.PutUint64(both[12:], b.hi)
	binary.LittleEndian.PutUint32(both[20:], b.lo)
	return h.of(both[:])
}

// A set of fingerprints in some 15 bytes each. A large one is cut into segments that grow one at a
// time, by a quarter, so that growing costs no second copy of the whole.
type set struct {
	segments []segment
	used     int
}

const (
	segmentBits = 8   // segments of a large set
	smallSet    = 512 // ids up to which one segment does
)

// add puts f into the set and says whether it was not there yet.
func (s *set) add(f fingerprint) bool {
	if s.used >= smallSet && len(s.segments) == 1 {
		s.split()
	}
	if !s.segment(f).add(f) {
		return false
	}
	s.used++
	return true
}

// mark marks f, which is in the set.
func (s *set) mark(f fingerprint) {
	seg := s.segment(f)
	if i, found := seg.find(f); found {
		seg.lo[i] |= marked
	}
}

// has says whether f is in the set.
func (s *set) has(f fingerprint) bool {
	_, found := s.segment(f).find(f)
	return found
}

// marked says whether f is in the set and marked.
func (s *set) marked(f fingerprint) bool {
	seg := s.segment(f)
	i, found := seg.find(f)
	return found && seg.lo[i]&marked != 0
}

// clear empties the set; a small one keeps its memory.
func (s *set) clear() {
	s.used = 0
	if len(s.segments) > 1 {
		s.segments = nil
	}
	if len(s.segments) == 1 {
		s.segments[0].used = 0
		clear(s.segments[0].lo)
	}
}

func (s *set) segment(f fingerprint) *segment {
	if s.segments == nil {
		s.segments = make([]segment, 1)
	}
	if len(s.segments) == 1 {
		return &s.segments[0]
	}
	return &s.segments[f.lo>>(32-segmentBits)]
}

// split spreads the one segment of a small set over many.
func (s *set) split() {
	old := s.segments[0]
	s.segments = make([]segment, 1<<segmentBits)
	for i, lo := range old.lo {
		if lo&taken != 0 {
			s.segment(fingerprint{lo: lo}).put(old.hi[i], lo)
		}
	}
}

// A segment is a hash table with linear probing, at most nine tenths full.
type segment struct {
	hi   []uint64
	lo   []uint32 // the two lowest bits are taken and marked
	used int
}

const (
	taken  = 1
	marked = 2
	flags  = taken | marked
)

func (g *segment) add(f fingerprint) bool {
	if _, found := g.find(f); found {
		return false
	}
	g.put(f.hi, f.lo&^flags|taken)
	return true
}

// put stores what is not in the segment yet.
func (g *segment) put(hi uint64, lo uint32) {
	if (g.used+1)*10 > len(g.hi)*9 {
		g.grow()
	}
	i, _ := g.find(fingerprint{hi, lo})
	g.hi[i], g.lo[i] = hi, lo
	g.used++
}

func (g *segment) grow() {
	old, n := *g, len(g.hi)+len(g.hi)/4+8
	*g = segment{hi: make([]uint64, n), lo: make([]uint32, n)}
	for i, lo := range old.lo {
		if lo&taken != 0 {
			g.put(old.hi[i], lo)
		}
	}
}

// find gives the slot of f, or the free one where it belongs.
func (g *segment) find(f fingerprint) (slot int, found bool) {
	if len(g.hi) == 0 {
		return 0, false
	}
	high, _ := bits.Mul64(f.hi, uint64(len(g.hi)))
	for i := int(high); ; {
		if g.lo[i]&taken == 0 {
			return i, false
		}
		if g.hi[i] == f.hi && (g.lo[i]^f.lo)&^flags == 0 {
			return i, true
		}
		if i++; i == len(g.hi) {
			i = 0
		}
	}
}
