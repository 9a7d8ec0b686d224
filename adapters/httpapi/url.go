package httpapi

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/vitrine-go/vitrine/internal/urlescape"
)

// schemeKey is the key of the scheme in a context.
type schemeKey struct{}

// Scheme marks the requests of a context as sent by "http" or "https", whatever connection they came over. A server
// behind a proxy that it trusts uses it, so that URLs in responses begin as its clients know them. Set
// http.Request.Host too.
func Scheme(ctx context.Context, scheme string) context.Context {
	return context.WithValue(ctx, schemeKey{}, scheme)
}

// located sets the header Location to the address of a path below the base path, and returns the address.
func (c *call) located(path string) string {
	url := c.url(path)
	c.w.Header()["Location"] = []string{url}
	return url
}

// url returns the absolute address of a path below the base path, for Location, Link and the member url. It begins with
// Config.BaseURL or, without it, with the scheme (see Scheme) and the Host of the request and the stripped prefix.
func (c *call) url(path string) string {
	if c.h.BaseURL != "" {
		return c.h.BaseURL + path
	}
	scheme := "http"
	if c.r.TLS != nil {
		scheme = "https"
	}
	if told, ok := c.r.Context().Value(schemeKey{}).(string); ok {
		scheme = told
	}
	host := c.r.Host
	if host == "" { // HTTP/1.0
		if addr, ok := c.r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok {
			host = addr.String()
		}
	}
	return scheme + "://" + host + stripped(c.r) + c.h.BasePath + path
}

// stripped returns the prefix that http.StripPrefix has removed from the path of a request, escaped: RequestURI has the
// path as it was sent. It is "" if the path was changed in another way.
func stripped(r *http.Request) string {
	sent, err := url.ParseRequestURI(r.RequestURI)
	if err != nil {
		return ""
	}
	prefix, ok := strings.CutSuffix(escapedPath(sent), escapedPath(r.URL))
	if !ok || strings.HasSuffix(prefix, "/") {
		return ""
	}
	return prefix
}

// next sets the header Link to the address of the next page: the path of this request in its usual form, with the
// parameters of it that the route knows, and with name set to after. svctoken and key are not among them, so a token in
// the query never gets into a header, nor from there into a log or the history of a browser. Clients that page send it
// again by themselves.
func (c *call) next(name, after string) {
	path := c.route.path
	for _, name := range c.params {
		before, rest, _ := strings.Cut(path, "{")
		_, rest, _ = strings.Cut(rest, "}")
		path = before + urlescape.Escape(name) + rest
	}
	c.w.Header()["Link"] = []string{"<" + c.url(path) + c.nextQuery(name, after, "") + `>; rel="next"`}
}

// nextHere does what next does for a list of the asset manager, which does not lie below the base path. The Link is
// relative, a query alone, so it leads to the same address in either of the forms that the path may have. instead is
// the cursor for the other direction, which is left out.
func (c *call) nextHere(name, after, instead string) {
	c.w.Header()["Link"] = []string{"<" + c.nextQuery(name, after, instead) + `>; rel="next"`}
}

// nextQuery returns the query of the next page.
func (c *call) nextQuery(name, after, without string) string {
	values := url.Values{}
	for _, known := range c.route.query {
		if known != without && known != keyParameter {
			values[known] = c.query.Values[known]
		}
	}
	values[name] = []string{after}
	return "?" + values.Encode()
}
