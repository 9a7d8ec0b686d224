package httpapi

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
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
		Servers     []object              `json:"servers,omitempty"`
	}
)

// What the description says of values: their types, not what is in them.
var (
	aText      = object{"type": "string"}
	textOrNull = object{"type": []string{"string", "null"}}
	aNumber    = object{"type": "integer"}
	aFlag      = object{"type": "boolean"}
	anObject   = object{"type": "object"}
	objects    = object{"type": "array", "items": anObject}
	texts      = object{"type": "array", "items": aText}
	numbers    = object{"type": "array", "items": aNumber}
)

// parameterSchemas holds the query parameters that are not just texts.
var parameterSchemas = object{
	"limit":     object{"type": "integer", "minimum": 1},
	"via":       aNumber,
	"rights":    aNumber,
	"embedApps": aFlag,
	"dryRun":    aFlag,
	"sort":      object{"type": "string", "enum": []appsvc.Sort{appsvc.CreatedAscending, appsvc.CreatedDescending, appsvc.UpdatedAscending, appsvc.UpdatedDescending}},
	"order":     object{"type": "string", "enum": []assets.Order{assets.Ascending, assets.Descending}},
}

// bodyOf describes a JSON body that has these members.
func bodyOf(members object) object {
	return object{"application/json": object{"schema": object{
		"type": "object", "required": slices.Sorted(maps.Keys(members)), "properties": members}}}
}

// description is openapi.json: the route table in the form that tools read.
type description struct{ json []byte }

func (d *description) table() []route {
	return []route{
		{method: "GET", path: "/openapi.json", status: 200, open: true, call: d.get, summary: "this description",
			gives: object{"openapi": aText, "paths": anObject}},
	}
}

func (d *description) get(c *call) error {
	c.out = append(c.out, d.json...)
	return nil
}

// describe writes the document for all tables; the app service starts at base, a path or an address.
func (d *description) describe(base string, tables []table) error {
	prefix := map[mount]string{atAssets: assetPrefix}
	paths := map[string]map[string]operation{}
	for _, t := range tables {
		for _, rt := range t.routes {
			path := prefix[t.mount] + rt.path
			if paths[path] == nil {
				paths[path] = map[string]operation{}
			}
			op := rt.operation(t.mount)
			if t.mount != atBase {
				op.Servers = atServer("/")
			}
			paths[path][strings.ToLower(rt.method)] = op
		}
	}
	var err error
	d.json, err = json.Marshal(object{
		"openapi": "3.1.0",
		"info": object{"title": "Vitrine", "version": "1",
			"description": "Collections answer with and without the slash at their end. HEAD works where GET does, OPTIONS everywhere."},
		"servers": atServer(cmp.Or(base, "/")),
		"paths":   paths,
		"components": object{
			"securitySchemes": object{
				"header": object{"type": "apiKey", "in": "header", "name": "Authorization", "description": "svctoken <token>"},
				"query":  object{"type": "apiKey", "in": "query", "name": tokenParameter},
			},
			"responses": object{"Error": object{"description": "what is wrong", "content": bodyOf(object{"error": aText})}},
		},
	}, json.Deterministic(true), jsontext.WithIndent(" "))
	return err
}

func atServer(url string) []object { return []object{{"url": url}} }

// operation describes one endpoint.
func (r *route) operation(m mount) operation {
	done := object{"description": http.StatusText(r.status)}
	if r.gives != nil {
		done["content"] = bodyOf(r.gives)
	}
	op := operation{
		Summary:     r.summary,
		OperationID: r.operationID(m),
		Responses:   map[string]object{strconv.Itoa(r.status): done, "default": {"$ref": "#/components/responses/Error"}},
		Security:    []map[string][]string{{"header": {}}, {"query": {}}},
	}
	if r.open {
		op.Security = nil
	}
	parameter := func(name, in string) {
		schema := parameterSchemas[name]
		if in != "query" || schema == nil {
			schema = aText
		}
		op.Parameters = append(op.Parameters, object{"name": name, "in": in, "required": in == "path", "schema": schema})
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
