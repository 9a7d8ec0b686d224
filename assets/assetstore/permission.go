package assetstore

import "github.com/vitrine-go/vitrine/internal/strictjson"

// Operation is what a permission allows. Each operation includes those before it.
type Operation string

// The operations on a folder, from the least to the most.
const (
	View   Operation = "view"   // see the folder and what is in it
	Edit   Operation = "edit"   // change what is in it: assets and subfolders
	Manage Operation = "manage" // change the folder itself and its permissions
)

// Subject is a user or a role. The service compares the ID alone; the name is for people.
type Subject struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// Permission grants an operation on a folder, and on the folders below that inherit from it. It grants it to exactly one
// of three: a user, the holders of a role, or the members of a group. The service sets ID, RType and RID. In a request,
// RType and RID may be given if they are those of the folder, and ID counts only when a permission is removed.
type Permission struct {
	ID        string    `json:"id"`
	RType     string    `json:"rType"`
	Operation Operation `json:"operation"`
	RID       string    `json:"rId"`
	Role      *Subject  `json:"role"`
	Group     *string   `json:"group"` // URN, one of the caller's groups
	User      *Subject  `json:"user"`  // ID: the id in the user's URN, which has no colon, or the whole URN
}

// AppendJSON appends the permission as it is over HTTP.
func (p Permission) AppendJSON(b []byte) []byte {
	b = strictjson.AppendString(append(b, `{"id":`...), p.ID)
	b = strictjson.AppendString(append(b, `,"rType":`...), p.RType)
	b = strictjson.AppendString(append(b, `,"operation":`...), string(p.Operation))
	b = strictjson.AppendString(append(b, `,"rId":`...), p.RID)
	b = appendSubject(append(b, `,"role":`...), p.Role)
	b = append(b, `,"group":`...)
	if p.Group == nil {
		b = append(b, "null"...)
	} else {
		b = strictjson.AppendString(b, *p.Group)
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
	b = strictjson.AppendString(append(b, `{"id":`...), s.ID)
	b = strictjson.AppendString(append(b, `,"name":`...), s.Name)
	return append(b, '}')
}

// Clone returns a copy that shares nothing with p.
func (p Permission) Clone() Permission {
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
