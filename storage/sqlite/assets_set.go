package sqlite

import (
	"iter"
	"math"
	"math/bits"
	"slices"
)

// set is a set of ordinals below 1<<32, as a list where they are few and else as bits. It never
// changes.
type set struct {
	list []uint32 // ascending
	bits []uint64 // of ordinal o, bit o%64 of bits[o/64]; nil for a list
	n    int
}

// dense is how many ordinals have one in a set, on average, for it to be kept as bits: those take the
// room of a list then.
const dense = 32

// setOf returns the set of these ordinals, in any order and with repeats. The list is used up.
func setOf(list []uint32) set {
	if len(list) == 0 {
		return set{}
	}
	top := slices.Max(list)
	if len(list) < int(top)/dense {
		slices.Sort(list)
		list = slices.Compact(list)
		return set{list: list, n: len(list)}
	}
	words := make([]uint64, top/64+1)
	for _, o := range list {
		words[o/64] |= 1 << (o % 64)
	}
	return set{bits: words, n: ones(words)}
}

func ones(words []uint64) (n int) {
	for _, w := range words {
		n += bits.OnesCount64(w)
	}
	return n
}

// size is about how many bytes the set takes.
func (s set) size() int { return 4*cap(s.list) + 8*cap(s.bits) }

func (s set) has(o uint32) bool {
	if s.bits != nil {
		return int(o/64) < len(s.bits) && s.bits[o/64]>>(o%64)&1 == 1
	}
	_, found := slices.BinarySearch(s.list, o)
	return found
}

// and returns what is in both.
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
			if rest = from(rest, o); len(rest) > 0 && rest[0] == o {
				list = append(list, o)
			}
		}
	}
	if len(list) < cap(list)/2 {
		list = slices.Clone(list) // it may be held for long
	}
	return set{list: list, n: len(list)}
}

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

// from returns the list from its first ordinal that is not below o. It looks near the beginning first.
func from(list []uint32, o uint32) []uint32 {
	step := 1
	for step < len(list) && list[step] < o {
		step *= 2
	}
	i, _ := slices.BinarySearch(list[step/2:min(step+1, len(list))], o)
	return list[step/2+i:]
}

// with returns the set with some ordinals put in, where true, and others taken out.
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
		list := slices.DeleteFunc(slices.Clone(s.list), func(o uint32) bool { _, changed := changes[o]; return changed })
		for o, in := range changes {
			if in {
				list = append(list, o)
			}
		}
		return setOf(list)
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

func yieldBits(words []uint64, first, last int64, ascending bool, yield func(int64) bool) {
	for n := range last/64 - first/64 + 1 {
		at := first/64 + n
		if !ascending {
			at = last/64 - n
		}
		w := words[at]
		if at == first/64 {
			w = w >> (first % 64) << (first % 64)
		}
		if at == last/64 {
			w = w << (63 - last%64) >> (63 - last%64)
		}
		for w != 0 {
			bit := bits.TrailingZeros64(w)
			if !ascending {
				bit = 63 - bits.LeadingZeros64(w)
			}
			if w &^= 1 << bit; !yield(at*64 + int64(bit)) {
				return
			}
		}
	}
}
