package reviews

import (
	"bytes"
	"slices"
	"strings"
)

// members are the members that the format knows of an object, the required ones first. A member is known by its index in names
// from here on, and a set of members is a number with a bit for each index. A lineChecker has one for collections and one for
// reviews.
type members struct {
	names    []string
	required int // how many of them are required
	// follows has, for each member, the one that came after it in the last object. It is indexed by the member's index plus 1;
	// at 0 is the one that came first. A lineChecker has its own, see member.
	follows [16]uint8
}

// object reads an object with the given members, and calls value at the value of each, to read it. seen has a bit for each member
// that the object has. An unknown member (member-unknown) or a repeated one (member-repeated) is reported, and its value is
// discarded. A member counts as seen also if its value has a fault.
//
// A member of a collection is pinned while it is read. A member of a review is part of the review, which is pinned as a whole.
//
// seen is valid with the verdict accepted only. Required members that are missing are not reported here: the caller does that
// with missing, when it has also applied the rules between members.
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
		// Pin the member, unless the whole object is pinned.
		c.peek()
		at := c.offset()
		pinnedHere := c.pinned < 0
		if pinnedHere {
			c.pin()
		}
		// Read its name, and then its value according to what the name is: unknown, one that came before, or one that is
		// expected.
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
		// A member of a collection that is too long for the window is broken until it was read over.
		if tooLong := pinnedHere && c.endPin(); tooLong {
			v = c.stepOverMember(at)
		}
		if v == broken {
			return seen, broken
		}
	}
}

// maxName is how many bytes of a name are kept for a problem. It is more than a problem shows, so that the problem can tell
// that the name was cut.
const maxName = 2 * maxShown

// unknownMember reports a member that the format does not know, at the offset of its name, and discards its value. Repeated
// unknown names are found too, see discardMember. name is invalid once a problem is reported, so all that is needed of it is
// taken first.
func (c *lineChecker) unknownMember(at int64, name []byte) verdict {
	id, token := c.fingerprint(name), pointerToken(name)
	c.report(ruleUnknown, at, token, unknownMessage(name))
	return c.discardMember(id, token, "")
}

// stepOverMember reads over a member of a collection that is longer than the window may grow. Its size counts for the rule
// stored-size, which it breaks by itself.
func (c *lineChecker) stepOverMember(at int64) verdict {
	if c.stepOverName() == broken || c.stepOver() == broken {
		return broken
	}
	c.collection.size += c.offset() - at
	return accepted
}

// member reads the name of a member and returns its index, or -1 and the name if the format does not know it. after is the index
// of the member before it, plus 1; 0 for the first. Nearly all objects of a file have their members in the same order, so the
// member that came here last time is tried first: comparing one name is faster than looking up any.
func (c *lineChecker) member(m *members, after int) (i int, name []byte, v verdict) {
	// The usual case: the same order as in the previous object.
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
	// Otherwise look the name up, and remember it as the one that follows.
	for i, known := range m.names {
		if string(name) == known {
			*guess = uint8(i)
			return i, nil, accepted
		}
	}
	return -1, name, accepted
}

// literally reads a string if it is text, written without escapes, and is in the window. It returns whether it is, and reads
// nothing otherwise: the caller then reads the string in the usual way. Unlike text, it leaves t.str as it is.
func (t *tokens) literally(text string) bool {
	end := t.pos + len(text) + 1
	if end >= len(t.buf) || t.buf[end] != '"' || t.buf[t.pos] != '"' || string(t.buf[t.pos+1:end]) != text {
		return false
	}
	t.pos = end + 1
	return true
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

// missing reports the required members that an object does not have (member-missing), one problem for each, at the offset of the
// object, which is start. seen is what the method object has returned.
func (c *lineChecker) missing(members *members, seen uint, start int64) {
	for i, name := range members.names[:members.required] {
		if seen&(1<<i) == 0 {
			c.report(ruleMissing, start, "", missingMessages[name])
		}
	}
}
