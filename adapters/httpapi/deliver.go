package httpapi

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/urlescape"
)

// What pages get: the versions of apps that a tag points to, several in one answer that shared caches may keep.

const (
	mostDelivered     = 50      // apps in one request
	mostDeliveryBytes = 4 << 20 // of the answer
	publicPath        = "/x/public/"
	keyParameter      = "key" // of the query: a token that may read by tags alone, and so may stand in a page
)

// errNoPlace is the error of an app that an answer has no room for.
var errNoPlace = &vitrine.Error{Kind: vitrine.ErrTooLarge, Code: vitrine.CodeTooLarge,
	Reason: fmt.Sprintf("it does not fit into an answer of %d MiB beside those before it: ask for it alone", mostDeliveryBytes>>20)}

// admitKey identifies the caller by the key in the query, and by nothing else: caches keep the answer under the address. So the key must be
// one that restricts itself to what its tags point to.
func admitKey(c *call) error {
	if c.r.Header["Authorization"] != nil || c.query.has(tokenParameter) {
		return refuse(http.StatusBadRequest, "want the token in the query parameter key alone, since the answer is kept for everybody who has the address")
	}
	key := c.query.text(keyParameter)
	if c.query.err != nil {
		return c.query.err
	}
	asked := c.r
	defer func() { c.r = asked }()
	c.r = asked.WithContext(asked.Context())
	c.r.URL = &url.URL{Path: asked.URL.Path}
	c.r.Header = maps.Clone(asked.Header)
	delete(c.r.Header, "Cookie")
	c.r.Header["Authorization"] = []string{tokenScheme + " " + key}
	if err := c.h.authenticate(c); err != nil {
		return err
	}
	if !c.by.TagsOnly {
		c.reason = "the key is no delivery token"
		return errNoToken
	}
	return nil
}

// deliver serves GET /x/public/{tag}?app=ID&app=ID…&key=KEY: what pages mount of apps, 1 to 50, each once. 200 with {"apps":[…]} in the
// order asked for, an ETag, and a Cache-Control for shared caches; or 304. An app that cannot be read, or for which 4 MiB have no room any
// more, is {"id","error","code"}. 401 without a key that may stand in public; 403 if it does not name the tag.
func (a appRoutes) deliver(c *call) error {
	ids := c.query.all("app")
	if len(ids) < 1 || len(ids) > mostDelivered {
		return refuseParameter("app", "want the ids of 1 to %d apps, have %d", mostDelivered, len(ids))
	}
	for i, id := range ids {
		if id == "" || slices.Contains(ids[:i], id) {
			return refuseParameter("app", "%q is empty or repeated: want each id once", id)
		}
	}
	list, err := a.svc.Deliver(c.ctx(), c.by.Caller, appsvc.DeliverRequest{Tag: c.param(0), AppIDs: ids})
	if err != nil {
		return err
	}
	root := c.url("")
	if _, rest, _ := strings.Cut(root, "://"); strings.Contains(rest, "/") {
		root = root[:len(root)-len(rest)+strings.Index(rest, "/")]
	}
	header := c.header()
	header["Cache-Control"] = c.h.publicCache()
	tags := make([]string, len(ids))
	for i, id := range ids {
		tags[i] = "app-" + urlescape.Escape(id)
	}
	header["Cache-Tag"] = []string{strings.Join(tags, ", ")}
	etag := `"` + appsvc.DeliveryETag(list, root) + `"`
	for _, form := range []string{etag, strings.TrimSuffix(etag, `"`) + `-gzip"`} {
		if matches(c.r.Header["If-None-Match"], form) {
			header["Etag"], header["Vary"], c.out = []string{form}, varyEncoding, c.out[:0]
			return nil // send makes it a 304
		}
	}
	out := append(c.out[:0], `{"apps":[`...)
	for i, d := range list {
		if i > 0 {
			out = append(out, ',')
		}
		before := len(out)
		if out = d.AppendJSON(out, root); len(out) > mostDeliveryBytes {
			out = appsvc.Delivery{ID: d.ID, Err: errNoPlace}.AppendJSON(out[:before], root)
		}
	}
	c.out = append(out, "]}"...)
	header["Etag"] = []string{etag}
	if len(c.out) < c.h.CompressFrom || c.h.CompressFrom < 0 {
		header["Vary"] = varyEncoding
	}
	return nil
}

// publicCache is the Cache-Control of deliveries.
func (h *handler) publicCache() []string {
	if h.PublicCache <= 0 {
		return []string{"public, no-cache"}
	}
	return []string{"public, max-age=0, s-maxage=" + strconv.Itoa(int(h.PublicCache.Seconds()))}
}
