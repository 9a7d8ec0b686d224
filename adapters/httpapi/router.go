package httpapi

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/julienschmidt/httprouter"
)

// router finds the resource that a path names. It takes two steps: the prefix of a path decides the mount, and the
// table of the mount finds the resource. Each mount has a table of its own, since two of them may overlap: the base
// path may be "/".
type router struct {
	base   string        // Config.BasePath, "" for the root
	mounts [3]*pathTable // by mount
}

// newRouter returns a router for these tables, and sets the pattern of each of their routes.
func newRouter(base string, tables []table) *router {
	r := &router{base: base}
	for i := range r.mounts {
		r.mounts[i] = &pathTable{fixed: map[string]*resource{}, patterns: map[string]*resource{}, params: httprouter.New()}
	}
	for _, t := range tables {
		for i := range t.routes {
			t.routes[i].pattern = t.mount.prefix(base) + t.routes[i].path
			r.mounts[t.mount].add(&t.routes[i])
		}
	}
	return r
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

// match is the resource that a path names, and the parameters in the path. It receives them from a handle of
// httprouter, which passes nothing on but a ResponseWriter, so a match has to be one. No method of the ResponseWriter is
// ever called, and the embedded one is nil.
type match struct {
	resource *resource         // nil if the path names none
	params   httprouter.Params // unescaped, in the order of the pattern

	http.ResponseWriter
}

// find looks up the path of u and sets m to its resource; m.resource is nil if there is none. Everything below
// the prefix of the asset manager belongs to it, with one slash after the prefix or with two. Other paths are looked up
// at the root first, and then below the base path. No path is redirected: a redirect would repeat a token in the query, and
// a browser takes a redirected preflight request for a refusal.
func (r *router) find(u *url.URL, m *match) {
	path := escapedPath(u)
	if rest, ok := cutAssetPrefix(path); ok {
		r.mounts[atAssets].find(rest, m)
		return
	}
	r.mounts[atRoot].find(path, m)
	if rest, ok := strings.CutPrefix(path, r.base); ok && m.resource == nil {
		r.mounts[atBase].find(rest, m)
	}
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

// pathTable holds the resources of one mount. Paths without parameters are looked up first, in a map: httprouter accepts
// no /apps/versions/ beside /apps/:id.
type pathTable struct {
	fixed    map[string]*resource
	params   *httprouter.Router
	patterns map[string]*resource // what params leads to
}

// anyMethod is the method under which every resource is registered with httprouter. So a lookup finds the resource of a
// path whatever the method of the request, and the resource then says whether it needs a token and knows the method.
const anyMethod = "ANY"

// add adds a route, under both forms of its path if it is a collection.
func (t *pathTable) add(rt *route) {
	t.resource(rt.path).add(rt)
	if rt.eitherSlash {
		t.resource(otherSlash(rt.path)).add(rt)
	}
}

// otherSlash returns the other form of a collection's path.
func otherSlash(path string) string {
	if strings.HasSuffix(path, "/") {
		return strings.TrimSuffix(path, "/")
	}
	return path + "/"
}

// resource returns the resource of a path or pattern. It makes the resource on the first call, so the endpoints of one path
// share it, whatever order their tables have.
func (t *pathTable) resource(pattern string) *resource {
	index := t.fixed
	if strings.Contains(pattern, "{") {
		index = t.patterns
	}
	res := index[pattern]
	if res == nil {
		res = &resource{}
		index[pattern] = res
		if strings.Contains(pattern, "{") {
			t.params.Handle(anyMethod, wildcards(pattern), matches(res))
		}
	}
	return res
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

// matches returns a handle that writes res into its match.
func matches(res *resource) httprouter.Handle {
	return func(m http.ResponseWriter, _ *http.Request, _ httprouter.Params) { m.(*match).resource = res }
}

// find sets m to the resource of a path within the mount. A path with an empty, "." or ".." parameter names none:
// clients and proxies disagree about what such a path means.
func (t *pathTable) find(path string, m *match) {
	m.resource = t.fixed[path]
	if m.resource != nil {
		return
	}
	if !strings.HasPrefix(path, "/") {
		return
	}
	handle, params, _ := t.params.Lookup(anyMethod, path)
	if handle == nil {
		return
	}
	for i, p := range params {
		if p.Value == "" || p.Value == "." || p.Value == ".." {
			return
		}
		params[i].Value = unescape(p.Value)
	}
	handle(m, nil, nil)
	m.params = params
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
