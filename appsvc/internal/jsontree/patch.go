package jsontree

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/jsonpointer"
	"github.com/vitrine-go/vitrine/internal/strictjson"
)

// testFailed returns the error of a test that fails.
func testFailed(reason string) error {
	return fault.Conflict(vitrine.CodeTestFailed, vitrine.Version{}, "%s", reason)
}

// Op is one operation of a patch. Path and From are JSON pointers (RFC 6901); From is that of a move or a copy. Value
// is JSON, and nil if the operation has none.
type Op struct {
	Op, Path, From string
	Value          []byte
}

// Append appends the JSON of the operation.
func (op Op) Append(dst []byte) []byte {
	dst = append(append(dst, `{"op":"`...), op.Op...)
	if needs[op.Op] == "from" {
		dst = appendString(append(dst, `","from":`...), op.From)
		dst = append(dst, `,"path":`...)
	} else {
		dst = append(dst, `","path":`...)
	}
	dst = appendString(dst, op.Path)
	if op.Value != nil {
		dst = append(append(dst, `,"value":`...), op.Value...)
	}
	return append(dst, '}')
}

// Size returns the bytes of the JSON of the operations, with a comma behind each.
func Size(ops ...Op) int {
	n := 0
	for _, op := range ops {
		n += len(op.Append(nil)) + 1
	}
	return n
}

// appendString appends a JSON string.
func appendString(dst []byte, s string) []byte {
	dst, _ = jsontext.AppendQuote(dst, s) // bad UTF-8, which strict JSON does not have, would become U+FFFD
	return dst
}

// needs is the member that an operation needs besides its path.
var needs = map[string]string{"add": "value", "replace": "value", "test": "value", "remove": "", "move": "from",
	"copy": "from"}

// wireOp is an operation as it is sent. Missing members are nil.
type wireOp struct {
	Op    string          `json:"op"`
	Path  *string         `json:"path"`
	From  *string         `json:"from"`
	Value json.RawMessage `json:"value"`
}

// Decode reads a patch of at most maxOps operations as strict JSON. Every operation must have the members that its kind
// needs and none that RFC 6902 does not define. It returns vitrine.ErrInvalid for anything else, with a pointer into
// the patch, and vitrine.ErrTooLarge beyond maxOps.
func Decode(data []byte, maxOps int) ([]Op, error) {
	var wire []wireOp
	if err := strictjson.Decode(data, &wire); err != nil {
		return nil, fault.Malformed(err)
	}
	if len(wire) > maxOps {
		return nil, fault.TooLarge("the patch has %d operations, at most %d", len(wire), maxOps)
	}
	ops := make([]Op, len(wire))
	for i, w := range wire {
		wrong := func(member, format string, args ...any) error {
			return fault.Invalid(fmt.Sprintf("/%d/%s", i, member), format, args...)
		}
		need, known := needs[w.Op]
		switch {
		case !known:
			return nil, wrong("op", "unknown operation %q: want add, remove, replace, move, copy or test", w.Op)
		case w.Path == nil:
			return nil, wrong("path", "missing")
		case !jsonpointer.Valid(*w.Path):
			return nil, wrong("path", "%q is no JSON pointer", *w.Path)
		case need == "value" && w.Value == nil, need == "from" && w.From == nil:
			return nil, wrong(need, "missing: %s needs one", w.Op)
		case need == "from" && !jsonpointer.Valid(*w.From):
			return nil, wrong("from", "%q is no JSON pointer", *w.From)
		}
		if ops[i] = (Op{Op: w.Op, Path: *w.Path, Value: w.Value}); need == "from" {
			ops[i].From = *w.From
		}
	}
	return ops, nil
}

// Limits limit the work of Patch.
type Limits struct {
	Copies int // bytes of all values that are copied
	Work   int // sum over all operations of the members or items of the largest object or list on its path
}

// Patch applies the operations in order. It returns vitrine.ErrUnprocessable if one does not apply, vitrine.ErrConflict
// if a test fails, and vitrine.ErrTooLarge beyond the limits, each with a pointer to the operation; n is undefined
// then. Where the RFC leaves a choice, test compares numbers by value, an array index must be canonical ("-1", "01" and
// "+1" are not), and no value is moved into itself.
func (n *Node) Patch(ops []Op, limits Limits) error {
	p := patching{root: n, left: limits}
	for i, op := range ops {
		if op.Op == "" { // nothing to do
			continue
		}
		p.steps = 0
		err := p.do(op)
		if p.left.Work -= p.steps; err == nil && p.left.Work < 0 {
			err = fault.TooLarge("this operation and those before it take too much work on such long lists or objects")
		}
		if e, ok := errors.AsType[*vitrine.Error](err); ok {
			e.Pointer, e.Reason = "/"+strconv.Itoa(i), fmt.Sprintf("%s of %q: %s", op.Op, op.Path, e.Reason)
			return e
		}
	}
	return nil
}

// Has reports whether there is a value at a pointer.
func (n *Node) Has(pointer string) bool {
	if !jsonpointer.Valid(pointer) {
		return false
	}
	_, err := (&patching{root: n}).find(pointer)
	return err == nil
}

// patching is one application of a patch.
type patching struct {
	root  *Node
	left  Limits
	steps int // of the operation that is under way
}

// do applies one operation.
func (p *patching) do(op Op) error {
	switch op.Op {
	case "test":
		have, err := p.find(op.Path)
		if err != nil && !strings.HasPrefix(err.Error(), badIndex) {
			return testFailed(err.Error()) // a missing value equals nothing
		}
		if err != nil {
			return err
		}
		if want := New(op.Value); !Equal(have, &want, SameNumber) {
			return testFailed("the value there is another one")
		}
		return nil
	case "add":
		return p.add(op.Path, New(op.Value))
	case "replace":
		at, err := p.find(op.Path)
		if err == nil {
			*at = New(op.Value)
		}
		return err
	case "remove":
		_, err := p.remove(op.Path)
		return err
	}
	from, err := p.find(op.From)
	switch {
	case err != nil || op.Op == "move" && op.From == op.Path:
		return err
	case op.Op == "move" && strings.HasPrefix(op.Path, op.From+"/"): // RFC 6902, section 4.4
		return fault.NotApplicable("", "%q cannot be moved into itself", op.From)
	case op.Op == "move":
		value, err := p.remove(op.From)
		if err != nil {
			return err
		}
		return p.add(op.Path, value)
	}
	value := New(from.Bytes())
	if p.left.Copies -= len(value.text); p.left.Copies < 0 {
		return fault.TooLarge("the copies of values come to more bytes than a document may have")
	}
	return p.add(op.Path, value)
}

// badIndex begins the reason of an error about an array index that is not canonical.
const badIndex = "array indices are written in decimal digits without leading zeros"

// find returns the value at a pointer. It parses all values on the path.
func (p *patching) find(pointer string) (*Node, error) {
	at := p.root
	for _, token := range strings.Split(pointer, "/")[1:] {
		i, err := p.child(at, jsonpointer.Unescape(token), pointer)
		if err != nil {
			return nil, err
		}
		at = &at.list.items[i]
	}
	return at, nil
}

// child returns the index, in a node, of the value that a token of a pointer names. It returns an error if there is no
// such value.
func (p *patching) child(at *Node, token, pointer string) (i int, err error) {
	l := at.parse()
	p.steps = max(p.steps, len(l.items))
	if at.Kind() == '[' {
		i = jsonpointer.Index(token)
	} else {
		i = l.index(token)
	}
	switch {
	case at.Kind() == '[' && i < 0 && isOddIndex(token):
		return 0, fault.NotApplicable("", "%s: at %q of %q", badIndex, token, pointer)
	case i < 0 || i >= len(l.items):
		return 0, fault.NotApplicable("", "there is no such place: at %q of %q", token, pointer)
	}
	return i, nil
}

// isOddIndex reports whether a token that is no index is a number with a sign or leading zeros.
func isOddIndex(token string) bool {
	digits := strings.TrimLeft(token, "+-")
	return len(token)-len(digits) <= 1 && digits != "" && strings.Trim(digits, "0123456789") == ""
}

// parent returns the object or array around the place of a pointer, which is not "", and the last token.
func (p *patching) parent(pointer string) (around *Node, l *list, token string, err error) {
	cut := strings.LastIndexByte(pointer, '/')
	if around, err = p.find(pointer[:cut]); err != nil {
		return nil, nil, "", err
	}
	l = around.parse()
	p.steps = max(p.steps, len(l.items))
	return around, l, jsonpointer.Unescape(pointer[cut+1:]), nil
}

// add adds a value at a place, or replaces the member that is there.
func (p *patching) add(pointer string, value Node) error {
	if pointer == "" {
		*p.root = value
		return nil
	}
	around, l, token, err := p.parent(pointer)
	if err != nil {
		return err
	}
	switch around.Kind() {
	case '{':
		if i := l.index(token); i >= 0 {
			l.items[i] = value
		} else {
			around.Add(token, value)
		}
		return nil
	case '[':
		i := jsonpointer.Index(token)
		switch {
		case token == "-":
			i = len(l.items)
		case i < 0:
			return fault.NotApplicable("", "%s: at %q of %q", badIndex, token, pointer)
		case i > len(l.items):
			return fault.NotApplicable("",
				"the list has %d items: want an index from 0 to %[1]d, or - for its end", len(l.items))
		}
		l.items = slices.Insert(l.items, i, value)
		return nil
	}
	return fault.NotApplicable("", "%q is neither a list nor an object", pointer[:strings.LastIndexByte(pointer, '/')])
}

// remove removes the value at a place and returns it.
func (p *patching) remove(pointer string) (Node, error) {
	if pointer == "" {
		return Node{}, fault.NotApplicable("", "the whole document cannot be removed")
	}
	around, l, token, err := p.parent(pointer)
	if err != nil {
		return Node{}, err
	}
	i, err := p.child(around, token, pointer)
	if err != nil {
		return Node{}, err
	}
	value := l.items[i]
	if around.Kind() == '{' {
		l.names = slices.Delete(l.names, i, i+1)
	}
	l.items = slices.Delete(l.items, i, i+1)
	return value, nil
}
