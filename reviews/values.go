package reviews

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Each kind of value has a method that reads it, applies its rules and reports what is wrong. member is the JSON pointer of the
// member that the value belongs to, from its review or collection: "/title". The methods that return a text say whether it has no fault.
//
//	method      reads                                      rules
//	anyText     title, a subpart                           value-type, text-nul, text-surrogate
//	nonEmpty    source, imported_display_name, parent_id,  these and text-empty
//	            id of a review, name of a dimension
//	limited     id of a collection, author_id              these and the length
//	timestamp   created                                    those of anyText, timestamp and created-future
//	email       imported_email                             those of anyText and email
//	judged      imported_url, created                      those of anyText, and url or timestamp
//	bodyHTML    body_html                                  those of anyText and body-html

// items reads an array and calls item at each of its elements, which reads the element. c.item has the index meanwhile, for the
// pointer of a problem. items returns how many elements there are, also if some have errors.
func (c *lineChecker) items(item func(*lineChecker)) (n int) {
	c.pos++
	for ; c.more(); n++ {
		c.item = n
		item(c)
		c.item = -1
	}
	return n
}

// Messages that several rules share.
const (
	notEmpty       = "this may not be empty; want at least one character"
	repeatedMember = "this member was given before; keep one of the two"
)

// flaws reports the characters that no string may contain in a string at a place of the line: U+0000, which other programs take
// for the end of a text, and half of a surrogate pair, which no UTF-8 can express. It reports the first of each, and returns true if
// the string has neither.
func (c *lineChecker) flaws(raw []byte, place int, member string) bool {
	nul, half := -1, -1
	if !bytes.Contains(raw, []byte(`\u`)) { // only these escapes may be one of the two
		return true
	}
	for i := 0; i < len(raw); {
		if raw[i] != '\\' {
			n := bytes.IndexByte(raw[i:], '\\')
			if n < 0 {
				break
			}
			i += n
		}
		r, size := escape(raw[i:])
		if r == 0 && nul < 0 {
			nul = i
		}
		if 0xD800 <= r && r < 0xE000 && half < 0 {
			half = i
		}
		i += size
	}
	if nul >= 0 {
		c.report(ruleNUL, place+nul, member, "U+0000 is not allowed in a string; take it out")
	}
	if half >= 0 {
		c.report(ruleSurrogate, place+half, member, "half of a surrogate pair is no character; write the whole pair, or take it out")
	}
	return nul < 0 && half < 0
}

// anyText reads a string with any text.
func (c *lineChecker) anyText(member string) {
	if c.expect('"', member, "a string") {
		at := c.pos
		c.flaws(c.value(), at, member)
	}
}

// judged reads a string and calls judge with its text, which returns the message of a problem, or "". It reports that with the
// rule, and returns true if there is no problem.
func (c *lineChecker) judged(member string, rule ruleID, judge func(text []byte) string) (ok bool) {
	if !c.expect('"', member, "a string") {
		return false
	}
	at := c.pos
	raw := c.value()
	message := judge(c.unquote(raw))
	if message != "" {
		c.report(rule, at, member, message)
	}
	return c.flaws(raw, at, member) && message == ""
}

// timestamp reads a time of at most 64 KiB, see timestampFault, and reports one in the future (created-future). It returns the
// instant, as Review.Time has it.
func (c *lineChecker) timestamp(member string) (micros int64) {
	c.peek()
	at := c.pos
	future := false
	c.judged(member, ruleTimestamp, func(text []byte) string {
		if len(text) > maxTimestamp {
			return "the fraction of this time is longer than 65536 bytes; " + rightTime
		}
		fault := timestampFault(text)
		if c.forImport && fault == "" {
			micros = instant(text)
		}
		future = fault == "" && c.horizon.before(text)
		return fault
	})
	if future {
		c.report(ruleFuture, at, member, "this time is in the future; a review is written before it is exported")
	}
	return micros
}

// email reads an imported_email that is not null. It may be any text, but is reported if it is neither empty nor an email address.
func (c *lineChecker) email(member string) {
	if !c.expect('"', member, "a string") {
		return
	}
	at := c.pos
	raw := c.value()
	if text := c.unquote(raw); c.flaws(raw, at, member) && len(text) > 0 && !isEmail(text) {
		c.report(ruleEmail, at, member, "this is no email address; want one such as ann@example.test, or null")
	}
}

// addressFault returns what is wrong with an imported_url that is not null: it is an http or https address of at most 64 KiB, or "". A
// program may show it as a link, so other schemes, such as javascript, are refused.
func addressFault(text []byte) string {
	if len(text) > maxAddress {
		return "this address is longer than 65536 bytes; want a shorter one, or null"
	}
	if len(text) > 0 && !isPlainWebAddress(text) {
		return "this is no http or https address; want one such as https://example.test/user, or null"
	}
	return ""
}

// bodyHTML reads body_html and applies the rule of markupFault. Of each text the first fault is reported, at its tag.
func (c *lineChecker) bodyHTML(member string) {
	if !c.expect('"', member, "a string") {
		return
	}
	at := c.pos
	raw := c.value()
	// The fault is at a byte of the text, and the problem at the byte of the line where that is written.
	if i, message := markupFault(c.unquote(raw)); message != "" {
		c.report(ruleHTML, at+within(raw, i), member, message)
	}
	c.flaws(raw, at, member)
}

// nonEmpty reads a string that may not be empty (text-empty): an id, a source or a name. Its text is valid until the next string is
// read.
func (c *lineChecker) nonEmpty(member string) (text []byte, ok bool) {
	if !c.expect('"', member, "a string") {
		return nil, false
	}
	at := c.pos
	raw := c.value()
	text = c.unquote(raw)
	if len(text) == 0 {
		c.report(ruleEmpty, at, member, notEmpty)
	}
	return text, c.flaws(raw, at, member) && len(text) > 0
}

// limited reads a string of 1 to limit characters (code points). A longer one is a problem with the given rule. Otherwise limited is
// as nonEmpty.
func (c *lineChecker) limited(member string, limit int, rule ruleID) (text []byte, ok bool) {
	c.peek()
	at := c.pos
	text, ok = c.nonEmpty(member)
	if len(text) > limit && utf8.RuneCount(text) > limit { // characters are counted only if there may be too many
		c.report(rule, at, member, "this is longer than it may be; want at most "+strconv.Itoa(limit)+" characters")
		ok = false
	}
	return text, ok
}

// missingMessages are the messages of the rule member-missing, by the name of the member. They are made once, since a file may
// lack millions of members.
var missingMessages = func() map[string]string {
	all := map[string]string{}
	for _, example := range []string{`"source":"example.test"`, `"title":"A lamp"`, `"created":"2019-04-03T00:00:00Z"`, `"id":"YXJ0aWNsZS0x"`,
		`"reviews":[]`, `"body_html":"<p>Bright.</p>"`, `"ratings":[80]`} {
		name := strings.Split(example, `"`)[1]
		all[name] = name + " is missing; want a member such as " + example
	}
	return all
}()

// unknownMessages are the messages of the rule member-unknown, by simpleName of a member that may be meant. The one at "" is
// for all other names.
var unknownMessages = func() map[string]string {
	const otherwise = "; extra data belongs in subparts of a review"
	all := map[string]string{"": "unknown member" + otherwise}
	for _, name := range slices.Concat(collectionMembers, reviewMembers) {
		all[simpleName([]byte(name))] = "unknown member; " + name + " may be meant" + otherwise
	}
	return all
}()

// simpleName returns the letters of a name in lower case, without an s at the end. Names that are easily confused have the same
// simple name: "bodyHTML" and "body_html", "rating" and "ratings". It looks at the first 32 bytes of a name.
func simpleName(name []byte) string {
	simple := make([]byte, 0, 32)
	for _, c := range name[:min(len(name), cap(simple))] {
		c |= 0x20
		if 'a' <= c && c <= 'z' {
			simple = append(simple, c)
		}
	}
	return string(bytes.TrimSuffix(simple, []byte("s")))
}

// unknownMessage returns the message for an unknown member. It names the member of the format that may be meant, if there is one.
func unknownMessage(name []byte) string {
	if message := unknownMessages[simpleName(name)]; message != "" {
		return message
	}
	return unknownMessages[""]
}
