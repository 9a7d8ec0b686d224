// Package qrischema is an [appsvc.SchemaEngine] over qri-io/jsonschema, for programs that have
// their schemas checked by that library already and want the same verdicts.
//
//	apps := appsvc.New(db, &appsvc.Options{Schemas: qrischema.New()})
//
// Use it in no other way: before the Service calls any engine, it rejects what would crash or stall this one, such as
// null subschemas. Compile itself rejects what the Service accepts and qri-io/jsonschema cannot handle:
//
//   - references that form a cycle, even through properties: the library follows some of them for ever
//   - references that are not a plain JSON pointer into the document ("#/$defs/name"), and $recursiveRef
//   - subschemas with an $id of their own
//   - "format": "regex", with which the library would compile values of a config as patterns
//
// So nothing is fetched, from the network or from files, and nothing of one schema gets into another through the
// registry of the library, which the whole process shares. Since that is not safe for concurrent use, one schema is
// compiled or one config validated at a time.
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
// The default engine, appsvc.NewSchemaEngine(nil), has none of these faults.
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

// mostWork is how many subschemas times values of a config there may be, at about a microsecond each. maxViolations is
// how many violations of one config are returned.
const mostWork, maxViolations = 200_000, 100

// schema is a compiled schema, and what it weighs: see checker.
type schema struct {
	compiled jsonschema.Schema
	weight   int
}

// Compile implements appsvc.SchemaEngine. It returns an error for a schema that is no JSON, that the comment of the
// package excludes, or that the library refuses.
func (engine) Compile(text []byte) (appsvc.Schema, error) {
	c := checker{weights: map[string]int{}}
	if err := json.Unmarshal(text, &c.doc); err != nil {
		return nil, fmt.Errorf("the schema is not JSON: %w", err)
	}
	out := &schema{weight: max(c.weigh(c.doc, ""), 1)}
	if c.err != nil {
		return nil, c.err
	}
	if object, ok := c.doc.(map[string]any); ok {
		delete(object, "$id") // no reference needs it, and the library would register the schema under it
		text, _ = json.Marshal(object)
	}
	library.Lock()
	defer library.Unlock()
	return out, json.Unmarshal(text, &out.compiled)
}

// Validate implements appsvc.Schema. It returns the first 100 violations of a config, ordered by pointer, keyword and
// message, and an error for a config that would take too long. The library finds violations in the random order of
// maps.
func (s *schema) Validate(config []byte) (out []vitrine.Violation, err error) {
	// The service counts the steps of its own engine, but that one stops at a wrong type, and this one does not.
	values := 1 + len(config)/32 + bytes.Count(config, []byte(",")) + bytes.Count(config, []byte(":"))
	if values > mostWork/s.weight {
		return nil, errors.New("validating this config against this schema would take too long: make the config " +
			"smaller, or the schema less branching")
	}
	library.Lock()
	defer library.Unlock()
	faults, err := s.compiled.ValidateBytes(context.Background(), config)
	for _, f := range faults {
		out = append(out, vitrine.Violation{
			Pointer: strings.TrimSuffix(f.PropertyPath, "/"), Keyword: keywordOf(f.Message),
			Message: fmt.Sprintf("%.200s", f.Message)})
	}
	slices.SortFunc(out, func(a, b vitrine.Violation) int {
		return slices.Compare([]string{a.Pointer, a.Keyword, a.Message}, []string{b.Pointer, b.Keyword, b.Message})
	})
	out = slices.Compact(out)
	return out[:min(len(out), maxViolations)], err
}

// checker walks a schema and adds up how much work it is for a value at most: how many subschemas it has, with
// references written out, and large patterns and enums counted several times. err is what the library cannot handle or
// reads differently from everybody else: references that form a cycle, which it follows without end; references that
// are not a JSON pointer into the document; and the other keywords that the comment of the package names.
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
		if known, met := c.weights[pointer]; met && known > 0 {
			return known
		} else if met {
			return c.refuse("%q: a reference leads back here: this engine takes no recursive schemas", pointer)
		}
		c.weights[pointer], weight = 0, 1
		for _, keyword := range slices.Sorted(maps.Keys(v)) {
			// In patternProperties the names are patterns; as such, other names weigh next to nothing.
			weight = min(weight+instructions(keyword)+c.keyword(keyword, v[keyword], pointer), mostWork)
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
	case keyword == "uniqueItems":
		return 100 // each item is compared with all before it
	case keyword == "$id" && isString && pointer != "":
		return c.refuse("%s: this engine takes an id at the root only", at)
	case keyword == "format" && text == "regex":
		return c.refuse("%s: this engine does not take the format regex: it would compile every value of a config "+
			"as a pattern", at)
	case keyword == "$recursiveRef" && isString:
		return c.refuse("%s: this engine takes no recursive schemas", at)
	case keyword == "$ref" && isString:
		// Behind /items the library expects an index even if items is a single schema.
		if text != "#" &&
			(!strings.HasPrefix(text, "#/") || strings.ContainsAny(text, "~%") ||
				strings.Contains(text+"/", "/items/")) {
			return c.refuse("%s: %.200q is not a reference that this engine takes: use a JSON pointer like "+
				"\"#/$defs/name\", without escapes and not through items", at, text)
		}
		target, _ := jsonpointer.Lookup(c.doc, text[1:]) // the guard has looked: there is one
		return c.weigh(target, text[1:])
	}
	return c.weigh(v, at)
}

// instructions returns a 16th of how many instructions the program of a pattern has, 0 if it does not compile.
func instructions(pattern string) int {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0
	}
	program, _ := syntax.Compile(tree.Simplify()) // never fails for what was parsed
	return len(program.Inst) / 16
}

// messages are the beginnings of the library's messages by the keyword that each comes from, and those behind the name
// of a member. Nothing else in a fault says which keyword it is about. # stands for any number.
var messages = [][]string{
	{"type", "type should be"}, {"enum", "should be one of"}, {"const", "must equal"},
	{"multipleOf", "must be a multiple of"},
	{"maximum", "must be less than or equal to"}, {"minimum", "must be greater than or equal to"},
	{"exclusiveMaximum", "# must be less than"},
	{"exclusiveMinimum", "# must be greater than"}, {"maxLength", "max length of"}, {"minLength", "min length of"},
	{"pattern", "regexp pattern"},
	{"format", "invalid "}, {"maxItems", "array length # exceeds"}, {"minItems", "array length # below"},
	{"uniqueItems", "array items must be unique"},
	{"contains", "must contain at least one"}, {"maxContains", "contained items # exceeds"},
	{"minContains", "contained items # bellow"},
	{"additionalItems", "additional items"}, {"unevaluatedItems", "unevaluated items"},
	{"additionalProperties", "additional properties"},
	{"unevaluatedProperties", "unevaluated properties"}, {"maxProperties", "# object Properties exceed"},
	{"minProperties", "# object Properties below"}, {"anyOf", "did Not match any specified AnyOf"},
	{"not", "result was valid, ('not')"},
	{"oneOf", "matched more than one specified OneOf", "did not match any of the specified OneOf"},
	{"$ref", "failed to resolve schema"},
	{"required", "value is required"}, {"dependentRequired", "property is required"},
}

// number matches a number that stands alone in a message.
var number = regexp.MustCompile(`(^| )-?[0-9][^ ]*`)

// keywordOf returns the keyword that a message of the library comes from, "" if the message does not tell.
func keywordOf(message string) string {
	message = number.ReplaceAllString(message[:min(len(message), 200)], "$1#")
	for _, m := range messages {
		if slices.ContainsFunc(m[1:], func(text string) bool {
			return strings.HasPrefix(message, text) || strings.HasSuffix(message, text)
		}) {
			return m[0]
		}
	}
	return ""
}
