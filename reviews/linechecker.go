package reviews

import (
	"bytes"
	"strconv"
)

// lineChecker applies the rules of the format to one line after the other. It reads the JSON of a line once, from left to
// right, and applies each rule as soon as it has read what the rule is about. The rules of a collection are in collection.go,
// those of a review in review.go, those of single values in values.go. The rules that span lines are in fileChecker.
//
// Workers have a lineChecker each. It is used by one goroutine.
type lineChecker struct {
	tokens
	hash    *hasher
	out     findings
	load    bool // keep what is accepted, for an import
	partial bool // the line has only some reviews of its collection, so a parent may be elsewhere
	limit   int  // bytes of JSON that are stored of a review, or of a collection without its reviews
	longLine

	// Of the line that is read.
	line       int64    // its number
	start      position // of its record
	shownID    string   // id of its collection, as a problem shows it
	collection collection
	review     review
	got        lineResult // since the last flush
	found      []Problem  // not handed over yet
	fields     []byte     // the members of the collection but its reviews, as they are written; for an import
	time       int64      // the time that was read last; for an import

	// Of the member that is read. They make the pointer of a problem.
	item  int64  // index of the item of an array; -1 outside of one
	key   []byte // name of the subpart, if inKey
	inKey bool
	path  []byte // pointer from the member into a value that is refused

	otherDimension bool // some dimension is not called default

	ofCollection, ofReview members

	ids     set       // of the collection's reviews; accepted ones are marked
	names   nameSet   // of dimensions or subparts
	unknown []nameSet // by depth: the unknown names of each open object
	html    markup
}

func newLineChecker(h *hasher, out findings, load bool, limit int) *lineChecker {
	return &lineChecker{
		hash: h, out: out, load: load, limit: limit,
		ofCollection: members{names: collectionMembers, required: memberDimensions},
		ofReview:     members{names: reviewMembers, required: reviewAuthor},
	}
}

// findings gets the problems and the results of lines, in the order of the file.
type findings interface {
	problem(Problem)
	result(lineResult)
}

// lineResult is what was found in a line: the collection and the counts of its reviews. A long line gives several results,
// one for each part of its reviews.
type lineResult struct {
	first    bool // the line begins with this result
	record   bool // the line is a collection
	element  bool // the line is a record and a comma, as in a JSON array
	refused  bool // an error of the collection rejects all of its reviews
	paired   bool // source and id are known: pair
	pair     fingerprint
	line     int64
	offset   int64 // of the record
	column   int64
	head     []byte // the beginning of the record, maxHead bytes at most; valid until the result is handed over
	id       string // of the collection, as a problem shows it
	reviews  int64
	rejected int64
	incoming *incoming // what an import is to store; nil for a check

	// settled, if not nil, is closed when the result has been stored or refused. The receiver does that without waiting
	// for more results.
	settled chan struct{}
}

// position is where in the file something begins.
type position struct {
	offset, column int64
	head           []byte // the line from there on, maxHead bytes at most
}

// position returns the position of an offset, which is the beginning of the record or in the window.
func (c *lineChecker) position(offset int64) position {
	if offset == c.start.offset {
		return c.start
	}
	column, head := c.look(offset)
	return position{offset, column, head}
}

// read checks the line that the window is set to. If the line could not be read on, it sets err.
func (c *lineChecker) read(line int64) {
	if c.peek(); c.pos == len(c.buf) {
		return // blank
	}
	c.begin(line)
	if c.readRecord() == broken {
		if c.err != nil {
			return
		}
		c.dropLine()
	}
	if c.got.incoming != nil {
		c.got.incoming.empty = !c.collection.hasReviews
	}
	if !c.pass.inside {
		c.flush()
	} else {
		c.err = c.settle() // each result refers to the large collection: wait before its memory is used again
	}
}

// begin prepares for the record that is next.
func (c *lineChecker) begin(line int64) {
	c.line, c.start.offset, c.depth = line, c.offset(), 0
	c.pin()
	c.start.column, c.start.head = c.look(c.start.offset)
	c.unpin()
	if c.spool != nil { // the window will move
		c.start.head = bytes.Clone(c.start.head)
	}
	c.fault = nil
	c.shownID, c.fields = "", c.fields[:0]
	c.collection = collection{dims: -1, dimsAt: -1}
	c.review.index, c.review.from, c.review.shown = -1, 0, c.review.shown[:0]
	c.item, c.inKey, c.path = -1, false, c.path[:0]
	c.ids.clear()
	c.got = lineResult{first: true, line: line, offset: c.start.offset, column: c.start.column, head: c.start.head}
	if c.load {
		c.got.incoming = &incoming{}
	}
}

// dropLine forgets what was found in a line that is no JSON: it has that problem and no other.
func (c *lineChecker) dropLine() {
	c.got = lineResult{first: true, line: c.line, offset: c.start.offset, element: c.got.element}
	p := c.fault.rule.problem(c.line, c.fault.offset, "", c.fault.message)
	p.Column = c.fault.column
	c.found, c.review.index = append(c.found[:0], p), -1
}

// readRecord reads the one value of the line.
func (c *lineChecker) readRecord() verdict {
	if c.peek() != '{' {
		c.report(ruleObject, c.start.offset, "", "the record is "+c.kind()+", want an object with source, title, created, id, dimensions and reviews")
		if c.discard("") == broken {
			return broken
		}
		return c.end()
	}
	if c.spool != nil && c.load && c.copyRecord() == broken {
		return broken
	}
	if c.readCollection() == broken || c.end() == broken || c.takeCollection() == broken {
		return broken
	}
	c.got.record = true
	if c.collection.deferred.offset == 0 {
		return accepted
	}
	return c.deferredReviews()
}

// end reads the end of the line, which follows the record.
func (c *lineChecker) end() verdict {
	next := c.peek()
	if c.pos == len(c.buf) {
		return accepted
	}
	if next == ',' { // an element of an array on each line
		c.got.element = true
		return c.fail(c.offset(), ruleJSON, "this is not JSON: a comma behind the record; want nothing but the record on its line")
	}
	return c.unexpected("the end of the line")
}

// report adds a problem of the collection, or of the review that is read. member is the pointer from there.
func (c *lineChecker) report(rule ruleID, offset int64, member, message string) {
	if rules[rule].Severity == SeverityError {
		if c.review.index < 0 {
			c.got.refused = true
		} else {
			c.review.faults++
		}
	}
	if c.item >= 0 {
		member += "/" + strconv.FormatInt(c.item, 10)
	}
	if c.inKey {
		member += pointerToken(c.key)
	}
	member += string(c.path)
	if c.review.index >= 0 {
		member = "/reviews/" + strconv.FormatInt(c.review.index, 10) + member
	}
	p := rule.problem(c.line, offset, member, message)
	at := c.position(offset)
	p.Column, p.Value = at.column, rule.wrong(at.head)
	c.found = append(c.found, p)
	if len(c.found) == maxFound {
		c.handOver()
	}
}

// maxFound is how many problems may wait for the end of their line. If the line proves not to be JSON, those that wait are
// dropped; those handed over before stay.
const maxFound = 256

// handOver hands over the problems that wait.
func (c *lineChecker) handOver() {
	c.nameReview()
	for _, p := range c.found {
		p.Collection = c.shownID
		c.out.problem(p)
	}
	c.found, c.review.from = c.found[:0], 0
}

// nameReview gives the problems of the review its id, if that was read.
func (c *lineChecker) nameReview() {
	r := &c.review
	if r.index < 0 || len(r.shown) == 0 || r.from == len(c.found) {
		return
	}
	id := shown(r.shown)
	for i := range c.found[r.from:] {
		c.found[r.from+i].Review = id
	}
}

// flush hands over the result of the line so far, and its problems.
func (c *lineChecker) flush() {
	c.handOver()
	got := c.got
	got.id = c.shownID
	c.got = lineResult{refused: got.refused, line: got.line, offset: got.offset}
	if got.incoming != nil {
		c.got.incoming = got.incoming.next()
	}
	c.out.result(got)
}

// settle is flush, and waits until the result was stored or refused.
func (c *lineChecker) settle() error {
	settled := make(chan struct{})
	c.got.settled = settled
	c.flush()
	select {
	case <-settled:
		return nil
	case <-c.pass.done:
		return errStopped
	}
}

// tooLong unpins a value from the window. It returns true if the value was too long to be held; the reader is then back at
// the value's beginning, and the caller skips it.
func (c *lineChecker) tooLong() bool {
	if !c.unpin() {
		return false
	}
	c.fault, c.depth, c.item, c.inKey, c.path = nil, c.outer, -1, false, c.path[:0]
	return true
}
