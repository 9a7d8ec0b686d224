package reviews

import (
	"bytes"
	"strconv"
)

// checker holds the rules of the format and applies them to one line after the other. It is used by
// one goroutine.
type checker struct {
	tokens
	hash  *hasher
	out   findings
	load  bool // keep what is accepted, for an import
	part  bool // a line holds some reviews of its collection: parents may be elsewhere
	limit int  // bytes of JSON that are stored of a review, or of a collection without its reviews
	longLine

	// Of the line.
	line       int64  // its number
	start      place  // of its record
	about      string // id of its collection, as a problem shows it
	collection collection
	review     review
	got        batch     // what the line gave since the last flush
	found      []Problem // not handed over yet
	fields     []byte    // the members of the collection but its reviews, as they are written, for an import
	time       int64     // that was read last, for an import

	// Of the member that is read.
	item  int64  // index of the item of an array; -1 outside
	key   []byte // name of the subpart, if inKey
	inKey bool
	path  []byte // pointer from there into a value that is discarded
	other bool   // some dimension is not called default

	ofCollection, ofReview members

	ids     set       // of the collection's reviews; accepted ones are marked
	names   nameSet   // of dimensions or subparts
	unknown []nameSet // by depth: names of an open object that are not known
	html    markup
}

// place is where in the file something begins.
type place struct {
	offset, column int64
	head           []byte // the line from there on, maxHead bytes at most
}

// place gives the place of an offset in what is held, or of the record.
func (c *checker) place(offset int64) place {
	if offset == c.start.offset {
		return c.start
	}
	column, head := c.look(offset)
	return place{offset, column, head}
}

// tooLong ends holding a value. If that proved longer than can be held, it is next again, to be read over.
func (c *checker) tooLong() bool {
	if !c.letGo() {
		return false
	}
	c.fault, c.depth, c.item, c.inKey, c.path = nil, c.outer, -1, false, c.path[:0]
	return true
}

// maxFound is how many problems of a line wait for its end: a line that turns out to be no JSON has
// that problem and no others, unless it has very many.
const maxFound = 256

func (c *checker) handOver() {
	c.nameReview()
	for _, p := range c.found {
		p.Collection = c.about
		c.out.problem(p)
	}
	c.found, c.review.from = c.found[:0], 0
}

// nameReview gives the problems of the review its id, as far as that was read.
func (c *checker) nameReview() {
	r := &c.review
	if r.index < 0 || len(r.shown) == 0 || r.from == len(c.found) {
		return
	}
	id := shown(r.shown)
	for i := range c.found[r.from:] {
		c.found[r.from+i].Review = id
	}
}

func newChecker(h *hasher, out findings, load bool, limit int) *checker {
	return &checker{
		hash: h, out: out, load: load, limit: limit,
		ofCollection: members{names: collectionMembers, required: memberDimensions},
		ofReview:     members{names: reviewMembers, required: reviewAuthor},
	}
}

// findings takes what a checker finds, in order.
type findings interface {
	problem(Problem)
	batch(batch)
}

// batch is what a line gave, or a part of a long one.
type batch struct {
	first    bool // the line begins here
	record   bool // the line holds a collection
	element  bool // the line is a record and a comma, as in a JSON array
	refused  bool // an error of the collection rejects all of its reviews
	paired   bool // source and id are known: pair
	pair     fingerprint
	line     int64
	offset   int64 // of the record
	column   int64
	head     []byte // the record from its beginning, maxHead bytes at most; valid until the batch is handed over
	id       string // of the collection, as a problem shows it
	reviews  int64
	rejected int64
	incoming *incoming // what an import is to store

	// settled, if not nil, is closed when the batch was stored or refused. It is stored at once.
	settled chan struct{}
}

// report adds a problem of a member, given by its pointer from the review or the collection.
func (c *checker) report(rule ruleID, offset int64, member, message string) {
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
	where := c.place(offset)
	p.Column, p.Value = where.column, rule.wrong(where.head)
	c.found = append(c.found, p)
	if len(c.found) == maxFound {
		c.handOver()
	}
}

func (r ruleID) problem(line, offset int64, pointer, message string) Problem {
	return Problem{Line: line, Offset: offset, Pointer: pointer, Rule: rules[r].ID, Severity: rules[r].Severity, Message: message}
}

// problemAt makes a problem of a file as a whole.
func (r ruleID) problemAt(line, column, offset int64, message string) Problem {
	p := r.problem(line, offset, "", message)
	p.Column = column
	return p
}

// read checks the line that the window is set to. Where err is set afterwards it could not.
func (c *checker) read(line int64) {
	if c.next(); c.pos == len(c.buf) {
		return // blank
	}
	c.begin(line)
	if c.readRecord() == broken {
		if c.err != nil {
			return
		}
		c.got = batch{first: true, line: line, offset: c.start.offset, element: c.got.element}
		p := c.fault.rule.problem(line, c.fault.offset, "", c.fault.message)
		p.Column = c.fault.column
		c.found, c.review.index = append(c.found[:0], p), -1 // a review is not read yet where the reviews wait
	}
	if c.got.incoming != nil {
		c.got.incoming.empty = !c.collection.some
	}
	if !c.pass.inside {
		c.flush()
	} else {
		c.err = c.settle() // all batches of the line hold the large collection
	}
}

// begin prepares for the record that is next.
func (c *checker) begin(line int64) {
	c.line, c.start.offset, c.depth = line, c.offset(), 0
	c.hold()
	c.start.column, c.start.head = c.look(c.start.offset)
	c.letGo()
	if c.spool != nil { // the window will move
		c.start.head = bytes.Clone(c.start.head)
	}
	c.fault = nil
	c.about, c.fields = "", c.fields[:0]
	c.collection = collection{dims: -1, dimsAt: -1}
	c.review.index, c.review.from, c.review.shown = -1, 0, c.review.shown[:0]
	c.item, c.inKey, c.path = -1, false, c.path[:0]
	c.ids.clear()
	c.got = batch{first: true, line: line, offset: c.start.offset, column: c.start.column, head: c.start.head}
	if c.load {
		c.got.incoming = &incoming{}
	}
}

// flush hands over what the line gave so far.
func (c *checker) flush() {
	c.handOver()
	got := c.got
	got.id = c.about
	c.got = batch{refused: got.refused, line: got.line, offset: got.offset}
	if got.incoming != nil {
		c.got.incoming = got.incoming.next()
	}
	c.out.batch(got)
}

// settle hands over what the line gave so far, and waits until it was stored or refused.
func (c *checker) settle() error {
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

// readRecord reads the one value of the line.
func (c *checker) readRecord() verdict {
	if c.next() != '{' {
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
	if c.collection.late.offset == 0 {
		return accepted
	}
	return c.lateReviews()
}

// end makes sure that the line is over.
func (c *checker) end() verdict {
	if next := c.next(); c.pos < len(c.buf) {
		if next == ',' { // an element of an array on each line
			c.got.element = true
			return c.fail(c.offset(), ruleJSON, "this is not JSON: a comma behind the record; want nothing but the record on its line")
		}
		return c.unexpected("the end of the line")
	}
	return accepted
}
