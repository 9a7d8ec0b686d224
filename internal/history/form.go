package history

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
)

// The id of an element is its position, so inserting an element changes the ids, and the text, of all later ones. An
// edit between the two bodies would have a span for each. Edits are therefore made between forms. A form is a body in
// which the head of element n, {"id":"n","component":, is replaced by the one byte mark. JSON text never has that byte. A
// body that has it is stored without replacements: it is its own form.
const (
	mark       = 0x1e
	headBefore = `{"id":"`
	headAfter  = `","component":`
)

// toForm returns the form of body, and whether it differs from body. It replaces only heads with the very number that
// fromForm will write there, so whatever else looks like a head (in a config, or out of order) stays as it is. A form
// that differs is made in buffer, which grows if it is too small; a form without marks is body itself.
func toForm(buffer, body []byte) (form []byte, marked bool) {
	if bytes.IndexByte(body, mark) >= 0 {
		return body, false
	}
	n, done := 0, 0
	var head []byte
	for at := 0; ; {
		i := bytes.Index(body[at:], []byte(headBefore))
		if i < 0 {
			break
		}
		i += at
		head = appendHead(head[:0], n)
		if !bytes.HasPrefix(body[i:], head) {
			at = i + len(headBefore)
			continue
		}
		if n == 0 {
			form = slices.Grow(buffer[:0], len(body))
		}
		form = append(form, body[done:i]...)
		form = append(form, mark)
		at = i + len(head)
		done, n = at, n+1
	}
	if n == 0 {
		return body, false
	}
	return append(form, body[done:]...), true
}

// fromForm undoes toForm for a form with marks. It computes the size of the body first: it allocates the body once, and
// refuses a damaged form whose body would be larger than MaxBody.
func fromForm(form []byte) ([]byte, error) {
	size := len(form)
	heads := bytes.Count(form, []byte{mark})
	for n, digits, limit := 0, 1, 10; n < heads; digits, limit = digits+1, limit*10 {
		same := min(heads, limit) - n
		size += same * (len(headBefore) + digits + len(headAfter) - 1)
		n += same
	}
	if size > MaxBody {
		return nil, fmt.Errorf("%w: a body of %d bytes, more than %d", ErrCorrupt, size, MaxBody)
	}
	body := make([]byte, 0, size)
	for n := 0; ; n++ {
		i := bytes.IndexByte(form, mark)
		if i < 0 {
			return append(body, form...), nil
		}
		body = append(body, form[:i]...)
		body = appendHead(body, n)
		form = form[i+1:]
	}
}

// appendHead appends the head of element n.
func appendHead(dst []byte, n int) []byte {
	dst = append(dst, headBefore...)
	dst = strconv.AppendInt(dst, int64(n), 10)
	return append(dst, headAfter...)
}
