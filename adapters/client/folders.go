package client

import (
	"context"
	"iter"
	"net/url"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/internal/paging"
)

// folders is the body of an answer with folders.
type folders struct {
	Folders []assets.Folder `json:"folders"`
	Purged  assets.Purged   `json:"purged"` // of an answer to a purge
}

// oneFolder is the body of an answer with one folder.
type oneFolder struct {
	Folder assets.Folder `json:"folder"`
}

// ListFolders returns a page of the folders that the caller sees, by label.
func (a *Assets) ListFolders(ctx context.Context, lib assets.Library, in assets.ListFoldersRequest) (vitrine.Page[assets.Folder], error) {
	q := values{"id": in.IDs, "path": in.Paths}.text("label", in.Label).flag("deleted", in.Deleted).number("limit", in.Limit).text("since", in.After).text("until", in.Before)
	var out folders
	header, err := a.get(ctx, &out, url.Values(q), inLibrary+"/folders", lib.Network, lib.ID)
	if err != nil {
		return vitrine.Page[assets.Folder]{}, err
	}
	return vitrine.Page[assets.Folder]{Items: out.Folders, Next: next(header, "since")}, nil
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
	var out oneFolder
	err := a.read(ctx, &out, nil, lib, "/folder/%s", id)
	return out.Folder, err
}

// ChangeFolders creates, updates and deletes folders, all or nothing.
func (a *Assets) ChangeFolders(ctx context.Context, lib assets.Library, in assets.ChangeFoldersRequest) ([]assets.Folder, error) {
	var out folders
	err := a.change(ctx, folderChanges(in), &out, lib, "/folders")
	return out.Folders, err
}

// PurgeFolders is ChangeFolders, and also says how much was purged.
func (a *Assets) PurgeFolders(ctx context.Context, lib assets.Library, in assets.ChangeFoldersRequest) (assets.ChangedFolders, error) {
	var out folders
	err := a.change(ctx, folderChanges(in), &out, lib, "/folders")
	return assets.ChangedFolders{Folders: out.Folders, Purged: out.Purged}, err
}

// permissions is the body of an answer with permissions.
type permissions struct {
	Permissions []assets.Permission `json:"permissions"`
}

// Permissions returns the permissions that a folder itself has.
func (a *Assets) Permissions(ctx context.Context, lib assets.Library, folder string) ([]assets.Permission, error) {
	var out permissions
	err := a.read(ctx, &out, nil, lib, "/folder/%s/permissions", folder)
	return out.Permissions, err
}

// ChangePermissions changes the permissions of a folder and returns those it has then.
func (a *Assets) ChangePermissions(ctx context.Context, lib assets.Library, in assets.ChangePermissionsRequest) ([]assets.Permission, error) {
	var out permissions
	err := a.change(ctx, in, &out, lib, "/folder/%s/permissions", in.Folder)
	return out.Permissions, err
}
