package appsvc

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc/internal/schemaguard"
	"github.com/vitrine-go/vitrine/internal/lru"
)

// SchemaEngine compiles a component's configSchema, so that configs can be validated against it. The service first
// checks each schema: its size, depth and patterns are limited, it is valid against the meta-schema of its draft, and
// it has no references outside of the document and no cycles of references that do not descend into the config.
//
// The service always validates with the engine of NewSchemaEngine, which counts steps. It calls another engine only if
// that one reaches a verdict within its steps; then the verdict of the other engine decides.
//
// An implementation must be safe for concurrent use and must fetch nothing. It must keep nothing of one schema that
// could affect another one, such as an id.
type SchemaEngine interface {
	Compile(schema []byte) (Schema, error)
}

// Schema validates configs against one compiled schema. Implementations must be safe for concurrent use: the service
// caches schemas, and validates several configs at the same time.
type Schema interface {
	// Validate returns the violations of config, none if it is valid. Their order must depend only on schema and
	// config; the service reports the first 100. It returns an error if it could not decide; the service rejects the
	// config then.
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

// schemas checks configSchemas and validates configs. The guard, package schemaguard, rejects schemas that could harm
// the service, and counts the steps of each validation. Another engine, Options.Schemas, is called in addition, so it
// need not defend itself against its input. A panic in an engine becomes an error.
//
// Each Service has one, which New makes. It is safe for concurrent use.
type schemas struct {
	engine    SchemaEngine
	compiling sync.Mutex                                     // one schema at a time, so that none is compiled twice
	compiled  *lru.Cache[[sha256.Size]byte, *compiledSchema] // by the digests of the schemas
}

// Bounds of the compiled schemas that are kept: their number, and their bytes of memory as the guard estimates them.
const (
	maxCachedSchemas = 512
	maxCachedBytes   = 64 << 20
)

// newSchemas returns a schemas with engine, or with that of NewSchemaEngine(nil) if engine is nil.
func newSchemas(engine SchemaEngine) *schemas {
	if engine == nil {
		engine = NewSchemaEngine(nil)
	}
	return &schemas{engine: engine, compiled: lru.New[[sha256.Size]byte, *compiledSchema](maxCachedBytes)}
}

// compiledSchema is a schema as the guard has compiled it, and as another engine has.
type compiledSchema struct {
	guard *schemaguard.Schema
	other Schema // nil without another engine
}

// get returns the compiled form of a schema from the cache, or compiles and caches it. Compiling takes much longer than
// validating one config, and a patch usually validates one.
func (s *schemas) get(schema []byte) (*compiledSchema, error) {
	key := sha256.Sum256(schema)
	if c, found := s.compiled.Get(key); found {
		return c, nil
	}
	s.compiling.Lock()
	defer s.compiling.Unlock()
	if c, found := s.compiled.Get(key); found {
		return c, nil
	}
	c, err := s.compile(schema)
	if err == nil {
		s.compiled.Put(key, c, max(c.guard.Weight(), maxCachedBytes/maxCachedSchemas))
	}
	return c, err
}

// validateWithin returns violations if config breaks the schema, in one of the languages that it names or in the base,
// and schemaguard.ErrCostly if validating it exceeds the limits. usage counts for all configs of a request. Any other
// error means that an engine could not decide; the config is rejected then too.
func (c *compiledSchema) validateWithin(usage *schemaguard.Usage, rule languages, config []byte) (err error) {
	defer rescue("validating the config", &err)
	decoded, err := decodeJSON(config)
	if err != nil {
		return fmt.Errorf("the config is not JSON: %w", err)
	}
	if len(rule.List) > 0 && mayHaveTexts(config) {
		return c.validateTexts(usage, rule, decoded)
	}
	found, err := c.judge(usage, decoded, config)
	if err != nil {
		return err
	}
	return violations(found).orNil()
}

// orNil returns the first violations as an error, nil if there are none.
func (v violations) orNil() error {
	if len(v) == 0 {
		return nil
	}
	return v[:min(len(v), maxViolations)]
}

// judge returns the violations of a decoded config without texts. config is its JSON, or nil if it has to be made.
func (c *compiledSchema) judge(
	usage *schemaguard.Usage, decoded any, config []byte,
) (found []vitrine.Violation, err error) {
	if found, err = c.guard.Validate(usage, "", decoded); err != nil || c.other == nil {
		return found, err
	}
	if config == nil {
		if config, err = json.Marshal(decoded); err != nil {
			return nil, err
		}
	}
	return c.other.Validate(config)
}

// compile checks schema with the guard, and compiles it with another engine if there is one.
func (s *schemas) compile(schema []byte) (compiled *compiledSchema, err error) {
	defer rescue("compiling the schema", &err)
	own, isOwn := s.engine.(defaultEngine)
	guard, err := own.formats.Compile(schema)
	if err != nil || isOwn {
		return &compiledSchema{guard, nil}, err
	}
	other, err := s.engine.Compile(schema)
	return &compiledSchema{guard, other}, err
}

// rescue turns a panic of an engine into an error. It is deferred; doing says in the error what the engine did. The
// guard rejects schemas that are known to cause a panic, so rescue is for unknown faults, and for engines of other
// programs.
func rescue(doing string, err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("%s failed: %v", doing, r)
	}
}

// decodeJSON decodes JSON that was checked before. Numbers become json.Number, which keeps their text: a float64 would
// lose digits of large ones, and 1e400 would be an error.
func decodeJSON(data []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}
