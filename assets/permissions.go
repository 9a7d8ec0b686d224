package assets

import (
	"context"
	"fmt"
	"slices"
)

// ChangePermissions says which permissions of a folder to remove and which to create (A8), done in
// this order.
type ChangePermissions struct {
	Create []Permission `json:"create"`
	Remove []Permission `json:"remove"` // by ID, or else all that grants the same to the same
}

// Permissions returns the permissions that a folder itself has (A7), in the order they were granted.
// ErrNotFound for a folder that the caller does not see, ErrForbidden where it may not manage it.
func (s *Service) Permissions(ctx context.Context, by Caller, lib Library, folder string) ([]Permission, error) {
	var out []Permission
	err := s.view(ctx, by, lib, func(ss *session) error {
		n, err := ss.folderToRead(folder)
		if err != nil {
			return err
		}
		if ss.right(n).level < levelManage {
			return errForbidden("folder", "its permissions are for those who may manage it")
		}
		out = n.Clone().Permissions
		return nil
	})
	return out, err
}

// ChangePermissions changes the permissions of a folder and returns those it has then (A8). What is
// to be removed and is not there is passed over. Errors as with Permissions; ErrInvalid for a
// permission that is not well-formed.
func (s *Service) ChangePermissions(ctx context.Context, by Caller, lib Library, folder string, in ChangePermissions) ([]Permission, error) {
	var out []Permission
	err := s.update(ctx, by, lib, func(ss *session) error {
		ss.changeTree()
		n, err := ss.folderToManage("folder", folder, false)
		if err != nil {
			return err
		}
		f := n.FolderRecord
		held := ss.right(n).level
		if f.Permissions, err = ss.revoke(f, in.Remove); err != nil {
			return err
		}
		if f.Permissions, err = ss.grant("/create", f.ID, f.Permissions, in.Create, held); err != nil {
			return err
		}
		out = f.Clone().Permissions
		return ss.storeFolders([]*node{ss.placeFolder(f)})
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// revoke returns the folder's permissions without those of list.
func (ss *session) revoke(f FolderRecord, list []Permission) ([]Permission, error) {
	ids, keys := map[string]bool{}, map[grantKey]bool{}
	for i, p := range list {
		if p.ID != "" {
			ids[p.ID] = true
			continue
		}
		if err := p.check(fmt.Sprintf("/remove/%d", i), resourceID(ss.network, ss.lib, f.ID), ss.limits); err != nil {
			return nil, err
		}
		keys[p.key(ss.network)] = true
	}
	return slices.DeleteFunc(slices.Clone(f.Permissions), func(p Permission) bool {
		return ids[p.ID] || keys[p.key(ss.network)]
	}), nil
}
