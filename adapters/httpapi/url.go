package httpapi

import (
	"context"
	"net"
	"net/http"
	"net/url"
)

type schemeKey struct{}

// Scheme marks the requests of a context as sent by "http" or "https", whatever connection they came over. A server
// behind a proxy that it trusts uses it, so that URLs in responses begin as its clients know them. Set
// http.Request.Host too.
func Scheme(ctx context.Context, scheme string) context.Context {
	return context.WithValue(ctx, schemeKey{}, scheme)
}

// url returns the absolute address of a path below the base path.
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

// next tells where the next page is: this page's path and parameters, with name set to after.
// The token never comes along.
func (c *call) next(path, name, after string) {
	values := url.Values{}
	for _, known := range c.route.query {
		values[known] = c.query.all(known)
	}
	values[name] = []string{after}
	c.header()["Link"] = []string{"<" + c.url(path) + "?" + values.Encode() + `>; rel="next"`}
}

// nextHere tells where the next page of a list is that does not lie below the base path: at the same address
// with other parameters, with name set to after and without the parameter instead. The token never comes along.
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
