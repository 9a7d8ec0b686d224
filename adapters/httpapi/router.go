package httpapi

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// router finds the routes of a path: an endpoint for each method. No path is redirected: a redirect would repeat a token in the query, and
// to a browser a redirected preflight request is a failed one.
type router struct {
	base   string // Config.BasePath, "" for the root
	assets string // Config.AssetPrefix, which stands for assetPrefix
	paths  *node
}

// node is where all paths with the same beginning are: those that end with it, and those that go on with one more segment.
type node struct {
	routes []*route         // of the path that ends here
	next   map[string]*node // by the next segment of a path; anyName for a parameter
}

// anyName stands for a parameter. No segment of a request has a slash.
const anyName = "/"

func newRouter(base, assets string, routes []route) *router {
	r := &router{base: base, assets: assets, paths: &node{}}
	for i := range routes {
		rt := &routes[i]
		r.paths.add(rt.path, rt)
		if other, ok := strings.CutSuffix(rt.path, "/"); ok && rt.is(slash) {
			r.paths.add(other, rt)
		} else if rt.is(slash) {
			r.paths.add(rt.path+"/", rt)
		}
	}
	return r
}

// add adds a route at a path.
func (n *node) add(path string, rt *route) {
	for segment := range strings.SplitSeq(path, "/") {
		if strings.HasPrefix(segment, "{") {
			segment = anyName
		}
		if n.next == nil {
			n.next = map[string]*node{}
		}
		if n.next[segment] == nil {
			n.next[segment] = &node{}
		}
		n = n.next[segment]
	}
	n.routes = append(n.routes, rt)
}

// allow returns the value of the header Allow. It names HEAD beside GET and always OPTIONS, which the handler serves
// before it looks for the path.
func allow(routes []*route) string {
	names := []string{http.MethodOptions}
	for _, rt := range routes {
		names = append(names, rt.method)
		if rt.method == http.MethodGet {
			names = append(names, http.MethodHead)
		}
	}
	return strings.Join(slices.Sorted(slices.Values(names)), ", ")
}

// find returns the routes of a path as it was sent, none if it names nothing, and its parameters, unescaped.
func (r *router) find(path string) (routes []*route, params []string) {
	if rest, ok := strings.CutPrefix(path, r.assets); ok {
		path = assetPrefix + "/" + strings.TrimPrefix(rest, "/")
	} else if path != healthPath {
		rest, below := strings.CutPrefix(path, r.base)
		if !below || rest == healthPath || strings.HasPrefix(rest, assetPrefix) {
			return nil, nil
		}
		path = rest
	}
	return r.paths.find(strings.Split(path, "/"), nil)
}

// find returns the routes of the path that goes on with these segments, and appends its parameters to params. A segment is taken by its
// name rather than as a parameter: /apps/versions/ is no app. A parameter that is empty, "." or ".." names nothing: clients and proxies
// disagree about what such a path means.
func (n *node) find(segments, params []string) ([]*route, []string) {
	if len(segments) == 0 {
		return n.routes, params
	}
	name, rest := segments[0], segments[1:]
	if next := n.next[name]; next != nil {
		if routes, all := next.find(rest, params); routes != nil {
			return routes, all
		}
	}
	next := n.next[anyName]
	if next == nil || name == "" || name == "." || name == ".." {
		return nil, nil
	}
	// Invalid encodings and invalid UTF-8 become U+0000. No stored name or id contains that character, so the parameter is treated like any
	// other name of nothing.
	plain, err := url.PathUnescape(name)
	if err != nil {
		plain = "\x00"
	}
	return next.find(rest, append(params, strings.ToValidUTF8(plain, "\x00")))
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
