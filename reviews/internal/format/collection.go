package format

import (
	"bytes"
	"strconv"
	"unicode"
	"unicode/utf8"
)

// collectionMembers are the members of a collection. All but the last are required. The constants are their indices; a
// bit set of these indices says which members an object has.
//
//	source      text that is not empty; it need not be an address
//	title       any text
//	created     a time, see ParseTime
//	id          Base64 of 1 to 150 characters, see DecodeID
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

// The limits of a collection. The number of its reviews is limited only by the length of a line. An id of 150
// characters of Base64 encodes up to 112 bytes.
const (
	maxCollectionID = 150  // characters
	maxDimensions   = 1000 // the counts of a collection take 800 bytes of memory for each
)

// collectionState is the state of the collection that is being read. Its members may come in any order.
type collectionState struct {
	source, id string // "" if not read yet or invalid
	raw        [6][]byte
	dims       int  // number of dimensions; -1: not known
	dimsAt     int  // where dimensions begin; where the record begins if they were not read
	hasDims    bool // they were read
	other      bool // some dimension is not called default, as a single one must be (rule dimensions-single)
	dimNames   nameSet
}

// readCollection reads a collection. source, title, created, id and reviews are required (member-missing). Absent
// dimensions mean ["default"], with a warning (dimensions-absent). The Checker gets the fingerprint of source and
// id, and checks that no earlier line has them (collection-repeated). An error rejects the line, but the rest is still
// read, so that people learn of all problems at once.
func (c *lineChecker) readCollection() {
	c.collectionState, c.review.reads, c.path = collectionState{dims: -1, dimsAt: c.start}, false, c.path[:0]
	if len(c.ids) > 1000 {
		c.ids = map[string]bool{}
	}
	clear(c.ids)
	seen := c.object(collectionMembers, maxUnknown, (*lineChecker).collectionMember)
	// Missing members, the source and the id are known only now.
	c.missing(collectionMembers[:memberDimensions], seen, c.start)
	if !c.hasDims {
		c.dims = 1
		c.report(RuleDimensionsAbsent, c.start, `dimensions is missing and taken as ["default"]`)
	}
	if c.source != "" && c.id != "" {
		c.result.paired, c.result.pair = true, fingerprintOf(c.source, c.id)
	}
	if c.forImport && !c.result.rejectsAll && !c.deep {
		c.keep()
	}
}

// collectionMember reads the value of the member with index i, and applies the rules of that member.
func (c *lineChecker) collectionMember(i int) {
	start := c.next()
	switch i {
	case memberSource:
		c.source = string(c.nonEmpty())
	case memberTitle:
		c.anyText()
	case memberCreated:
		c.timestamp()
	case memberID:
		c.collectionID()
	case memberDimensions:
		c.dimensions()
	case memberReviews:
		if c.expect('[', "an array of reviews") {
			if !c.hasDims { // a review needs as many ratings as there are dimensions
				c.dims = c.dimensionsAhead()
			}
			c.items((*lineChecker).readReview)
		}
	}
	c.raw[i] = c.text[start:c.pos]
}

// collectionID reads the id of a collection: Base64 of at most 150 characters (collection-id-base64,
// collection-id-length). The bytes should be text (id-text). Ids are compared in their encoded form, so two encodings
// of the same bytes are two ids.
func (c *lineChecker) collectionID() {
	at := c.next()
	text := c.limited(maxCollectionID, RuleIDLength)
	if len(text) == 0 {
		return
	}
	decoded, fault := DecodeID(text)
	if fault != "" {
		c.report(RuleIDBase64, at, fault)
		return
	}
	c.id = string(text)
	if !utf8.Valid(decoded) || bytes.IndexFunc(decoded, func(r rune) bool { return !unicode.IsGraphic(r) }) >= 0 {
		c.report(RuleIDText, at,
			"this id decodes to bytes that are no text, as an id does that was not encoded; "+rightID)
	}
}

// dimensions reads the names of the dimensions: 1 (dimensions-none) to 1,000 (dimensions-many), each unique
// (dimension-repeated). A single dimension must be named default (dimensions-single). If there is none, more than
// 1,000, or no array, the number stays unknown, and the number of ratings of reviews is not checked.
func (c *lineChecker) dimensions() {
	at := c.next()
	c.dims, c.dimsAt, c.hasDims = -1, at, true
	if !c.expect('[', "an array of strings") {
		return
	}
	switch n := c.items((*lineChecker).dimension); {
	case n == 0:
		c.report(RuleDimensionsNone, at, `there is no dimension; want ["default"] or several names`)
	case n > maxDimensions:
		c.report(RuleDimensionsMany, at, strconv.Itoa(n)+" dimensions; want at most 1000")
	default:
		if n == 1 && c.other {
			c.report(RuleDimensionSingle, at, `a single dimension is named default; want ["default"]`)
		}
		c.dims = n
	}
}

// dimension reads the name of a dimension: a string that is not empty (text-empty). Names after the first thousand are
// not compared, since too many names are an error already.
func (c *lineChecker) dimension() {
	at := c.next()
	name := c.nonEmpty()
	if len(name) == 0 {
		return
	}
	c.other = c.other || string(name) != "default"
	if c.path[1].index < maxDimensions && !c.dimNames.add(bytes.Clone(name), maxDimensions) {
		c.report(RuleDimensionRepeated, at, "this dimension was named before; name each one once")
	}
}

// dimensionsAhead returns the number of dimensions before the walk has reached them, or -1 if it is not known.
func (c *lineChecker) dimensionsAhead() (n int) {
	raw := c.aside.member(c.text[c.start:], "dimensions")
	if raw == nil {
		return 1
	}
	d := c.aside.begin(raw)
	if token, err := d.ReadToken(); err != nil || token.Kind() != '[' {
		return -1
	}
	for d.PeekKind() != ']' && d.SkipValue() == nil {
		n++
	}
	if n == 0 || n > maxDimensions {
		return -1
	}
	return n
}
