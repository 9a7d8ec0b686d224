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
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/qri-io/jsonschema"
	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/jsonpointer"
)

// New returns the engine. All of them share one lock.
func New() appsvc.SchemaEngine { return engine{} }

type engine struct{}

// library must be locked around every call into qri-io/jsonschema, whose registries belong to the whole process and are
// not safe for concurrent use.
var library sync.Mutex

// errCostly is the error of a config that would take too long to validate. The service counts the steps of its own engine, but
// that one stops at a wrong type, and this one does not.
var errCostly = errors.New("validating this config against this schema would take too long: make the config smaller, or the schema less branching")

// mostWork is how many subschemas times values of a config there may be, at about a microsecond each. maxViolations is how many violations
// of one config are returned.
const (
	mostWork      = 200_000
	maxViolations = 100
)

// schema is a compiled schema, and what it weighs: see checker.
type schema struct {
	compiled *jsonschema.Schema
	weight   int
	unique   bool // some items are compared with all before them
}

// Compile implements appsvc.SchemaEngine. It returns an error for a schema that is no JSON, that the comment of the
// package excludes, or that the library refuses.
func (engine) Compile(text []byte) (appsvc.Schema, error) {
	c := checker{weights: map[string]int{}}
	if err := json.Unmarshal(text, &c.doc); err != nil {
		return nil, fmt.Errorf("the schema is not JSON: %w", err)
	}
	if c.weigh(c.doc, ""); c.err != nil {
		return nil, c.err
	}
	out := &schema{&jsonschema.Schema{}, max(c.weights[""], 1), bytes.Contains(text, []byte(`"uniqueItems"`))}
	if object, ok := c.doc.(map[string]any); ok && object["$id"] != nil {
		// No reference needs it, and the library would register the schema under it.
		members := map[string]json.RawMessage{}
		_ = json.Unmarshal(text, &members)
		delete(members, "$id")
		text, _ = json.Marshal(members)
	}
	library.Lock()
	defer library.Unlock()
	return out, json.Unmarshal(text, out.compiled)
}

// Validate implements appsvc.Schema. It returns the first 100 violations of a config, ordered by pointer, keyword and message, and an
// error for a config that would take too long. The library finds violations in the random order of maps.
func (s *schema) Validate(config []byte) (out []vitrine.Violation, err error) {
	values := 1 + len(config)/32 + bytes.Count(config, []byte(",")) + bytes.Count(config, []byte(":"))
	if s.unique {
		values += values * values / 512
	}
	if values > mostWork/s.weight {
		return nil, errCostly
	}
	library.Lock()
	defer library.Unlock()
	faults, err := s.compiled.ValidateBytes(context.Background(), config)
	for _, f := range faults {
		out = append(out, vitrine.Violation{
			Pointer: strings.TrimSuffix(f.PropertyPath, "/"), Keyword: keywordOf(f.Message), Message: fmt.Sprintf("%.200s", f.Message)})
	}
	slices.SortFunc(out, func(a, b vitrine.Violation) int {
		return slices.Compare([]string{a.Pointer, a.Keyword, a.Message}, []string{b.Pointer, b.Keyword, b.Message})
	})
	out = slices.Compact(out)
	return out[:min(len(out), maxViolations)], err
}

// checker walks a schema and adds up how much work it is for a value at most: how many subschemas it has, with references written out, and
// large patterns and enums counted several times. err is what the library cannot handle or reads differently from everybody else:
// references that form a cycle, which it follows without end; references that are not a JSON pointer into the document; and the
// other keywords that the comment of the package names.
type checker struct {
	doc     any
	weights map[string]int // of the objects in it by JSON pointer, 0 while an object is walked
	err     error          // the first
}

// refuse notes the first error.
func (c *checker) refuse(format string, args ...any) int {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
	return 0
}

// weigh weighs every value at and below v that the library may read as a schema. pointer is the JSON pointer of v.
func (c *checker) weigh(v any, pointer string) (weight int) {
	switch v := v.(type) {
	case []any:
		for i, element := range v {
			weight = min(weight+c.weigh(element, pointer+"/"+strconv.Itoa(i)), mostWork)
		}
	case map[string]any:
		known, met := c.weights[pointer]
		if met && known == 0 {
			return c.refuse("%q: a reference leads back here: this engine takes no recursive schemas", pointer)
		} else if met {
			return known
		}
		c.weights[pointer], weight = 0, 1
		for _, keyword := range slices.Sorted(maps.Keys(v)) {
			weight = min(weight+c.keyword(keyword, v[keyword], pointer), mostWork)
		}
		c.weights[pointer] = weight
	}
	return weight
}

// keyword weighs one keyword. Values that are data, such as those of enum, are not schemas.
func (c *checker) keyword(keyword string, v any, pointer string) int {
	at := pointer + "/" + jsonpointer.Escape(keyword)
	text, isString := v.(string)
	switch {
	case slices.Contains([]string{"const", "enum", "default", "examples"}, keyword):
		return len(fmt.Sprint(v)) / 256
	case keyword == "pattern":
		return instructions(text)
	case keyword == "patternProperties":
		weight := c.weigh(v, at)
		properties, _ := v.(map[string]any)
		for pattern := range properties {
			weight += instructions(pattern)
		}
		return weight
	case keyword == "$id" && isString && pointer != "":
		return c.refuse("%s: this engine takes an id at the root only", at)
	case keyword == "format" && text == "regex":
		return c.refuse("%s: this engine does not take the format regex: it would compile every value of a config as a pattern", at)
	case keyword == "$recursiveRef" && isString:
		return c.refuse("%s: this engine takes no recursive schemas", at)
	case keyword == "$ref" && isString:
		if text != "#" && (!strings.HasPrefix(text, "#/") || strings.ContainsAny(text, "~%")) {
			return c.refuse("%s: %.200q is not a reference that this engine takes: use a JSON pointer like \"#/$defs/name\", without escapes", at, text)
		}
		if strings.Contains(text+"/", "/items/") { // where the library expects an index even if items is a single schema
			return c.refuse("%s: %.200q leads through items, which this engine does not take in a reference", at, text)
		}
		target := c.doc
		for _, token := range strings.Split(text[1:], "/")[1:] {
			object, _ := target.(map[string]any)
			array, _ := target.([]any)
			if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(array) {
				target = array[i]
			} else if target = object[token]; target == nil {
				return c.refuse("%s: there is nothing at %.200q", at, text)
			}
		}
		return c.weigh(target, text[1:])
	}
	return c.weigh(v, at)
}

// instructions returns a 16th of how many instructions the program of a pattern has, 0 if it does not compile.
func instructions(pattern string) int {
	if tree, err := syntax.Parse(pattern, syntax.Perl); err == nil {
		if program, err := syntax.Compile(tree.Simplify()); err == nil {
			return len(program.Inst) / 16
		}
	}
	return 0
}

// messages are the beginnings of the library's messages, with the keyword that each comes from. Nothing else in a fault says
// which keyword it is about. # stands for any number.
var messages = [][2]string{
	{"type should be", "type"}, {"should be one of", "enum"}, {"must equal", "const"}, {"must be a multiple of", "multipleOf"},
	{"must be less than or equal to", "maximum"}, {"must be greater than or equal to", "minimum"}, {"# must be less than", "exclusiveMaximum"},
	{"# must be greater than", "exclusiveMinimum"}, {"max length of", "maxLength"}, {"min length of", "minLength"}, {"regexp pattern", "pattern"},
	{"invalid ", "format"}, {"array length # exceeds", "maxItems"}, {"array length # below", "minItems"}, {"array items must be unique", "uniqueItems"},
	{"must contain at least one", "contains"}, {"contained items # exceeds", "maxContains"}, {"contained items # bellow", "minContains"},
	{"additional items", "additionalItems"}, {"unevaluated items", "unevaluatedItems"}, {"additional properties", "additionalProperties"},
	{"unevaluated properties", "unevaluatedProperties"}, {"# object Properties exceed", "maxProperties"},
	{"# object Properties below", "minProperties"}, {"did Not match any specified AnyOf", "anyOf"}, {"matched more than one specified OneOf", "oneOf"},
	{"did not match any of the specified OneOf", "oneOf"}, {"result was valid, ('not')", "not"}, {"failed to resolve schema", "$ref"},
	{"value is required", "required"}, {"property is required", "dependentRequired"}, // behind the name of a member
}

// number matches a number that stands alone in a message.
var number = regexp.MustCompile(`(^| )-?[0-9][^ ]*`)

// keywordOf returns the keyword that a message of the library comes from, "" if the message does not tell.
func keywordOf(message string) string {
	message = number.ReplaceAllString(message[:min(len(message), 200)], "$1#")
	for _, m := range messages {
		if strings.HasPrefix(message, m[0]) || strings.HasSuffix(message, m[0]) {
			return m[1]
		}
	}
	return ""
}
