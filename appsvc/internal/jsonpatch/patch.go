package jsonpatch

import (
	"encoding/json"
	"errors"
	"fmt"
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
	case !isPointer(*op.Path):
		return fmt.Errorf("/path: %q is no JSON pointer", *op.Path)
	case need == "value" && op.Value == nil:
		return fmt.Errorf("/value: missing: %s needs one", op.Op)
	case need == "from" && op.From == nil:
		return fmt.Errorf("/from: missing: %s needs one", op.Op)
	case need == "from" && !isPointer(*op.From):
		return fmt.Errorf("/from: %q is no JSON pointer", *op.From)
	}
	return nil
}

// isPointer reports whether s is a JSON pointer: tokens, each behind a slash, with no escapes but ~0
// and ~1.
func isPointer(s string) bool {
	for rest := s; ; {
		_, behind, found := strings.Cut(rest, "~")
		if !found {
			return s == "" || s[0] == '/'
		}
		if behind == "" || behind[0] != '0' && behind[0] != '1' {
			return false
		}
		rest = behind
	}
}

// Pointers returns the pointers that the operation goes by.
func (op Op) Pointers() []string {
	if op.hasFrom() {
		return []string{*op.From, *op.Path}
	}
	return []string{*op.Path}
}

func (op Op) hasFrom() bool { return op.Op == "move" || op.Op == "copy" }

// hasOddIndex reports whether a pointer has a token that the library would take as an array index
// though it is not canonical.
func hasOddIndex(pointer string) bool {
	return slices.ContainsFunc(strings.Split(pointer, "/"), func(token string) bool {
		digits := strings.TrimLeft(token, "+-")
		return len(token)-len(digits) <= 1 && isDigits(digits) && !isIndex(token)
	})
}

// isIndex reports whether token is an array index as pointers write them.
func isIndex(token string) bool {
	return isDigits(token) && (token == "0" || token[0] != '0')
}

func isDigits(s string) bool { return s != "" && strings.TrimLeft(s, "0123456789") == "" }

// hasEmptyName reports whether the operation goes by a member named "".
func (op Op) hasEmptyName() bool {
	return slices.ContainsFunc(op.Pointers(), func(p string) bool { return strings.Contains(p+"/", "//") })
}
