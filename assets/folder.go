package assets

import (
	"context"

	"golang.org/x/text/cases"
)

// Folder is a folder as a caller sees it. Folders organize the assets of a library, and permissions on folders say who may see
// and change the assets in them.
type Folder struct {
	ID          string       `json:"id"`
	Path        string       `json:"path"` // of its parent: "/", or "/12/15" for what is in folder 15
	Label       string       `json:"label"`
	Inherit     bool         `json:"inherit"`
	Deleted     bool         `json:"deleted"`     // the folder or one above it was deleted
	Children    []string     `json:"children"`    // ids of the children that the caller sees, in order; nil if the response has none
	Permissions []Permission `json:"permissions"` // its own; nil if the caller may not manage it, or the response has none
}

// AppendJSON appends the folder as it is over HTTP.
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

// foldLabel returns the sort key of a label, which ignores case.
func foldLabel(label string) string { return cases.Fold().String(label) }

// Folder returns one folder. A folder that is deleted, or below a deleted one, is for callers who may manage it. It returns
// ErrNotFound if the caller does not see the folder.
func (s *Service) Folder(ctx context.Context, by Caller, lib Library, id string) (Folder, error) {
	var out Folder
	err := s.view(ctx, by, lib, func(req *request) error {
		n, err := req.folderToRead("", id)
		if err != nil {
			return err
		}
		out = req.fullFolder(n)
		return nil
	})
	return out, err
}

// folder returns the folder without children and permissions, as assets have it.
func (n *node) folder() Folder {
	return Folder{ID: n.ID, Path: n.path(), Label: n.Label, Inherit: n.Inherit, Deleted: !n.live()}
}

// ownFolder returns the folder with its permissions, if the caller may manage it.
func (req *request) ownFolder(n *node) Folder {
	f := n.folder()
	if req.right(n).level >= levelManage {
		f.Permissions = n.Clone().Permissions
		if f.Permissions == nil {
			f.Permissions = []Permission{}
		}
	}
	return f
}

// fullFolder returns the folder with its permissions and with the children that the caller sees.
func (req *request) fullFolder(n *node) Folder {
	f := req.ownFolder(n)
	f.Children = []string{}
	for _, c := range n.children {
		if req.sees(c) {
			f.Children = append(f.Children, c.ID)
		}
	}
	return f
}
