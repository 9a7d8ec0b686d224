package reviews

import (
	"bytes"
	"strconv"
)

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

// The limits of a collection. It may have any number of reviews that fit into a line. An id of 150 characters of Base64 stands for up to
// 112 bytes.
const (
	maxCollectionID = 150  // characters
	maxDimensions   = 1000 // the counts of a collection take 800 bytes of memory for each
)

// collectionState is what a lineChecker knows of the collection that is read. The members may come in any order. The number of dimensions is
// always known while reviews are read, unless dimensions has an error: reviews that come first are read last.
type collectionState struct {
	source, id string // "" if they were not read or are not valid
	raw        [6][]byte
	dims       int // number of dimensions; -1: not known
	dimsAt     int // where dimensions begin
	hasDims    bool
	other      bool // some dimension is not called default, as a single one must be (rule dimensions-single)
	deferred   int  // where the reviews begin, if they are read last; 0: they are not
}

// readCollection reads a collection. source, title, created, id and reviews are required (member-missing). An absent dimensions is taken
// as ["default"], with a warning (dimensions-absent). Whether an earlier line of the file has the same source and id
// (collection-repeated) is up to the fileChecker, which gets the fingerprint of the pair. An error here rejects the line, but reading goes
// on, so that people learn of the other problems too.
func (c *lineChecker) readCollection() {
	seen := c.object(collectionMembers, (*lineChecker).collectionMember)
	// Only now is it known which members the collection lacks, and whether it has a source and an id.
	c.missing(collectionMembers[:memberDimensions], seen, c.start)
	if seen&(1<<memberDimensions) == 0 {
		c.dims, c.dimsAt = 1, c.start
		c.report(ruleDimensionsAbsent, c.start, "", `dimensions is missing and taken as ["default"]`)
	}
	if c.source != "" && c.collectionState.id != "" {
		c.result.paired, c.result.pair = true, fingerprintOf(c.seeds, c.source, c.collectionState.id)
	}
	if c.deferred > 0 {
		c.pos = c.deferred
		c.reviews()
	}
	if c.forImport && !c.result.rejectsAll && !c.deep {
		c.keep()
	}
}

// collectionMember reads the value of the member with index i, and applies the rules of that member.
func (c *lineChecker) collectionMember(i int) {
	start := c.pos
	switch i {
	case memberSource:
		if text, ok := c.nonEmpty("/source"); ok {
			c.source = string(text)
		}
	case memberTitle:
		c.anyText("/title")
	case memberCreated:
		c.timestamp("/created")
	case memberID:
		c.readID()
	case memberDimensions:
		c.dimensions()
	case memberReviews:
		switch {
		case !c.expect('[', "/reviews", "an array of reviews"):
		case c.hasDims:
			c.reviews()
		default: // a review needs as many ratings as there are dimensions
			c.deferred = c.pos
			c.value()
		}
	}
	c.collectionState.raw[i] = c.text[start:c.pos]
}

// readID reads the id of a collection: Base64 of at most 150 characters (collection-id-base64, collection-id-length). The
// bytes should be a text (id-text). An id is compared as it is written, so two ways to write the same bytes are two ids.
func (c *lineChecker) readID() {
	at := c.pos
	text, ok := c.limited("/id", maxCollectionID, ruleIDLength)
	if !ok {
		return
	}
	if message := base64Fault(text); message != "" {
		c.report(ruleIDBase64, at, "/id", message)
		return
	}
	c.collectionState.id = string(text)
	if !isText(text) {
		c.report(ruleIDText, at, "/id", "this id decodes to bytes that are no text, as an id does that was not encoded; "+rightID)
	}
}

// dimensions reads the names of the dimensions: at least one (dimensions-none) and at most 1,000 (dimensions-many), each once
// (dimension-repeated). If there is one alone, its name must be default (dimensions-single). If there is none or more than 1,000,
// or dimensions is no array, their number stays unknown, and no review is checked to have as many ratings.
func (c *lineChecker) dimensions() {
	at := c.pos
	c.dimsAt, c.hasDims = at, true
	if !c.expect('[', "/dimensions", "an array of strings") {
		return
	}
	c.names.clear()
	n := c.items((*lineChecker).dimension)
	switch {
	case n == 0:
		c.report(ruleDimensionsNone, at, "/dimensions", `there is no dimension; want ["default"] or several names`)
	case n > maxDimensions:
		c.report(ruleDimensionsMany, at, "/dimensions", strconv.Itoa(n)+" dimensions; want at most 1000")
	default:
		if n == 1 && c.other {
			c.report(ruleDimensionSingle, at, "/dimensions", `a single dimension is named default; want ["default"]`)
		}
		c.dims = n
	}
}

// dimension reads the name of a dimension: a string that is not empty (text-empty). Names after the first thousand are not
// compared, since their number is an error already.
func (c *lineChecker) dimension() {
	at := c.pos
	name, ok := c.nonEmpty("/dimensions")
	if !ok {
		return
	}
	c.other = c.other || string(name) != "default"
	if c.item < maxDimensions && !c.names.add(bytes.Clone(name), maxDimensions) {
		c.report(ruleDimensionRepeated, at, "/dimensions", "this dimension was named before; name each one once")
	}
}

// reviews reads the array of reviews, one review after the other. Problems that are reported afterwards are those of the
// collection again.
func (c *lineChecker) reviews() {
	c.items((*lineChecker).readReview)
	c.review.index = -1
}
