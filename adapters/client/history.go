package client

import (
	"context"
	"fmt"
	"iter"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
)

// ListHistory returns a page of the history of an app, newest version first.
func (a *Apps) ListHistory(ctx context.Context, in appsvc.ListHistoryRequest) (vitrine.Page[appsvc.HistoryEntry], error) {
	before, err := in.Below()
	if err != nil {
		return vitrine.Page[appsvc.HistoryEntry]{}, err
	}
	return list[appsvc.HistoryEntry](ctx, a.remote, path("/apps/%s/history/", in.AppID), below(before, in.Limit), "history", "before")
}

// AllHistory walks through the pages from in.After on.
func (a *Apps) AllHistory(ctx context.Context, in appsvc.ListHistoryRequest) iter.Seq2[appsvc.HistoryEntry, error] {
	return all(ctx, in, a.ListHistory, func(in *appsvc.ListHistoryRequest) *string { return &in.After })
}

// Diff returns the patch that turns one version of an app into another. If a version is vitrine.Latest, it asks for
// the number of the latest version first.
func (a *Apps) Diff(ctx context.Context, in appsvc.DiffRequest) (appsvc.Diff, error) {
	if in.From.IsZero() || in.To.IsZero() {
		return appsvc.Diff{}, errNoVersion
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
	return get[appsvc.Diff](ctx, a.remote, path("/apps/%s/versions/%s/diff/%s", in.AppID, in.From.String(), in.To.String()), nil, object("patch"))
}
