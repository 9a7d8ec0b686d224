package history

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/klauspost/compress/zstd"

	"github.com/vitrine-go/vitrine/internal/keyval"
)

// MaxBody is how many bytes a body in a history has at most.
const MaxBody = 64 << 20

// These limits end a chain of steps; a new snapshot then begins the next chain. A read applies all steps up to the
// wanted version, so longer chains would take longer to read, and they would save almost no space.
const (
	maxSteps   = 128
	spareBytes = 2 << 10 // the steps of a chain may take this and the size of its snapshot,
	maxChain   = 1 << 20 // but no more than this

	packBytes = 2000     // of steps in a row, unless one step has more; two such rows fit on a page of SQLite
	maxEditor = 64 << 10 // bytes of the URN of an editor
)

// ErrCorrupt is wrapped by every error of damaged or misplaced stored bytes. It is never the fault of the caller's
// arguments.
var ErrCorrupt = errors.New("history: corrupt")

// Version is one version of one app. The id of the app is not in it: each history is stored under its app.
type Version struct {
	Number    int64  // 0, 1, 2, …
	UpdatedAt int64  // milliseconds since the epoch, of this version
	UpdatedBy string // URN of the editor of this version
	Body      []byte // any bytes, at most MaxBody of them
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sum returns the checksum of a stored version, over all its fields. With it, a row that was damaged, or stored under
// another app or version, is an error and never a wrong result.
func (v Version) sum() uint32 {
	fixed := binary.LittleEndian.AppendUint64(nil, uint64(v.Number))
	fixed = binary.LittleEndian.AppendUint64(fixed, uint64(v.UpdatedAt))
	sum := crc32.Update(0, castagnoli, append(fixed, v.UpdatedBy...))
	return crc32.Update(sum, castagnoli, v.Body)
}

// The encoder and the decoder of all histories of a program are safe for concurrent use. They take 1.3 MB. They are
// made when the program begins and not when they are first used: that may be in a test in a bubble of package synctest,
// and no other one could use them then.
var encoder, decoder = newCodec()

// newCodec cannot fail, since the options are constants.
func newCodec() (*zstd.Encoder, *zstd.Decoder) {
	e, _ := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderCRC(false),
		zstd.WithEncoderConcurrency(1))
	e.EncodeAll(nil, nil) // makes its channels
	d, _ := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(2*MaxBody))
	return e, d
}

// compress appends the compressed data to out.
func compress(out, data []byte) []byte { return encoder.EncodeAll(data, out) }

// decompress returns what compress was given.
func decompress(data []byte) ([]byte, error) { return decoder.DecodeAll(data, nil) }

// Row is a row of a history, stored under the number of a version. Rows are never changed once they are written.
type Row struct {
	Version int64
	Data    []byte
}

// Change says what to store with a new version, besides the version itself.
type Change struct {
	Rows []Row  // to add: usually none, at most one
	Tail []byte // replaces the tail; nil if a chain has ended
}

// The first byte of a row or a tail is its kind and the version of its format. Each ends with the checksum of a version
// in four bytes.
//
// A snapshot is a whole version: the time as a varint, the length of the editor's URN and the URN, and the body, zstd
// compressed.
//
// A pack is a run of steps of one chain, one after the other, as a row or as the tail: the number of the version that
// its first step leads to; the bytes and the steps that its chain may still grow by; then the steps, each with its
// length in front, one at least. A step has a byte of flags, the time less that of the version before, with flagEditor
// the length of the editor's URN and the URN, the edit (see makeEdit) and the checksum of the version that it leads to.
const (
	formatSnapshot = 0x12
	formatPack     = 0x22

	flagEditor = 1 // the editor is not the one of the version before
	flagPacked = 2 // the edit is zstd compressed

	sumSize    = 4
	packedFrom = 96 // bytes of an edit from which compression is tried
)

// Append returns the Change that stores next after prev, the latest version of a history with this tail. The first
// version of a history needs no Append: it has no rows and an empty tail.
//
// It returns an error if next's number is not the one after prev's, or if a body has more than 64 MiB or an editor's
// URN more than 64 KiB. It returns ErrCorrupt if the tail cannot be read, or if prev is not the version at which the
// tail ends. It neither keeps nor changes its arguments.
func Append(tail []byte, prev, next Version) (Change, error) {
	if prev.Number < 0 || next.Number != prev.Number+1 {
		return Change{}, fmt.Errorf("history: version %d cannot follow version %d", next.Number, prev.Number)
	}
	for _, v := range []Version{prev, next} {
		if len(v.Body) > MaxBody || len(v.UpdatedBy) > maxEditor {
			return Change{},
				fmt.Errorf("history: version %d has a body of %d bytes and an editor of %d, more than %d or %d",
					v.Number, len(v.Body), len(v.UpdatedBy), MaxBody, maxEditor)
		}
	}
	var change Change
	p := pack{first: next.Number}
	if len(tail) == 0 { // prev begins a chain
		snapshot := makeSnapshot(prev)
		change.Rows = []Row{{prev.Number, snapshot}}
		p.bytesLeft, p.stepsLeft = min(len(snapshot)+spareBytes, maxChain), maxSteps
	} else {
		var err error
		if p, err = parsePack(tail); err != nil {
			return Change{}, err
		}
		if endSum(tail) != prev.sum() {
			return Change{},
				fmt.Errorf("%w: version %d is not the one that its history ends with", ErrCorrupt, prev.Number)
		}
	}
	step := makeStep(prev, next)
	full := len(step) > p.bytesLeft || p.stepsLeft == 0
	if len(p.steps) > 0 && (full || len(p.steps)+len(step) > packBytes) {
		change.Rows = append(change.Rows, Row{p.first, p.encode()})
		p.first, p.steps = next.Number, nil
	}
	if !full { // otherwise the chain is complete: next begins a chain when it is no longer the latest version
		p.steps = keyval.AppendText(slices.Clip(p.steps), step)
		p.bytesLeft -= len(step)
		p.stepsLeft--
		change.Tail = p.encode()
	}
	return change, nil
}

// makeSnapshot returns the row of a whole version.
func makeSnapshot(v Version) []byte {
	data := binary.AppendVarint([]byte{formatSnapshot}, v.UpdatedAt)
	data = compress(keyval.AppendText(data, v.UpdatedBy), v.Body)
	return binary.LittleEndian.AppendUint32(data, v.sum())
}

// makeStep returns the step from prev to next.
func makeStep(prev, next Version) []byte {
	edit, flags := makeEdit(prev.Body, next.Body), byte(0)
	if len(edit) >= packedFrom {
		if packed := compress(nil, edit); len(packed) < len(edit) {
			edit, flags = packed, flagPacked
		}
	}
	if next.UpdatedBy != prev.UpdatedBy {
		flags |= flagEditor
	}
	step := append(make([]byte, 0, len(edit)+32), flags)
	step = binary.AppendUvarint(step, uint64(next.UpdatedAt-prev.UpdatedAt))
	if flags&flagEditor != 0 {
		step = keyval.AppendText(step, next.UpdatedBy)
	}
	return binary.LittleEndian.AppendUint32(append(step, edit...), next.sum())
}

// pack is a run of steps, decoded as far as Append needs it.
type pack struct {
	first                int64
	bytesLeft, stepsLeft int
	steps                []byte
}

// parsePack decodes what encode wrote.
func parsePack(data []byte) (pack, error) {
	if len(data) <= sumSize || data[0] != formatPack {
		return pack{}, fmt.Errorf("%w: %.8x begins no pack of steps", ErrCorrupt, data)
	}
	in := keyval.Fields{Rest: data[1:]}
	p := pack{int64(in.Uint()), int(in.Uint()), int(in.Uint()), in.Rest}
	if in.Err() != nil || len(p.steps) <= sumSize || p.bytesLeft < 0 || p.stepsLeft < 0 {
		return pack{}, fmt.Errorf("%w: a pack of steps is cut short", ErrCorrupt)
	}
	return p, nil
}

// encode returns the bytes of the pack, for a row or a tail.
func (p pack) encode() []byte {
	data := append(make([]byte, 0, 16+len(p.steps)), formatPack)
	for _, n := range []int64{p.first, int64(p.bytesLeft), int64(p.stepsLeft)} {
		data = binary.AppendUvarint(data, uint64(n))
	}
	return append(data, p.steps...)
}

// endSum is the checksum of the version that a row, a tail or a step ends with.
func endSum(data []byte) uint32 { return binary.LittleEndian.Uint32(data[len(data)-sumSize:]) }
