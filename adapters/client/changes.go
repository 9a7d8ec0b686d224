package client

import (
	"context"
	"iter"
	"strings"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
)

// Changes returns a page of the feed of changes.
func (a *Apps) Changes(ctx context.Context, in appsvc.ChangesRequest) (appsvc.ChangesPage, error) {
	return get[appsvc.ChangesPage](ctx, a.remote, "/x/changes", changesQuery(in).text("after", in.After), object("next"))
}

// Follow yields the entries of the feed of changes, and waits for more. It reads an event stream. When the stream ends,
// or the connection is lost, it connects again and goes on after the last entry, until ctx is done. Its last value is
// an error: that of ctx, or one that would come again if it connected again.
func (a *Apps) Follow(ctx context.Context, in appsvc.ChangesRequest) iter.Seq2[appsvc.Event, error] {
	return follow[appsvc.Event](ctx, a.remote, "/x/changes", changesQuery(in), in.After)
}

// changesQuery returns the parameters that pages and streams have in common.
func changesQuery(in appsvc.ChangesRequest) values {
	q := values{}.text("app", in.AppID).number("limit", in.Limit)
	if in.Types != nil {
		var names []string
		for _, t := range in.Types {
			names = append(names, string(t))
		}
		q["types"] = []string{strings.Join(names, ",")}
	}
	return q
}

// Changes returns a page of the feed of changes of a library.
func (a *Assets) Changes(ctx context.Context, lib assets.Library, in assets.ChangesRequest) (assets.ChangesPage, error) {
	return get[assets.ChangesPage](ctx, a.remote, libraryPath(lib, "/changes"), values{}.text("after", in.After).number("limit", in.Limit), object("next"))
}

// Follow yields the entries of the feed of changes of a library, and waits for more; see Apps.Follow.
func (a *Assets) Follow(ctx context.Context, lib assets.Library, in assets.ChangesRequest) iter.Seq2[assets.Event, error] {
	return follow[assets.Event](ctx, a.remote, libraryPath(lib, "/changes"), values{}.number("limit", in.Limit), in.After)
}
