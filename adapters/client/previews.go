package client

import (
	"context"
	"net/http"

	"github.com/vitrine-go/vitrine/appsvc"
)

// CreatePreview makes a link that shows an app; its URL is that of the page. It is sent once.
func (a *Apps) CreatePreview(ctx context.Context, in appsvc.CreatePreviewRequest) (appsvc.Preview, error) {
	return send[appsvc.Preview](ctx, a.remote,
		request{method: http.MethodPost, path: path("/apps/%s/previews/", in.AppID), body: in}, object("url"))
}

// ListPreviews returns the links of an app that have not expired, newest first.
func (a *Apps) ListPreviews(ctx context.Context, appID string) ([]appsvc.Preview, error) {
	return get[[]appsvc.Preview](ctx, a.remote, path("/apps/%s/previews/", appID), nil, value("previews"))
}

// DeletePreview revokes a link. It is sent once.
func (a *Apps) DeletePreview(ctx context.Context, appID, id string) error {
	return a.do(ctx, request{method: http.MethodDelete, path: path("/apps/%s/previews/%s", appID, id)})
}
