package reviews

import (
	"bytes"
	"hash/maphash"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// lineChecker applies the rules of the format to one line after the other. jsontext says whether a line is JSON. Then a cursor walks over
// it once, and each rule is applied as soon as the walk has come to what it is about. Only reviews that stand before the dimensions are
// left out at first, and walked over at the end.
//
// Problems wait in found until the end of the line, or until there are maxWaiting of them. A lineChecker keeps its memory from line to
// line. It is used by one goroutine.
type lineChecker struct {
	cursor
	*fileOptions
	out receiver

	// Of the line that is read.
	line   int64 // its number
	offset int64 // of the line in the file
	start  int   // of the record
	deep   bool  // it is nested deeper than maxDepth
	sure   bool  // it was found that it is not
	found  []Problem
	result lineResult
	collectionState
	review reviewState

	// Of the member that is read. report makes the pointer of a problem from these.
	item    int    // index of the item of an array; -1 outside of one
	subpart []byte // the name of a subpart; nil outside of one
	path    []byte // while a refused value is read: the pointer from the member into that value

	ids   map[string]bool // of the reviews of the collection, and whether each was accepted
	names nameSet         // of dimensions or subparts

	input   bytes.Buffer // of decoder, which fault uses
	decoder jsontext.Decoder
}

// fileOptions is what all lineCheckers of a file have in common.
type fileOptions struct {
	seeds     [2]maphash.Seed // of fingerprints
	horizon   horizon
	maxLine   int  // bytes of a line at most
	forImport bool // fill lineResult.incoming with what is accepted, for an import to store
	partial   bool // for an auditor: the line has only some reviews of its collection, so parent_id may name one that it lacks
}

// fingerprint stands for a text, or a pair of texts, of any length. The seeds differ at each run, so nobody can write a file with two
// texts of the same fingerprint.
type fingerprint [2]uint64

func newSeeds() [2]maphash.Seed { return [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()} }

func fingerprintOf(seeds [2]maphash.Seed, texts ...string) (f fingerprint) {
	for i, seed := range seeds {
		var h maphash.Hash
		h.SetSeed(seed)
		for _, text := range texts {
			h.WriteString(strconv.Itoa(len(text)) + " ")
			h.WriteString(text)
		}
		f[i] = h.Sum64()
	}
	return f
}

// receiver gets the problems and the results of lines, in the order of the file: first the problems of a line, and then its result.
type receiver interface {
	problem(Problem)
	result(lineResult)
}

// lineResult is what was found in a line: the collection and the counts of its reviews. A blank line gives none.
type lineResult struct {
	record     bool // the line is a record: a JSON object and nothing else, whatever its members are
	element    bool // the line is a JSON value and a comma, like an element of an array; so it is no record
	rejectsAll bool // an error of the collection rejects all of its reviews
	paired     bool // source and id were read and are valid, so pair is set
	pair       fingerprint
	line       int64
	offset     int64 // of the record
	column     int64
	head       []byte    // the beginning of the record, valid until receiver.result has returned
	id         string    // of the collection, as a problem shows it
	reviews    int64     // accepted or not
	rejected   int64     // of these, by a rule of the review itself
	ratings    int64     // without an error
	top        uint8     // the highest of them
	incoming   *incoming // what an import is to store; nil for a check
}

// maxDepth is how deep the arrays and objects of a record may be nested, the record itself included.
const maxDepth = 64

func newLineChecker(o *fileOptions, out receiver) *lineChecker {
	return &lineChecker{fileOptions: o, out: out, ids: map[string]bool{}}
}

// check checks a line. offset is that of the line in the file, number is its number.
func (c *lineChecker) check(text []byte, number, offset int64) {
	if len(text) > c.maxLine {
		c.tooLong(number, offset)
		return
	}
	blank := len(text) - len(bytes.TrimLeft(text, " \t\r"))
	if blank == len(text) {
		return
	}
	c.cursor = cursor{text: text, pos: blank, decoded: c.decoded}
	c.line, c.offset, c.start, c.deep, c.sure, c.found = number, offset, c.pos, false, false, c.found[:0]
	c.collectionState, c.review.index = collectionState{dims: -1}, -1
	c.item, c.subpart, c.path = -1, nil, c.path[:0]
	c.result = lineResult{line: number, offset: offset + int64(c.pos), column: c.column(c.pos), head: c.head(c.pos)}
	if len(c.ids) > 1000 {
		c.ids = map[string]bool{}
	}
	clear(c.ids)
	if c.peek() == '{' && utf8.Valid(text) && jsontext.Value(text).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) {
		c.result.record = true
		c.readCollection()
		if c.deep {
			c.refuse(c.fault())
		}
	} else if at, rule, message, id := c.fault(); message != "" {
		c.refuse(at, rule, message, id)
	} else {
		c.report(ruleObject, c.pos, "", "the record is "+c.kind()+", want an object with source, title, created, id, dimensions and reviews")
		c.discard("", 1)
	}
	c.handOver()
	c.out.result(c.result)
}

// tooLong reports a line that has too many bytes. Nothing of it is looked at.
func (c *lineChecker) tooLong(number, offset int64) {
	p := ruleTooLong.problem(number, offset, "", "the line is longer than "+strconv.Itoa(c.maxLine)+" bytes; leave some of its reviews to another file")
	p.Column = 1
	c.out.problem(p)
	c.out.result(lineResult{line: number, offset: offset, column: 1})
}

// refuse puts the problem that a line is not JSON, not UTF-8 or nested too deep in the place of all that was found in it. The line is not
// counted as a collection, and its reviews are not counted.
func (c *lineChecker) refuse(at int, rule ruleID, message, id string) {
	c.result = lineResult{line: c.line, offset: c.result.offset, column: c.result.column}
	c.found = c.found[:0]
	c.result.element = rule == ruleJSON && message == commaAfter
	p := rule.problem(c.line, c.offset+int64(at), "", message)
	p.Column, p.Collection = c.column(at), id
	c.found = append(c.found, p)
}

const (
	notUTF8    = "this byte is no part of a UTF-8 character"
	commaAfter = "this is not JSON: there is a comma after the record; want nothing but the record on its line"
)

// fault returns the first fault of the line, in front of which it is JSON: where it is, the rule, the message, and the id of the collection
// if it was read before. The message is "" if there is no fault.
func (c *lineChecker) fault() (at int, rule ruleID, message, id string) {
	text, d := c.text, &c.decoder
	c.input = *bytes.NewBuffer(text)
	d.Reset(&c.input, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	name, known := "", false // of a member of the record; its id was read
	ended := false
	for !ended && rule == 0 && message == "" {
		token, err := d.ReadToken()
		at = int(d.InputOffset())
		switch {
		case err != nil:
			at, message = faultOf(text, err)
		case d.StackDepth() > maxDepth:
			at, rule, message = at-1, ruleDepth, "nested deeper than 64 levels"
		case d.StackDepth() == 0: // the record has ended
			at += len(text[at:]) - len(bytes.TrimLeft(text[at:], " \t\r"))
			switch {
			case at == len(text):
				ended = true
			case text[at] == ',':
				message = commaAfter
			default:
				message = misplaced(text[at], "the end of the line")
			}
		case d.StackDepth() == 1 && token.Kind() == '"':
			if _, n := d.StackIndex(1); n%2 == 1 {
				name = token.String()
			} else if name == "id" && !known {
				id, known = shown([]byte(token.String())), true
			}
		}
	}
	// A byte that is not UTF-8 comes first if it stands in front of that.
	for i := 0; i <= at && i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 {
			return i, ruleUTF8, notUTF8, id
		}
		i += size
	}
	return at, rule, message, id
}

// faultOf returns where a line is not JSON, and the message of the rule json, from the error of jsontext.
func faultOf(text []byte, err error) (at int, message string) {
	syntactic, ok := err.(*jsontext.SyntacticError)
	if !ok || syntactic.Err == io.ErrUnexpectedEOF || int(syntactic.ByteOffset) >= len(text) {
		at = len(text)
		if bytes.HasSuffix(text, []byte("\r")) { // it belongs to the end of the line
			at--
		}
		return at, "this is not JSON: the line ends before its value does"
	}
	at = int(syntactic.ByteOffset)
	// jsontext finds fault with a comma that nothing follows; what is wrong is the bracket after it.
	before, after := bytes.TrimRight(text[:at], " \t\r"), bytes.TrimLeft(text[at+1:], " \t\r")
	if text[at] == ',' && len(before) > 0 && !bytes.ContainsAny(before[len(before)-1:], "[{,:") && len(after) > 0 {
		switch at = len(text) - len(after); after[0] {
		case ']':
			return at, misplaced(']', "a value")
		case '}':
			return at, misplaced('}', "a member name in quotes")
		}
	}
	if len(before) == 0 {
		return at, misplaced(text[at], "a value")
	}
	why := syntactic.Err.Error()
	for _, place := range [...]struct{ where, want string }{
		{"at start of value", "a value"}, {"object name (expecting ':')", "a colon"}, {"after array element", "a comma or ]"},
		{"after object value", "a comma or }"}, {"at start of string", "a member name in quotes"}, {"name", "a member name in quotes"},
		{"in number", "a digit"}, {"in literal", "true, false or null"},
	} {
		if strings.Contains(why, place.where) {
			return at, misplaced(text[at], place.want)
		}
	}
	switch {
	case strings.Contains(why, "escape"):
		return at, "this is not JSON: no such escape in a string"
	case text[at] < ' ':
		return at, "this is not JSON: " + byteName(text[at]) + " in a string, where an escape belongs"
	}
	return at, "this is not JSON: " + byteName(text[at]) + " does not belong here"
}

// misplaced returns the message for a byte where something else is expected.
func misplaced(c byte, want string) string {
	return "this is not JSON: " + byteName(c) + " where " + want + " belongs"
}

// byteName names a byte in a message: by its character, or in hexadecimal if it is not a visible one.
func byteName(c byte) string {
	if c > ' ' && c < 0x7f {
		return string(rune(c))
	}
	return "byte 0x" + strings.ToUpper(strconv.FormatUint(uint64(c)|0x100, 16)[1:])
}

// report adds a problem of the review that is read, or of the collection if none is. at is where the wrong value begins in the line. member
// is the JSON pointer of the member, relative to its review or collection. For a rating it is "/ratings": report itself appends the index
// of an item, the name of a subpart, and the path into a refused value.
//
// An error of the collection rejects the whole line, and an error in a review rejects that review. A warning rejects nothing.
func (c *lineChecker) report(rule ruleID, at int, member, message string) {
	if rules[rule].Severity == SeverityError {
		if c.review.index < 0 {
			c.result.rejectsAll = true
		} else {
			c.review.faults++
		}
	}
	if c.item >= 0 {
		member += "/" + strconv.Itoa(c.item)
	}
	if c.subpart != nil {
		member += pointerToken(c.subpart)
	}
	member += string(c.path)
	if c.review.index >= 0 {
		member = "/reviews/" + strconv.Itoa(c.review.index) + member
	}
	p := rule.problem(c.line, c.offset+int64(at), member, message)
	p.Column, p.Value = c.column(at), rule.wrong(c.head(at))
	if c.review.index >= 0 {
		if !c.review.named {
			c.review.named, c.review.shown = true, c.idAt(c.review.start)
		}
		p.Review = c.review.shown
	}
	c.found = append(c.found, p)
	if len(c.found) < maxWaiting {
		return
	}
	if !c.sure { // a line that is nested too deep has no other problem
		c.sure = true
		_, rule, _, _ := c.fault()
		c.deep = c.deep || rule == ruleDepth
	}
	if !c.deep {
		c.handOver()
	}
	c.found = c.found[:0]
}

// handOver hands over the problems that wait, with the id of the collection.
func (c *lineChecker) handOver() {
	if c.result.id == "" && c.result.record && (len(c.found) > 0 || c.result.paired) {
		c.result.id = c.idAt(c.start)
	}
	for _, p := range c.found {
		if c.result.id != "" {
			p.Collection = c.result.id
		}
		c.out.problem(p)
	}
}

// head returns the line from a place on, maxHead bytes at most.
func (c *lineChecker) head(at int) []byte { return c.text[at:min(at+maxHead, len(c.text))] }

// idAt returns the id of the object at a place, as a problem shows it: that of its first member id, "" if that is no string.
func (c *lineChecker) idAt(at int) string {
	if c.text[at] != '{' {
		return ""
	}
	walk := cursor{text: c.text, pos: at + 1}
	for walk.more() {
		name := string(walk.unquote(walk.value()))
		walk.colon()
		if raw := walk.value(); name == "id" {
			if raw[0] != '"' {
				return ""
			}
			return shown(walk.unquote(raw))
		}
	}
	return ""
}

// expect returns true, and reads nothing, if the value begins with first, as every value of the wanted kind does. It reports
// any other value with the rule value-type, and discards it. want names the kind in the message.
func (c *lineChecker) expect(first byte, member, want string) bool {
	if c.peek() == first {
		return true
	}
	c.report(ruleType, c.pos, member, "this is "+c.kind()+", want "+want)
	c.discard(member, 0)
	return false
}

// kind names the JSON type of the value that is next, for a message.
func (c *lineChecker) kind() string {
	switch c.peek() {
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

// object walks over an object with the members of these names, and calls value at the value of each, to read it. seen has a bit for each
// member that the object has. An unknown member (member-unknown) or a repeated one (member-repeated) is reported, and its value is
// discarded. A member counts as seen also if its value has a fault.
func (c *lineChecker) object(names []string, value func(c *lineChecker, i int)) (seen uint) {
	var unknown nameSet
	c.pos++
	for c.more() {
		at := c.pos
		name := c.unquote(c.value())
		i := 0
		for i < len(names) && names[i] != string(name) {
			i++
		}
		switch {
		case i == len(names):
			c.report(ruleUnknown, at, pointerToken(name), unknownMessage(name))
			c.discardMember(at, name, &unknown, "", 0)
		case seen&(1<<i) != 0:
			c.report(ruleRepeated, at, "/"+names[i], repeatedMember)
			c.colon()
			c.discard("/"+names[i], 0)
		default:
			seen |= 1 << i
			c.colon()
			value(c, i)
		}
	}
	return seen
}

// missing reports the required members that an object does not have (member-missing), one problem for each, at the object.
func (c *lineChecker) missing(required []string, seen uint, start int) {
	for i, name := range required {
		if seen&(1<<i) == 0 {
			c.report(ruleMissing, start, "", missingMessages[name])
		}
	}
}

// discard reads a value that is refused, because its member is unknown or repeated, or because it has the wrong type. The caller
// has reported that, and the rules of the format say nothing about what is inside. discard reports only what no value may
// contain: a repeated name (member-repeated), U+0000 (text-nul), half of a surrogate pair (text-surrogate). member is the pointer
// of the value; c.path is the way from there to the value inside it that is read. depth is how deep that is; 0 for a value whose depth
// the caller does not know, as it is one of the record.
//
// For example, the member "colour":{"a":1,"a":2} of the first review is unknown: that is a problem at /reviews/0/colour, and the
// second "a" is one of member-repeated at /reviews/0/colour/a.
func (c *lineChecker) discard(member string, depth int) {
	if depth == 0 {
		depth = 2 + c.nested()
	}
	above := len(c.path)
	switch first := c.peek(); {
	case first == '"':
		at := c.pos
		c.flaws(c.value(), at, member)
	case first != '{' && first != '[':
		c.value()
	case depth > maxDepth:
		c.deep = true
		c.value()
	case first == '[':
		c.pos++
		for n := 0; c.more(); n++ {
			if above < maxPath {
				c.path = strconv.AppendInt(append(c.path, '/'), int64(n), 10)
			}
			c.discard(member, depth+1)
			c.path = c.path[:above]
		}
	default:
		var names nameSet
		c.pos++
		for c.more() {
			at := c.pos
			c.discardMember(at, c.unquote(c.value()), &names, member, depth+1)
		}
	}
}

// nested returns how many arrays and objects are open inside of the record where a member of the format is read.
func (c *lineChecker) nested() (n int) {
	if c.review.index >= 0 {
		n = 2
	}
	if c.item >= 0 || c.subpart != nil {
		n++
	}
	return n
}

// discardMember discards the value of a member whose name was just read, and reports a name that the object had before. member is the
// pointer of the value that is refused as a whole; "" for an unknown member of a review or a collection, whose own name is the
// first token of c.path then.
func (c *lineChecker) discardMember(at int, name []byte, names *nameSet, member string, depth int) {
	name = bytes.Clone(name)
	// While the member is read, c.path has its name. Beyond maxPath it keeps the path of a value around it.
	above, end := len(c.path), c.pos
	isNew := names.add(name, maxUnknown)
	if above < maxPath {
		c.path = append(c.path, pointerToken(name)...)
	}
	c.flaws(c.text[at:end], at, member)
	if !isNew {
		c.report(ruleRepeated, at, member, repeatedMember)
	}
	c.colon()
	c.discard(member, depth)
	c.path = c.path[:above]
}

// maxPath is about how many bytes a pointer goes into a discarded value, so that problems stay small: c.path gets no further
// token when it has that many. Problems deeper inside have the pointer of a value around them.
const maxPath = 2 * maxShown

// maxUnknown is how many different unknown names of an object are compared with further ones.
const maxUnknown = 4096

// nameSet is a set of names: of unknown members, of subparts, or of dimensions. Up to fewNames of them are in a list, which needs less
// memory and time than a map. The zero nameSet is empty.
type nameSet struct {
	few  [][]byte
	many map[string]struct{}
}

const fewNames = 16

// add puts a name into the set and returns whether it is new. A set that has most names takes no more: it then tells only
// whether the name is one of these. The set keeps the bytes of the name.
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

// clear empties the set.
func (n *nameSet) clear() { n.few, n.many = n.few[:0], nil }
