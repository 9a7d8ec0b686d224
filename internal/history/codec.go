package history

import (
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// These limits end a chain of steps; a new snapshot then begins the next chain. The reason is the time of a read: it
// decodes the snapshot and all steps up to the wanted version. Measured: longer chains save almost no space and are
// slower to read.
const (
	maxSteps   = 1024
	spareBytes = 2 << 10 // the steps of a chain may take this and the size of its snapshot,
	maxChain   = 1 << 20 // but no more than this
	rawRatio   = 8       // a step counts as at least its uncompressed size divided by this

	packBytes = 2020     // of a row of steps, unless one step has more; two such rows fit on a page of SQLite
	maxEditor = 64 << 10 // bytes of the URN of an editor
)

// Codec encodes and decodes histories: Append writes one more version, Read and List return older ones. It holds no
// history itself, so one Codec serves all apps of a store. It may be used by several goroutines at once.
type Codec struct {
	encoder *zstd.Encoder
	decoder *zstd.Decoder
	buffers sync.Pool // of *buffers
}

// New returns a codec, which takes about 2 MB. It fails only if the compressor
// refuses its options.
func New() (*Codec, error) {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderCRC(false), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderMaxMemory(2*MaxBody))
	if err != nil {
		return nil, err
	}
	return &Codec{encoder: encoder, decoder: decoder, buffers: sync.Pool{New: func() any { return new(buffers) }}}, nil
}

// Row is a row of a history, stored under its version's number. Rows are never
// changed once they are written.
type Row struct {
	Version int64
	Data    []byte
}

// Snapshot reports whether the versions from this one on can be read without
// earlier rows.
func (r Row) Snapshot() bool {
	return len(r.Data) > 0 && r.Data[0] == formatSnapshot
}

// Change says what to store with a new version, besides the version itself.
type Change struct {
	Rows []Row  // to add; mostly none, at most one
	Tail []byte // replaces the tail; nil if a chain has ended
}

// Append returns the Change that stores next after prev, the latest version of
// a history with this tail. The first version of a history needs no Append: it
// has no rows and an empty tail.
//
// It returns an error if next's number is not the one after prev's, or if a
// body has more than 64 MiB or an editor's URN more than 64 KiB. It returns
// ErrCorrupt if the tail cannot be read, or if prev is not the version at which
// the tail ends. It neither keeps nor changes its arguments.
func (c *Codec) Append(tail []byte, prev, next Version) (Change, error) {
	if prev.Number < 0 || next.Number != prev.Number+1 {
		return Change{}, fmt.Errorf("history: version %d cannot follow version %d", next.Number, prev.Number)
	}
	for _, v := range []Version{prev, next} {
		if len(v.Body) > MaxBody || len(v.UpdatedBy) > maxEditor {
			return Change{}, fmt.Errorf("history: version %d has a body of %d bytes and an editor of %d, more than %d or %d",
				v.Number, len(v.Body), len(v.UpdatedBy), MaxBody, maxEditor)
		}
	}
	p, rows, err := c.openPack(tail, prev)
	if err != nil {
		return Change{}, err
	}
	sum := next.sum()
	step, cost := c.makeStep(prev, next, sum)
	full := cost > p.bytesLeft || p.stepsLeft == 0
	if len(p.steps) > 0 && (full || p.size()+len(step) > packBytes) {
		rows = append(rows, Row{p.first, p.encode()})
		p = p.after(prev.Number)
	}
	if full {
		// The chain is complete: next begins one when it stops being the latest.
		return Change{Rows: rows}, nil
	}
	return Change{Rows: rows, Tail: p.with(step, cost).encode()}, nil
}

// openPack returns the pack that gets the step after prev: that of the tail. If
// the tail is empty, prev begins a new chain: openPack returns an empty pack, and
// the row with the snapshot of prev.
func (c *Codec) openPack(tail []byte, prev Version) (pack, []Row, error) {
	sum := prev.sum()
	if len(tail) == 0 {
		data := c.makeSnapshot(prev, sum)
		return pack{prev.Number + 1, min(len(data)+spareBytes, maxChain), maxSteps, nil}, []Row{{prev.Number, data}}, nil
	}
	p, err := parsePack(tail)
	if err == nil && p.lastSum() != sum {
		err = fmt.Errorf("%w: version %d is not the one that its history ends with", ErrCorrupt, prev.Number)
	}
	return p, nil, err
}
