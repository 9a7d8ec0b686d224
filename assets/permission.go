package assets

import (
	"strings"
	"unicode"
)

// Operation is what a permission allows; each includes those before it.
type Operation string

// The operations on a folder, from the least to the most.
const (
	View   Operation = "view"   // see the folder and what is in it
	Edit   Operation = "edit"   // change what is in it: assets and subfolders
	Manage Operation = "manage" // change the folder itself and its permissions
)

// level orders operations; 0 is none.
type level int

const (
	levelNone level = iota
	levelView
	levelEdit
	levelManage
)

func (o Operation) level() level {
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

// Subject is a user or a role. The name is for people; the ID alone decides.
type Subject struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// Permission grants an operation on a folder, and on those below that inherit it, to a user, to the
// holders of a role, or to the members of a group: to exactly one of the three (contract, section
// 2.9). The ID, the resource type and the resource ID are filled in by the service; a resource given
// in a request must be the folder's own, and an ID given there has no effect but in a removal.
type Permission struct {
	ID        string    `json:"id"`
	RType     string    `json:"rType"`
	Operation Operation `json:"operation"`
	RID       string    `json:"rId"`
	Role      *Subject  `json:"role"`
	Group     *string   `json:"group"` // URN, one of the caller's groups
	User      *Subject  `json:"user"`  // ID: the id in the user's URN, or the URN
}

// resourceType is the type of all resources that permissions are for.
const resourceType = "assetFolder"

// resourceID returns the URN of a folder as a resource.
func resourceID(network string, lib Library, folder string) string {
	escape := strings.NewReplacer("%", "%25", ":", "%3A", "/", "%2F").Replace
	return network + ":library=" + escape(lib.ID) + ":folder=" + escape(folder)
}

// check reports what keeps p from being granted on the folder with this resource ID.
func (p Permission) check(at, rid string, lim Limits) error {
	if p.Operation.level() == levelNone {
		return invalidAt(at+"/operation", "want view, edit or manage, have %q", string(p.Operation))
	}
	if p.RType != "" && p.RType != resourceType {
		return invalidAt(at+"/rType", "want %q", resourceType)
	}
	if p.RID != "" && p.RID != rid {
		return invalidAt(at+"/rId", "want the folder's own, or none")
	}
	return p.checkSubject(at, lim)
}

func (p Permission) checkSubject(at string, lim Limits) error {
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
		return invalidAt(at, "want exactly one of role, group and user, have %d", named)
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
		return invalidAt(at, "%q is not a URN", s)
	}
	return nil
}

// grantKey is what makes two permissions of one folder equal: the same granted to the same.
type grantKey struct {
	operation     Operation
	kind, subject string
}

// key returns what p grants, and to whom. Names do not count, and a user is the same under the id
// and the URN.
func (p Permission) key(network string) grantKey {
	switch {
	case p.Role != nil:
		return grantKey{p.Operation, "role", p.Role.ID}
	case p.Group != nil:
		return grantKey{p.Operation, "group", *p.Group}
	}
	return grantKey{p.Operation, "user", strings.TrimPrefix(p.User.ID, network+userSegment)}
}

// AppendJSON appends the permission as it is answered.
func (p Permission) AppendJSON(b []byte) []byte {
	b = appendString(append(b, `{"id":`...), p.ID)
	b = appendString(append(b, `,"rType":`...), p.RType)
	b = appendString(append(b, `,"operation":`...), string(p.Operation))
	b = appendString(append(b, `,"rId":`...), p.RID)
	b = appendSubject(append(b, `,"role":`...), p.Role)
	b = append(b, `,"group":`...)
	if p.Group == nil {
		b = append(b, "null"...)
	} else {
		b = appendString(b, *p.Group)
	}
	b = appendSubject(append(b, `,"user":`...), p.User)
	return append(b, '}')
}

// MarshalJSON gives the same bytes as AppendJSON.
func (p Permission) MarshalJSON() ([]byte, error) { return p.AppendJSON(nil), nil }

func appendSubject(b []byte, s *Subject) []byte {
	if s == nil {
		return append(b, "null"...)
	}
	b = appendString(append(b, `{"id":`...), s.ID)
	b = appendString(append(b, `,"name":`...), s.Name)
	return append(b, '}')
}

// clone returns a copy that shares nothing with p.
func (p Permission) clone() Permission {
	if p.Role != nil {
		role := *p.Role
		p.Role = &role
	}
	if p.User != nil {
		user := *p.User
		p.User = &user
	}
	if p.Group != nil {
		group := *p.Group
		p.Group = &group
	}
	return p
}
