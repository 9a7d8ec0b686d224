package assets

import (
	"context"
	"fmt"
	"slices"
)

// ChangePermissionsRequest says which permissions of a folder to remove and which to create. Permissions are removed first.
type ChangePermissionsRequest struct {
	Folder string       `json:"-"` // id; over HTTP in the path
	Create []Permission `json:"create"`
	Remove []Permission `json:"remove"` // by ID, or without one those with the same operation and subject
}

// Permissions returns the permissions that a folder itself has, in the order in which they were granted. It returns
// ErrNotFound if the caller does not see the folder, and ErrForbidden if the caller may not manage it.
func (s *Service) Permissions(ctx context.Context, by Caller, lib Library, folder string) ([]Permission, error) {
	var out []Permission
	err := s.view(ctx, by, lib, func(ss *request) error {
		n, err := ss.folderToRead("", folder)
		if err != nil {
			return err
		}
		if ss.right(n).level < levelManage {
			return forbidden("", "to read or change the permissions of a folder needs manage on it")
		}
		out = n.Clone().Permissions
		return nil
	})
	return out, err
}

// ChangePermissions changes the permissions of a folder and returns those that it has then. A permission to remove that the
// folder does not have is ignored. When a folder loses its last permission, it also stops inheriting, and only moderators see
// it: without that, removing a permission could make the folder visible to every member.
//
// It returns the errors of Permissions, and ErrInvalid if a permission is malformed.
func (s *Service) ChangePermissions(ctx context.Context, by Caller, lib Library, in ChangePermissionsRequest) ([]Permission, error) {
	var out []Permission
	err := s.update(ctx, by, lib, func(ss *request) error {
		ss.changeTree()
		n, err := ss.folderToGrantOn(in.Folder)
		if err != nil {
			return err
		}
		f := n.FolderRecord
		if f.Permissions, err = ss.revoke(f, in.Remove); err != nil {
			return err
		}
		if f.Permissions, err = ss.grant("/create", f.ID, f.Permissions, in.Create); err != nil {
			return err
		}
		if len(f.Permissions) == 0 && len(n.Permissions) > 0 {
			f.Inherit = false // if no folder above it has a permission, every member could see this one
		}
		out = f.Clone().Permissions
		return ss.storeFolders([]*node{ss.placeFolder(f)})
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// folderToGrantOn returns a folder whose permissions the caller may change.
func (ss *request) folderToGrantOn(id string) (*node, error) {
	return ss.folderToManage("", id, false)
}

// revoke returns the folder's permissions without those of list.
func (ss *request) revoke(f FolderRecord, list []Permission) ([]Permission, error) {
	ids, keys := map[string]bool{}, map[grantKey]bool{}
	for i, p := range list {
		if p.ID != "" {
			ids[p.ID] = true
			continue
		}
		if err := checkPermission(p, fmt.Sprintf("/remove/%d", i), resourceID(ss.network, ss.lib, f.ID), ss.limits); err != nil {
			return nil, err
		}
		keys[grantKeyOf(p, ss.network)] = true
	}
	return slices.DeleteFunc(slices.Clone(f.Permissions), func(p Permission) bool {
		return ids[p.ID] || keys[grantKeyOf(p, ss.network)]
	}), nil
}
