package client

import (
	"context"
	"iter"
	"net/http"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
)

// ListVersions returns a page of the versions of an app, newest first.
func (a *Apps) ListVersions(ctx context.Context, in appsvc.ListVersionsRequest) (vitrine.Page[appsvc.App], error) {
	before, err := in.Below()
	if err != nil {
		return vitrine.Page[appsvc.App]{}, err
	}
	return list[appsvc.App](ctx, a.remote, path("/apps/%s/versions/", in.AppID), below(before, in.Limit), "apps", "before")
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
	return all(ctx, in, a.ListVersions, func(in *appsvc.ListVersionsRequest) *string { return &in.After })
}

// Restore stores an older version of an app as a new highest one.
func (a *Apps) Restore(ctx context.Context, in appsvc.RestoreRequest) (appsvc.App, error) {
	if in.Version.IsZero() {
		return appsvc.App{}, errNoVersion
	}
	if in.AppID == "" {
		return appsvc.App{}, &vitrine.Error{Kind: vitrine.ErrNotFound, Code: vitrine.CodeNotFound, Pointer: "/appId", Reason: "no app has this id"}
	}
	body := struct {
		AppID string `json:"appId"`
		namedVersion
		Note string `json:"note,omitzero"`
	}{in.AppID, named(in.Version), in.Note}
	return send[appsvc.App](ctx, a.remote, request{method: http.MethodPost, path: "/apps/versions/restore", body: body, key: keyOr(in.IdempotencyKey)}, item("apps"))
}

// errNoVersion is the error of the embedded service for the zero Version.
var errNoVersion = &vitrine.Error{Kind: vitrine.ErrInvalid, Code: vitrine.CodeInvalid, Pointer: "/appVersion", Reason: "a version is missing: name one, or ask for the latest"}

// namedVersion names a version in a body. The latest has no number there: the server finds it, so that a
// repeat with an idempotency key is the same request though the app has moved on.
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
