package httpapi

import "net/http"

// This file has the headers that responses have in common, and the response to OPTIONS, which is made of headers alone. A
// header that only some responses have is set where the response is made. Cache-Control, which every response has with a value of
// its own, is set by cacheAs.

// commonHeaders are the headers that every response has with the same value, errors too: pages of all origins may read it, and no browser
// guesses its type, frames it or repeats its address. There is no Access-Control-Allow-Credentials, so a page of another
// origin cannot use the cookies of its visitor. The slices are shared between responses, so a header is replaced and never
// added to.
var commonHeaders = http.Header{
	"Access-Control-Allow-Origin":   {"*"},
	"Access-Control-Expose-Headers": {"Location, ETag, Link, X-Request-Id, Retry-After"},
	"Content-Security-Policy":       {"default-src 'none'; frame-ancestors 'none'"},
	"Referrer-Policy":               {"no-referrer"},
	"X-Content-Type-Options":        {"nosniff"},
}

// Values of other headers, which responses share.
var (
	jsonType        = []string{"application/json; charset=utf-8"}
	gzipCoding      = []string{"gzip"}
	varyEncoding    = []string{"Accept-Encoding"}
	closeConnection = []string{"close"}
)

// setCommonHeaders sets the headers that every response has: commonHeaders, X-Request-Id, which names the request in the log,
// and Cache-Control. An endpoint may replace two of them later: Cache-Control by cacheAs, and Content-Security-Policy, as only
// cors.html does.
func (c *call) setCommonHeaders() {
	header := c.header()
	for name, value := range commonHeaders {
		header[name] = value
	}
	header["X-Request-Id"] = []string{c.id}
	c.cacheAs(revalidate)
}

// What pages of other origins may send, besides the headers that need no permission.
var (
	allowMethods  = []string{"GET, HEAD, POST, PUT, PATCH, DELETE"}
	allowHeaders  = []string{"Authorization, Content-Type, If-None-Match, Idempotency-Key"}
	preflightKept = []string{"86400"} // how long browsers may keep the response, in seconds
)

// preflight answers OPTIONS: 204 with the methods and headers that pages of other origins may use. The response is the
// same for every path, and no token is needed, so it says nothing about what exists.
func (c *call) preflight() {
	header := c.header()
	header["Access-Control-Allow-Methods"] = allowMethods
	header["Access-Control-Allow-Headers"] = allowHeaders
	header["Access-Control-Max-Age"] = preflightKept
	c.status = http.StatusNoContent
	c.send()
}
