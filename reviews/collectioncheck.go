package reviews

import "strconv"

// collectionMembers are the members of a collection. All but the last are required. The constants are their indices, and bits
// of these indices say which members an object has.
//
//	source      text that is not empty; it need not be an address
//	title       any text
//	created     a time, see timestampFault
//	id          Base64 of 1 to 150 characters, see base64Fault
//	reviews     an array of reviews, which may be empty
//	dimensions  an array of 1 to 1,000 different names
var collectionMembers = []string{"source", "title", "created", "id", "reviews", "dimensions"}

// The indices of collectionMembers, in the same order.
const (
	memberSource = iota
	memberTitle
	memberCreated
	memberID
	memberReviews
	memberDimensions
)

// The limits of a collection, beside maxStored, which bounds it without its reviews. It may have any number of reviews. An id
// of 150 characters of Base64 stands for up to 112 bytes.
const (
	maxCollectionID = 150  // characters
	maxDimensions   = 1000 // the counts of a collection take 800 bytes of memory for each
)

// collection is what a lineChecker knows of the collection that is read. begin resets it for each line. The members may come in
// any order, so source, id and size may not be known yet while the reviews are read. The number of dimensions is always known by
// then, unless dimensions has an error: reviews that come first are deferred, see reviewsMember.
type collection struct {
	source     fingerprint
	id         fingerprint
	known      uint8    // bits of memberSource and memberID: which of the two were read and are valid, so the field is set
	dims       int64    // number of dimensions; -1: not known
	dimsAt     int64    // offset of dimensions; -1: not met
	size       int64    // bytes of its members but the reviews
	large      bool     // for an import: more than maxSmall of these are in memory
	hasReviews bool     // it has a review, accepted or not
	deferred   position // of the reviews, if they wait until the rest was read; offset 0: they do not
}

// readCollection reads a collection, and its reviews unless these are deferred, see reviewsMember. source, title, created, id and
// reviews are required (member-missing). An absent dimensions is taken as ["default"], with a warning (dimensions-absent).
// Whether an earlier line of the file has the same source and id (collection-repeated) is up to the fileChecker, which gets the
// fingerprint of the pair. An error here rejects the line, but reading goes on, so that people learn of the other problems too.
func (c *lineChecker) readCollection() verdict {
	seen, v := c.object(&c.ofCollection, (*lineChecker).collectionMember)
	if v == broken {
		return broken
	}
	// Only now is it known which members the collection lacks, and whether it has a source and an id.
	c.missing(&c.ofCollection, seen, c.start.offset)
	if seen&(1<<memberDimensions) == 0 {
		// Reviews that came before are deferred, so none was judged without this number.
		c.collection.dims = 1
		c.report(ruleDimensionsAbsent, c.start.offset, "", `dimensions is missing and taken as ["default"]`)
		c.keepDimensions(c.start, "", "")
	}
	if c.collection.known == 1<<memberSource|1<<memberID {
		c.result.paired, c.result.pair = true, c.hash.pair(c.collection.source, c.collection.id)
	}
	return accepted
}

// collectionMember reads the value of the member with index i, applies the rules of that member, and gives the value to
// keepField, except the reviews. The title may be any text, also an empty one.
func (c *lineChecker) collectionMember(i int) (v verdict) {
	if i == memberReviews {
		return c.reviewsMember()
	}
	c.peek()
	start := c.offset() // of the value, for keepField
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
	return c.keepField(collectionMembers[i], start)
}

// readSource reads the source of a collection: a string that is not empty (text-empty), of any length. It need not be an address.
func (c *lineChecker) readSource() verdict {
	text, v := c.nonEmpty("/source")
	if v != accepted {
		return v
	}
	c.collection.source = c.fingerprint(text)
	c.collection.known |= 1 << memberSource
	if c.forImport {
		c.result.incoming.collection.Source = c.wholeText(text)
	}
	return accepted
}

// collectionID reads the id of a collection: Base64 of at most 150 characters (collection-id-base64, collection-id-length). The
// bytes should be a text (id-text). An id is compared as it is written, so two ways to write the same bytes are two ids. Problems
// of the line show the id, also if it has an error.
func (c *lineChecker) collectionID() verdict {
	text, v := c.limited("/id", maxCollectionID, ruleIDLength)
	if v != broken {
		c.shownID = shown(text)
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
	if c.forImport {
		c.result.incoming.collection.ID = string(text)
	}
	if !isText(text) {
		c.report(ruleIDText, c.str.offset, "/id", "this id decodes to bytes that are no text, as an id does that was not encoded; "+rightID)
	}
	return accepted
}

// dimensions reads the names of the dimensions: at least one (dimensions-none) and at most 1,000 (dimensions-many), each once
// (dimension-repeated). If there is one alone, its name must be default (dimensions-single). If there is none or more than 1,000,
// or dimensions is no array, their number stays unknown, and no review is checked to have as many ratings.
func (c *lineChecker) dimensions() verdict {
	c.peek()
	at := c.offset()
	c.collection.dimsAt = at
	if v := c.expect('[', "/dimensions", "an array of strings"); v != accepted {
		return v
	}
	// The rules of one name are applied by dimension, and those of all names together below.
	c.names.clear()
	c.otherDimension = false
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
	case n == 1 && c.otherDimension:
		c.report(ruleDimensionSingle, at, "/dimensions", `a single dimension is named default; want ["default"]`)
	}
	c.collection.dims = n
	if c.forImport { // the store may have reviews with others
		where := c.position(at)
		c.keepDimensions(where, "/dimensions", ruleStoredDimensions.wrong(where.head))
	}
	return accepted
}

// dimension reads the name of a dimension: a string that is not empty (text-empty). Names after the first thousand are not
// compared, since their number is an error already, and c.names stays small.
func (c *lineChecker) dimension() verdict {
	c.peek()
	at := c.offset()
	name, v := c.nonEmpty("/dimensions")
	if v != accepted {
		return v
	}
	c.otherDimension = c.otherDimension || string(name) != "default"
	if c.item < maxDimensions && !c.names.add(c.fingerprint(name), maxNames) {
		c.report(ruleDimensionRepeated, at, "/dimensions", "this dimension was named before; name each one once")
	}
	return accepted
}

// reviewsMember reads the reviews, or defers them until the rest of the collection was read. They are deferred if dimensions was
// not met, because a review needs as many ratings as there are dimensions. An import defers the reviews of a long line in any
// case, because it stores the first of them before it has read the last, and then needs the whole collection.
//
// Deferred reviews are read over once, which checks that they are JSON. Their place is kept. If the line is long, a check copies
// them to the temporary file; of an import the whole record is there already.
func (c *lineChecker) reviewsMember() verdict {
	if v := c.expect('[', "/reviews", "an array of reviews"); v != accepted {
		return v
	}
	c.unpin() // each review is pinned by itself, so that the window holds one of them at a time
	// Read the reviews now if nothing of the rest of the collection is needed for that.
	long := c.temp != nil
	if c.collection.dimsAt >= 0 && !(long && c.forImport) {
		return c.reviews()
	}
	// Otherwise keep their place, and read over them.
	c.collection.deferred = position{offset: c.offset(), column: c.column(c.offset())}
	if !long || c.forImport {
		return c.stepOver()
	}
	return c.copyOut(c.stepOver)
}

// deferredReviews goes back to the deferred reviews, and reads them. The collection is complete by now, and the JSON of the whole
// line was found to be right, so flush hands over the problems and the result of the collection before those of the reviews.
func (c *lineChecker) deferredReviews() verdict {
	c.flush()
	// Go back to their first byte, in the window or in the temporary file.
	deferred := c.collection.deferred
	switch {
	case c.temp == nil: // the line is all in memory
		c.pos = int(deferred.offset - c.base)
	case c.readFrom(deferred) == broken:
		return broken
	}
	c.depth = 1 // inside the object of the record
	return c.reviews()
}

// reviews reads the array of reviews, one review after the other. Problems that are reported afterwards are those of the
// collection again.
func (c *lineChecker) reviews() verdict {
	_, v := c.items((*lineChecker).readReview)
	c.review.index = -1
	return v
}
