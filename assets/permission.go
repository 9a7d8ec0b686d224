package assets

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/urn"
)

// Operation is what a permission allows. View is included in Edit, and Edit in Manage.
type Operation string

// The operations on a folder, from the lowest to the highest.
const (
	View   Operation = "view"   // see the folder and what is in it
	Edit   Operation = "edit"   // change what is in it: assets and subfolders
	Manage Operation = "manage" // change the folder itself and its permissions
)

// Subject is a user or a role. The ID alone decides. The Name is for people; it is stored and returned as it was sent,
// and may be empty.
type Subject struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// Permission grants an operation on a folder, and on the folders below that inherit from it. It
// grants it to exactly one of three: a user, all callers with a role, or all callers of a group.
// The other two fields are nil.
//
// The Service sets ID, RType and RID. In a request, RType and RID may be given if they are those of
// the folder, and ID counts only when a permission is removed.
type Permission struct {
	ID        string    `json:"id"`
	RType     string    `json:"rType"` // the type of the resource: always "assetFolder"
	Operation Operation `json:"operation"`
	RID       string    `json:"rId"` // the resource: the URN of the folder
	Role      *Subject  `json:"role"`
	// URN of a group; callers with exactly this URN among their groups have the permission
	Group *string  `json:"group"`
	User  *Subject `json:"user"` // ID: the id in the user's URN, which has no colon, or the whole URN
}

// clone returns a copy that shares nothing with p.
func (p Permission) clone() Permission {
	if p.Role != nil {
		p.Role = new(*p.Role)
	}
	if p.User != nil {
		p.User = new(*p.User)
	}
	if p.Group != nil {
		p.Group = new(*p.Group)
	}
	return p
}

// level is an Operation as a number, so that operations can be compared. Each level includes those
// below it. levelNone is also the level of a member without any right.
type level int

// The levels, in ascending order.
const (
	levelNone level = iota
	levelView
	levelEdit
	levelManage
)

// levelOf returns the level of an operation, and levelNone for a text that is no operation.
func levelOf(o Operation) level {
	return level(slices.Index([]Operation{View, Edit, Manage}, o)) + levelView
}

// resourceType is Permission.RType of every permission: permissions exist for folders alone.
const resourceType = "assetFolder"

// resourceID returns Permission.RID of the permissions of a folder, a URN such as
//
//	urn:vitrine:example.test:library=main:folder=12
//
// The characters %, : and / in the ids are percent-encoded, so different folders have different
// URNs.
func resourceID(network string, lib Library, folder string) string {
	escape := strings.NewReplacer("%", "%25", ":", "%3A", "/", "%2F").Replace
	return network + ":library=" + escape(lib.ID) + ":folder=" + escape(folder)
}

// checkPermission returns ErrInvalid unless p, as a request has it, can be granted on the folder
// with the resource ID rid. at is the pointer to p. RType and RID are optional in a request, but
// must not be those of something else.
func checkPermission(p Permission, at, rid string, lim Limits) error {
	if levelOf(p.Operation) == levelNone {
		return fault.Invalid(at+"/operation", "want view, edit or manage, have %q", string(p.Operation))
	}
	if p.RType != "" && p.RType != resourceType {
		return fault.Invalid(at+"/rType", "want %q", resourceType)
	}
	if p.RID != "" && p.RID != rid {
		return fault.Invalid(at+"/rId", "want the folder's own, or none")
	}
	if err := checkSubject(p, at, lim); err != nil {
		return err
	}
	if p.User != nil && strings.Contains(p.User.ID, ":") {
		if err := urn.CheckUser(p.User.ID); err != nil {
			return fault.Invalid(at+"/user/id", "an id has no colon, and as a URN %s", err)
		}
	}
	return nil
}

// checkSubject returns ErrInvalid unless p names exactly one subject, a user, a role or a group,
// and that is valid. at is the pointer to p.
//
// Stored permissions satisfy it too, but not all of checkPermission: an earlier release allowed ids
// of users with a colon that are no URN. No caller has such an id, so they grant nothing.
func checkSubject(p Permission, at string, lim Limits) error {
	// Roles and users are subjects with an id and a name. A group is a URN alone.
	named := 0
	for _, s := range []struct {
		field string
		*Subject
	}{{"role", p.Role}, {"user", p.User}} {
		if s.Subject == nil {
			continue
		}
		named++
		if err := cmp.Or(checkName(at+"/"+s.field+"/id", s.ID, lim.Subject),
			checkText(at+"/"+s.field+"/name", s.Name, lim.Subject)); err != nil {
			return err
		}
	}
	if p.Group != nil {
		named++
		if err := checkGroup(at+"/group", *p.Group, lim.Subject); err != nil {
			return err
		}
	}
	if named != 1 {
		return fault.Invalid(at, "want exactly one of role, group and user, have %d", named)
	}
	return nil
}

// checkGroup returns ErrInvalid unless s can be the URN of a group: "urn" and at least two more
// segments, none of them empty, separated by colons and without white space. It may be a site, a
// network, or any other URN among a caller's groups, since a group is only compared for equality.
// at is the pointer to it.
func checkGroup(at, s string, limit int) error {
	if err := checkName(at, s, limit); err != nil {
		return err
	}
	segments := strings.Split(s, ":")
	ok := segments[0] == "urn" && len(segments) >= 3 && !strings.ContainsFunc(s, unicode.IsSpace)
	for _, x := range segments {
		ok = ok && x != ""
	}
	if !ok {
		return fault.Invalid(at, "%q is not a URN", s)
	}
	return nil
}

// grantKey identifies what a permission of a folder grants, and to whom. Permissions of a folder
// with equal keys grant the same, and a folder keeps only one of them.
type grantKey struct {
	operation Operation
	kind      string // of the subject: role, group or user
	subject   string // id or URN
}

// grantKeyOf returns the key of p, a valid permission. The names of users and roles are not part of
// it. A user of the network has the same key by id and by URN.
func grantKeyOf(p Permission, network string) grantKey {
	switch {
	case p.Role != nil:
		return grantKey{p.Operation, "role", p.Role.ID}
	case p.Group != nil:
		return grantKey{p.Operation, "group", *p.Group}
	}
	return grantKey{p.Operation, "user", strings.TrimPrefix(p.User.ID, network+userSegment)}
}

// ChangePermissionsRequest says which permissions of a folder to remove and which to create.
// Permissions are removed first.
type ChangePermissionsRequest struct {
	Folder string       `json:"-"` // id; over HTTP in the path
	Create []Permission `json:"create"`
	// one with an ID removes that permission; one without removes those that grant the same
	Remove []Permission                          `json:"remove"`
	Fill   func(*ChangePermissionsRequest) error `json:"-"` // as in ChangeAssetsRequest
}

// Permissions returns the permissions that a folder itself has, without those that it inherits, in
// the order in which they were granted. Who may restore a deleted folder may also read its
// permissions.
//
// It returns ErrNotFound if the caller may not read the folder (see Folder), and ErrForbidden if
// the caller may not manage it.
func (s *Session) Permissions(ctx context.Context, lib Library, folder string) ([]Permission, error) {
	s = s.calls("Permissions")
	return view(ctx, s, lib, func(req *request) ([]Permission, error) {
		n, err := req.folderToRead("", folder)
		if err != nil {
			return nil, err
		}
		if !req.seesPermissions(n) {
			return nil, fault.Forbidden("to read or change the permissions of a folder needs manage on it")
		}
		return n.clone().Permissions, nil
	})
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
func (s *Session) ChangePermissions(
	ctx context.Context, lib Library, in ChangePermissionsRequest,
) ([]Permission, error) {
	err := fill(ctx, s, lib, &in, in.Fill, func(req *request) error {
		_, err := req.folderToManage("", in.Folder, false)
		return err
	})
	if err != nil {
		return nil, err
	}
	sent := size{lists: []listSize{{"/create", len(in.Create)}, {"/remove", len(in.Remove)}},
		limit: s.service.limits.Items}
	return update(ctx, s, lib, sent, func(req *request) ([]Permission, error) {
		req.cloneTree()
		n, err := req.folderToManage("", in.Folder, false)
		if err != nil {
			return nil, err
		}
		f := n.folderRecord
		if f.Permissions, err = req.revoke(f, in.Remove); err != nil {
			return nil, err
		}
		if f.Permissions, err = req.grant("/create", f.ID, f.Permissions, in.Create); err != nil {
			return nil, err
		}
		if err := req.checkPermissionCount("/create", len(f.Permissions), len(n.Permissions)); err != nil {
			return nil, err
		}
		if len(f.Permissions) == 0 && len(n.Permissions) > 0 {
			f.Inherit = false // if no folder above it has a permission, every member could see this one
		}
		return f.clone().Permissions, req.storeFolders([]*node{req.stageFolder(f)})
	})
}

// revoke returns the folder's permissions without those of list, in their order. It returns
// ErrInvalid if a permission that is given without its ID is malformed.
func (req *request) revoke(f folderRecord, list []Permission) ([]Permission, error) {
	ids, keys := map[string]bool{}, map[grantKey]bool{}
	for i, p := range list {
		if p.ID != "" {
			ids[p.ID] = true
			continue
		}
		if err := checkPermission(p, fmt.Sprintf("/remove/%d", i), resourceID(req.network, req.lib, f.ID),
			req.limits); err != nil {
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
// The caller must have manage on the folder, or on the parent of a new one. Since manage includes all operations,
// nobody can grant more than they have.
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
			p = p.clone()
			id, err := req.newID()
			if err != nil {
				return nil, err
			}
			p.ID, p.RType, p.RID = id, resourceType, rid // never as the request has them
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
		return fault.Invalid(at,
			"the folder would have %d permissions, at most %d are allowed", n, req.limits.Permissions)
	}
	if all := req.tree.permissions; !withinLimit(all-before+n, all, req.limits.AllPermissions) {
		return fault.At(at, fault.TooLarge(
			"the folders of the library would have %d permissions, at most %d are allowed: grant them on a folder "+
				"above, or to a role or a group",
			all-before+n, req.limits.AllPermissions))
	}
	return nil
}
