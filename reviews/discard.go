package reviews

import "strconv"

// discard reads over a value that is refused for what it is, or where it stands, and reports what
// no value may hold: a repeated name, U+0000, half of a surrogate pair.
func (c *checker) discard(member string) bool {
	switch c.next() {
	case '"':
		return c.anyText(member)
	case '{':
		return c.discardObject(member)
	case '[':
		return c.discardArray(member)
	}
	return c.stepOver()
}

func (c *checker) discardArray(member string) bool {
	if !c.enter() {
		return false
	}
	above := len(c.path)
	for n := int64(0); ; n++ {
		if more, ok := c.element(']', n == 0); !more {
			return ok
		}
		if above < maxPath {
			c.path = strconv.AppendInt(append(c.path, '/'), n, 10)
		}
		if !c.discard(member) {
			return false
		}
		c.path = c.path[:above]
	}
}

func (c *checker) discardObject(member string) bool {
	if !c.enter() {
		return false
	}
	c.forgetNames()
	for first := true; ; first = false {
		if more, ok := c.element('}', first); !more {
			return ok
		}
		if c.next() != '"' {
			return c.unexpected("a member name in quotes")
		}
		id, name, ok := c.print(maxName)
		if !ok || !c.discardMember(id, name, member) {
			return false
		}
	}
}

// discardMember reads over a member whose name was just read.
func (c *checker) discardMember(id fingerprint, name []byte, member string) bool {
	above := len(c.path)
	if above < maxPath {
		c.path = append(c.path, pointerToken(name)...)
	}
	c.flaws(member)
	if !c.namesHere().add(id) {
		c.report(ruleRepeated, c.str.offset, member, "this member was given before")
	}
	ok := c.colon() && c.discard(member)
	c.path = c.path[:above]
	return ok
}

// maxPath is how long the pointer into a discarded value becomes: problems stay small. Beyond, it
// is that of the value around.
const maxPath = 2 * maxShown

// forgetNames prepares for the names of the object that was just entered.
func (c *checker) forgetNames() {
	if c.depth < len(c.unknown) {
		c.unknown[c.depth].clear()
	}
}

// namesHere are the names, but the known ones, that the innermost open object had so far.
func (c *checker) namesHere() *nameSet {
	for len(c.unknown) <= c.depth {
		c.unknown = append(c.unknown, nameSet{})
	}
	return &c.unknown[c.depth]
}

// nameSet is the names of an object: a few in a list, more in a set.
type nameSet struct {
	few  []fingerprint
	many set
}

const fewNames = 16

// add puts a name into the set and says whether it was not there yet.
func (n *nameSet) add(name fingerprint) bool {
	if n.many.used > 0 {
		return n.many.add(name)
	}
	for _, other := range n.few {
		if other == name {
			return false
		}
	}
	n.few = append(n.few, name)
	if len(n.few) > fewNames {
		for _, name := range n.few {
			n.many.add(name)
		}
	}
	return true
}

func (n *nameSet) clear() {
	n.few = n.few[:0]
	n.many.clear()
}
