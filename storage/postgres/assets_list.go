package postgres

import (
	"encoding/binary"
	"errors"
	"maps"
	"math/bits"
	"slices"

	"github.com/vitrine-go/vitrine/assets/assetstore"
)

// A posting list has the ordinals of the assets with one term. It is stored in parts, each a row of asset_list.
// A part has the ordinals from its low up to the low of the next part, which does not belong to it.
//
// A part is the byte formatPieces, followed by pieces in ascending order of their ordinals. A piece begins with a uvarint. If
// this number is odd, the piece is one ordinal, and the ordinal is the number shifted right by one bit. If it is even, half of
// it is the length in bytes of what follows: some ordinals in one of two formats, the shorter one:
//
//   - the byte formatSteps, the first ordinal as a uvarint, and then the differences between successive ordinals as uvarints;
//   - the byte formatBits, the first ordinal rounded down to a multiple of 64 as a uvarint, and then a bitmap, whose lowest
//     bit is this number. The bitmap ends with the byte that has the last ordinal.
//
// So the server can append a piece to a part without sending the part to the client. A part without room for another piece
// is read, and all of its ordinals are written anew, as one part or several. Each of these has one piece if it has more than
// fewOrdinals ordinals. A part that was written by the first release begins with formatSteps or formatBits, and has no length.
const (
	formatSteps  = 0
	formatBits   = 1
	formatPieces = 2
)

// partBytes is about how many bytes a part has at most when it is written anew. Appending may add half as many again. A page of a
// search reads whole parts, so large parts would make it slower.
const partBytes = 1024

var errDamaged = errors.New("postgres: a stored list of assets cannot be read")

// encodeParts encodes ascending ordinals as parts. It fills each part before it begins the next. A part has at most about most
// bytes: the few bytes before the steps or the bitmap are not counted.
func encodeParts(ordinals []int64, most int) (parts []part) {
	for len(ordinals) > 0 {
		n, steps := 1, 0
		for n < len(ordinals) {
			more := steps + uvarintLen(ordinals[n]-ordinals[n-1])
			if min(more, bitsLen(ordinals[0], ordinals[n])) > most {
				break
			}
			steps = more
			n++
		}
		parts = append(parts, part{low: ordinals[0], count: n, data: appendPiece([]byte{formatPieces}, ordinals[:n], steps)})
		ordinals = ordinals[n:]
	}
	return parts
}

// part is a part of a list, as it is written.
type part struct {
	low   int64  // its first ordinal
	count int    // of its ordinals
	data  []byte // formatPieces and the pieces
}

// bitsLen returns how many bytes a bitmap from the ordinal first to last has, or 1 GiB if it has more.
func bitsLen(first, last int64) int { return int(min((last-first&^63)/8+1, 1<<30)) }

// uvarintLen returns how many bytes n has as a uvarint.
func uvarintLen(n int64) int { return (bits.Len64(uint64(n)|1) + 6) / 7 }

// fewOrdinals is how many ordinals at most are written as one piece each. That is shorter for so few, since a piece of several
// ordinals has a length and a format.
const fewOrdinals = 3

// appendPiece appends ascending ordinals as one piece, or as several if there are at most fewOrdinals. steps is how many bytes
// their differences have as uvarints.
func appendPiece(b []byte, ordinals []int64, steps int) []byte {
	if len(ordinals) <= fewOrdinals {
		for _, o := range ordinals {
			b = binary.AppendUvarint(b, uint64(o)<<1|1)
		}
		return b
	}
	data := encodeOrdinals(ordinals, steps)
	return append(binary.AppendUvarint(b, uint64(len(data))<<1), data...)
}

// encodeOrdinals encodes ordinals as formatSteps or formatBits, whichever is shorter. steps is how many bytes their differences
// have as uvarints.
func encodeOrdinals(ordinals []int64, steps int) []byte {
	first, last := ordinals[0], ordinals[len(ordinals)-1]
	size := bitsLen(first, last)
	if size >= steps {
		b := binary.AppendUvarint([]byte{formatSteps}, uint64(first))
		for i, o := range ordinals[1:] {
			b = binary.AppendUvarint(b, uint64(o-ordinals[i]))
		}
		return b
	}
	first &^= 63 // so that a reader can use the bitmap word by word; see block
	b := binary.AppendUvarint([]byte{formatBits}, uint64(first))
	from := len(b)
	b = append(b, make([]byte, size)...)
	for _, o := range ordinals {
		b[from+int(o-first)/8] |= 1 << ((o - first) % 8)
	}
	return b
}

// decodePart returns the ordinals of a part, ascending. It returns errDamaged if the bytes are not those of a part.
func decodePart(b []byte) (ordinals []int64, err error) {
	err = eachWord(b, func(first int64, word uint64) {
		for ; word != 0; word &= word - 1 {
			ordinals = append(ordinals, first+int64(bits.TrailingZeros64(word)))
		}
	})
	return ordinals, err
}

// eachWord calls out with the ordinals of a part, as words of a bitmap: bit i of word is the ordinal first+i, and first is a
// multiple of 64. first never decreases, and several calls may have the same first. It returns errDamaged if the bytes are not
// those of a part; then it may have called out before.
func eachWord(b []byte, out func(first int64, word uint64)) error {
	if len(b) == 0 || b[0] != formatPieces {
		return eachWordOf(b, out)
	}
	b = b[1:]
	if len(b) == 0 {
		return errDamaged
	}
	for len(b) > 0 {
		head, n := binary.Uvarint(b)
		if n <= 0 {
			return errDamaged
		}
		b = b[n:]
		if head&1 == 1 {
			o := int64(head >> 1)
			out(o&^63, 1<<(o&63))
			continue
		}
		head >>= 1
		if head > uint64(len(b)) {
			return errDamaged
		}
		if err := eachWordOf(b[:head], out); err != nil {
			return err
		}
		b = b[head:]
	}
	return nil
}

// eachWordOf is eachWord for what encodeOrdinals returns: the content of a piece, or a part of the first release.
func eachWordOf(b []byte, out func(first int64, word uint64)) error {
	if len(b) == 0 || b[0] > formatBits {
		return errDamaged
	}
	at, n := binary.Uvarint(b[1:])
	if n <= 0 {
		return errDamaged
	}
	rest, o := b[1+n:], int64(at)
	if b[0] == formatBits {
		if o%64 != 0 {
			return errDamaged
		}
		for ; len(rest) >= 8; rest, o = rest[8:], o+64 {
			out(o, binary.LittleEndian.Uint64(rest))
		}
		var tail [8]byte
		copy(tail[:], rest)
		out(o, binary.LittleEndian.Uint64(tail[:]))
		return nil
	}
	for {
		out(o&^63, 1<<(o&63))
		if len(rest) == 0 {
			return nil
		}
		step, n := binary.Uvarint(rest)
		if n <= 0 {
			return errDamaged
		}
		rest, o = rest[n:], o+int64(step)
	}
}

// block is a set of ordinals, with a bit for each of 4096 successive ones. With blocks of 1024 ordinals, a search that finds a
// million assets took 1.5 times as long.
type block [1 << (blockBits - 6)]uint64

const blockBits = 12

// word returns the word of the block that has the bit of an ordinal. The ordinal must belong to the block.
func (b *block) word(ordinal int64) *uint64 { return &b[ordinal>>6&int64(len(b)-1)] }

// blocks is a set of ordinals: block number n has those from n<<blockBits on. Absent blocks are empty.
type blocks map[int64]*block

// add adds the ordinals of a part.
func (s blocks) add(data []byte) error {
	number, b := int64(-1), (*block)(nil)
	return eachWord(data, func(first int64, word uint64) {
		if first>>blockBits != number {
			number = first >> blockBits
			b = s[number]
			if b == nil {
				b = new(block)
				s[number] = b
			}
		}
		*b.word(first) |= word
	})
}

// run calls out with the ordinals that are within the bounds of q, block by block in the order of q, until out returns false. A
// block may be empty. The set is not changed.
func (s blocks) run(q assetstore.AssetQuery, out func(number int64, b *block) bool) {
	low, high := bounds(q)
	numbers := slices.Sorted(maps.Keys(s))
	if !q.Ascending {
		slices.Reverse(numbers)
	}
	for _, n := range numbers {
		b := *s[n]
		if b.cut(n, low, high); !out(n, &b) {
			return
		}
	}
}

// meets reports whether one of a part's ordinals is in the set.
func (s blocks) meets(data []byte) (bool, error) {
	n, err := s.count(data)
	return n > 0, err
}

// count returns how many of a part's ordinals are in the set.
func (s blocks) count(data []byte) (n int, err error) {
	number, b := int64(-1), (*block)(nil)
	err = eachWord(data, func(first int64, word uint64) {
		if first>>blockBits != number {
			number = first >> blockBits
			b = s[number]
		}
		if b != nil {
			n += bits.OnesCount64(*b.word(first) & word)
		}
	})
	return n, err
}

// and removes the ordinals that are not in the other block, which must have the same number.
func (b *block) and(other *block) {
	for i := range b {
		b[i] &= other[i]
	}
}

// cut removes the ordinals below low and those from high on. n is the number of the block.
func (b *block) cut(n, low, high int64) {
	for i := range b {
		b[i] &= mask(n<<blockBits+int64(i)*64, low, high)
	}
}

// mask returns a word with the bits of the ordinals from low to high, without high. Bit 0 is the ordinal first.
func mask(first, low, high int64) uint64 {
	if first+64 <= low || first >= high {
		return 0
	}
	bits := ^uint64(0)
	if low > first {
		bits <<= low - first
	}
	if high < first+64 {
		bits &= 1<<(high-first) - 1
	}
	return bits
}

// count returns how many ordinals the block has.
func (b *block) count() (n int) {
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}

// each yields the ordinals in ascending or descending order, until yield returns false; then each returns false. n is the number
// of the block.
func (b *block) each(n int64, ascending bool, yield func(int64) bool) bool {
	for i := range b {
		if !ascending {
			i = len(b) - 1 - i
		}
		for w := b[i]; w != 0; {
			bit := bits.TrailingZeros64(w)
			if !ascending {
				bit = 63 - bits.LeadingZeros64(w)
			}
			w &^= 1 << bit
			if !yield(n<<blockBits + int64(i)*64 + int64(bit)) {
				return false
			}
		}
	}
	return true
}
