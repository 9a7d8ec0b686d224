package httpapi

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/julienschmidt/httprouter"
)

// router finds the resource that a path names. Paths without parameters are looked up first, in a map: httprouter accepts
// no /apps/versions/ beside /apps/:id.
type router struct {
	base     string // Config.BasePath, "" for the root
	fixed    map[string]*resource
	patterns map[string]*resource // with parameters, as httprouter has them
	params   *httprouter.Router   // leads to the names of patterns
}

// newRouter returns a router for these tables, and sets the pattern of each of their routes.
func newRouter(base string, tables []table) *router {
	r := &router{base: base, fixed: map[string]*resource{}, patterns: map[string]*resource{}, params: httprouter.New()}
	for _, t := range tables {
		for i := range t.routes {
			rt := &t.routes[i]
			rt.pattern = t.mount.prefix(base) + rt.path
			r.add(t.mount.prefix("")+rt.path, rt)
			if rt.eitherSlash {
				r.add(t.mount.prefix("")+otherSlash(rt.path), rt)
			}
		}
	}
	return r
}

// add adds a route at a path, which is below the base path if it is not at the root. The endpoints of one path share a resource,
// whatever order their tables have.
func (r *router) add(path string, rt *route) {
	index := r.fixed
	if strings.Contains(path, "{") {
		path, index = wildcards(path), r.patterns
	}
	if index[path] == nil {
		index[path] = &resource{}
		if strings.Contains(path, "/:") {
			r.params.Handle(anyMethod, path, func(_ http.ResponseWriter, _ *http.Request, found httprouter.Params) { found[0].Key = path })
		}
	}
	index[path].add(rt)
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

// match is the resource that a path names, and the parameters in the path.
type match struct {
	resource *resource         // nil if the path names none
	params   httprouter.Params // unescaped, in the order of the pattern
	found    [1]httprouter.Param
}

// find looks up the path of u and sets m to its resource; m.resource is nil if there is none. Everything below
// the prefix of the asset manager belongs to it, with one slash after the prefix or with two. No path is redirected: a redirect would
// repeat a token in the query, and a browser takes a redirected preflight request for a refusal.
func (r *router) find(u *url.URL, m *match) {
	path := escapedPath(u)
	if rest, ok := cutAssetPrefix(path); ok {
		path = assetPrefix + rest
	} else if path != healthPath {
		rest, below := strings.CutPrefix(path, r.base)
		if _, ofAssets := cutAssetPrefix(rest); !below || ofAssets || rest == healthPath {
			return
		}
		path = rest
	}
	m.resource = r.fixed[path]
	if m.resource != nil || !strings.HasPrefix(path, "/") {
		return
	}
	handle, params, _ := r.params.Lookup(anyMethod, path)
	if handle == nil {
		return
	}
	// A path with an empty, "." or ".." parameter names nothing: clients and proxies disagree about what such a path means.
	for i, p := range params {
		if p.Value == "" || p.Value == "." || p.Value == ".." {
			return
		}
		params[i].Value = unescape(p.Value)
	}
	handle(nil, nil, m.found[:])
	m.resource, m.params = r.patterns[m.found[0].Key], params
}

// endpoint returns the endpoint of a request whose path was looked up. It returns a 404 for a path that names nothing, and a
// 405 for a method that the path does not have; the header Allow then says which methods it has.
func (c *call) endpoint() (*route, error) {
	if c.match.resource == nil {
		return nil, errNoResource
	}
	rt := c.match.resource.route(c.r.Method)
	if rt == nil {
		c.header()["Allow"] = []string{c.match.resource.allowHeader}
		return nil, errNoMethod
	}
	return rt, nil
}

// escapedPath returns the path as it was sent. RawPath counts only if it is an encoding of Path: a program that mounts
// the handler, with http.StripPrefix for instance, may have changed one of the two alone.
func escapedPath(u *url.URL) string {
	if u.RawPath != "" {
		if plain, err := url.PathUnescape(u.RawPath); err == nil && plain == u.Path {
			return u.RawPath
		}
	}
	return u.EscapedPath()
}

// anyMethod is the method under which every resource is registered with httprouter. So a lookup finds the resource of a
// path whatever the method of the request, and the resource then says whether it needs a token and knows the method.
const anyMethod = "ANY"

// otherSlash returns the other form of a collection's path.
func otherSlash(path string) string {
	if strings.HasSuffix(path, "/") {
		return strings.TrimSuffix(path, "/")
	}
	return path + "/"
}

// wildcards returns a pattern in the syntax of httprouter. A parameter is named for its position, since httprouter accepts
// only one name at one position.
func wildcards(pattern string) string {
	parts := strings.Split(pattern, "/")
	for i, part := range parts {
		if strings.HasPrefix(part, "{") {
			parts[i] = ":" + strconv.Itoa(i)
		}
	}
	return strings.Join(parts, "/")
}

// unescape decodes a parameter, once. Invalid encodings and invalid UTF-8 become U+0000. No stored name or id contains
// that character, so the parameter is treated like any other name of nothing.
func unescape(s string) string {
	s, err := url.PathUnescape(s)
	if err != nil {
		return "\x00"
	}
	return strings.ToValidUTF8(s, "\x00")
}
