package client

import (
	"context"
	"iter"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/internal/paging"
)

// ListFolders returns a page of the folders that the caller sees, by label.
func (a *Assets) ListFolders(ctx context.Context, lib assets.Library, in assets.ListFoldersRequest) (vitrine.Page[assets.Folder], error) {
	q := values{"id": in.IDs, "path": in.Paths}.text("label", in.Label).flag("deleted", in.Deleted).number("limit", in.Limit).text("since", in.After).text("until", in.Before)
	return list[assets.Folder](ctx, a.remote, libraryPath(lib, "/folders"), q, "folders", "since")
}

// AllFolders yields the folders from the page that the request asks for on.
func (a *Assets) AllFolders(ctx context.Context, lib assets.Library, in assets.ListFoldersRequest) iter.Seq2[assets.Folder, error] {
	return paging.All("", func(after string) ([]assets.Folder, string, error) {
		page, err := a.ListFolders(ctx, lib, in.From(after))
		return page.Items, page.Next, err
	})
}

// Folder returns one folder.
func (a *Assets) Folder(ctx context.Context, lib assets.Library, id string) (assets.Folder, error) {
	return get[assets.Folder](ctx, a.remote, libraryPath(lib, "/folder/%s", id), nil, value("folder"))
}

// ChangeFolders creates, updates and deletes folders, all or nothing.
func (a *Assets) ChangeFolders(ctx context.Context, lib assets.Library, in assets.ChangeFoldersRequest) ([]assets.Folder, error) {
	return change[[]assets.Folder](ctx, a, libraryPath(lib, "/folders"), in, value("folders"))
}

// PurgeFolders is ChangeFolders, and also says how much was purged.
func (a *Assets) PurgeFolders(ctx context.Context, lib assets.Library, in assets.ChangeFoldersRequest) (assets.ChangedFolders, error) {
	type answer struct {
		Folders []assets.Folder `json:"folders"`
		Purged  assets.Purged   `json:"purged"`
	}
	out, err := change[answer](ctx, a, libraryPath(lib, "/folders"), in, object("folders"))
	return assets.ChangedFolders(out), err
}

// Permissions returns the permissions that a folder itself has.
func (a *Assets) Permissions(ctx context.Context, lib assets.Library, folder string) ([]assets.Permission, error) {
	return get[[]assets.Permission](ctx, a.remote, libraryPath(lib, "/folder/%s/permissions", folder), nil, value("permissions"))
}

// ChangePermissions changes the permissions of a folder and returns those it has then.
func (a *Assets) ChangePermissions(ctx context.Context, lib assets.Library, in assets.ChangePermissionsRequest) ([]assets.Permission, error) {
	return change[[]assets.Permission](ctx, a, libraryPath(lib, "/folder/%s/permissions", in.Folder), in, value("permissions"))
}
