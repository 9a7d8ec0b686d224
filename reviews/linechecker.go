package reviews

import (
	"bytes"
	"strconv"
)

// lineChecker applies the rules of the format to one line after the other. It reads the JSON of a line from left to right, and
// applies each rule as soon as it has read what the rule is about. It builds no tree of the JSON, so a line of any length takes
// the memory of the window, some 15 bytes for each of its reviews, and a bounded number of names and problems. It goes back
// only to reviews that stand before the dimensions, to a value that was too long for the window, and to the record of a long
// line that an import has copied to a temporary file.
//
// Its parts and its neighbours, from the bottom up:
//
//	window         the bytes of the line that are in memory, and where in the file they are
//	tokens         brackets, names, strings and numbers of JSON (tokens.go, text.go)
//	lineChecker    values, each with its rules (values.go); then reviews (review.go) and the collection (collection.go)
//	fileChecker    the rules that span lines
//
// What it finds goes to out, see findings. Problems of a line wait until its end, because a line that proves not to be JSON has
// that one problem alone. The page in howitworks.go follows a line through it, and defines window, pin, flush and settle.
//
// A worker reads many lines with its lineChecker, which keeps its memory from line to line. It is used by one goroutine.
type lineChecker struct {
	tokens
	hash    *hasher
	out     findings
	load    bool // keep what is accepted, for an import
	partial bool // for an Auditor: the line has only some reviews of its collection, so a parent may be elsewhere
	limit   int  // bytes of JSON that are stored of a review, or of a collection without its reviews
	longLine

	// Of the line that is read; begin resets these.
	line       int64    // its number
	start      position // of its record
	shownID    string   // id of its collection, as a problem shows it
	collection collection
	review     review
	got        lineResult // since the last flush
	found      []Problem  // not handed over yet
	fields     []byte     // the members of the collection but its reviews, as they are written; for an import
	time       int64      // the time that was read last, in microseconds since 1970; for an import

	// Of the member that is read. report makes the pointer of a problem from these.
	item  int64  // index of the item of an array; -1 outside of one
	key   []byte // name of the subpart whose value is read, if inKey
	inKey bool   // a value of subparts is read
	path  []byte // pointer from the member into a value that is refused

	otherDimension bool // some dimension is not called default

	ofCollection, ofReview members // the members of both kinds of object, and the order in which they came last

	// Memory that is used for one value after the other.
	ids     set       // of the collection's reviews; accepted ones are marked
	names   nameSet   // of dimensions or subparts
	unknown []nameSet // by depth: the unknown names of each open object
	html    markup
}

// newLineChecker returns a lineChecker that gives its findings to out. All checkers of one file share the seeds of one hasher,
// so that their fingerprints can be compared. load and limit are the fields of these names.
func newLineChecker(h *hasher, out findings, load bool, limit int) *lineChecker {
	return &lineChecker{
		hash: h, out: out, load: load, limit: limit,
		ofCollection: members{names: collectionMembers, required: memberDimensions},
		ofReview:     members{names: reviewMembers, required: reviewAuthor},
	}
}

// findings gets the problems and the results of lines, in the order of the file: first the problems of a line, and then its
// result. A long line may give several of each.
type findings interface {
	problem(Problem)
	result(lineResult)
}

// lineResult is what was found in a line: the collection and the counts of its reviews. A line gives a second result if its
// reviews stand before its dimensions: one for the collection and one for the reviews. A long line that is imported gives
// one for each part of its reviews, so that the first reviews are stored while the next are read. A blank line gives none.
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
	head     []byte    // the beginning of the record, maxHead bytes at most; valid until the result is handed over
	id       string    // of the collection, as a problem shows it
	reviews  int64     // in this part of the line
	rejected int64     // of these, by a rule of the review itself
	incoming *incoming // what an import is to store; nil for a check

	// settled, if not nil, is closed when the result has been stored or refused. The receiver does that without waiting
	// for more results.
	settled chan struct{}
}

// position is where in the file something begins.
type position struct {
	offset, column int64  // as in a Problem: bytes from 0, characters from 1
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

// read checks the line that the window is set to, and hands over what it finds. line is its number. If the file could not be
// read on, or the receiver wants no more, read sets err and hands over nothing further.
func (c *lineChecker) read(line int64) {
	if c.peek(); c.pos == len(c.buf) {
		return // blank
	}
	c.begin(line)
	if c.readRecord() == broken {
		if c.err != nil {
			return
		}
		c.dropLine() // the line is not JSON
	}
	if c.got.incoming != nil { // the last part of the line: see incoming.makes
		c.got.incoming.empty = !c.collection.hasReviews
	}
	if !c.pass.inside {
		c.flush()
	} else {
		c.err = c.settle() // each result refers to the large collection: wait before its memory is used again
	}
}

// begin prepares for the record that is next in the window: it notes where the record begins, and forgets the line before.
func (c *lineChecker) begin(line int64) {
	c.line, c.start.offset, c.depth = line, c.offset(), 0
	// Problems may be reported at the record when it has left the window, so its column and its first bytes are kept.
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

// dropLine forgets what was found in a line that is not JSON: it has that problem and no other, and counts neither as a
// collection nor its reviews as reviews. Problems and results of the line that were handed over before stay.
func (c *lineChecker) dropLine() {
	c.got = lineResult{first: true, line: c.line, offset: c.start.offset, element: c.got.element}
	p := c.fault.rule.problem(c.line, c.fault.offset, "", c.fault.message)
	p.Column = c.fault.column
	c.found, c.review.index = append(c.found[:0], p), -1
}

// readRecord reads the one value of the line, and applies all rules to it. An import copies the record of a long line to a
// temporary file first, see longLine. Reviews that stand before the dimensions are read last, see reviewsMember.
func (c *lineChecker) readRecord() verdict {
	if c.peek() != '{' { // JSON of another kind: a problem, and not a fault of the line
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
	c.got.record = true // only now, since the line might have proved not to be JSON
	if c.collection.deferred.offset == 0 {
		return accepted
	}
	return c.deferredReviews()
}

// end reads the end of the line, which follows the record. Anything but white space there is a fault of the rule json. A comma
// has a message of its own, since it shows a JSON array with an element on each line.
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

// report adds a problem of the review that is read, or of the collection if none is. offset is where the wrong value begins, in
// the window or at the beginning of the record. member is the JSON pointer of the member, from the review or collection on:
// "/ratings" for a rating too, since report adds the index of the item, the name of the subpart and the path into a refused
// value by itself.
//
// An error of the collection rejects the whole line, and an error in a review rejects that review.
func (c *lineChecker) report(rule ruleID, offset int64, member, message string) {
	if rules[rule].Severity == SeverityError {
		if c.review.index < 0 {
			c.got.refused = true
		} else {
			c.review.faults++
		}
	}
	// The pointer: /reviews/<index>, the member, the index of the item, the name of the subpart, and the path into the value.
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
	// position may move the window, so slices of it are invalid from here on.
	p := rule.problem(c.line, offset, member, message)
	at := c.position(offset)
	p.Column, p.Value = at.column, rule.wrong(at.head)
	c.found = append(c.found, p)
	if len(c.found) == maxFound {
		c.handOver()
	}
}

// maxFound is how many problems may wait for the end of their line. If the line proves not to be JSON, those that wait are
// dropped. Problems that were handed over before stay, so a line of more problems may have some of them beside the fault.
const maxFound = 256

// handOver hands over the problems that wait, with the id of the collection and of the review that is read, as far as they are
// known.
func (c *lineChecker) handOver() {
	c.nameReview()
	for _, p := range c.found {
		p.Collection = c.shownID
		c.out.problem(p)
	}
	c.found, c.review.from = c.found[:0], 0
}

// nameReview gives the problems of the review its id, if that was read. The id may stand behind what is wrong, so it is set at
// the end of the review.
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

// flush hands over the problems and the result of the line so far, and begins the result of the next part of the line.
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

// settle is flush, and waits until the result was stored or refused. So memory that the result refers to may be used again
// afterwards. It returns errStopped if nobody wants the rest of the line.
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

// tooLong unpins a value from the window. It returns true if the value was too long for the window; the reader is then back at
// the value's beginning, and the caller reads over it with stepOver, which applies no rules. Reading the value until it was too
// long may have left an item, a name or a fault, so these are reset.
func (c *lineChecker) tooLong() bool {
	if !c.unpin() {
		return false
	}
	c.fault, c.depth, c.item, c.inKey, c.path = nil, c.outer, -1, false, c.path[:0]
	return true
}
