package httpapi

import (
	"context"
	"net"
	"net/http"
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
	c.header()["Location"] = []string{url}
	return url
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
