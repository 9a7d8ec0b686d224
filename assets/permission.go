package assets

import (
	"strings"
	"unicode"

	"github.com/vitrine-go/vitrine/internal/urn"
)

// level is an Operation as a number, so that operations can be compared. Each includes those below it.
type level int

const (
	levelNone level = iota
	levelView
	levelEdit
	levelManage
)

func levelOf(o Operation) level {
	switch o {
	case View:
		return levelView
	case Edit:
		return levelEdit
	case Manage:
		return levelManage
	}
	return levelNone
}

// resourceType is the type of all resources that permissions are for.
const resourceType = "assetFolder"

// resourceID returns the URN of a folder as a resource.
func resourceID(network string, lib Library, folder string) string {
	escape := strings.NewReplacer("%", "%25", ":", "%3A", "/", "%2F").Replace
	return network + ":library=" + escape(lib.ID) + ":folder=" + escape(folder)
}

// checkPermission returns ErrInvalid unless p can be granted on the folder with the resource ID rid. at is the pointer to p.
func checkPermission(p Permission, at, rid string, lim Limits) error {
	if levelOf(p.Operation) == levelNone {
		return invalid(at+"/operation", "want view, edit or manage, have %q", string(p.Operation))
	}
	if p.RType != "" && p.RType != resourceType {
		return invalid(at+"/rType", "want %q", resourceType)
	}
	if p.RID != "" && p.RID != rid {
		return invalid(at+"/rId", "want the folder's own, or none")
	}
	if err := checkSubject(p, at, lim); err != nil {
		return err
	}
	if p.User != nil && strings.Contains(p.User.ID, ":") {
		if err := urn.CheckUser(p.User.ID); err != nil {
			return invalid(at+"/user/id", "an id has no colon, and as a URN %s", err)
		}
	}
	return nil
}

// checkSubject returns ErrInvalid unless p names one valid user, role or group. Stored permissions satisfy it too. They may
// name users whose ids have a colon, which an earlier release allowed; no caller has such an id.
func checkSubject(p Permission, at string, lim Limits) error {
	named := 0
	for _, s := range []struct {
		field string
		*Subject
	}{{"role", p.Role}, {"user", p.User}} {
		if s.Subject == nil {
			continue
		}
		named++
		if err := checkName(at+"/"+s.field+"/id", s.ID, lim.Subject); err != nil {
			return err
		}
		if err := checkText(at+"/"+s.field+"/name", s.Name, lim.Subject); err != nil {
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
		return invalid(at, "want exactly one of role, group and user, have %d", named)
	}
	return nil
}

// checkGroup returns ErrInvalid unless s can be the URN of a group: a site, a network, or any other URN that tokens may have
// among a caller's groups.
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
		return invalid(at, "%q is not a URN", s)
	}
	return nil
}

// grantKey identifies a permission of a folder by its operation and its subject. Permissions with equal keys are duplicates.
type grantKey struct {
	operation     Operation
	kind, subject string
}

// grantKeyOf returns the key of p. The names of subjects are not part of it, and a user has the same key by id and by URN.
func grantKeyOf(p Permission, network string) grantKey {
	switch {
	case p.Role != nil:
		return grantKey{p.Operation, "role", p.Role.ID}
	case p.Group != nil:
		return grantKey{p.Operation, "group", *p.Group}
	}
	return grantKey{p.Operation, "user", strings.TrimPrefix(p.User.ID, network+userSegment)}
}
