package reviews

import "slices"

// members are those of an object that the format knows, the required ones first.
type members struct {
	names    []string
	required int
	follows  [16]uint8 // what came after each member, and, at 0, first, the last time
}

// object reads an object that has the given members, and calls value for each at its value. seen
// has a bit for each member that was there.
func (c *checker) object(members *members, value func(c *checker, i int) bool) (seen uint, ok bool) {
	if !c.enter() {
		return 0, false
	}
	c.forgetNames()
	after := 0
	for first := true; ; first = false {
		if more, ok := c.element('}', first); !more {
			return seen, ok
		}
		c.next()
		at := c.offset()
		i, id, name, ok := c.member(members, after)
		switch {
		case !ok:
		case i < 0:
			ok = c.unknownMember(at, id, name)
		case seen&(1<<i) != 0:
			pointer := "/" + members.names[i]
			c.report(ruleRepeated, at, pointer, "this member was given before")
			ok = c.colon() && c.discard(pointer)
		default:
			seen |= 1 << i
			after = i + 1
			ok = c.colon() && value(c, i)
		}
		if !ok {
			return seen, false
		}
	}
}

func (c *checker) unknownMember(at int64, id fingerprint, name []byte) bool {
	c.report(ruleUnknown, at, pointerToken(name), "unknown member; extra data belongs in subparts of a review")
	return c.discardMember(id, name, "")
}

// member reads a name and gives its index, or -1, its fingerprint and its text for one that is not
// known. The members of a file come in the same order again and again: the one that came here the last
// time is looked for first.
func (c *checker) member(m *members, after int) (i int, id fingerprint, name []byte, ok bool) {
	guess := &m.follows[after]
	if c.literally(m.names[*guess]) {
		return int(*guess), id, nil, true
	}
	if c.next() != '"' {
		return 0, id, nil, c.unexpected("a member name in quotes")
	}
	if id, name, ok = c.print(maxName); !ok {
		return 0, id, nil, false
	}
	for i, known := range m.names {
		if string(name) == known {
			*guess = uint8(i)
			return i, id, nil, true
		}
	}
	return -1, id, name, true
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
	for _, name := range slices.Concat(collectionMembers[:memberDimensions], reviewMembers[:reviewAuthor]) {
		all[name] = name + " is missing"
	}
	return all
}()

// missing reports the required members that are not in seen.
func (c *checker) missing(members *members, seen uint, start int64) {
	for i, name := range members.names[:members.required] {
		if seen&(1<<i) == 0 {
			c.report(ruleMissing, start, "", missingMessages[name])
		}
	}
}
