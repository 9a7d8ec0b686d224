package httpapi

import (
	"context"
	"net"
	"net/http"
	"net/url"
)

// schemeKey is the key of the scheme in a context.
type schemeKey struct{}

// Scheme marks the requests of a context as sent by "http" or "https", whatever connection they came over. A server
// behind a proxy that it trusts uses it, so that URLs in responses begin as its clients know them. Set
// http.Request.Host too.
func Scheme(ctx context.Context, scheme string) context.Context {
	return context.WithValue(ctx, schemeKey{}, scheme)
}

// url returns the absolute address of a path below the base path, for Location, Link and the member url. Config.BaseURL wins.
// Without it the address begins with what the request says: the mark of Scheme, else whether it came over TLS, and its Host.
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
		if addr, ok := c.ctx().Value(http.LocalAddrContextKey).(net.Addr); ok {
			host = addr.String()
		}
	}
	return scheme + "://" + host + c.h.BasePath + path
}

// next sets the header Link to the address of the next page: path, with the parameters of this request that the route knows,
// and with name set to after. The parameter svctoken is none of those, so a token in the query never gets into a header, nor
// from there into a log or the history of a browser. Clients that page send it again by themselves.
func (c *call) next(path, name, after string) {
	values := url.Values{}
	for _, known := range c.route.query {
		values[known] = c.query.all(known)
	}
	values[name] = []string{after}
	c.header()["Link"] = []string{"<" + c.url(path) + "?" + values.Encode() + `>; rel="next"`}
}

// nextHere does what next does for a list of the asset manager, which does not lie below the base path. The Link is
// relative, a query alone, so it leads to the same address in either of the forms that the path may have. instead is the
// cursor for the other direction, which is left out.
func (c *call) nextHere(name, after, instead string) {
	values := url.Values{}
	for _, known := range c.route.query {
		if known != instead {
			values[known] = c.query.all(known)
		}
	}
	values[name] = []string{after}
	c.header()["Link"] = []string{"<?" + values.Encode() + `>; rel="next"`}
}
