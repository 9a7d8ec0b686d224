package jsonpatch

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	evanphx "github.com/evanphx/json-patch/v5"

	"github.com/vitrine-go/vitrine/appsvc/internal/rawjson"
)

// Limits bound the work of Apply.
type Limits struct {
	Document int // bytes of the document, at any look at it
	Looks    int // bytes of documents encoded between operations, in all; to read one costs an eighth
	Moves    int // operations times the items of the largest list or object, which each may move
}

// Apply carries out the operations in order and returns the new document, compact where doc and the
// values of the operations are. doc is one strict JSON value and is not changed.
func Apply(doc []byte, ops []Op, limits Limits) ([]byte, error) {
	if slices.ContainsFunc(ops, Op.hasEmptyName) {
		return applyRenamed(doc, ops, limits)
	}
	return apply(doc, ops, limits)
}

// run is a document and the operations that wait to be carried out on it by the library.
type run struct {
	doc     []byte
	waiting []Op
	limits  Limits
	looks   int
}

func apply(doc []byte, ops []Op, limits Limits) ([]byte, error) {
	if err := checkMoves(doc, ops, limits.Moves); err != nil {
		return nil, err
	}
	r := &run{doc: doc, limits: limits}
	for i, op := range ops {
		if err := r.do(op); err != nil {
			return nil, fmt.Errorf("/%d: %s of %q: %w", i, op.Op, *op.Path, err)
		}
	}
	if err := r.flush(); err != nil {
		return nil, err
	}
	return r.doc, nil
}

func (r *run) do(op Op) error {
	if op.Op == "move" && strings.HasPrefix(*op.Path, *op.From+"/") {
		return fmt.Errorf("%w: %q cannot be moved into itself", ErrApply, *op.From)
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
	case *op.Path == "" || op.From != nil && *op.From == "":
		return r.whole(op)
	}
	r.waiting = append(r.waiting, op)
	return nil
}

// library is the operation as the library wants it, for a document that has the value at place as
// its member of the name inside.
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

// checkMoves refuses what would move too many items. In the library every insertion and removal
// costs as much as the list or object around it is long.
func checkMoves(doc []byte, ops []Op, most int) error {
	edits, bytes := 0, len(doc)
	for _, op := range ops {
		if op.Op != "test" {
			edits++
			bytes += len(op.Value)
		}
	}
	if edits*(bytes/2+edits) <= most { // no container has more items than half its bytes
		return nil
	}
	widest := rawjson.Widest(doc) + edits
	for _, op := range ops {
		widest = max(widest, rawjson.Widest(op.Value)+edits)
	}
	if edits*widest > most {
		return fmt.Errorf("%w: %d operations on a document with a list or object of about %d items", ErrTooLarge, edits, widest)
	}
	return nil
}

// look brings the document up to date so that it can be looked at, and pays for it.
func (r *run) look() error {
	if len(r.waiting) > 0 {
		r.looks += len(r.doc)
	}
	if err := r.flush(); err != nil {
		return err
	}
	if r.looks += len(r.doc) / 8; r.looks > r.limits.Looks {
		return fmt.Errorf("%w: too many tests and unusual indices for a document of %d bytes", ErrTooLarge, len(r.doc))
	}
	return nil
}

// flush has the library carry out what waits. It reads and writes all that it is given, so it gets
// no more than the value that the operations are about.
func (r *run) flush() error {
	if len(r.waiting) == 0 {
		return nil
	}
	place := around(r.waiting)
	if at, end, err := locate(r.doc, place); err == nil && place != "" {
		part := slices.Concat([]byte(`{"v":`), r.doc[at:end], []byte("}"))
		if part, err = r.carryOut(part, place, "/v"); err == nil {
			return r.set(slices.Concat(r.doc[:at], part[len(`{"v":`):len(part)-1], r.doc[end:]))
		}
	}
	doc, err := r.carryOut(r.doc, "", "") // in an error stand the whole pointers
	if err != nil {
		return err
	}
	return r.set(doc)
}

// around returns the pointer to the smallest value that holds all that the operations look into. What
// they replace is in its place before and after; what they do else happens in the list or object
// around.
func around(ops []Op) string {
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

func parent(pointer string) string { return pointer[:max(0, strings.LastIndexByte(pointer, '/'))] }

// carryOut has the library carry out what waits on a document that has the value at place inside.
func (r *run) carryOut(doc []byte, place, inside string) (out []byte, err error) {
	defer func() { // no input may end the process, whatever the library makes of it
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", ErrApply, p)
		}
	}()
	patch := make(evanphx.Patch, len(r.waiting))
	for i, op := range r.waiting {
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
		return nil, fmt.Errorf("%w: the copies of values come to more than %d bytes", ErrTooLarge, r.limits.Document)
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrApply, err)
	}
	return out, nil
}

func (r *run) set(doc []byte) error {
	if len(doc) > r.limits.Document {
		return fmt.Errorf("%w: the patched document has %d bytes, at most %d", ErrTooLarge, len(doc), r.limits.Document)
	}
	r.doc, r.waiting = doc, r.waiting[:0]
	return nil
}

func (r *run) test(op Op) error {
	if err := r.look(); err != nil {
		return err
	}
	have, err := resolve(r.doc, *op.Path)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrTest, err)
	}
	if !Equal(have, op.Value, SameNumber) {
		return fmt.Errorf("%w: the value there is another one", ErrTest)
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
		return fmt.Errorf("%w: the whole document cannot be removed", ErrApply)
	case op.Op == "add" || op.Op == "replace":
		return r.set(op.Value)
	case *op.Path == "": // move or copy onto the whole
		value, err := resolve(r.doc, *op.From)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrApply, err)
		}
		return r.set(value)
	case 2*len(r.doc) > r.limits.Document:
		return fmt.Errorf("%w: a copy of the document inside itself has more than %d bytes", ErrTooLarge, r.limits.Document)
	}
	r.waiting = append(r.waiting, Op{Op: "add", Path: op.Path, Value: r.doc})
	return nil
}

// checkIndices refuses a pointer that would go by an index that is not canonical.
func (r *run) checkIndices(pointer string) error {
	if err := r.look(); err != nil {
		return err
	}
	if _, err := resolve(r.doc, pointer); errors.Is(err, errIndex) {
		return fmt.Errorf("%w: %w", ErrApply, err)
	}
	return nil
}
