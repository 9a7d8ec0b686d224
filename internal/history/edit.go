package history

// An edit says how a new text is made from an old one. It is a list of spans that follow each other in the new text;
// each is copied from the old text or taken from literal bytes. The caller decides where the literals are stored, and
// in which order. From "abcdef" to "abXef", with the literals "X":
//
//	{from: 0, end: 2}   "ab", copied from position 0
//	{from: ^0, end: 3}  "X", from position 0 of the literals
//	{from: 4, end: 5}   "ef", copied from position 4
type edit []span

// A span covers the new text from the end of the span before it to end.
// A from ≥ 0 is a position in the old text; from < 0 means the position ^from
// in the literals. 32 bits are enough, since texts have at most MaxBody bytes,
// and small spans make long chains fast.
type span struct {
	from, end int32
}

// add appends n bytes from the position from to the edit e[first:], and returns
// e with it. It extends the last span if the bytes continue it.
func (e edit) add(first int, from, n int32) edit {
	last := len(e) - 1
	if last < first {
		return append(e, span{from, n})
	}
	start := int32(0)
	if last > first {
		start = e[last-1].end
	}
	if length := e[last].end - start; (from < 0) == (e[last].from < 0) && shift(e[last].from, length) == from {
		e[last].end += n
		return e
	}
	return append(e, span{from, e[last].end + n})
}

// shift moves a position forward by n bytes.
func shift(from, n int32) int32 {
	if from < 0 {
		return from - n
	}
	return from + n
}

// compose appends to dst one edit that has the same effect as first and then second.
// The copies of second must lie within the text that first makes. Its cost is
// linear in the number of spans and does not depend on the length of the texts.
// It stops soon after the edit has more than maxSpans spans. Then the edit is not
// complete and must not be used.
func compose(dst, first, second edit) edit {
	begin := len(dst)
	at := 0 // index in first, kept from span to span: most copies go forward
	done := int32(0)
	for _, s := range second {
		if len(dst)-begin > maxSpans {
			break
		}
		n := s.end - done
		done = s.end
		if s.from < 0 {
			dst = dst.add(begin, s.from, n)
			continue
		}
		pos := s.from
		at = first.find(pos, at)
		for n > 0 {
			start := first.start(at)
			part := min(n, first[at].end-pos)
			dst = dst.add(begin, shift(first[at].from, pos-start), part)
			pos, n = pos+part, n-part
			if pos == first[at].end {
				at++
			}
		}
	}
	return dst
}

// start is the position in the new text where span i begins.
func (e edit) start(i int) int32 {
	if i == 0 {
		return 0
	}
	return e[i-1].end
}

// find returns the index of the span that holds position pos of the new text,
// trying guess and the one after it first.
func (e edit) find(pos int32, guess int) int {
	for i := guess; i < min(guess+2, len(e)); i++ {
		if e.start(i) <= pos && pos < e[i].end {
			return i
		}
	}
	low, high := 0, len(e)-1
	for low < high {
		if mid := (low + high) / 2; e[mid].end <= pos {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// apply appends the new text to dst.
func (e edit) apply(dst, old, literals []byte) []byte {
	done := int32(0)
	for _, s := range e {
		n := s.end - done
		done = s.end
		if s.from < 0 {
			dst = append(dst, literals[^s.from:^s.from+n]...)
		} else {
			dst = append(dst, old[s.from:s.from+n]...)
		}
	}
	return dst
}

// size is the length of the new text.
func (e edit) size() int {
	return int(e.start(len(e)))
}
