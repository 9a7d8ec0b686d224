package httpapi

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/julienschmidt/httprouter"
)

// assetPrefix is where the asset manager is mounted. Callers may double its last slash.
const assetPrefix = "/services/frontline/api/v4/assetManager/"

// site finds the resource that a path names.
type site struct {
	base   string
	mounts [3]*tree // by mount
}

func newSite(base string, tables []table) *site {
	s := &site{base: base}
	for i := range s.mounts {
		s.mounts[i] = &tree{fixed: map[string]*resource{}, patterns: map[string]*resource{}, params: httprouter.New()}
	}
	prefix := [...]string{atRoot: "", atBase: base, atAssets: assetPrefix}
	for _, t := range tables {
		for i := range t.routes {
			t.routes[i].pattern = prefix[t.mount] + t.routes[i].path
			s.mounts[t.mount].add(&t.routes[i])
		}
	}
	return s
}

// find sets the resource and the parameters of c, or leaves the resource nil.
func (s *site) find(c *call) {
	path := escapedPath(c.r.URL)
	if rest, ok := strings.CutPrefix(path, assetPrefix[:len(assetPrefix)-1]); ok && strings.HasPrefix(rest, "/") {
		if strings.HasPrefix(rest, "//") {
			rest = rest[1:]
		}
		s.mounts[atAssets].find(c, rest)
		return
	}
	s.mounts[atRoot].find(c, path)
	if rest, ok := strings.CutPrefix(path, s.base); ok && c.resource == nil {
		s.mounts[atBase].find(c, rest)
	}
}

// escapedPath returns the path as it was sent. RawPath counts only while it says the same as
// Path: who mounts the handler may have changed one of them.
func escapedPath(u *url.URL) string {
	if u.RawPath != "" {
		if plain, err := url.PathUnescape(u.RawPath); err == nil && plain == u.Path {
			return u.RawPath
		}
	}
	return u.EscapedPath()
}

// tree holds the resources of one mount. Paths without parameters are looked up first: the
// router would not take /apps/versions/ beside /apps/:id.
type tree struct {
	fixed    map[string]*resource
	params   *httprouter.Router
	patterns map[string]*resource // what params leads to
}

// anyMethod is the one method that the router knows: it finds the resource, and the resource
// knows its methods, so that 405 and 401 can be told apart from 404 in one lookup.
const anyMethod = "ANY"

func (t *tree) add(rt *route) {
	t.resource(rt.path).add(rt)
	if rt.collection {
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

// resource returns the resource of a path or pattern, made on its first use.
func (t *tree) resource(pattern string) *resource {
	index := t.fixed
	if strings.Contains(pattern, "{") {
		index = t.patterns
	}
	res := index[pattern]
	if res == nil {
		res = &resource{}
		index[pattern] = res
		if strings.Contains(pattern, "{") {
			t.params.Handle(anyMethod, strings.NewReplacer("{", ":", "}", "").Replace(pattern), found(res))
		}
	}
	return res
}

// found returns a handle that tells its call, which comes as the ResponseWriter, what was found.
func found(res *resource) httprouter.Handle {
	return func(w http.ResponseWriter, _ *http.Request, params httprouter.Params) {
		c := w.(*call)
		c.resource, c.params = res, params
	}
}

func (t *tree) find(c *call, path string) {
	if c.resource = t.fixed[path]; c.resource != nil {
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
	handle(c, nil, params)
}

// unescape decodes a parameter, once. What is no text becomes U+0000, which no stored name or id
// has, so that it is treated like any other wrong name.
func unescape(s string) string {
	s, err := url.PathUnescape(s)
	if err != nil {
		return "\x00"
	}
	return strings.ToValidUTF8(s, "\x00")
}

// segment escapes s as one segment of a path.
func segment(s string) string {
	if s == "." || s == ".." {
		return strings.ReplaceAll(s, ".", "%2E")
	}
	return strings.ReplaceAll(url.QueryEscape(s), "+", "%20")
}
