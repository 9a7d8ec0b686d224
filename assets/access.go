package assets

import (
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/urn"
)

// This file has the rules of who may do what with folders and assets. They ask member.right,
// at the end of the file, what a member may do with a folder: nothing, view, edit or manage.
//
//	authorize                      does the caller belong to the network at all?
//	member.sees, folderSeen        may the caller see this folder?
//	member.seesPermissions         may the caller read the permissions of this folder?
//	member.seesAsset, visible      may the caller see this asset, and which assets may a search find?
//	member.editsAsset              may the caller change or remove this asset?
//	folderToRead                   may the caller read this folder, also after it was deleted?
//	folderToFill                   may the caller put assets into this folder and take them out?
//	folderToManage, mayRestore     may the caller change, delete or restore this folder, or change its permissions?
//	member.mayNest                 may the caller put a folder into this one?
//
// Two rules about folders are elsewhere, each in the only function that needs it: createFolder asks
// for manage on the parent of a new folder that has permissions, and request.lists decides which
// folders a list of deleted folders has. Other functions look at member.moderator for what only
// moderators may do: create a library, read its feed of changes, add an asset to no folder, take one
// out of its last folder, and ask for the rights of another user.
//
// A folder or an asset that the caller may not see gives ErrNotFound, the same error as one that
// does not exist. One that the caller sees and may not change gives ErrForbidden.

// member is a caller within one network, for the time of one request. It knows the caller's rights,
// and nothing of the library except the folders that it is asked about.
type member struct {
	vitrine.Caller
	network string // URN of the network
	// the caller's user id in this network; "" if the caller is a user of another network
	id        string
	moderator bool                  // moderates the network, and so may do everything in its libraries
	best      map[*node]*Permission // a cache of own, for folders with more than fewGrants permissions
}

// userSegment is what a user's URN has between the network's URN and the user's id.
const userSegment = ":user="

// authorize returns the caller as a member of the library's network, or the error of CheckMember. Users of the network
// belong to it, and who moderates all of it, but not who moderates one of its sites.
func (s *Session) authorize(lib Library) (member, error) {
	if err := s.by.CheckUnrestricted("assets." + s.method); err != nil {
		return member{}, err
	}
	network := s.service.NetworkURN(lib)
	m := member{Caller: s.by, network: network, best: map[*node]*Permission{}}
	if id, ok := strings.CutPrefix(s.by.URN, network+userSegment); ok {
		m.id = id
	}
	m.moderator = slices.ContainsFunc(s.by.Moderates, func(u string) bool { return urn.Contains(u, network) })
	if !m.moderator && !urn.Contains(network, s.by.URN) {
		if err := urn.CheckNetwork(lib.Network); err != nil {
			return member{}, fault.Forbidden("%s", err)
		}
		return member{}, fault.Forbidden("the caller does not belong to the network %q", network)
	}
	return m, checkLibrary(lib, network, s.service.limits.Name)
}

// mayNest reports whether the member may put folders into parent, which takes edit on it. A nil
// parent is the top level, where only moderators may put folders.
func (m member) mayNest(parent *node) bool {
	if parent == nil {
		return m.moderator
	}
	return m.right(parent).level >= levelEdit
}

// sees reports whether lists, searches and responses show the folder to the member. They show it if
// neither the folder nor one above it is deleted, and the member may view it. A moderator does not
// see deleted folders either; see folderToRead.
func (m member) sees(n *node) bool {
	return n.live() && m.right(n).level >= levelView
}

// seesPermissions reports whether the member may read the permissions of the folder: whoever may
// manage it. Lists and single folders leave them out for everybody else, and Permissions returns
// ErrForbidden.
func (m member) seesPermissions(n *node) bool { return m.right(n).level >= levelManage }

// seesAsset reports whether the member may read an asset that is in the folders with these ids: the
// asset is in no folder, or the member sees one of its folders. A moderator may also read an asset
// whose folders are all deleted. Nobody else may, so deleting a folder never makes its assets
// visible to more members.
func (m member) seesAsset(t *tree, folders []string) bool {
	return m.moderator || len(folders) == 0 || slices.ContainsFunc(folders, func(id string) bool {
		n := t.nodes[id]
		return n != nil && m.sees(n)
	})
}

// editsAsset reports whether the member may change or remove an asset that is in the folders with
// these ids: the member has edit on one of them that is not deleted. Only a moderator may change an
// asset that is in no folder.
func (m member) editsAsset(t *tree, folders []string) bool {
	return m.moderator || slices.ContainsFunc(folders, func(id string) bool {
		n := t.nodes[id]
		return n != nil && n.live() && m.right(n).level >= levelEdit
	})
}

// visible returns the condition by which a search finds only assets that the member sees: the asset
// has the term of a folder that the member sees, or the term of the assets in no folder. The result
// is one set of terms, or nil if the member sees every folder, since then every asset matches.
//
// Unlike seesAsset, it hides an asset whose folders are all deleted, even from moderators.
func (m member) visible(t *tree) [][]string {
	if m.moderator && t.deleted == 0 {
		return nil
	}
	seen := []string{notInAFolder}
	for n := range t.all {
		if m.sees(n) {
			seen = append(seen, term(kindFolder, n.ID))
		}
	}
	if len(seen) == 1+len(t.nodes) {
		return nil
	}
	slices.Sort(seen)
	return [][]string{seen}
}

// seenInTree returns the terms of the folder n and of all folders below it that the member sees. A
// folder below a hidden one counts if the member sees it.
func (m member) seenInTree(n *node) []string {
	seen := []string{}
	n.walk(func(n *node) bool {
		if m.sees(n) {
			seen = append(seen, term(kindFolder, n.ID))
		}
		return true
	})
	slices.Sort(seen)
	return seen
}

// folderSeen returns the folder with this id, for a request that names it as the place of assets or
// of a search. It returns ErrNotFound if the caller does not see the folder. at is where the
// request names it: a JSON pointer, a query parameter, or "" for the path.
func (req *request) folderSeen(at, id string) (*node, error) {
	n := req.tree.nodes[id]
	if n == nil || !req.sees(n) {
		return nil, noFolder(at)
	}
	return n, nil
}

// folderToRead returns the folder with this id, for a request that reads the folder itself or its
// permissions. Besides the folders that the caller sees, it finds deleted folders, and folders
// below deleted ones, that the caller may manage: whoever may restore a folder must be able to look
// at it. Any other folder is ErrNotFound. at is where the request names it.
func (req *request) folderToRead(at, id string) (*node, error) {
	n := req.tree.nodes[id]
	if n == nil || !req.sees(n) && (n.live() || req.right(n).level < levelManage) {
		return nil, noFolder(at)
	}
	return n, nil
}

// parentAt returns the folder with this full path, such as "/12/15", as the parent of a folder to
// create or to move. It returns nil for the top level, whose path is "/" or "". It returns
// ErrInvalid if the path does not begin with a slash, and ErrNotFound if no folder has this path or
// the caller does not see it.
func (req *request) parentAt(at, path string) (*node, error) {
	if path == "" {
		return nil, nil
	}
	if !strings.HasPrefix(path, "/") {
		return nil, fault.Invalid(at, "want / or /<id>/<id>, have %q", path)
	}
	n, ok := req.tree.at(path)
	if !ok || n != nil && !req.sees(n) {
		return nil, noFolder(at)
	}
	return n, nil
}

// folderToFill returns a folder that the caller may put assets into and take assets out of. It
// returns ErrNotFound if the caller does not see the folder, and ErrForbidden if the caller does
// not have edit on it. at is where the request names it.
func (req *request) folderToFill(at, id string) (*node, error) {
	n, err := req.folderSeen(at, id)
	if err == nil && req.right(n).level < levelEdit {
		err = fault.At(at, fault.Forbidden("to change what is in the folder needs edit on it"))
	}
	return n, err
}

// folderToManage returns a folder that the caller may change, move, delete, grant permissions on or, if deleted is
// true, restore. All of these take manage on the folder. at is where the request names it.
//
//   - A folder that is not deleted, nor below a deleted one, is ErrNotFound for callers who may not
//     view it, and ErrForbidden for callers who may view but not manage it.
//   - A folder that is deleted, or below a deleted one, is ErrNotFound, unless deleted is true and
//     the caller may manage it.
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
		return nil, fault.At(at, fault.Forbidden("to change the folder needs manage on it"))
	}
	return n, nil
}

// mayRestore reports whether a request may restore the folder. reparents is true if the same request also moves it to
// another parent.
//
// A folder below a deleted one would stay hidden, so it cannot be restored where it is. A request that also moves it
// out of the deleted folder makes it visible. That takes manage on each deleted folder above it.
func (req *request) mayRestore(n *node, reparents bool) bool {
	for above := n.parent; above != nil; above = above.parent {
		if above.Deleted && (!reparents || req.right(above).level < levelManage) {
			return false
		}
	}
	return true
}

// right is what a member may do with a folder, and why. Rules compare the level alone; Explain
// reports the rest.
type right struct {
	level level
	// grant is the permission that gives the level. It is nil if the member is a moderator, if the
	// folder is open, or if the level is levelNone.
	grant *Permission
	at    *node // the folder that has the grant: the folder itself or one above it
	open  bool  // neither the folder nor one above it has a permission, and all of them inherit
}

// right returns what the member may do with a folder. All other rules about folders ask it.
//
//   - A moderator of the network may manage every folder.
//   - The permissions of a folder are its own and, if it inherits, those of its parent, and so on
//     upwards until a folder does not inherit. The highest operation among those that are
//     granted to the member counts.
//   - If all folders from this one up to the top level inherit and none of them has a permission,
//     the folder is open: every member may view it.
//
// Deletion does not matter here, since a deleted folder keeps its permissions for the day it is
// restored. See sees.
func (m member) right(n *node) right {
	if m.moderator {
		return right{level: levelManage}
	}
	// Go up from the folder, as far as permissions are inherited. open remains true only if the walk
	// reaches the top level and finds no permission on the way.
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

// fewGrants is the number of permissions of a folder up to which own searches them each time. For a
// folder with more, own caches its result for the request. Without the cache, a search by a member
// in a deep tree would compare the permissions of a folder again for each of the folders below it.
const fewGrants = 8

// own returns the permission with the highest operation among those that the folder itself has and that are granted to
// the member. It returns nil if there is none. It does not look at the folders above.
func (m member) own(n *node) *Permission {
	if len(n.Permissions) > fewGrants {
		if p, known := m.best[n]; known {
			return p
		}
	}
	var best *Permission
	for i := range n.Permissions {
		p := &n.Permissions[i]
		if (best == nil || levelOf(p.Operation) > levelOf(best.Operation)) && m.hasGrant(*p) {
			best = p
		}
	}
	if len(n.Permissions) > fewGrants {
		m.best[n] = best
	}
	return best
}

// hasGrant reports whether the permission is granted to the member: to the user, to one of the member's roles, or to
// one of the member's groups.
//
// A permission may name a user by id or by URN. The two cannot be confused: a URN has colons, and
// the id in a caller's URN has none.
func (m member) hasGrant(p Permission) bool {
	switch {
	case p.User != nil:
		return m.Owns(m.URN) && (p.User.ID == m.URN || p.User.ID == m.id && m.id != "")
	case p.Role != nil:
		return slices.Contains(m.Roles, p.Role.ID)
	case p.Group != nil:
		return slices.Contains(m.Groups, *p.Group)
	}
	return false
}

// noFolder and noAsset are the errors for a folder or an asset that does not exist, and for one that
// the caller may not see. Both have the same sentence, so that the two cannot be told apart.
func noFolder(at string) error { return fault.At(at, fault.NotFound("there is no such folder")) }

func noAsset(at string) error { return fault.At(at, fault.NotFound("there is no such asset")) }
