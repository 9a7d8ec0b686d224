package webhook

import (
	"context"
	"errors"
)

// source is a service whose changes are delivered. It has one feed, or one for each part of its data, such as a
// library. A worker asks it which feeds its endpoint gets, and reads those.
type source interface {
	// name returns a word that is different for each source and never changes, since positions are stored under it.
	name() string
	// wants reports whether an endpoint may get any change of the source.
	wants(e Endpoint) bool
	// scope returns a text that stands for the choice of feeds that an endpoint gets. If the text is another one than
	// before, feeds that the endpoint did not get before begin with the changes that come.
	scope(e Endpoint) string
	// feeds returns the feeds that exist now and that the endpoint gets. The name of a feed is the name of the source, or
	// begins with that and a slash.
	feeds(ctx context.Context, e Endpoint) ([]feed, error)
	// changed returns a channel that is closed when there may be new changes.
	changed() <-chan struct{}
}

// feed is a sequence of changes in a fixed order.
type feed struct {
	name string
	// read returns a page of the changes after a cursor. The cursor latest stands for the end of the feed, and "" for its
	// beginning, the oldest change that is kept. read returns an error that wraps errGone if changes after the cursor are no
	// longer kept, or if the cursor is of another identity of the feed.
	read func(ctx context.Context, after string, e Endpoint) (page, error)
}

// latest is the cursor after which there is nothing yet.
const latest = "now"

// errGone means that a feed does not go back to a cursor, or has a new identity.
var errGone = errors.New("the feed does not go back to this cursor")

// page is a part of a feed.
type page struct {
	changes []change
	next    string // the cursor of the end of the page
	more    bool   // there is more after the page
}
