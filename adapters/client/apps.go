package client

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"net/url"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/paging"
)

// Apps is the app service of a server. Its methods are those of appsvc.Session, with the same errors;
// their comments say only what is different.
type Apps struct{ remote }

// ListApps returns a page of the apps that the caller may use.
func (a *Apps) ListApps(ctx context.Context, in appsvc.ListAppsRequest) (vitrine.Page[appsvc.App], error) {
	q := values{}.text("sort", string(in.Sort)).text("usingComponent", in.UsingComponent).number("limit", in.Limit).text("after", in.After)
	var out apps
	header, err := a.get(ctx, &out, url.Values(q), "/apps/")
	if err != nil {
		return vitrine.Page[appsvc.App]{}, err
	}
	return vitrine.Page[appsvc.App]{Items: out.Apps, Next: next(header, "after")}, nil
}

// AllApps walks through the pages from in.After on.
func (a *Apps) AllApps(ctx context.Context, in appsvc.ListAppsRequest) iter.Seq2[appsvc.App, error] {
	return paging.All(in.After, func(after string) ([]appsvc.App, string, error) {
		in.After = after
		page, err := a.ListApps(ctx, in)
		return page.Items, page.Next, err
	})
}

// Edit patches the latest version of an app, and again if somebody else was faster; see
// appsvc.EditApp.
func (a *Apps) Edit(ctx context.Context, id string, fn func(appsvc.App, *appsvc.PatchBuilder) error) (appsvc.App, error) {
	return appsvc.EditApp(ctx, a, id, fn)
}

// createdApp is the body of an answer to a creation.
type createdApp struct {
	ID string `json:"id"`
}

// check returns an error unless there is an id.
func (c createdApp) check() error {
	if c.ID == "" {
		return errors.New("it has no id")
	}
	return nil
}

// CreateApp stores a new app, and then reads it. When only the reading fails, the app has its ID.
func (a *Apps) CreateApp(ctx context.Context, in appsvc.CreateAppRequest) (appsvc.App, error) {
	var out createdApp
	to, err := a.address("/apps/")
	if err != nil {
		return appsvc.App{}, err
	}
	if _, err := a.keyed(ctx, in.IdempotencyKey, request{method: http.MethodPost, url: to}, in, &out); err != nil {
		return appsvc.App{}, err
	}
	created, err := a.Version(ctx, out.ID, vitrine.NewVersion(0))
	if err != nil {
		created.ID = out.ID
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
	var out oneApp
	if _, err := a.call(ctx, request{method: http.MethodGet, url: to, again: true, cached: true}, &out); err != nil {
		return appsvc.App{}, err
	}
	return out.Apps[0], nil
}

// Patch applies a JSON Patch to the latest version of an app. It is sent once: when no answer comes, the
// app tells whether the patch was applied.
func (a *Apps) Patch(ctx context.Context, id string, patch []byte) (appsvc.App, error) {
	to, err := a.address("/apps/%s", id)
	if err != nil {
		return appsvc.App{}, err
	}
	var out oneApp
	if _, err := a.write(ctx, request{method: http.MethodPatch, url: to}, patch, &out); err != nil {
		return appsvc.App{}, err
	}
	return out.Apps[0], nil
}
