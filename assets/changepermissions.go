package assets

import (
	"context"
	"fmt"
	"slices"

	"github.com/vitrine-go/vitrine"
)

// ChangePermissionsRequest says which permissions of a folder to remove and which to create.
// Permissions are removed first.
type ChangePermissionsRequest struct {
	Folder string       `json:"-"` // id; over HTTP in the path
	Create []Permission `json:"create"`
	Remove []Permission `json:"remove"` // one with an ID removes that permission; one without removes those that grant the same
}

// Permissions returns the permissions that a folder itself has, without those that it inherits, in
// the order in which they were granted. Who may restore a deleted folder may also read its
// permissions.
//
// It returns ErrNotFound if the caller may not read the folder (see Folder), and ErrForbidden if
// the caller may not manage it.
func (s *Service) Permissions(ctx context.Context, by vitrine.Caller, lib Library, folder string) ([]Permission, error) {
	var out []Permission
	err := s.view(ctx, by, lib, func(req *request) error {
		n, err := req.folderToRead("", folder)
		if err != nil {
			return err
		}
		if !req.seesPermissions(n) {
			return forbidden("", "to read or change the permissions of a folder needs manage on it")
		}
		out = n.Clone().Permissions
		return nil
	})
	return out, err
}

// ChangePermissions changes the permissions of a folder and returns those that it has then. A
// permission to remove that the folder does not have is ignored, and so is one to create that it
// has already.
//
// When a folder loses its last permission, it also stops inheriting, and only moderators see it.
// Otherwise it could become open, and removing a permission would make the folder visible to every
// member.
//
// It returns ErrNotFound if the caller does not see the folder or the folder is deleted,
// ErrForbidden if the caller may not manage it, and ErrInvalid if a permission is malformed, the
// request has more than Limits.Items, or the folder would have more than Limits.Permissions and more
// than it had, and ErrTooLarge if that is so for the library and Limits.AllPermissions.
func (s *Service) ChangePermissions(ctx context.Context, by vitrine.Caller, lib Library, in ChangePermissionsRequest) ([]Permission, error) {
	var out []Permission
	sent := size{lists: []listSize{{"/create", len(in.Create)}, {"/remove", len(in.Remove)}}, limit: s.limits.Items}
	err := s.update(ctx, by, lib, sent, func(req *request) error {
		req.cloneTree()
		n, err := req.folderToGrantOn(in.Folder)
		if err != nil {
			return err
		}
		f := n.FolderRecord
		if f.Permissions, err = req.revoke(f, in.Remove); err != nil {
			return err
		}
		if f.Permissions, err = req.grant("/create", f.ID, f.Permissions, in.Create); err != nil {
			return err
		}
		if err := req.checkPermissionCount("/create", len(f.Permissions), len(n.Permissions)); err != nil {
			return err
		}
		if len(f.Permissions) == 0 && len(n.Permissions) > 0 {
			f.Inherit = false // if no folder above it has a permission, every member could see this one
		}
		out = f.Clone().Permissions
		return req.storeFolders([]*node{req.stageFolder(f)})
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// revoke returns the folder's permissions without those of list, in their order. It returns
// ErrInvalid if a permission that is given without its ID is malformed.
func (req *request) revoke(f FolderRecord, list []Permission) ([]Permission, error) {
	ids, keys := map[string]bool{}, map[grantKey]bool{}
	for i, p := range list {
		if p.ID != "" {
			ids[p.ID] = true
			continue
		}
		if err := checkPermission(p, fmt.Sprintf("/remove/%d", i), resourceID(req.network, req.lib, f.ID), req.limits); err != nil {
			return nil, err
		}
		keys[grantKeyOf(p, req.network)] = true
	}
	return slices.DeleteFunc(slices.Clone(f.Permissions), func(p Permission) bool {
		return ids[p.ID] || keys[grantKeyOf(p, req.network)]
	}), nil
}

// grant returns the permissions have, which a folder has, followed by those of list. Permissions
// that grant the same are kept once. at is the pointer to list in the request, and folder is the id
// of the folder.
//
// The caller must have manage on the folder, or on the parent of a new one. Since manage includes
// all operations, nobody can grant more than they hold.
//
// It returns ErrInvalid if a permission is malformed.
func (req *request) grant(at, folder string, have, list []Permission) ([]Permission, error) {
	rid := resourceID(req.network, req.lib, folder)
	// known has what the folder grants already, and what the items before grant.
	have = slices.Clone(have)
	known := map[grantKey]bool{}
	for _, p := range have {
		known[grantKeyOf(p, req.network)] = true
	}
	for i, p := range list {
		at := fmt.Sprintf("%s/%d", at, i)
		if err := checkPermission(p, at, rid, req.limits); err != nil {
			return nil, err
		}
		if key := grantKeyOf(p, req.network); !known[key] {
			known[key] = true
			p = p.Clone()
			p.ID, p.RType, p.RID = req.newID(), resourceType, rid // never as the request has them
			have = append(have, p)
		}
	}
	return have, nil
}

// checkPermissionCount returns ErrInvalid if a folder would have n permissions of its own, had
// before, and n is more than Limits.Permissions permits. It returns ErrTooLarge if the library would
// have more than Limits.AllPermissions. at is the pointer to the permissions in the request.
func (req *request) checkPermissionCount(at string, n, before int) error {
	if !withinLimit(n, before, req.limits.Permissions) {
		return invalid(at, "the folder would have %d permissions, at most %d are allowed", n, req.limits.Permissions)
	}
	if all := req.tree.permissions; !withinLimit(all-before+n, all, req.limits.AllPermissions) {
		return newError(vitrine.ErrTooLarge, vitrine.CodeTooLarge, at, "the folders of the library would have %d permissions, at most %d are allowed: grant them on a folder above, or to a role or a group",
			all-before+n, req.limits.AllPermissions)
	}
	return nil
}
