package httpapi

import (
	"errors"
	"net/http"
)

// Extra is an endpoint of another package, such as signin, below the base path. The handler serves it as its own: it
// authenticates the caller, denies requests that pages of other sites send with the cookies of their visitors, checks
// the query and the media type, limits the body, writes errors in the usual form, and logs.
type Extra struct {
	Method string
	Path   string // "/x/things/{id}"; one that ends in a slash is the same without it
	Status int    // of a success
	// Public endpoints need no token. Their writes must come from the same origin.
	Public bool
	JSON   bool     // it takes a body of application/json
	Query  []string // parameters it knows
	// Serve returns the value whose JSON is the body. An error is one of package vitrine, or wraps ErrUnauthenticated
	// (401) or ErrTooMany (429).
	Serve func(*Request) (any, error)
}

// ErrTooMany is the kind of an error that becomes a 429: the client has to wait.
var ErrTooMany = errors.New("too many attempts: wait a minute")

// Request is a request to an Extra. It is valid until Serve returns.
type Request struct {
	*http.Request
	By     Principal   // the caller; the zero Principal at public endpoints
	Header http.Header // of the response
	call   *call
}

// Param returns the i-th parameter of the path, from 0.
func (r *Request) Param(i int) string { return r.call.param(i) }

// Text returns a parameter of the query that is given once at most; All returns one that may be repeated, and Flag one
// that is true or false. A wrong value becomes a 400 whatever Serve returns, so read the parameters first, and stop if
// Wrong is true.
func (r *Request) Text(name string) string  { return r.call.query.text(name) }
func (r *Request) All(name string) []string { return r.call.query.Values[name] }
func (r *Request) Flag(name string) bool    { return r.call.query.flag(name) }
func (r *Request) Wrong() bool              { return r.call.query.err != nil }

// Limit returns the parameter limit, 0 if it is not given and -1 if it is no number above 0.
func (r *Request) Limit() int { return r.call.query.limit() }

// Decode reads the body into v, as strict JSON: unknown members are errors.
func (r *Request) Decode(v any) error { return r.call.decode(v) }

// Address returns the address of the client, without the port.
func (r *Request) Address() string { return r.call.address() }

// Next sets the Link to the next page, which the parameter after names.
func (r *Request) Next(after string) { r.call.next("after", after) }

// Located sets the Location to the address of a path below the base path.
func (r *Request) Located(path string) { r.call.located(path) }

// Redirect makes a 303 to an address the response. The address must not depend on input of the client.
func (r *Request) Redirect(address string) {
	r.Header["Location"] = []string{address}
	r.call.status = http.StatusSeeOther
}

// Page makes a page for people the response.
func (r *Request) Page(status int, html []byte) {
	r.Header["Content-Type"] = []string{"text/html; charset=utf-8"}
	r.call.status, r.call.out = status, append(r.call.out[:0], html...)
}

// route returns the endpoint as the handler has its own.
func (e Extra) route() route {
	out := route{method: e.Method, path: e.Path, status: e.Status, query: e.Query, flags: slash}
	if e.Public {
		out.flags |= public
	}
	if e.JSON {
		out.body = jsonBody
	}
	out.call = func(c *call) error {
		c.w.Header()["Vary"] = varyCaller
		c.cacheAs(noStore) // it may have a secret, and people change
		result, err := e.Serve(&Request{Request: c.r, By: c.by, Header: c.w.Header(), call: c})
		switch {
		case c.query.err != nil:
			return c.query.err
		case errors.Is(err, ErrUnauthenticated):
			c.reason = err.Error()
			return errorf(http.StatusUnauthorized, "this did not prove who you are: try again")
		case err != nil || result == nil:
			return err
		}
		return c.json(result, nil)
	}
	return out
}
