package client

import (
	"context"
	"iter"
	"net/url"

	"github.com/vitrine-go/vitrine/assets"
)

// folders is the body of an answer with folders.
type folders struct {
	Folders []folder `json:"folders"`
}

// Folders lists folders that the caller sees, by label (A4).
func (a *Assets) Folders(ctx context.Context, lib assets.Library, in assets.ListFolders) ([]assets.Folder, error) {
	q := values{"id": in.IDs, "path": in.Paths}.number("limit", in.Limit).text("since", in.Since).text("until", in.Until)
	var out folders
	err := a.read(ctx, &out, url.Values(q), lib, "/folders")
	return foldersOf(out.Folders), err
}

// AllFolders walks through the pages from in.Since on.
func (a *Assets) AllFolders(ctx context.Context, lib assets.Library, in assets.ListFolders) iter.Seq2[assets.Folder, error] {
	return walk(in, func(in *assets.ListFolders) ([]assets.Folder, bool, error) {
		list, err := a.Folders(ctx, lib, *in)
		if len(list) > 0 {
			in.Since = list[len(list)-1].ID
		}
		return list, true, err // until a page is empty: one may end before its limit
	})
}

// Folder returns one folder (A6).
func (a *Assets) Folder(ctx context.Context, lib assets.Library, id string) (assets.Folder, error) {
	var out struct {
		Folder folder `json:"folder"`
	}
	err := a.read(ctx, &out, nil, lib, "/folder/%s", id)
	return assets.Folder(out.Folder), err
}

// ChangeFolders creates, updates and deletes folders, all or nothing (A5).
func (a *Assets) ChangeFolders(ctx context.Context, lib assets.Library, in assets.ChangeFolders) ([]assets.Folder, error) {
	var out folders
	err := a.change(ctx, folderChanges(in), &out, lib, "/folders")
	return foldersOf(out.Folders), err
}

// permissions is the body of an answer with permissions.
type permissions struct {
	Permissions []assets.Permission `json:"permissions"`
}

// Permissions returns the permissions that a folder itself has (A7).
func (a *Assets) Permissions(ctx context.Context, lib assets.Library, folder string) ([]assets.Permission, error) {
	var out permissions
	err := a.read(ctx, &out, nil, lib, "/folder/%s/permissions", folder)
	return out.Permissions, err
}

// ChangePermissions changes the permissions of a folder and returns those it has then (A8).
func (a *Assets) ChangePermissions(ctx context.Context, lib assets.Library, folder string, in assets.ChangePermissions) ([]assets.Permission, error) {
	var out permissions
	err := a.change(ctx, in, &out, lib, "/folder/%s/permissions", folder)
	return out.Permissions, err
}
