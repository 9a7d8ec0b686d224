package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"

	"github.com/vitrine-go/vitrine/appsvc"
)

// Apps is the app service (contract, section 4.1). Its methods are those of appsvc.Service, with the
// same errors; they add only what they say.
type Apps struct{ remote }

// Apps returns a page of the apps that the caller may use, and where the next one starts: "" when
// there is none.
func (a *Apps) Apps(ctx context.Context, in appsvc.ListApps) (list []appsvc.App, after string, err error) {
	q := values{}.text("sort", string(in.Sort)).text("usingComponent", in.UsingComponent).number("limit", in.Limit).text("after", in.After)
	var out apps
	header, err := a.get(ctx, &out, url.Values(q), "/apps/")
	if err != nil {
		return nil, "", err
	}
	after, _ = next(header, "after")
	return out.list(), after, nil
}

// AllApps walks through the pages from in.After on.
func (a *Apps) AllApps(ctx context.Context, in appsvc.ListApps) iter.Seq2[appsvc.App, error] {
	return walk(in, func(in *appsvc.ListApps) (list []appsvc.App, more bool, err error) {
		list, in.After, err = a.Apps(ctx, *in)
		return list, in.After != "", err
	})
}

// CreateApp stores a new app, and then reads it. When only the reading fails, the app has its ID.
func (a *Apps) CreateApp(ctx context.Context, in appsvc.NewApp) (appsvc.App, error) {
	var out struct {
		ID string `json:"id"`
	}
	to, err := a.address("/apps/")
	if err != nil {
		return appsvc.App{}, err
	}
	if _, err := a.keyed(ctx, in.IdempotencyKey, request{method: http.MethodPost, url: to}, in, &out); err != nil {
		return appsvc.App{}, err
	}
	created, err := a.Version(ctx, out.ID, 0)
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
func (a *Apps) Version(ctx context.Context, id string, v appsvc.Version) (appsvc.App, error) {
	if v == appsvc.Latest {
		return a.App(ctx, id)
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
	var out apps
	if _, err := a.call(ctx, request{method: http.MethodGet, url: to, again: true, cached: true}, &out); err != nil {
		return appsvc.App{}, err
	}
	return out.one()
}

// Patch applies a JSON Patch to the latest version of an app. It is sent once: when no answer comes, the
// app tells whether the patch was applied.
func (a *Apps) Patch(ctx context.Context, id string, patch []byte) (appsvc.App, error) {
	to, err := a.address("/apps/%s", id)
	if err != nil {
		return appsvc.App{}, err
	}
	var out apps
	if _, err := a.write(ctx, request{method: http.MethodPatch, url: to}, patch, &out); err != nil {
		return appsvc.App{}, err
	}
	return out.one()
}
