package client

import (
	"context"
	"iter"
	"net/http"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/paging"
)

// ListComments returns a page of the comments of an app, newest first.
func (a *Apps) ListComments(ctx context.Context, in appsvc.ListCommentsRequest) (vitrine.Page[appsvc.Comment], error) {
	q := values{}.flag("open", in.Open).page(in.After, in.Limit)
	return list[appsvc.Comment](ctx, a.remote, path("/apps/%s/comments/", in.AppID), q, "comments", "after")
}

// AllComments walks through the pages from in.After on.
func (a *Apps) AllComments(ctx context.Context, in appsvc.ListCommentsRequest) iter.Seq2[appsvc.Comment, error] {
	return paging.All(&in.After, func() (vitrine.Page[appsvc.Comment], error) { return a.ListComments(ctx, in) })
}

// CreateComment adds a comment to an app. It is sent once.
func (a *Apps) CreateComment(ctx context.Context, in appsvc.CreateCommentRequest) (appsvc.Comment, error) {
	return send[appsvc.Comment](ctx, a.remote,
		request{method: http.MethodPost, path: path("/apps/%s/comments/", in.AppID), body: in}, object("id"))
}

// UpdateComment changes a comment. It is sent once.
func (a *Apps) UpdateComment(ctx context.Context, in appsvc.UpdateCommentRequest) (appsvc.Comment, error) {
	return send[appsvc.Comment](ctx, a.remote,
		request{method: http.MethodPatch, path: path("/apps/%s/comments/%s", in.AppID, in.ID), body: in}, object("id"))
}

// DeleteComment removes a comment. It is sent once.
func (a *Apps) DeleteComment(ctx context.Context, appID, id string) error {
	return a.do(ctx, request{method: http.MethodDelete, path: path("/apps/%s/comments/%s", appID, id)})
}

// ReplyToComment adds a reply to a comment. It is sent once.
func (a *Apps) ReplyToComment(ctx context.Context, in appsvc.ReplyRequest) (appsvc.Reply, error) {
	return send[appsvc.Reply](ctx, a.remote,
		request{method: http.MethodPost, path: path("/apps/%s/comments/%s/replies", in.AppID, in.Comment), body: in},
		object("id"))
}
