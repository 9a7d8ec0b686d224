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
	return list[assets.Folder](ctx, a.remote, "folders", "since", q, inLibrary+"/folders", lib.Network, lib.ID)
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
	var out assets.Folder
	err := a.read(ctx, value("folder", &out), nil, lib, "/folder/%s", id)
	return out, err
}

// ChangeFolders creates, updates and deletes folders, all or nothing.
func (a *Assets) ChangeFolders(ctx context.Context, lib assets.Library, in assets.ChangeFoldersRequest) ([]assets.Folder, error) {
	var out []assets.Folder
	err := a.change(ctx, folderChanges(in), value("folders", &out), lib, "/folders")
	return out, err
}

// PurgeFolders is ChangeFolders, and also says how much was purged.
func (a *Assets) PurgeFolders(ctx context.Context, lib assets.Library, in assets.ChangeFoldersRequest) (assets.ChangedFolders, error) {
	var out struct {
		Folders []assets.Folder `json:"folders"`
		Purged  assets.Purged   `json:"purged"`
	}
	err := a.change(ctx, folderChanges(in), object("folders", &out), lib, "/folders")
	return assets.ChangedFolders{Folders: out.Folders, Purged: out.Purged}, err
}

// Permissions returns the permissions that a folder itself has.
func (a *Assets) Permissions(ctx context.Context, lib assets.Library, folder string) ([]assets.Permission, error) {
	var out []assets.Permission
	err := a.read(ctx, value("permissions", &out), nil, lib, "/folder/%s/permissions", folder)
	return out, err
}

// ChangePermissions changes the permissions of a folder and returns those it has then.
func (a *Assets) ChangePermissions(ctx context.Context, lib assets.Library, in assets.ChangePermissionsRequest) ([]assets.Permission, error) {
	var out []assets.Permission
	err := a.change(ctx, in, value("permissions", &out), lib, "/folder/%s/permissions", in.Folder)
	return out, err
}
