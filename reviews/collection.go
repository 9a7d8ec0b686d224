package reviews

import "strconv"

var collectionMembers = []string{"source", "title", "created", "id", "reviews", "dimensions"}

const (
	memberSource = iota
	memberTitle
	memberCreated
	memberID
	memberReviews
	memberDimensions
)

const (
	maxCollectionID = 150  // characters
	maxDimensions   = 1000 // the counts of a collection take 800 bytes of memory for each
)

// collection is what is known of the collection that is read.
type collection struct {
	source fingerprint
	id     fingerprint
	known  uint8    // bits of memberSource and memberID: which of these were read
	dims   int64    // number of dimensions; -1: unknown
	dimsAt int64    // offset of dimensions; -1: absent
	size   int64    // bytes of its members but the reviews
	large  bool     // for an import, more than maxSmall of them are in memory
	some   bool     // there is a review, accepted or not
	late   position // of reviews that are read when the rest was; offset 0: none
}

// readCollection reads a collection and its reviews, unless these wait.
func (c *lineChecker) readCollection() verdict {
	seen, v := c.object(&c.ofCollection, (*lineChecker).collectionMember)
	if v == broken {
		return broken
	}
	c.missing(&c.ofCollection, seen, c.start.offset)
	if seen&(1<<memberDimensions) == 0 {
		c.collection.dims = 1
		c.report(ruleDimensionsAbsent, c.start.offset, "", `dimensions is missing and taken as ["default"]`)
		c.keepDimensions(c.start, "", "")
	}
	if c.collection.known == 1<<memberSource|1<<memberID {
		c.got.paired, c.got.pair = true, c.hash.pair(c.collection.source, c.collection.id)
	}
	return accepted
}

func (c *lineChecker) collectionMember(i int) (v verdict) {
	if i == memberReviews {
		return c.reviewsMember()
	}
	c.next()
	start := c.offset()
	switch i {
	case memberSource:
		v = c.readSource()
	case memberTitle:
		v = c.anyText("/title")
	case memberCreated:
		v = c.timestamp("/created")
	case memberID:
		v = c.collectionID()
	case memberDimensions:
		v = c.dimensions()
	}
	if v == broken {
		return broken
	}
	return c.takeField(collectionMembers[i], start)
}

func (c *lineChecker) readSource() verdict {
	text, v := c.identity("/source")
	if v != accepted {
		return v
	}
	c.collection.source = c.fingerprint(text)
	c.collection.known |= 1 << memberSource
	if c.load {
		c.got.incoming.collection.Source = c.wholeText(text)
	}
	return accepted
}

func (c *lineChecker) collectionID() verdict {
	text, v := c.limited("/id", maxCollectionID, ruleIDLength)
	if v != broken {
		c.about = shown(text)
	}
	if v != accepted {
		return v
	}
	if message := base64Fault(text); message != "" {
		c.report(ruleIDBase64, c.str.offset, "/id", message)
		return refused
	}
	c.collection.id = c.fingerprint(text)
	c.collection.known |= 1 << memberID
	if c.load {
		c.got.incoming.collection.ID = string(text)
	}
	return accepted
}

// dimensions reads the names of the dimensions. What is no array leaves their number unknown, and
// the ratings are not counted.
func (c *lineChecker) dimensions() verdict {
	c.next()
	at := c.offset()
	c.collection.dimsAt = at
	if v := c.is('[', "/dimensions", "an array of strings"); v != accepted {
		return v
	}
	c.names.clear()
	c.other = false
	n, v := c.items((*lineChecker).dimension)
	if v == broken {
		return broken
	}
	switch {
	case n == 0:
		c.report(ruleDimensionsNone, at, "/dimensions", `there is no dimension; want ["default"] or several names`)
		return refused
	case n > maxDimensions:
		c.report(ruleDimensionsMany, at, "/dimensions", strconv.FormatInt(n, 10)+" dimensions; want at most 1000")
		return refused
	case n == 1 && c.other:
		c.report(ruleDimensionSingle, at, "/dimensions", `a single dimension is named default; want ["default"]`)
	}
	c.collection.dims = n
	if c.load {
		where := c.position(at)
		c.keepDimensions(where, "/dimensions", ruleStoredDimensions.wrong(where.head))
	}
	return accepted
}

func (c *lineChecker) dimension() verdict {
	c.next()
	at := c.offset()
	name, v := c.identity("/dimensions")
	if v != accepted {
		return v
	}
	c.other = c.other || string(name) != "default"
	if c.item < maxDimensions && !c.names.add(c.fingerprint(name), maxNames) {
		c.report(ruleDimensionRepeated, at, "/dimensions", "this dimension was named before; name each one once")
	}
	return accepted
}

// reviewsMember reads the reviews, or has them wait: their number of ratings is unknown before
// dimensions, and an import takes none before it knows all of their collection.
func (c *lineChecker) reviewsMember() verdict {
	if v := c.is('[', "/reviews", "an array of reviews"); v != accepted {
		return v
	}
	c.letGo() // each review is held for itself
	long := c.spool != nil
	if c.collection.dimsAt >= 0 && !(long && c.load) {
		return c.reviews()
	}
	c.collection.late = position{offset: c.offset(), column: c.column(c.offset())}
	if !long || c.load {
		return c.stepOver()
	}
	return c.copyOut(c.stepOver)
}

// lateReviews reads the reviews that wait, now that the rest of the collection is known.
func (c *lineChecker) lateReviews() verdict {
	c.flush()
	late := c.collection.late
	switch {
	case c.spool == nil:
		c.pos = int(late.offset - c.base)
	case c.readFrom(late) == broken:
		return broken
	}
	c.depth = 1
	return c.reviews()
}

func (c *lineChecker) reviews() verdict {
	_, v := c.items((*lineChecker).readReview)
	c.review.index = -1
	return v
}
