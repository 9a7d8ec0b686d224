package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"

	"github.com/vitrine-go/vitrine/appsvc"
)

// Versions returns a page of versions of an app, newest first, and whether older ones remain.
func (a *Apps) Versions(ctx context.Context, in appsvc.ListVersions) (list []appsvc.App, more bool, err error) {
	q := values{}.number("limit", in.Limit)
	if in.Before != appsvc.Latest {
		q.text("before", in.Before.String())
	}
	var out apps
	header, err := a.get(ctx, &out, url.Values(q), "/apps/%s/versions/", in.AppID)
	if err != nil {
		return nil, false, err
	}
	_, more = next(header, "before")
	return out.list(), more, nil
}

// AllVersions walks through the pages from in.Before on.
func (a *Apps) AllVersions(ctx context.Context, in appsvc.ListVersions) iter.Seq2[appsvc.App, error] {
	return walk(in, func(in *appsvc.ListVersions) ([]appsvc.App, bool, error) {
		list, more, err := a.Versions(ctx, *in)
		if more && len(list) > 0 {
			in.Before = list[len(list)-1].Version
		}
		return list, more, err
	})
}

// Restore stores an older version of an app as a new highest one.
func (a *Apps) Restore(ctx context.Context, in appsvc.Restore) (appsvc.App, error) {
	number, err := a.number(ctx, in.AppID, in.Version)
	if err != nil {
		return appsvc.App{}, err
	}
	to, err := a.address("/apps/versions/restore")
	if err != nil {
		return appsvc.App{}, err
	}
	body := struct {
		AppID      string `json:"appId"`
		AppVersion string `json:"appVersion"`
	}{in.AppID, number}
	var out apps
	if _, err := a.keyed(ctx, in.IdempotencyKey, request{method: http.MethodPost, url: to}, body, &out); err != nil {
		return appsvc.App{}, err
	}
	return out.one()
}

// number returns the name of a version. Over HTTP there is none for the latest, so it is looked up.
func (a *Apps) number(ctx context.Context, id string, v appsvc.Version) (string, error) {
	if v != appsvc.Latest {
		return v.String(), nil
	}
	latest, err := a.App(ctx, id)
	return latest.Version.String(), err
}
