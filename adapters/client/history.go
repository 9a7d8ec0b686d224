package client

import (
	"context"
	"fmt"
	"iter"
	"net/url"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/paging"
)

// history is the body of an answer with versions of the history of an app.
type history struct {
	History []appsvc.HistoryEntry `json:"history"`
}

// ListHistory returns a page of the history of an app, newest version first.
func (a *Apps) ListHistory(ctx context.Context, in appsvc.ListHistoryRequest) (vitrine.Page[appsvc.HistoryEntry], error) {
	before, err := in.Below()
	if err != nil {
		return vitrine.Page[appsvc.HistoryEntry]{}, err
	}
	q := values{}.number("limit", in.Limit)
	if before.Number() >= 0 {
		q.text("before", before.String())
	}
	var out history
	header, err := a.get(ctx, &out, url.Values(q), "/apps/%s/history/", in.AppID)
	return vitrine.Page[appsvc.HistoryEntry]{Items: out.History, Next: next(header, "before")}, err
}

// AllHistory walks through the pages from in.After on.
func (a *Apps) AllHistory(ctx context.Context, in appsvc.ListHistoryRequest) iter.Seq2[appsvc.HistoryEntry, error] {
	return paging.All(in.After, func(after string) ([]appsvc.HistoryEntry, string, error) {
		in.After = after
		page, err := a.ListHistory(ctx, in)
		return page.Items, page.Next, err
	})
}

// Diff returns the patch that turns one version of an app into another. If a version is vitrine.Latest, it asks for
// the number of the latest version first.
func (a *Apps) Diff(ctx context.Context, in appsvc.DiffRequest) (appsvc.Diff, error) {
	if in.From.IsZero() || in.To.IsZero() {
		return appsvc.Diff{}, a.noVersion()
	}
	if in.From == vitrine.Latest || in.To == vitrine.Latest {
		newest, err := a.ListHistory(ctx, appsvc.ListHistoryRequest{AppID: in.AppID, Limit: 1})
		if err != nil {
			return appsvc.Diff{}, err
		}
		if len(newest.Items) == 0 {
			return appsvc.Diff{}, fmt.Errorf("GET /apps/%s/history/: the answer has no version", in.AppID)
		}
		for _, v := range []*vitrine.Version{&in.From, &in.To} {
			if *v == vitrine.Latest {
				*v = newest.Items[0].Version
			}
		}
	}
	var out appsvc.Diff
	_, err := a.get(ctx, &out, nil, "/apps/%s/versions/%s/diff/%s", in.AppID, in.From.String(), in.To.String())
	return out, err
}
