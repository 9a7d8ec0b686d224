package assets

import (
	"context"

	"github.com/vitrine-go/vitrine"
	"golang.org/x/text/cases"
)

// Folder is a folder as a caller sees it. Folders organize the assets of a library, and permissions
// on folders say who may see and change the assets in them. An asset may be in many folders, and a
// folder is in one other folder or at the top level.
//
// Folders come with more or less detail, and JSON leaves out what is nil. ListFolders and Service.Folder fill all fields,
// ChangeFolders all except Children, and the folders of an asset have neither Children nor
// Permissions.
type Folder struct {
	ID string `json:"id"`
	// Path is the full path of its parent: "/" for a folder at the top level, and "/12/15" for a
	// folder in folder 15, which is in folder 12.
	Path    string `json:"path"`
	Label   string `json:"label"`
	Inherit bool   `json:"inherit"` // the permissions of the parent apply to it too
	Deleted bool   `json:"deleted"` // the folder or one above it was deleted
	// Children has the ids of the children that the caller sees, in the order of ListFolders. It is
	// nil if the response has no children.
	Children []string `json:"children,omitzero"`
	// Permissions are those of the folder itself. They are nil if the caller may not manage the
	// folder, or if the response has no permissions.
	Permissions []Permission `json:"permissions,omitzero"`
}

// foldLabel returns the label in the form by which folders are sorted and searched: without
// differences of case, as Unicode case folding removes them.
func foldLabel(label string) string { return cases.Fold().String(label) }

// Folder returns one folder, with the ids of its children. Callers who may manage a folder may read
// it also when it is deleted or below a deleted one, since they may restore it. Folder returns
// ErrNotFound if the caller may not read the folder.
func (s *Service) Folder(ctx context.Context, by vitrine.Caller, lib Library, id string) (Folder, error) {
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

// folder returns the folder as an asset has it: without children and permissions, which depend on
// the caller.
func (n *node) folder() Folder {
	return Folder{ID: n.ID, Path: n.path(), Label: n.Label, Inherit: n.Inherit, Deleted: !n.live()}
}

// path is the path of the folder's parent, as responses have it.
func (n *node) path() string {
	if n.parent == nil {
		return "/"
	}
	return n.parent.fullPath()
}

// ownFolder returns the folder as the response to a change has it: with its permissions, if
// seesPermissions lets the caller read them.
func (req *request) ownFolder(n *node) Folder {
	f := n.folder()
	if req.seesPermissions(n) {
		f.Permissions = n.Clone().Permissions
		if f.Permissions == nil {
			f.Permissions = []Permission{}
		}
	}
	return f
}

// fullFolder returns the folder as lists have it: as ownFolder does, and with the ids of the children
// that the caller sees.
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
