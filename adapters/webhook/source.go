package webhook

import (
	"context"
	"errors"
)

// source is a service whose changes are delivered. It has one feed, or one for each part of its data, such as a
// library.
type source interface {
	name() string
	// wants reports whether an endpoint may get any change of the source.
	wants(e Endpoint) bool
	// scope tells which of the feeds are an endpoint's. It is another text if they are others.
	scope(e Endpoint) string
	// feeds returns the feeds that there are for an endpoint. The name of a feed is that of the source, or that and what
	// follows a slash.
	feeds(ctx context.Context, e Endpoint) ([]feed, error)
	// changed returns a channel that is closed when there may be new changes.
	changed() <-chan struct{}
}

// feed is a sequence of changes in a fixed order.
type feed struct {
	name string
	// read returns the changes after a cursor; latest is the cursor of what comes, and "" that of the oldest change that
	// is kept. It returns an error that wraps errGone if the feed does not know any more what follows the cursor.
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
