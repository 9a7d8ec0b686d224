package httpapi

import (
	"net/http"
	"strings"
)

// route is one endpoint: how it is found, whom and what it lets through, and what carries it out. The tables of routes
// are the only place where an endpoint is declared; authentication, checks of the query, the media type, the
// idempotency key and the memory for a request all follow from these fields. README.md has a section about each
// endpoint.
type route struct {
	method string
	path   string // "/apps/{id}", below Config.BasePath; parameters are read with (*call).param
	call   func(*call) error

	// The zero values of public, query, lenient, byTag and idempotencyKey are the strict ones: a token is needed, no parameter is known,
	// delivery tokens and idempotency keys are refused.

	eitherSlash bool     // the path is the same with and without a slash at its end
	public      bool     // needs no token
	query       []string // parameters it knows
	// lenient ignores other parameters. Only reads that clients have known for long do; elsewhere a misspelt filter must not answer everything.
	lenient bool
	body    body // what it takes
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
// write here: it refuses an Idempotency-Key too.
func (r *route) writes() bool { return r.method != http.MethodGet }

// atRoot reports whether the endpoint is at the root of the server and not below Config.BasePath.
func (r *route) atRoot() bool { return r.path == healthPath || strings.HasPrefix(r.path, assetPrefix) }

// described returns the path of the route as openapi.json has it. Collections stand there without the
// slash at their end. The base path is a part of the server's address there.
func (r *route) described() string {
	if r.eitherSlash {
		return strings.TrimSuffix(r.path, "/")
	}
	return r.path
}
