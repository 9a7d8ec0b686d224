package index

import (
	"encoding/binary"
	"errors"
	"math/bits"
	"slices"
)

// A posting list has its last ordinals, the tail, in a leaf together with the tails of the terms beside it. The key of a leaf is its
// first term. So rare terms have no entry of their own, and a fold writes those that are beside each other at once. The other ordinals,
// if there are any, are in blocks of their own, whose keys have the lowest ordinal that the block may have behind the term. When a tail
// gets too long, its ordinals go to the end of the last block.
//
// A leaf is a list of entries as a segment has them, with a tail each. A tail and a block begin with the lowest ordinal that they may have,
// from, shifted to the left by one bit for their form:
//   - 0, sparse: the gaps between the ordinals as varints, beginning at from;
//   - 1, dense: how many 64s the bitmap begins behind from, and the bitmap without zero bytes at its end.
//
// A tail may have no ordinals, if there are blocks before it.

const (
	blockLimit = 480 // how many bytes of ordinals a block has at most
	tailLimit  = 96  // how many bytes a tail has at most
	leafLimit  = 480 // how many bytes a leaf has at most, if it has more than one term
)

var errDamaged = errors.New("index: a block or a segment is damaged: build the index anew")

// appendBlock encodes ascending ordinals, which must fit.
func appendBlock(b []byte, from int64, list []int64) []byte {
	if len(list) == 0 {
		return binary.AppendUvarint(b, uint64(from)<<1)
	}
	sparse, last := 0, from
	for _, o := range list {
		sparse += varintLen(uint64(o - last))
		last = o
	}
	word := list[0] &^ 63
	size := int((last-word)/8) + 1
	if size+2 >= sparse {
		b, last = binary.AppendUvarint(b, uint64(from)<<1), from
		for _, o := range list {
			b = binary.AppendUvarint(b, uint64(o-last))
			last = o
		}
		return b
	}
	b = binary.AppendUvarint(b, uint64(from)<<1|1)
	b = binary.AppendUvarint(b, uint64(word>>6-from>>6))
	start := len(b)
	b = append(b, make([]byte, size)...)
	for _, o := range list {
		b[start+int((o-word)/8)] |= 1 << (o & 7)
	}
	return b
}

func varintLen(n uint64) int { return (bits.Len64(n|1) + 6) / 7 }

// fits returns how many of the ordinals fit into a block.
func fits(from int64, list []int64) (n int) {
	size, last := 0, from
	for _, o := range list {
		if size += varintLen(uint64(o - last)); size > blockLimit {
			break
		}
		last = o
		n++
	}
	word := list[0] &^ 63
	for n < len(list) && int((list[n]-word)/8) < blockLimit {
		n++
	}
	return n
}

// open returns the parts of a block: the lowest ordinal that it may have, its form, the ordinal at which its form begins to count, and the
// encoded ordinals.
func open(v []byte) (from int64, dense bool, at int64, rest []byte) {
	n, k := binary.Uvarint(v)
	if k <= 0 {
		return 0, false, 0, nil
	}
	from, dense, rest = int64(n>>1), n&1 == 1, v[k:]
	if !dense {
		return from, false, from, rest
	}
	w, k := binary.Uvarint(rest)
	return from, true, (from>>6 + int64(w)) << 6, rest[max(k, 0):]
}

// gap returns the next gap of a sparse block, and what follows it.
func gap(b []byte) (int64, []byte) {
	if b[0] < 0x80 {
		return int64(b[0]), b[1:]
	}
	n, k := binary.Uvarint(b)
	if k <= 0 {
		return 0, nil
	}
	return int64(n), b[k:]
}

// ordinals decodes a block.
func ordinals(v []byte) (list []int64) {
	_, dense, o, rest := open(v)
	if dense {
		for i, b := range rest {
			for ; b != 0; b &= b - 1 {
				list = append(list, o+int64(i)*8+int64(bits.TrailingZeros8(b)))
			}
		}
		return list
	}
	list = make([]int64, 0, len(rest)+8)
	for len(rest) > 0 {
		var g int64
		g, rest = gap(rest)
		o += g
		list = append(list, o)
	}
	return list
}

// word returns the bits of up to 8 bytes.
func word(b []byte) uint64 {
	if len(b) >= 8 {
		return binary.LittleEndian.Uint64(b)
	}
	var w [8]byte
	copy(w[:], b)
	return binary.LittleEndian.Uint64(w[:])
}

// addBlock adds the ordinals of a block.
func (s *Set) addBlock(v []byte) {
	_, dense, o, rest := open(v)
	at, c := int64(-1), (*chunk)(nil)
	for len(rest) > 0 {
		if !dense {
			var g int64
			g, rest = gap(rest)
			o += g
		}
		if o>>chunkBits != at {
			at = o >> chunkBits
			c = s.make(at)
		}
		if dense {
			c[o>>6&(chunkWords-1)] |= word(rest)
			o, rest = o+64, rest[min(8, len(rest)):]
		} else {
			c[o>>6&(chunkWords-1)] |= 1 << (o & 63)
		}
	}
}

// countBlock returns how many ordinals of a block are in the set; a nil set has all.
func (s *Set) countBlock(v []byte) (n int64) {
	_, dense, o, rest := open(v)
	if s == nil {
		for ; dense && len(rest) > 0; rest = rest[min(8, len(rest)):] {
			n += int64(bits.OnesCount64(word(rest)))
		}
		for _, b := range rest {
			n += int64(^b >> 7) // the last byte of each varint
		}
		return n
	}
	at, c := int64(-1), &noChunk
	for ; dense && len(rest) > 0; o, rest = o+64, rest[min(8, len(rest)):] {
		if o>>chunkBits != at {
			at = o >> chunkBits
			c = s.chunk(at)
		}
		n += int64(bits.OnesCount64(word(rest) & c[o>>6&(chunkWords-1)]))
	}
	for i := 0; i < len(rest); { // most of the time of a facet
		g := int64(rest[i])
		if i++; g >= 0x80 {
			if i == len(rest) {
				break
			}
			if g, i = g&0x7f|int64(rest[i])<<7, i+1; g >= 0x80<<7 {
				long, k := binary.Uvarint(rest[i-2:])
				if k <= 0 {
					break
				}
				g, i = int64(long), i-2+k
			}
		}
		if o += g; o>>chunkBits != at {
			at = o >> chunkBits
			c = s.chunk(at)
		}
		n += int64(c[o>>6&(chunkWords-1)] >> (o & 63) & 1)
	}
	return n
}

// changed returns a list after changes, both in the order of ordinals.
func changed(list []int64, changes []change) []int64 {
	if len(list) == 0 || changes[0].ordinal > list[len(list)-1] { // as in almost all cases
		for _, c := range changes {
			if !c.gone {
				list = append(list, c.ordinal)
			}
		}
		return list
	}
	for _, c := range changes {
		i, found := slices.BinarySearch(list, c.ordinal)
		switch {
		case found && c.gone:
			list = slices.Delete(list, i, i+1)
		case !found && !c.gone:
			list = slices.Insert(list, i, c.ordinal)
		}
	}
	return list
}
