package openapi

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/vitrine-go/vitrine/internal/jsonpointer"
)

// Document is an OpenAPI document that is ready to judge.
type Document struct {
	Paths map[string]*Path // by path as it is described
}

// Path is what is described at one path.
type Path struct {
	AtRoot     bool                  // has servers of its own: it is not below the base path
	Operations map[string]*Operation // by method, in capitals
}

// Operation is one method of a path.
type Operation struct {
	ID         string
	Open       bool // needs no token
	Parameters []Parameter
	Body       map[string]media // what it takes, by media type; nil for nothing
	Responses  map[string]response
}

// Parameter is a part of a request beside its body.
type Parameter struct {
	Name, In string
	Required bool
	schema   *jsonschema.Schema
	kind     string // type of the schema, or of its items
	list     bool
}

type response struct {
	headers []Parameter
	content map[string]media // nil for no body
}

type media struct {
	schema *jsonschema.Schema
	text   bool // the schema is of the text, whatever the media type
}

const resource = "https://openapi.test/openapi.json"

// Parse reads a document, compiles its schemas, and validates its examples by them.
func Parse(text []byte) (*Document, error) {
	tree, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	root, ok := tree.(map[string]any)
	if version, _ := root["openapi"].(string); !ok || !strings.HasPrefix(version, "3.1.") {
		return nil, fmt.Errorf("not an OpenAPI 3.1 document")
	}
	closeObjects(tree)
	r := &reader{doc: &Document{Paths: map[string]*Path{}}, tree: tree, compiler: jsonschema.NewCompiler(), compiled: map[string]*jsonschema.Schema{}}
	r.compiler.AssertFormat()
	if err := r.compiler.AddResource(resource, tree); err != nil {
		return nil, err
	}
	r.everySchema()
	r.paths()
	if r.faults != nil {
		return nil, fmt.Errorf("the document is at fault:\n%s", strings.Join(r.faults, "\n"))
	}
	return r.doc, nil
}

// closeObjects adds "additionalProperties": false to objects whose members are listed, unless they say something else.
func closeObjects(v any) {
	switch v := v.(type) {
	case map[string]any:
		_, lists := v["properties"]
		if _, says := v["additionalProperties"]; lists && !says {
			v["additionalProperties"] = false
		}
		for name, member := range v {
			if name != "example" && name != "examples" {
				closeObjects(member)
			}
		}
	case []any:
		for _, item := range v {
			closeObjects(item)
		}
	}
}

// reader takes a document apart and notes what is wrong with it.
type reader struct {
	doc      *Document
	tree     any
	compiler *jsonschema.Compiler
	compiled map[string]*jsonschema.Schema // by pointer
	faults   []string
}

func (r *reader) fault(at, format string, args ...any) {
	r.faults = append(r.faults, at+": "+fmt.Sprintf(format, args...))
}

// at follows a pointer within the document, and the references that it leads to.
func (r *reader) at(pointer string) (string, map[string]any) {
	v := r.tree
	for name := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		switch x := v.(type) {
		case map[string]any:
			v = x[jsonpointer.Unescape(name)]
		case []any:
			i, err := strconv.Atoi(name)
			v = nil
			if err == nil && i < len(x) {
				v = x[i]
			}
		}
	}
	m, ok := v.(map[string]any)
	if !ok {
		r.fault(pointer, "there is nothing")
		return pointer, map[string]any{}
	}
	if to, ok := m["$ref"].(string); ok {
		return r.at(strings.TrimPrefix(to, "#"))
	}
	return pointer, m
}

func step(pointer, name string) string {
	return pointer + "/" + jsonpointer.Escape(name)
}

// schema returns the schema at a pointer, compiled.
func (r *reader) schema(pointer string) *jsonschema.Schema {
	if s, done := r.compiled[pointer]; done {
		return s
	}
	s, err := r.compiler.Compile(resource + "#" + pointer)
	if err != nil {
		r.fault(pointer, "%v", err)
	}
	r.compiled[pointer] = s
	return s
}

// everySchema compiles the schemas of the components, also those that nothing uses.
func (r *reader) everySchema() {
	_, all := r.at("/components/schemas")
	for _, name := range slices.Sorted(maps.Keys(all)) {
		pointer := step("/components/schemas", name)
		s := r.schema(pointer)
		examples, _ := all[name].(map[string]any)["examples"].([]any)
		for _, e := range examples {
			r.example(pointer, s, e)
		}
	}
}

func (r *reader) example(at string, s *jsonschema.Schema, example any) {
	if s == nil {
		return
	}
	if err := s.Validate(example); err != nil {
		r.fault(at, "the example is not as it is described: %s", brief(err))
	}
}

// content reads the media types of a body.
func (r *reader) content(pointer string) map[string]media {
	_, all := r.at(pointer)
	out := map[string]media{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		at, m := r.at(step(pointer, name))
		s := r.schema(at + "/schema")
		_, plain := r.at(at + "/schema")
		out[name] = media{s, plain["contentMediaType"] != nil}
		if e, given := m["example"]; given {
			r.example(at, s, e)
		}
		examples, _ := m["examples"].(map[string]any)
		for name := range examples {
			_, e := r.at(step(at+"/examples", name))
			r.example(at, s, e["value"])
		}
	}
	return out
}

// brief says on one line why something is not as its schema has it.
func brief(err error) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(err.Error(), "\n", "; ")), " ")
}
