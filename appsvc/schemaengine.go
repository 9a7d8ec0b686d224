package appsvc

import (
	"fmt"
	"maps"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc/internal/schemaguard"
)

// SchemaOptions configure the engine of NewSchemaEngine. The zero value means the defaults.
type SchemaOptions struct {
	// AssertFormats makes the standard formats assertions in every draft: date-time, date, time, duration, email,
	// hostname, ipv4, ipv6, uri, uri-reference, iri, iri-reference, uri-template, uuid, json-pointer,
	// relative-json-pointer and regex. By default a format is an annotation. Setting AssertFormats for a store that has
	// apps can make stored configs invalid.
	AssertFormats bool

	// Formats defines formats by name. They are asserted whether or not AssertFormats is set, and one with the name of
	// a standard format replaces it. The function is called with each string that has the format, and returns nil or an
	// error that says what is wrong; values of other types are valid. It must be safe for concurrent use, must return
	// the same for the same string, and must take time linear in the string: a validation charges a step, which is
	// about half a microsecond, for 8 bytes.
	Formats map[string]func(value string) error
}

// NewSchemaEngine returns an engine for Options.Schemas. With nil it is the engine of a Service without
// Options.Schemas. It knows drafts 04, 06, 07, 2019-09 and 2020-12, reads numbers exactly, takes patterns
// as ECMA 262 in its Unicode form, and treats content keywords and, unless told otherwise, formats as
// annotations in every draft. It keeps nothing between schemas and fetches nothing.
//
// Validate counts its steps, and returns an error if a config takes more than 400,000, which is about 0.2 s. Patterns
// that package regexp cannot match, those with lookarounds or back-references for instance, are matched by package
// regexp2 for at most 250 ms together.
func NewSchemaEngine(opts *SchemaOptions) SchemaEngine {
	if opts == nil {
		return defaultEngine{}
	}
	return defaultEngine{schemaguard.Formats{Standard: opts.AssertFormats, Own: maps.Clone(opts.Formats)}}
}

// defaultEngine is the engine of NewSchemaEngine. It is the guard: that validates while it counts the steps.
type defaultEngine struct{ formats schemaguard.Formats }

func (e defaultEngine) Compile(schema []byte) (Schema, error) {
	guarded, err := e.formats.Compile(schema)
	if err != nil {
		return nil, err
	}
	return defaultSchema{guarded}, nil
}

// defaultSchema is a compiled schema of the default engine.
type defaultSchema struct{ *schemaguard.Schema }

// Validate decodes a config and returns its violations, at most 100, in the order of their pointers.
func (s defaultSchema) Validate(config []byte) ([]vitrine.Violation, error) {
	v, err := decodeJSON(config)
	if err != nil {
		return nil, fmt.Errorf("the config is not JSON: %w", err)
	}
	return s.Schema.Validate(new(schemaguard.Usage), "", v)
}
