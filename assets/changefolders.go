package assets

import (
	"context"
	"fmt"
	"slices"
)

// ChangeFoldersRequest says which folders to create, which to update and which to delete. It is done in this order.
type ChangeFoldersRequest struct {
	Create []NewFolder    `json:"create"`
	Update []FolderChange `json:"update"`
	Delete []string       `json:"delete"` // ids
	Remove []string       `json:"remove"` // another name of Delete; both count
}

// NewFolder is a folder to create. The label is required.
type NewFolder struct {
	Label       string       `json:"label"`
	Path        string       `json:"path"`    // of its parent; "" = "/"
	Inherit     *bool        `json:"inherit"` // nil = true
	Permissions []Permission `json:"permissions"`
}

// FolderChange changes a folder. A nil field leaves that part as it is.
type FolderChange struct {
	ID      string  `json:"id"`
	Label   *string `json:"label"`
	Path    *string `json:"path"` // moves it, and all that is below
	Inherit *bool   `json:"inherit"`
	Deleted *bool   `json:"deleted"` // false brings a deleted folder back
}

// ChangeFolders creates, updates and deletes folders, all or nothing. It returns the folders of the request, in its order,
// each once. A deleted folder is hidden with all folders below it, and can be brought back; its assets are not deleted.
//
// It returns ErrNotFound if the caller does not see a folder or a parent, or if that is deleted; ErrForbidden if the caller
// lacks a permission, with a sentence that names it; and ErrInvalid if a folder is moved below itself, is brought back while a
// folder above it is deleted, or would be nested deeper than Limits.Depth, if a field is malformed, or if the response would be
// longer than Limits.PageBytes.
func (s *Service) ChangeFolders(ctx context.Context, by Caller, lib Library, in ChangeFoldersRequest) ([]Folder, error) {
	var out []Folder
	err := s.update(ctx, by, lib, func(ss *request) error {
		ss.changeTree()
		changed, err := ss.changeFolders(in)
		if err != nil {
			return err
		}
		changed = unique(changed)
		if out, err = ss.changedFolders(changed); err != nil {
			return err
		}
		return ss.storeFolders(changed)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// changedFolders returns the folders for the response to a change.
func (ss *request) changedFolders(changed []*node) ([]Folder, error) {
	out, size := []Folder{}, 0
	for _, n := range changed {
		f := ss.ownFolder(n)
		out, size = append(out, f), size+len(f.AppendJSON(nil))
		if err := ss.checkAnswer(len(out), size); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (ss *request) changeFolders(in ChangeFoldersRequest) ([]*node, error) {
	var changed []*node
	for i, f := range in.Create {
		n, err := ss.createFolder(fmt.Sprintf("/create/%d", i), f)
		if err != nil {
			return nil, err
		}
		changed = append(changed, n)
	}
	for i, f := range in.Update {
		n, err := ss.updateFolder(fmt.Sprintf("/update/%d", i), f)
		if err != nil {
			return nil, err
		}
		changed = append(changed, n)
	}
	deleted, err := ss.deleteFolders(in)
	return append(changed, deleted...), err
}

func (ss *request) createFolder(at string, in NewFolder) (*node, error) {
	if err := checkName(at+"/label", in.Label, ss.limits.Name); err != nil {
		return nil, err
	}
	parent, err := ss.placeSeen(at+"/path", in.Path)
	if err != nil {
		return nil, err
	}
	if err := ss.checkPlace(at+"/path", parent, 1); err != nil {
		return nil, err
	}
	f := FolderRecord{ID: ss.newID(), Label: in.Label, Inherit: in.Inherit == nil || *in.Inherit}
	if parent != nil {
		f.Parent = parent.ID
		if len(in.Permissions) > 0 && ss.right(parent).level < levelManage {
			return nil, forbidden(at+"/permissions", "to grant permissions on a new folder needs manage on its parent")
		}
	}
	if f.Permissions, err = ss.grant(at+"/permissions", f.ID, nil, in.Permissions); err != nil {
		return nil, err
	}
	return ss.placeFolder(f), nil
}

// checkPlace returns an error unless the caller may put a folder into parent, and the folder fits: height is the number of its
// levels. A nil parent is the top level.
func (ss *request) checkPlace(at string, parent *node, height int) error {
	if !ss.mayNest(parent) {
		if parent == nil {
			return forbidden(at, "to put a folder at the top level is for moderators")
		}
		return forbidden(at, "to put a folder into another needs edit on that one")
	}
	if parent.depth()+height > ss.limits.Depth {
		return invalid(at, "folders would be nested deeper than %d levels", ss.limits.Depth)
	}
	return nil
}

func (ss *request) updateFolder(at string, in FolderChange) (*node, error) {
	restore := in.Deleted != nil && !*in.Deleted
	n, err := ss.folderToManage(at+"/id", in.ID, restore)
	if err != nil {
		return nil, err
	}
	if restore && !ss.mayRestore(n, in.Path != nil) {
		return nil, invalid(at+"/deleted", "a folder above this one is deleted: bring that one back first")
	}
	f := n.FolderRecord
	if in.Label != nil {
		if err := checkName(at+"/label", *in.Label, ss.limits.Name); err != nil {
			return nil, err
		}
		f.Label = *in.Label
	}
	if in.Path != nil {
		if f.Parent, err = ss.moveTo(at+"/path", n, *in.Path); err != nil {
			return nil, err
		}
	}
	if in.Inherit != nil {
		f.Inherit = *in.Inherit
	}
	if in.Deleted != nil {
		f.Deleted = *in.Deleted
	}
	return ss.placeFolder(f), nil
}

// mayRestore reports whether the folder may be brought back. A folder below a deleted one would stay hidden, so that is
// refused. Moving it out of the deleted folder makes it visible, which needs manage on the deleted folder.
func (ss *request) mayRestore(n *node, moved bool) bool {
	for above := n.parent; above != nil; above = above.parent {
		if above.Deleted && (!moved || ss.right(above).level < levelManage) {
			return false
		}
	}
	return true
}

// moveTo returns the id of the folder that the path leads to, if n may be moved into it.
func (ss *request) moveTo(at string, n *node, path string) (string, error) {
	if path == "" {
		return "", invalid(at, "must not be empty: want / or /<id>/<id>")
	}
	parent, err := ss.placeSeen(at, path)
	if err != nil {
		return "", err
	}
	if parent == n.parent {
		return n.Parent, nil
	}
	if parent.within(n) {
		return "", invalid(at, "a folder cannot be moved below itself")
	}
	if err := ss.checkPlace(at, parent, n.height()); err != nil {
		return "", err
	}
	if parent == nil {
		return "", nil
	}
	return parent.ID, nil
}

// deleteFolders deletes folders. It checks all of them before it deletes the first, since one may be below another.
func (ss *request) deleteFolders(in ChangeFoldersRequest) ([]*node, error) {
	var found []*node
	for _, list := range []struct {
		name string
		ids  []string
	}{{"delete", in.Delete}, {"remove", in.Remove}} {
		for i, id := range list.ids {
			n, err := ss.folderToManage(fmt.Sprintf("/%s/%d", list.name, i), id, false)
			if err != nil {
				return nil, err
			}
			found = append(found, n)
		}
	}
	found = unique(found)
	for _, n := range found {
		f := n.FolderRecord
		f.Deleted = true
		ss.placeFolder(f)
	}
	return found, nil
}

// folderToManage returns a folder that the caller may change. A folder that is deleted, or below a deleted one, is ErrNotFound
// unless deleted is true.
func (ss *request) folderToManage(at, id string, deleted bool) (*node, error) {
	n := ss.tree.nodes[id]
	if n == nil {
		return nil, noFolder(at)
	}
	level := ss.right(n).level
	switch live := n.live(); {
	case live && level == levelNone, !live && (!deleted || level < levelManage):
		return nil, noFolder(at)
	case level < levelManage:
		return nil, forbidden(at, "to change the folder needs manage on it")
	}
	return n, nil
}

// grant returns the permissions have of a folder with those of list added; equal ones are kept once. Callers cannot grant
// more than they hold, since granting needs manage, which includes all operations.
func (ss *request) grant(at, folder string, have, list []Permission) ([]Permission, error) {
	rid := resourceID(ss.network, ss.lib, folder)
	have = slices.Clone(have)
	known := map[grantKey]bool{}
	for _, p := range have {
		known[grantKeyOf(p, ss.network)] = true
	}
	for i, p := range list {
		at := fmt.Sprintf("%s/%d", at, i)
		if err := checkPermission(p, at, rid, ss.limits); err != nil {
			return nil, err
		}
		if key := grantKeyOf(p, ss.network); !known[key] {
			known[key] = true
			p = p.Clone()
			p.ID, p.RType, p.RID = ss.newID(), resourceType, rid
			have = append(have, p)
		}
	}
	if len(have) > ss.limits.Permissions {
		return nil, invalid(at, "the folder would have %d permissions, at most %d are allowed", len(have), ss.limits.Permissions)
	}
	return have, nil
}
