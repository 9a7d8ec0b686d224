package httpapi

import (
	"net"
	"net/http"
	"net/url"
)

// url returns the absolute address of a path below the base path.
func (c *call) url(path string) string {
	if c.h.BaseURL != "" {
		return c.h.BaseURL + path
	}
	scheme := "http://"
	if c.r.TLS != nil {
		scheme = "https://"
	}
	host := c.r.Host
	if host == "" { // HTTP/1.0
		if addr, ok := c.ctx().Value(http.LocalAddrContextKey).(net.Addr); ok {
			host = addr.String()
		}
	}
	return scheme + host + c.h.BasePath + path
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
