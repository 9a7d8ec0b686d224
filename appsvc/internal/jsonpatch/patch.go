package jsonpatch

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine/internal/jsonpointer"
	"github.com/vitrine-go/vitrine/internal/strictjson"
)

// The kinds of errors of Decode and Apply; the errors are *Error.
var (
	ErrMalformed = errors.New("malformed patch")          // not a JSON Patch
	ErrTooLarge  = errors.New("patch is too large")       // over one of the limits
	ErrTest      = errors.New("test failed")              // a test operation does not hold
	ErrApply     = errors.New("operation does not apply") // any other operation that cannot be done
)

// Error says what is wrong with a patch, and where in the patch. errors.Is finds its kind, one of the four above.
type Error struct {
	Kind    error
	Pointer string // JSON pointer into the patch: "/3" is its fourth operation
	Reason  string
}

func (e *Error) Error() string {
	if e.Pointer == "" {
		return e.Reason
	}
	return e.Pointer + ": " + e.Reason
}

func (e *Error) Unwrap() error { return e.Kind }

// fault returns an *Error.
func fault(kind error, pointer, format string, args ...any) error {
	return &Error{kind, pointer, fmt.Sprintf(format, args...)}
}

// in returns the error of a part of a patch as one of the whole patch. pointer leads to the part. what is text
// that comes before the reason.
func in(pointer, what string, err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		return &Error{e.Kind, pointer + e.Pointer, what + e.Reason}
	}
	return err
}

// Op is one operation of a patch. Path and From are JSON pointers (RFC 6901); From is nil unless the operation has it,
// and Value is nil where there is none.
type Op struct {
	Op    string          `json:"op"`
	Path  *string         `json:"path"`
	From  *string         `json:"from"`
	Value json.RawMessage `json:"value"`
}

// Decode reads a patch of at most maxOps operations as strict JSON. Every operation must have the members that its kind
// needs and none that RFC 6902 does not define. The error is an *Error of the kind ErrMalformed or, beyond maxOps,
// ErrTooLarge.
func Decode(data []byte, maxOps int) ([]Op, error) {
	var ops []Op
	if err := strictjson.Decode(data, &ops); err != nil {
		if e, ok := errors.AsType[*strictjson.Error](err); ok {
			return nil, fault(ErrMalformed, e.Pointer, "%s", e.Sentence())
		}
		return nil, fault(ErrMalformed, "", "%s", err)
	}
	if len(ops) > maxOps {
		return nil, fault(ErrTooLarge, "", "the patch has %d operations, at most %d", len(ops), maxOps)
	}
	for i, op := range ops {
		if err := op.check(); err != nil {
			return nil, in(fmt.Sprintf("/%d", i), "", err)
		}
	}
	return ops, nil
}

// check returns an error unless the operation has what its kind needs.
func (op Op) check() error {
	needs := map[string]string{"add": "value", "replace": "value", "test": "value", "remove": "", "move": "from", "copy": "from"}
	need, known := needs[op.Op]
	switch {
	case !known:
		return fault(ErrMalformed, "/op", "unknown operation %q: want add, remove, replace, move, copy or test", op.Op)
	case op.Path == nil:
		return fault(ErrMalformed, "/path", "missing")
	case !isPointer(*op.Path):
		return fault(ErrMalformed, "/path", "%q is no JSON pointer", *op.Path)
	case need == "value" && op.Value == nil:
		return fault(ErrMalformed, "/value", "missing: %s needs one", op.Op)
	case need == "from" && op.From == nil:
		return fault(ErrMalformed, "/from", "missing: %s needs one", op.Op)
	case need == "from" && !isPointer(*op.From):
		return fault(ErrMalformed, "/from", "%q is no JSON pointer", *op.From)
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

// Pointers returns the pointers of the places that the operation reads or writes.
func (op Op) Pointers() []string {
	if op.hasFrom() {
		return []string{*op.From, *op.Path}
	}
	return []string{*op.Path}
}

func (op Op) hasFrom() bool { return op.Op == "move" || op.Op == "copy" }

// hasOddIndex reports whether a pointer has a token that the library would take for an index of a list though RFC 6901
// does not allow it: a number with a sign or with leading zeros.
func hasOddIndex(pointer string) bool {
	return slices.ContainsFunc(strings.Split(pointer, "/"), isOddIndex)
}

// isOddIndex reports whether token is a number with a sign or leading zeros.
func isOddIndex(token string) bool {
	digits := strings.TrimLeft(token, "+-")
	return len(token)-len(digits) <= 1 && isDigits(digits) && !jsonpointer.IsIndex(token)
}

func isDigits(s string) bool { return s != "" && strings.TrimLeft(s, "0123456789") == "" }

// hasEmptyName reports whether a pointer of the operation has an empty token, which names a member "".
func (op Op) hasEmptyName() bool {
	return slices.ContainsFunc(op.Pointers(), func(p string) bool { return strings.Contains(p+"/", "//") })
}
