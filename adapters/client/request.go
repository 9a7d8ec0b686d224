package client

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/urlescape"
)

// request is one call of an endpoint, as often as it is sent.
type request struct {
	method string
	path   string // below the address of the service; "" = an id is missing
	query  values
	key    string    // the Idempotency-Key; "" = none
	body   any       // sent as JSON; a []byte is JSON already, and nil is no body
	stream io.Reader // sent in place of body; cannot be sent again
	size   int64     // of the stream; 0 = unknown
	match  string    // the header If-Match; "" = none
	into   io.Writer // gets the body of an export while it arrives; nil = the response has it
	accept string    // "" = application/json
	reads  bool      // it changes nothing
	keyed  bool      // the token goes into the query, as a key
	cached bool      // its response has an ETag, and may be cached
	etag   string    // of the cached response; "" = none
}

// readText reads a body, which may be sent several times.
func readText(from io.Reader) ([]byte, error) {
	if from == nil {
		return []byte{}, nil
	}
	return io.ReadAll(from)
}

// reading returns a request that reads an address.
func reading(path string, query values) request {
	return request{method: http.MethodGet, path: path, query: query, reads: true}
}

// again reports whether the request may be sent again without harm.
func (r request) again() bool { return r.reads || r.key != "" }

// path returns a path with an id, which is escaped, for each %s. It returns "" if an id is empty, since the path would
// be that of another endpoint.
func path(format string, ids ...string) string {
	escaped := make([]any, len(ids))
	for i, id := range ids {
		if id == "" {
			return ""
		}
		escaped[i] = urlescape.Escape(id)
	}
	return fmt.Sprintf(format, escaped...)
}

// target returns the path with the query.
func (r request) target() string {
	if len(r.query) == 0 {
		return r.path
	}
	return r.path + "?" + url.Values(r.query).Encode()
}

// http returns the request as net/http sends it, to the service at the address base.
func (r request) http(ctx context.Context, base string) (*http.Request, error) {
	if r.path == "" {
		return nil, fault.NotFound("an id or a name is empty: nothing has such a one")
	}
	if !visible(r.key) {
		return nil, fault.Invalid("Idempotency-Key", "an idempotency key has 1 to 255 visible ASCII characters")
	}
	address := base + r.target()
	var body io.Reader
	switch text, encoded := r.body.([]byte); {
	case r.stream != nil:
		body = io.NopCloser(r.stream) // the caller closes the stream
	case encoded:
		body = bytes.NewReader(bytes.Clone(text)) // a connection may still read it when the caller has its response
	case r.body != nil:
		text, err := json.Marshal(r.body)
		if own, ok := errors.AsType[*vitrine.Error](err); ok {
			return nil, own
		}
		if err != nil {
			return nil, fault.Invalid("", "%s", err)
		}
		body = bytes.NewReader(text)
	}
	out, err := http.NewRequestWithContext(ctx, r.method, address, body)
	if err != nil {
		return nil, err
	}
	out.Header.Set("Accept", cmp.Or(r.accept, "application/json"))
	switch {
	case r.stream != nil:
		out.Header.Set("Content-Type", exportType)
		out.Header.Set("Expect", "100-continue")
		if r.size > 0 {
			out.ContentLength = r.size
		}
	case r.body != nil:
		out.Header.Set("Content-Type", "application/json")
	}
	for name, value := range map[string]string{"Idempotency-Key": r.key, "If-None-Match": r.etag,
		"If-Match": r.match} {
		if value != "" {
			out.Header.Set(name, value)
		}
	}
	return out, nil
}

// visible reports whether s has visible ASCII characters only, so that it can be in a header.
func visible(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}

// values are parameters of a query. Each method adds one, and leaves out a value that is empty, zero or false, which
// stands for "not given" in the requests of the domains.
type values url.Values

// text adds a text. A parameter that is added twice is repeated.
func (v values) text(name, value string) values {
	if value != "" {
		v[name] = append(v[name], value)
	}
	return v
}

// number adds a number.
func (v values) number(name string, value int) values {
	if value != 0 {
		v[name] = []string{strconv.Itoa(value)}
	}
	return v
}

// page adds the cursor and the limit of a page.
func (v values) page(after string, limit int) values {
	return v.text("after", after).number("limit", limit)
}

// list adds the items of a list, joined by commas, unless the list is nil.
func (v values) list(name string, items []string) values {
	if items != nil {
		v[name] = []string{strings.Join(items, ",")}
	}
	return v
}

// flag adds true.
func (v values) flag(name string, value bool) values {
	if value {
		v[name] = []string{"true"}
	}
	return v
}
