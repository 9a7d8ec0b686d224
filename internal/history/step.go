package history

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrCorrupt is wrapped by every error that stored bytes cause: they were damaged, or they do not belong where they
// were found. It is never the fault of the caller's arguments.
var ErrCorrupt = errors.New("history: corrupt")

// A step leads from one version to the next. Its bytes:
//
//	uvarint  length of all that follows
//	byte     flags: the kind of edit, flagMarked, flagEditor
//	uvarint  updatedAt less that of the version before, modulo 2^64
//	uvarint  length of the editor's URN, then the URN   (only with flagEditor)
//	…        the edit, to the end but four bytes
//	4 bytes  checksum of the version it leads to, little-endian
const (
	kindSplice = 0 // uvarint bytes kept, uvarint bytes dropped, then the bytes put in their place; the rest is kept
	kindSpans  = 1 // see appendSpans
	kindPacked = 2 // kindSpans, zstd compressed, after a uvarint with its size
	kindMask   = 3

	flagMarked = 4 // the version's form has marks
	flagEditor = 8 // the editor is not the one of the version before

	sumSize    = 4
	packedFrom = 96 // bytes of edit from which compression is tried
)

// makeStep returns the step from prev to next, without its length, and how
// many bytes of its chain's limit it takes. sum is the checksum of next.
func (c *Codec) makeStep(prev, next Version, sum uint32) (step []byte, cost int) {
	r := c.buffers.Get().(*buffers)
	defer c.buffers.Put(r)
	old, _ := r[0].form(prev.Body)
	form, marked := r[1].form(next.Body)
	kind, text, raw := c.encodeEdit(diff(old, form), len(old), form)
	flags := byte(kind)
	if marked {
		flags |= flagMarked
	}
	if next.UpdatedBy != prev.UpdatedBy {
		flags |= flagEditor
	}
	s := append(make([]byte, 0, len(text)+len(next.UpdatedBy)+32), flags)
	s = binary.AppendUvarint(s, uint64(next.UpdatedAt-prev.UpdatedAt))
	if flags&flagEditor != 0 {
		s = binary.AppendUvarint(s, uint64(len(next.UpdatedBy)))
		s = append(s, next.UpdatedBy...)
	}
	s = append(s, text...)
	s = binary.LittleEndian.AppendUint32(s, sum)
	return s, max(len(s), (raw+rawRatio-1)/rawRatio)
}

// buffers hold the two forms that a step is made from. They are reused: allocating forms anew would be half of all
// memory that storing a version allocates.
type buffers [2]buffer

type buffer []byte

// maxBuffer is the largest buffer that is kept for reuse.
const maxBuffer = 256 << 10

// form returns the form of body as toForm does, and keeps the memory for the next one.
func (r *buffer) form(body []byte) (form []byte, marked bool) {
	form, marked = toForm(*r, body)
	if marked && len(form) <= maxBuffer {
		*r = form
	}
	return form, marked
}

// encodeEdit encodes an edit whose literals are in text and whose old text has size bytes, in the shortest of three
// ways: a splice, spans, or compressed spans. raw is the length before compression.
func (c *Codec) encodeEdit(e edit, size int, text []byte) (kind int, code []byte, raw int) {
	kind, code = kindSpans, appendSpans(nil, e, text)
	spans := code
	if kept, dropped, put, ok := e.splice(size); ok {
		kind, code = kindSplice, binary.AppendUvarint(nil, uint64(kept))
		code = binary.AppendUvarint(code, uint64(dropped))
		code = append(code, text[kept:kept+put]...)
	}
	if len(code) >= packedFrom {
		packed := c.encoder.EncodeAll(spans, binary.AppendUvarint(nil, uint64(len(spans))))
		if len(packed) < len(code) {
			return kindPacked, packed, len(spans)
		}
	}
	return kind, code, len(code)
}

// splice reports whether e replaces one range of an old text of size bytes and keeps the rest: the first kept bytes stay,
// the dropped bytes after them are replaced by put new ones, and all that follows stays. Most edits change one place, and a
// splice takes fewer bytes than spans.
func (e edit) splice(size int) (kept, dropped, put int, ok bool) {
	rest := e
	if len(rest) > 0 && rest[0].from == 0 {
		kept = int(rest[0].end)
		rest = rest[1:]
	}
	tail := kept
	if len(rest) > 0 && rest[0].from < 0 {
		put = int(rest[0].end) - kept
		tail = int(rest[0].end)
		rest = rest[1:]
	}
	dropped = size - kept
	if len(rest) > 0 && int(rest[0].from) >= kept && int(rest[0].from)+int(rest[0].end)-tail == size {
		dropped = int(rest[0].from) - kept
		rest = rest[1:]
	}
	return kept, dropped, put, len(rest) == 0
}

// appendSpans writes pairs of a copy and a literal, either of which may be
// empty: the number of pairs, for each the length of the copy, its distance
// from the end of the copy before (zigzag; only if there is a copy) and the
// length of the literal; then all literals.
func appendSpans(dst []byte, e edit, text []byte) []byte {
	var pairs, literals []byte
	n, done, last := 0, int32(0), int32(0)
	for i := 0; i < len(e); n++ {
		size := int32(0)
		if e[i].from >= 0 {
			size = e[i].end - done
			pairs = binary.AppendUvarint(pairs, uint64(size))
			pairs = binary.AppendVarint(pairs, int64(e[i].from)-int64(last))
			done, last = e[i].end, e[i].from+size
			i++
		} else {
			pairs = append(pairs, 0)
		}
		size = 0
		if i < len(e) && e[i].from < 0 {
			size = e[i].end - done
			literals = append(literals, text[^e[i].from:^e[i].from+size]...)
			done = e[i].end
			i++
		}
		pairs = binary.AppendUvarint(pairs, uint64(size))
	}
	dst = binary.AppendUvarint(dst, uint64(n))
	return append(append(dst, pairs...), literals...)
}

// input reads the fields of a stored value one after the other. After an error all reads return zeros, so a caller may look
// at err only at the end.
type input struct {
	rest []byte // not read yet
	err  error  // the first one
}

// fail records the first error and ends the input, so that the reads after it return zeros.
func (in *input) fail(format string, args ...any) {
	if in.err == nil {
		in.err = fmt.Errorf("%w: "+format, append([]any{ErrCorrupt}, args...)...)
	}
	in.rest = nil
}

// uvarint reads an unsigned number. what names it in an error.
func (in *input) uvarint(what string) uint64 {
	x, n := binary.Uvarint(in.rest)
	if n <= 0 {
		in.fail("%s is not a number", what)
		return 0
	}
	in.rest = in.rest[n:]
	return x
}

// varint reads a signed number.
func (in *input) varint(what string) int64 {
	x, n := binary.Varint(in.rest)
	if n <= 0 {
		in.fail("%s is not a number", what)
		return 0
	}
	in.rest = in.rest[n:]
	return x
}

// length reads a number that must be at most limit.
func (in *input) length(what string, limit int) int {
	x := in.uvarint(what)
	if x > uint64(limit) {
		in.fail("%s is %d, more than %d", what, x, limit)
		return 0
	}
	return int(x)
}

// bytes reads n bytes. They are not copied.
func (in *input) bytes(what string, n int) []byte {
	if n > len(in.rest) {
		in.fail("%s has %d bytes, not %d", what, len(in.rest), n)
		return nil
	}
	part := in.rest[:n:n]
	in.rest = in.rest[n:]
	return part
}

// sum reads a checksum.
func (in *input) sum() uint32 {
	if b := in.bytes("checksum", sumSize); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}
