package client

import (
	"context"
	"iter"
	"net/http"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/paging"
)

// CreateRelease stores a release, which moves nothing until it is run.
func (a *Apps) CreateRelease(ctx context.Context, in appsvc.CreateReleaseRequest) (appsvc.Release, error) {
	body := appsvc.UpdateReleaseRequest{Name: in.Name, Note: in.Note, Moves: in.Moves, At: in.At, Until: in.Until,
		Ask: in.Ask}
	r := request{method: http.MethodPost, path: "/x/releases/", body: body, key: keyOr(in.IdempotencyKey)}
	return send[appsvc.Release](ctx, a.remote, r, object("id"))
}

// UpdateRelease changes a release that is open or scheduled.
func (a *Apps) UpdateRelease(ctx context.Context, in appsvc.UpdateReleaseRequest) (appsvc.Release, error) {
	return send[appsvc.Release](ctx, a.remote,
		request{method: http.MethodPut, path: path("/x/releases/%s", in.ID), body: in}, object("id"))
}

// Release returns a release.
func (a *Apps) Release(ctx context.Context, id string) (appsvc.Release, error) {
	return get[appsvc.Release](ctx, a.remote, path("/x/releases/%s", id), nil, object("id"))
}

// ListReleases returns a page of the releases that the caller may see, newest first.
func (a *Apps) ListReleases(ctx context.Context, in appsvc.ListReleasesRequest) (vitrine.Page[appsvc.Release], error) {
	q := values{}.text("state", string(in.State)).text("app", in.AppID).page(in.After, in.Limit)
	return list[appsvc.Release](ctx, a.remote, "/x/releases/", q, "releases", "after")
}

// AllReleases walks through the pages from in.After on.
func (a *Apps) AllReleases(ctx context.Context, in appsvc.ListReleasesRequest) iter.Seq2[appsvc.Release, error] {
	return paging.All(&in.After, func() (vitrine.Page[appsvc.Release], error) { return a.ListReleases(ctx, in) })
}

// ApproveRelease adds the caller's approval to a release.
func (a *Apps) ApproveRelease(ctx context.Context, id string, seen vitrine.Version) (appsvc.Release, error) {
	return a.actOnRelease(ctx, "approve", id, seen)
}

// RunRelease makes all moves of a release, or none.
func (a *Apps) RunRelease(ctx context.Context, id string, seen vitrine.Version) (appsvc.Release, error) {
	return a.actOnRelease(ctx, "run", id, seen)
}

// CancelRelease ends a release that was not run, or calls off the end that is to come of one that was.
func (a *Apps) CancelRelease(ctx context.Context, id string, seen vitrine.Version) (appsvc.Release, error) {
	return a.actOnRelease(ctx, "cancel", id, seen)
}

// UndoRelease rolls all moves of a release back.
func (a *Apps) UndoRelease(ctx context.Context, id string, seen vitrine.Version) (appsvc.Release, error) {
	return a.actOnRelease(ctx, "undo", id, seen)
}

func (a *Apps) actOnRelease(ctx context.Context, action, id string, seen vitrine.Version) (appsvc.Release, error) {
	return send[appsvc.Release](ctx, a.remote,
		request{method: http.MethodPost, path: path("/x/releases/%s/"+action, id),
			body: map[string]vitrine.Version{"version": seen}}, object("id"))
}

// TaggedAppIn returns what TaggedApp would return if a release had run.
func (a *Apps) TaggedAppIn(ctx context.Context, appID, name, releaseID string) (appsvc.App, error) {
	return a.app(ctx,
		reading(path("/apps/%s/tagged/%s", appID, name), values{}.text("release", releaseID).text("lang", a.lang)))
}
