package httpapi

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/memlimit"
)

// commonHeaders are the headers that every response has, errors too: pages of all origins may read it, and no browser
// guesses its type, frames it or repeats its address. The slices are shared between responses, so a header is replaced
// and never added to.
var commonHeaders = http.Header{
	"Access-Control-Allow-Origin":   {"*"},
	"Access-Control-Expose-Headers": {"Location, ETag, Link, X-Request-Id, Retry-After"},
	"Cache-Control":                 {"private, no-cache"},
	"Content-Security-Policy":       {"default-src 'none'; frame-ancestors 'none'"},
	"Referrer-Policy":               {"no-referrer"},
	"X-Content-Type-Options":        {"nosniff"},
}

var (
	noStore      = []string{"no-store"}
	immutable    = []string{"private, max-age=31536000, immutable"}
	jsonType     = []string{"application/json; charset=utf-8"}
	gzipCoding   = []string{"gzip"}
	varyEncoding = []string{"Accept-Encoding"}
	varyCaller   = []string{"Authorization, Cookie"}

	closeConnection = []string{"close"}
)

// send writes the response: the headers set so far, the status, and out, compressed or not. Nothing may be sent after
// it.
func (c *call) send() {
	if c.status >= http.StatusBadRequest {
		c.drain()
	}
	c.body = nil
	body := c.choose()
	c.sent = true
	header := c.header()
	if c.status != http.StatusNoContent && c.status != http.StatusNotModified {
		if header["Content-Type"] == nil {
			header["Content-Type"] = jsonType
		}
		header["Content-Length"] = []string{strconv.Itoa(len(body))}
	}
	c.w.WriteHeader(c.status)
	if len(body) > 0 && c.r.Method != http.MethodHead {
		c.write(body)
	}
}

// json makes the JSON of v the body of the response.
func (c *call) json(v any) error {
	out, err := json.Marshal(v)
	c.out = append(c.out[:0], out...)
	return err
}

// apps puts {"apps":[App]} into the answer. The stored bytes of an app are copied as they are and not decoded.
func (c *call) apps(apps ...appsvc.App) error {
	size := len(`{"apps":[]}`)
	for _, app := range apps {
		size += len(app.Body) + 256 // as AppendJSON expects it
	}
	if err := c.expect(size); err != nil {
		return err
	}
	c.out = append(appendApps(append(c.out[:0], '{'), apps), '}')
	return nil
}

// appendApps appends "apps":[App], a member without the braces around it.
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

// Completing configs with defaults takes up to defaultsFactor times the memory of the app, and no more
// than mostForDefaults. A quarter of the budget is counted at most, so that one request always finds room.
const (
	defaultsFactor  = 64
	mostForDefaults = 96 << 20
	// mostDefaultsByTag is how long an answer with defaults is at most for a token that anybody may have.
	mostDefaultsByTag = 1 << 20
)

// version answers a read of one version of an app with an ETag; send makes it a 304 if the client has that ETag
// already. cache is the Cache-Control for the version, nil for the usual one. The ETag says whether defaults are filled
// in and whether people are left out, since each makes another body. Vary makes a browser ask again when its user has
// changed.
func (c *call) version(app appsvc.App, cache []string, defaults bool) error {
	etag := `"` + app.Version.String() + "-" + strconv.FormatInt(app.UpdatedAt, 36)
	mostBytes := 0
	if c.by.TagsOnly { // then the app comes without people
		etag += "-tagged"
		mostBytes = mostDefaultsByTag
	}
	if defaults {
		etag += "-defaults"
	}
	etag += `"`
	header := c.header()
	header["Etag"] = []string{etag}
	header["Vary"] = varyCaller
	if cache != nil && !c.query.has(tokenParameter) {
		header["Cache-Control"] = cache
	}
	if defaults {
		if err := memlimit.Reserve(c.ctx(), min(defaultsFactor*len(app.Body), mostForDefaults, int(c.h.memory.total/4))); err != nil {
			return err
		}
		var err error
		if app, err = app.WithDefaults(mostBytes); err != nil {
			return err
		}
	}
	return c.apps(app)
}

// holds reports whether If-None-Match, which may be repeated, has etag or "*". Tags are compared weakly, as RFC 9110,
// section 13.1.2, asks.
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
