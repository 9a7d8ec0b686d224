package httpapi_test

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/vitrine-go/vitrine/internal/jsonpointer"
)

// document is an OpenAPI 3.1 document that is ready to judge traffic: every request that the server accepted, and every
// response with its status, its headers and all members of its body. A JSON Schema engine validates the values; the
// rest of this file finds the operation and reads the parameters, as far as openapi.json needs it. It is stricter than
// the document: if an object lists its members and does not allow others, there must be no others. It is safe for
// concurrent use.
type document struct {
	root node

	mu       sync.Mutex
	compiler *jsonschema.Compiler
	compiled map[string]*jsonschema.Schema // by pointer
}

// node is an object of a document. Its members are nil if it does not exist.
type node struct {
	doc     *document
	at      string // pointer
	members map[string]any
}

var methods = []string{"get", "put", "post", "delete", "patch"}

const resource = "https://openapi.test/openapi.json"

// parseDocument reads a document, compiles its schemas, and validates its examples by them.
func parseDocument(text []byte) (*document, error) {
	tree, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	d := &document{compiler: jsonschema.NewCompiler(), compiled: map[string]*jsonschema.Schema{}}
	d.root = d.node("", tree)
	if !strings.HasPrefix(d.root.text("openapi"), "3.1.") {
		return nil, fmt.Errorf("not an OpenAPI 3.1 document")
	}
	closeObjects(tree)
	d.compiler.AssertFormat()
	if err := d.compiler.AddResource(resource, tree); err != nil {
		return nil, err
	}
	if faults := slices.Concat(d.root.faultySchemas(), d.faultyOperations()); faults != nil {
		slices.Sort(faults)
		return nil, fmt.Errorf("the document is at fault:\n%s", strings.Join(faults, "\n"))
	}
	return d, nil
}

// Operations returns the operations of the document, each as its method and its path as it is described.
func (d *document) Operations() (all []string) {
	paths := d.root.get("paths")
	for path := range paths.members {
		for _, method := range methods {
			if paths.get(path, method).members != nil {
				all = append(all, strings.ToUpper(method)+" "+path)
			}
		}
	}
	return all
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

// node returns a value of the document as an object, or the object that it refers to.
func (d *document) node(at string, v any) node {
	members, _ := v.(map[string]any)
	if to, ok := members["$ref"].(string); ok {
		n := d.root
		for name := range strings.SplitSeq(strings.TrimPrefix(to, "#/"), "/") {
			n = n.get(jsonpointer.Unescape(name))
		}
		return n
	}
	return node{d, at, members}
}

// get returns the object that is reached by members of these names.
func (n node) get(names ...string) node {
	for _, name := range names {
		n = n.doc.node(n.at+"/"+jsonpointer.Escape(name), n.members[name])
	}
	return n
}

// list returns the objects of a member that is a list.
func (n node) list(name string) (out []node) {
	items, _ := n.members[name].([]any)
	for i, item := range items {
		out = append(out, n.doc.node(n.at+"/"+name+"/"+strconv.Itoa(i), item))
	}
	return out
}

// text returns a member that is a string.
func (n node) text(name string) string {
	s, _ := n.members[name].(string)
	return s
}

// validate says where values are not as a schema has them, on one line.
func (d *document) validate(schema string, values ...any) error {
	d.mu.Lock()
	s, err := d.compiled[schema], error(nil)
	if s == nil {
		s, err = d.compiler.Compile(resource + "#" + schema)
		d.compiled[schema] = s
	}
	d.mu.Unlock()
	for i := 0; err == nil && i < len(values); i++ {
		err = s.Validate(values[i])
	}
	if err != nil {
		return fmt.Errorf("%s", strings.Join(strings.Fields(strings.ReplaceAll(err.Error(), "\n", "; ")), " "))
	}
	return nil
}

// faultySchemas says which schemas below n are none, and which have examples, in them or beside them, that are not as
// they describe.
func (n node) faultySchemas() (faults []string) {
	check := func(schema string, examples []any) {
		if err := n.doc.validate(schema, examples...); err != nil {
			faults = append(faults, schema+" or its example: "+err.Error())
		}
	}
	for name, value := range n.members {
		switch name {
		case "schemas":
			for name := range n.get("schemas").members {
				schema := n.get("schemas", name)
				examples, _ := schema.members["examples"].([]any)
				check(schema.at, examples)
			}
		case "schema":
			var examples []any
			if example, given := n.members["example"]; given {
				examples = append(examples, example)
			}
			for name := range n.get("examples").members {
				examples = append(examples, n.get("examples", name).members["value"])
			}
			check(n.at+"/schema", examples)
		case "example", "examples":
		default:
			members, _ := value.(map[string]any)
			faults = append(faults, node{n.doc, n.at + "/" + jsonpointer.Escape(name), members}.faultySchemas()...)
			for _, item := range n.list(name) {
				faults = append(faults, item.faultySchemas()...)
			}
		}
	}
	return faults
}

// faultyOperations says what operations and their parameters lack.
func (d *document) faultyOperations() (faults []string) {
	paths := d.root.get("paths")
	for path := range paths.members {
		for _, method := range methods {
			op := paths.get(path, method)
			if op.members == nil {
				continue
			}
			if op.text("operationId") == "" || op.members["summary"] == nil || op.members["tags"] == nil {
				faults = append(faults, op.at+": wants operationId, tags and summary")
			}
			described := map[string]bool{}
			for _, p := range slices.Concat(paths.get(path).list("parameters"), op.list("parameters")) {
				if described[p.text("in")+" "+p.text("name")] = true; p.members["description"] == nil {
					faults = append(faults, p.at+": wants a description")
				}
			}
			for name := range strings.SplitSeq(path, "/") {
				if n, ok := strings.CutPrefix(name, "{"); ok && !described["path "+strings.TrimSuffix(n, "}")] {
					faults = append(faults, op.at+": the parameter "+name+" of the path is not described")
				}
			}
		}
	}
	return faults
}
