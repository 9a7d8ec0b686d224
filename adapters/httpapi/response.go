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

// send writes the answer: the headers set so far, the status and the bytes of out.
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

// json puts v into the answer.
func (c *call) json(v any) error {
	out, err := json.Marshal(v)
	c.out = append(c.out[:0], out...)
	return err
}

// apps puts {"apps":[…]} into the answer, the stored bytes as they are.
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

// version answers a read of one version of an app; send makes it a 304 when the client holds it.
// A browser that keeps the answer, and has another caller meanwhile, must ask again. With defaults the
// answer is another one, so it has another ETag.
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
