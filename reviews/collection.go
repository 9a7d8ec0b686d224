package reviews

var collectionMembers = []string{"source", "title", "created", "id", "reviews", "dimensions"}

const (
	memberSource = iota
	memberTitle
	memberCreated
	memberID
	memberReviews
	memberDimensions
)

const maxCollectionID = 150 // characters

// collection reads a collection and its reviews, unless these wait.
func (c *checker) collection() bool {
	seen, ok := c.object(&c.ofCollection, (*checker).collectionMember)
	if !ok {
		return false
	}
	c.missing(&c.ofCollection, seen, c.start)
	if seen&(1<<memberDimensions) == 0 {
		c.dims = 1
		c.report(ruleDimensionsAbsent, c.start, "", `dimensions is missing and taken as ["default"]`)
	}
	if c.source.ok && c.id.ok {
		c.got.paired, c.got.pair = true, c.hash.pair(c.source.fingerprint, c.id.fingerprint)
	}
	c.takeCollection()
	return true
}

func (c *checker) collectionMember(i int) (ok bool) {
	if i == memberReviews {
		return c.reviewsMember()
	}
	c.next()
	start := c.offset()
	if c.load {
		c.keep(c.limit, nil)
	}
	switch i {
	case memberSource:
		ok = c.readSource()
	case memberTitle:
		ok = c.anyText("/title")
	case memberCreated:
		ok = c.timestamp("/created")
	case memberID:
		ok = c.collectionID()
	case memberDimensions:
		ok = c.dimensions()
	}
	c.takeField(collectionMembers[i], start)
	return ok
}

func (c *checker) readSource() (ok bool) {
	var text []byte
	c.source, text, ok = c.identity("/source")
	if c.load {
		c.got.incoming.collection.Source = string(text)
	}
	return ok
}

func (c *checker) collectionID() bool {
	text, good, ok := c.limited("/id", maxCollectionID, ruleIDLength)
	if !good {
		return ok
	}
	if message := base64Fault(text); message != "" {
		c.report(ruleIDBase64, c.str.offset, "/id", message)
		return true
	}
	c.id = known{c.hash.of(text), true}
	if c.load {
		c.got.incoming.collection.ID = string(text)
	}
	return true
}

// dimensions reads the names of the dimensions. What is no array leaves their number unknown, and
// the ratings are not counted.
func (c *checker) dimensions() bool {
	c.next()
	c.dimsAt = c.offset()
	if yes, ok := c.is('[', "/dimensions", "an array of strings"); !yes {
		return ok
	}
	c.names.clear()
	c.named = false
	n, ok := c.items((*checker).dimension)
	if !ok {
		return false
	}
	switch {
	case n == 0:
		c.report(ruleDimensionsNone, c.dimsAt, "/dimensions", `there is no dimension; want ["default"] or several names`)
		return true
	case n == 1 && c.named:
		c.report(ruleDimensionSingle, c.dimsAt, "/dimensions", `a single dimension is ["default"]`)
	}
	c.dims = n
	return true
}

func (c *checker) dimension() bool {
	c.next()
	at := c.offset()
	name, text, ok := c.identity("/dimensions")
	if !ok || !name.ok {
		return ok
	}
	c.named = c.named || string(text) != "default"
	if !c.names.add(name.fingerprint) {
		c.report(ruleDimensionRepeated, at, "/dimensions", "this dimension was named before")
	}
	return true
}

// reviewsMember reads the reviews, or has them wait: their number of ratings is unknown before
// dimensions, and an import takes none before it knows all of their collection.
func (c *checker) reviewsMember() bool {
	if yes, ok := c.is('[', "/reviews", "an array of reviews"); !yes {
		return ok
	}
	long := c.spool != nil
	if c.dimsAt >= 0 && !(long && c.load) {
		return c.reviews()
	}
	c.waiting, c.held = true, c.offset()
	if !long {
		return c.stepOver()
	}
	c.keep(0, c.spool)
	ok := c.stepOver()
	c.kept()
	if c.copy.err != nil {
		c.err = c.copy.err
		return c.fail(c.held, ruleJSON, "")
	}
	return ok
}

// readWaiting reads the reviews that wait, now that the rest of the collection is known.
func (c *checker) readWaiting() bool {
	c.flush()
	if c.spool == nil {
		c.pos = int(c.held - c.base)
	} else {
		c.base, c.buf, c.pos = c.held, c.buf[:0], 0
		if c.rest, c.err = c.spool.reader(c.watch); c.err != nil {
			return c.fail(c.held, ruleJSON, "")
		}
	}
	c.depth = 1
	c.next()
	return c.reviews()
}

func (c *checker) reviews() bool {
	_, ok := c.items((*checker).readReview)
	c.review = -1
	return ok
}
