package httpapi

import (
	"bytes"
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/klauspost/compress/gzip"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/negotiate"
)

// send writes the response: the headers set so far, the status, and out, compressed or not. Nothing may be sent after
// it. A 204 and a 304 have neither a body nor the headers that describe one. HEAD has the headers of GET, with the
// length of the body that is left out. What is left of the request's body is read before: see drain.
func (c *call) send() {
	c.drain()
	c.body = nil
	body := c.choose()
	c.sent = true
	header := c.w.Header()
	if c.status != http.StatusNoContent && c.status != http.StatusNotModified {
		if header["Content-Type"] == nil {
			header["Content-Type"] = jsonType
		}
		header["Content-Length"] = []string{strconv.Itoa(len(body))}
	}
	c.w.WriteHeader(c.status)
	if len(body) > 0 && c.r.Method != http.MethodHead {
		if c.client != nil {
			c.left = c.patience(true)
		}
		_ = c.write(body)
	}
}

// piece is how many bytes of a response are written at a time, so that the pace of the client can be measured.
const piece = 32 << 10

// write writes the body of a response, or a part of it. A small body is written at once, since the buffers of the
// operating system take it.
func (c *call) write(body []byte) error {
	if c.client == nil {
		n, err := c.w.Write(body)
		c.written += int64(n)
		return err
	}
	for len(body) > 0 {
		n, err := c.exchange(true, func() (int, error) { return c.w.Write(body[:min(len(body), piece)]) })
		c.written += int64(n)
		if err != nil {
			return err // the client has disconnected or was cut off
		}
		body = body[n:]
	}
	return nil
}

// ask calls a method of a Session, unless a parameter of the query is wrong.
func ask[In, Out any](c *call, method func(context.Context, In) (Out, error), in In) (out Out, err error) {
	if c.query.err != nil {
		return out, c.query.err
	}
	return method(c.r.Context(), in)
}

// submit decodes the body into the request of a method of a Session, and calls it. in has the members that are not in
// the body.
func submit[In, Out any](c *call, method func(context.Context, In) (Out, error), in In) (out Out, err error) {
	if err := c.decode(&in); err != nil {
		return out, err
	}
	return ask(c, method, in)
}

// fill returns a function that decodes the body into a request, when the domain has checked the rights of the caller.
func fill[In any](c *call, rules ...member) func(*In) error {
	return func(in *In) error { return c.decode(in, rules...) }
}

// askPage is ask for a page of a list. If there is a next page, it sets the Link to it, in which the parameter cursor
// has another value.
func askPage[In, Item any](
	c *call, method func(context.Context, In) (vitrine.Page[Item], error), in In, cursor string,
) ([]Item, error) {
	page, err := ask(c, method, in)
	if err == nil && page.Next != "" {
		c.next(cursor, page.Next)
	}
	return page.Items, err
}

// pageOfApps makes {"apps":[…],"next"} the body of the response, unless err is set. next is null at the end of the
// list.
func pageOfApps[Item any](c *call, page vitrine.Page[Item], err error) error {
	out := struct {
		Apps []Item  `json:"apps"`
		Next *string `json:"next"`
	}{Apps: page.Items}
	if page.Next != "" {
		out.Next = &page.Next
	}
	return c.json(out, err)
}

// member makes {"name":value} the body of the response, unless err is set.
func (c *call) member(name string, value any, err error) error {
	return c.json(map[string]any{name: value}, err)
}

// json makes the JSON of v the body of the response, unless err is set. Stored bytes, which can be large, are copied as
// they are and never decoded: see apps, too.
func (c *call) json(v any, err error) error {
	if err != nil {
		return err
	}
	if v, ok := v.(interface{ AppendJSON([]byte) []byte }); ok {
		c.out = v.AppendJSON(c.out[:0])
		return nil
	}
	out, err := json.Marshal(v, jsontext.PreserveRawStrings(true))
	c.out = append(c.out[:0], out...)
	return err
}

// apps makes {"apps":[App]} the body of the response, unless err is set. The stored bytes of an app are copied as they
// are and not decoded, so that numbers in configs keep their text and a read costs little more than a copy.
func (c *call) apps(apps []appsvc.App, err error) error {
	if err != nil {
		return err
	}
	c.out = append(appendApps(append(c.out[:0], '{'), apps), '}')
	return nil
}

// appendApps appends "apps":[App], a member without the braces around it, so that it can stand beside others.
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

// version serves a read of one version of an app, with an ETag; send makes it a 304 if the client has that version
// already. cache is the Cache-Control of the response. With the parameter lang, texts are answered in a language, and
// the response is not immutable, since languages change. With the parameter withDefaults, the configs are completed
// with the defaults of their schemas, which may make the response as large as 16 MiB.
func (c *call) version(
	cache []string, as *appsvc.Session, read func(*appsvc.Session) (appsvc.App, error),
) error {
	defaults, lang := c.query.flag("withDefaults"), c.lang()
	if c.query.err != nil {
		return c.query.err
	}
	if lang != "" {
		as = as.In(lang)
	}
	app, err := read(as)
	if err != nil {
		return err
	}
	if app.Variant() != "" && &cache[0] == &immutable[0] {
		cache = revalidate
	}
	header := c.w.Header()
	header["Etag"] = []string{etagOf(app, c.by.TagsOnly, defaults)}
	header["Vary"] = varyCaller
	c.cacheAs(cache)
	if defaults {
		if cost := min(64*len(app.Body), 96<<20); cost > c.within { // about what it takes at most
			return &appsvc.MemoryError{Bytes: cost}
		}
		if app, err = app.WithDefaults(c.r.Context()); err != nil {
			return err
		}
	}
	return c.apps([]appsvc.App{app}, nil)
}

// A response is compressed as it goes out, if it is long and the client accepts gzip. The usual app, of some KB, costs
// less to send than to compress. Event streams and exports are never compressed.

const (
	defaultCompressFrom = 1 << 10 // Config.CompressFrom, if it is 0
	// compressedPart is how many times shorter JSON is in gzip, about. The buffer of the compressed form begins with
	// so much room.
	compressedPart = 4
	// zippedEnd is how the ETag of a compressed response ends.
	zippedEnd = `-gzip"`
)

// compress returns p in gzip, at the level that costs the least time. A writer of gzip is large, so writers are used
// again.
func (h *handler) compress(p []byte) []byte {
	w, _ := h.gzips.Get().(*gzip.Writer)
	if w == nil {
		w, _ = gzip.NewWriterLevel(nil, gzip.BestSpeed) // a level that exists
	}
	var out bytes.Buffer
	out.Grow(len(p)/compressedPart + 512)
	w.Reset(&out)
	_, _ = w.Write(p) // a buffer takes everything
	_ = w.Close()
	w.Reset(nil)
	h.gzips.Put(w)
	return out.Bytes()
}

// choose returns the bytes to be sent: out, out compressed, or nothing if the client already has what would be sent,
// which makes the response a 304. The compressed form has an ETag of its own, since a strong ETag names exact bytes
// (RFC 9110, section 8.8.1). If-None-Match is compared before anything is compressed, so a 304 costs no compression.
func (c *call) choose() []byte {
	// Vary is set for every response that could be compressed, whether this client takes gzip or not.
	header := c.w.Header()
	zipped := false
	if from := c.h.CompressFrom; from >= 0 && len(c.out) >= from {
		header["Vary"] = append(varyEncoding[:1:1], header["Vary"]...)
		zipped = negotiate.Takes(c.r.Header["Accept-Encoding"], "gzip")
	}
	if etag := header["Etag"]; etag != nil {
		if zipped {
			etag = []string{strings.TrimSuffix(etag[0], `"`) + zippedEnd}
			header["Etag"] = etag
		}
		if negotiate.Has(c.r.Header["If-None-Match"], etag[0]) {
			c.status = http.StatusNotModified
			return nil
		}
	}
	if !zipped {
		return c.out
	}
	body := c.h.compress(c.out)
	if cap(c.out) > notLarge {
		c.out = nil
	}
	header["Content-Encoding"] = gzipCoding
	return body
}
