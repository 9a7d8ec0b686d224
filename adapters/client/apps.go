package client

import (
	"cmp"
	"context"
	"crypto/rand"
	"io"
	"iter"
	"net/http"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/paging"
)

// Apps is the app service of a server. Its methods are those of appsvc.Session, with the same errors;
// their comments say only what is different.
type Apps struct {
	remote
	lang string // see In
}

// In returns Apps that ask for texts in a language, as appsvc.Session.In.
func (a *Apps) In(lang string) *Apps { return &Apps{a.remote, lang} }

// Languages returns the languages of the store, the base first; none if there is no rule.
func (a *Apps) Languages(ctx context.Context) ([]string, error) {
	return get[[]string](ctx, a.remote, "/x/languages", nil, value("languages"))
}

// ListApps returns a page of the apps that the caller may use.
func (a *Apps) ListApps(ctx context.Context, in appsvc.ListAppsRequest) (vitrine.Page[appsvc.App], error) {
	view := ""
	if in.Summary {
		view = "summary"
	}
	q := values{}.text("view", view).text("sort", string(in.Sort)).text("q", in.Query).list("in", in.In).
		text("group", in.Group).text("owner", in.Owner).text("usingComponent", in.UsingComponent).text("usingVersion",
		in.UsingVersion).flag("deleted",
		in.Deleted).page(in.After, in.Limit)
	return list[appsvc.App](ctx, a.remote, "/apps/", q, "apps", "after")
}

// AllApps walks through the pages from in.After on.
func (a *Apps) AllApps(ctx context.Context, in appsvc.ListAppsRequest) iter.Seq2[appsvc.App, error] {
	return paging.All(&in.After, func() (vitrine.Page[appsvc.App], error) { return a.ListApps(ctx, in) })
}

// Edit patches the latest version of an app, and tries again after a conflict; see appsvc.EditApp.
func (a *Apps) Edit(
	ctx context.Context, id string, fn func(appsvc.App, *appsvc.PatchBuilder) error,
) (appsvc.App, error) {
	return appsvc.EditApp(ctx, a.In(""), id, fn)
}

// CreateApp stores a new app, and then reads it. When only the reading fails, the app has its ID.
func (a *Apps) CreateApp(ctx context.Context, in appsvc.CreateAppRequest) (appsvc.App, error) {
	id, err := send[string](ctx, a.remote,
		request{method: http.MethodPost, path: "/apps/", body: in, key: keyOr(in.IdempotencyKey)}, value("id"))
	if err != nil {
		return appsvc.App{}, err
	}
	created, err := a.In("").Version(ctx, id, vitrine.NewVersion(0))
	if err != nil {
		created.ID = id
	}
	return created, err
}

// App returns the latest version of an app.
func (a *Apps) App(ctx context.Context, id string) (appsvc.App, error) {
	return a.cached(ctx, path("/apps/%s", id))
}

// Version returns a version of an app.
func (a *Apps) Version(ctx context.Context, id string, v vitrine.Version) (appsvc.App, error) {
	if v == vitrine.Latest {
		return a.App(ctx, id)
	}
	if v.IsZero() {
		return appsvc.App{}, errNoVersion
	}
	return a.cached(ctx, path("/apps/%s/versions/%s", id, v.String()))
}

// TaggedApp returns the version of an app that a tag points to.
func (a *Apps) TaggedApp(ctx context.Context, appID, name string) (appsvc.App, error) {
	return a.cached(ctx, path("/apps/%s/tagged/%s", appID, name))
}

// cached reads a version of an app, which has an ETag.
func (a *Apps) cached(ctx context.Context, path string) (appsvc.App, error) {
	r := reading(path, values{}.text("lang", a.lang))
	r.cached = true
	return a.app(ctx, r)
}

// app sends a request whose response is an app.
func (a *Apps) app(ctx context.Context, r request) (appsvc.App, error) {
	return send[appsvc.App](ctx, a.remote, r, item("apps"))
}

// Patch applies a JSON Patch to the latest version of an app. It is sent once: if no response arrives, the app tells
// whether the patch was applied.
func (a *Apps) Patch(ctx context.Context, id string, patch io.Reader) (appsvc.App, error) {
	text, err := readText(patch)
	if err != nil {
		return appsvc.App{}, err
	}
	return a.app(ctx, request{method: http.MethodPatch, path: path("/apps/%s", id), body: text})
}

// DeleteApp deletes an app. It is sent once: if no response arrives, ListApps with Deleted tells whether it was
// deleted.
func (a *Apps) DeleteApp(ctx context.Context, id string) error {
	return a.do(ctx, request{method: http.MethodDelete, path: path("/apps/%s", id)})
}

// UndeleteApp brings a deleted app back. It is sent once.
func (a *Apps) UndeleteApp(ctx context.Context, id string) (appsvc.App, error) {
	return a.app(ctx, request{method: http.MethodPost, path: path("/apps/%s/undelete", id)})
}

// EraseApp removes a deleted app for good. It is sent once.
func (a *Apps) EraseApp(ctx context.Context, id string) error {
	return a.do(ctx, request{method: http.MethodPost, path: path("/apps/%s/erase", id)})
}

// keyOr returns an idempotency key, a random one for "", so that the change may be sent again.
func keyOr(key string) string { return cmp.Or(key, rand.Text()) }
