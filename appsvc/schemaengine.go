package appsvc

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc/internal/schemaguard"
	"github.com/vitrine-go/vitrine/internal/jsonpointer"
)

// SchemaOptions configure the engine of NewSchemaEngine. The zero value means the defaults.
type SchemaOptions struct {
	// AssertFormats makes the standard formats refuse configs, in every draft: date-time, date, time,
	// duration, email, hostname, ipv4, ipv6, uri, uri-reference, iri, iri-reference, uri-template,
	// uuid, json-pointer, relative-json-pointer and regex. By default a format is an annotation. Setting AssertFormats for
	// a store that has apps can make stored configs invalid.
	AssertFormats bool

	// Formats defines formats by name. They refuse configs whether or not AssertFormats is set, and one with the name
	// of a standard format replaces it. The function is called with each string that has the format, and returns nil
	// or an error that says what is wrong; values of other types are valid. It must be safe for concurrent use, must
	// return the same for the same string, and must take time linear in the string: the estimate of the cost of a
	// validation assumes about 80 ns a byte.
	Formats map[string]func(value string) error
}

// DefaultSchemaEngine returns the engine of a Service without Options.Schemas: that of NewSchemaEngine without options.
func DefaultSchemaEngine() SchemaEngine { return NewSchemaEngine(nil) }

// NewSchemaEngine returns an engine for Options.Schemas; opts may be nil. It knows drafts 04, 06,
// 07, 2019-09 and 2020-12, reads numbers exactly, takes patterns as ECMA 262 in its Unicode form, and
// treats content keywords and, unless told otherwise, formats as annotations in every draft. It
// keeps nothing between schemas and fetches nothing.
//
// Patterns are matched in time linear in the text: by package regexp, or by a simulation if they have lookarounds. Only
// patterns with back-references are matched by backtracking. It gives up after a fixed number of steps, and then Validate
// returns an error.
func NewSchemaEngine(opts *SchemaOptions) SchemaEngine {
	if opts == nil {
		return defaultEngine{}
	}
	return defaultEngine{schemaguard.Formats{Standard: opts.AssertFormats, Own: maps.Clone(opts.Formats)}}
}

// defaultEngine is the engine of NewSchemaEngine. It needs no work of its own: the guard compiles schemas with the same
// library, to check them, and defaultEngine takes over what the guard has compiled.
type defaultEngine struct{ formats schemaguard.Formats }

// Compile checks a schema with the guard and returns what the guard has compiled. A Service does not call it, since it has asked
// the guard already; it is for programs that use the engine by itself.
func (e defaultEngine) Compile(schema []byte) (Schema, error) {
	guarded, err := e.formats.Compile(schema)
	if err != nil {
		return nil, err
	}
	return defaultSchema{guarded.Compiled()}, nil
}

// defaultSchema is a compiled schema of the default engine.
type defaultSchema struct{ schema *jsonschema.Schema }

// Validate decodes a config and returns its violations, at most 100, in the order of their pointers.
func (s defaultSchema) Validate(config []byte) ([]vitrine.Violation, error) {
	v, err := decodeJSON(config)
	if err != nil {
		return nil, fmt.Errorf("the config is not JSON: %w", err)
	}
	return s.validateDecoded(v)
}

// validateDecoded is Validate for a config that is decoded already, its numbers as json.Number.
func (s defaultSchema) validateDecoded(config any) (violations []vitrine.Violation, err error) {
	defer func() {
		if r := recover(); r == schemaguard.ErrCostly { // a pattern gave up; MatchString can report this only by a panic
			violations, err = nil, schemaguard.ErrCostly
		} else if r != nil {
			panic(r)
		}
	}()
	var verdict *jsonschema.ValidationError
	switch err := s.schema.Validate(config); {
	case err == nil:
		return nil, nil
	case errors.As(err, &verdict):
		return violationsOf(verdict), nil
	default:
		return nil, err
	}
}

// violationsOf returns the first 100 violations in the order of their pointers, equal ones once. A verdict of the library is a
// tree of errors. Its leaves name the values that are wrong, and become violations. The other nodes only say that something below
// them failed. A verdict may have very many leaves, so only the first 100 are kept while the tree is walked.
func violationsOf(verdict *jsonschema.ValidationError) []vitrine.Violation {
	var smallest []*jsonschema.ValidationError
	var visit func(*jsonschema.ValidationError)
	visit = func(e *jsonschema.ValidationError) {
		for _, cause := range e.Causes {
			visit(cause)
		}
		if len(e.Causes) > 0 {
			return
		}
		at, _ := slices.BinarySearchFunc(smallest, e, compareErrors)
		if at < maxViolations {
			smallest = slices.Insert(smallest, at, e)
			smallest = smallest[:min(len(smallest), maxViolations)]
		}
	}
	visit(verdict)
	var out []vitrine.Violation
	for _, e := range smallest {
		var pointer strings.Builder
		for _, token := range e.InstanceLocation {
			pointer.WriteString("/" + jsonpointer.Escape(token))
		}
		v := vitrine.Violation{Pointer: pointer.String(), Keyword: schemaguard.Keyword(e), Message: schemaguard.Reason(e.ErrorKind)}
		if !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// compareErrors orders violations by the place in the config, then by the schema and its keyword. The library finds them in
// the order of a Go map, which differs from call to call.
func compareErrors(a, b *jsonschema.ValidationError) int {
	return cmp.Or(slices.Compare(a.InstanceLocation, b.InstanceLocation), strings.Compare(a.SchemaURL, b.SchemaURL),
		slices.Compare(a.ErrorKind.KeywordPath(), b.ErrorKind.KeywordPath()))
}
