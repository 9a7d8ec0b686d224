package jsonpatch

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	evanphx "github.com/evanphx/json-patch/v5"

	"github.com/vitrine-go/vitrine/appsvc/internal/rawjson"
	"github.com/vitrine-go/vitrine/internal/jsonpointer"
)

// Limits bound the work of Apply. A patch that needs more is refused with ErrTooLarge.
type Limits struct {
	Document int // bytes of the document, at any look at it
	Looks    int // bytes of all documents that are encoded between operations, and an eighth of those that are read
	Moves    int // operations times the items of the largest list or object, which each may move
}

// Apply carries out the operations in order and returns the new document. doc is one strict JSON value and is not
// changed. The result has no white space that doc and the values of the operations do not have, and keeps the text of
// numbers. The error is an *Error of the kind ErrApply, ErrTest or ErrTooLarge whose Pointer leads to the operation
// that failed.
func Apply(doc []byte, ops []Op, limits Limits) ([]byte, error) {
	if slices.ContainsFunc(ops, Op.hasEmptyName) {
		return applyRenamed(doc, ops, limits)
	}
	return apply(doc, ops, limits)
}

// run is one application of a patch. Each call of the library decodes and encodes the document, so operations are
// collected in waiting, and the library carries them out together when somebody must look at the document: for a test,
// for an unusual index, or at the end. The document that an operation is judged by is therefore doc after a flush.
type run struct {
	doc     []byte
	index   int // of the operation that is carried out
	waiting []Op
	indices []int // of the operations that wait
	limits  Limits
	looks   int
}

// apply is Apply for a patch in which no pointer has an empty token.
func apply(doc []byte, ops []Op, limits Limits) ([]byte, error) {
	if err := checkMoves(doc, ops, limits.Moves); err != nil {
		return nil, err
	}
	r := &run{doc: doc, limits: limits}
	for i, op := range ops {
		r.index = i
		if err := r.do(op); err != nil {
			return nil, named(i, op, err)
		}
	}
	if err := r.flush(); err != nil {
		return nil, err
	}
	return r.doc, nil
}

// named adds to an error which operation it is about, unless it says so already.
func named(index int, op Op, err error) error {
	if e, ok := errors.AsType[*Error](err); ok && e.Pointer != "" {
		return err
	}
	return in(fmt.Sprintf("/%d", index), fmt.Sprintf("%s of %q: ", op.Op, *op.Path), err)
}

// do carries out one operation, or leaves it to the next flush. The library has most of RFC 6902 right; what it has not
// is done here: moves into itself, unusual indices, tests, and operations on the whole document.
func (r *run) do(op Op) error {
	// RFC 6902, section 4.4: the from location must not be a proper prefix of the path location.
	if op.Op == "move" && strings.HasPrefix(*op.Path, *op.From+"/") {
		return fault(ErrApply, "", "%q cannot be moved into itself", *op.From)
	}
	if op.Op == "move" && *op.From != "" && hasOddIndex(*op.Path) {
		return r.moveInParts(op)
	}
	for _, p := range op.Pointers() {
		if hasOddIndex(p) {
			if err := r.checkIndices(p); err != nil {
				return err
			}
		}
	}
	switch {
	case op.Op == "test":
		return r.test(op)
	case *op.Path == "" || op.hasFrom() && *op.From == "":
		return r.whole(op)
	}
	r.wait(op)
	return nil
}

// moveInParts carries out a move as the two steps by which RFC 6902 defines it: the removal, and then the addition of
// what was removed. The target is judged in the document without the value, where other items may stand at the same
// indices.
func (r *run) moveInParts(op Op) error {
	if err := r.look(); err != nil {
		return err
	}
	value, err := resolve(r.doc, *op.From)
	if err != nil {
		return fault(ErrApply, "", "%s", err)
	}
	if err := r.do(Op{Op: "remove", Path: op.From}); err != nil {
		return err
	}
	return r.do(Op{Op: "add", Path: op.Path, Value: value})
}

// wait leaves an operation to the next flush.
func (r *run) wait(op Op) {
	r.waiting, r.indices = append(r.waiting, op), append(r.indices, r.index)
}

// library returns the operation in the form of the library. Its pointers begin with place, which is replaced by inside.
func (op Op) library(place, inside string) evanphx.Operation {
	quoted := func(s string) *json.RawMessage {
		b, _ := json.Marshal(s) // a string always encodes
		return (*json.RawMessage)(&b)
	}
	o := evanphx.Operation{"op": quoted(op.Op), "path": quoted(inside + (*op.Path)[len(place):])}
	if op.hasFrom() {
		o["from"] = quoted(inside + (*op.From)[len(place):])
	}
	if op.Value != nil {
		value := json.RawMessage(op.Value)
		o["value"] = &value
	}
	return o
}

// checkMoves refuses a patch that would move too many items. In the library every insertion and removal moves all items
// behind it, so the work is the number of operations times the length of the longest list. The exact length is only
// looked up if the bytes allow so long a list.
func checkMoves(doc []byte, ops []Op, most int) error {
	edits, bytes := 0, len(doc)
	for _, op := range ops {
		if op.Op != "test" {
			edits++
			bytes += len(op.Value)
		}
	}
	if !mayMove(edits, bytes, most) {
		return nil
	}
	widest := rawjson.Widest(doc) + edits
	for _, op := range ops {
		widest = max(widest, rawjson.Widest(op.Value)+edits)
	}
	if edits*widest > most {
		return fault(ErrTooLarge, "", "%d operations on a document with a list or object of about %d items", edits, widest)
	}
	return nil
}

// mayMove reports whether so many edits of a document might move more than most items: no container has more
// items than half its bytes.
func mayMove(edits, bytes, most int) bool { return edits*(bytes/2+edits) > most }

// MostEdits returns how many operations may be applied to doc within limits.Moves, if edits of them are too many or
// may be; otherwise it returns edits. values are those of the operations.
func MostEdits(doc []byte, edits int, limits Limits, values ...[]byte) int {
	bytes := len(doc)
	for _, v := range values {
		bytes += len(v)
	}
	if !mayMove(edits, bytes, limits.Moves) {
		return edits
	}
	widest := rawjson.Widest(doc)
	for _, v := range values {
		widest = max(widest, rawjson.Widest(v))
	}
	return min(edits, sort.Search(edits, func(n int) bool { return (n+1)*(widest+n+1) > limits.Moves }))
}

// look carries out the waiting operations, so that doc can be looked at, and counts what that costs.
func (r *run) look() error {
	if len(r.waiting) > 0 {
		r.looks += len(r.doc)
	}
	if err := r.flush(); err != nil {
		return err
	}
	if r.looks += len(r.doc) / 8; r.looks > r.limits.Looks {
		return fault(ErrTooLarge, "", "too many tests and unusual indices for a document of %d bytes", len(r.doc))
	}
	return nil
}

// flush lets the library carry out the waiting operations. The library decodes and encodes all that it is given, so it
// gets only the smallest value that contains what the operations read and write. For a document of 5 KB this makes a
// patch take half the time.
func (r *run) flush() error {
	if len(r.waiting) == 0 {
		return nil
	}
	// If the operations fail on the part, they are carried out on the whole document, whose errors are the right ones.
	place := enclosing(r.waiting)
	if at, end, err := locate(r.doc, place); err == nil && place != "" {
		part := slices.Concat([]byte(`{"v":`), r.doc[at:end], []byte("}"))
		if part, err = r.carryOut(part, r.waiting, place, "/v"); err == nil {
			return r.set(slices.Concat(r.doc[:at], part[len(`{"v":`):len(part)-1], r.doc[end:]))
		}
	}
	doc, err := r.carryOut(r.doc, r.waiting, "", "") // its errors hold the whole pointers
	if err != nil {
		return r.blame()
	}
	return r.set(doc)
}

// enclosing returns the pointer to the smallest value that contains everything that the operations read and write. A
// replacement needs only the value that it replaces. Every other operation needs the list or object that contains its
// place, since it adds or removes an item there.
func enclosing(ops []Op) string {
	place, first := "", true
	for _, op := range ops {
		for _, p := range op.Pointers() {
			if op.Op != "replace" {
				p = parent(p)
			}
			if first {
				place, first = p, false
			}
			for place != p && !strings.HasPrefix(p, place+"/") {
				place = parent(place)
			}
		}
	}
	return place
}

// parent returns the pointer to the list or object that contains the place of a pointer.
func parent(pointer string) string { return pointer[:max(0, strings.LastIndexByte(pointer, '/'))] }

// blame returns the error of the first waiting operation that fails. The library does not say which one that was, so
// blame finds it by bisection: it has the first n operations carried out, for several n.
func (r *run) blame() error {
	n := sort.Search(len(r.waiting)-1, func(n int) bool {
		_, e := r.carryOut(r.doc, r.waiting[:n+1], "", "")
		return e != nil
	})
	_, err := r.carryOut(r.doc, r.waiting[:n+1], "", "")
	if e, ok := errors.AsType[*Error](err); ok && e.Kind == ErrApply {
		if before, failed := r.carryOut(r.doc, r.waiting[:n], "", ""); failed == nil {
			if told := explain(before, r.waiting[n]); told != nil {
				err = fault(ErrApply, "", "%s", told)
			}
		}
	}
	return named(r.indices[n], r.waiting[n], err)
}

// explain says why an operation does not apply to doc: the library does not say it in words for people. It returns nil if
// it finds no reason.
func explain(doc []byte, op Op) error {
	if op.hasFrom() {
		if _, err := resolve(doc, *op.From); err != nil {
			return err
		}
	}
	if op.Op == "remove" || op.Op == "replace" {
		_, err := resolve(doc, *op.Path)
		return err
	}
	around := parent(*op.Path)
	list, err := resolve(doc, around)
	if err != nil {
		return err
	}
	token := (*op.Path)[len(around)+1:]
	switch list[0] {
	case '{':
		return nil
	case '[':
	default:
		return fmt.Errorf("%q is neither a list nor an object", around)
	}
	if token != "-" && !jsonpointer.IsIndex(token) {
		return fmt.Errorf("%w: at %q of %q", errIndex, token, *op.Path)
	}
	items, err := rawjson.Items(list)
	if err == nil && token != "-" {
		return fmt.Errorf("the list has %d items: want an index from 0 to %[1]d, or - for its end", len(items))
	}
	return err
}

// carryOut has the library carry out ops on a document that has, at the pointer inside, the value that the operations
// name by place.
func (r *run) carryOut(doc []byte, ops []Op, place, inside string) (out []byte, err error) {
	defer func() { // no input may end the process, whatever the library makes of it
		if p := recover(); p != nil {
			err = fault(ErrApply, "", "%v", p)
		}
	}()
	patch := make(evanphx.Patch, len(ops))
	for i, op := range ops {
		patch[i] = op.library(place, inside)
	}
	options := evanphx.NewApplyOptions()
	options.SupportNegativeIndices = false
	options.AccumulatedCopySizeLimit = int64(r.limits.Document)
	options.EscapeHTML = false
	out, err = patch.ApplyWithOptions(doc, options)
	var tooBig *evanphx.AccumulatedCopySizeError
	switch {
	case errors.As(err, &tooBig):
		return nil, fault(ErrTooLarge, "", "the copies of values come to more than %d bytes", r.limits.Document)
	case err != nil:
		return nil, fault(ErrApply, "", "%s", err)
	}
	return out, nil
}

// set makes doc the document that all operations so far have led to. It returns ErrTooLarge if doc is longer than
// allowed.
func (r *run) set(doc []byte) error {
	if len(doc) > r.limits.Document {
		return fault(ErrTooLarge, "", "the patched document has %d bytes, at most %d", len(doc), r.limits.Document)
	}
	r.doc, r.waiting, r.indices = doc, r.waiting[:0], r.indices[:0]
	return nil
}

// test carries out a test. Numbers are compared by value, so 1 equals 1.0, and a place that does not exist equals
// nothing.
func (r *run) test(op Op) error {
	if err := r.look(); err != nil {
		return err
	}
	have, err := resolve(r.doc, *op.Path)
	if err != nil {
		return fault(ErrTest, "", "%s", err)
	}
	if !Equal(have, op.Value, SameNumber) {
		return fault(ErrTest, "", "the value there is another one")
	}
	return nil
}

// whole carries out an operation that reads or writes the document as a whole.
func (r *run) whole(op Op) error {
	if err := r.look(); err != nil {
		return err
	}
	switch {
	case op.Op == "remove":
		return fault(ErrApply, "", "the whole document cannot be removed")
	case op.Op == "add" || op.Op == "replace":
		return r.set(op.Value)
	case *op.Path == "": // move or copy onto the whole
		value, err := resolve(r.doc, *op.From)
		if err != nil {
			return fault(ErrApply, "", "%s", err)
		}
		return r.set(value)
	case 2*len(r.doc) > r.limits.Document:
		return fault(ErrTooLarge, "", "a copy of the document inside itself has more than %d bytes", r.limits.Document)
	}
	r.wait(Op{Op: "add", Path: op.Path, Value: r.doc})
	return nil
}

// checkIndices refuses a pointer that goes into a list by an index that is not canonical. In an object the same token
// is a name.
func (r *run) checkIndices(pointer string) error {
	if err := r.look(); err != nil {
		return err
	}
	if _, err := resolve(r.doc, pointer); errors.Is(err, errIndex) {
		return fault(ErrApply, "", "%s", err)
	}
	return nil
}
