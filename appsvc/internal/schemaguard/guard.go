// Package schemaguard compiles configSchemas and validates configs against them with jsonschema/v6, so that no schema
// can crash or stall the service.
//
// Compile rejects a schema that
//
//   - is too large, nested too deep or has too many subschemas;
//   - is invalid against the meta-schema of its draft, or has subschemas of another draft;
//   - refers to anything outside itself, except the standard meta-schemas;
//   - applies a subschema to the value that it applies to already, which would never end;
//   - has patterns that do not compile or are too large. Patterns are ECMA 262 in its Unicode form.
//
// Validate counts its steps while it works, and stops at a limit. A step is about half a microsecond of one core of a
// small server. Except for patterns that package regexp cannot match, no clock is read: the verdict depends only on the
// schema and the config, and not on the load of the machine.
package schemaguard

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/vitrine-go/vitrine"
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

// reject returns an *Error for what is wrong at a JSON pointer into the schema.
func reject(pointer, format string, args ...any) error {
	return &Error{pointer, fmt.Sprintf(format, args...)}
}

// Schema is a compiled schema. It is safe for concurrent use, and validates one config after the other.
type Schema struct {
	mu       sync.Mutex                    // locked while a config is validated
	meter    *meter                        // of the config that is being validated
	places   map[string]*jsonschema.Schema // by JSON pointer
	defaults map[string]any                // by the JSON pointer of the subschema that has it
	bad      func() map[string]string
	weight   int
}

// Compile checks schema and compiles it. All formats are annotations. The error is an *Error.
func Compile(schema []byte) (*Schema, error) { return Formats{}.Compile(schema) }

// Compile is the function Compile with formats that are asserted.
func (f Formats) Compile(schema []byte) (*Schema, error) {
	return f.compile(schema, func(map[string]any, string, draft) {})
}

// compile is Compile, and calls each with every subschema that is an object.
func (f Formats) compile(
	schema []byte, each func(object map[string]any, pointer string, d draft),
) (s *Schema, err error) {
	// No schema may end the process, whatever the compiler makes of it.
	defer func() {
		if r := recover(); r != nil {
			s, err = nil, reject("", "it cannot be compiled: %v", r)
		}
	}()
	doc, err := read(schema)
	if err != nil {
		return nil, err
	}
	m := &meter{}
	found, err := survey(doc, m, each)
	if err != nil {
		return nil, err
	}
	places, err := found.compile(f)
	if err != nil {
		return nil, err
	}
	if err := m.install(places, found.formats, f); err != nil {
		return nil, err
	}
	s = &Schema{meter: m, places: places, defaults: found.defaults, weight: 60*len(schema) + 200*found.patterns.program}
	s.bad = sync.OnceValue(s.badDefaults)
	return s, nil
}

// Weight returns about how many bytes of memory the schema takes.
func (s *Schema) Weight() int { return s.weight }

// BadDefaults returns the faults of defaults that break their own subschema, by its JSON pointer.
func (s *Schema) BadDefaults() map[string]string { return s.bad() }

func (s *Schema) badDefaults() map[string]string {
	bad := map[string]string{}
	var usage Usage
	for _, pointer := range slices.Sorted(maps.Keys(s.defaults)) {
		found, err := s.Validate(&usage, pointer, s.defaults[pointer])
		if err != nil {
			bad[pointer] = err.Error()
		} else if len(found) > 0 {
			bad[pointer] = firstOf(found, vitrine.Violation.String)
		}
	}
	return bad
}

// Target returns the JSON pointer of the subschema that the $ref of the one at a JSON pointer leads to. ok is false if
// there is no such $ref, or if it leads to a meta-schema.
func (s *Schema) Target(pointer string) (target string, ok bool) {
	at := s.places[pointer]
	if at == nil || at.Ref == nil {
		return "", false
	}
	target = pointerOf(at.Ref.Location)
	return target, s.places[target] == at.Ref
}

// Usage is the steps and the time that the validations of one request have used. The zero value is none.
type Usage struct {
	steps    int
	patterns time.Duration
}

// Compiled adds the steps of compiling a schema. A request counts them once for each of its schemas, even if the schema
// was in a cache.
func (u *Usage) Compiled(s *Schema) { u.steps += compileSteps * len(s.places) }

// Visited adds the steps of work on values of a config beside the validation.
func (u *Usage) Visited(steps int) { u.steps += steps }

// Validate returns the violations of a config, at most 100 in the order of their pointers, or those of a value in it
// that the subschema at a JSON pointer applies to. No subschema accepts everything. value is decoded, with numbers as
// json.Number. The error is ErrCostly if validation exceeds the limit of one config, or that of the request.
func (s *Schema) Validate(u *Usage, pointer string, value any) (found []vitrine.Violation, err error) {
	at := s.places[pointer]
	if at == nil {
		return nil, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	steps := min(configSteps, requestSteps-u.steps)
	s.meter.left, s.meter.patterns, s.meter.deciding = steps, patternTime-u.patterns, false
	defer func() {
		u.steps += steps - s.meter.left
		u.patterns = patternTime - s.meter.patterns
		if r := recover(); r == ErrCostly { // the library has no other way to stop
			found, err = nil, ErrCostly
		} else if r != nil {
			panic(r)
		}
	}()
	s.meter.start(value)
	err = at.Validate(value)
	if verdict, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
		return violationsOf(verdict), nil
	}
	return nil, err
}
