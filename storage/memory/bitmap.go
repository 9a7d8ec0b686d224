package memory

import "math/bits"

// bitmap is a set of ordinals that lie close together. It is built, read and looked into much faster than a list is
// sorted or searched.
type bitmap struct {
	first int64    // ordinal of the first bit
	words []uint64 // of ordinal o, bit (o-first)%64 of words[(o-first)/64]
}

// spread is how many bits a bitmap may have for each ordinal of the lists that it is made of.
const spread = 1024

// newBitmap returns the set of the ordinals of some ascending lists. ok is false if there are none, or if they lie so far
// apart that the bitmap would have more than about spread bits for each.
func newBitmap(lists ...[]int64) (b bitmap, ok bool) {
	first, last, n := int64(0), int64(0), 0
	for _, list := range lists {
		if len(list) == 0 {
			continue
		}
		if n == 0 {
			first, last = list[0], list[len(list)-1]
		}
		first, last, n = min(first, list[0]), max(last, list[len(list)-1]), n+len(list)
	}
	if n == 0 || (last-first)/spread > int64(n) {
		return bitmap{}, false
	}
	b = bitmap{first, make([]uint64, (last-first)/64+1)}
	for _, list := range lists {
		for _, o := range list {
			b.words[(o-first)/64] |= 1 << ((o - first) % 64)
		}
	}
	return b, true
}

// ordinals returns the set as a list.
func (b bitmap) ordinals() []int64 {
	n := 0
	for _, w := range b.words {
		n += bits.OnesCount64(w)
	}
	list := make([]int64, 0, n)
	for i, w := range b.words {
		for ; w != 0; w &= w - 1 {
			list = append(list, b.first+int64(i)*64+int64(bits.TrailingZeros64(w)))
		}
	}
	return list
}

// count returns how many ordinals of a list are in the set.
func (b bitmap) count(list []int64) (n int) {
	for _, o := range list {
		if at := o - b.first; at >= 0 && at/64 < int64(len(b.words)) {
			n += int(b.words[at/64] >> (at % 64) & 1)
		}
	}
	return n
}
