package client

import (
	"context"
	"io"
	"net/http"

	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/internal/fault"
)

// Upload adds an asset with a file. The body is sent once; a service that rejects the request does so before it is
// sent.
func (a *Assets) Upload(
	ctx context.Context, lib assets.Library, in assets.UploadRequest, body io.Reader,
) (assets.Asset, error) {
	q := values{"folder": in.Folders}.text("name", in.Name).text("title", in.Title).text("alt", in.Alt)
	return sendFile(ctx, a, request{method: http.MethodPost, path: libraryPath(lib, "/files"), query: q, size: in.Size},
		body)
}

// ReplaceFile replaces the bytes of an asset's file. The body is sent as that of Upload.
func (a *Assets) ReplaceFile(
	ctx context.Context, lib assets.Library, in assets.ReplaceFileRequest, body io.Reader,
) (assets.Asset, error) {
	return sendFile(ctx, a, request{method: http.MethodPut, path: libraryPath(lib, "/asset/%s/file", in.Asset),
		match: in.IfMatch, size: in.Size}, body)
}

// EditFile changes the texts of an asset that has a file, and the focus of its picture.
func (a *Assets) EditFile(
	ctx context.Context, lib assets.Library, in assets.EditFileRequest,
) (assets.Asset, error) {
	if in.Fill != nil {
		if err := in.Fill(&in); err != nil {
			return assets.Asset{}, err
		}
	}
	return send[assets.Asset](ctx, a.remote, request{method: http.MethodPatch,
		path: libraryPath(lib, "/asset/%s", in.Asset), match: in.IfMatch, body: in}, value("asset"))
}

// sendFile sends a file of any type.
func sendFile(ctx context.Context, a *Assets, r request, body io.Reader) (assets.Asset, error) {
	if body == nil {
		return assets.Asset{}, fault.Invalid("", "the request has no file")
	}
	r.stream = body
	return send[assets.Asset](ctx, a.remote, r, value("asset"))
}

// ShowFolder returns a page of a folder, as web pages show it. Only a key that may show the folder may be used. The
// server puts its own address before those of files.
func (a *Assets) ShowFolder(
	ctx context.Context, lib assets.Library, in assets.ShowFolderRequest,
) (assets.ShownFolder, error) {
	r := reading(path("/x/public/assets/%s/%s/%s", lib.Network, lib.ID, in.Folder),
		values{}.text("sort", in.Sort).page(in.After, in.Limit).list("type", in.Types))
	r.keyed = true
	return send[assets.ShownFolder](ctx, a.service, r, object("assets"))
}
