// Package schemaguard decides which configSchemas are accepted, and which configs may be validated against them, so that
// no schema can crash or stall a validator. It has a static and a dynamic half.
//
// Compile is the static half. It refuses a schema that
//
//   - is too large or nested too deep;
//   - is invalid against the meta-schema of its draft;
//   - refers to anything outside itself, except the standard meta-schemas;
//   - has a cycle of references that does not descend into the config;
//   - applies too many subschemas to one place of a config;
//   - has patterns that do not compile or are too large. Patterns are ECMA 262 in its Unicode form. Those that package
//     regexp cannot match are matched here, and their steps are counted.
//
// Budget.Spend is the dynamic half. Before a validation it walks the config along the compiled schema as the validator
// will, adds up what each step costs, and refuses the config when the sum exceeds the budget. The sum is an upper bound:
// where a validator may stop early, the whole way is counted. The prices are nanoseconds of jsonschema/v6 on one core of a
// small server. No clock is read, so the verdict depends on the schema and the config alone and not on the load of the
// machine.
//
// A plain count of steps would be simpler, but steps differ too much. A step of a pattern takes 24 ns, applying a subschema
// about 300 ns, and reporting a fault deep in a config more than 1,000 ns. A count that keeps the slowest of them within the
// budget allows 150,000 steps. A pattern takes as many in 4 ms, so texts would be refused that are matched at once.
package schemaguard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/vitrine-go/vitrine/internal/jsonpointer"
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
	return &Error{"/" + jsonpointer.Escape(token) + e.Pointer, e.Reason}
}

// refuse returns an *Error for what is wrong at a JSON pointer into the schema.
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

// Compile checks schema and compiles it. All formats are annotations. The error is an *Error.
func Compile(schema []byte) (*Schema, error) { return Formats{}.Compile(schema) }

// Compile is Compile with formats that refuse configs.
func (f Formats) Compile(schema []byte) (s *Schema, err error) {
	// No schema may end the process, whatever the compiler makes of it.
	defer func() {
		if r := recover(); r != nil {
			s, err = nil, refuse("", "it cannot be compiled: %v", r)
		}
	}()
	// Each step refuses what the next one could not bear: a text that is too large to decode, a tree that is too large to
	// compile, a graph that cannot be walked.
	doc, err := read(schema)
	if err != nil {
		return nil, err
	}
	found, err := survey(doc)
	if err != nil {
		return nil, err
	}
	compiled, all, err := compile(doc, found, f)
	if err != nil {
		return nil, err
	}
	graph := newGraph(compiled, all, f)
	if err := graph.check(); err != nil {
		return nil, err
	}
	return &Schema{compiled, graph.root, found.cost(), 60*len(schema) + 200*found.patternProgram}, nil
}

// Weight is about how many bytes of memory the schema takes.
func (s *Schema) Weight() int { return s.weight }

// Compiled returns the schema as jsonschema/v6 has it. In every draft, its formats are those it was
// compiled with.
func (s *Schema) Compiled() *jsonschema.Schema { return s.compiled }

// CheckCost returns ErrCostly if validating config would cost too much. text is the config, and config is what the text
// decodes to, with numbers as json.Number.
func (s *Schema) CheckCost(text []byte, config any) error { return new(Budget).Spend(s, text, config) }

// Budget is what the validations of one request may cost together. The zero value is a full budget.
type Budget struct {
	spent    int64
	compiled map[*Schema]bool // the schemas whose compilation is paid for
}

// Spend pays for the validation of one config. It returns ErrCostly if the config costs too much alone, or together with
// those before.
func (b *Budget) Spend(s *Schema, text []byte, config any) error {
	// Compiling is a part of the price of each schema, but a request that uses one for many configs pays for it once.
	left := configBudget - s.spent
	m := meter{left: left - decodeCost(text), maxNumberCost: maxNumberCost(config)}
	m.visit(s.root, config, 0, false)
	b.spent += left - m.left
	if !b.compiled[s] {
		if b.compiled == nil {
			b.compiled = map[*Schema]bool{}
		}
		b.compiled[s] = true
		b.spent += s.spent
	}
	if m.left < 0 || b.spent > requestBudget {
		return ErrCostly
	}
	return nil
}

// decode decodes JSON with numbers as json.Number, which keeps their text.
func decode(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}
