package client

import (
	"context"
	"iter"
	"net/url"
	"strings"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
)

// Changes returns a page of the feed of changes.
func (a *Apps) Changes(ctx context.Context, in appsvc.ChangesRequest) (appsvc.ChangesPage, error) {
	out := appsvc.ChangesPage{}
	_, err := a.get(ctx, object("next", &out), url.Values(changesQuery(in).text("after", in.After).number("limit", in.Limit)), "/x/changes")
	return out, err
}

// Follow yields the entries of the feed of changes, and waits for more. It reads an event stream. When the stream ends,
// or the connection is lost, it connects again and goes on after the last entry, until ctx is done. Its last value is
// an error: that of ctx, or one that would come again if it connected again.
func (a *Apps) Follow(ctx context.Context, in appsvc.ChangesRequest) iter.Seq2[appsvc.Event, error] {
	now := func() (string, error) {
		page, err := a.Changes(ctx, appsvc.ChangesRequest{After: appsvc.Now, Types: in.Types, AppID: in.AppID, Limit: in.Limit})
		return page.Next, err
	}
	return follow[appsvc.Event](ctx, a.remote, url.Values(changesQuery(in).number("limit", in.Limit)), in.After, now, "/x/changes")
}

// changesQuery returns the parameters that pages and streams have in common.
func changesQuery(in appsvc.ChangesRequest) values {
	q := values{}.text("app", in.AppID)
	if in.Types != nil {
		names := make([]string, len(in.Types))
		for i, t := range in.Types {
			names[i] = string(t)
		}
		q["types"] = []string{strings.Join(names, ",")}
	}
	return q
}

// Changes returns a page of the feed of changes of a library.
func (a *Assets) Changes(ctx context.Context, lib assets.Library, in assets.ChangesRequest) (assets.ChangesPage, error) {
	out := assets.ChangesPage{}
	err := a.read(ctx, object("next", &out), url.Values(values{}.text("after", in.After).number("limit", in.Limit)), lib, "/changes")
	return out, err
}

// Follow yields the entries of the feed of changes of a library, and waits for more; see Apps.Follow.
func (a *Assets) Follow(ctx context.Context, lib assets.Library, in assets.ChangesRequest) iter.Seq2[assets.Event, error] {
	now := func() (string, error) {
		page, err := a.Changes(ctx, lib, assets.ChangesRequest{After: assets.Now, Limit: in.Limit})
		return page.Next, err
	}
	return follow[assets.Event](ctx, a.remote, url.Values(values{}.number("limit", in.Limit)), in.After, now, inLibrary+"/changes", lib.Network, lib.ID)
}
