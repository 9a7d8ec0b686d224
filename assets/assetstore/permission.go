package assetstore

import "github.com/vitrine-go/vitrine/internal/strictjson"

// Operation is what a permission allows. View is included in Edit, and Edit in Manage.
type Operation string

// The operations on a folder, from the lowest to the highest.
const (
	View   Operation = "view"   // see the folder and what is in it
	Edit   Operation = "edit"   // change what is in it: assets and subfolders
	Manage Operation = "manage" // change the folder itself and its permissions
)

// Subject is a user or a role. The Service compares the ID alone. The Name is for people; it is
// stored and returned as it was sent, and may be empty.
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
	Group     *string   `json:"group"` // URN of a group; callers with exactly this URN among their groups have the permission
	User      *Subject  `json:"user"`  // ID: the id in the user's URN, which has no colon, or the whole URN
}

// AppendJSON appends the permission as it is over HTTP: all members are there, and those of the nil
// fields are null.
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
