package httpapi

import (
	"net/http"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/internal/feed"
	"github.com/vitrine-go/vitrine/internal/negotiate"
	"github.com/vitrine-go/vitrine/reviews"
)

// changes serves GET /x/changes: the feed of changes of apps, tags and components that the caller may read. 200 with a
// page {"changes":[Event], "next", "more"}, or, for a client that accepts text/event-stream, with a stream of
// server-sent events that does not end by itself. 400 for a bad value of a parameter; 410 for a cursor before the
// entries that are kept; 429 if the caller, or all callers together, have as many streams open as are allowed.
func (a appRoutes) changes(c *call) error {
	in := appsvc.ChangesRequest{After: c.query.cursor("after"),
		AppID: c.query.filled("app", `"" is not the id of an app`), Limit: c.pageOfFeed(streamPage)}
	// An empty type reaches the service, which rejects "types=" and "types=a,,b" as unknown types. A stream keeps the
	// list and asks for many pages, so each type is in it once.
	if types := c.query.text("types"); c.query.Has("types") {
		for name := range strings.SplitSeq(types, ",") {
			in.Types = append(in.Types, appsvc.ChangeType(name))
		}
		slices.Sort(in.Types)
		in.Types = slices.Clone(slices.Compact(in.Types))
	}
	if c.query.err != nil {
		return c.query.err
	}
	var changed func(string) (string, <-chan struct{})
	if c.streams() {
		next, stop := a.svc.Watch(c.by.Caller, in)
		defer stop()
		changed = next
	}
	return serveFeed(c, in.After, changed, func(after string) (vitrine.ChangesPage[appsvc.Event], error) {
		in.After = after
		return a.as(c).Changes(c.r.Context(), in)
	}, func(e appsvc.Event) (cursor, kind string) { return e.Cursor, string(e.Type) })
}

// changes serves GET …/changes: the feed of changes of a library, for moderators of its network (else 403). Its
// responses are those of GET /x/changes.
func (a assetRoutes) changes(c *call) error {
	in := vitrine.ChangesRequest{After: c.query.cursor("after"), Limit: c.pageOfFeed(largeStreamPage)}
	changed := feed.Shared(a.svc.Changed)
	return serveFeed(c, in.After, changed, func(after string) (vitrine.ChangesPage[assets.Event], error) {
		in.After = after
		return a.as(c).Changes(c.r.Context(), libraryOf(c), in)
	}, func(e assets.Event) (cursor, kind string) { return e.Cursor, assets.EventType })
}

// changes serves GET /x/reviews/changes: the feed of changes of the reviews of the network. Its responses are those of
// GET /x/changes.
func (v reviewRoutes) changes(c *call) error {
	in := reviews.ChangesRequest{Network: c.network, After: c.query.cursor("after"), Limit: c.pageOfFeed(streamPage)}
	changed := feed.Shared(v.svc.Changed)
	return serveFeed(c, in.After, changed, func(after string) (vitrine.ChangesPage[reviews.Event], error) {
		in.After = after
		return v.as(c).Changes(c.r.Context(), in)
	}, func(e reviews.Event) (cursor, kind string) { return e.Cursor, reviews.EventType })
}

// serveFeed responds with the page of a feed after a cursor or, to a client that asks for it, with an event stream.
// page reads a page, of returns the cursor and the type of an event, and changed is that of a stream.
func serveFeed[E any](
	c *call, after string, changed func(string) (string, <-chan struct{}),
	page func(after string) (vitrine.ChangesPage[E], error), of func(E) (cursor, kind string),
) error {
	if c.query.err != nil {
		return c.query.err
	}
	if !c.streams() {
		c.w.Header()["Vary"] = varyFeed
		return c.json(page(after))
	}
	return c.stream(after, changed, func(s *stream) (string, bool, error) {
		p, err := page(s.next)
		return p.Next, p.More, putEvents(s, p.Changes, err, of)
	})
}

// pageOfFeed returns the parameter limit. A stream has pages of its own, since a page waits in memory until the client
// has read it.
func (c *call) pageOfFeed(ofStream int) int {
	limit := c.query.count("limit")
	if c.streams() {
		limit = ofStream
	}
	return limit
}

// varyFeed is the header Vary of a page of a feed. It names Accept too, since the same address sends an event stream to
// another Accept.
var varyFeed = []string{"Accept, Authorization, Cookie"}

// eventStream is the media type of server-sent events.
const eventStream = "text/event-stream"

// streams reports whether the client asks for an event stream: with GET, and with text/event-stream in Accept. "*/*"
// does not ask for one, as most programs send it and want a page.
func (c *call) streams() bool {
	return c.r.Method == http.MethodGet && negotiate.Takes(c.r.Header["Accept"], eventStream)
}
