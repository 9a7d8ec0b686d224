package history

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// A chain is a decoded snapshot with the decoded steps after it, as a read needs it:
//
//	base ── edit ──> links[1] ── edit ──> links[2] ── … ──> last()
//
// Any of its versions can be made from it, in ascending order. The edits up to the version are composed into one, and this
// is applied to base, so the texts of the versions in between are never made. The result is the new base.
type chain struct {
	codec    *Codec
	base     []byte // form of version links[made]
	spare    []byte // the memory of an earlier base, for reuse
	lent     bool   // base is the body of a version that was returned
	made     int    // index in links of the version whose form base is
	first    int64  // number of the snapshot's version
	links    []link // that version, then one for each step
	edits    edit   // the edits of all steps, one after the other
	literals []byte // of all edits
	rawLeft  int    // how many more bytes of edits, before compression, the chain may have
}

// link is one version of a chain, without its form.
type link struct {
	updatedAt int64
	updatedBy string
	sum       uint32
	size      int32 // of its form
	edit      int32 // its edit is edits[edit:next link's edit]
	marked    bool
}

// maxSpans is how many spans a composed edit may have. Edits that would give a larger one are applied one after the other.
const maxSpans = 1 << 20

// last is the link of the last version that was added.
func (ch *chain) last() *link {
	return &ch.links[len(ch.links)-1]
}

// lastNumber is the number of the last version.
func (ch *chain) lastNumber() int64 {
	return ch.first + int64(len(ch.links)) - 1
}

// grow reserves memory for this number of steps and of bytes of literals. It assumes that each
// step is a copy, a literal and a copy, as most are.
func (ch *chain) grow(steps int64, bytes int) {
	steps = max(0, min(steps, maxSteps))
	ch.links = slices.Grow(ch.links, int(steps))
	ch.edits = slices.Grow(ch.edits, 3*int(steps))
	ch.literals = slices.Grow(ch.literals, bytes)
}

// addStep decodes a step and adds the version that it leads to. The bytes come from a database and may be damaged.
// So every length in them is checked before it is used, and one that does not fit is ErrCorrupt.
func (ch *chain) addStep(step []byte) error {
	last := ch.last()
	if len(ch.links) > maxSteps {
		return fmt.Errorf("%w: chain of more than %d steps", ErrCorrupt, maxSteps)
	}
	if len(step) < sumSize {
		return fmt.Errorf("%w: step of %d bytes", ErrCorrupt, len(step))
	}
	in := input{rest: step[:len(step)-sumSize]}
	l := link{
		updatedBy: last.updatedBy,
		sum:       binary.LittleEndian.Uint32(step[len(step)-sumSize:]),
		edit:      int32(len(ch.edits)),
	}
	flags := byte(0)
	if b := in.bytes("flags", 1); len(b) == 1 {
		flags = b[0]
	}
	l.marked = flags&flagMarked != 0
	l.updatedAt = last.updatedAt + int64(in.uvarint("time of a step"))
	if flags&flagEditor != 0 {
		l.updatedBy = string(in.bytes("editor", in.length("length of an editor", len(in.rest))))
	}
	ch.addEdit(&in, int(flags&kindMask), int(last.size))
	if in.err != nil {
		return in.err
	}
	if len(ch.edits) > int(l.edit) {
		l.size = ch.edits[len(ch.edits)-1].end
	}
	ch.links = append(ch.links, l)
	return nil
}

// addEdit decodes an edit of a text of size bytes and appends its spans to edits. It checks that copies lie within the
// old text and that the new text and the whole chain stay within their limits.
func (ch *chain) addEdit(in *input, kind, size int) {
	if kind != kindPacked {
		ch.take(in, len(in.rest))
	}
	switch kind {
	case kindSplice:
		kept := in.length("start of a splice", size)
		dropped := in.length("length of a splice", size-kept)
		first := len(ch.edits)
		ch.span(first, in, 0, kept)
		ch.literal(first, in, in.rest)
		ch.span(first, in, kept+dropped, size-kept-dropped)
	case kindSpans:
		ch.addSpans(in, size)
	case kindPacked:
		n := in.length("size of an edit", ch.rawLeft)
		ch.take(in, n)
		if in.err != nil {
			return
		}
		spans, err := ch.codec.unpack(make([]byte, 0, n), in.rest)
		unpacked := input{rest: spans, err: err}
		ch.addSpans(&unpacked, size)
		in.err = unpacked.err
	default:
		in.fail("kind %d of an edit is not known", kind)
	}
}

// take subtracts n bytes of an edit from rawLeft, and fails if there are not as many left. Without this limit a small row that
// decompresses to a huge edit could take all memory.
func (ch *chain) take(in *input, n int) {
	if n > ch.rawLeft {
		in.fail("chain with more than %d bytes of edits", rawRatio*maxChain)
	}
	ch.rawLeft -= n
}

// addSpans decodes what appendSpans wrote, for an old text of size bytes. The literals come after all pairs. So it first
// skips the pairs to find where the literals begin, and then reads both side by side.
func (ch *chain) addSpans(in *input, size int) {
	first := len(ch.edits)
	n := in.length("number of spans", len(in.rest)/2)
	pairs := *in
	for range n { // the literals begin after the pairs
		if in.uvarint("length of a copy") > 0 {
			in.varint("distance of a copy")
		}
		in.uvarint("length of a literal")
	}
	last := 0
	for i := 0; i < n && in.err == nil; i++ {
		if copied := pairs.length("length of a copy", size); copied > 0 {
			last += int(pairs.varint("distance of a copy"))
			if last < 0 || last > size-copied {
				in.fail("copy of %d bytes from %d of %d", copied, last, size)
				return
			}
			ch.span(first, in, last, copied)
			last += copied
		}
		ch.literal(first, in, in.bytes("literals", pairs.length("length of a literal", MaxBody)))
		if pairs.err != nil {
			in.err = pairs.err
		}
	}
	if in.err == nil && len(in.rest) > 0 {
		in.fail("%d bytes too many in an edit", len(in.rest))
	}
}

// literal adds a span of new bytes to the edit that begins at edits[first], and appends the bytes to literals.
func (ch *chain) literal(first int, in *input, text []byte) {
	at := len(ch.literals)
	ch.literals = append(ch.literals, text...)
	ch.span(first, in, ^at, len(text))
}

// span adds a span of n bytes from a position (see span.from) to the edit that begins at edits[first]. It does nothing after
// an error or if n is 0, and fails if the new text would have more than MaxBody bytes.
func (ch *chain) span(first int, in *input, from, n int) {
	if in.err != nil || n == 0 {
		return
	}
	size := 0
	if len(ch.edits) > first {
		size = int(ch.edits[len(ch.edits)-1].end)
	}
	if n > MaxBody-size {
		in.fail("edit makes more than %d bytes", MaxBody)
		return
	}
	ch.edits = ch.edits.add(first, int32(from), int32(n))
}

// version makes the version of links[i] and checks its checksum. i must not decrease from call to call, since base only
// moves forward.
func (ch *chain) version(i int) (Version, error) {
	ch.advance(i)
	l := ch.links[i]
	v := Version{Number: ch.first + int64(i), UpdatedAt: l.updatedAt, UpdatedBy: l.updatedBy, Body: ch.base}
	if l.marked {
		body, err := fromForm(ch.base)
		if err != nil {
			return Version{}, err
		}
		v.Body = body
	} else {
		ch.lent = true
	}
	if v.sum() != l.sum {
		return Version{}, fmt.Errorf("%w: version %d does not have its checksum", ErrCorrupt, v.Number)
	}
	return v, nil
}

// advance moves base forward to the form of links[to]. It reuses the memory of the base before, unless a caller has
// that as the body of a version.
func (ch *chain) advance(to int) {
	if ch.made == to {
		return
	}
	steps := make([]edit, 0, to-ch.made)
	for i := ch.made + 1; i <= to; i++ {
		end := int32(len(ch.edits))
		if i+1 < len(ch.links) {
			end = ch.links[i+1].edit
		}
		steps = append(steps, ch.edits[ch.links[i].edit:end])
	}
	for _, e := range composeAll(steps) {
		next := e.apply(slices.Grow(ch.spare[:0], e.size()), ch.base, ch.literals)
		ch.spare = ch.base
		if ch.lent {
			ch.spare, ch.lent = nil, false
		}
		ch.base = next
	}
	ch.made = to
}

// composeAll composes edits that follow each other. It composes neighbours first and then the results, so n small edits
// cost n log n. It returns one edit, or several if one would have more than maxSpans spans.
func composeAll(edits []edit) []edit {
	spans := 0
	for _, e := range edits {
		spans += len(e)
	}
	buffer, spare := make(edit, 0, spans), make(edit, 0, spans)
	for len(edits) > 1 {
		buffer = buffer[:0]
		composed := make([]edit, 0, (len(edits)+1)/2)
		for ; len(edits) > 1; edits = edits[2:] {
			begin := len(buffer)
			buffer = compose(buffer, edits[0], edits[1])
			if len(buffer)-begin > maxSpans {
				return append(composed, edits...)
			}
			composed = append(composed, buffer[begin:])
		}
		if len(edits) > 0 { // copied out of the buffer, which the next round reuses
			begin := len(buffer)
			buffer = append(buffer, edits[0]...)
			composed = append(composed, buffer[begin:])
		}
		edits, buffer, spare = composed, spare, buffer
	}
	return edits
}
