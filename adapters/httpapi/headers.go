package httpapi

import (
	"net/http"
	"strconv"

	"github.com/vitrine-go/vitrine/appsvc"
)

// This file has the headers that responses have in common, and the response to OPTIONS. Other headers are set where the
// response is made; cacheAs sets Cache-Control.

// commonHeaders are the headers that every response has with the same value, errors too: pages of all origins may read
// it, and no browser guesses its type, frames it or repeats its address. Only cors.html replaces one,
// Content-Security-Policy. There is no Access-Control-Allow-Credentials, so a page of another origin cannot use the
// cookies of its visitor. The slices are shared between responses, so a header is replaced and never added to.
var commonHeaders = http.Header{
	"Access-Control-Allow-Origin":   {"*"},
	"Access-Control-Expose-Headers": {"Location, ETag, Link, X-Request-Id, Retry-After, Content-Range, Accept-Ranges"},
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

// What pages of other origins may send, besides the headers that need no permission.
var (
	allowMethods  = []string{"GET, HEAD, POST, PUT, PATCH, DELETE"}
	allowHeaders  = []string{"Authorization, Content-Type, If-None-Match, Idempotency-Key, If-Match, Range, If-Range"}
	preflightKept = []string{"86400"} // how long browsers may keep the response, in seconds
)

// preflight serves OPTIONS: 204 with the methods and headers that pages of other origins may use. The response is the
// same for every path, and no token is needed, so it says nothing about what exists.
func (c *call) preflight() {
	header := c.w.Header()
	header["Access-Control-Allow-Methods"] = allowMethods
	header["Access-Control-Allow-Headers"] = allowHeaders
	header["Access-Control-Max-Age"] = preflightKept
	c.status = http.StatusNoContent
	c.send()
}

// What a client may keep of a response, and for how long:
//
//	one version of an app, by its number   a year, without asking again: a version never changes; not with lang
//	cors.html                              a day, also in shared caches
//	deliveries to pages                    as Config.PublicCache says, also in shared caches
//	errors below x/public/ and x/file/     not at all
//	links to show, and what they show      not at all
//	files of assets                        a minute, or a year with the version of their bytes; also in shared caches
//	event streams, exports of reviews      not at all
//	requests that net/http cannot read     not at all
//	all others, errors too                 only to ask whether the copy is still good
//
// A request with a token in its query overrules all of these: its response is not kept at all, since a cache would
// store it under the address, and the address has the token. All but cors.html and deliveries is private: a shared
// cache must not give the response for one caller to another.
//
// Reads of one version of an app have an ETag, so a client can ask with If-None-Match whether its copy is still good;
// the response is then 304 without a body. The rights of the caller are checked first, as for any read. (*call).choose
// makes the comparison, since a compressed body has another ETag.

// The values of Cache-Control.
var (
	revalidate   = []string{"private, no-cache"}
	immutable    = []string{"private, max-age=31536000, immutable"}
	publicForDay = []string{"public, max-age=86400"}
	noStore      = []string{"no-store"}
)

// varyCaller is the header Vary of a response that differs between callers and is kept by their browser. It makes the
// browser ask again when another user has signed in.
var varyCaller = []string{"Authorization, Cookie"}

// cacheAs sets Cache-Control to one of the values above, or to no-store if the token came in the query.
func (c *call) cacheAs(value []string) {
	if c.query.Has(tokenParameter) {
		value = noStore
	}
	c.w.Header()["Cache-Control"] = value
}

// etagOf returns the ETag of a version of an app before compression. It is strong: equal ETags mean equal bytes. So it
// says whether owner, editor and groups are left out, as for a delivery token, whether defaults are filled in, and in
// which language and by which rule of languages texts are answered. It has the time of the update, since after a
// restored backup a version number may be used again for other contents. The letter at its end is the version of the
// JSON's form.
func etagOf(app appsvc.App, tagged, defaults bool) string {
	var room [64]byte
	etag := strconv.AppendInt(append(room[:0], '"'), app.Version.Number(), 10)
	etag = strconv.AppendInt(append(etag, '-'), app.UpdatedAt, 36)
	if tagged {
		etag = append(etag, "-tagged"...)
	}
	if defaults {
		etag = append(etag, "-defaults"...)
	}
	if in := app.Variant(); in != "" {
		etag = append(append(etag, '-'), in...)
	}
	return string(append(etag, `-b"`...))
}
