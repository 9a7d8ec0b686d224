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
	q := values{}.number("limit", in.Limit)
	if before.Number() >= 0 {
		q.text("before", before.String())
	}
	return list[appsvc.App](ctx, a.remote, "apps", "before", q, "/apps/%s/versions/", in.AppID)
}

// AllVersions walks through the pages.
func (a *Apps) AllVersions(ctx context.Context, in appsvc.ListVersionsRequest) iter.Seq2[appsvc.App, error] {
	return all(ctx, in, a.ListVersions, func(in *appsvc.ListVersionsRequest) *string { return &in.After })
}

// Restore stores an older version of an app as a new highest one.
func (a *Apps) Restore(ctx context.Context, in appsvc.RestoreRequest) (appsvc.App, error) {
	if in.Version.IsZero() {
		return appsvc.App{}, a.noVersion()
	}
	if in.AppID == "" {
		return appsvc.App{}, here(http.StatusNotFound, told{Code: vitrine.CodeNotFound, Pointer: "/appId", Error: "no app has this id"})
	}
	body := struct {
		AppID string `json:"appId"`
		namedVersion
	}{in.AppID, named(in.Version)}
	var out sole[appsvc.App]
	err := a.keyed(ctx, in.IdempotencyKey, request{method: http.MethodPost}, body, value("apps", &out), "/apps/versions/restore")
	return out.item, err
}

// noVersion is the error of the embedded service for the zero Version.
func (a *Apps) noVersion() error {
	return here(http.StatusBadRequest, told{Code: vitrine.CodeInvalid, Pointer: "/appVersion", Error: "a version is missing: name one, or ask for the latest"})
}

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
