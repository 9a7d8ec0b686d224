// Package schemaguard decides which configSchemas are taken, and which configs are validated
// against them, so that no schema can crash or stall a validator (contract, section 2.3).
//
// There are two halves. Compile is the static one: it refuses a schema that is too large, too
// deep, invalid against the meta-schema of its draft, that refers to anything outside itself (the
// standard meta-schemas excepted), whose references come back to where they started without
// descending into the config, that applies too many subschemas to one place, or whose patterns do
// not compile or are too large. Afford is the dynamic one: it walks a config along the compiled
// schema the way a validator would, adds up what each step costs, and gives up beyond a budget.
//
// The estimate is an upper bound: where a validator may stop early, it counts the whole way. Its
// prices are nanoseconds of jsonschema/v6 on one core of a small server, so that a verdict depends
// on schema and config alone and not on the load of the machine.
package schemaguard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/vitrine-go/vitrine/internal/strictjson"
)

// Limits of a schema.
const (
	MaxBytes   = 256 << 10 // of the schema's text
	MaxDepth   = 64        // of nested arrays and objects
	MaxPattern = 4 << 10   // bytes of all patterns together

	maxProgram    = 20_000  // instructions of all compiled patterns together
	maxNumber     = 1_000   // digits and exponent of a number in a schema
	maxCount      = 1 << 53 // of maxLength, minItems and their like
	maxPointers   = 8 << 20 // bytes of the JSON pointers of all keywords together
	maxChain      = 200     // subschemas in a row that apply to one place of a config
	maxExpansions = 1 << 14 // subschemas that apply to one place of a config, counted with repetition
)

// budget is what decoding, compiling and validating one config may cost together, in nanoseconds,
// maxCompile the part of it that compiling may take, and requestBudget what all configs of a
// request may cost.
const (
	budget        = 150_000_000
	maxCompile    = 110_000_000
	requestBudget = 4 * budget
)

// ErrCostly is the error of a config that would take too long to validate.
var ErrCostly = errors.New("validating this config against this schema would take too long: " +
	"make the config smaller, or the schema less branching")

// Error says what is wrong with a schema, and where.
type Error struct {
	Pointer string // JSON pointer into the schema, "" for the whole of it
	Reason  string
}

func (e *Error) Error() string {
	if e.Pointer == "" {
		return "the schema: " + e.Reason
	}
	return shorten(e.Pointer) + ": " + e.Reason
}

// below returns the error one step deeper.
func (e *Error) below(token string) *Error {
	return &Error{"/" + escape(token) + e.Pointer, e.Reason}
}

func refuse(pointer, format string, args ...any) error {
	return &Error{pointer, fmt.Sprintf(format, args...)}
}

// Schema is a schema that passed the static guard. It is immutable.
type Schema struct {
	compiled *jsonschema.Schema
	root     *node
	spent    int64 // the price of compiling
	weight   int
}

// Compile checks schema and compiles it. The error is an *Error.
func Compile(schema []byte) (s *Schema, err error) {
	defer func() {
		if r := recover(); r != nil {
			s, err = nil, refuse("", "it cannot be compiled: %v", r)
		}
	}()
	if len(schema) > MaxBytes {
		return nil, refuse("", "it is %d bytes long, at most %d are allowed", len(schema), MaxBytes)
	}
	if err := strictjson.Check(schema, MaxDepth); err != nil {
		var at *strictjson.Error
		if errors.As(err, &at) {
			return nil, &Error{at.Pointer, at.Reason}
		}
		return nil, refuse("", "%v", err)
	}
	doc, err := decode(schema)
	if err != nil {
		return nil, refuse("", "%v", err)
	}
	found, err := survey(doc)
	if err != nil {
		return nil, err
	}
	compiled, all, err := compile(doc, found)
	if err != nil {
		return nil, err
	}
	graph := newGraph(compiled, all)
	if err := graph.check(); err != nil {
		return nil, err
	}
	return &Schema{compiled, graph.root, found.cost(), 60*len(schema) + 200*found.patternProgram}, nil
}

// Weight is about how many bytes of memory the schema takes.
func (s *Schema) Weight() int { return s.weight }

// Compiled returns the schema as jsonschema/v6 has it. Formats are annotations in it, in every draft.
func (s *Schema) Compiled() *jsonschema.Schema { return s.compiled }

// Afford returns ErrCostly if validating config would cost too much. The config is given as its
// text and as what the text decodes to, numbers as json.Number.
func (s *Schema) Afford(text []byte, config any) error { return new(Tab).Afford(s, text, config) }

// Tab adds up what the validations of one request cost. The zero value is ready for use.
type Tab struct {
	spent    int64
	compiled map[*Schema]bool // those whose compilation is on the tab
}

// Afford is Schema.Afford, and also returns ErrCostly when all that came before on the tab and this
// cost too much together.
func (t *Tab) Afford(s *Schema, text []byte, config any) error {
	left := budget - s.spent
	m := meter{left: left - decodeCost(text), dearest: dearestNumber(config)}
	m.visit(s.root, config, 0, false)
	t.spent += left - m.left
	if !t.compiled[s] {
		if t.compiled == nil {
			t.compiled = map[*Schema]bool{}
		}
		t.compiled[s] = true
		t.spent += s.spent
	}
	if m.left < 0 || t.spent > requestBudget {
		return ErrCostly
	}
	return nil
}

func decode(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}
