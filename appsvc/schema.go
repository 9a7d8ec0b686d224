package appsvc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine/appsvc/internal/rawjson"
	"github.com/vitrine-go/vitrine/appsvc/internal/schemaguard"
)

// SchemaEngine compiles a component's configSchema, so that configs can be validated against it.
// The service hands it only schemas that passed its own static guard: bounded in size, depth and
// patterns, valid against the meta-schema of their draft, free of references that leave the document
// and of reference cycles that consume no input (contract, section 2.3). Before each validation the
// service estimates its cost, and refuses the config where the estimate is too high.
//
// An implementation must be safe for concurrent use, must fetch nothing, and must keep nothing of
// one schema that another could meet, an id for instance.
type SchemaEngine interface {
	Compile(schema []byte) (Schema, error)
}

// Schema validates configs. Implementations must be safe for concurrent use.
type Schema interface {
	// Validate returns what is wrong with config, nothing when it is valid.
	// An error means that no verdict was reached; it refuses the config too.
	Validate(config []byte) ([]Violation, error)
}

// Violation is one place where a config breaks its schema.
type Violation struct {
	Pointer string // JSON pointer into the config, "" for the whole of it
	Reason  string // what is wrong there, in words
}

// String gives the violation as part of a sentence.
func (v Violation) String() string {
	if v.Pointer == "" {
		return v.Reason
	}
	return v.Pointer + ": " + v.Reason
}

// schemas checks configSchemas and validates configs, with an engine behind the guard.
type schemas struct {
	engine SchemaEngine
	cache  schemaCache
}

// newSchemas returns the schemas of engine, of DefaultSchemaEngine when engine is nil.
func newSchemas(engine SchemaEngine) *schemas {
	if engine == nil {
		engine = DefaultSchemaEngine()
	}
	return &schemas{engine: engine}
}

// compiledSchema is a schema in both forms: as the guard reads it and as the engine does.
type compiledSchema struct {
	guard  *schemaguard.Schema
	schema Schema
	free   bool // accepts anything, so that no config need be looked at
}

// check returns an error that says what keeps a configSchema from being taken, and where in it.
func (s *schemas) check(schema []byte) error {
	_, err := s.compile(schema)
	return err
}

// validate returns an error that says where and why config breaks schema, or that validating it
// would take too long. The config is strict JSON.
func (s *schemas) validate(schema, config []byte) error {
	return s.validateOn(new(schemaguard.Tab), schema, config)
}

// validateOn is validate for one of the configs of a request, whose costs are on tab.
func (s *schemas) validateOn(tab *schemaguard.Tab, schema, config []byte) error {
	compiled, err := s.cache.get(schema, s.compile)
	if err != nil || compiled.free {
		return err
	}
	decoded, err := decodeJSON(config)
	if err != nil {
		return fmt.Errorf("the config is not JSON: %w", err)
	}
	if err := tab.Afford(compiled.guard, config, decoded); err != nil {
		return err
	}
	violations, err := compiled.validate(config, decoded)
	if err != nil {
		return err
	}
	return refusal(violations)
}

// compile compiles schema behind the guard.
func (s *schemas) compile(schema []byte) (compiled *compiledSchema, err error) {
	defer rescue("compiling the schema", &err)
	guard, err := schemaguard.Compile(schema)
	if err != nil {
		return nil, err
	}
	if _, ok := s.engine.(defaultEngine); ok { // the guard compiles with it too
		return &compiledSchema{guard, defaultSchema{guard.Compiled()}, isFree(schema)}, nil
	}
	own, err := s.engine.Compile(schema)
	if err != nil {
		return nil, err
	}
	return &compiledSchema{guard, own, false}, nil
}

// isFree reports whether a schema has no keyword that could refuse a config.
func isFree(schema []byte) bool {
	members, err := rawjson.Members(schema)
	return err == nil && !slices.ContainsFunc(members, func(m rawjson.Member) bool {
		switch m.Name {
		case "$schema", "$id", "id", "$comment", "title", "description", "default", "examples", "$defs", "definitions":
			return false
		}
		return true
	})
}

func (c *compiledSchema) validate(config []byte, decoded any) (violations []Violation, err error) {
	defer rescue("validating the config", &err)
	if own, ok := c.schema.(defaultSchema); ok {
		return own.validateDecoded(decoded)
	}
	return c.schema.Validate(config)
}

// rescue turns a panic of an engine into an error. The guard keeps out what is known to cause one.
func rescue(doing string, err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("%s failed: %v", doing, r)
	}
}

// refusal makes one sentence of violations, nil of none.
func refusal(violations []Violation) error {
	if len(violations) == 0 {
		return nil
	}
	var parts []string
	for _, v := range violations[:min(len(violations), maxViolations)] {
		parts = append(parts, v.String())
	}
	return errors.New(strings.Join(parts, "; "))
}

// decodeJSON decodes JSON that was checked before and keeps the text of its numbers.
func decodeJSON(data []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}
