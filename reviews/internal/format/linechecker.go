package format

import (
	"bytes"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// lineChecker applies the rules of the format to one line after the other. jsontext decides whether a line is JSON.
// Then the lineChecker walks over the line once, from left to right, and applies each rule where it belongs.
//
// A lineChecker reuses its memory for the next line. Only one goroutine may use it.
type lineChecker struct {
	*fileOptions
	out func(Result) // gets the results in the order of the file

	// Of the line that is read.
	text   []byte
	line   int64 // its number
	offset int64 // of the line in the file
	start  int   // of the record
	pos    int   // of the next byte
	deep   bool  // the line is nested deeper than maxDepth
	intact bool  // isIntact has found the line to be valid
	path   []step
	found  []Problem
	result Result
	collectionState
	review reviewState
	ids    map[string]bool // the ids of the reviews of the collection, and whether each review was accepted

	aside      decoder // reads a part of the line that the walk may not have reached
	counted    int     // the index up to which characters were counted, see column
	characters int64
	decoded    []byte  // memory for a text with escapes
	names      nameSet // memory for the names of an object
}

// fileOptions are the options that all lineCheckers of a file share.
type fileOptions struct {
	latest    int64 // a later time is in the future
	maxLine   int   // the maximum length of a line in bytes
	forImport bool  // fill Result.Incoming with what an import stores
	// for an audit: the line has only some reviews of its collection, so parent_id may name one that is missing
	partial bool
}

// Result is the result of a line: its problems, the collection and the counts of its reviews. A blank line has
// none. A line with more than maxWaiting problems has several results: all but the last have part set, and only
// problems.
type Result struct {
	Problems             []Problem
	part                 bool
	line, column, offset int64 // where the line begins, without leading white space
	// the JSON object of the line, valid until out has returned; nil if the line is not an object
	record     []byte
	element    bool // the line is a JSON value followed by a comma, like an element of an array
	rejectsAll bool // an error of the collection rejects all of its reviews
	paired     bool // source and id were read and are valid, so pair is set
	pair       fingerprint
	reviews    int64     // accepted or not
	rejected   int64     // of these, by a rule of the review itself
	ratings    int64     // without an error
	top        uint8     // the highest of them
	Incoming   *Incoming // what an import stores; nil in a check
}

// step is a step of the path from the record to a value: a name, or an index if name is nil.
type step struct {
	name  []byte
	index int
}

const (
	maxDepth = 64 // the maximum nesting of arrays and objects, including the record itself
	// the maximum number of waiting problems of a line, or of a file that may be of another kind
	maxWaiting = 1000
	maxPointer = 2 * maxShown // a pointer of this many bytes gets no further name or index
	maxUnknown = 4096         // the number of different unknown names of an object that later names are compared with
	blanks     = " \t\r"      // the white space of a line
)

// check checks a line. offset is the offset of the line in the file, and number is its number.
func (c *lineChecker) check(text []byte, number, offset int64) {
	if len(text) > c.maxLine {
		c.out(c.tooLongResult(number, offset))
		return
	}
	c.text, c.line, c.offset, c.found = text, number, offset, nil
	c.counted, c.characters, c.deep, c.intact = 0, 0, false, false
	if c.start = len(text) - len(bytes.TrimLeft(text, blanks)); c.start == len(text) {
		return
	}
	c.pos = c.start
	c.result = Result{line: number, column: c.column(c.start), offset: offset + int64(c.start)}
	switch {
	case text[c.start] == '{' && utf8.Valid(text) &&
		jsontext.Value(text).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)):
		c.readCollection()
		if c.deep {
			c.rejectLine(c.fault())
		} else {
			c.result.record = text[c.start:c.pos]
			c.handOver()
		}
	default:
		at, rule, message := c.fault()
		if message != "" {
			c.rejectLine(at, rule, message)
			break
		}
		c.intact = true
		c.report(RuleObject, c.start,
			"the record is "+kinds[c.peek()]+", want an object with source, title, created, id, dimensions and reviews")
		c.discard()
		c.handOver()
	}
	c.out(c.result)
}

// handOver moves the waiting problems into the result.
func (c *lineChecker) handOver() {
	if len(c.found) > 0 {
		id := idOf(&c.aside, c.text[c.start:])
		for i := range c.found {
			c.found[i].Collection = id
		}
	}
	c.result.Problems, c.found = c.found, nil
}

// tooLongResult returns the result of a line that has too many bytes. Its content is not examined.
func (o *fileOptions) tooLongResult(number, offset int64) Result {
	p := Problem{Rule: RuleTooLong, Line: number, Column: 1, Offset: offset,
		Message: "the line is longer than " + strconv.Itoa(o.maxLine) +
			" bytes; allow longer ones (-max-line of vitrine reviews), or leave some of its reviews to another file"}
	return Result{Problems: []Problem{p}, line: number, column: 1, offset: offset}
}

// rejectLine sets the result of a line with a fault: one that is not JSON, not UTF-8 or nested too deep. The line does
// not count as a collection, and its reviews are not counted.
func (c *lineChecker) rejectLine(at int, rule RuleID, message string) {
	p := c.at(rule, at, message)
	p.Collection = idOf(&c.aside, c.text[c.start:at])
	c.result = Result{Problems: []Problem{p}, line: c.line, column: c.result.column, offset: c.result.offset,
		element: message == commaAfter}
}

const commaAfter = "this is not JSON: there is a comma after the record; want nothing but the record on its line"

// fault returns the first fault of the line: its index, the rule and the message. The line is valid JSON up to that
// index. message is "" if there is no fault.
func (c *lineChecker) fault() (at int, rule RuleID, message string) {
	d := c.aside.begin(c.text)
	for ended := false; !ended && message == ""; {
		_, err := d.ReadToken()
		at = int(d.InputOffset())
		switch {
		case err != nil:
			at, message = syntaxFault(c.text, err)
		case d.StackDepth() > maxDepth:
			at, rule, message = at-1, RuleDepth, "nested deeper than 64 levels"
		case d.StackDepth() == 0: // the record has ended
			rest := bytes.TrimLeft(c.text[at:], blanks)
			at = len(c.text) - len(rest)
			switch {
			case len(rest) == 0:
				ended = true
			case rest[0] == ',':
				message = commaAfter
			default:
				message = "this is not JSON: want nothing but the record on its line"
			}
		}
	}
	// An invalid byte before that index comes first.
	for i := 0; i <= at && i < len(c.text); {
		r, size := utf8.DecodeRune(c.text[i:])
		if r == utf8.RuneError && size == 1 {
			return i, RuleUTF8, "this byte is no part of a UTF-8 character; save the file as UTF-8"
		}
		i += size
	}
	return at, rule, message
}

// syntaxFault returns the index at which a line stops being JSON, and the message of the rule json, from the error of a
// decoder.
func syntaxFault(text []byte, err error) (at int, message string) {
	syntactic, ok := err.(*jsontext.SyntacticError)
	if !ok || syntactic.Err == io.ErrUnexpectedEOF || int(syntactic.ByteOffset) >= len(text) {
		// CR belongs to the end of the line
		return len(bytes.TrimSuffix(text, []byte("\r"))), "this is not JSON: the line ends before its value does"
	}
	// jsontext reports a comma that nothing follows; the fault is the bracket after it.
	at = int(syntactic.ByteOffset)
	before, after := bytes.TrimRight(text[:at], blanks), bytes.TrimLeft(text[at+1:], blanks)
	if text[at] == ',' && !bytes.ContainsAny(before[max(len(before)-1, 0):], "[{,:") && len(after) > 0 &&
		(after[0] == ']' || after[0] == '}') {
		return len(text) - len(after), "this is not JSON: a comma comes before this bracket; take the comma out"
	}
	return at, "this is not JSON: " + syntactic.Err.Error()
}

// isIntact returns whether the whole line is JSON and UTF-8, and not nested too deep.
func (c *lineChecker) isIntact() bool {
	if !c.intact && !c.deep {
		_, _, message := c.fault()
		c.intact, c.deep = message == "", message != ""
	}
	return c.intact
}

// report adds a problem with the value at c.path, or with the record or review that contains it. at is the index of the
// problem in the line. An error of the collection rejects the whole line, and an error in a review rejects that review.
// A warning rejects nothing.
func (c *lineChecker) report(rule RuleID, at int, message string) {
	if rule.Rejects() {
		if c.review.reads {
			c.review.faults++
		} else {
			c.result.rejectsAll = true
		}
	}
	c.found = append(c.found, c.problem(rule, at, message))
	if len(c.found) < maxWaiting {
		return
	}
	if c.isIntact() { // otherwise this is not reported: the line has one problem, its fault
		c.handOver()
		c.out(Result{Problems: c.result.Problems, part: true})
	}
	c.result.Problems, c.found = nil, nil
}

// problem returns the problem that report adds, without the id of the collection.
func (c *lineChecker) problem(rule RuleID, at int, message string) Problem {
	var pointer []byte
	for _, s := range c.path {
		switch {
		case len(pointer) >= maxPointer: // the pointer of an enclosing value is shown
		case s.name != nil:
			pointer = append(pointer, pointerToken(s.name)...)
		default:
			pointer = strconv.AppendInt(append(pointer, '/'), int64(s.index), 10)
		}
	}
	p := c.at(rule, at, message)
	p.Pointer, p.Value = string(pointer), c.wrong(rule, at)
	if c.review.reads {
		if !c.review.named {
			c.review.named, c.review.shown = true, idOf(&c.aside, c.text[c.review.start:])
		}
		p.Review = c.review.shown
	}
	return p
}

// at returns a problem at an index of the line.
func (c *lineChecker) at(rule RuleID, at int, message string) Problem {
	return Problem{Rule: rule, Line: c.line, Column: c.column(at), Offset: c.offset + int64(at), Message: message}
}

// column returns the column of an index of the line. Columns count characters (code points) from 1, as most editors do.
// Counting continues from the index of the previous call, forwards or backwards.
func (c *lineChecker) column(at int) int64 {
	if c.counted <= at {
		c.characters += int64(utf8.RuneCount(c.text[c.counted:at]))
	} else {
		c.characters -= int64(utf8.RuneCount(c.text[at:c.counted]))
	}
	c.counted = at
	return c.characters + 1
}

// kinds are the names of JSON types in messages, by the result of peek.
var kinds = map[byte]string{'"': "a string", '{': "an object", '[': "an array", 't': "a boolean", 'f': "a boolean",
	'n': "null", '0': "a number"}

// next advances to the next value, name or closing bracket, and returns its index.
func (c *lineChecker) next() int {
	for c.text[c.pos] <= ' ' || c.text[c.pos] == ',' || c.text[c.pos] == ':' {
		c.pos++
	}
	return c.pos
}

// peek returns the first byte of the next value or bracket; 0 for any number.
func (c *lineChecker) peek() byte {
	first := c.text[c.next()]
	if first == '-' || '0' <= first && first <= '9' {
		return '0'
	}
	return first
}

// value reads the next value or name, and returns it with its index.
func (c *lineChecker) value() (raw []byte, at int) {
	at = c.next()
	raw = firstValue(c.text[at:])
	c.pos += len(raw)
	return raw, at
}

// more returns whether the current array or object has another element or member. If not, it reads the closing bracket.
func (c *lineChecker) more() bool {
	first := c.peek()
	if first == ']' || first == '}' {
		c.pos++
		return false
	}
	return true
}

// items reads an array. It calls item for each element, which must read the element. It returns the number of elements.
func (c *lineChecker) items(item func(*lineChecker)) (n int) {
	c.next()
	for c.pos++; c.more(); n++ {
		c.path = append(c.path, step{index: n})
		item(c)
		c.path = c.path[:len(c.path)-1]
	}
	return n
}

// object reads an object with members of these names. It calls value for each of them, which must read the value. seen
// has a bit for each member that the object has. An unknown member (member-unknown) or a repeated one (member-repeated)
// is reported, and its value is discarded. A member counts as seen even if its value has a fault. If names is nil, any
// name is allowed, and value is called with -1. most is the number of other names that later ones are compared with.
func (c *lineChecker) object(names []string, most int, value func(c *lineChecker, i int)) (seen uint) {
	others := c.names // objects inside this one have sets of their own
	c.names = nameSet{}
	c.next()
	for c.pos++; c.more(); c.path = c.path[:len(c.path)-1] {
		raw, at := c.value()
		name := c.unquoteKept(raw)
		c.path = append(c.path, step{name: name})
		i := 0
		for i < len(names) && names[i] != string(name) {
			i++
		}
		if i < len(names) {
			if seen&(1<<i) == 0 {
				seen |= 1 << i
				value(c, i)
			} else {
				c.report(RuleRepeated, at, repeatedMember)
				c.discard()
			}
			continue
		}
		if names != nil {
			c.report(RuleUnknown, at, unknownMessage(name))
		}
		c.flaws(raw, at)
		if !others.add(name, most) {
			c.report(RuleRepeated, at, repeatedMember)
		}
		if names != nil {
			c.discard()
		} else {
			value(c, -1)
		}
	}
	c.names = nameSet{few: others.few[:0]}
	return seen
}

const repeatedMember = "this member was given before; keep one of the two"

// missing reports each required member that an object does not have (member-missing), at the object.
func (c *lineChecker) missing(required []string, seen uint, start int) {
	for i, name := range required {
		if seen&(1<<i) == 0 {
			c.report(RuleMissing, start, name+" is missing; want a member such as "+missingExamples[name])
		}
	}
}

// expect returns true, and reads nothing, if the next value is of this kind. Otherwise it reports the value with the
// rule value-type and discards it. want is the name of the kind in the message.
func (c *lineChecker) expect(kind byte, want string) bool {
	got := c.peek()
	if got == kind {
		return true
	}
	c.report(RuleType, c.next(), "this is "+kinds[got]+", want "+want)
	c.discard()
	return false
}

// discard reads a value whose member is unknown or repeated, or whose type is wrong. The caller has reported that, and
// the format has no rules for what is inside. discard reports only what no value may contain: a repeated name
// (member-repeated), U+0000 (text-nul), and half of a surrogate pair (text-surrogate).
//
// For example, the member "colour":{"a":1,"a":2} of the first review is unknown: that is a problem at
// /reviews/0/colour, and the second "a" is one of member-repeated at /reviews/0/colour/a.
func (c *lineChecker) discard() {
	switch kind := c.peek(); {
	case (kind == '[' || kind == '{') && len(c.path) >= maxDepth:
		c.deep = true
		c.value()
	case kind == '[':
		c.items((*lineChecker).discard)
	case kind == '{':
		c.object(nil, maxUnknown, func(c *lineChecker, _ int) { c.discard() })
	case kind == '"':
		raw, at := c.value()
		c.flaws(raw, at)
	default:
		c.value()
	}
}

// nameSet is a set of names: of unknown members, of subparts, or of dimensions. Up to fewNames names are a list, which
// needs less memory and time than a map. The zero nameSet is empty.
type nameSet struct {
	few  [][]byte
	many map[string]struct{}
}

const fewNames = 16

// add adds a name to the set and returns whether it is new. A set of most names is full: add then only returns whether
// the name is missing. The set keeps the bytes of the name.
func (n *nameSet) add(name []byte, most int) bool {
	for _, other := range n.few {
		if bytes.Equal(other, name) {
			return false
		}
	}
	if len(n.few) < fewNames {
		n.few = append(n.few, name)
		return true
	}
	if _, had := n.many[string(name)]; had {
		return false
	}
	if n.many == nil {
		n.many = map[string]struct{}{}
	}
	if len(n.few)+len(n.many) < most {
		n.many[string(name)] = struct{}{}
	}
	return true
}
