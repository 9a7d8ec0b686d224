package client

import (
	"context"
	"fmt"
	"iter"
	"net/http"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/paging"
)

// ListVersions returns a page of the versions of an app, newest first.
func (a *Apps) ListVersions(ctx context.Context, in appsvc.ListVersionsRequest) (vitrine.Page[appsvc.App], error) {
	before, err := in.Below()
	if err != nil {
		return vitrine.Page[appsvc.App]{}, err
	}
	return list[appsvc.App](ctx, a.remote, path("/apps/%s/versions/", in.AppID), below(before, in.Limit), "apps",
		"before")
}

// below returns the parameters of a page of versions below this one. Without a number, it is the first page.
func below(v vitrine.Version, limit int) values {
	q := values{}.number("limit", limit)
	if v.Number() >= 0 {
		q.text("before", v.String())
	}
	return q
}

// AllVersions walks through the pages.
func (a *Apps) AllVersions(ctx context.Context, in appsvc.ListVersionsRequest) iter.Seq2[appsvc.App, error] {
	return paging.All(&in.After, func() (vitrine.Page[appsvc.App], error) { return a.ListVersions(ctx, in) })
}

// Restore stores an older version of an app as a new highest one.
func (a *Apps) Restore(ctx context.Context, in appsvc.RestoreRequest) (appsvc.App, error) {
	if in.Version.IsZero() {
		return appsvc.App{}, errNoVersion
	}
	if in.AppID == "" {
		return appsvc.App{}, fault.At("/appId", fault.NotFound("no app has this id"))
	}
	body := struct {
		AppID string `json:"appId"`
		namedVersion
		Note string `json:"note,omitzero"`
	}{in.AppID, named(in.Version), in.Note}
	return a.app(ctx,
		request{method: http.MethodPost, path: "/apps/versions/restore", body: body, key: keyOr(in.IdempotencyKey)})
}

// errNoVersion is the error of the embedded service for the zero Version.
var errNoVersion = fault.Invalid("/appVersion", "a version is missing: name one, or ask for the latest")

// namedVersion names a version in a body. The latest has no number there: the server finds it, so that a repeat with an
// idempotency key is the same request although the app has a newer version.
type namedVersion struct {
	AppVersion string `json:"appVersion,omitzero"`
	Latest     bool   `json:"latest,omitzero"`
}

func named(v vitrine.Version) namedVersion {
	if v == vitrine.Latest {
		return namedVersion{Latest: true}
	}
	return namedVersion{AppVersion: v.String()}
}

// ListHistory returns a page of the history of an app, newest version first.
func (a *Apps) ListHistory(
	ctx context.Context, in appsvc.ListHistoryRequest,
) (vitrine.Page[appsvc.HistoryEntry], error) {
	before, err := in.Below()
	if err != nil {
		return vitrine.Page[appsvc.HistoryEntry]{}, err
	}
	return list[appsvc.HistoryEntry](ctx, a.remote, path("/apps/%s/history/", in.AppID), below(before, in.Limit),
		"history", "before")
}

// AllHistory walks through the pages from in.After on.
func (a *Apps) AllHistory(ctx context.Context, in appsvc.ListHistoryRequest) iter.Seq2[appsvc.HistoryEntry, error] {
	return paging.All(&in.After, func() (vitrine.Page[appsvc.HistoryEntry], error) { return a.ListHistory(ctx, in) })
}

// Diff returns the patch that turns one version of an app into another. If a version is vitrine.Latest, it asks for
// the number of the latest version first.
func (a *Apps) Diff(ctx context.Context, id string, from, to vitrine.Version) (appsvc.Diff, error) {
	if from.IsZero() || to.IsZero() {
		return appsvc.Diff{}, errNoVersion
	}
	if from == vitrine.Latest || to == vitrine.Latest {
		newest, err := a.ListHistory(ctx, appsvc.ListHistoryRequest{AppID: id, Limit: 1})
		if err != nil {
			return appsvc.Diff{}, err
		}
		if len(newest.Items) == 0 {
			return appsvc.Diff{}, fmt.Errorf("GET /apps/%s/history/: the response has no version", id)
		}
		for _, v := range []*vitrine.Version{&from, &to} {
			if *v == vitrine.Latest {
				*v = newest.Items[0].Version
			}
		}
	}
	return get[appsvc.Diff](ctx, a.remote, path("/apps/%s/versions/%s/diff/%s", id, from.String(), to.String()), nil,
		object("patch"))
}
