package openapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

var methods = map[string]string{"get": "GET", "put": "PUT", "post": "POST", "delete": "DELETE", "patch": "PATCH"}

func (r *reader) paths() {
	_, all := r.at("/paths")
	for _, path := range slices.Sorted(maps.Keys(all)) {
		pointer := step("/paths", path)
		_, item := r.at(pointer)
		p := &Path{Operations: map[string]*Operation{}}
		_, p.AtRoot = item["servers"]
		shared := r.parameters(pointer, item)
		for name, method := range methods {
			if _, ok := item[name]; ok {
				p.Operations[method] = r.operation(pointer+"/"+name, path, shared)
			}
		}
		r.doc.Paths[path] = p
	}
}

func (r *reader) operation(pointer, path string, shared []Parameter) *Operation {
	_, m := r.at(pointer)
	o := &Operation{Parameters: slices.Concat(shared, r.parameters(pointer, m)), Responses: map[string]response{}}
	o.ID, _ = m["operationId"].(string)
	if o.ID == "" || m["summary"] == nil || m["tags"] == nil {
		r.fault(pointer, "wants operationId, tags and summary")
	}
	security, given := m["security"].([]any)
	o.Open = given && len(security) == 0
	for name := range strings.SplitSeq(path, "/") {
		if n, ok := strings.CutPrefix(name, "{"); ok && o.parameter("path", strings.TrimSuffix(n, "}")) == nil {
			r.fault(pointer, "the parameter %s of the path is not described", name)
		}
	}
	if _, ok := m["requestBody"]; ok {
		at, _ := r.at(pointer + "/requestBody")
		o.Body = r.content(at + "/content")
	}
	_, responses := r.at(pointer + "/responses")
	for _, status := range slices.Sorted(maps.Keys(responses)) {
		o.Responses[status] = r.response(pointer + "/responses/" + status)
	}
	return o
}

func (r *reader) response(pointer string) (out response) {
	at, m := r.at(pointer)
	if m["content"] != nil {
		out.content = r.content(at + "/content")
	}
	headers, _ := m["headers"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		at, h := r.at(step(at+"/headers", name))
		out.headers = append(out.headers, r.parameter(at, name, "header", h))
	}
	return out
}

func (r *reader) parameters(pointer string, m map[string]any) (out []Parameter) {
	list, _ := m["parameters"].([]any)
	for i := range list {
		at, p := r.at(pointer + "/parameters/" + strconv.Itoa(i))
		name, _ := p["name"].(string)
		in, _ := p["in"].(string)
		out = append(out, r.parameter(at, name, in, p))
	}
	return out
}

// parameter reads a parameter or a header.
func (r *reader) parameter(pointer, name, in string, m map[string]any) Parameter {
	p := Parameter{Name: name, In: in, schema: r.schema(pointer + "/schema")}
	p.Required, _ = m["required"].(bool)
	_, s := r.at(pointer + "/schema")
	if p.list = s["type"] == "array"; p.list {
		_, s = r.at(pointer + "/schema/items")
	}
	p.kind, _ = s["type"].(string)
	if m["description"] == nil && in != "header" {
		r.fault(pointer, "wants a description")
	}
	if e, given := m["example"]; given {
		r.example(pointer, p.schema, e)
	}
	return p
}

// parameter returns the parameter of this name, or nil.
func (o *Operation) parameter(in, name string) *Parameter {
	for i, p := range o.Parameters {
		if p.In == in && (p.Name == name || in == "header" && strings.EqualFold(p.Name, name)) {
			return &o.Parameters[i]
		}
	}
	return nil
}

// check reads the texts of a parameter as its schema has them, and says what is wrong with them.
func (p *Parameter) check(texts []string) error {
	values := make([]any, len(texts))
	for i, text := range texts {
		values[i] = p.value(text)
	}
	if p.list {
		return p.schema.Validate(values)
	}
	if len(values) != 1 {
		return fmt.Errorf("given %d times", len(values))
	}
	return p.schema.Validate(values[0])
}

func (p *Parameter) value(text string) any {
	switch p.kind {
	case "integer":
		return json.Number(text)
	case "boolean":
		if b, err := strconv.ParseBool(text); err == nil {
			return b
		}
	}
	return text
}
