package assets

import (
	"strings"
	"unicode"

	"github.com/vitrine-go/vitrine/internal/urn"
)

// level orders operations; 0 is none.
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

// checkPermission reports what keeps p from being granted on the folder with this resource ID.
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

// checkSubject is the part of checkPermission that every stored permission passes. An earlier release granted to users
// whose ids have a colon, too; no caller has such an id, so nothing comes of it.
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

// checkGroup reports what keeps s from being the URN of a group: of a site, of a network, or of
// whatever else the tokens of the service put into a caller's groups.
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

// grantKey is what makes two permissions of one folder equal: the same granted to the same.
type grantKey struct {
	operation     Operation
	kind, subject string
}

// grantKeyOf returns what p grants, and to whom. Names do not count, and a user is the same under the id
// and the URN.
func grantKeyOf(p Permission, network string) grantKey {
	switch {
	case p.Role != nil:
		return grantKey{p.Operation, "role", p.Role.ID}
	case p.Group != nil:
		return grantKey{p.Operation, "group", *p.Group}
	}
	return grantKey{p.Operation, "user", strings.TrimPrefix(p.User.ID, network+userSegment)}
}
