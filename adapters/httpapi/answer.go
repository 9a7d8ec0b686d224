package httpapi

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/vitrine-go/vitrine/appsvc"
)

// everyAnswer is the headers that no answer lacks (contract, section 1). The slices are shared
// between answers, which is why headers are replaced here and never added to.
var everyAnswer = http.Header{
	"Access-Control-Allow-Origin":   {"*"},
	"Access-Control-Expose-Headers": {"Location, ETag, Link"},
	"Cache-Control":                 {"private, no-cache"},
	"Content-Security-Policy":       {"default-src 'none'; frame-ancestors 'none'"},
	"Referrer-Policy":               {"no-referrer"},
	"X-Content-Type-Options":        {"nosniff"},
}

var (
	noStore       = []string{"no-store"}
	immutable     = []string{"private, max-age=31536000, immutable"}
	jsonType      = []string{"application/json; charset=utf-8"}
	gzipCoding    = []string{"gzip"}
	varyEncoding  = []string{"Accept-Encoding"}
	varyCaller    = []string{"Authorization"}
	allowMethods  = []string{"GET, HEAD, POST, PUT, PATCH, DELETE"}
	allowHeaders  = []string{"Authorization, Content-Type, If-None-Match, Idempotency-Key"}
	preflightKept = []string{"86400"} // seconds
)

// preflight answers OPTIONS, whatever its path.
func (c *call) preflight() {
	header := c.header()
	header["Access-Control-Allow-Methods"] = allowMethods
	header["Access-Control-Allow-Headers"] = allowHeaders
	header["Access-Control-Max-Age"] = preflightKept
	c.status = http.StatusNoContent
	c.send()
}

// send writes the answer: the headers set so far, the status and the bytes of out.
func (c *call) send() {
	if c.status >= http.StatusBadRequest {
		c.drain()
	}
	body := c.choose()
	c.sent = true
	header := c.header()
	if c.status != http.StatusNoContent && c.status != http.StatusNotModified {
		if header["Content-Type"] == nil {
			header["Content-Type"] = jsonType
		}
		header["Content-Length"] = []string{strconv.Itoa(len(body))}
	}
	c.WriteHeader(c.status)
	if len(body) > 0 && c.r.Method != http.MethodHead {
		n, _ := c.Write(body) // else the client has gone, and there is nobody else to tell
		c.written = int64(n)
	}
}

// choose returns the body to be sent: out, out compressed, or nothing, when the client holds the
// chosen one already. Each of the two has an ETag of its own, as a strong one names bytes.
func (c *call) choose() []byte {
	header := c.header()
	zipped := false
	if from := c.h.CompressFrom; from >= 0 && len(c.out) >= from {
		header["Vary"] = append(varyEncoding[:1:1], header["Vary"]...)
		zipped = takesGzip(c.r.Header["Accept-Encoding"])
	}
	if etag := header["Etag"]; etag != nil {
		if zipped {
			etag = []string{strings.TrimSuffix(etag[0], `"`) + `-gzip"`}
			header["Etag"] = etag
		}
		if holds(c.r.Header["If-None-Match"], etag[0]) {
			c.status = http.StatusNotModified
			return nil
		}
	}
	if !zipped {
		return c.out
	}
	body := c.h.compression.compress(c.out)
	header["Content-Encoding"] = gzipCoding
	return body
}

// json puts v into the answer.
func (c *call) json(v any) error {
	out, err := json.Marshal(v)
	c.out = append(c.out[:0], out...)
	return err
}

// apps puts {"apps":[…]} into the answer, the stored bytes as they are.
func (c *call) apps(apps ...appsvc.App) error {
	c.out = append(appendApps(append(c.out[:0], '{'), apps), '}')
	return nil
}

func appendApps(dst []byte, apps []appsvc.App) []byte {
	dst = append(dst, `"apps":[`...)
	for i, app := range apps {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = app.AppendJSON(dst)
	}
	return append(dst, ']')
}

// version answers a read of one version of an app; send makes it a 304 when the client holds it.
// A browser that keeps the answer, and has another caller meanwhile, must ask again.
func (c *call) version(app appsvc.App, cache []string) error {
	etag := `"` + app.Version.String() + "-" + strconv.FormatInt(app.UpdatedAt, 36) + `"`
	header := c.header()
	header["Etag"] = []string{etag}
	if cache != nil && !c.query.has(tokenParameter) {
		header["Cache-Control"], header["Vary"] = cache, varyCaller
	}
	return c.apps(app)
}

// holds reports whether one of the tags of If-None-Match is etag, by the weak comparison.
func holds(lists []string, etag string) bool {
	for _, list := range lists {
		for tag := range strings.SplitSeq(list, ",") {
			tag = strings.Trim(tag, " \t")
			if tag == "*" || strings.TrimPrefix(tag, "W/") == etag {
				return true
			}
		}
	}
	return false
}
