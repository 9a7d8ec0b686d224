package reviews

import "io"

// capture keeps the bytes that tokens reads over, though the window moves on: in memory up to a
// limit, or in a file.
type capture struct {
	on       bool
	from     int       // where in the window begins what is not kept yet
	file     io.Writer // nil: memory
	kept     []byte
	limit    int
	tooLarge bool
	err      error // of file
}

// keep begins to keep what is read from here on.
func (t *tokens) keep(limit int, file io.Writer) {
	t.copy = capture{on: true, from: t.pos, file: file, kept: t.copy.kept[:0], limit: limit}
}

// kept ends it and gives the bytes, valid until the next byte is read; ok is false where they are
// more than the limit.
func (t *tokens) kept() (raw []byte, ok bool) {
	c := &t.copy
	c.on = false
	if len(c.kept) == 0 && c.file == nil && !c.tooLarge {
		raw = t.buf[c.from:t.pos]
		return raw, len(raw) <= c.limit
	}
	c.add(t.buf[c.from:t.pos])
	return c.kept, !c.tooLarge
}

// take keeps what the window is about to leave behind.
func (c *capture) take(window []byte, pos int) {
	if c.on {
		c.add(window[c.from:pos])
		c.from = 0
	}
}

func (c *capture) add(raw []byte) {
	switch {
	case c.file != nil:
		if c.err == nil {
			_, c.err = c.file.Write(raw)
		}
	case c.tooLarge || len(c.kept)+len(raw) > c.limit:
		c.kept, c.tooLarge = nil, true
	default:
		c.kept = append(c.kept, raw...)
	}
}
