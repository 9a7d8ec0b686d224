package httpapi_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// exchange is a request and its answer.
type exchange struct {
	Method  string
	URL     *url.URL
	Header  http.Header // of the request
	Body    []byte      // of the request; nil where it was not kept
	Status  int
	Answer  http.Header
	Content []byte // body of the answer
}

// Check says where an exchange is not as it is described, nil if it is. base is the path that the
// operations without servers of their own start at.
func (d *document) Check(base string, x exchange) error {
	err := d.check(base, x)
	if err != nil {
		return fmt.Errorf("%s %s, answered with %d: %w", x.Method, x.URL.EscapedPath(), x.Status, err)
	}
	return nil
}

func (d *document) check(base string, x exchange) error {
	if x.Method == http.MethodOptions {
		return nil // of the transport, not of the service
	}
	method := strings.ToLower(x.Method)
	switch x.Method {
	case http.MethodHead:
		method = "get"
	case method: // names of methods are in capitals
		method = "none"
	}
	path, params, exact := d.find(base, x.URL.EscapedPath())
	if !exact && x.Status == http.StatusNotFound {
		return nil // not a collection
	}
	op := path.get(method)
	if op.members == nil { // then the request must be refused
		want := http.StatusNotFound
		if path.members != nil {
			want = http.StatusMethodNotAllowed
		}
		if x.Status != want && x.Status != http.StatusUnauthorized && x.Status < http.StatusInternalServerError {
			return fmt.Errorf("there is no such operation, so that %d is wanted", want)
		}
		return nil
	}
	if err := op.checkAnswer(x); err != nil {
		return fmt.Errorf("the answer: %w", err)
	}
	if x.Status >= http.StatusBadRequest {
		return nil
	}
	if err := op.checkRequest(x, params, slices.Concat(path.list("parameters"), op.list("parameters"))); err != nil {
		return fmt.Errorf("the request was taken, but is not as described: %w", err)
	}
	return nil
}

// find returns what is described at a path, and the values of its parameters. The description says
// that collections answer with and without the slash at their end, and that the one slash that is
// doubled may be single.
func (d *document) find(base, path string) (found node, params map[string]string, exact bool) {
	paths := d.root.get("paths")
	found.doc = d
	for template := range paths.members {
		p, full := paths.get(template), base+template
		if p.members["servers"] != nil { // it is at the root
			full = template
		}
		single := strings.ReplaceAll(full, "//", "/")
		for _, form := range []string{full, otherSlash(full), single, otherSlash(single)} {
			if values, ok := match(form, path); ok && (found.members == nil || len(values) < len(params)) {
				found, params, exact = p, values, form == full
			}
		}
	}
	return found, params, exact
}

func otherSlash(path string) string {
	if without, ok := strings.CutSuffix(path, "/"); ok {
		return without
	}
	return path + "/"
}

// match returns the parameters of an escaped path that matches a template, and whether it does.
func match(template, path string) (map[string]string, bool) {
	want, have := strings.Split(template, "/"), strings.Split(path, "/")
	if len(want) != len(have) {
		return nil, false
	}
	values := map[string]string{}
	for i, w := range want {
		name, isParameter := strings.CutPrefix(w, "{")
		if !isParameter && w != have[i] {
			return nil, false
		}
		if isParameter {
			value, err := url.PathUnescape(have[i])
			if err != nil || value == "" {
				return nil, false
			}
			values[strings.TrimSuffix(name, "}")] = value
		}
	}
	return values, true
}

func (n node) checkAnswer(x exchange) error {
	r := n.get("responses", strconv.Itoa(x.Status))
	if r.members == nil {
		return fmt.Errorf("this status is not described for %s: %.200s", n.text("operationId"), x.Content)
	}
	for name := range r.get("headers").members {
		if err := r.get("headers", name).checkTexts("header "+name, joined(x.Answer.Values(name))); err != nil {
			return err
		}
	}
	content := r.get("content")
	if content.members == nil {
		if len(x.Content) > 0 {
			return fmt.Errorf("it has a body, which is not described")
		}
		return nil
	}
	if x.Method == http.MethodHead {
		return nil
	}
	if x.Answer.Get("Content-Encoding") == "gzip" {
		unzip, err := gzip.NewReader(bytes.NewReader(x.Content))
		if err != nil {
			return err
		}
		if x.Content, err = io.ReadAll(unzip); err != nil {
			return err
		}
	}
	return content.checkBody(x.Answer.Get("Content-Type"), x.Content)
}

func (n node) checkRequest(x exchange, params map[string]string, described []node) error {
	query := x.URL.Query()
	known := map[string]bool{"svctoken": true} // of the query
	for _, p := range described {
		name := p.text("name")
		var texts []string
		switch p.text("in") {
		case "path":
			texts = []string{params[name]}
		case "query":
			texts, known[name] = query[name], true
		case "header":
			texts = joined(x.Header.Values(name))
		}
		if err := p.checkTexts("parameter "+name, texts); err != nil {
			return err
		}
	}
	for name := range query {
		if !known[name] && x.Method != http.MethodGet && x.Method != http.MethodHead {
			return fmt.Errorf("query parameter %s is not described", name)
		}
	}
	security, given := n.members["security"].([]any)
	open := given && len(security) == 0
	if token := x.Header.Get("Authorization") != "" || query.Has("svctoken"); !token && !open {
		return fmt.Errorf("there is no token")
	}
	if n.members["requestBody"] == nil || x.Body == nil {
		return nil
	}
	return n.get("requestBody", "content").checkBody(x.Header.Get("Content-Type"), x.Body)
}

// joined returns the lines of a header as the one that they stand for.
func joined(lines []string) []string {
	if len(lines) == 0 {
		return nil
	}
	return []string{strings.Join(lines, ", ")}
}

// checkTexts reads the texts of a parameter or header as its schema has them, and says what is wrong with them.
func (n node) checkTexts(what string, texts []string) error {
	if len(texts) == 0 {
		if n.members["required"] == true {
			return fmt.Errorf("%s is missing", what)
		}
		return nil
	}
	schema := n.get("schema")
	kind, isList := schema.text("type"), schema.text("type") == "array"
	if isList {
		kind = schema.get("items").text("type")
	}
	values := make([]any, len(texts))
	for i, text := range texts {
		values[i] = text
		if b, err := strconv.ParseBool(text); kind == "boolean" && err == nil {
			values[i] = b
		} else if kind == "integer" || kind == "number" {
			values[i] = json.Number(text)
		}
	}
	var value any = values
	if !isList && len(values) != 1 {
		return fmt.Errorf("%s: given %d times", what, len(values))
	} else if !isList {
		value = values[0]
	}
	if err := n.doc.validate(n.at+"/schema", value); err != nil {
		return fmt.Errorf("%s %q: %w", what, texts, err)
	}
	return nil
}

// checkBody validates a body by the schema of its media type. A body that is not JSON counts as a string.
func (n node) checkBody(contentType string, body []byte) error {
	if n.get("*/*").members != nil { // bytes of any type
		return nil
	}
	name, _, err := mime.ParseMediaType(contentType)
	m := n.get(name)
	if err != nil || m.members == nil {
		return fmt.Errorf("the media type %q is not described", contentType)
	}
	var value any = string(body)
	if strings.HasSuffix(name, "json") && m.get("schema").members["contentMediaType"] == nil {
		if value, err = jsonschema.UnmarshalJSON(bytes.NewReader(body)); err != nil {
			return fmt.Errorf("%w: %.200s", err, body)
		}
	}
	if err := n.doc.validate(m.at+"/schema", value); err != nil {
		return fmt.Errorf("%w: %.2000s", err, body)
	}
	return nil
}
