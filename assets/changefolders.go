package assets

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/index"
	"github.com/vitrine-go/vitrine/storage"
)

// ChangeFoldersRequest says which folders to create, which to update, which to delete, and which deleted ones to purge.
// ChangeFolders does it in this order, and each step sees the ones before: a folder may be moved
// into one that the same request updates. A folder that the request creates has no id yet that the
// request could name.
type ChangeFoldersRequest struct {
	Create []NewFolder    `json:"create"`
	Update []FolderChange `json:"update"`
	Delete []string       `json:"delete"` // ids
	Remove []string       `json:"remove"` // another name of Delete; both count
	// Purge has the ids of deleted folders to remove for good, with all folders below them and the assets that are in
	// no other folder.
	Purge []string                          `json:"purge,omitzero"`
	Fill  func(*ChangeFoldersRequest) error `json:"-"` // as in ChangeAssetsRequest
}

// NewFolder is a folder to create. The label is required. Several folders, also with the same
// parent, may have the same label.
type NewFolder struct {
	Label string `json:"label"`
	// Path says where to create it: the full path of its parent, such as "/12/15". The top level is
	// "/", and so is "".
	Path        string       `json:"path,omitzero"`
	Inherit     *bool        `json:"inherit,omitzero"` // the permissions of the parent apply to it too; nil = true
	Permissions []Permission `json:"permissions"`      // its own permissions from the beginning
}

// FolderChange changes a folder. A nil field leaves that part as it is.
type FolderChange struct {
	ID    string  `json:"id"`
	Label *string `json:"label,omitzero"`
	// Path moves the folder, with all that is below, into the folder with this full path. The top
	// level is "/"; "" is ErrInvalid.
	//
	// A folder that moves out of one from which it inherits permissions keeps them: they are added to its own, and it
	// inherits no more, whatever Inherit says. So moving a folder makes it visible to nobody, unless Open is true.
	Path    *string `json:"path,omitzero"`
	Inherit *bool   `json:"inherit,omitzero"`
	// Open lets a folder that moves have the permissions of its new place instead of those of the old one. It is for
	// moderators, and goes with Path.
	Open    bool  `json:"open,omitzero"`
	Deleted *bool `json:"deleted,omitzero"` // true deletes the folder, false restores it
}

// ChangedFolders is the result of a ChangeFoldersRequest.
type ChangedFolders struct {
	// those that the request creates, updates or deletes, in its order, each once, as they are after it
	Folders []Folder `json:"folders"`
	// Purged is how much was removed for good. Folders includes those below the named ones. Assets excludes those that
	// are also in other folders: they stay there.
	Purged struct {
		Folders int64 `json:"folders"`
		Assets  int64 `json:"assets"`
	} `json:"purged"`
}

// ChangeFolders creates, updates and deletes folders, all or nothing, and then purges deleted ones.
//
// Deleting a folder hides it and all folders below it. It can be restored; its assets are not deleted. Purging a
// deleted folder removes it for good, with the folders below it and the assets that are in no other folder. Only
// moderators may purge. The files of the store then contain nothing of these assets. A purge takes many short updates
// after the rest of the request. If it is interrupted, or returns ErrBusy because a reader keeps copies of what was
// removed, the same purge can be requested again.
//
// It returns
//
//   - ErrNotFound if the caller does not see a folder or a parent, or if it is deleted and the
//     request does not restore it;
//   - ErrForbidden if the caller sees a folder and lacks the right for the change: edit on the
//     parent of a new folder and on the new parent of a moved one, manage on a folder to update or
//     delete, and manage on the parent of a new folder that has permissions. At the top level, only
//     moderators create folders and move folders there;
//   - ErrInvalid if a field is malformed, the request has more than Limits.Items, the library would
//     have more than Limits.Folders, a folder would be moved below itself, restored while a folder
//     above it is deleted, nested deeper than Limits.Depth (and deeper than it was) or given more than
//     Limits.Permissions, or if the response would be longer than Limits.ResponseBytes;
//   - ErrTooLarge if the library would have more than Limits.AllPermissions.
func (s *Session) ChangeFolders(ctx context.Context, lib Library, in ChangeFoldersRequest) (ChangedFolders, error) {
	if err := fill(ctx, s, lib, &in, in.Fill, nil); err != nil {
		return ChangedFolders{}, err
	}
	out, err := update(ctx, s, lib, in.size(s.service.limits), func(req *request) (out ChangedFolders, err error) {
		req.cloneTree()
		changed, err := req.changeFolders(in)
		if err != nil {
			return out, err
		}
		if _, err := req.foldersToPurge(in.Purge); err != nil {
			return out, err
		}
		changed = unique(changed)
		if out.Folders, err = req.changedFolders(changed); err != nil {
			return out, err
		}
		return out, req.storeFolders(changed)
	})
	if err == nil && len(in.Purge) > 0 {
		out.Purged.Folders, out.Purged.Assets, err = s.purge(ctx, lib, in.Purge)
	}
	if err != nil {
		return ChangedFolders{}, err
	}
	return out, nil
}

// size returns how much the request sends.
func (in ChangeFoldersRequest) size(lim Limits) size {
	permissions := 0
	for _, f := range in.Create {
		permissions += len(f.Permissions)
	}
	return size{lists: []listSize{{"/create", len(in.Create)}, {"/update", len(in.Update)}, {"/delete", len(in.Delete)},
		{"/remove", len(in.Remove)}, {"/purge", len(in.Purge)}},
		limit: lim.Items, more: permissions}
}

// changedFolders returns the folders as the response to a change has them: with their permissions,
// without their children. It returns ErrInvalid if the response would be too long.
func (req *request) changedFolders(changed []*node) ([]Folder, error) {
	out, size := []Folder{}, 0
	for _, n := range changed {
		f := req.ownFolder(n)
		out, size = append(out, f), size+len(appendJSON(nil, f))
		if err := req.checkResponse(len(out), size); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// changeFolders carries out the request on the request's tree, without storing anything. It returns
// the folders that the request names, in its order, with repeats.
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

// createFolder checks the folder and the caller's rights, and stages the folder. at is the pointer
// to it in the request.
func (req *request) createFolder(at string, in NewFolder) (*node, error) {
	if err := checkName(at+"/label", in.Label, req.limits.Name); err != nil {
		return nil, err
	}
	// checkParent asks for edit on the parent or, at the top level, for a moderator. To grant
	// permissions on the new folder also takes manage on the parent.
	parent, err := req.parentAt(at+"/path", in.Path)
	if err != nil {
		return nil, err
	}
	if err := req.checkParent(at+"/path", parent, 1, 0); err != nil {
		return nil, err
	}
	id, err := req.newID()
	if err != nil {
		return nil, err
	}
	f := folderRecord{ID: id, Label: in.Label, Inherit: in.Inherit == nil || *in.Inherit}
	if parent != nil {
		f.Parent = parent.ID
		if len(in.Permissions) > 0 && req.right(parent).level < levelManage {
			return nil, fault.At(at+"/permissions",
				fault.Forbidden("to grant permissions on a new folder needs manage on its parent"))
		}
	}
	if f.Permissions, err = req.grant(at+"/permissions", f.ID, nil, in.Permissions); err != nil {
		return nil, err
	}
	if err := req.checkPermissionCount(at+"/permissions", len(f.Permissions), 0); err != nil {
		return nil, err
	}
	if len(req.tree.nodes) >= req.limits.Folders {
		return nil, fault.Invalid(at, "the library would have more than %d folders, counting deleted ones",
			req.limits.Folders)
	}
	return req.stageFolder(f), nil
}

// updateFolder checks the change and the caller's rights, and stages the folder. at is the pointer
// to the change in the request. All checks are made on the folder as it was before the change.
func (req *request) updateFolder(at string, in FolderChange) (*node, error) {
	restore := in.Deleted != nil && !*in.Deleted
	n, err := req.folderToManage(at+"/id", in.ID, restore)
	if err != nil {
		return nil, err
	}
	if restore && !req.mayRestore(n, in.Path != nil) {
		return nil, fault.Invalid(at+"/deleted", "a folder above this one is deleted: bring that one back first")
	}
	// Each field that is given replaces that of the folder.
	f := n.folderRecord
	if in.Label != nil {
		if err := checkName(at+"/label", *in.Label, req.limits.Name); err != nil {
			return nil, err
		}
		f.Label = *in.Label
	}
	if in.Open && in.Path == nil {
		return nil, fault.Invalid(at+"/open", "goes with path: it is about a folder that moves")
	}
	if in.Inherit != nil {
		f.Inherit = *in.Inherit
	}
	if in.Path != nil {
		if f.Parent, err = req.moveTo(at+"/path", n, *in.Path); err != nil {
			return nil, err
		}
		if in.Open && !req.moderator {
			return nil, fault.At(at+"/open", fault.Forbidden("to open a folder by moving it is for moderators"))
		}
		if f.Parent != n.Parent && n.Inherit && f.Inherit && !in.Open {
			if err := req.keepClosed(at+"/path", n, &f); err != nil {
				return nil, err
			}
		}
	}
	if in.Deleted != nil {
		f.Deleted = *in.Deleted
	}
	return req.stageFolder(f), nil
}

// keepClosed gives f, a folder that moves from where n is, the permissions that n inherits, if one of the folders that
// close n does not close it in its new place.
func (req *request) keepClosed(at string, n *node, f *folderRecord) error {
	closing := n.parent.closing()
	there := req.tree.nodes[f.Parent].closing()
	if !slices.ContainsFunc(closing, func(c *node) bool { return !slices.Contains(there, c) }) {
		return nil
	}
	var inherited []Permission
	rid := resourceID(req.network, req.lib, f.ID)
	for _, c := range closing {
		for _, p := range c.Permissions {
			p.ID, p.RID = "", ""
			if checkPermission(p, at, rid, req.limits) == nil { // else it grants nothing: see checkSubject
				inherited = append(inherited, p)
			}
		}
	}
	var err error
	f.Inherit = false
	if f.Permissions, err = req.grant(at, f.ID, f.Permissions, inherited); err != nil {
		return err
	}
	return req.checkPermissionCount(at, len(f.Permissions), len(n.Permissions))
}

// closing returns the folders that close those that inherit from n: of n and the folders above it, as far as they
// inherit, the ones that have a permission or do not inherit. n may be nil, the top level.
func (n *node) closing() (list []*node) {
	for ; n != nil; n = n.parent {
		if len(n.Permissions) > 0 || !n.Inherit {
			list = append(list, n)
		}
		if !n.Inherit {
			break
		}
	}
	return list
}

// moveTo returns the id of the folder with this full path as the new parent of n, or "" for the top
// level. A path that leads to the present parent is no move and takes no right. It returns
// ErrInvalid if the path is malformed or leads to n or below it, and the errors of parentAt and
// checkParent.
func (req *request) moveTo(at string, n *node, path string) (string, error) {
	if path == "" {
		return "", fault.Invalid(at, "must not be empty: want / or /<id>/<id>")
	}
	parent, err := req.parentAt(at, path)
	if err != nil {
		return "", err
	}
	if parent == n.parent {
		return n.Parent, nil
	}
	// A folder below itself could not be reached from the top level any more.
	if parent.within(n) {
		return "", fault.Invalid(at, "a folder cannot be moved below itself")
	}
	if err := req.checkParent(at, parent, n.height(), n.depth()+n.height()-1); err != nil {
		return "", err
	}
	if parent == nil {
		return "", nil
	}
	return parent.ID, nil
}

// checkParent checks whether the caller may put a folder into parent. A nil parent is the top
// level. height is the number of levels that the folder brings along: 1 for a folder without others
// below it. before is the number of levels from the top down to the lowest folder that is put, as it
// was: 0 for a new folder.
//
// It returns ErrForbidden if the caller does not have edit on parent or, at the top level, is no
// moderator. It returns ErrInvalid if folders would be nested deeper than Limits.Depth and deeper
// than they were.
func (req *request) checkParent(at string, parent *node, height, before int) error {
	if !req.mayNest(parent) {
		if parent == nil {
			return fault.At(at, fault.Forbidden("to put a folder at the top level is for moderators"))
		}
		return fault.At(at, fault.Forbidden("to put a folder into another needs edit on that one"))
	}
	if !withinLimit(parent.depth()+height, before, req.limits.Depth) {
		return fault.Invalid(at, "folders would be nested deeper than %d levels", req.limits.Depth)
	}
	return nil
}

// deleteFolders stages the deletion of folders. It checks all of them before it deletes the first:
// one may be below another, and would be hidden by then.
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
		f := n.folderRecord
		f.Deleted = true
		req.stageFolder(f)
	}
	return found, nil
}

// cloneTree replaces the tree of the request, which it may share with other requests, by a clone
// that it may change. A request that changes folders calls it first.
func (req *request) cloneTree() { req.treeBefore, req.tree = req.tree, req.tree.clone() }

// stageFolder puts a folder into the request's tree, so that the rest of the request sees it.
// storeFolders stores it later, once, since a request may change the same folder many times.
func (req *request) stageFolder(f folderRecord) *node {
	if !req.wrote {
		req.state.Tree = newTreeNumber() // so that no request takes a cached tree for this one
		req.wrote = true
	}
	n := req.tree.put(f)
	delete(req.best, n) // its permissions may have changed
	return n
}

// storeFolders stores the folders of list as they are in the request's tree. The feed of changes
// names only those that differ from what they were before the request.
func (req *request) storeFolders(list []*node) error {
	for _, n := range list {
		if err := req.putJSON(req.folderKey(n.ID), n.folderRecord); err != nil {
			return err
		}
		if old := req.treeBefore.nodes[n.ID]; old == nil || !reflect.DeepEqual(old.folderRecord, n.folderRecord) {
			req.changes.folders = append(req.changes.folders, n.ID)
		}
	}
	return nil
}

// purge removes deleted folders in many updates, so that other writes can run in between: first the assets, then their
// remains in the index and in the files of the store, and then the folders. So an interrupted purge can be repeated. It
// returns how many folders and assets it has removed.
func (s *Session) purge(ctx context.Context, lib Library, ids []string) (folders, assets int64, err error) {
	end, err := s.service.turns.take(ctx, s.by.URN)
	if err != nil {
		return 0, 0, err
	}
	defer end()
	for more := true; more && err == nil; {
		removed := int64(0)
		err = s.updateAs(ctx, lib, storage.UpdateOptions{}, func(req *request) (err error) {
			removed, more, err = req.purgeAssets(ids)
			return err
		})
		if err == nil {
			assets += removed
		}
	}
	if err == nil {
		err = s.service.sweepGone(ctx, lib)
	}
	if err == nil {
		err = s.eraseRemoved(ctx, lib)
	}
	if err == nil {
		err = s.updateAs(ctx, lib, storage.UpdateOptions{Large: true, Erase: true}, func(req *request) (err error) {
			folders, err = req.removeFolders(ids)
			return err
		})
	}
	return folders, assets, err
}

// foldersToPurge returns the folders with these ids and all folders below them, each once, parents first. It returns
// ErrForbidden if the caller is no moderator, ErrNotFound if there is no such folder, and ErrInvalid if one is not
// deleted.
func (req *request) foldersToPurge(ids []string) (found []*node, err error) {
	for i, id := range ids {
		at := fmt.Sprintf("/purge/%d", i)
		n := req.tree.nodes[id]
		switch {
		case !req.moderator:
			return nil, fault.At(at, fault.Forbidden("to purge folders is for moderators"))
		case n == nil:
			return nil, noFolder(at)
		case n.live():
			return nil, fault.Invalid(at, "the folder is not deleted: delete it first")
		}
		n.walk(func(n *node) bool {
			found = append(found, n)
			return true
		})
	}
	return unique(found), nil
}

// purgeAssets takes a batch of assets out of the folders and removes those that are in no other folder. It returns how
// many it has removed, and whether there are more.
func (req *request) purgeAssets(ids []string) (removed int64, more bool, err error) {
	folders, err := req.foldersToPurge(ids)
	if err != nil {
		return 0, false, err
	}
	var terms []string
	purged := map[string]bool{}
	for _, n := range folders {
		terms = append(terms, term(kindFolder, n.ID))
		purged[n.ID] = true
	}
	slices.Sort(terms)
	found, err := req.index.Find(req.ctx, index.Query{All: [][]string{terms}})
	if err != nil {
		return 0, false, err
	}
	n := 0
	for r, err := range req.assetsIn(found, pageRange{limit: atOnce}) {
		if err != nil {
			return 0, false, err
		}
		n++
		rest := slices.DeleteFunc(slices.Clone(r.Folders), func(id string) bool { return purged[id] })
		if len(rest) > 0 {
			err = req.refile(r, rest)
		} else {
			removed++
			err = req.remove(r)
		}
		if err != nil {
			return 0, false, err
		}
	}
	return removed, n == atOnce, nil
}

// removeFolders removes the folders with these ids and those below them, and returns how many it has removed.
func (req *request) removeFolders(ids []string) (int64, error) {
	folders, err := req.foldersToPurge(ids)
	for _, n := range folders {
		if err == nil {
			err = req.delete(req.folderKey(n.ID))
		}
		req.changes.folders = append(req.changes.folders, n.ID)
	}
	req.state.Tree, req.wrote = newTreeNumber(), true
	return int64(len(folders)), err
}

// eraseRemoved removes the terms of removed assets from the index, and the remains of the assets from the files of the
// store. It folds all changes so far, in many updates.
func (s *Session) eraseRemoved(ctx context.Context, lib Library) error {
	for _, begin := range []bool{false, true} { // end the fold that is under way, then fold everything
		for more := true; more; begin = false {
			err := s.updateAs(ctx, lib, storage.UpdateOptions{Large: true}, func(req *request) (err error) {
				more, err = req.foldSome(begin)
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	return s.updateAs(ctx, lib, storage.UpdateOptions{Large: true, Erase: true}, func(req *request) error {
		if req.left {
			if _, err := req.indexBy(oldRules, nil).Drop(ctx, req.tx, 0); err != nil {
				return err
			}
		}
		_, err := req.foldSome(false)
		return err
	})
}

// foldSome continues the folds of the indices; see index.Writer.FoldSome.
func (req *request) foldSome(begin bool) (more bool, err error) {
	for _, w := range req.writers {
		some, err := w.FoldSome(req.ctx, begin)
		if err != nil {
			return false, err
		}
		more = more || some
	}
	return more, nil
}
