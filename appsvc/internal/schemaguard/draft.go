package schemaguard

import (
	"strings"

	"github.com/vitrine-go/vitrine/internal/jsonpointer"
)

// draft is a version of JSON Schema, by the number or year in its name.
type draft int

const (
	draft4    draft = 4
	draft6    draft = 6
	draft7    draft = 7
	draft2019 draft = 2019
	draft2020 draft = 2020
)

// draftOf returns the draft that a $schema names, false when it is none of the five.
func draftOf(uri string) (draft, bool) {
	uri = strings.TrimSuffix(uri, "#")
	name, ok := strings.CutPrefix(uri, "http://json-schema.org/")
	if !ok {
		name, _ = strings.CutPrefix(uri, "https://json-schema.org/")
	}
	switch name {
	case "draft-04/schema":
		return draft4, true
	case "draft-06/schema":
		return draft6, true
	case "draft-07/schema":
		return draft7, true
	case "draft/2019-09/schema":
		return draft2019, true
	case "draft/2020-12/schema":
		return draft2020, true
	}
	return 0, false
}

// id is the keyword that gives a subschema its own base URI.
func (d draft) id() string {
	if d == draft4 {
		return "id"
	}
	return "$id"
}

// shape is how a keyword holds subschemas.
type shape int

const (
	one       shape = iota + 1 // a schema
	list                       // an array of schemas
	oneOrList                  // either
	named                      // an object of schemas
	namedOr                    // an object of schemas and of lists of property names
)

// shapeOf returns how keyword holds subschemas in draft d, 0 when it holds none.
func (d draft) shapeOf(keyword string) shape {
	sh, since := shapeSince(keyword)
	if since > d {
		return 0
	}
	return sh
}

// shapeSince also returns the first draft that has the keyword. A keyword that a later draft has renamed, such as
// definitions, is still read there, as validators do.
func shapeSince(keyword string) (shape, draft) {
	switch keyword {
	case "not", "additionalProperties", "additionalItems":
		return one, draft4
	case "allOf", "anyOf", "oneOf":
		return list, draft4
	case "items":
		return oneOrList, draft4
	case "definitions", "properties", "patternProperties":
		return named, draft4
	case "dependencies":
		return namedOr, draft4
	case "propertyNames", "contains":
		return one, draft6
	case "if", "then", "else":
		return one, draft7
	case "$defs", "dependentSchemas":
		return named, draft2019
	case "unevaluatedProperties", "unevaluatedItems", "contentSchema":
		return one, draft2019
	case "prefixItems":
		return list, draft2020
	}
	return 0, 0
}

// isSubschema reports whether a JSON pointer leads from a schema to one of its subschemas through keywords that hold
// subschemas. A reference to any other place is expensive to compile.
func (d draft) isSubschema(pointer string) bool {
	tokens := strings.Split(pointer, "/")[1:]
	for len(tokens) > 0 {
		sh := d.shapeOf(tokens[0])
		tokens = tokens[1:]
		switch sh {
		case 0:
			return false
		case one:
		case oneOrList:
			if len(tokens) > 0 && jsonpointer.IsIndex(tokens[0]) {
				tokens = tokens[1:]
			}
		case list:
			// The compiler takes "01" for an index too, and compiles the subschema again under that name.
			if len(tokens) == 0 || !jsonpointer.IsIndex(tokens[0]) {
				return false
			}
			tokens = tokens[1:]
		default:
			if len(tokens) == 0 {
				return false
			}
			tokens = tokens[1:]
		}
	}
	return true
}
