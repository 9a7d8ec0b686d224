package history

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// The first byte of a row or a tail is its kind and the version of its format.
const (
	formatSnapshot = 0x11
	formatPack     = 0x21

	packHead = 1 + 5 + 3 + 2 // bytes of the first four fields of a pack, at most, for versions below 2^35
)

// A pack is a run of steps of one chain, one after the other. It is stored as a row or, if it is the last one, as the tail. As
// bytes:
//
//	byte     formatPack
//	uvarint  number of the version its first step leads to
//	uvarint  bytes and
//	uvarint  steps that its chain may still grow by, after this pack
//	…        steps, each with its length in front; one at least
//
// So the last four bytes are the checksum of the version it ends with.
type pack struct {
	first     int64
	bytesLeft int
	stepsLeft int
	steps     []byte
}

// parsePack decodes what encode wrote. The steps are decoded later, and only those that are needed; see chain.addPack.
func parsePack(data []byte) (pack, error) {
	in := input{rest: data}
	if b := in.bytes("pack", 1); len(b) == 1 && b[0] != formatPack {
		in.fail("format %#x of a pack is not known", b[0])
	}
	p := pack{
		first:     int64(in.uvarint("first version of a pack")),
		bytesLeft: in.length("bytes left to a chain", maxChain),
		stepsLeft: in.length("steps left to a chain", maxSteps),
	}
	p.steps = in.rest
	if len(p.steps) < sumSize {
		in.fail("pack is cut short")
	}
	return p, in.err
}

// encode returns the bytes of the pack, for a row or a tail.
func (p pack) encode() []byte {
	data := append(make([]byte, 0, p.size()), formatPack)
	data = binary.AppendUvarint(data, uint64(p.first))
	data = binary.AppendUvarint(data, uint64(p.bytesLeft))
	data = binary.AppendUvarint(data, uint64(p.stepsLeft))
	return append(data, p.steps...)
}

// size is an upper bound of the encoded size of the pack.
func (p pack) size() int {
	return packHead + len(p.steps)
}

// lastSum is the checksum of the version the pack ends with.
func (p pack) lastSum() uint32 {
	return binary.LittleEndian.Uint32(p.steps[len(p.steps)-sumSize:])
}

// with returns the pack with one more step. cost is how many bytes of its
// chain's limit the step takes. The bytes of p are not changed.
func (p pack) with(step []byte, cost int) pack {
	steps := append(make([]byte, 0, len(p.steps)+len(step)+8), p.steps...)
	steps = binary.AppendUvarint(steps, uint64(len(step)))
	p.steps = append(steps, step...)
	p.bytesLeft -= cost
	p.stepsLeft--
	return p
}

// after returns the empty pack that follows p, whose last version is last.
func (p pack) after(last int64) pack {
	return pack{last + 1, p.bytesLeft, p.stepsLeft, nil}
}

// A snapshot is a version by itself. As bytes:
//
//	byte     formatSnapshot
//	varint   updatedAt
//	uvarint  length of the editor's URN, then the URN
//	byte     1 if the form has marks, else 0
//	4 bytes  checksum of the version, little-endian
//	uvarint  size of the form
//	…        the form, zstd compressed, or as it is if that is not longer
//
// makeSnapshot returns these bytes for v, whose checksum is sum.
func (c *Codec) makeSnapshot(v Version, sum uint32) []byte {
	form, marked := toForm(nil, v.Body)
	data := append(make([]byte, 0, len(form)/2+len(v.UpdatedBy)+64), formatSnapshot)
	data = binary.AppendVarint(data, v.UpdatedAt)
	data = binary.AppendUvarint(data, uint64(len(v.UpdatedBy)))
	data = append(data, v.UpdatedBy...)
	if marked {
		data = append(data, 1)
	} else {
		data = append(data, 0)
	}
	data = binary.LittleEndian.AppendUint32(data, sum)
	data = binary.AppendUvarint(data, uint64(len(form)))
	head := len(data)
	data = c.encoder.EncodeAll(form, data)
	if len(data)-head >= len(form) {
		data = append(data[:head], form...)
	}
	return data
}

// parseSnapshot decodes what makeSnapshot wrote. It returns the version without its form, and the form.
func (c *Codec) parseSnapshot(row Row) (link, []byte, error) {
	in := input{rest: row.Data}
	if b := in.bytes("snapshot", 1); len(b) == 1 && b[0] != formatSnapshot {
		in.fail("format %#x of a row is not known", b[0])
	}
	l := link{updatedAt: in.varint("time of a snapshot")}
	l.updatedBy = string(in.bytes("editor", in.length("length of an editor", len(in.rest))))
	b := in.bytes("marks of a snapshot", 1)
	l.marked = len(b) == 1 && b[0] == 1
	l.sum = in.sum()
	size := in.length("size of a snapshot", MaxBody)
	l.size = int32(size)
	if in.err != nil {
		return link{}, nil, in.err
	}
	if len(in.rest) == size {
		return l, bytes.Clone(in.rest), nil
	}
	form, err := c.unpack(make([]byte, 0, size), in.rest)
	if err != nil {
		return link{}, nil, err
	}
	if len(form) != size {
		return link{}, nil, fmt.Errorf("%w: snapshot of %d bytes, not %d", ErrCorrupt, len(form), size)
	}
	return l, form, nil
}

// unpack decompresses data and appends the result to dst, within its capacity.
func (c *Codec) unpack(dst, data []byte) ([]byte, error) {
	dst, err := c.decoder.DecodeAll(data, dst)
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrCorrupt, err)
	}
	return dst, nil
}
