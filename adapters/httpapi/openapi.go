package httpapi

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Parts of an OpenAPI 3.1 document, as far as the route table knows them.
type (
	object map[string]any

	operation struct {
		Summary     string                `json:"summary"`
		OperationID string                `json:"operationId"`
		Parameters  []object              `json:"parameters,omitempty"`
		RequestBody object                `json:"requestBody,omitempty"`
		Responses   map[string]object     `json:"responses"`
		Security    []map[string][]string `json:"security"`
	}
)

// description is openapi.json: the route table in the form that tools read.
type description struct{ json []byte }

func (d *description) table() []route {
	return []route{
		{method: "GET", path: "/openapi.json", status: 200, open: true, call: d.get, summary: "this description"},
	}
}

func (d *description) get(c *call) error {
	c.out = append(c.out, d.json...)
	return nil
}

// describe writes the document for all tables; the app service starts at base.
func (d *description) describe(base string, tables []table) error {
	prefix := map[mount]string{atBase: base, atAssets: assetPrefix}
	paths := map[string]map[string]operation{}
	for _, t := range tables {
		for _, rt := range t.routes {
			path := prefix[t.mount] + rt.path
			if paths[path] == nil {
				paths[path] = map[string]operation{}
			}
			paths[path][strings.ToLower(rt.method)] = rt.operation(t.mount)
		}
	}
	var err error
	d.json, err = json.Marshal(object{
		"openapi": "3.1.0",
		"info": object{"title": "Vitrine", "version": "1",
			"description": "Collections answer with and without the slash at their end. HEAD works where GET does, OPTIONS everywhere."},
		"paths": paths,
		"components": object{
			"securitySchemes": object{
				"header": object{"type": "apiKey", "in": "header", "name": "Authorization", "description": "svctoken <token>"},
				"query":  object{"type": "apiKey", "in": "query", "name": tokenParameter},
			},
			"schemas": object{"Error": object{"type": "object", "required": []string{"error"},
				"properties": object{"error": object{"type": "string"}}}},
		},
	}, json.Deterministic(true), jsontext.WithIndent(" "))
	return err
}

// operation describes one endpoint.
func (r *route) operation(m mount) operation {
	op := operation{
		Summary:     r.summary,
		OperationID: r.operationID(m),
		Responses: map[string]object{
			strconv.Itoa(r.status): {"description": http.StatusText(r.status)},
			"default": {"description": "what is wrong", "content": object{
				"application/json": object{"schema": object{"$ref": "#/components/schemas/Error"}}}},
		},
		Security: []map[string][]string{{"header": {}}, {"query": {}}},
	}
	if r.open {
		op.Security = nil
	}
	parameter := func(name, in string) {
		op.Parameters = append(op.Parameters,
			object{"name": name, "in": in, "required": in == "path", "schema": object{"type": "string"}})
	}
	for part := range strings.SplitSeq(r.path, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			parameter(strings.TrimSuffix(name, "}"), "path")
		}
	}
	for _, name := range r.query {
		parameter(name, "query")
	}
	if r.keyed {
		parameter("Idempotency-Key", "header")
	}
	if r.body.types != nil {
		content := object{}
		for _, t := range r.body.types {
			content[t] = object{}
		}
		op.RequestBody = object{"required": true, "content": content}
	}
	return op
}

// operationID is the method and the path in one word.
func (r *route) operationID(m mount) string {
	parts := strings.FieldsFunc(r.path, func(c rune) bool { return strings.ContainsRune("/{}.", c) })
	if m == atAssets {
		parts = append([]string{"assetManager"}, parts...)
	}
	return strings.ToLower(r.method) + "_" + strings.Join(parts, "_")
}
