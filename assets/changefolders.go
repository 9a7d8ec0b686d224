package assets

import (
	"context"
	"fmt"
	"reflect"
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
	err := s.update(ctx, by, lib, func(req *request) error {
		req.cloneTree()
		changed, err := req.changeFolders(in)
		if err != nil {
			return err
		}
		changed = unique(changed)
		if out, err = req.changedFolders(changed); err != nil {
			return err
		}
		return req.storeFolders(changed)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// changedFolders returns the folders for the response to a change.
func (req *request) changedFolders(changed []*node) ([]Folder, error) {
	out, size := []Folder{}, 0
	for _, n := range changed {
		f := req.ownFolder(n)
		out, size = append(out, f), size+len(f.AppendJSON(nil))
		if err := req.checkAnswer(len(out), size); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (req *request) changeFolders(in ChangeFoldersRequest) ([]*node, error) {
	var changed []*node
	for i, f := range in.Create {
		n, err := req.createFolder(fmt.Sprintf("/create/%d", i), f)
		if err != nil {
			return nil, err
		}
		changed = append(changed, n)
	}
	for i, f := range in.Update {
		n, err := req.updateFolder(fmt.Sprintf("/update/%d", i), f)
		if err != nil {
			return nil, err
		}
		changed = append(changed, n)
	}
	deleted, err := req.deleteFolders(in)
	return append(changed, deleted...), err
}

func (req *request) createFolder(at string, in NewFolder) (*node, error) {
	if err := checkName(at+"/label", in.Label, req.limits.Name); err != nil {
		return nil, err
	}
	parent, err := req.parentAt(at+"/path", in.Path)
	if err != nil {
		return nil, err
	}
	if err := req.checkParent(at+"/path", parent, 1); err != nil {
		return nil, err
	}
	f := FolderRecord{ID: req.newID(), Label: in.Label, Inherit: in.Inherit == nil || *in.Inherit}
	if parent != nil {
		f.Parent = parent.ID
		if len(in.Permissions) > 0 && req.right(parent).level < levelManage {
			return nil, forbidden(at+"/permissions", "to grant permissions on a new folder needs manage on its parent")
		}
	}
	if f.Permissions, err = req.grant(at+"/permissions", f.ID, nil, in.Permissions); err != nil {
		return nil, err
	}
	return req.stageFolder(f), nil
}

func (req *request) updateFolder(at string, in FolderChange) (*node, error) {
	restore := in.Deleted != nil && !*in.Deleted
	n, err := req.folderToManage(at+"/id", in.ID, restore)
	if err != nil {
		return nil, err
	}
	if restore && !req.mayRestore(n, in.Path != nil) {
		return nil, invalid(at+"/deleted", "a folder above this one is deleted: bring that one back first")
	}
	f := n.FolderRecord
	if in.Label != nil {
		if err := checkName(at+"/label", *in.Label, req.limits.Name); err != nil {
			return nil, err
		}
		f.Label = *in.Label
	}
	if in.Path != nil {
		if f.Parent, err = req.moveTo(at+"/path", n, *in.Path); err != nil {
			return nil, err
		}
	}
	if in.Inherit != nil {
		f.Inherit = *in.Inherit
	}
	if in.Deleted != nil {
		f.Deleted = *in.Deleted
	}
	return req.stageFolder(f), nil
}

// moveTo returns the id of the folder that the path leads to, if n may be moved into it.
func (req *request) moveTo(at string, n *node, path string) (string, error) {
	if path == "" {
		return "", invalid(at, "must not be empty: want / or /<id>/<id>")
	}
	parent, err := req.parentAt(at, path)
	if err != nil {
		return "", err
	}
	if parent == n.parent {
		return n.Parent, nil
	}
	if parent.within(n) {
		return "", invalid(at, "a folder cannot be moved below itself")
	}
	if err := req.checkParent(at, parent, n.height()); err != nil {
		return "", err
	}
	if parent == nil {
		return "", nil
	}
	return parent.ID, nil
}

// deleteFolders deletes folders. It checks all of them before it deletes the first, since one may be below another.
func (req *request) deleteFolders(in ChangeFoldersRequest) ([]*node, error) {
	var found []*node
	for _, list := range []struct {
		name string
		ids  []string
	}{{"delete", in.Delete}, {"remove", in.Remove}} {
		for i, id := range list.ids {
			n, err := req.folderToManage(fmt.Sprintf("/%s/%d", list.name, i), id, false)
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
		req.stageFolder(f)
	}
	return found, nil
}

// cloneTree replaces the shared tree by a clone, which the request may change.
func (req *request) cloneTree() { req.treeBefore, req.tree = req.tree, req.tree.clone() }

// stageFolder puts a folder into the request's tree. It is stored by storeFolders, since a request may change a folder many
// times.
func (req *request) stageFolder(f FolderRecord) *node {
	if !req.wrote {
		req.state.Tree = newTreeNumber()
		req.wrote = true
	}
	n := req.tree.put(f)
	delete(req.best, n)
	return n
}

// storeFolders stores folders as they are in the tree, if they have changed.
func (req *request) storeFolders(list []*node) error {
	for _, n := range list {
		if err := req.tx.PutFolder(req.ctx, n.FolderRecord); err != nil {
			return err
		}
		if old := req.treeBefore.nodes[n.ID]; old == nil || !sameFolder(old.FolderRecord, n.FolderRecord) {
			req.changes.folders = append(req.changes.folders, n.ID)
		}
	}
	return nil
}

// sameFolder reports whether two records of a folder are equal.
func sameFolder(a, b FolderRecord) bool {
	samePermission := func(p, o Permission) bool { return reflect.DeepEqual(p, o) }
	return a.Parent == b.Parent && a.Label == b.Label && a.Inherit == b.Inherit && a.Deleted == b.Deleted &&
		slices.EqualFunc(a.Permissions, b.Permissions, samePermission)
}
