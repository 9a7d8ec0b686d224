package appsvc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// SchemaEngine compiles a component's configSchema, so that configs can be
// validated against it. The service hands it only schemas that passed its own
// static guard: bounded in size, depth and patterns, valid against the
// meta-schema of their draft, free of references that leave the document and
// of reference cycles that consume no input (contract, section 2.3).
// An implementation must be safe for concurrent use and must fetch nothing.
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
	return fmt.Sprintf("at %q: %s", v.Pointer, v.Reason)
}

// schemas is the service's view of its engine.
type schemas struct{ engine SchemaEngine }

// newSchemas returns the schemas compiled by engine, or by
// DefaultSchemaEngine when engine is nil.
func newSchemas(engine SchemaEngine) *schemas {
	if engine == nil {
		engine = DefaultSchemaEngine()
	}
	return &schemas{engine}
}

// check says what is wrong with a configSchema and where, or nil.
func (s *schemas) check(schema []byte) error {
	_, err := s.engine.Compile(schema)
	return err
}

// validate says where and why config breaks schema, or nil.
func (s *schemas) validate(schema, config []byte) error {
	compiled, err := s.engine.Compile(schema)
	if err != nil {
		return err
	}
	violations, err := compiled.Validate(config)
	if err != nil || len(violations) == 0 {
		return err
	}
	sentence := make([]string, len(violations))
	for i, v := range violations {
		sentence[i] = v.String()
	}
	return errors.New(strings.Join(sentence, "; "))
}

// decodeJSON decodes strict JSON, keeping the text of numbers.
func decodeJSON(data []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}
