package assets

import "slices"

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
//     upwards until a folder does not inherit. The highest operation among those that the member
//     holds counts.
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

// own returns the permission with the highest operation among those that the folder itself has and
// the member holds. It returns nil if there is none. It does not look at the folders above.
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

// holds reports whether the permission is granted to the member: to the user itself, to one of the
// member's roles, or to one of the member's groups.
//
// A permission may name a user by id or by URN. The two cannot be confused: a URN has colons, and
// the id in a caller's URN has none.
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
