package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

const things = `{
  "openapi": "3.1.0",
  "paths": {
    "/things/": {
      "get": {
        "operationId": "list", "tags": ["things"], "summary": "Things",
        "parameters": [
          {"name": "limit", "in": "query", "description": "How many.", "schema": {"type": "integer", "maximum": 9}},
          {"name": "id", "in": "query", "required": true, "description": "Which.", "schema": {"type": "array", "items": {"type": "string", "maxLength": 2}}}
        ],
        "responses": {
          "200": {
            "description": "Them.",
            "headers": {"ETag": {"required": true, "schema": {"pattern": "^\"", "type": "string"}}},
            "content": {"application/json": {"schema": {"type": "array", "items": {"$ref": "#/components/schemas/Thing"}}, "example": [{"id": "1"}]}}
          },
          "404": {"description": "None."}
        }
      }
    },
    "/things/{id}": {
      "servers": [{"url": "/"}],
      "put": {
        "operationId": "put", "tags": ["things"], "summary": "Put a thing", "security": [],
        "parameters": [{"name": "id", "in": "path", "required": true, "description": "Which.", "schema": {"type": "string", "pattern": "^[a-z/]+$"}}],
        "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}},
        "responses": {"204": {"description": "Done."}, "400": {"description": "No.", "content": {"text/plain": {"schema": {"type": "string", "minLength": 1}}}}}
      }
    }
  },
  "components": {"schemas": {"Thing": {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}, "more": {"type": "object", "properties": {"a": {}}}}}}}
}`

func TestExchangesThatAreNotAsDescribedAreFound(t *testing.T) {
	doc, err := parseDocument([]byte(things))
	if err != nil {
		t.Fatal(err)
	}
	token, asJSON := "Authorization: t", "Content-Type: application/json"
	for _, c := range []struct {
		name, request, header, body string
		status                      int
		answer, content             string
		fault                       string // part of what is said; "" for none
	}{
		{"as described", "GET /base/things/?id=1&id=2&limit=9", token, "", 200, asJSON + "\nETag: \"1\"",
			`[{"id":"x","more":{}}]`, ""},
		{"without the slash", "GET /base/things?id=1", token, "", 200, asJSON + "\nETag: \"1\"", `[]`, ""},
		{"HEAD", "HEAD /base/things/?id=1", token, "", 200, asJSON + "\nETag: \"1\"", "", ""},
		{"refused", "GET /base/things/", "", "", 404, "", "", ""},
		{"a status that is not there", "GET /base/things/?id=1", token, "", 500, "", "", "not described for list"},
		{"a header too few", "GET /base/things/?id=1", token, "", 200, asJSON, `[]`, "header ETag is missing"},
		{"a wrong header", "GET /base/things/?id=1", token, "", 200, asJSON + "\nETag: 1", `[]`, "header ETag"},
		{"a wrong member", "GET /base/things/?id=1", token, "", 200, asJSON + "\nETag: \"1\"", `[{"id":1}]`, "/0/id"},
		{"a member too few", "GET /base/things/?id=1", token, "", 200, asJSON + "\nETag: \"1\"", `[{}]`,
			"missing property"},
		{"a member too many", "GET /base/things/?id=1", token, "", 200, asJSON + "\nETag: \"1\"", `[{"id":"1","x":1}]`,
			"additional properties"},
		{"a member too many, deeper", "GET /base/things/?id=1", token, "", 200, asJSON + "\nETag: \"1\"",
			`[{"id":"1","more":{"b":1}}]`, "additional properties"},
		{"no JSON", "GET /base/things/?id=1", token, "", 200, asJSON + "\nETag: \"1\"", `[`, "unexpected EOF"},
		{"another type", "GET /base/things/?id=1", token, "", 200, "Content-Type: text/html\nETag: \"1\"", `x`,
			"media type"},
		{"a body that is not there", "PUT /things/a", asJSON, `{"id":"1"}`, 204, "", "x", "has a body"},
		{"no token", "GET /base/things/?id=1", "", "", 200, asJSON + "\nETag: \"1\"", `[]`, "no token"},
		{"a parameter too few", "GET /base/things/", token, "", 200, asJSON + "\nETag: \"1\"", `[]`, "parameter id"},
		{"a parameter that is no number", "GET /base/things/?id=1&limit=x", token, "", 200, asJSON + "\nETag: \"1\"",
			`[]`, "parameter limit"},
		{"a parameter over its limit", "GET /base/things/?id=1&limit=10", token, "", 200, asJSON + "\nETag: \"1\"",
			`[]`, "parameter limit"},
		{"a parameter twice", "GET /base/things/?id=1&limit=1&limit=1", token, "", 200, asJSON + "\nETag: \"1\"", `[]`,
			"given 2 times"},
		{"a wrong item", "GET /base/things/?id=1&id=abc", token, "", 200, asJSON + "\nETag: \"1\"", `[]`,
			"parameter id"},
		{"an open operation at the root", "PUT /things/a", asJSON, `{"id":"1"}`, 204, "", "", ""},
		{"an escaped parameter", "PUT /things/a%2Fb", asJSON, `{"id":"1"}`, 204, "", "", ""},
		{"a wrong parameter of the path", "PUT /things/A", asJSON, `{"id":"1"}`, 204, "", "", "parameter id"},
		{"a wrong body that is taken", "PUT /things/a", asJSON, `{"id":1}`, 204, "", "", "was taken"},
		{"a body of another type", "PUT /things/a", "Content-Type: text/plain", "x", 204, "", "", "media type"},
		{"a parameter that a write does not know", "PUT /things/a?x=1", asJSON, `{"id":"1"}`, 204, "", "",
			"query parameter x"},
		{"a refusal in words", "PUT /things/a", asJSON, `{`, 400, "Content-Type: text/plain", "why", ""},
		{"a refusal without words", "PUT /things/a", asJSON, `{`, 400, "Content-Type: text/plain", "", "minLength"},
		{"no such method", "DELETE /things/a", "", "", 405, "", "", ""},
		{"a method that is taken and not described", "DELETE /things/a", "", "", 204, "", "", "405 is wanted"},
		{"no such path", "GET /base/nothing", "", "", 404, "", "", ""},
		{"a path that is taken and not described", "GET /things/?id=1", token, "", 200, "", "", "404 is wanted"},
	} {
		t.Run(c.name, func(t *testing.T) {
			method, address, _ := strings.Cut(c.request, " ")
			to, err := url.Parse(address)
			if err != nil {
				t.Fatal(err)
			}
			x := exchange{Method: method, URL: to, Header: headers(c.header), Body: []byte(c.body), Status: c.status,
				Answer: headers(c.answer), Content: []byte(c.content)}
			err = doc.Check("/base", x)
			if c.fault == "" && err != nil {
				t.Error(err)
			}
			if c.fault != "" && (err == nil || !strings.Contains(err.Error(), c.fault)) {
				t.Errorf("%v, want %q", err, c.fault)
			}
		})
	}
}

func headers(lines string) http.Header {
	h := http.Header{}
	for line := range strings.Lines(lines) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		h.Add(name, value)
	}
	return h
}

func TestDocumentsAtFaultAreRefused(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"another version", `"3.1.0"`, `"3.0.3"`, "not an OpenAPI 3.1"},
		{"an example that is not as described", `[{"id": "1"}]`, `[{"id": 1}]`, "example"},
		{"a reference to nothing", `"$ref": "#/components/schemas/Thing"`, `"$ref": "#/components/schemas/None"`,
			"None"},
		{"a schema that is none", `"maximum": 9`, `"maximum": "9"`, "maximum"},
		{"a parameter of a path that is not described", `"/things/{id}"`, `"/things/{name}"`, "{name}"},
		{"no operationId", `"operationId": "put"`, `"x": "put"`, "operationId"},
		{"no description", `"description": "How many.", `, ``, "description"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := parseDocument([]byte(strings.ReplaceAll(things, c.old, c.new)))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func TestTransportTells(t *testing.T) {
	doc, err := parseDocument([]byte(things))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/things/wrong" {
			w.WriteHeader(http.StatusTeapot)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	defer server.Close()
	var told []error
	client := &http.Client{Transport: &transport{Document: doc, Base: "/base", Tell: func(err error) {
		told = append(told, err)
	}}}
	for _, c := range []struct {
		path, body string
		told       int
	}{{"/things/right", `{"id":"1"}`, 0}, {"/things/right", `{}`, 1}, {"/things/wrong", `{"id":"1"}`, 2}} {
		r, err := http.NewRequest("PUT", server.URL+c.path, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		answer, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = answer.Body.Read(make([]byte, 1))
		answer.Body.Close()
		if len(told) != c.told {
			t.Errorf("%+v: told %v", c, told)
		}
	}
}
