package reviews

import "strconv"

// discard reads a value that is refused, because its member is unknown or repeated, or because it has the wrong type. The caller
// has reported that, and the rules of the format say nothing about what is inside. discard reports only what no value may
// contain: a repeated name (member-repeated), U+0000 (text-nul), half of a surrogate pair (text-surrogate). member is the pointer
// of the value; c.path is the way from there to the value inside it that is read.
//
// For example, the member "colour":{"a":1,"a":2} of the first review is unknown: that is a problem at /reviews/0/colour, and the
// second "a" is one of member-repeated at /reviews/0/colour/a.
//
// The value may be of any size. What is not part of a pinned value is pinned here, so that a problem can show its text; and if
// that is too long for the window, it is read over without any rule.
func (c *lineChecker) discard(member string) (v verdict) {
	// A value inside a pinned one needs no pin of its own, and of an array each element is pinned by itself.
	first := c.peek()
	pinnedHere := c.pinned < 0 && first != '['
	if pinnedHere {
		c.pin()
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
	// A value that is too long for the window is read once more from its beginning. Its problems so far stay.
	if tooLong := pinnedHere && c.endPin(); tooLong {
		v = c.stepOver()
	}
	return v
}

// discardArray is discard for an array. It adds the index of each element to c.path while the element is read.
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

// discardObject is discard for an object. The name is not valid any more when a problem was reported, so it is passed on as its
// fingerprint and as a token of a pointer.
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

// discardMember discards the value of a member whose name was just read, and reports a name that the object had before. token is
// the name as a token of a pointer. member is the pointer of the value that is refused as a whole; "" for an unknown member of a
// review or a collection, whose own name is the first token of c.path then.
func (c *lineChecker) discardMember(name fingerprint, token, member string) verdict {
	// While the member is read, c.path has its name. Beyond maxPath it keeps the path of a value around it.
	above := len(c.path)
	if above < maxPath {
		c.path = append(c.path, token...)
	}
	// Report what is wrong with the name, and then what is wrong inside the value.
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

// maxPath is about how many bytes a pointer goes into a discarded value, so that problems stay small: c.path gets no further
// token when it has that many. Problems deeper inside have the pointer of a value around them.
const maxPath = 2 * maxShown

// forgetNames empties the set of unknown names for the object that was just entered. The sets are kept by depth: an object inside
// another one has a set of its own, and the next object at the same depth takes the memory of the one before.
func (c *lineChecker) forgetNames() {
	if c.depth < len(c.unknown) {
		c.unknown[c.depth].clear()
	}
}

// namesHere returns the set of unknown names of the innermost open object.
func (c *lineChecker) namesHere() *nameSet {
	for len(c.unknown) <= c.depth {
		c.unknown = append(c.unknown, nameSet{})
	}
	return &c.unknown[c.depth]
}

// nameSet is a set of names: of unknown members, of subparts, or of dimensions. It keeps fingerprints and no texts. Up to
// fewNames of them are in a list, which needs less memory and time than a set; when there are more, all of them are in the set.
// The zero nameSet is empty. A lineChecker uses one after clear for the next object, so that most lines make no garbage.
type nameSet struct {
	few  []fingerprint // the first names; not looked at once many has entries
	many set
}

// The sizes of a nameSet. An object of the file may have any number of names, so what is kept of them needs a bound.
const (
	fewNames   = 16                        // names in the list
	maxUnknown = 4096                      // unknown names of an object; further names are only compared with these
	maxNames   = maxStored / len(`"":"",`) // a review with more subparts is longer than what is stored of one
)

// add puts a name into the set and returns whether it is new. A set that has most names takes no more: it then tells only
// whether the name is one of these. So an object with very many names takes bounded memory.
func (n *nameSet) add(name fingerprint, most int) bool {
	if n.many.used >= most {
		return !n.many.has(name)
	}
	// There is a set already, or the name joins the list; a list that has become too long becomes a set.
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

// clear empties the set. It keeps little memory, see set.clear.
func (n *nameSet) clear() {
	n.few = n.few[:0]
	n.many.clear()
}
