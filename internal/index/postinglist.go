package index

import (
	"encoding/binary"
	"errors"
	"math/bits"
	"slices"
)

// A posting list, or a part of one, is encoded in one of two formats, whichever is shorter. The lowest bit of the first
// number, a varint, says which:
//   - 0, sparse: the lowest ordinal, followed by the gaps between the ordinals as varints;
//   - 1, dense: the index of the first 64-bit word of the bitmap, followed by the bitmap without trailing zero bytes.

var errDamaged = errors.New("index: a page or a segment is damaged: build the index anew")

// appendList encodes ascending ordinals. list must not be empty.
func appendList(b []byte, list []int64) []byte {
	sparse := varintLen(uint64(list[0]) << 1)
	for i, o := range list[1:] {
		sparse += varintLen(uint64(o - list[i]))
	}
	first := list[0] &^ 63
	size := int((list[len(list)-1]-first)/8) + 1
	if size+varintLen(uint64(first)>>5) >= sparse {
		b = binary.AppendUvarint(b, uint64(list[0])<<1)
		for i, o := range list[1:] {
			b = binary.AppendUvarint(b, uint64(o-list[i]))
		}
		return b
	}
	b = binary.AppendUvarint(b, uint64(first)>>5|1)
	start := len(b)
	b = append(b, make([]byte, size)...)
	for _, o := range list {
		b[start+int((o-first)/8)] |= 1 << (o & 7)
	}
	return b
}

func varintLen(n uint64) int { return (bits.Len64(n|1) + 6) / 7 }

// fits returns how many ordinals of list fit into limit bytes, at least one.
func fits(list []int64, limit int) (n int) {
	size := varintLen(uint64(list[0]) << 1)
	for n = 1; n < len(list); n++ {
		if size += varintLen(uint64(list[n] - list[n-1])); size > limit {
			break
		}
	}
	first := list[0] &^ 63
	for n < len(list) && int((list[n]-first)/8)+1+varintLen(uint64(first)>>5) <= limit {
		n++
	}
	return n
}

// header returns the format of an encoded list, the ordinal at which it begins, and the encoded ordinals.
func header(v []byte) (dense bool, at int64, rest []byte) {
	n, k := binary.Uvarint(v)
	if k <= 0 {
		return false, 0, nil
	}
	if n&1 == 1 {
		return true, int64(n>>1) << 6, v[k:]
	}
	return false, int64(n >> 1), v[k:]
}

// gap returns the next gap of a sparse list, and the bytes that follow it.
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

// ordinals decodes a list.
func ordinals(v []byte) (list []int64) {
	dense, o, rest := header(v)
	if dense {
		for i, b := range rest {
			for ; b != 0; b &= b - 1 {
				list = append(list, o+int64(i)*8+int64(bits.TrailingZeros8(b)))
			}
		}
		return list
	}
	if len(v) == 0 {
		return nil
	}
	list = append(make([]int64, 0, len(rest)+8), o)
	for len(rest) > 0 {
		var g int64
		g, rest = gap(rest)
		o += g
		list = append(list, o)
	}
	return list
}

// changed returns a list with changes applied. Both are in ascending order of ordinals.
func changed(list []int64, changes []change) []int64 {
	if len(list) == 0 || changes[0].ordinal > list[len(list)-1] { // the most frequent case
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

// word returns up to 8 bytes as the bits of a number.
func word(b []byte) uint64 {
	if len(b) >= 8 {
		return binary.LittleEndian.Uint64(b)
	}
	var w [8]byte
	copy(w[:], b)
	return binary.LittleEndian.Uint64(w[:])
}

// addPart adds the ordinals of a part of a posting list.
func (s *Set) addPart(v []byte) {
	dense, o, rest := header(v)
	if !dense {
		s.add(o)
	}
	at, c := int64(-1), (*chunk)(nil)
	for len(rest) > 0 {
		switch {
		case dense:
		case rest[0] < 0x80: // as in gap; inlined, since most of the time of a search is spent here
			o, rest = o+int64(rest[0]), rest[1:]
		case len(rest) > 1 && rest[1] < 0x80:
			o, rest = o+(int64(rest[0]&0x7f)|int64(rest[1])<<7), rest[2:]
		default:
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

// mostOf returns an upper bound of the number of ordinals in a part of a posting list.
func mostOf(v []byte) int64 {
	if dense, _, rest := header(v); dense {
		return 8 * int64(len(rest))
	}
	return int64(len(v))
}

// countPart returns how many ordinals of a part of a posting list are in the set. A nil set contains all ordinals.
func (s *Set) countPart(v []byte) (n int64) {
	dense, o, rest := header(v)
	if s == nil {
		for ; dense && len(rest) > 0; rest = rest[min(8, len(rest)):] {
			n += int64(bits.OnesCount64(word(rest)))
		}
		for _, b := range rest {
			n += int64(^b >> 7) // the last byte of each varint
		}
		if !dense {
			n++
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
	if !dense && s.has(o) {
		n++
	}
	for i := 0; i < len(rest); { // most of the time of a facet is spent here
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
