package httpapi

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/julienschmidt/httprouter"
)

// router finds the routes of a path: an endpoint for each method. Paths without parameters are looked up first, in a
// map: httprouter does not accept /apps/versions/ beside /apps/:id.
type router struct {
	base     string // Config.BasePath, "" for the root
	assets   string // Config.AssetPrefix, which stands for assetPrefix
	fixed    map[string][]*route
	patterns map[string][]*route // with parameters, as httprouter has them
	params   *httprouter.Router  // leads to the names of patterns
}

func newRouter(base, assets string, routes []route) *router {
	r := &router{base: base, assets: assets, fixed: map[string][]*route{}, patterns: map[string][]*route{},
		params: httprouter.New()}
	for i := range routes {
		rt := &routes[i]
		path := rt.described()
		r.add(path, rt)
		if rt.is(slash) {
			r.add(path+"/", rt)
		}
	}
	return r
}

// add adds a route at a path, whatever the order of the routes of one path.
func (r *router) add(path string, rt *route) {
	index := r.fixed
	if strings.Contains(path, "{") {
		path, index = routerPattern(path), r.patterns
	}
	if index[path] == nil && strings.Contains(path, "/:") {
		r.params.Handle(anyMethod, path, func(_ http.ResponseWriter, _ *http.Request, found httprouter.Params) {
			found[0].Key = path
		})
	}
	index[path] = append(index[path], rt)
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
	if routes = r.fixed[path]; routes != nil || !strings.HasPrefix(path, "/") {
		return routes, nil
	}
	handle, found, _ := r.params.Lookup(anyMethod, lookupPath(path))
	if handle == nil {
		return nil, nil
	}
	for _, p := range found {
		// A path with an empty, "." or ".." parameter names nothing: clients and proxies disagree about what such a
		// path means.
		if p.Value == "" || p.Value == "." || p.Value == ".." {
			return nil, nil
		}
		params = append(params, unescape(p.Value))
	}
	handle(nil, nil, found)
	return r.patterns[found[0].Key], params
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

// anyMethod is the method under which every path is registered with httprouter. So a lookup finds a path whatever the
// method of the request.
const anyMethod = "ANY"

// routerPattern returns a pattern in the syntax of httprouter. A parameter is named for its position, since httprouter
// accepts only one name at one position.
func routerPattern(pattern string) string {
	parts := strings.Split(lookupPath(pattern), "/")
	for i, part := range parts {
		if strings.HasPrefix(part, "{") {
			parts[i] = ":" + strconv.Itoa(i)
		}
	}
	return strings.Join(parts, "/")
}

// lookupPath returns the path under which a path is looked up. The paths of shown reviews and folders have one that no
// request can have, since httprouter takes no fixed name in the place of the parameter of /x/public/{tag}.
func lookupPath(path string) string {
	if strings.HasPrefix(path, shownPath) || strings.HasPrefix(path, shownFolderPath) {
		return "/ " + path
	}
	return path
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
