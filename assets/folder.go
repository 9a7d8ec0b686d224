package assets

import (
	"slices"

	"golang.org/x/text/cases"
)

// FolderRecord is a folder as a Store keeps it. It names its parent, so a move changes one record.
type FolderRecord struct {
	ID          string
	Parent      string // id of the folder it is in; "" = top level
	Label       string
	Inherit     bool // whether the parent's permissions are its own too
	Deleted     bool // by itself; those below a deleted one are out of sight with it
	Permissions []Permission
}

// Clone returns a copy that shares nothing with f.
func (f FolderRecord) Clone() FolderRecord {
	f.Permissions = slices.Clone(f.Permissions)
	for i, p := range f.Permissions {
		f.Permissions[i] = p.clone()
	}
	return f
}

// Folder is a folder as a caller sees it (contract, section 2.8).
type Folder struct {
	ID          string
	Path        string // of its parent: "/", or "/12/15" for what is in folder 15
	Label       string
	Inherit     bool
	Deleted     bool         // by itself or with a folder above
	Children    []string     // ids of the children the caller may see, in order; nil where the answer has none
	Permissions []Permission // its own; nil where the caller may not manage it, or the answer has none
}

// AppendJSON appends the folder as it is answered.
func (f Folder) AppendJSON(b []byte) []byte {
	b = appendString(append(b, `{"id":`...), f.ID)
	b = appendString(append(b, `,"path":`...), f.Path)
	b = appendString(append(b, `,"label":`...), f.Label)
	if f.Children != nil {
		b = append(b, `,"children":[`...)
		for i, id := range f.Children {
			b = appendString(appendComma(b, i), id)
		}
		b = append(b, ']')
	}
	b = appendBool(append(b, `,"inherit":`...), f.Inherit)
	b = appendBool(append(b, `,"deleted":`...), f.Deleted)
	if f.Permissions != nil {
		b = append(b, `,"permissions":[`...)
		for i, p := range f.Permissions {
			b = p.AppendJSON(appendComma(b, i))
		}
		b = append(b, ']')
	}
	return append(b, '}')
}

// MarshalJSON gives the same bytes as AppendJSON.
func (f Folder) MarshalJSON() ([]byte, error) { return f.AppendJSON(nil), nil }

func appendBool(b []byte, v bool) []byte {
	if v {
		return append(b, "true"...)
	}
	return append(b, "false"...)
}

// foldLabel returns what labels are ordered by.
func foldLabel(label string) string { return cases.Fold().String(label) }
