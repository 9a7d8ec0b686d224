package client

import (
	"context"
	"net/http"

	"github.com/vitrine-go/vitrine/appsvc"
)

// Readers returns people who may read an app.
func (a *Apps) Readers(ctx context.Context, appID, query string) ([]appsvc.Person, error) {
	return get[[]appsvc.Person](ctx, a.remote, path("/apps/%s/people", appID), values{}.text("q", query),
		value("people"))
}

// Approvers returns people who could approve a release.
func (a *Apps) Approvers(ctx context.Context, releaseID, query string) ([]appsvc.Person, error) {
	return get[[]appsvc.Person](ctx, a.remote, path("/x/releases/%s/approvers", releaseID), values{}.text("q", query),
		value("people"))
}

// Inbox returns what waits for the caller.
func (a *Apps) Inbox(ctx context.Context, in appsvc.InboxRequest) (appsvc.Inbox, error) {
	return get[appsvc.Inbox](ctx, a.remote, "/x/inbox/", values{}.page(in.After, in.Limit),
		object("items"))
}

// SeeInbox notes until when the caller has seen the inbox. It is sent once.
func (a *Apps) SeeInbox(ctx context.Context, until int64) error {
	return a.do(ctx, request{method: http.MethodPost, path: "/x/inbox/seen", body: map[string]int64{"until": until}})
}
