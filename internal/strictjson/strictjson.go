// Package strictjson reads JSON that comes from outside. A text must be exactly one value in valid UTF-8, of limited
// depth, without duplicate member names, lone surrogates or U+0000. A text that is decoded into a Go struct must have
// no members that the struct lacks. The package uses the tokenizer of go-json-experiment/json and adds the rules that
// it does not have. Its errors say what is wrong and where.
package strictjson

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/vitrine-go/vitrine/internal/isotime"
)

// MaxDepth is the deepest nesting of arrays and objects that the services accept.
const MaxDepth = 64

// Error says what is wrong with a JSON text, and where. All functions of this package return it for a text that breaks
// a rule.
type Error struct {
	Pointer string // JSON pointer to the value; "" is the whole text
	Offset  int64  // byte offset near the fault; -1 where none is known
	Reason  string
}

func (e *Error) Error() string {
	if e.Pointer == "" {
		return e.Sentence()
	}
	return e.Pointer + ": " + e.Sentence()
}

// Sentence returns the error without the pointer. If the pointer is empty, it says that the whole text is meant.
func (e *Error) Sentence() string {
	sentence := e.Reason
	if e.Pointer == "" {
		sentence = "the JSON text: " + sentence
	}
	if e.Offset >= 0 {
		sentence += fmt.Sprintf(" (near byte %d)", e.Offset)
	}
	return sentence
}

// Within returns the error of a value as an error of the text around it. at is the JSON pointer of the value in that
// text. The offset is lost, since it was one in the value.
func Within(at string, err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		return &Error{Pointer: at + e.Pointer, Offset: -1, Reason: e.Reason}
	}
	return fmt.Errorf("%s: %w", at, err)
}

// Check returns an *Error unless data is one strict JSON value that is not nested deeper than maxDepth.
func Check(data []byte, maxDepth int) error {
	if len(bytes.TrimLeft(data, " \t\r\n")) == 0 {
		return &Error{Offset: -1, Reason: "a JSON value is missing"}
	}
	// U+0000 can only be an escape: a raw one is a syntax error.
	nul := bytes.Contains(data, []byte(`\u0000`))
	dec := jsontext.NewDecoder(bytes.NewBuffer(data))
	for {
		tok, err := dec.ReadToken()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return describe(err)
		}
		depth := dec.StackDepth()
		switch kind := tok.Kind(); {
		case (kind == '{' || kind == '[') && depth > maxDepth:
			return at(dec, fmt.Sprintf("nested deeper than %d levels", maxDepth))
		case kind == '"' && nul && strings.Contains(tok.String(), "\x00"):
			return at(dec, "U+0000 is not allowed in a string")
		}
		if depth == 0 {
			if rest := bytes.TrimLeft(data[dec.InputOffset():], " \t\r\n"); len(rest) > 0 {
				return &Error{Offset: int64(len(data) - len(rest)), Reason: "there is something after the JSON value"}
			}
			return nil
		}
	}
}

// Decode checks data and decodes it into v, which is a pointer. It returns an *Error for a member that v does not have
// (names are compared exactly, with their case), for a value of another type, and for null where v has no pointer to
// take it. Times have the forms of package isotime.
func Decode(data []byte, v any) error {
	if err := Check(data, MaxDepth); err != nil {
		return err
	}
	return Unmarshal(data, v)
}

// Unmarshal is Decode for data that Check has accepted.
func Unmarshal(data []byte, v any) error {
	if err := json.Unmarshal(data, v, json.RejectUnknownMembers(true),
		json.WithUnmarshalers(json.JoinUnmarshalers(noNull, times))); err != nil {
		return describe(err)
	}
	return nil
}

var errNull = errors.New("null is not allowed here")

// noNull rejects null where the decoder would silently leave a zero value.
var noNull = json.UnmarshalFromFunc(func(dec *jsontext.Decoder, v any) error {
	kind := reflect.TypeOf(v).Elem().Kind()
	_, raw := v.(json.Unmarshaler) // a raw message keeps null as it is
	if dec.PeekKind() == 'n' && kind != reflect.Pointer && kind != reflect.Interface && !raw &&
		reflect.TypeOf(v) != valueType {
		return errNull
	}
	return errors.ErrUnsupported
})

// times reads times in the forms of package isotime.
var times = json.UnmarshalFromFunc(func(dec *jsontext.Decoder, t *time.Time) error {
	if kind := dec.PeekKind(); kind != '"' {
		return &Error{Offset: -1, Reason: "want a string, have " + KindName(kind)}
	}
	token, err := dec.ReadToken()
	if err == nil {
		*t, err = isotime.Parse(token.String())
	}
	if err != nil {
		return &Error{Offset: -1, Reason: err.Error()}
	}
	return nil
})

var valueType = reflect.TypeFor[*jsontext.Value]()

// Member is one name and value of an object, the value as it is in the text.
type Member struct {
	Name  string
	Value []byte
}

// Members returns the members of the object in data in their order. Their values are parts of data. Check must have
// accepted it, or checks each value by itself. A name that differs only in case from one of known is an *Error.
func Members(data []byte, known ...string) ([]Member, error) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true), // Check has found none
		jsontext.AllowInvalidUTF8(true))
	if tok, err := dec.ReadToken(); err != nil {
		return nil, describe(err)
	} else if tok.Kind() != '{' {
		return nil, &Error{Offset: -1, Reason: "want an object, have " + KindName(tok.Kind())}
	}
	var out []Member
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, describe(err)
		}
		m := Member{Name: name.String()}
		for _, k := range known {
			if m.Name != k && strings.EqualFold(m.Name, k) {
				return nil, &Error{Pointer: "/" + m.Name, Offset: -1,
					Reason: fmt.Sprintf("this member is written %q", k)}
			}
		}
		value, err := dec.ReadValue()
		if err != nil {
			return nil, describe(err)
		}
		end := dec.InputOffset()
		m.Value = data[end-int64(len(value)) : end : end]
		out = append(out, m)
	}
	return out, nil
}

// at returns an error at the place that the decoder has reached.
func at(dec *jsontext.Decoder, reason string) error {
	return &Error{Pointer: string(dec.StackPointer()), Offset: dec.InputOffset(), Reason: reason}
}

// describe returns an error of the tokenizer or the decoder as an *Error.
func describe(err error) error {
	var syn *jsontext.SyntacticError
	if errors.As(err, &syn) {
		reason := syn.Err.Error()
		if errors.Is(syn.Err, io.ErrUnexpectedEOF) {
			reason = "the JSON text ends too early"
		}
		if errors.Is(syn.Err, jsontext.ErrDuplicateName) {
			reason = fmt.Sprintf("duplicate member name %q", syn.JSONPointer.LastToken())
		}
		return &Error{Pointer: string(syn.JSONPointer), Offset: syn.ByteOffset, Reason: reason}
	}
	var sem *json.SemanticError
	if errors.As(err, &sem) {
		return &Error{Pointer: string(sem.JSONPointer), Offset: -1, Reason: mismatch(sem)}
	}
	return &Error{Offset: -1, Reason: err.Error()}
}

// reasoned is an error of a type that reads its own JSON. Sentence says what the type wants, without a place.
type reasoned interface {
	error
	Sentence() string
}

// mismatch says why a value does not fit the type of the Go value that it was decoded into.
func mismatch(sem *json.SemanticError) string {
	if errors.Is(sem.Err, json.ErrUnknownName) {
		return Unknown(sem.JSONPointer.LastToken(), memberNames(sem.GoType))
	}
	if errors.Is(sem.Err, errNull) {
		return errNull.Error()
	}
	if errors.Is(sem.Err, strconv.ErrRange) {
		return "the number is out of range"
	}
	if e, ok := errors.AsType[*Error](sem.Err); ok {
		return e.Reason
	}
	if r, ok := errors.AsType[reasoned](sem.Err); ok {
		return r.Sentence()
	}
	if sem.GoType == nil {
		return sem.Err.Error()
	}
	return fmt.Sprintf("want %s, have %s", goKindName(sem.GoType), KindName(sem.JSONKind))
}

// Unknown says that an object has no member of this name, and which members it has.
func Unknown(name string, known []string) string {
	if len(known) == 0 {
		return fmt.Sprintf("unknown member %q: this object has no members", name)
	}
	return fmt.Sprintf("unknown member %q: the members are %s", name, strings.Join(known, ", "))
}

// memberNames returns the names that the members of a struct have in JSON, in their order.
func memberNames(t reflect.Type) []string {
	var out []string
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || name == "-" || f.Anonymous && name == "" {
			continue
		}
		out = append(out, cmp.Or(name, f.Name))
	}
	return out
}

// KindName names the type of a JSON value for a sentence.
func KindName(k jsontext.Kind) string {
	switch k {
	case 'n':
		return "null"
	case 't', 'f':
		return "a boolean"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '[':
		return "an array"
	}
	return "an object"
}

// goKindName names the type of JSON value that a Go type takes, for a sentence.
func goKindName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return goKindName(t.Elem())
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "a boolean"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Float32, reflect.Float64:
		return "a number"
	}
	return "an integer"
}

// AppendString appends s as a JSON string. It panics if s is not valid UTF-8: texts from outside were checked before.
func AppendString(b []byte, s string) []byte {
	b, err := jsontext.AppendQuote(b, s)
	if err != nil {
		panic("strictjson: a string that is not UTF-8 passed the checks")
	}
	return b
}
