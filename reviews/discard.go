package reviews

import "strconv"

// discard reads over a value that is refused for what it is, or where it stands, and reports what
// no value may hold: a repeated name, U+0000, half of a surrogate pair.
func (c *lineChecker) discard(member string) (v verdict) {
	first := c.next()
	alone := c.held < 0 && first != '[' // of an array, each element is held
	if alone {
		c.hold()
	}
	switch first {
	case '"':
		v = c.anyText(member)
	case '{':
		v = c.discardObject(member)
	case '[':
		v = c.discardArray(member)
	default:
		v = c.stepOver()
	}
	if alone && c.tooLong() {
		v = c.stepOver()
	}
	return v
}

func (c *lineChecker) discardArray(member string) verdict {
	if c.enter() == broken {
		return broken
	}
	above := len(c.path)
	for n := int64(0); ; n++ {
		if s := c.element(']', n == 0); s != stepElement {
			return s.ended()
		}
		if above < maxPath {
			c.path = strconv.AppendInt(append(c.path, '/'), n, 10)
		}
		if c.discard(member) == broken {
			return broken
		}
		c.path = c.path[:above]
	}
}

func (c *lineChecker) discardObject(member string) verdict {
	if c.enter() == broken {
		return broken
	}
	c.forgetNames()
	for first := true; ; first = false {
		if s := c.element('}', first); s != stepElement {
			return s.ended()
		}
		if c.quote() == broken {
			return broken
		}
		name, v := c.text()
		if v == broken || c.discardMember(c.fingerprint(name), pointerToken(name), member) == broken {
			return broken
		}
	}
}

// discardMember reads over a member whose name was just read. token is its step of a pointer.
func (c *lineChecker) discardMember(name fingerprint, token, member string) verdict {
	above := len(c.path)
	if above < maxPath {
		c.path = append(c.path, token...)
	}
	c.flaws(member)
	if !c.namesHere().add(name, maxUnknown) {
		c.report(ruleRepeated, c.str.offset, member, repeatedMember)
	}
	v := c.colon()
	if v == accepted {
		v = c.discard(member)
	}
	c.path = c.path[:above]
	return v
}

// maxPath is how long the pointer into a discarded value becomes: problems stay small. Beyond, it
// is that of the value around.
const maxPath = 2 * maxShown

// forgetNames prepares for the names of the object that was just entered.
func (c *lineChecker) forgetNames() {
	if c.depth < len(c.unknown) {
		c.unknown[c.depth].clear()
	}
}

// namesHere are the names, but the known ones, that the innermost open object had so far.
func (c *lineChecker) namesHere() *nameSet {
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

const (
	fewNames   = 16
	maxUnknown = 4096                      // of an object that is refused, so many names are compared
	maxNames   = maxStored / len(`"":"",`) // more members make a review longer than what is stored
)

// add puts a name into the set and says whether it was not there yet. A set of most names takes no more.
func (n *nameSet) add(name fingerprint, most int) bool {
	if n.many.used >= most {
		return !n.many.has(name)
	}
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
