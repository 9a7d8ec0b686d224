package httpapi

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/internal/negotiate"
)

// changes serves GET /x/changes: the feed of changes of apps, tags and components that the caller may read. 200 with a
// page {"changes":[Event], "next", "more"}, or, for a client that accepts text/event-stream, with a stream of
// server-sent events that does not end by itself. 400 for a bad value of a parameter; 410 for a cursor before the
// entries that are kept; 429 if the caller, or all callers together, have as many streams open as are allowed.
func (a appRoutes) changes(c *call) error {
	in := appsvc.ChangesRequest{After: c.query.cursor("after"), AppID: c.query.filled("app", `"" is not the id of an app`), Limit: c.query.limit()}
	// An empty type reaches the service, which rejects "types=" and "types=a,,b" as unknown types. A stream keeps the
	// list and asks for many pages, so each type is in it once.
	if types := c.query.text("types"); c.query.has("types") {
		for name := range strings.SplitSeq(types, ",") {
			in.Types = append(in.Types, appsvc.ChangeType(name))
		}
		slices.Sort(in.Types)
		in.Types = slices.Clone(slices.Compact(in.Types))
	}
	if c.query.err != nil {
		return c.query.err
	}
	read := func(after string) (appsvc.ChangesPage, error) {
		in.After = after
		return a.svc.Changes(c.ctx(), c.by.Caller, in)
	}
	if !c.streams() {
		c.header()["Vary"] = varyFeed
		return c.json(read(in.After))
	}
	in.Limit = cmp.Or(in.Limit, streamPage) // smaller than a list, since a page waits in memory until the client has read it
	watch := a.svc.Watch(c.by.Caller, in)
	defer watch.Close()
	return c.stream(in.After, watch.Next, func(s *stream) (string, bool, error) {
		page, err := read(s.next)
		return page.Next, page.More, putEvents(s, page.Changes, err, func(e appsvc.Event) (cursor, kind string) { return e.Cursor, string(e.Type) })
	})
}

// changes serves GET …/changes: the feed of changes of a library, for moderators of its network (else 403). Its
// responses are those of GET /x/changes.
func (a assetRoutes) changes(c *call) error {
	in := assets.ChangesRequest{After: c.query.cursor("after"), Limit: c.query.limit()}
	if c.query.err != nil {
		return c.query.err
	}
	read := func(after string) (assets.ChangesPage, error) {
		in.After = after
		return a.svc.Changes(c.ctx(), c.by.Caller, a.library(c), in)
	}
	if !c.streams() {
		c.header()["Vary"] = varyFeed
		return c.json(read(in.After))
	}
	in.Limit = cmp.Or(in.Limit, streamPage)
	changed := func(after string) (string, <-chan struct{}) { return after, a.svc.Changed() }
	return c.stream(in.After, changed, func(s *stream) (string, bool, error) {
		page, err := read(s.next)
		return page.Next, page.More, putEvents(s, page.Changes, err, func(e assets.Event) (cursor, kind string) { return e.Cursor, assets.EventType })
	})
}

// varyFeed is the header Vary of a page of a feed. It names Accept too, since the same address sends an event stream to
// another Accept.
var varyFeed = []string{"Accept, Authorization, Cookie"}

// eventStream is the media type of server-sent events.
const eventStream = "text/event-stream"

// streams reports whether the client asks for an event stream: with GET, and with text/event-stream in Accept. "*/*" does not ask for
// one, as most programs send it and want a page.
func (c *call) streams() bool {
	return c.r.Method == http.MethodGet && negotiate.Takes(c.r.Header["Accept"], eventStream)
}
