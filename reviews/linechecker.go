package reviews

import (
	"bytes"
	"strconv"
)

// lineChecker applies the rules of the format to one line after the other. It reads the JSON of a line from left to right, and
// applies each rule as soon as it has read what the rule is about. It builds no tree of the JSON, so a check of a line of any
// length takes the memory of the window, some 15 bytes for each of its reviews, and a bounded number of names and problems. An
// import also has the incoming of the line, or of a part of a long one, in memory. Apart from single strings, a lineChecker
// reads a part of the line more than once in three cases: reviews with no member dimensions before them, a value that was too
// long for the window, and the record of a long line, which an import first copies to a temporary file.
//
// Its parts and its neighbours, from the bottom up:
//
//	window         the bytes of the line that are in memory, and where in the file they are
//	tokens         brackets, names, strings and numbers of JSON (tokens.go, text.go)
//	lineChecker    values, each with its rules (values.go); then reviews (reviewcheck.go) and the collection (collectioncheck.go)
//	fileChecker    the rules that span lines
//
// What it finds goes to out. Problems of a line wait in found until flush, or until there are maxFound of them. If the line
// proves not to be JSON, those that wait are dropped. The page in howitworks.go follows a line through a lineChecker, and
// defines window, pin and flush.
//
// A worker reads many lines with its lineChecker, which keeps its memory from line to line. It is used by one goroutine.
type lineChecker struct {
	tokens
	hash      *hasher
	out       receiver
	forImport bool // fill result.incoming with what is accepted, for an import to store
	partial   bool // for an Auditor: the line has only some reviews of its collection, so parent_id may name one that it lacks
	sizeLimit int  // the most bytes of JSON that a review, or a collection without its reviews, may have (rule stored-size)
	horizon   horizon
	longLine

	// What is known of the line that is read. begin resets these, except that handOver empties found, readReview resets most of
	// review, and time keeps its last value.
	line       int64    // its number
	start      position // of its record
	shownID    string   // id of its collection, as a problem shows it
	collection collection
	review     review
	result     lineResult // since the last flush
	found      []Problem  // not handed over yet
	fields     []byte     // for an import: the members of the collection except reviews, in the text of the file, see keepField
	time       int64      // for an import: the time that was read last, in microseconds since 1970

	// Of the member that is read. report makes the pointer of a problem from these.
	item        int64  // index of the item of an array; -1 outside of one
	subpartName []byte // while inSubpart: the name of the subpart
	inSubpart   bool   // the name or the value of a member of subparts is read
	path        []byte // while discard reads a refused value: the pointer from the member into that value

	otherDimension bool // some dimension is not called default, as a single one must be (rule dimensions-single)

	// The members of the two kinds of object. Each also has the order of the members of the previous object of its kind, see
	// members.follows.
	ofCollection, ofReview members

	// Memory that is used for one value after the other.
	ids     set       // of the collection's reviews; accepted ones are marked
	names   nameSet   // of dimensions or subparts
	unknown []nameSet // by depth: the unknown names of each open object
	html    markup
}

// newLineChecker returns a lineChecker that gives its findings to out. All checkers of one file share the seeds of one hasher,
// so that their fingerprints can be compared. forImport and sizeLimit are the fields of these names.
func newLineChecker(h *hasher, out receiver, forImport bool, sizeLimit int) *lineChecker {
	return &lineChecker{
		hash: h, out: out, forImport: forImport, sizeLimit: sizeLimit,
		ofCollection: members{names: collectionMembers, required: memberDimensions},
		ofReview:     members{names: reviewMembers, required: reviewAuthor},
	}
}

// receiver gets the problems and the results of lines, in the order of the file: first the problems of a line, and then its
// result. A line may give several results, see lineResult, each after the problems of its part. A lineChecker gives its
// findings to a receiver: a sender in a worker, the sink of the pipeline in the goroutine of run, or the auditReceiver of an
// Auditor.
type receiver interface {
	problem(Problem)
	result(lineResult)
}

// lineResult is what was found in a line: the collection and the counts of its reviews. If the reviews are deferred, because no
// dimensions stand before them, the line gives two results: one for the collection and one for the reviews. A long line that is
// imported gives one for the collection and one for each part of its reviews, so that the first reviews are stored while the next
// are read. A blank line gives none.
type lineResult struct {
	first      bool // the line begins with this result
	record     bool // the line is a record: a JSON object and nothing else, whatever its members are
	element    bool // the line is a JSON value and a comma, like an element of an array; so it is no record
	rejectsAll bool // an error of the collection rejects all of its reviews
	paired     bool // source and id were read and are valid, so pair is set
	pair       fingerprint
	line       int64
	offset     int64 // of the record
	column     int64
	head       []byte    // the beginning of the record, maxHead bytes at most; valid until sink.result has returned
	id         string    // of the collection, as a problem shows it
	reviews    int64     // in this part of the line
	rejected   int64     // of these, by a rule of the review itself
	empty      bool      // the line ends with this result, and has no review, not even a rejected one
	ratings    int64     // ratings without an error, in this part of the line
	top        uint8     // the highest of them
	incoming   *incoming // what an import is to store; nil for a check

	// handled, if not nil, says that the sender waits until the result was handled: stored, rejected, or given up after an error.
	// The receiver handles such a result before it returns, and does not wait for more of them. batch.replay then closes
	// the channel.
	handled chan struct{}
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
// read on, or the receiver wants no more, read sets err and hands over nothing further, with one exception: a check also hands
// over a record that had ended before the file could not be read on.
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
	c.result.empty = !c.collection.hasReviews // the line has ended, so it is known whether it has any review
	if !c.pass.inside {
		c.flush()
	} else {
		c.err = c.flushAndWait() // the memory of the result counts for the Gate, so it is stored before readLong leaves
	}
}

// begin prepares for the record that is next in the window: it notes where the record begins, and forgets the line before.
func (c *lineChecker) begin(line int64) {
	c.line, c.start.offset, c.depth = line, c.offset(), 0
	// A problem may be reported at the beginning of the record when that has left the window, such as a missing member at the
	// end of a long record. So the column and the first bytes are kept.
	c.pin()
	c.start.column, c.start.head = c.look(c.start.offset)
	c.unpin()
	if c.temp != nil { // the window will move
		c.start.head = bytes.Clone(c.start.head)
	}
	// The rest forgets the line before. Slices keep their memory, and found was emptied by the flush of that line.
	c.fault = nil
	c.shownID, c.fields = "", c.fields[:0]
	c.collection = collection{dims: -1, dimsAt: -1}
	c.review.index, c.review.from, c.review.shown = -1, 0, c.review.shown[:0]
	c.item, c.inSubpart, c.path = -1, false, c.path[:0]
	c.ids.clear()
	c.result = lineResult{first: true, line: line, offset: c.start.offset, column: c.start.column, head: c.start.head}
	if c.forImport {
		c.result.incoming = &incoming{}
	}
}

// dropLine forgets what was found in a line that is not JSON, not UTF-8 or nested too deep, and puts the problem that says so
// in its place. The line is not counted as a collection, and its reviews are not counted. Problems of the line that were handed
// over before stay. A result was not handed over: that is done only when the line was read to its end.
func (c *lineChecker) dropLine() {
	c.result = lineResult{first: true, line: c.line, offset: c.start.offset, element: c.result.element}
	p := c.fault.rule.problem(c.line, c.fault.offset, "", c.fault.message)
	p.Column = c.fault.column
	c.found, c.review.index = append(c.found[:0], p), -1
}

// readRecord reads the one value of the line, and applies all rules to it. An import copies the record of a long line to a
// temporary file first, see longLine. Reviews that stand before the dimensions are read last, see reviewsMember.
func (c *lineChecker) readRecord() verdict {
	if c.peek() != '{' { // no object: a problem of the rule record-object; only what is not JSON is a fault
		c.report(ruleObject, c.start.offset, "", "the record is "+c.kind()+", want an object with source, title, created, id, dimensions and reviews")
		if c.discard("") == broken {
			return broken
		}
		return c.end()
	}
	// Of a long line, an import needs the whole collection before it can store a review, so it reads the record from a copy.
	if c.temp != nil && c.forImport && c.copyRecord() == broken {
		return broken
	}
	if c.readCollection() == broken || c.end() == broken || c.keepCollection() == broken {
		return broken
	}
	c.result.record = true // only now, since the line might have proved not to be JSON
	// Reviews that were only read over are read now, with their rules.
	if c.collection.deferred.offset == 0 {
		return accepted
	}
	return c.deferredReviews()
}

// end reads the end of the line, which follows the record. Anything but white space there is a fault of the rule json, or utf-8
// if it is no UTF-8. A comma has a message of its own, and sets lineResult.element: it may show a JSON array with an element on
// each line, see array.
func (c *lineChecker) end() verdict {
	next := c.peek()
	if c.pos == len(c.buf) {
		return accepted
	}
	if next == ',' { // an element of an array on each line
		c.result.element = true
		return c.fail(c.offset(), ruleJSON, "this is not JSON: there is a comma after the record; want nothing but the record on its line")
	}
	return c.failExpecting("the end of the line")
}

// report adds a problem of the review that is read, or of the collection if none is. offset is where the wrong value begins; it
// must be in the window, or be the beginning of the record. member is the JSON pointer of the member, relative to its review or
// collection. For a rating it is "/ratings": report itself appends the index of an item, the name of a subpart, and the path into
// a refused value.
//
// An error of the collection rejects the whole line, and an error in a review rejects that review. A warning rejects nothing.
// report may move the window, so slices of it are invalid afterwards.
func (c *lineChecker) report(rule ruleID, offset int64, member, message string) {
	if rules[rule].Severity == SeverityError {
		if c.review.index < 0 {
			c.result.rejectsAll = true
		} else {
			c.review.faults++
		}
	}
	// The pointer: /reviews/<index>, the member, the index of the item, the name of the subpart, and the path into the value.
	if c.item >= 0 {
		member += "/" + strconv.FormatInt(c.item, 10)
	}
	if c.inSubpart {
		member += pointerToken(c.subpartName)
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
// dropped. Problems that were handed over before stay, so a line with that many may have some of them beside the fault.
const maxFound = 256

// handOver hands over the problems that wait. It gives them the id of the collection and, if they are in the review that is
// being read, the id of that review, as far as these were read by then.
func (c *lineChecker) handOver() {
	c.nameReview()
	for _, p := range c.found {
		p.Collection = c.shownID
		c.out.problem(p)
	}
	c.found, c.review.from = c.found[:0], 0
}

// nameReview sets the id of the review in its problems, if the id was read. The id may come after what is wrong. So the problems
// get it at the end of the review, or earlier if they are handed over before.
func (c *lineChecker) nameReview() {
	// Of the problems that wait, those from r.from on are in this review.
	r := &c.review
	if r.index < 0 || len(r.shown) == 0 || r.from == len(c.found) {
		return
	}
	id := shown(r.shown)
	for i := range c.found[r.from:] {
		c.found[r.from+i].Review = id
	}
}

// flush hands over the problems and the result of the line so far, and begins the result of the next part of the line. The new
// result has counts of its own, and the same collection.
func (c *lineChecker) flush() {
	c.handOver()
	// The id may have been read after the result was begun, so it is set now.
	got := c.result
	got.id = c.shownID
	c.result = lineResult{rejectsAll: got.rejectsAll, line: got.line, offset: got.offset}
	if got.incoming != nil {
		c.result.incoming = got.incoming.next()
	}
	c.out.result(got)
}

// flushAndWait calls flush, and waits until the result was handled, see lineResult. Then the memory that the result refers to is
// free. It returns errStopped if nobody wants the rest of the line.
func (c *lineChecker) flushAndWait() error {
	handled := make(chan struct{})
	c.result.handled = handled
	c.flush()
	select {
	case <-handled:
		return nil
	case <-c.pass.done:
		return errStopped
	}
}

// endPin unpins a value, when the caller has read it. If the value was too long for the window, endPin goes back to the beginning
// of the value and returns true; the caller then reads over the value with stepOver, which applies no rules. What the methods
// that were reading the value have set is reset: the item, the subpart, the path, the depth, and the fault that made them return.
func (c *lineChecker) endPin() (tooLong bool) {
	if !c.unpin() {
		return false
	}
	// pos is at the first byte of the value again.
	c.fault, c.depth, c.item, c.inSubpart, c.path = nil, c.outer, -1, false, c.path[:0]
	return true
}
