package httpapi

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/vitrine-go/vitrine/internal/paging"
)

// Extra is an endpoint of another package, such as signin, below the base path. The handler treats it as one of its
// own: it authenticates the caller, rejects requests that a page of another site sends with the cookies of its visitor,
// checks the query and the media type, limits the body, the response and the memory for both, writes errors in the
// usual form, and logs.
//
// A GET whose path ends in a slash is a list, and has List. Every other endpoint has Serve. New returns an error for an
// Extra that has the wrong one.
type Extra struct {
	Method string
	Path   string // "/x/things/{id}"; one that ends in a slash is the same without it
	Status int    // of a success
	// Public endpoints need no token. Their writes must come from the same origin.
	Public bool
	JSON   bool     // it takes a body of application/json
	Query  []string // parameters it knows; a List also knows limit and after
	// RPC endpoints are for programs, and Serve calls many methods of Sessions, by what the body says. Agents may call
	// one, since the Sessions know what an agent may. The response may be made by Respond, a 401 asks for a Bearer, no
	// page of another site may call it, and it takes a slot of the reads while Serve is at work. If Serve returns an
	// *appsvc.MemoryError it is called again when there is memory, with a higher Within.
	RPC bool
	// Serve returns the value whose JSON is the body, of at most 4 MiB; nil for an empty body. An error is one of
	// package vitrine, or wraps ErrUnauthenticated (401) or ErrTooMany (429).
	Serve func(*Request) (any, error)
	// List returns a page of a list, which NewList makes. Its errors are those of Serve.
	List func(*Request) (List, error)
}

// The bounds of a page of a List.
const (
	usualItems = 100
	mostItems  = 500
	mostLooked = 1000    // items that are looked at, whether or not the caller sees them
	mostBytes  = 4 << 20 // of the JSON of the items; also of the response of Serve
)

// List is a page of a list, within the bounds of all lists. NewList makes it.
type List struct {
	body []byte
	next string // the parameter after of the next page; "" on the last one
}

// NewList returns the page {name: [show(item)…]} of the items that come after the parameter after of the request. show
// returns nil for an item that the page leaves out, and after the parameter after of a page that continues behind an
// item.
//
// The page has at most as many items as the parameter limit says (1 to 500; 100 without it). It ends earlier if it
// would have more than 4 MiB, or once 1,000 items were looked at, so it may be empty although others follow. Then the
// response has the Link to the next page. NewList may be called again for the same request, as in the function of a
// View that is repeated.
func NewList[T, W any](r *Request, name string, items iter.Seq2[T, error], after func(T) string,
	show func(T) (*W, error)) (List, error) {
	limit, err := paging.Limit(r.call.query.count("limit"), usualItems, mostItems)
	if err != nil {
		return List{}, err
	}
	list := List{body: fmt.Appendf(nil, "{%q:[", name)}
	room, looked, last := paging.NewRoom(limit, mostBytes), 0, ""
	for item, err := range items {
		if err != nil {
			return List{}, err
		}
		if looked == mostLooked || room.Full() {
			list.next = last
			break
		}
		w, err := show(item)
		if err != nil {
			return List{}, err
		}
		if w != nil {
			text, err := json.Marshal(w, jsontext.PreserveRawStrings(true))
			if err != nil {
				return List{}, err
			}
			if !room.Takes(len(text)) {
				list.next = last
				break
			}
			list.body = append(append(list.body, text...), ',')
		}
		looked, last = looked+1, after(item)
	}
	list.body = append(bytes.TrimSuffix(list.body, []byte(",")), "]}"...)
	return list, nil
}

// check returns an error for an endpoint that would have other bounds than those of the handler.
func (e Extra) check() error {
	list, wrong := e.Method == http.MethodGet && strings.HasSuffix(e.Path, "/"), ""
	switch {
	case (e.Serve == nil) == (e.List == nil):
		wrong = "needs either Serve or List"
	case list && e.List == nil:
		wrong = "is a list, since its path ends in a slash: it needs List in place of Serve"
	case !list && e.List != nil:
		wrong = "has List: want the method GET, and a slash at the end of the path"
	case slices.Contains(e.Query, "limit") || slices.Contains(e.Query, "after"):
		wrong = "names limit or after, which every List knows and nothing else"
	default:
		return nil
	}
	return fmt.Errorf("httpapi: the Extra %s %s %s", e.Method, e.Path, wrong)
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
func (r *Request) Param(i int) string { return r.call.params[i] }

// Text returns a parameter of the query that is given once at most. A wrong value becomes a 400 whatever Serve returns,
// so read the parameters first, and stop if Wrong is true.
func (r *Request) Text(name string) string { return r.call.query.text(name) }

// All returns the values of a parameter of the query that may be repeated.
func (r *Request) All(name string) []string { return r.call.query.Values[name] }

// Flag returns a parameter of the query that is true or false, as Text does.
func (r *Request) Flag(name string) bool { return r.call.query.flag(name) }

// Wrong reports whether a parameter that was read has a wrong value.
func (r *Request) Wrong() bool { return r.call.query.err != nil }

// Decode reads the body into v, as strict JSON: unknown members are errors.
func (r *Request) Decode(v any) error { return r.call.decode(v) }

// Address returns the address of the client, without the port.
func (r *Request) Address() string { return r.call.address() }

// Located sets the Location to the address of a path below the base path.
func (r *Request) Located(path string) { r.call.located(path) }

// Absolute returns the address of a path below the base path, as clients know it.
func (r *Request) Absolute(path string) string { return r.call.url(path) }

// Redirect makes a 303 to an address the response. The address must not depend on input of the client.
func (r *Request) Redirect(address string) {
	r.Header["Location"] = []string{address}
	r.call.status = http.StatusSeeOther
}

// Page makes a page for people the response.
func (r *Request) Page(status int, html []byte) { r.Respond(status, "text/html; charset=utf-8", html) }

// Respond makes some bytes of a media type the response. Serve returns nil then.
func (r *Request) Respond(status int, mediaType string, body []byte) {
	if len(body) > 0 {
		r.Header["Content-Type"] = []string{mediaType}
	}
	r.call.status, r.call.out = status, append(r.call.out[:0], body...)
}

// Within returns how many bytes of memory a call of a Session may take: see appsvc.Session.Within.
func (r *Request) Within() int { return r.call.within }

// SearchesContent waits for one of the slots of searches in content, once, for as long as the request lasts.
func (r *Request) SearchesContent() error {
	if r.call.slot != nil {
		return nil
	}
	return r.call.acquireSlot(r.call.h.searches, "")
}

// ErrorJSON returns the body that an error would have as the response, for an endpoint that has errors within its
// responses. A cause that it hides is logged.
func (r *Request) ErrorJSON(err error) []byte {
	e, hidden := httpErrorOf(err)
	if hidden {
		r.call.log(e.Text, err)
	}
	e.Code = cmp.Or(e.Code, codeOf(e.status))
	return e.json()
}

// route returns the endpoint as the handler has its own.
func (e Extra) route() route {
	out := route{method: e.Method, path: e.Path, status: e.Status, query: e.Query, flags: slash}
	serve := e.Serve
	if e.List != nil {
		out.query = append(slices.Clip(e.Query), "limit", "after")
		serve = func(r *Request) (any, error) { return e.List(r) }
	}
	if e.Public {
		out.flags |= public
	}
	if e.JSON {
		out.body = jsonBody
	}
	if e.RPC {
		out.flags |= rpc | agents
	}
	out.call = func(c *call) error {
		c.w.Header()["Vary"] = varyCaller
		c.cacheAs(noStore) // it may have a secret, and people change
		result, err := serve(&Request{Request: c.r, By: c.by, Header: c.w.Header(), call: c})
		switch {
		case c.query.err != nil:
			return c.query.err
		case errors.Is(err, ErrUnauthenticated):
			c.reason = err.Error()
			return errorf(http.StatusUnauthorized, "this did not prove who you are: try again")
		case err != nil || result == nil:
			return err
		}
		if list, ok := result.(List); ok {
			if list.next != "" {
				c.next("after", list.next)
			}
			c.out = list.body
			return nil
		}
		if err := c.json(result, nil); err != nil {
			return err
		}
		if len(c.out) > mostBytes {
			return fmt.Errorf("the response of %s %s has %d bytes: want at most %d",
				e.Method, e.Path, len(c.out), mostBytes)
		}
		return nil
	}
	return out
}
