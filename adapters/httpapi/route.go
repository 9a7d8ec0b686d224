package httpapi

import (
	"net/http"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine/reviews"
)

// route is one endpoint: how it is found, whom and what it lets through, and what carries it out. The tables of routes
// are the only place where an endpoint is declared; authentication, checks of the query, the media type, the
// idempotency key and the memory for a request all follow from these fields. README.md has a section about each
// endpoint.
type route struct {
	method  string
	path    string // "/apps/{id}", below where its table is mounted; parameters are read with (*call).param
	pattern string // the same from the root of the server; set by newRouter
	call    func(*call) error

	// The zero values of public, query, byTag and idempotencyKey are the strict ones: a token is needed, no parameter is known,
	// delivery tokens and idempotency keys are refused.

	eitherSlash bool     // the path is the same with and without a slash at its end
	public      bool     // needs no token
	query       []string // parameters it knows
	knownOnly   bool     // refuses other parameters, as every write does: a misspelt filter must not answer everything
	body        body     // what it takes
	// admit refuses a caller before the request is read, and admitBody before the body is read, when the head of the request
	// is in order. nil = the endpoint does.
	admit, admitBody func(*call) error
	byTag            bool // takes callers who may read by tags only
	idempotencyKey   bool // takes an Idempotency-Key
	reserves         bool // its domain reserves memory for what it reads, see memlimit
	// status is that of a success: 201 for POST /apps/, POST /components/, a restore, and a PUT of a tag; 204 if a tag or a component
	// is deleted; else 200, also for a PATCH.
	status int
}

// writes reports whether the endpoint changes something. A POST that only reads, such as the check of a component, counts as a
// write here: it refuses unknown parameters and an Idempotency-Key too.
func (r *route) writes() bool { return r.method != http.MethodGet }

// described returns the path of the route as openapi.json has it. Collections stand there without the
// slash at their end.
func (r *route) described(m mount) string {
	path := m.prefix() + r.path
	if r.eitherSlash {
		path = strings.TrimSuffix(path, "/")
	}
	return path
}

// resource is what one path names: an endpoint for each method.
type resource struct {
	routes      []*route
	allowHeader string // value of the Allow header
}

// add adds the endpoint of another method and renews the Allow header, which names HEAD beside GET and always OPTIONS. The
// handler answers OPTIONS before it looks for the resource.
func (r *resource) add(rt *route) {
	r.routes = append(r.routes, rt)
	methods := []string{http.MethodOptions}
	for _, rt := range r.routes {
		methods = append(methods, rt.method)
		if rt.method == http.MethodGet {
			methods = append(methods, http.MethodHead)
		}
	}
	slices.Sort(methods)
	r.allowHeader = strings.Join(methods, ", ")
}

// public reports whether the path needs no token. That is the same for all methods of a path, since a token is asked for
// before the method is looked at.
func (r *resource) public() bool { return r.routes[0].public }

// route returns the endpoint for a method, or nil; HEAD is a GET whose body the server drops.
func (r *resource) route(method string) *route {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	for _, rt := range r.routes {
		if rt.method == method {
			return rt
		}
	}
	return nil
}

// table is the endpoints that are mounted at one place.
type table struct {
	mount  mount
	routes []route
}

// mount is the place below which the paths of a table lie.
type mount int

// What is mounted at the root stays there whatever Config.BasePath is.
const (
	atRoot   mount = iota // the root of the server
	atBase                // Config.BasePath
	atAssets              // the prefix of the asset manager
)

// prefix is what openapi.json writes before the paths of a mount. Those at the base path have none there, since the
// base path is part of the server's address.
func (m mount) prefix() string {
	if m == atAssets {
		return assetPrefix
	}
	return ""
}

// tables returns everything that the handler serves. The domains that the Config leaves out have no routes, so their
// paths are 404.
func (h *handler) tables() []table {
	all := []table{
		{atRoot, h.healthTable()},
		{atBase, newCORSPage().table()},
		{atBase, h.description.table()},
		{atBase, meTable()},
	}
	if h.Apps != nil {
		all = append(all, table{atBase, appRoutes{h.Apps}.table()})
	}
	if h.Assets != nil {
		all = append(all, table{atAssets, assetRoutes{h.Assets}.table()})
	}
	if h.Reviews != nil {
		all = append(all, table{atBase, reviewRoutes{h.Reviews, h.spool, reviews.NewGate(h.Limits.LargeReviews)}.table()})
	}
	return all
}
