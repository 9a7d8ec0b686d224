package reviews

import "strconv"

// checker holds the rules of the format and applies them to one line after the other. It is used by
// one goroutine.
type checker struct {
	tokens
	hash  *hasher
	out   findings
	load  bool         // keep what is accepted, for an import
	limit int          // bytes of JSON that are stored of a review, or of a collection without its reviews
	spool *spool       // where the reviews of a long line may wait; nil: the line is all in memory
	watch func() error // called while a long line is read; an error ends it

	line   int64  // number of the line
	start  int64  // offset of its record
	review int64  // index of the review that is read; -1 outside
	item   int64  // index of the item of an array that is read; -1 outside
	key    []byte // name of the subpart that is read, if inKey
	inKey  bool
	path   []byte    // pointer from there into a value that is discarded
	faults int64     // errors in this review so far
	found  []Problem // in this line, not handed over yet
	got    batch     // what the line gave since the last flush

	source  known // of the collection
	id      known // of the collection
	own     known // id of the review
	ownText string
	dims    int64  // number of dimensions; -1: unknown
	dimsAt  int64  // offset of dimensions; -1: absent
	named   bool   // some dimension is not called default
	waiting bool   // reviews came before dimensions and are read afterwards
	held    int64  // offset of reviews that wait
	size    int64  // bytes of the members of the collection but its reviews
	fields  []byte // these, for an import
	ratings []byte // of the review, for an import

	ofCollection, ofReview members

	ids     set       // of the collection's reviews; accepted ones are marked
	names   nameSet   // of dimensions or subparts
	unknown []nameSet // by depth: names of an open object that are not known
	html    markup
}

// maxFound is how many problems of a line wait for its end: a line that turns out to be no JSON has
// that problem and no others, unless it has very many.
const maxFound = 256

func (c *checker) handOver() {
	for _, p := range c.found {
		c.out.problem(p)
	}
	c.found = c.found[:0]
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
	refused  bool // an error of the collection rejects all of its reviews
	paired   bool // source and id are known: pair
	pair     fingerprint
	line     int64
	offset   int64 // of the record
	reviews  int64
	rejected int64
	incoming *incoming // what an import is to store
}

// report adds a problem of a member, given by its pointer from the review or the collection.
func (c *checker) report(rule ruleID, offset int64, member, message string) {
	if rules[rule].Severity == Error {
		if c.review < 0 {
			c.got.refused = true
		} else {
			c.faults++
		}
	}
	if c.item >= 0 {
		member += "/" + strconv.FormatInt(c.item, 10)
	}
	if c.inKey {
		member += pointerToken(c.key)
	}
	member += string(c.path)
	if c.review >= 0 {
		member = "/reviews/" + strconv.FormatInt(c.review, 10) + member
	}
	c.found = append(c.found, rule.problem(c.line, offset, member, message))
	if len(c.found) == maxFound {
		c.handOver()
	}
}

func (r ruleID) problem(line, offset int64, pointer, message string) Problem {
	return Problem{line, offset, pointer, rules[r].ID, rules[r].Severity, message}
}

// read checks the line that tokens is set to. Where err is set afterwards it could not.
func (c *checker) read(line int64) {
	if c.next(); c.pos == len(c.buf) {
		return // blank
	}
	c.line, c.start = line, c.offset()
	c.review, c.item, c.inKey, c.path = -1, -1, false, c.path[:0]
	c.depth, c.fault = 0, nil
	c.source, c.id = known{}, known{}
	c.dims, c.dimsAt, c.waiting = -1, -1, false
	c.ids.clear()
	c.fields, c.size = c.fields[:0], 0
	c.got = batch{first: true, line: line, offset: c.start}
	if c.load {
		c.got.incoming = &incoming{}
	}
	if !c.record() {
		if c.err != nil {
			return
		}
		c.got = batch{first: true, line: line, offset: c.start}
		c.found = append(c.found[:0], c.fault.rule.problem(line, c.fault.offset, "", c.fault.message))
	}
	c.flush()
}

// flush hands over what the line gave so far.
func (c *checker) flush() {
	c.handOver()
	got := c.got
	c.got = batch{refused: got.refused, line: got.line, offset: got.offset}
	if got.incoming != nil {
		c.got.incoming = got.incoming.next()
	}
	c.out.batch(got)
}

// record reads the one value of the line; false is a fault.
func (c *checker) record() bool {
	if c.next() != '{' {
		c.report(ruleObject, c.start, "", "the record is "+c.kind()+", want an object")
		return c.discard("") && c.end()
	}
	if !c.collection() || !c.end() {
		return false
	}
	c.got.record = true
	if !c.waiting {
		return true
	}
	return c.readWaiting()
}

// end makes sure that the line is over.
func (c *checker) end() bool {
	if c.next(); c.pos < len(c.buf) {
		return c.unexpected("the end of the line")
	}
	return true
}

// is says whether the value begins with first, as a value of the wanted kind does; another value is
// reported and discarded.
func (c *checker) is(first byte, member, want string) (yes, ok bool) {
	if c.next() == first {
		return true, true
	}
	c.report(ruleType, c.offset(), member, "this is "+c.kind()+", want "+want)
	return false, c.discard(member)
}

// kind names the kind of the value that is next.
func (c *checker) kind() string {
	switch c.next() {
	case '"':
		return "a string"
	case '{':
		return "an object"
	case '[':
		return "an array"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}
