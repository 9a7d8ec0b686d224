package httpapi

import "net/http"

// What pages of other origins may send, besides the headers that need no permission.
var (
	allowMethods  = []string{"GET, HEAD, POST, PUT, PATCH, DELETE"}
	allowHeaders  = []string{"Authorization, Content-Type, If-None-Match, Idempotency-Key"}
	preflightKept = []string{"86400"} // how long browsers may keep the answer, in seconds
)

// preflight answers OPTIONS: 204 with the methods and headers that pages of other origins may use. The answer is the
// same for every path, and no token is needed, so it says nothing about what exists. The CORS headers of every other
// response are in commonHeaders.
func (c *call) preflight() {
	header := c.header()
	header["Access-Control-Allow-Methods"] = allowMethods
	header["Access-Control-Allow-Headers"] = allowHeaders
	header["Access-Control-Max-Age"] = preflightKept
	c.status = http.StatusNoContent
	c.send()
}
