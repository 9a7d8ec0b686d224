package client

import (
	"context"
	"iter"
	"net/http"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
)

// Apps is the app service of a server. Its methods are those of appsvc.Session, with the same errors;
// their comments say only what is different.
type Apps struct{ remote }

// ListApps returns a page of the apps that the caller may use.
func (a *Apps) ListApps(ctx context.Context, in appsvc.ListAppsRequest) (vitrine.Page[appsvc.App], error) {
	q := values{}.text("sort", string(in.Sort)).text("usingComponent", in.UsingComponent).number("limit", in.Limit).text("after", in.After)
	return list[appsvc.App](ctx, a.remote, "apps", "after", q, "/apps/")
}

// AllApps walks through the pages from in.After on.
func (a *Apps) AllApps(ctx context.Context, in appsvc.ListAppsRequest) iter.Seq2[appsvc.App, error] {
	return all(ctx, in, a.ListApps, func(in *appsvc.ListAppsRequest) *string { return &in.After })
}

// Edit patches the latest version of an app, and again if somebody else was faster; see
// appsvc.EditApp.
func (a *Apps) Edit(ctx context.Context, id string, fn func(appsvc.App, *appsvc.PatchBuilder) error) (appsvc.App, error) {
	return appsvc.EditApp(ctx, a, id, fn)
}

// CreateApp stores a new app, and then reads it. When only the reading fails, the app has its ID.
func (a *Apps) CreateApp(ctx context.Context, in appsvc.CreateAppRequest) (appsvc.App, error) {
	var id string
	if err := a.keyed(ctx, in.IdempotencyKey, request{method: http.MethodPost}, in, value("id", &id), "/apps/"); err != nil {
		return appsvc.App{}, err
	}
	created, err := a.Version(ctx, id, vitrine.NewVersion(0))
	if err != nil {
		created.ID = id
	}
	return created, err
}

// App returns the latest version of an app.
func (a *Apps) App(ctx context.Context, id string) (appsvc.App, error) {
	return a.read(ctx, "/apps/%s", id)
}

// Version returns a version of an app.
func (a *Apps) Version(ctx context.Context, id string, v vitrine.Version) (appsvc.App, error) {
	if v == vitrine.Latest {
		return a.App(ctx, id)
	}
	if v.IsZero() {
		return appsvc.App{}, a.noVersion()
	}
	return a.read(ctx, "/apps/%s/versions/%s", id, v.String())
}

// TaggedApp returns the version of an app that a tag points to.
func (a *Apps) TaggedApp(ctx context.Context, appID, name string) (appsvc.App, error) {
	return a.read(ctx, "/apps/%s/tagged/%s", appID, name)
}

// read reads a version of an app, which has an ETag.
func (a *Apps) read(ctx context.Context, format string, ids ...string) (appsvc.App, error) {
	to, err := a.address(format, ids...)
	if err != nil {
		return appsvc.App{}, err
	}
	var out sole[appsvc.App]
	_, err = a.call(ctx, request{method: http.MethodGet, url: to, again: true, cached: true}, value("apps", &out))
	return out.item, err
}

// Patch applies a JSON Patch to the latest version of an app. It is sent once: when no answer comes, the
// app tells whether the patch was applied.
func (a *Apps) Patch(ctx context.Context, id string, patch []byte) (appsvc.App, error) {
	var out sole[appsvc.App]
	err := a.write(ctx, request{method: http.MethodPatch}, patch, value("apps", &out), "/apps/%s", id)
	return out.item, err
}
