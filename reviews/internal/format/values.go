package format

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Each kind of value has a method that reads it, applies its rules and reports what is wrong.
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

// anyText reads a string. It returns the string with its quotes, or nil for another value, and its index. clean is true
// if no rule is broken.
func (c *lineChecker) anyText() (raw []byte, at int, clean bool) {
	if !c.expect('"', "a string") {
		return nil, 0, false
	}
	raw, at = c.value()
	return raw, at, c.flaws(raw, at)
}

// flaws reports the characters that no string may contain: U+0000, at which other programs end a text, and half of a
// surrogate pair, which UTF-8 cannot encode. place is the index of the string in the line. It reports the first of
// each, and returns true if there is none.
func (c *lineChecker) flaws(raw []byte, place int) bool {
	i := bytes.IndexByte(raw, '\\')
	if i < 0 || !bytes.Contains(raw[i:], []byte(`\u`)) { // only these escapes can be wrong
		return true
	}
	nul, half := false, false
	for {
		r, size := escape(raw[i:])
		if r == 0 && !nul {
			nul = true
			c.report(RuleNUL, place+i, "U+0000 is not allowed in a string; take it out")
		}
		if utf16.IsSurrogate(r) && !half {
			half = true
			c.report(RuleSurrogate, place+i,
				"half of a surrogate pair is no character; write the whole pair, or take it out")
		}
		i += size
		n := bytes.IndexByte(raw[i:], '\\')
		if n < 0 {
			return !nul && !half
		}
		i += n
	}
}

// nonEmpty reads a string that must not be empty (text-empty): an id, a source or a name. It returns its text, valid
// until the next string is read, or nil if a rule is broken.
func (c *lineChecker) nonEmpty() []byte {
	return c.limited(math.MaxInt, RuleEmpty)
}

// limited reads a string of 1 to limit characters (code points). A longer one breaks the given rule. Otherwise it is
// like nonEmpty.
func (c *lineChecker) limited(limit int, rule RuleID) []byte {
	raw, at, clean := c.anyText()
	if raw == nil {
		return nil
	}
	text := c.unquote(raw)
	switch {
	case len(text) == 0:
		c.report(RuleEmpty, at, "this may not be empty; want at least one character")
	case len(text) > limit && utf8.RuneCount(text) > limit: // characters are counted only if there may be too many
		c.report(rule, at, "this is longer than it may be; want at most "+strconv.Itoa(limit)+" characters")
	case clean:
		return text
	}
	return nil
}

// timestamp reads a time, see ParseTime, and reports a time in the future (created-future).
func (c *lineChecker) timestamp() (micros int64) {
	raw, at, _ := c.anyText()
	if raw == nil {
		return 0
	}
	micros, fault := ParseTime(c.unquote(raw))
	switch {
	case fault != "":
		c.report(RuleTimestamp, at, fault)
	case micros > c.latest:
		c.report(RuleFuture, at, "this time is in the future; a review is written before it is exported")
	}
	return micros
}

// email reads an imported_email that is not null. Any text is accepted, but one that is neither empty nor an email
// address is reported.
func (c *lineChecker) email() {
	raw, at, clean := c.anyText()
	if !clean {
		return
	}
	if text := c.unquote(raw); len(text) > 0 && !isEmail(text) {
		c.report(RuleEmail, at, "this is no email address; want one such as ann@example.test, or null")
	}
}

// address reads an imported_url that is not null: an http or https address of at most 64 KiB, or "". Programs may show
// it as a link, so other schemes, such as javascript, are rejected.
func (c *lineChecker) address() {
	raw, at, _ := c.anyText()
	if raw == nil {
		return
	}
	switch text := c.unquote(raw); {
	case len(text) > maxAddress:
		c.report(RuleURL, at, "this address is longer than 65536 bytes; want a shorter one, or null")
	case len(text) > 0 && !IsPlainWebAddress(text):
		c.report(RuleURL, at, "this is no http or https address; want one such as https://example.test/user, or null")
	}
}

// bodyHTML reads body_html and applies the rule of MarkupFault. It reports the first fault of a text, at its tag.
func (c *lineChecker) bodyHTML() {
	raw, at, _ := c.anyText()
	if raw == nil {
		return
	}
	// The fault is at a byte of the decoded text, and the problem at the corresponding byte of the line.
	if i, message := MarkupFault(c.unquote(raw)); message != "" {
		c.report(RuleHTML, at+within(raw, i), message)
	}
}

// missingExamples are examples of required members for the messages of the rule member-missing.
var missingExamples = map[string]string{"source": `"source":"example.test"`, "title": `"title":"A lamp"`,
	"created": `"created":"2019-04-03T00:00:00Z"`,
	"id":      `"id":"YXJ0aWNsZS0x"`, "reviews": `"reviews":[]`, "body_html": `"body_html":"<p>Bright.</p>"`,
	"ratings": `"ratings":[80]`}

// unknownMessage returns the message for an unknown member. It suggests a similar member of the format, if there is
// one.
func unknownMessage(name []byte) string {
	if simple := simpleName(string(name[:min(len(name), 32)])); simple != "" {
		for _, member := range slices.Concat(collectionMembers, reviewMembers) {
			if simpleName(member) == simple {
				return "unknown member; " + member + " may be meant; extra data belongs in subparts of a review"
			}
		}
	}
	return "unknown member; extra data belongs in subparts of a review"
}

// simpleName returns the letters of a name in lower case, without an s at the end. Names that are easily confused have
// the same simple name: "bodyHTML" and "body_html", "rating" and "ratings".
func simpleName(name string) string {
	letters := strings.Map(func(r rune) rune {
		if r |= 0x20; 'a' <= r && r <= 'z' {
			return r
		}
		return -1
	}, name)
	return strings.TrimSuffix(letters, "s")
}
