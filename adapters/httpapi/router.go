package httpapi

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// router finds the routes of a path: an endpoint for each method.
type router struct {
	base   string // Config.BasePath, "" for the root
	assets string // Config.AssetPrefix, which stands for assetPrefix
	root   node
}

// node is where a path ends, or the beginning of longer ones. The routes of all paths are a tree of nodes.
type node struct {
	routes []*route
	next   map[string]*node // by the following segment of the path; anySegment for a parameter
}

// anySegment stands for a segment that is a parameter. No segment has a slash.
const anySegment = "/"

func newRouter(base, assets string, routes []route) *router {
	r := &router{base: base, assets: assets}
	for i := range routes {
		rt := &routes[i]
		path := rt.described()
		r.root.add(path, rt)
		if rt.is(slash) {
			r.root.add(path+"/", rt)
		}
	}
	return r
}

// add adds a route at a path below the node.
func (n *node) add(path string, rt *route) {
	for segment := range strings.SplitSeq(path[1:], "/") {
		if strings.HasPrefix(segment, "{") {
			segment = anySegment
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

// find returns the routes of a path as it was sent, none if it names nothing, and its parameters, unescaped. No path is
// redirected: a redirect would repeat a token in the query, and to a browser a redirected preflight request is a failed
// one.
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
	if !strings.HasPrefix(path, "/") {
		return nil, nil
	}
	return r.root.find(path, nil)
}

// find finds the routes of a path below the node. before are the parameters on the way to the node. A parameter counts
// only if no path has the segment itself, as /x/public/reviews/{network}/{collection} has it beside /x/public/{tag}.
func (n *node) find(path string, before []string) (routes []*route, params []string) {
	if n == nil {
		return nil, nil
	}
	if path == "" {
		return n.routes, before
	}
	segment, rest := path[1:], ""
	if end := strings.IndexByte(segment, '/'); end >= 0 {
		segment, rest = segment[:end], segment[end:]
	}
	routes, params = n.next[segment].find(rest, before)
	// A path with an empty, "." or ".." parameter names nothing: clients and proxies disagree about what such a path
	// means.
	if routes == nil && segment != "" && segment != "." && segment != ".." {
		return n.next[anySegment].find(rest, append(before, unescape(segment)))
	}
	return routes, params
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

// unescape decodes a parameter, once. Invalid encodings and invalid UTF-8 become U+0000. No stored name or id contains
// that character, so the parameter is treated like any other name of nothing.
func unescape(s string) string {
	s, err := url.PathUnescape(s)
	if err != nil {
		return "\x00"
	}
	return strings.ToValidUTF8(s, "\x00")
}
