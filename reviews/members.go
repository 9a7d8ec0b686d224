package reviews

import (
	"bytes"
	"slices"
	"strings"
)

// members are those of an object that the format knows, the required ones first.
type members struct {
	names    []string
	required int
	follows  [16]uint8 // what came after each member, and, at 0, first, the last time
}

// object reads an object that has the given members, and calls value for each at its value. seen
// has a bit for each member that was there.
func (c *lineChecker) object(m *members, value func(c *lineChecker, i int) verdict) (seen uint, v verdict) {
	if c.enter() == broken {
		return 0, broken
	}
	c.forgetNames()
	after := 0
	for first := true; ; first = false {
		if s := c.element('}', first); s != stepElement {
			return seen, s.ended()
		}
		c.next()
		at := c.offset()
		alone := c.held < 0
		if alone {
			c.hold()
		}
		i, name, v := c.member(m, after)
		switch {
		case v == broken:
		case i < 0:
			v = c.unknownMember(at, name)
		case seen&(1<<i) != 0:
			pointer := "/" + m.names[i]
			c.report(ruleRepeated, at, pointer, repeatedMember)
			if v = c.colon(); v == accepted {
				v = c.discard(pointer)
			}
		default:
			seen |= 1 << i
			after = i + 1
			if v = c.colon(); v == accepted {
				v = value(c, i)
			}
		}
		if alone && c.tooLong() {
			v = c.stepOverMember(at)
		}
		if v == broken {
			return seen, broken
		}
	}
}

// maxName is how much of the name of a subpart is kept: more than what a problem shows.
const maxName = 2 * maxShown

func (c *lineChecker) unknownMember(at int64, name []byte) verdict {
	id, token := c.fingerprint(name), pointerToken(name)
	c.report(ruleUnknown, at, token, unknownMessage(name))
	return c.discardMember(id, token, "")
}

// stepOverMember reads over a member of a collection that is longer than what is stored.
func (c *lineChecker) stepOverMember(at int64) verdict {
	if c.stepOverName() == broken || c.stepOver() == broken {
		return broken
	}
	c.collection.size += c.offset() - at
	return accepted
}

// member reads a name and gives its index, or -1 and its text for one that is not
// known. The members of a file come in the same order again and again: the one that came here the last
// time is looked for first.
func (c *lineChecker) member(m *members, after int) (i int, name []byte, v verdict) {
	guess := &m.follows[after]
	if c.literally(m.names[*guess]) {
		return int(*guess), nil, accepted
	}
	if c.quote() == broken {
		return 0, nil, broken
	}
	if name, v = c.text(); v == broken {
		return 0, nil, broken
	}
	for i, known := range m.names {
		if string(name) == known {
			*guess = uint8(i)
			return i, nil, accepted
		}
	}
	return -1, name, accepted
}

// literally reads a string if it is in the window as text in quotes, without escapes.
func (t *tokens) literally(text string) bool {
	end := t.pos + len(text) + 1
	if end >= len(t.buf) || t.buf[end] != '"' || t.buf[t.pos] != '"' || string(t.buf[t.pos+1:end]) != text {
		return false
	}
	t.pos = end + 1
	return true
}

// missingMessages are made once: a file may lack millions of members.
var missingMessages = func() map[string]string {
	all := map[string]string{}
	for _, example := range []string{`"source":"example.test"`, `"title":"A lamp"`, `"created":"2019-04-03T00:00:00Z"`, `"id":"YXJ0aWNsZS0x"`,
		`"reviews":[]`, `"body_html":"<p>Bright.</p>"`, `"ratings":[80]`} {
		name := strings.Split(example, `"`)[1]
		all[name] = name + " is missing; want a member such as " + example
	}
	return all
}()

// unknownMessages are made once, too: by the plain form of a name that is nearly known, and for all others.
var unknownMessages = func() map[string]string {
	const otherwise = "; extra data belongs in subparts of a review"
	all := map[string]string{"": "unknown member" + otherwise}
	for _, name := range slices.Concat(collectionMembers, reviewMembers) {
		all[plainName([]byte(name))] = "unknown member; " + name + " may be meant" + otherwise
	}
	return all
}()

// plainName is what is left of a name without upper case, plural and what is no letter.
func plainName(name []byte) string {
	plain := make([]byte, 0, 32)
	for _, c := range name[:min(len(name), cap(plain))] {
		if c |= 0x20; 'a' <= c && c <= 'z' {
			plain = append(plain, c)
		}
	}
	return string(bytes.TrimSuffix(plain, []byte("s")))
}

func unknownMessage(name []byte) string {
	if message := unknownMessages[plainName(name)]; message != "" {
		return message
	}
	return unknownMessages[""]
}

// missing reports the required members that are not in seen.
func (c *lineChecker) missing(members *members, seen uint, start int64) {
	for i, name := range members.names[:members.required] {
		if seen&(1<<i) == 0 {
			c.report(ruleMissing, start, "", missingMessages[name])
		}
	}
}
