package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/internal/strictjson"
	"github.com/vitrine-go/vitrine/reviews"
)

// source is a service whose changes are delivered. It has one feed, or one for each part of its data, such as a
// library. A worker asks it which feeds its endpoint gets, and reads those.
type source interface {
	// feeds returns the feeds that exist now and that the endpoint gets. Positions are stored under the
	// names of feeds, so these are never changed.
	feeds(ctx context.Context, e Endpoint) ([]feed, error)
	// changed returns a channel that is closed when there may be new changes.
	changed() <-chan struct{}
}

// feed is a sequence of changes in a fixed order.
type feed struct {
	name string
	// read returns a page of the changes after a cursor. The cursor vitrine.Now stands for the end of the feed, and ""
	// for its beginning, the oldest change that is kept. read returns an error that wraps errGone if changes after the
	// cursor are no longer kept, or if the cursor is of another identity of the feed.
	read func(ctx context.Context, after string, e Endpoint) (page, error)
}

// errGone means that a feed does not go back to a cursor, or has a new identity.
var errGone = errors.New("the feed does not go back to this cursor")

// page is a part of a feed.
type page struct {
	changes []change
	next    string // the cursor of the end of the page
	more    bool   // there is more after the page
}

// pageOf makes a page of a page from the outbox of a service.
func pageOf[E any](read vitrine.ChangesPage[E], err error, change func(E) (change, error)) (page, error) {
	if e, ok := errors.AsType[*vitrine.Error](err); ok && e.Parameter == "after" { // too old, or of another feed
		return page{}, fmt.Errorf("%w: %w", errGone, err)
	}
	if err != nil {
		return page{}, err
	}
	out := page{next: read.Next, more: read.More}
	for _, entry := range read.Changes {
		c, err := change(entry)
		if err != nil {
			return page{}, err
		}
		out.changes = append(out.changes, c)
	}
	return out, nil
}

// Types returns the types of changes that an endpoint can ask for.
func Types() []string {
	var out []string
	for _, t := range []appsvc.ChangeType{
		appsvc.AppCreated, appsvc.AppUpdated, appsvc.AppRestored, appsvc.AppLeft, appsvc.AppDeleted,
		appsvc.AppUndeleted, appsvc.AppErased, appsvc.TagSet, appsvc.TagDeleted,
		appsvc.ComponentCreated, appsvc.ComponentDeleted, appsvc.ReleaseChanged,
	} {
		out = append(out, string(t))
	}
	return append(out, assets.EventType, reviews.EventType)
}

// change is an entry of a feed, as one endpoint gets it.
type change struct {
	Cursor string // the position right after the entry
	Type   string
	At     time.Time
	// Groups decide which endpoints get the change: the groups of the app after the change, for app.left those that
	// were taken away from it, and for assets and reviews their network. A change of a component has none.
	Groups []string
	// of a release: the groups of each of its apps. An endpoint gets it if it gets the changes of all of them
	Each [][]string
	// of tag.set and tag.deleted: the tag, and the id of the release that moved it with a mark for its roll back, or ""
	Tag, Release string
	Data         json.RawMessage // the entry as it reads over HTTP, without its cursor
}

// body returns the posted body of a change: the payload that Standard Webhooks recommends. It is the same for each
// attempt.
func (c change) body() []byte {
	text, err := json.Marshal(struct {
		Type      string          `json:"type"`
		Timestamp string          `json:"timestamp"`
		Data      json.RawMessage `json:"data"`
	}{c.Type, c.At.UTC().Format("2006-01-02T15:04:05.000Z"), c.Data})
	if err != nil {
		panic("webhook: an entry of a feed is not JSON: " + err.Error())
	}
	return text
}

// appSource is the source of the changes of apps, tags and components. It has one feed.
type appSource struct{ apps *appsvc.Service }

func (s appSource) changed() <-chan struct{} { return s.apps.Changed() }

func (s appSource) feeds(_ context.Context, e Endpoint) ([]feed, error) {
	if !e.wantsApps() {
		return nil, nil
	}
	return []feed{{"apps", s.read}}, nil
}

// read reads the outbox. If the change took an app out of the groups of the endpoint, the endpoint gets app.left in
// place of the change, as readers of these groups do: the app's new content is not theirs.
func (s appSource) read(ctx context.Context, after string, e Endpoint) (page, error) {
	read, err := s.apps.Outbox(ctx, vitrine.ChangesRequest{After: after})
	return pageOf(read, err, func(entry appsvc.OutboxEvent) (c change, err error) {
		c = change{Cursor: entry.Cursor, At: time.UnixMilli(entry.At), Groups: entry.Groups, Each: entry.Apps}
		event := entry.Event
		if e.Groups != nil && !e.covers(entry.Groups) && e.covers(entry.Left) {
			event = appsvc.Event{Type: appsvc.AppLeft, At: entry.At, AppID: entry.AppID}
			c.Groups = entry.Left
		}
		if c.Tag = event.Tag; c.Tag != "" && event.Release != "" {
			c.Release = fmt.Sprint(event.Release, event.Rollback)
		}
		c.Type, event.Cursor = string(event.Type), ""
		c.Data, err = json.Marshal(event)
		return c, err
	})
}

// assetSource is the source of the changes of all libraries, each of which has a feed of its own.
type assetSource struct{ assets *assets.Service }

func (s assetSource) changed() <-chan struct{} { return s.assets.Changed() }

// feeds returns the feeds of the libraries whose networks the endpoint asks for.
func (s assetSource) feeds(ctx context.Context, e Endpoint) (out []feed, err error) {
	if !e.wants(assets.EventType) {
		return nil, nil
	}
	for lib, err := range s.assets.Libraries(ctx) {
		if err != nil {
			return nil, err
		}
		network := s.assets.NetworkURN(lib)
		if e.Groups != nil && !e.covers([]string{network}) {
			continue
		}
		out = append(out,
			feed{"assets/" + lib.Network + "/" + lib.ID,
				func(ctx context.Context, after string, _ Endpoint) (page, error) {
					return s.read(ctx, lib, network, after)
				}})
	}
	return out, nil
}

// read reads the outbox of a library: every change, whatever folders its assets are in. An endpoint has the rights of
// the operator.
func (s assetSource) read(ctx context.Context, lib assets.Library, network, after string) (page, error) {
	read, err := s.assets.Outbox(ctx, lib, vitrine.ChangesRequest{After: after})
	return pageOf(read, err, func(event assets.Event) (c change, err error) {
		c = change{Cursor: event.Cursor, Type: assets.EventType, At: time.UnixMilli(event.At),
			Groups: []string{network}}
		event.Cursor = ""
		c.Data, err = libraryEvent(lib, event)
		return c, err
	})
}

// libraryEvent is an event as it reads over HTTP, with the library: over HTTP the path of the request has it.
func libraryEvent(lib assets.Library, event assets.Event) (json.RawMessage, error) {
	text, err := json.Marshal(event)
	if err != nil {
		return nil, err
	}
	text = append(text[:len(text)-1], `,"library":{"network":`...)
	text = strictjson.AppendString(text, lib.Network)
	text = strictjson.AppendString(append(text, `,"id":`...), lib.ID)
	return append(text, "}}"...), nil
}

// reviewSource is the source of the changes of reviews. Each network has a feed of its own.
type reviewSource struct{ reviews *reviews.Service }

func (s reviewSource) changed() <-chan struct{} { return s.reviews.Changed() }

// feeds returns the feeds of the networks that the endpoint asks for.
func (s reviewSource) feeds(ctx context.Context, e Endpoint) (out []feed, err error) {
	if !e.wants(reviews.EventType) {
		return nil, nil
	}
	networks, err := s.reviews.ChangedNetworks(ctx)
	for _, network := range networks {
		if e.Groups == nil || e.covers([]string{s.reviews.NetworkURN(network)}) {
			out = append(out,
				feed{"reviews/" + network, func(ctx context.Context, after string, _ Endpoint) (page, error) {
					return s.read(ctx, network, after)
				}})
		}
	}
	return out, err
}

// read reads the feed of a network.
func (s reviewSource) read(ctx context.Context, network, after string) (page, error) {
	read, err := s.reviews.Outbox(ctx, network, vitrine.ChangesRequest{After: after})
	return pageOf(read, err, func(event reviews.Event) (c change, err error) {
		c = change{Cursor: event.Cursor, Type: reviews.EventType, At: time.UnixMilli(event.At),
			Groups: []string{s.reviews.NetworkURN(network)}}
		event.Cursor = ""
		c.Data, err = json.Marshal(event)
		return c, err
	})
}
