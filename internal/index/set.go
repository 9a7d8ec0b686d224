package index

import (
	"iter"
	"math/bits"
	"slices"
)

// Set is a bitmap of ordinals in memory, in chunks of 4,096 bits in ascending order. The zero Set is empty.
type Set struct {
	at     []int64 // the number of each chunk, ascending
	chunks []*chunk
	last   int // the index of the chunk that was used last
}

const (
	chunkBits  = 12
	chunkWords = 1 << chunkBits / 64
)

type chunk [chunkWords]uint64

// find returns the chunk with a number, or nil.
func (s *Set) find(n int64) *chunk {
	for i := s.last; i < min(s.last+2, len(s.at)); i++ { // usually the same chunk, or the next one
		if s.at[i] == n {
			s.last = i
			return s.chunks[i]
		}
	}
	i, found := slices.BinarySearch(s.at, n)
	s.last = i
	if !found {
		return nil
	}
	return s.chunks[i]
}

var noChunk chunk

// chunk returns the chunk with a number, or an empty one.
func (s *Set) chunk(n int64) *chunk {
	if c := s.find(n); c != nil {
		return c
	}
	return &noChunk
}

func (s *Set) make(n int64) *chunk {
	if c := s.find(n); c != nil {
		return c
	}
	c := new(chunk)
	s.at, s.chunks = slices.Insert(s.at, s.last, n), slices.Insert(s.chunks, s.last, c)
	return c
}

func (s *Set) add(o int64) { s.make(o >> chunkBits)[o>>6&(chunkWords-1)] |= 1 << (o & 63) }

// Remove removes an ordinal from the set.
func (s *Set) Remove(o int64) {
	if c := s.find(o >> chunkBits); c != nil {
		c[o>>6&(chunkWords-1)] &^= 1 << (o & 63)
	}
}

// has reports whether an ordinal is in the set.
func (s *Set) has(o int64) bool {
	c := s.find(o >> chunkBits)
	return c != nil && c[o>>6&(chunkWords-1)]>>(o&63)&1 == 1
}

// countChanges returns by how much changes alter the number of ordinals that a posting list shares with the set. A nil
// set contains all ordinals.
func (s *Set) countChanges(changes []byte) (n int64) {
	at, c := int64(-1), &noChunk
	for change := range each(changes) {
		o, is := change.ordinal, int64(1)
		if s != nil {
			if o>>chunkBits != at {
				at = o >> chunkBits
				c = s.chunk(at)
			}
			is = int64(c[o>>6&(chunkWords-1)] >> (o & 63) & 1)
		}
		if change.gone {
			is = -is
		}
		n += is
	}
	return n
}

// count returns how many ordinals of the set are in the posting list with these parts and changes. A nil set contains
// all ordinals.
func (s *Set) count(parts, changes [][]byte) (n int64) {
	for _, v := range parts {
		n += s.countPart(v)
	}
	for _, v := range changes {
		n += s.countChanges(v)
	}
	return n
}

// apply applies changes to the set, oldest first.
func (s *Set) apply(changes [][]byte) {
	for _, part := range changes {
		for c := range each(part) {
			if c.gone {
				s.Remove(c.ordinal)
			} else {
				s.add(c.ordinal)
			}
		}
	}
}

func removes(changes []byte) bool {
	for c := range each(changes) {
		if c.gone {
			return true
		}
	}
	return false
}

// addList adds the ordinals of the posting list with these parts and changes.
func (s *Set) addList(parts, changes [][]byte) {
	into := s
	// an ordinal removed from this list may be in the set because of another list
	if slices.ContainsFunc(changes, removes) {
		into = &Set{}
	}
	for _, v := range parts {
		into.addPart(v)
	}
	if into.apply(changes); into != s {
		s.or(into)
	}
}

// or adds the ordinals of o.
func (s *Set) or(o *Set) {
	for i, at := range o.at {
		c := s.make(at)
		for j, w := range o.chunks[i] {
			c[j] |= w
		}
	}
}

// And removes the ordinals that are not in o.
func (s *Set) And(o *Set) {
	n := 0
	for i, at := range s.at {
		other := o.find(at)
		if other == nil {
			continue
		}
		c, some := s.chunks[i], uint64(0)
		for j := range c {
			c[j] &= other[j]
			some |= c[j]
		}
		if some != 0 {
			s.at[n], s.chunks[n] = at, c
			n++
		}
	}
	s.at, s.chunks, s.last = s.at[:n], s.chunks[:n], 0
}

// Minus removes the ordinals of o from the set.
func (s *Set) Minus(o *Set) {
	for i, at := range s.at {
		if other := o.find(at); other != nil {
			for j := range other {
				s.chunks[i][j] &^= other[j]
			}
		}
	}
}

// Count returns the number of ordinals in the set.
func (s *Set) Count() (n int) {
	for _, c := range s.chunks {
		for _, w := range c {
			n += bits.OnesCount64(w)
		}
	}
	return n
}

// All yields the ordinals in ascending or descending order.
func (s *Set) All(ascending bool) iter.Seq[int64] { return s.Between(0, 0, ascending) }

// Between yields the ordinals above after and below before, in ascending or descending order. 0 is no bound.
func (s *Set) Between(after, before int64, ascending bool) iter.Seq[int64] {
	if before == 0 {
		before = 1<<63 - 1
	}
	return func(yield func(int64) bool) {
		for i := range s.at {
			if !ascending {
				i = len(s.at) - 1 - i
			}
			for j := range s.chunks[i] {
				if !ascending {
					j = chunkWords - 1 - j
				}
				at := s.at[i]<<chunkBits + int64(j)*64
				if at+63 <= after || at >= before {
					continue
				}
				for w := s.chunks[i][j]; w != 0; {
					b := bits.TrailingZeros64(w)
					if !ascending {
						b = 63 - bits.LeadingZeros64(w)
					}
					w &^= 1 << b
					if o := at + int64(b); o > after && o < before && !yield(o) {
						return
					}
				}
			}
		}
	}
}
