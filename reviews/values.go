package reviews

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// Each kind of value has a method that reads it, applies its rules and reports what is wrong. member is the JSON pointer of the
// member that the value belongs to, from its review or collection: "/title". The verdict is broken if the line cannot be read
// on. The methods that return a text return accepted only if it has no fault, so that the caller may use it. The others may
// return accepted after they have reported a fault, since report counts the faults.
//
//	method      reads                                      rules
//	anyText     title, a subpart                           value-type, text-nul, text-surrogate
//	nonEmpty    source, imported_display_name, parent_id,  these and text-empty
//	            id of a review, name of a dimension
//	limited     id of a collection, author_id              these and the length
//	timestamp   created                                    those of anyText, timestamp and created-future
//	email       imported_email                             those of anyText and email
//	address     imported_url                               those of anyText and url
//	bodyHTML    body_html                                  those of anyText and body-html

// expect returns accepted, and reads nothing, if the value begins with first, as every value of the wanted kind does. It reports
// any other value with the rule value-type, discards it, and returns refused. want names the kind in the message.
func (c *lineChecker) expect(first byte, member, want string) verdict {
	if c.peek() == first {
		return accepted
	}
	c.report(ruleType, c.offset(), member, "this is "+c.kind()+", want "+want)
	return min(c.discard(member), refused)
}

// kind names the JSON type of the value that is next, for a message: its first byte tells. What begins no value is called a
// number; reading it fails afterwards, and the line then has that fault alone, so nobody sees the message.
func (c *lineChecker) kind() string {
	switch c.peek() {
	case '"':
		return "a string"
	case '{':
		return "an object"
	case '[':
		return "an array"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

// items reads an array and calls item at each of its elements, which reads the element. c.item has the index meanwhile, for the
// pointer of a problem. items returns how many elements there are, also if some have errors. The caller has seen the opening
// bracket. Arrays of ratings, dimensions and reviews are read so; readReview takes the index and resets c.item at once.
func (c *lineChecker) items(item func(*lineChecker) verdict) (n int64, v verdict) {
	if c.enter() == broken {
		return 0, broken
	}
	for ; ; n++ {
		if s := c.element(']', n == 0); s != stepElement {
			return n, s.ended()
		}
		c.item = n
		v := item(c)
		c.item = -1
		if v == broken {
			return n, broken
		}
	}
}

// Messages that several rules share.
const (
	notEmpty       = "this may not be empty; want at least one character"
	repeatedMember = "this member was given before; keep one of the two"
)

// flawed returns whether the string that was just read has characters that no string may contain, which flaws reports.
func (t *tokens) flawed() bool { return t.str.nul >= 0 || t.str.surrogate >= 0 }

// flaws reports the characters that no string may contain in the string that was just read: U+0000, which other programs take
// for the end of a text, and half of a surrogate pair, which no UTF-8 can express. It reports the first of each.
func (c *lineChecker) flaws(member string) {
	if c.str.nul >= 0 {
		c.report(ruleNUL, c.str.nul, member, "U+0000 is not allowed in a string; take it out")
	}
	if c.str.surrogate >= 0 {
		c.report(ruleSurrogate, c.str.surrogate, member, "half of a surrogate pair is no character; write the whole pair, or take it out")
	}
}

// anyText reads a string of any length with any text. It makes no copy of the text and keeps nothing of it.
func (c *lineChecker) anyText(member string) verdict {
	if v := c.expect('"', member, "a string"); v != accepted {
		return v
	}
	if c.scan() == broken {
		return broken
	}
	c.flaws(member)
	return accepted
}

// judged reads a string and calls judge with its text, which returns what is wrong with it; "" for nothing. What is wrong is
// reported with the rule. judge gets only the first piece of a long string, so it refuses texts that are longer than its limit.
func (c *lineChecker) judged(member string, rule ruleID, judge func(text []byte) string) verdict {
	if v := c.expect('"', member, "a string"); v != accepted {
		return v
	}
	text, v := c.text()
	if v == broken {
		return broken
	}
	if message := judge(text); message != "" {
		c.report(rule, c.str.offset, member, message)
	}
	c.flaws(member)
	return accepted
}

// timestamp reads a time of at most 64 KiB, see timestampFault, and reports one in the future (created-future). For an import it
// keeps the instant in c.time.
func (c *lineChecker) timestamp(member string) verdict {
	future := false
	v := c.judged(member, ruleTimestamp, func(text []byte) string {
		if len(text) > maxTimestamp {
			return "the fraction of this time is longer than 65536 bytes; " + rightTime
		}
		fault := timestampFault(text)
		if c.forImport && fault == "" {
			c.time = instant(text)
		}
		future = fault == "" && c.horizon.before(text)
		return fault
	})
	if future {
		c.report(ruleFuture, c.str.offset, member, "this time is in the future; a review is written before it is exported")
	}
	return v
}

// nullOr reads a member that may be null. It accepts null, and leaves every other value to the method value, which applies the
// rules of the member.
func (c *lineChecker) nullOr(value func(c *lineChecker, member string) verdict, member string) verdict {
	if c.peek() == 'n' {
		return c.literal("null")
	}
	return value(c, member)
}

// email reads imported_email. It may be any text, but is reported if it is neither empty nor an email address.
func (c *lineChecker) email(member string) verdict {
	return c.judged(member, ruleEmail, func(text []byte) string {
		if len(text) == 0 || c.flawed() || isEmail(text) {
			return ""
		}
		return "this is no email address; want one such as ann@example.test, or null"
	})
}

// address reads imported_url: an http or https address of at most 64 KiB, or "". A program may show it as a link, so other
// schemes, such as javascript, are refused.
func (c *lineChecker) address(member string) verdict {
	return c.judged(member, ruleURL, func(text []byte) string {
		if len(text) > maxAddress {
			return "this address is longer than 65536 bytes; want a shorter one, or null"
		}
		if len(text) > 0 && !isPlainWebAddress(text) {
			return "this is no http or https address; want one such as https://example.test/user, or null"
		}
		return ""
	})
}

// bodyHTML reads body_html and applies the rules of markup. Of each text the first fault is reported, at its tag. A long text is
// given to markup in pieces, so that it is never decoded as a whole.
func (c *lineChecker) bodyHTML(member string) verdict {
	if v := c.expect('"', member, "a string"); v != accepted {
		return v
	}
	text, v := c.text()
	if v == broken {
		return broken
	}
	// Give the text to markup, in one piece or in several.
	c.html.begin()
	if c.str.long {
		for piece := range c.pieces() {
			if !c.html.read(piece) {
				break
			}
		}
	} else {
		c.html.read(text)
	}
	// The fault is at a byte of the text, and the problem at the byte of the file where that is written.
	if at, message := c.html.fault(); message != "" {
		c.report(ruleHTML, c.at(at), member, message)
	}
	c.flaws(member)
	return accepted
}

// fingerprint returns the fingerprint of the string that was just read. text is what the method text returned of it.
func (c *lineChecker) fingerprint(text []byte) fingerprint {
	if c.str.long {
		return c.hash.ofPieces(c.pieces())
	}
	return c.hash.of(text)
}

// nonEmpty reads a string that may not be empty (text-empty): an id, a source or a name. Its text is valid until the next byte is
// read. A text with a flaw is returned too, with the verdict refused, so that a problem can show it.
func (c *lineChecker) nonEmpty(member string) (text []byte, v verdict) {
	if v := c.expect('"', member, "a string"); v != accepted {
		return nil, v
	}
	if text, v = c.text(); v == broken {
		return nil, broken
	}
	if len(text) > 0 && !c.flawed() {
		return text, accepted
	}
	text = bytes.Clone(text) // reporting may move the window, and the caller shows the text
	if len(text) == 0 {
		c.report(ruleEmpty, c.str.offset, member, notEmpty)
	}
	c.flaws(member)
	return text, refused
}

// limited reads a string of 1 to limit characters (code points). A longer one is a problem with the given rule, and refused; the
// text that is returned is then cut, since it is only shown. Otherwise limited is as nonEmpty.
func (c *lineChecker) limited(member string, limit int, rule ruleID) (text []byte, v verdict) {
	text, v = c.nonEmpty(member)
	if len(text) > limit && utf8.RuneCount(text) > limit { // characters are counted only if there may be too many
		text = bytes.Clone(text[:min(len(text), maxName)])
		c.report(rule, c.str.offset, member, "this is longer than it may be; want at most "+strconv.Itoa(limit)+" characters")
		v = refused
	}
	return text, v
}
