package reviews

import (
	"encoding/binary"
	"hash/maphash"
	"iter"
)

// fingerprint stands for a text of any length, such as an id. A check keeps fingerprints instead of ids, so that its memory for
// each id is small and does not depend on the id.
//
// It is 94 bits of two hashes with random seeds. The seeds differ at each run, so nobody can write a file with two texts of the
// same fingerprint, and by chance that takes some 10^13 texts. Two texts with the same fingerprint are taken for the same.
type fingerprint struct {
	hi uint64
	lo uint32 // a set uses the two lowest bits for itself, so 30 of these count
}

// hasher makes the fingerprints of one check or import. Fingerprints of hashers with different seeds cannot be compared, so all
// goroutines of a check have clones of one hasher. A hasher is used by one goroutine, since ofPieces keeps state in it.
type hasher struct {
	hi, lo maphash.Hash
}

// newHasher returns a hasher with new random seeds. A check, an import, an Auditor and a Threads each make one.
func newHasher() *hasher {
	h := &hasher{}
	h.hi.SetSeed(maphash.MakeSeed())
	h.lo.SetSeed(maphash.MakeSeed())
	return h
}

// clone returns a hasher for another goroutine. It makes the same fingerprints.
func (h *hasher) clone() *hasher {
	c := &hasher{}
	c.hi.SetSeed(h.hi.Seed())
	c.lo.SetSeed(h.lo.Seed())
	return c
}

// of returns the fingerprint of a text.
func (h *hasher) of(text []byte) fingerprint {
	return fingerprint{maphash.Bytes(h.hi.Seed(), text), uint32(maphash.Bytes(h.lo.Seed(), text))}
}

// ofPieces returns the fingerprint of a text that comes in pieces. It is that of the whole text, however it is cut, so a long id
// equals a short one only if the texts are equal.
func (h *hasher) ofPieces(pieces iter.Seq[[]byte]) fingerprint {
	h.hi.Reset()
	h.lo.Reset()
	for piece := range pieces {
		h.hi.Write(piece)
		h.lo.Write(piece)
	}
	return fingerprint{h.hi.Sum64(), uint32(h.lo.Sum64())}
}

// pair returns the fingerprint of two texts together, given those of both: that of a collection from its source and its id. The
// order of the two counts. The texts themselves are not joined, since "a" and "bc" would then be the pair "ab" and "c".
func (h *hasher) pair(a, b fingerprint) fingerprint {
	// Both fingerprints have 12 bytes, so it is clear in these 24 where the second begins.
	var both [24]byte
	binary.LittleEndian.PutUint64(both[0:], a.hi)
	binary.LittleEndian.PutUint32(both[8:], a.lo)
	binary.LittleEndian.PutUint64(both[12:], b.hi)
	binary.LittleEndian.PutUint32(both[20:], b.lo)
	return h.of(both[:])
}
