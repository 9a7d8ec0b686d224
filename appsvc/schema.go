package appsvc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc/internal/rawjson"
	"github.com/vitrine-go/vitrine/appsvc/internal/schemaguard"
)

// SchemaEngine compiles a component's configSchema, so that configs can be validated against it.
// The service hands it only schemas that passed its own static guard: bounded in size, depth and
// patterns, valid against the meta-schema of their draft, free of references that leave the document
// and of cycles of references that do not descend into the config. Before each validation the service estimates its
// cost, and refuses the config if the estimate is too high.
//
// An implementation must be safe for concurrent use and must fetch nothing. It must keep nothing of one schema that could
// affect another one, such as an id.
type SchemaEngine interface {
	Compile(schema []byte) (Schema, error)
}

// Schema validates configs against one compiled schema. Implementations must be safe for concurrent use: the service
// caches schemas, and validates several configs at the same time.
type Schema interface {
	// Validate returns the violations of config, none if it is valid. Their order must depend only on schema and
	// config; the service reports the first 100. It returns an error if it could not decide; the service
	// refuses the config then.
	Validate(config []byte) ([]vitrine.Violation, error)
}

// violations is the error of a config that breaks its schema. It has at most 100 violations, in an order that
// depends only on schema and config. The service returns them in Error.Violations.
type violations []vitrine.Violation

// maxViolations is how many violations of one config are reported, and maxSentences how many of
// them the sentence of the error names.
const (
	maxViolations = 100
	maxSentences  = 5
)

// Error names the first few violations.
func (v violations) Error() string {
	var parts []string
	for _, violation := range v[:min(len(v), maxSentences)] {
		parts = append(parts, violation.String())
	}
	return strings.Join(parts, "; ")
}

// schemas checks configSchemas and validates configs. Two parts work together:
//
//   - The guard, package schemaguard, refuses schemas that could harm the service, and estimates the cost of each
//     validation from the schema and the config. It is the same for every engine.
//   - The engine, Options.Schemas, compiles the schemas that the guard lets pass, and finds the violations.
//
// So an engine need not defend itself against its input. A panic in one is an error all the same.
//
// Each Service has one, which New makes. It is safe for concurrent use.
type schemas struct {
	engine SchemaEngine
	cache  schemaCache
}

// newSchemas returns a schemas with engine, or with DefaultSchemaEngine if engine is nil.
func newSchemas(engine SchemaEngine) *schemas {
	if engine == nil {
		engine = DefaultSchemaEngine()
	}
	return &schemas{engine: engine}
}

// compiledSchema is a schema in both forms: as the guard reads it and as the engine does.
type compiledSchema struct {
	guard      *schemaguard.Schema
	schema     Schema
	acceptsAll bool // accepts every config, so none is validated
}

// check returns an error if a configSchema is not accepted. The error says what is wrong, and where. The result is not
// cached: a component may be created and never be used.
func (s *schemas) check(schema []byte) error {
	_, err := s.compile(schema)
	return err
}

// validate returns an error that says where and why config breaks schema, or that validating it
// would take too long. The config is strict JSON.
func (s *schemas) validate(schema, config []byte) error {
	return s.validateWithin(new(schemaguard.Budget), schema, config)
}

// validateWithin is validate for one of the configs of a request, which share a budget. The schema comes from the cache, or is
// compiled and cached.
func (s *schemas) validateWithin(budget *schemaguard.Budget, schema, config []byte) error {
	compiled, err := s.cache.get(schema, s.compile)
	if err != nil {
		return err
	}
	return compiled.validateWithin(budget, config)
}

// validateWithin returns violations if config breaks the schema, and schemaguard.ErrCostly if the estimated cost of validating it
// exceeds what is left of the budget. Any other error means that the engine could not decide. The config is not accepted then
// either.
func (c *compiledSchema) validateWithin(budget *schemaguard.Budget, config []byte) error {
	if c.acceptsAll {
		return nil
	}
	decoded, err := decodeJSON(config)
	if err != nil {
		return fmt.Errorf("the config is not JSON: %w", err)
	}
	if err := budget.Spend(c.guard, config, decoded); err != nil {
		return err
	}
	found, err := c.validate(config, decoded)
	if err != nil {
		return err
	}
	return refusal(found)
}

// formats returns the names of the formats that SchemaOptions.Formats defines. SchemaWarnings takes them: they have an effect,
// so it does not warn of them. For an engine of another program it returns none, since the formats of that engine are not
// known.
func (s *schemas) formats() []string {
	own, ok := s.engine.(defaultEngine)
	if !ok {
		return nil
	}
	return slices.Collect(maps.Keys(own.formats.Own))
}

// compile checks schema with the guard and compiles it with the engine.
func (s *schemas) compile(schema []byte) (compiled *compiledSchema, err error) {
	defer rescue("compiling the schema", &err)
	if own, ok := s.engine.(defaultEngine); ok { // the guard compiles with it too
		guard, err := own.formats.Compile(schema)
		if err != nil {
			return nil, err
		}
		return &compiledSchema{guard, defaultSchema{guard.Compiled()}, acceptsEverything(schema)}, nil
	}
	guard, err := schemaguard.Compile(schema)
	if err != nil {
		return nil, err
	}
	own, err := s.engine.Compile(schema)
	if err != nil {
		return nil, err
	}
	return &compiledSchema{guard, own, false}, nil
}

// acceptsEverything reports whether a schema has no keyword that could refuse a config, such as {}. Configs are not even decoded
// then. It may be false for a schema that accepts everything: then the config is validated, with the same result.
func acceptsEverything(schema []byte) bool {
	members, err := rawjson.Members(schema)
	return err == nil && !slices.ContainsFunc(members, func(m rawjson.Member) bool {
		switch m.Name {
		case "$schema", "$id", "id", "$comment", "title", "description", "default", "examples", "$defs", "definitions":
			return false
		}
		return true
	})
}

// validate returns what the engine finds wrong with a config, which is decoded already. The default engine takes the
// decoded form; others decode the text again.
func (c *compiledSchema) validate(config []byte, decoded any) (_ []vitrine.Violation, err error) {
	defer rescue("validating the config", &err)
	if own, ok := c.schema.(defaultSchema); ok {
		return own.validateDecoded(decoded)
	}
	return c.schema.Validate(config)
}

// rescue turns a panic of an engine into an error. It is deferred; doing says in the error what the engine did. The guard keeps
// out what is known to cause a panic, so this is for faults that are not known, and for engines of other programs.
func rescue(doing string, err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("%s failed: %v", doing, r)
	}
}

// refusal returns the first 100 violations that were found as an error, nil if there are none.
func refusal(found []vitrine.Violation) error {
	if len(found) == 0 {
		return nil
	}
	return violations(found[:min(len(found), maxViolations)])
}

// decodeJSON decodes JSON that was checked before. Numbers become json.Number, which keeps their text: a float64 would lose
// digits of large ones, and 1e400 would be an error.
func decodeJSON(data []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}
