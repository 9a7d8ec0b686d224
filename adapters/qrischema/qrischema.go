// Package qrischema is an [appsvc.SchemaEngine] over qri-io/jsonschema, for programs that have
// their schemas checked by that library already and want the same verdicts.
//
// Use it as Options.Schemas of a Service, never on its own: the service's guard stands before every
// engine and keeps out what would crash or stall this one, null subschemas for instance. Compile
// itself refuses what the guard accepts and qri-io/jsonschema cannot handle: references that form a
// cycle, even through properties (the library follows some of them for ever), references that are
// not a plain JSON pointer into the document ("#/$defs/name"), $recursiveRef, and subschemas with
// an $id of their own. It refuses "format": "regex" too, with which the library would compile values
// of a config as patterns. So nothing is ever fetched, from the network or from files, and nothing
// passes from one schema to another through the library's process-wide registry. One lock for the
// whole process is held while a schema is compiled and while a config is validated, since the
// library's registries are not safe for concurrent use.
//
// The library implements draft 2019-09 and reads schemas of every draft as if they were of that
// one. Its verdicts differ from the specification, among others:
//
//   - additionalProperties takes members that only a nested object declares
//   - numbers are float64: 2^53 and 2^53+1 are equal, and a number beyond 1e308 is an error
//   - multipleOf is a float64 division: 0.3 is not a multiple of 0.1
//   - dependencies is ignored; so are prefixItems, $dynamicRef and, in draft 04, id
//   - exclusiveMinimum and exclusiveMaximum of draft 04, which are booleans there, are refused
//   - references to #/definitions are never resolved, and a config at such a place is invalid
//   - keywords beside $ref count in every draft
//   - formats are assertions, in every draft
//   - patterns are those of package regexp, not of ECMA 262: \s knows fewer spaces, and a schema with a
//     lookaround, a back-reference or \u in a pattern is refused
//
// The default engine, appsvc.DefaultSchemaEngine, has none of these faults.
package qrischema

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/qri-io/jsonschema"
	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
)

// New returns the engine. All of them share one lock.
func New() appsvc.SchemaEngine { return engine{} }

// engine implements appsvc.SchemaEngine. It has no state of its own: the library keeps all of it for the whole process.
type engine struct{}

// library must be locked around every call into qri-io/jsonschema, whose registries belong to the whole process and are
// not safe for concurrent use.
var library sync.Mutex

// errCostly is the error of a config that would take too long to validate. The service has an estimate of its own, but
// that one assumes an engine that stops at a wrong type, and this one does not.
var errCostly = errors.New("validating this config against this schema would take too long: " +
	"make the config smaller, or the schema less branching")

// Compile implements appsvc.SchemaEngine. It returns an error for a schema that is no JSON, that the comment of the
// package excludes, or that the library refuses.
func (engine) Compile(text []byte) (appsvc.Schema, error) {
	doc, err := decode(text)
	if err != nil {
		return nil, fmt.Errorf("the schema is not JSON: %w", err)
	}
	if err := check(doc); err != nil {
		return nil, err
	}
	if object, ok := doc.(map[string]any); ok {
		delete(object, "$id") // no reference needs it, and the library would register the schema under it
		if text, err = json.Marshal(object); err != nil {
			return nil, fmt.Errorf("the schema: %w", err)
		}
	}
	compiled := &jsonschema.Schema{}
	if err := locked("compiling the schema", func() error { return json.Unmarshal(text, compiled) }); err != nil {
		return nil, fmt.Errorf("the schema: %w", err)
	}
	return &schema{compiled, doc}, nil
}

// schema is a compiled schema together with its decoded text, along which costs are estimated.
type schema struct {
	compiled *jsonschema.Schema
	doc      any
}

// Validate implements appsvc.Schema. It returns the violations of a config, none if the config conforms, and an error
// for a config that would take too long.
func (s *schema) Validate(config []byte) ([]vitrine.Violation, error) {
	doc, err := decode(config)
	if err != nil {
		return nil, fmt.Errorf("the config is not JSON: %w", err)
	}
	if !affordable(s.doc, doc) {
		return nil, errCostly
	}
	var faults []jsonschema.KeyError
	err = locked("validating the config", func() (err error) {
		faults, err = s.compiled.ValidateBytes(context.Background(), config)
		return err
	})
	if err != nil {
		return nil, err
	}
	return violations(faults), nil
}

// maxViolations is how many violations of one config are reported.
const maxViolations = 100

// violations returns the first maxViolations faults, ordered by pointer, keyword and message, each once. The library finds
// them in the random order of maps, so without an order two calls would report different ones.
func violations(faults []jsonschema.KeyError) []vitrine.Violation {
	var out []vitrine.Violation
	for _, fault := range faults {
		out = append(out, vitrine.Violation{
			Pointer: strings.TrimSuffix(fault.PropertyPath, "/"), Keyword: keywordOf(fault.Message), Message: shorten(fault.Message)})
	}
	slices.SortFunc(out, func(a, b vitrine.Violation) int {
		return cmp.Or(strings.Compare(a.Pointer, b.Pointer), strings.Compare(a.Keyword, b.Keyword), strings.Compare(a.Message, b.Message))
	})
	out = slices.Compact(out)
	return out[:min(len(out), maxViolations)]
}

// messages are the beginnings of the library's messages, with the keyword that each comes from. Nothing else in a fault says
// which keyword it is about. # stands for any number.
var messages = []struct{ begins, keyword string }{
	{"type should be", "type"},
	{"should be one of", "enum"},
	{"must equal", "const"},
	{"must be a multiple of", "multipleOf"},
	{"must be less than or equal to", "maximum"},
	{"must be greater than or equal to", "minimum"},
	{"# must be less than", "exclusiveMaximum"},
	{"# must be greater than", "exclusiveMinimum"},
	{"max length of", "maxLength"},
	{"min length of", "minLength"},
	{"regexp pattern", "pattern"},
	{"invalid ", "format"},
	{"array length # exceeds", "maxItems"},
	{"array length # below", "minItems"},
	{"array items must be unique", "uniqueItems"},
	{"must contain at least one", "contains"},
	{"contained items # exceeds", "maxContains"},
	{"contained items # bellow", "minContains"},
	{"additional items", "additionalItems"},
	{"unevaluated items", "unevaluatedItems"},
	{"additional properties", "additionalProperties"},
	{"unevaluated properties", "unevaluatedProperties"},
	{"# object Properties exceed", "maxProperties"},
	{"# object Properties below", "minProperties"},
	{"did Not match any specified AnyOf", "anyOf"},
	{"matched more than one specified OneOf", "oneOf"},
	{"did not match any of the specified OneOf", "oneOf"},
	{"result was valid, ('not')", "not"},
	{"failed to resolve schema", "$ref"},
}

// number matches a number that stands alone in a message.
var number = regexp.MustCompile(`(^| )-?[0-9][^ ]*`)

// keywordOf returns the keyword that a message of the library comes from, "" if the message does not tell.
func keywordOf(message string) string {
	message = number.ReplaceAllString(message[:min(len(message), 200)], "$1#")
	for _, m := range messages {
		if strings.HasPrefix(message, m.begins) {
			return m.keyword
		}
	}
	switch { // messages of these keywords begin with the name of a member
	case strings.HasSuffix(message, "value is required"):
		return "required"
	case strings.HasSuffix(message, "property is required"):
		return "dependentRequired"
	}
	return ""
}

// locked calls f while no other goroutine uses the library, and turns a panic of f into an error.
func locked(doing string, f func() error) (err error) {
	library.Lock()
	defer library.Unlock()
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%s failed: %s", doing, shorten(fmt.Sprint(r)))
		}
	}()
	return f()
}

// decode decodes a JSON text, with numbers as they are written.
func decode(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}

// shorten cuts a text that comes from a schema or a config, so that a sentence stays short.
func shorten(s string) string {
	const most = 200
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
