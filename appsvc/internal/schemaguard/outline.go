package schemaguard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/vitrine-go/vitrine/internal/jsonpointer"
	"github.com/vitrine-go/vitrine/internal/strictjson"
)

// Limits of a schema. The compiler takes quadratic time for some schemas, so these are rejected before.
const (
	MaxBytes = 256 << 10 // of the schema's text
	MaxDepth = 64        // of nested arrays and objects

	maxNumber = 1_000   // digits and exponent of a number
	maxCount  = 1 << 53 // of maxLength, minItems and their like
	maxWork   = 5_000   // of compiling: see outline.work
)

// read decodes a schema, after checking the limits of its text and of its numbers. Numbers become json.Number, which
// keeps their text.
func read(schema []byte) (doc any, err error) {
	if len(schema) > MaxBytes {
		return nil, reject("", "it is %d bytes long, at most %d are allowed", len(schema), MaxBytes)
	}
	if err := strictjson.Check(schema, MaxDepth); err != nil {
		if at, ok := errors.AsType[*strictjson.Error](err); ok {
			return nil, &Error{at.Pointer, at.Reason}
		}
		return nil, reject("", "%v", err)
	}
	d := json.NewDecoder(bytes.NewReader(schema))
	d.UseNumber()
	if err := d.Decode(&doc); err != nil {
		return nil, reject("", "%v", err)
	}
	for tokens := jsontext.NewDecoder(bytes.NewReader(schema)); ; {
		switch token, err := tokens.ReadToken(); {
		case err != nil: // the end, since the schema is valid JSON
			return doc, nil
		case token.Kind() == '0' && numberSize(token.String()) > maxNumber:
			return nil, reject(string(tokens.StackPointer()),
				"the number has more than %d digits, its exponent counted", maxNumber)
		}
	}
}

// outline has the subschemas, references, patterns and defaults of a schema. It is made before the schema is compiled.
type outline struct {
	doc      any
	draft    draft
	places   []string          // JSON pointers of the subschemas, outer ones before inner ones
	met      map[string]bool   // the same
	refs     map[string]string // text of each reference, and the pointer of one that has it
	patterns patterns
	defaults map[string]any                                       // by the pointer of the subschema
	formats  map[string]string                                    // by the pointer of the subschema
	each     func(object map[string]any, pointer string, d draft) // called with each subschema that is an object
	err      error                                                // the first mistake; the survey ends with it

	// The work of the compiler: 1 for a subschema, and 5 more for one with an id and for a reference to a place that
	// keywords do not lead to; 1 for each 4 values in arrays and objects of enums, which draft-04 compares with one
	// another; 1 for a KiB of JSON pointers.
	work, compared, pointers int
}

// scope is the nearest enclosing subschema with an id, or the root: what references are relative to.
type scope struct {
	pointer string
	id      string // as written
}

// survey returns the outline of a schema. It returns an *Error for a schema that must not be compiled.
func survey(doc any, m *meter, each func(object map[string]any, pointer string, d draft)) (*outline, error) {
	o := &outline{doc: doc, draft: draft2020, each: each, met: map[string]bool{}, refs: map[string]string{},
		defaults: map[string]any{}, formats: map[string]string{},
		patterns: patterns{meter: m, known: map[string]*pattern{}}}
	o.schema(doc, "", scope{})
	o.bounded()
	return o, o.err
}

// reject notes the first mistake.
func (o *outline) reject(pointer, format string, args ...any) {
	if o.err == nil {
		o.err = reject(pointer, format, args...)
	}
}

// bounded rejects a schema whose compilation takes too much work.
func (o *outline) bounded() {
	if o.work+o.compared/4+o.pointers/1024 > maxWork {
		o.reject("",
			"it is too complex to compile: it has too many subschemas, ids, references, values in enums or long names")
	}
}

// schema surveys a subschema and everything below it. pointer is its JSON pointer, and in the scope around it. Each
// place is surveyed once.
func (o *outline) schema(v any, pointer string, in scope) {
	if o.met[pointer] || o.err != nil {
		return
	}
	// The place is noted before the places below it are surveyed, so that a cycle of references ends here.
	o.met[pointer] = true
	o.pointers += 3 * len(pointer)
	o.places = append(o.places, pointer)
	o.work++
	o.bounded()
	object, ok := v.(map[string]any)
	if !ok {
		if _, isBool := v.(bool); !isBool {
			o.reject(pointer, "a schema is an object or a boolean, this is %s", kindOf(v))
		}
		return
	}
	if uri, ok := object["$schema"].(string); ok {
		switch own, known := draftOf(uri); {
		case !known:
			o.reject(pointer+"/$schema", "%q is not a known draft: use https://json-schema.org/draft/2020-12/schema "+
				"or the one of 2019-09, draft-07, draft-06 or draft-04",
				shorten(uri))
		case pointer == "":
			o.draft = own
		case own != o.draft:
			o.reject(pointer+"/$schema", "the schema is of %s, and a subschema cannot be of another draft", o.draft)
		}
	}
	if id := o.idOf(object); id != "" || pointer == "" {
		in = scope{pointer, id}
		o.work += 5
	}
	o.each(object, pointer, o.draft)
	if given, ok := object["default"]; ok {
		o.defaults[pointer] = given
	}
	if format, ok := object["format"].(string); ok && (object["$ref"] == nil || o.draft >= draft2019) {
		o.formats[pointer] = format
	}
	for _, keyword := range slices.Sorted(maps.Keys(object)) {
		if o.err != nil {
			return
		}
		at := pointer + "/" + jsonpointer.Escape(keyword)
		o.pointers += len(at)
		o.keyword(keyword, object[keyword], at, in)
		o.applicator(keyword, object[keyword], at, in)
	}
}

// idOf returns the base URI that a subschema gives itself, without its fragment, "" if it gives none.
func (o *outline) idOf(object map[string]any) string {
	if _, ref := object["$ref"]; ref && o.draft < draft2019 {
		return "" // the keywords beside a reference are ignored
	}
	keyword := "$id"
	if o.draft == draft4 {
		keyword = "id"
	}
	id, _ := object[keyword].(string)
	id, _, _ = strings.Cut(id, "#")
	return id
}

// keyword surveys the value of one keyword, apart from its subschemas: references, patterns, values to compare, and
// counts that would overflow an int.
func (o *outline) keyword(keyword string, v any, at string, in scope) {
	switch keyword {
	case "$ref", "$recursiveRef", "$dynamicRef":
		o.reference(v, at, in)
	case "pattern":
		if text, ok := v.(string); ok {
			o.pattern(text, at)
		}
	case "patternProperties":
		properties, _ := v.(map[string]any)
		for _, text := range slices.Sorted(maps.Keys(properties)) {
			o.pattern(text, at+"/"+jsonpointer.Escape(text))
		}
	case "enum":
		values, _ := v.([]any)
		for _, value := range values {
			o.compared += size(value) - 1
		}
	case "items":
		if _, isList := v.([]any); isList && o.draft >= draft2020 {
			o.older(at, `"items" as a list is of draft-07`, `write "prefixItems"`)
		}
	case "exclusiveMaximum", "exclusiveMinimum":
		if _, isBool := v.(bool); isBool && o.draft > draft4 {
			o.older(at, fmt.Sprintf("%q as a boolean is of draft-04", keyword), "write the limit itself")
		}
	case "required":
		if _, isBool := v.(bool); isBool {
			o.older(at, `"required" as a boolean is of draft-03, which is not known here`,
				`list the name in "required" of the object`)
		}
	case "maxLength", "minLength", "maxItems", "minItems", "maxProperties", "minProperties", "maxContains",
		"minContains":
		number, _ := v.(json.Number)
		if n, _ := number.Float64(); n > maxCount {
			o.reject(at, "%s is more than 2^53", shorten(string(number)))
		}
	}
}

// older rejects a keyword that has a form of an earlier draft: what says of which, and instead what would be right.
func (o *outline) older(at, what, instead string) {
	if root, _ := o.doc.(map[string]any); root["$schema"] == nil {
		o.reject(at, `without "$schema" this is %s; %s: name the draft, or %s`, o.draft, what, instead)
	} else {
		o.reject(at, "this is %s; %s: %s", o.draft, what, instead)
	}
}

// pattern adds the pattern at a place to the limits of the schema.
func (o *outline) pattern(text, at string) {
	if o.err != nil {
		return
	}
	if _, err := o.patterns.compile(text); err != nil {
		o.reject(at, "%v", err)
	}
}

// reference surveys a reference. If it leads to a place that keywords alone do not lead to, such as "#/x-shared/name",
// that place becomes a subschema by the reference, so it is surveyed as one.
func (o *outline) reference(v any, at string, in scope) {
	text, ok := v.(string)
	if !ok {
		o.reject(at, "a reference is a string, this is %s", kindOf(v))
		return
	}
	if first, again := o.refs[text]; !again || at < first {
		o.refs[text] = at
	}
	address, _, _ := strings.Cut(text, "#")
	fragment := pointerOf(text)
	// An anchor, an address alone, or a pointer along keywords leads to a subschema that is surveyed anyway.
	if _, meta := draftOf(address); meta || !strings.HasPrefix(fragment, "/") || o.draft.isSubschema(fragment) {
		return
	}
	place := in.pointer + fragment
	target, ok := jsonpointer.Lookup(o.doc, place)
	switch {
	case address != "" && address != in.id:
		o.reject(at, "%q is in another resource, where references lead to subschemas only, and nothing is fetched",
			shorten(text))
	case !ok:
		o.reject(at, "there is nothing at %q", shorten(text))
	case !o.met[place]:
		o.work += 5
		o.schema(target, place, in)
	}
}

// applicator surveys the subschemas of a keyword. It skips a keyword with a value of a wrong type, which the
// meta-schema rejects.
func (o *outline) applicator(keyword string, v any, at string, in scope) {
	shape := o.draft.shapeOf(keyword)
	elements, isList := v.([]any)
	switch {
	case shape == one || shape == oneOrList && !isList:
		o.schema(v, at, in)
	case shape == list || shape == oneOrList:
		for i, element := range elements {
			o.schema(element, at+"/"+strconv.Itoa(i), in)
		}
	case shape == named:
		members, _ := v.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(members)) {
			if _, names := members[name].([]any); !names || keyword != "dependencies" {
				o.schema(members[name], at+"/"+jsonpointer.Escape(name), in)
			}
		}
	}
}

// draft is a version of JSON Schema, by the number or year in its name.
type draft int

const (
	draft4    draft = 4
	draft6    draft = 6
	draft7    draft = 7
	draft2019 draft = 2019
	draft2020 draft = 2020
)

func (d draft) String() string {
	switch d {
	case draft2019:
		return "draft 2019-09"
	case draft2020:
		return "draft 2020-12"
	}
	return fmt.Sprintf("draft-%02d", int(d))
}

// draftOf returns the draft that a $schema names, and false if it names no draft that is known here.
func draftOf(schema any) (draft, bool) {
	uri, _ := schema.(string)
	uri = strings.TrimPrefix(strings.Replace(strings.TrimSuffix(uri, "#"), "https:", "http:", 1),
		"http://json-schema.org/")
	d, ok := map[string]draft{"draft-04/schema": draft4, "draft-06/schema": draft6, "draft-07/schema": draft7,
		"draft/2019-09/schema": draft2019, "draft/2020-12/schema": draft2020}[uri]
	return d, ok
}

// shape is the form in which a keyword contains subschemas.
type shape int

const (
	one       shape = iota + 1 // a schema
	list                       // an array of schemas
	oneOrList                  // either
	named                      // an object of schemas, in dependencies of lists of property names too
)

// keywords lists the keywords that can reject a config or that contain subschemas, each with the shape of its
// subschemas (0 if it has none) and its first draft. A keyword that a later draft has renamed, such as definitions, is
// still read there, as validators do.
var keywords = map[string]struct {
	shape shape
	since draft
}{
	"$ref": {0, draft4}, "type": {0, draft4}, "enum": {0, draft4}, "multipleOf": {0, draft4}, "maximum": {0, draft4},
	"exclusiveMaximum": {0, draft4},
	"minimum":          {0, draft4}, "exclusiveMinimum": {0, draft4}, "maxLength": {0, draft4},
	"minLength": {0, draft4}, "pattern": {0, draft4},
	"maxItems": {0, draft4}, "minItems": {0, draft4}, "uniqueItems": {0, draft4}, "maxProperties": {0, draft4},
	"minProperties": {0, draft4},
	"required":      {0, draft4}, "format": {0, draft4}, "const": {0, draft6}, "dependentRequired": {0, draft2019},
	"minContains": {0, draft2019}, "maxContains": {0, draft2019}, "$recursiveRef": {0, draft2019},
	"$dynamicRef": {0, draft2020},
	"not":         {one, draft4}, "additionalProperties": {one, draft4}, "additionalItems": {one, draft4},
	"allOf": {list, draft4}, "anyOf": {list, draft4}, "oneOf": {list, draft4}, "items": {oneOrList, draft4},
	"definitions": {named, draft4}, "properties": {named, draft4}, "patternProperties": {named, draft4},
	"dependencies":  {named, draft4},
	"propertyNames": {one, draft6}, "contains": {one, draft6},
	"if": {one, draft7}, "then": {one, draft7}, "else": {one, draft7},
	"$defs": {named, draft2019}, "dependentSchemas": {named, draft2019},
	"unevaluatedProperties": {one, draft2019}, "unevaluatedItems": {one, draft2019}, "contentSchema": {one, draft2019},
	"prefixItems": {list, draft2020},
}

// shapeOf returns the shape of the subschemas of a keyword in draft d, 0 if it contains none.
func (d draft) shapeOf(keyword string) shape {
	if k := keywords[keyword]; k.since <= d {
		return k.shape
	}
	return 0
}

// isSubschema reports whether a JSON pointer leads from a schema to one of its subschemas through keywords that contain
// subschemas.
func (d draft) isSubschema(pointer string) bool {
	tokens := strings.Split(pointer, "/")[1:]
	for len(tokens) > 0 {
		shape := d.shapeOf(tokens[0])
		tokens = tokens[1:]
		index := len(tokens) > 0 && jsonpointer.Index(tokens[0]) >= 0
		switch {
		case shape == 0 || shape == list && !index || shape == named && len(tokens) == 0:
			return false
		case shape != one && (shape != oneOrList || index):
			tokens = tokens[1:]
		}
	}
	return true
}

// kindOf names the type of a JSON value for a sentence.
func kindOf(v any) string {
	text, _ := json.Marshal(v)
	return strictjson.KindName(jsontext.Value(text).Kind())
}

// shorten cuts a text from outside that an error quotes.
func shorten(s string) string {
	const most = 100
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
