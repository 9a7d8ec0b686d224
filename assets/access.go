package assets

import (
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine/internal/urn"
)

// member is a caller within one network. Its methods are the rules of who may do what in a library: every read and every
// change asks one of them.
type member struct {
	Caller
	network   string                // URN
	id        string                // of the user in this network; "" for one of another
	moderator bool                  // of the network: may do everything
	best      map[*node]*Permission // results of own for folders with many permissions
}

// memberOf returns the caller as a member of the network. It returns ErrInvalid if one of the caller's URNs is malformed,
// and ErrForbidden if the caller does not belong to the network.
func memberOf(by Caller, networkURN string) (member, error) {
	if err := urn.CheckCaller(by.URN, by.Moderates); err != nil {
		return member{}, invalid("", "%s", err)
	}
	if by.TagsOnly {
		return member{}, forbidden("", "this caller may read apps by their tags, and do nothing else")
	}
	m := member{Caller: by, network: networkURN, best: map[*node]*Permission{}}
	if id, ok := strings.CutPrefix(by.URN, networkURN+userSegment); ok {
		m.id = id
	}
	m.moderator = slices.ContainsFunc(by.Moderates, func(u string) bool { return urn.Contains(u, networkURN) })
	if !m.moderator && !urn.Contains(networkURN, by.URN) {
		return member{}, forbidden("", "the caller does not belong to the network")
	}
	return m, nil
}

// holds reports whether the permission is granted to the member. The id in a caller's URN has no colon, so
// a permission that names a user by URN never matches the id of another one.
func (m member) holds(p Permission) bool {
	switch {
	case p.User != nil:
		return p.User.ID == m.URN || p.User.ID == m.id && m.id != ""
	case p.Role != nil:
		return slices.Contains(m.Roles, p.Role.ID)
	case p.Group != nil:
		return slices.Contains(m.Groups, *p.Group)
	}
	return false
}

// fewGrants is up to how many permissions of a folder are searched each time that they are needed. Of a folder with more,
// the best permission is remembered: each of many thousand folders may be below sixty of this kind.
const fewGrants = 8

// own returns the best of the folder's own permissions that the member holds, or nil.
func (m member) own(n *node) *Permission {
	if len(n.Permissions) > fewGrants {
		if p, known := m.best[n]; known {
			return p
		}
	}
	var best *Permission
	for i := range n.Permissions {
		p := &n.Permissions[i]
		if (best == nil || levelOf(p.Operation) > levelOf(best.Operation)) && m.holds(*p) {
			best = p
		}
	}
	if len(n.Permissions) > fewGrants {
		m.best[n] = best
	}
	return best
}

// right is what a member may do with a folder, and why.
type right struct {
	level level
	grant *Permission // the best one the member holds, if any
	at    *node       // the folder that has the grant
	open  bool        // neither the folder nor one above it has a permission, and all of them inherit
}

// right returns what the member may do with a folder. It is the one rule about folders: the permissions of a folder are its
// own and, if it inherits, those of its parent, and so on upwards. The best one that the member holds counts. If all
// folders up to the top level inherit and none has a permission, every member may see the folder. A moderator of the
// network may do everything. Whether the folder is deleted makes no difference here: see sees.
func (m member) right(n *node) right {
	if m.moderator {
		return right{level: levelManage}
	}
	r := right{open: true}
	for at := n; at != nil; at = at.parent {
		r.open = r.open && len(at.Permissions) == 0
		if p := m.own(at); p != nil && levelOf(p.Operation) > r.level {
			r.level, r.grant, r.at = levelOf(p.Operation), p, at
		}
		if !at.Inherit {
			r.open = false
			break
		}
	}
	if r.open {
		r.level = levelView
	}
	return r
}

// mayNest reports whether the member may put folders into parent; nil is the top level, which is for moderators.
func (m member) mayNest(parent *node) bool {
	if parent == nil {
		return m.moderator
	}
	return m.right(parent).level >= levelEdit
}

// sees reports whether lists, searches and responses show the folder to the member: it is not deleted, nor is one above it,
// and the member may view it.
func (m member) sees(n *node) bool {
	return n.live() && m.right(n).level >= levelView
}

// seesAsset reports whether the member may read an asset that is in these folders: the asset is in no folder, or the member
// sees one of them. A moderator also reads assets that are in deleted folders alone.
func (m member) seesAsset(t *tree, folders []string) bool {
	return m.moderator || len(folders) == 0 || slices.ContainsFunc(folders, func(id string) bool {
		n := t.nodes[id]
		return n != nil && m.sees(n)
	})
}

// editsAsset reports whether the member may change or remove an asset that is in these folders: the member may edit one of
// them. An asset that is in no folder is for moderators.
func (m member) editsAsset(t *tree, folders []string) bool {
	return m.moderator || slices.ContainsFunc(folders, func(id string) bool {
		n := t.nodes[id]
		return n != nil && n.live() && m.right(n).level >= levelEdit
	})
}

// visible returns the condition that a search of the member adds: the asset is in a folder that the member sees, or in no
// folder. It returns nil for a member who sees every folder.
func (m member) visible(t *tree) []AnyOf {
	if m.moderator && t.deleted == 0 {
		return nil
	}
	seen := AnyOf{notInAFolder}
	for n := range t.all {
		if m.sees(n) {
			seen = append(seen, term(kindFolder, n.ID))
		}
	}
	if len(seen) == 1+len(t.nodes) {
		return nil
	}
	slices.Sort(seen)
	return []AnyOf{seen}
}

// seenBelow returns the terms of the folder and of those below it, as far as the member sees them.
func (m member) seenBelow(n *node) AnyOf {
	seen := AnyOf{}
	n.walk(func(n *node) bool {
		if m.sees(n) {
			seen = append(seen, term(kindFolder, n.ID))
		}
		return true
	})
	slices.Sort(seen)
	return seen
}

// folderSeen returns the folder with this id, or ErrNotFound if the caller does not see it. at is where the request names it.
func (req *request) folderSeen(at, id string) (*node, error) {
	n := req.tree.nodes[id]
	if n == nil || !req.sees(n) {
		return nil, noFolder(at)
	}
	return n, nil
}

// folderToRead returns the folder with this id: one that the caller sees, or one that is hidden by a deletion and that the caller
// may manage. Any other is ErrNotFound. at is where the request names it.
func (req *request) folderToRead(at, id string) (*node, error) {
	n := req.tree.nodes[id]
	if n == nil || !req.sees(n) && (n.live() || req.right(n).level < levelManage) {
		return nil, noFolder(at)
	}
	return n, nil
}

// parentAt returns the folder with this full path, or ErrNotFound if the caller does not see it. It returns nil for the top
// level, whose path is "/" or "".
func (req *request) parentAt(at, path string) (*node, error) {
	if path == "" {
		return nil, nil
	}
	if !strings.HasPrefix(path, "/") {
		return nil, invalid(at, "want / or /<id>/<id>, have %q", path)
	}
	n, ok := req.tree.at(path)
	if !ok || n != nil && !req.sees(n) {
		return nil, noFolder(at)
	}
	return n, nil
}

// folderToFill returns a folder whose assets the caller may change.
func (req *request) folderToFill(id string) (*node, error) {
	n, err := req.folderSeen("", id)
	if err == nil && req.right(n).level < levelEdit {
		err = forbidden("", "to change what is in the folder needs edit on it")
	}
	return n, err
}

// folderToGrantOn returns a folder whose permissions the caller may change.
func (req *request) folderToGrantOn(id string) (*node, error) {
	return req.folderToManage("", id, false)
}

// folderToManage returns a folder that the caller may change. A folder that is deleted, or below a deleted one, is ErrNotFound
// unless deleted is true.
func (req *request) folderToManage(at, id string, deleted bool) (*node, error) {
	n := req.tree.nodes[id]
	if n == nil {
		return nil, noFolder(at)
	}
	level := req.right(n).level
	switch live := n.live(); {
	case live && level == levelNone, !live && (!deleted || level < levelManage):
		return nil, noFolder(at)
	case level < levelManage:
		return nil, forbidden(at, "to change the folder needs manage on it")
	}
	return n, nil
}

// mayRestore reports whether the folder may be brought back. A folder below a deleted one would stay hidden, so that is
// refused. Moving it out of the deleted folder makes it visible, which needs manage on the deleted folder.
func (req *request) mayRestore(n *node, moved bool) bool {
	for above := n.parent; above != nil; above = above.parent {
		if above.Deleted && (!moved || req.right(above).level < levelManage) {
			return false
		}
	}
	return true
}

// checkParent returns an error unless the caller may put a folder into parent, and the folder fits: height is the number of its
// levels. A nil parent is the top level.
func (req *request) checkParent(at string, parent *node, height int) error {
	if !req.mayNest(parent) {
		if parent == nil {
			return forbidden(at, "to put a folder at the top level is for moderators")
		}
		return forbidden(at, "to put a folder into another needs edit on that one")
	}
	if parent.depth()+height > req.limits.Depth {
		return invalid(at, "folders would be nested deeper than %d levels", req.limits.Depth)
	}
	return nil
}
