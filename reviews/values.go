package reviews

import (
	"strconv"
	"unicode/utf8"
)

// Values of members, each read and judged. They return false where the line cannot be read on.

// items reads an array and calls item at each of its elements, with its index in c.item.
func (c *checker) items(item func(*checker) bool) (n int64, ok bool) {
	if !c.enter() {
		return 0, false
	}
	for ; ; n++ {
		if more, ok := c.element(']', n == 0); !more {
			return n, ok
		}
		c.item = n
		ok := item(c)
		c.item = -1
		if !ok {
			return n, false
		}
	}
}

// flaws reports what no string may hold, of the string that was just read.
func (c *checker) flaws(member string) {
	if c.str.nul >= 0 {
		c.report(ruleNUL, c.str.nul, member, "U+0000 is not allowed in a string")
	}
	if c.str.surrogate >= 0 {
		c.report(ruleSurrogate, c.str.surrogate, member, "half of a surrogate pair is no character")
	}
}

// anyText reads a string of any text.
func (c *checker) anyText(member string) bool {
	if yes, ok := c.is('"', member, "a string"); !yes {
		return ok
	}
	c.open()
	for c.piece() {
	}
	c.flaws(member)
	return c.fault == nil
}

// judged reads a string and reports what judge says of it; judge gets at most limit bytes.
func (c *checker) judged(member string, limit int, rule ruleID, judge func(text []byte, whole bool) string) bool {
	if yes, ok := c.is('"', member, "a string"); !yes {
		return ok
	}
	text, whole, ok := c.short(limit)
	if !ok {
		return false
	}
	at := c.str.offset
	if message := judge(text, whole); message != "" {
		c.report(rule, at, member, message)
	}
	c.flaws(member)
	return true
}

func (c *checker) timestamp(member string) bool {
	return c.judged(member, maxTimestamp, ruleTimestamp, func(text []byte, whole bool) string {
		if !whole {
			return "the fraction of this time is longer than 65536 bytes"
		}
		return timestampFault(text)
	})
}

// nullOr reads null, else what value reads.
func (c *checker) nullOr(value func() bool) bool {
	if c.next() == 'n' {
		return c.literal("null")
	}
	return value()
}

func (c *checker) address(member string) bool {
	return c.judged(member, maxAddress, ruleURL, func(text []byte, whole bool) string {
		if !whole {
			return "this address is longer than 65536 bytes"
		}
		if len(text) > 0 && !isPlainWebAddress(text) {
			return "this is no http or https address"
		}
		return ""
	})
}

func (c *checker) bodyHTML(member string) bool {
	if yes, ok := c.is('"', member, "a string"); !yes {
		return ok
	}
	c.html.reset()
	c.open()
	var at int64
	var message string
	for c.piece() {
		if message == "" {
			at, message = c.html.read(&c.tokens)
		}
	}
	if c.fault != nil {
		return false
	}
	if message != "" {
		c.report(ruleHTML, at, member, message)
	}
	c.flaws(member)
	return true
}

// known is the fingerprint of an identity, if there was one to read.
type known struct {
	fingerprint
	ok bool
}

// identity reads a string that may not be empty, and gives its text too as far as it is needed.
func (c *checker) identity(member string) (id known, text []byte, ok bool) {
	if yes, ok := c.is('"', member, "a string"); !yes {
		return id, nil, ok
	}
	limit := maxName
	if c.load {
		limit = c.limit
	}
	id.fingerprint, text, ok = c.print(limit)
	if !ok {
		return id, nil, false
	}
	if len(text) == 0 {
		c.report(ruleEmpty, c.str.offset, member, "this may not be empty")
	}
	id.ok = len(text) > 0 && c.str.nul < 0 && c.str.surrogate < 0
	c.flaws(member)
	return id, text, true
}

// print reads a string of any length, and gives its text too, which may be cut where it is longer
// than limit.
func (c *checker) print(limit int) (id fingerprint, text []byte, ok bool) {
	c.open()
	if !c.piece() {
		return id, nil, false
	}
	if c.str.closed {
		return c.hash.of(c.str.piece), c.str.piece, true
	}
	c.hash.reset()
	text = c.str.joined[:0]
	for more := true; more; more = c.piece() {
		c.hash.write(c.str.piece)
		text = append(text, c.str.piece[:min(len(c.str.piece), limit-len(text))]...)
	}
	c.str.joined = text
	return c.hash.sum(), text, c.fault == nil
}

// limited reads a string that is not empty and has at most limit characters.
func (c *checker) limited(member string, limit int, rule ruleID) (text []byte, good, ok bool) {
	if yes, ok := c.is('"', member, "a string"); !yes {
		return nil, false, ok
	}
	text, whole, ok := c.short(limit * utf8.UTFMax)
	if !ok {
		return nil, false, false
	}
	switch {
	case len(text) == 0:
		c.report(ruleEmpty, c.str.offset, member, "this may not be empty")
	case !whole || utf8.RuneCount(text) > limit:
		c.report(rule, c.str.offset, member, "this has more than "+strconv.Itoa(limit)+" characters")
	default:
		good = c.str.nul < 0 && c.str.surrogate < 0
	}
	c.flaws(member)
	return text, good, true
}
