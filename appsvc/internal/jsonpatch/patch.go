package jsonpatch

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine/internal/strictjson"
)

// What Decode and Apply answer, wrapped in a sentence.
var (
	ErrMalformed = errors.New("malformed patch")          // not a JSON Patch
	ErrTooLarge  = errors.New("patch is too large")       // over one of the limits
	ErrTest      = errors.New("test failed")              // a test operation does not hold
	ErrApply     = errors.New("operation does not apply") // any other operation that cannot be done
)

// Op is one operation. Path and From are canonical JSON pointers; Value is nil where there is none.
type Op struct {
	Op    string          `json:"op"`
	Path  *string         `json:"path"`
	From  *string         `json:"from"`
	Value json.RawMessage `json:"value"`
}

// pointers have only the escapes ~0 and ~1.
var pointerForm = regexp.MustCompile(`^(?:/(?:[^~/]|~[01])*)*$`)

// Decode reads a patch of at most maxOps operations. Every operation must have the members that
// its kind needs, and none that JSON Patch does not know.
func Decode(data []byte, maxOps int) ([]Op, error) {
	var ops []Op
	if err := strictjson.Decode(data, &ops); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if len(ops) > maxOps {
		return nil, fmt.Errorf("%w: %d operations, at most %d", ErrTooLarge, len(ops), maxOps)
	}
	for i, op := range ops {
		if err := op.check(); err != nil {
			return nil, fmt.Errorf("%w: /%d%w", ErrMalformed, i, err)
		}
	}
	return ops, nil
}

func (op Op) check() error {
	needs := map[string]string{"add": "value", "replace": "value", "test": "value", "remove": "", "move": "from", "copy": "from"}
	need, known := needs[op.Op]
	switch {
	case !known:
		return fmt.Errorf("/op: unknown operation %q: want add, remove, replace, move, copy or test", op.Op)
	case op.Path == nil:
		return errors.New("/path: missing")
	case !pointerForm.MatchString(*op.Path):
		return fmt.Errorf("/path: %q is no JSON pointer", *op.Path)
	case need == "value" && op.Value == nil:
		return fmt.Errorf("/value: missing: %s needs one", op.Op)
	case need == "from" && op.From == nil:
		return fmt.Errorf("/from: missing: %s needs one", op.Op)
	case need == "from" && !pointerForm.MatchString(*op.From):
		return fmt.Errorf("/from: %q is no JSON pointer", *op.From)
	}
	return nil
}

// Pointers returns the pointers that the operation goes by.
func (op Op) Pointers() []string {
	if op.hasFrom() {
		return []string{*op.From, *op.Path}
	}
	return []string{*op.Path}
}

func (op Op) hasFrom() bool { return op.Op == "move" || op.Op == "copy" }

// oddIndex matches what the library would take as an array index though it is not canonical.
var oddIndex = regexp.MustCompile(`^[+-][0-9]+$|^0[0-9]+$`)

func hasOddIndex(pointer string) bool {
	return slices.ContainsFunc(strings.Split(pointer, "/"), oddIndex.MatchString)
}

// hasEmptyName reports whether the operation goes by a member named "".
func (op Op) hasEmptyName() bool {
	return slices.ContainsFunc(op.Pointers(), func(p string) bool { return strings.Contains(p+"/", "//") })
}
