package openapi

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Exchange is a request and its answer.
type Exchange struct {
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
func (d *Document) Check(base string, x Exchange) error {
	err := d.check(base, x)
	if err != nil {
		return fmt.Errorf("%s %s, answered with %d: %w", x.Method, x.URL.EscapedPath(), x.Status, err)
	}
	return nil
}

func (d *Document) check(base string, x Exchange) error {
	if x.Method == http.MethodOptions {
		return nil // of the transport, not of the service
	}
	method := x.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	path, params, exact := d.find(base, x.URL.EscapedPath())
	if !exact && x.Status == http.StatusNotFound {
		return nil // not a collection
	}
	if path == nil || path.Operations[method] == nil {
		return refused(path, x)
	}
	op := path.Operations[method]
	if err := op.checkAnswer(x); err != nil {
		return fmt.Errorf("the answer: %w", err)
	}
	if x.Status >= http.StatusBadRequest {
		return nil
	}
	if err := op.checkRequest(x, params); err != nil {
		return fmt.Errorf("the request was taken, but is not as described: %w", err)
	}
	return nil
}

// refused returns an error unless a request that the document does not describe was refused.
func refused(path *Path, x Exchange) error {
	want := http.StatusNotFound
	if path != nil {
		want = http.StatusMethodNotAllowed
	}
	if x.Status != want && x.Status != http.StatusUnauthorized && x.Status < http.StatusInternalServerError {
		return fmt.Errorf("there is no such operation, so that %d is wanted", want)
	}
	return nil
}

// find returns what is described at a path, and the values of its parameters. The description says
// that collections answer with and without the slash at their end, and that the one slash that is
// doubled may be single.
func (d *Document) find(base, path string) (found *Path, params map[string]string, exact bool) {
	for template, p := range d.Paths {
		full := template
		if !p.AtRoot {
			full = base + template
		}
		for _, form := range []string{full, otherSlash(full), strings.ReplaceAll(full, "//", "/"), otherSlash(strings.ReplaceAll(full, "//", "/"))} {
			if values, ok := match(form, path); ok && (found == nil || len(values) < len(params)) {
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

func (o *Operation) checkAnswer(x Exchange) error {
	r, known := o.Responses[strconv.Itoa(x.Status)]
	if !known {
		return fmt.Errorf("this status is not described for %s: %.200s", o.ID, x.Content)
	}
	for _, h := range r.headers {
		values := joined(x.Answer.Values(h.Name))
		if len(values) == 0 && h.Required {
			return fmt.Errorf("the header %s is missing", h.Name)
		}
		if len(values) > 0 {
			if err := h.check(values); err != nil {
				return fmt.Errorf("header %s: %q: %s", h.Name, values, brief(err))
			}
		}
	}
	if r.content == nil {
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
	return checkBody(r.content, x.Answer.Get("Content-Type"), x.Content)
}

func (o *Operation) checkRequest(x Exchange, params map[string]string) error {
	query, headers := x.URL.Query(), x.Header
	for _, p := range o.Parameters {
		var texts []string
		switch p.In {
		case "path":
			texts = []string{params[p.Name]}
		case "query":
			texts = query[p.Name]
		case "header":
			texts = joined(headers.Values(p.Name))
		}
		if len(texts) == 0 && p.Required {
			return fmt.Errorf("parameter %s is missing", p.Name)
		}
		if len(texts) == 0 {
			continue
		}
		if err := p.check(texts); err != nil {
			return fmt.Errorf("parameter %s %q: %s", p.Name, texts, brief(err))
		}
	}
	for name := range query {
		if o.parameter("query", name) == nil && name != "svctoken" && x.Method != http.MethodGet && x.Method != http.MethodHead {
			return fmt.Errorf("query parameter %s is not described", name)
		}
	}
	if token := headers.Get("Authorization") != "" || query.Has("svctoken"); !token && !o.Open {
		return fmt.Errorf("there is no token")
	}
	if o.Body == nil || x.Body == nil {
		return nil
	}
	return checkBody(o.Body, headers.Get("Content-Type"), x.Body)
}

// joined returns the lines of a header as the one that they stand for.
func joined(lines []string) []string {
	if len(lines) == 0 {
		return nil
	}
	return []string{strings.Join(lines, ", ")}
}

// checkBody validates a body by the schema of its media type. A body that is not JSON counts as a string.
func checkBody(content map[string]media, contentType string, body []byte) error {
	name, _, err := mime.ParseMediaType(contentType)
	m, known := content[name]
	if err != nil || !known {
		return fmt.Errorf("the media type %q is not described", contentType)
	}
	var value any = string(body)
	if strings.HasSuffix(name, "json") && !m.text {
		if value, err = jsonschema.UnmarshalJSON(bytes.NewReader(body)); err != nil {
			return fmt.Errorf("%w: %.200s", err, body)
		}
	}
	if err := m.schema.Validate(value); err != nil {
		return fmt.Errorf("%s: %.2000s", brief(err), body)
	}
	return nil
}
