package sqlite

import (
	"iter"
	"maps"
	"math"
	"math/bits"
	"slices"
)

// set is an immutable set of ordinals below 1<<32. The result of a search is a set, and so is all that is cached for
// searches: they are intersected, counted, and read in either order from any ordinal on. A sparse set is a sorted list,
// and a dense one is a bitmap, whichever takes less memory.
//
// A new search spends its time on two operations: building a set from posting lists, and counting the ordinals that posting
// lists share with a set, for facets.
type set struct {
	list []uint32 // ascending
	bits []uint64 // of ordinal o, bit o%64 of bits[o/64]; nil for a list
	n    int
}

// dense is the density at which a bitmap takes as much memory as a list: one ordinal in so many is in the set.
const dense = 32

// setOf returns the set of these ordinals. They may be in any order and repeat. It changes list and may keep it.
func setOf(list []uint32) set {
	if len(list) == 0 {
		return set{}
	}
	top := slices.Max(list)
	if len(list) < int(top)/dense {
		if !slices.IsSorted(list) {
			slices.Sort(list)
		}
		list = slices.Compact(list)
		return set{list: list, n: len(list)}
	}
	words := make([]uint64, top/64+1)
	for _, o := range list {
		words[o/64] |= 1 << (o % 64)
	}
	return set{bits: words, n: ones(words)}
}

// ones returns the number of bits that are 1.
func ones(words []uint64) (n int) {
	for _, w := range words {
		n += bits.OnesCount64(w)
	}
	return n
}

// size estimates the bytes that the set takes.
func (s set) size() int { return 4*cap(s.list) + 8*cap(s.bits) }

// has reports whether the ordinal is in the set.
func (s set) has(o uint32) bool {
	if s.bits != nil {
		return int(o/64) < len(s.bits) && s.bits[o/64]>>(o%64)&1 == 1
	}
	_, found := slices.BinarySearch(s.list, o)
	return found
}

// counter returns a function that counts how many of the ordinals in a list are in the set. No ordinal may be in the
// list twice. The function is called with thousands of lists, so a sparse set is first written as a bitmap, if that is
// not too large.
func (s set) counter() func(list []uint32) int {
	words := s.bits
	if words == nil && len(s.list) > 0 && s.list[len(s.list)-1] < maxSpread {
		words = make([]uint64, s.list[len(s.list)-1]/64+1)
		for _, o := range s.list {
			words[o/64] |= 1 << (o % 64)
		}
	}
	return func(list []uint32) (n int) {
		if words == nil {
			for _, o := range list {
				if s.has(o) {
					n++
				}
			}
			return n
		}
		for _, o := range list {
			if at := int(o / 64); at < len(words) {
				n += int(words[at] >> (o % 64) & 1)
			}
		}
		return n
	}
}

// maxSpread bounds the ordinals of a sparse set that is written as a bitmap, to count faster.
const maxSpread = 1 << 26

// and returns the intersection of the two sets. Of two lists it walks the shorter one and searches in the longer one; of a
// list and a bitmap it looks each ordinal of the list up in the bitmap; two bitmaps are combined word by word.
func (s set) and(other set) set {
	if s.n > other.n {
		s, other = other, s
	}
	switch {
	case s.bits != nil && other.bits != nil:
		return andBits(s.bits, other.bits)
	case s.bits != nil:
		s, other = other, s
	}
	list := make([]uint32, 0, s.n)
	if other.bits != nil {
		for _, o := range s.list {
			if other.has(o) {
				list = append(list, o)
			}
		}
	} else {
		rest := other.list
		for _, o := range s.list {
			rest = from(rest, o)
			if len(rest) > 0 && rest[0] == o {
				list = append(list, o)
			}
		}
	}
	if len(list) < cap(list)/2 {
		list = slices.Clone(list) // the cache may keep it, so it should waste no memory
	}
	return set{list: list, n: len(list)}
}

// andBits returns the intersection of two bitmaps, as a list if it is sparse.
func andBits(a, b []uint64) set {
	both := make([]uint64, min(len(a), len(b)))
	n := 0
	for i := range both {
		both[i] = a[i] & b[i]
		n += bits.OnesCount64(both[i])
	}
	if n >= len(both)*64/dense {
		return set{bits: both, n: n}
	}
	list := make([]uint32, 0, n)
	yieldBits(both, 0, int64(len(both))*64-1, true, func(o int64) bool {
		list = append(list, uint32(o))
		return true
	})
	return set{list: list, n: n}
}

// from returns the part of an ascending list whose ordinals are at least o. It doubles its steps from the beginning
// before it searches between two of them, so a merge of two lists is fast even if one is much longer.
func from(list []uint32, o uint32) []uint32 {
	step := 1
	for step < len(list) && list[step] < o {
		step *= 2
	}
	i, _ := slices.BinarySearch(list[step/2:min(step+1, len(list))], o)
	return list[step/2+i:]
}

// with returns the set with changes applied: it adds the ordinals that map to true and removes those that map to false. So a
// cached set is updated after an edit without reading the index again. A bitmap stays a bitmap.
func (s set) with(changes map[uint32]bool) set {
	top, differs := uint32(0), false
	for o, in := range changes {
		if s.has(o) != in {
			top, differs = max(top, o), true
		}
	}
	switch {
	case !differs:
		return s
	case s.bits == nil:
		list, rest := make([]uint32, 0, len(s.list)+len(changes)), s.list
		for _, o := range slices.Sorted(maps.Keys(changes)) {
			behind := from(rest, o)
			list = append(list, rest[:len(rest)-len(behind)]...)
			rest = behind
			if len(rest) > 0 && rest[0] == o {
				rest = rest[1:]
			}
			if changes[o] {
				list = append(list, o)
			}
		}
		return setOf(append(list, rest...))
	}
	words := make([]uint64, max(len(s.bits), int(top/64)+1))
	copy(words, s.bits)
	for o, in := range changes {
		switch bit := uint64(1) << (o % 64); {
		case in:
			words[o/64] |= bit
		case int(o/64) < len(words):
			words[o/64] &^= bit
		}
	}
	return set{bits: words, n: ones(words)}
}

// count returns how many ordinals of the set are from first to last, both included.
func (s set) count(first, last int64) (n int) {
	first, last = max(first, 0), min(last, math.MaxUint32)
	switch {
	case first > last:
		return 0
	case s.bits == nil:
		list := from(s.list, uint32(first))
		if last < math.MaxUint32 {
			return len(list) - len(from(list, uint32(last)+1))
		}
		return len(list)
	}
	last = min(last, int64(len(s.bits))*64-1)
	for at := first / 64; at <= last/64 && first <= last; at++ {
		n += bits.OnesCount64(part(s.bits, at, first, last))
	}
	return n
}

// part returns the word words[at] of a bitmap without the bits of ordinals below first or above last.
func part(words []uint64, at, first, last int64) uint64 {
	w := words[at]
	if at == first/64 {
		w = w >> (first % 64) << (first % 64)
	}
	if at == last/64 {
		w = w << (63 - last%64) >> (63 - last%64)
	}
	return w
}

// between yields the ordinals from first to last, both included, in either order.
func (s set) between(first, last int64, ascending bool) iter.Seq[int64] {
	first, last = max(first, 0), min(last, math.MaxUint32)
	if s.bits != nil {
		last = min(last, int64(len(s.bits))*64-1)
	}
	return func(yield func(int64) bool) {
		switch {
		case first > last:
		case s.bits == nil:
			yieldList(from(s.list, uint32(first)), last, ascending, yield)
		default:
			yieldBits(s.bits, first, last, ascending, yield)
		}
	}
}

// yieldList yields the ordinals of an ascending list up to last, in either order, until yield returns false.
func yieldList(list []uint32, last int64, ascending bool, yield func(int64) bool) {
	if last < math.MaxUint32 {
		list = list[:len(list)-len(from(list, uint32(last)+1))]
	}
	for i := range list {
		if !ascending {
			i = len(list) - 1 - i
		}
		if !yield(int64(list[i])) {
			return
		}
	}
}

// yieldBits yields the ordinals of a bitmap from first to last, in either order, until yield returns false. It clears
// each bit that it has found in a copy of the word.
func yieldBits(words []uint64, first, last int64, ascending bool, yield func(int64) bool) {
	for n := range last/64 - first/64 + 1 {
		at := first/64 + n
		if !ascending {
			at = last/64 - n
		}
		w := part(words, at, first, last)
		for w != 0 {
			bit := bits.TrailingZeros64(w)
			if !ascending {
				bit = 63 - bits.LeadingZeros64(w)
			}
			w &^= 1 << bit
			if !yield(at*64 + int64(bit)) {
				return
			}
		}
	}
}
