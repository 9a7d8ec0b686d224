package httpapi

import (
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/urlescape"
)

// Pages get the versions of apps that a tag points to, several in one response that shared caches may keep.

const (
	mostDelivered     = 50      // apps in one request
	mostDeliveryBytes = 4 << 20 // of the response
	publicPath        = "/x/public/"
	shownPath         = publicPath + "reviews/"
	shownFolderPath   = publicPath + "assets/"
	keyParameter      = "key" // of the query: a delivery token
)

// errNoPlace is the error of an app that does not fit into a response.
var errNoPlace = fault.TooLarge(
	"it does not fit into a response of %d MiB beside those before it: ask for it alone", mostDeliveryBytes>>20)

// authorizeKey identifies the caller by the key in the query, and by nothing else: caches keep the response under the
// address. So the key must be a delivery token.
func authorizeKey(c *call) error {
	if c.r.Header["Authorization"] != nil || c.query.Has(tokenParameter) {
		return errorf(http.StatusBadRequest,
			"want the token in the query parameter key alone, since the response is kept for everybody who has the "+
				"address")
	}
	key := c.query.text(keyParameter)
	if c.query.err != nil {
		return c.query.err
	}
	asked := c.r
	defer func() { c.r = asked }()
	c.r = asked.WithContext(asked.Context())
	c.r.URL = &url.URL{Path: asked.URL.Path}
	c.r.Header = http.Header{"Authorization": {tokenScheme + " " + key}}
	switch err := c.h.authenticate(c); {
	case err == errNoToken, err == errNobody:
		return errNoKey
	case err != nil:
		return err
	}
	if !c.by.TagsOnly {
		c.reason = "the key is no delivery token"
		return errNoKey
	}
	return nil
}

// deliver serves GET /x/public/{tag}?app=ID&app=ID…&key=KEY: the versions of 1 to 50 apps that pages mount, each once.
// 200 with {"apps":[…]} in the order asked for, an ETag, and a Cache-Control for shared caches; or 304. An app that
// cannot be read, or that does not fit into 4 MiB, is {"id","error","code"}. Without app it lists what the tag
// publishes, with limit and after: {"apps":[…],"next"}. 401 unless the key is a delivery token; 403 if it does not name
// the tag, or may not list. A response is cached for half a second, until an app changes or the key has other rights.
// lang is the language of texts, in place of the base.
func (a appRoutes) deliver(c *call) error {
	ids := c.query.Values["app"]
	if len(ids) > mostDelivered {
		return fault.Invalid("app", "want the ids of 1 to %d apps, have %d", mostDelivered, len(ids))
	}
	published := appsvc.ListPublishedRequest{Tag: c.params[0], Limit: c.query.count("limit"),
		After: c.query.cursor("after")}
	for _, name := range []string{"limit", "after"} {
		if len(ids) > 0 && c.query.Has(name) {
			return fault.Invalid(name, "want it without app, for a list of what the tag publishes")
		}
	}
	if len(ids) == 0 && c.query.Has(langParameter) {
		return fault.Invalid(langParameter, "want it with app: a list of what the tag publishes has no texts")
	}
	as := a.as(c).In(c.lang())
	if c.query.err != nil {
		return c.query.err
	}
	for i, id := range ids {
		if id == "" || slices.Contains(ids[:i], id) {
			return fault.Invalid("app", "%q is empty or repeated: want each id once", id)
		}
	}
	root := c.root()
	key := deliveryKey{root, c.params[0], c.r.URL.RawQuery}
	d, found := c.h.deliveries.Get(key)
	if !found || isClosed(d.changed) || !time.Now().Before(d.until) || !reflect.DeepEqual(d.by, c.by.Caller) {
		// before it reads
		d = cachedDelivery{by: c.by.Caller, until: time.Now().Add(deliveryAge), changed: a.svc.Changed()}
		tags := "tag-" + urlescape.Escape(key.tag)
		if len(ids) == 0 {
			page, err := ask(c, a.as(c).ListPublished, published)
			if err := pageOfApps(c, page, err); err != nil {
				return err
			}
			d.body = slices.Clone(c.out)
		} else {
			list, err := as.Deliver(c.r.Context(), key.tag, ids)
			if err != nil {
				return err
			}
			d.body, tags = deliveryBody(list, root, c.h.filesBelow)
		}
		d.header = c.forEverybody(d.body, tags)
		c.h.deliveries.Put(key, d, len(key.query)+len(d.body)+1000)
	}
	c.out = append(c.out[:0], d.body...)
	c.share(d.header)
	return nil
}

const (
	deliveryAge    = 500 * time.Millisecond // how long a response is cached, unless something changes
	deliveriesSize = 8 << 20                // bytes of cached responses
)

// deliveryKey is the key of a cached response: the scheme and the host of the service, the tag, and the query with ids
// and key.
type deliveryKey struct{ root, tag, query string }

// cachedDelivery is a cached response. The rights of the key are compared at each use.
type cachedDelivery struct {
	by      vitrine.Caller // the caller of the key
	body    []byte
	header  http.Header
	until   time.Time
	changed <-chan struct{} // closed when an app has changed
}

// root returns the scheme and the host of the service, as clients know it.
func (c *call) root() string {
	root := c.url("")
	if _, rest, _ := strings.Cut(root, "://"); strings.Contains(rest, "/") {
		root = root[:len(root)-len(rest)+strings.Index(rest, "/")]
	}
	return root
}

// deliveryBody returns the JSON of a response, and the tags by which a cache may invalidate it.
func deliveryBody(list []appsvc.Delivery, root, base string) (body []byte, cacheTag string) {
	body = append(body, `{"apps":[`...)
	tags := make([]string, len(list))
	for i, d := range list {
		if i > 0 {
			body = append(body, ',')
		}
		before := len(body)
		if body = d.AppendJSON(body, root, base); len(body) > mostDeliveryBytes {
			body = appsvc.Delivery{ID: d.ID, Err: errNoPlace}.AppendJSON(body[:before], root, base)
		}
		tags[i] = "app-" + urlescape.Escape(d.ID)
	}
	return append(body, "]}"...), strings.Join(tags, ", ")
}

// forEverybody returns the headers of a response that shared caches may keep. They may invalidate it by its tags and by
// that of the key.
func (c *call) forEverybody(body []byte, tags string) http.Header {
	cache := "public, no-cache"
	if c.h.PublicCache > 0 {
		cache = "public, max-age=0, s-maxage=" + strconv.Itoa(int(c.h.PublicCache.Seconds()))
	}
	if c.by.Key != "" {
		tags += ", key-" + urlescape.Escape(c.by.Key)
	}
	sum := sha256.Sum256(body)
	return http.Header{"Cache-Control": {cache}, "Cache-Tag": {tags},
		"Etag": {`"` + base64.RawURLEncoding.EncodeToString(sum[:15]) + `"`}}
}

// share sets the headers that forEverybody has returned for this response.
func (c *call) share(header http.Header) {
	maps.Copy(c.w.Header(), header)
	if len(c.out) < c.h.CompressFrom || c.h.CompressFrom < 0 {
		c.w.Header()["Vary"] = varyEncoding
	}
}
