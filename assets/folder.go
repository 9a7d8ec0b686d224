package assets

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/paging"
)

// Folder is a folder as a caller sees it. Folders organize the assets of a library, and permissions
// on folders say who may see and change the assets in them. An asset may be in many folders, and a
// folder is in one other folder or at the top level.
//
// Folders come with more or less detail, and JSON leaves out what is nil. ListFolders and Session.Folder fill all
// fields, ChangeFolders all except Children, and the folders of an asset have neither Children nor Permissions.
//
// # Folders and permissions
//
//   - ListFolders finds folders by their place, by a part of their label, or those that were
//     deleted. A deleted folder is listed for those who may manage it. A folder that is only below
//     a deleted one is not listed, since it is restored together with that one.
//   - A folder below a deleted one counts as deleted. Those who may manage a deleted folder can
//     read it and its permissions, and update it only if the update restores it (Deleted set to
//     false).
//   - FolderTree of a search covers every folder of the tree that the caller sees, also below a
//     hidden one. A path of ListFolders may lead through hidden folders too, and FolderPage.Ancestors has their ids.
//   - The ID of a permission to create is ignored. A permission may name a user of the network by
//     id or by URN; both mean the same user. Permissions that differ only in the names of users and
//     roles are equal. A user id has no colon, so it is never taken for a URN.
type Folder struct {
	ID string `json:"id"`
	// Path is the full path of its parent: "/" for a folder at the top level, and "/12/15" for a
	// folder in folder 15, which is in folder 12.
	Path  string `json:"path"`
	Label string `json:"label"`
	// Children has the ids of the children that the caller sees, in the order of ListFolders. It is
	// nil if the response has no children.
	Children []string `json:"children,omitzero"`
	Inherit  bool     `json:"inherit"` // the permissions of the parent apply to it too
	Deleted  bool     `json:"deleted"` // the folder or one above it was deleted
	// Permissions are those of the folder itself. They are nil if the caller may not manage the
	// folder, or if the response has no permissions.
	Permissions []Permission `json:"permissions,omitzero"`
}

// Folder returns one folder, with the ids of its children. Callers who may manage a folder may read
// it also when it is deleted or below a deleted one, since they may restore it. Folder returns
// ErrNotFound if the caller may not read the folder.
func (s *Session) Folder(ctx context.Context, lib Library, id string) (Folder, error) {
	s = s.calls("Folder")
	return view(ctx, s, lib, func(req *request) (Folder, error) {
		n, err := req.folderToRead("", id)
		if err != nil {
			return Folder{}, err
		}
		return req.fullFolder(n), nil
	})
}

// folder returns the folder as an asset has it: without children and permissions, which depend on
// the caller.
func (n *node) folder() Folder {
	return Folder{ID: n.ID, Path: n.parent.fullPath(), Label: n.Label, Inherit: n.Inherit, Deleted: !n.live()}
}

// ownFolder returns the folder as the response to a change has it: with its permissions, if
// seesPermissions lets the caller read them.
func (req *request) ownFolder(n *node) Folder {
	f := n.folder()
	if req.seesPermissions(n) {
		f.Permissions = n.clone().Permissions
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

// ListFoldersRequest says which folders to list. A folder must satisfy all fields that are set. The
// zero value lists the folders at the top level. With IDs, Label or Deleted, folders at all levels
// are listed, unless Paths is given too.
type ListFoldersRequest struct {
	IDs []string // only folders with these ids; nil = any
	// Paths lists only children of the folders with these full paths: "/" is the top level, and
	// "/12/15" is folder 15 in folder 12. nil = "/", or any path with IDs, Label or Deleted.
	Paths   []string
	Label   string // only folders whose label contains this text, folded as words of assets are; "" = any
	Deleted bool   // deleted folders that the caller may manage, instead of folders that it sees
	Limit   int    // folders of a page; 0 = 50, or Limits.Page if that is lower
	After   string // id of a folder: only folders that follow it; over HTTP the parameter since
	Before  string // id of a folder: only the last ones before it; over HTTP the parameter until
}

// From returns the request for the page after a cursor, Page.Next of another page. With the cursor
// "" it returns in unchanged.
func (in ListFoldersRequest) From(cursor string) ListFoldersRequest {
	if cursor != "" {
		in.After, in.Before = cursor, ""
	}
	return in
}

// FolderPage is a page of folders.
type FolderPage struct {
	vitrine.Page[Folder]
	// Ancestors are the folders that the caller does not see and that are on the way to one that it sees: each folder
	// above one of the page and, on the first page of a list by Paths alone, each folder in these places that has a
	// folder below it that the caller sees. Paths of these folders have the same ids. They are ordered by Path and ID,
	// and end before Limits.PageBytes.
	Ancestors []Ancestor
}

// Ancestor is a folder of which a caller knows the place alone.
type Ancestor struct {
	ID   string `json:"id"`
	Path string `json:"path"` // as that of a Folder
}

// ListFolders returns a page of the folders that the caller sees, with the ids of their children.
// They are ordered by label, by letters whatever their case and numbers by value, and then by id. With in.Deleted it
// lists deleted folders instead: those that were deleted themselves and that the caller may manage.
//
// The path or the id of a folder that the caller does not see finds nothing, and is no error.
// ListFolders returns ErrInvalid if After or Before is not the id of a folder that the caller may
// read, if both are given, if Limit is out of range, or if IDs or Paths has more than Limits.IDs.
func (s *Session) ListFolders(ctx context.Context, lib Library, in ListFoldersRequest) (FolderPage, error) {
	s = s.calls("ListFolders")
	return view(ctx, s, lib, func(req *request) (FolderPage, error) { return req.folders(in) })
}

// AllFolders yields the folders of a list, beginning with the page that the request asks for. It
// yields an error once, as its last pair.
func (s *Session) AllFolders(ctx context.Context, lib Library, in ListFoldersRequest) iter.Seq2[Folder, error] {
	cursor := ""
	return paging.All(&cursor, func() (vitrine.Page[Folder], error) {
		page, err := s.ListFolders(ctx, lib, in.From(cursor))
		return page.Page, err
	})
}

// folders returns the page of the list. The folders nearest to the cursor are taken first: from
// After forwards, or from Before backwards. The page itself always has the order of the list.
func (req *request) folders(in ListFoldersRequest) (FolderPage, error) {
	limit, err := paging.Limit(in.Limit, 50, req.limits.Page)
	if err != nil {
		return FolderPage{}, err
	}
	if n := len(in.IDs); n > req.limits.IDs {
		return FolderPage{}, fault.Invalid("id", "has %d ids, at most %d are allowed", n, req.limits.IDs)
	}
	if n := len(in.Paths); n > req.limits.IDs {
		return FolderPage{}, fault.Invalid("path", "has %d paths, at most %d are allowed", n, req.limits.IDs)
	}
	found, behind, err := req.listed(in)
	if err != nil {
		return FolderPage{}, err
	}
	// With Before, the page is made from its end to its beginning, and turned round afterwards.
	backward := in.Before != ""
	if backward {
		slices.Reverse(found)
	}
	list := []Folder{}
	var shown []*node
	room := paging.NewRoom(limit, req.limits.PageBytes)
	for _, n := range found {
		f := req.fullFolder(n)
		size := len(appendJSON(nil, f))
		if !room.Takes(size) {
			behind = behind || !backward // a list that is read backwards has left out folders before the page
			break
		}
		list, shown = append(list, f), append(shown, n)
	}
	if backward {
		slices.Reverse(list)
	}
	out := FolderPage{vitrine.Page[Folder]{Items: list}, req.ancestors(in, shown)}
	if behind && len(list) > 0 {
		out.Next = list[len(list)-1].ID
	}
	return out, nil
}

// ancestors returns FolderPage.Ancestors of a page with these folders.
func (req *request) ancestors(in ListFoldersRequest, shown []*node) (list []Ancestor) {
	hidden := map[*node]bool{}
	for _, n := range shown {
		for n = n.parent; n != nil && !hidden[n]; n = n.parent {
			if _, err := req.folderToRead("", n.ID); err != nil {
				hidden[n] = true
			}
		}
	}
	if in.IDs == nil && in.Label == "" && !in.Deleted && in.After == "" && in.Before == "" {
		for _, parent := range req.parents(in) {
			children := req.tree.top
			if parent != nil {
				children = parent.children
			}
			for _, n := range children {
				// walk returns false if it has met a folder that the caller sees
				if !req.sees(n) && !n.walk(func(n *node) bool { return !req.sees(n) }) {
					hidden[n] = true
				}
			}
		}
	}
	for n := range hidden {
		list = append(list, Ancestor{n.ID, n.parent.fullPath()})
	}
	slices.SortFunc(list, func(a, b Ancestor) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.ID, b.ID))
	})
	room := paging.NewRoom(0, req.limits.PageBytes)
	for i, a := range list {
		if !room.Takes(len(appendJSON(nil, a))) {
			return list[:i]
		}
	}
	return list
}

// parents returns the folders whose children a list asks for, nil for the top level. A path that leads nowhere finds
// nothing.
func (req *request) parents(in ListFoldersRequest) (parents []*node) {
	paths := in.Paths
	if paths == nil && in.IDs == nil && in.Label == "" && !in.Deleted {
		paths = []string{"/"}
	}
	for _, path := range paths {
		if n, ok := req.tree.at(path); ok {
			parents = append(parents, n)
		}
	}
	return parents
}

// listed returns all folders of the list between its cursors, in order and without its limit.
// behind reports whether the list goes on after them: it has folders at the cursor Before or after
// it.
func (req *request) listed(in ListFoldersRequest) (found []*node, behind bool, err error) {
	if in.After != "" && in.Before != "" {
		return nil, false, fault.Invalid("since", "want one cursor at a time, since or until")
	}
	after, err := req.folderCursor("since", in.After)
	if err != nil {
		return nil, false, err
	}
	before, err := req.folderCursor("until", in.Before)
	if err != nil {
		return nil, false, err
	}
	parents, anywhere := req.parents(in), in.Paths == nil && (in.IDs != nil || in.Label != "" || in.Deleted)
	label := fold(in.Label)
	for n := range req.tree.all {
		switch {
		case !anywhere && !slices.Contains(parents, n.parent), in.IDs != nil &&
			!slices.Contains(in.IDs, n.ID), !strings.Contains(n.folded, label),
			// the rights are checked last, since that takes longest
			after != nil && compareNodes(n, after) <= 0, !req.lists(in, n):
		case before != nil && compareNodes(n, before) >= 0:
			behind = true
		default:
			found = append(found, n)
		}
	}
	slices.SortFunc(found, compareNodes)
	return found, behind, nil
}

// lists reports whether the caller's rights let a list have the folder. A list has folders that the
// caller sees. A list of deleted folders has those that were deleted themselves and that the caller
// may manage. It leaves out folders that are only below a deleted one, since they are restored
// together with that one.
func (req *request) lists(in ListFoldersRequest, n *node) bool {
	if in.Deleted {
		return n.Deleted && req.right(n).level >= levelManage
	}
	return req.sees(n)
}

// folderCursor returns the folder that a cursor of the request names, or nil if the request does
// not have this cursor. A folder that was deleted since the page before still has a position in the
// order. It returns ErrInvalid if the caller may not read the folder.
func (req *request) folderCursor(field, id string) (*node, error) {
	if id == "" {
		return nil, nil
	}
	n, err := req.folderToRead(field, id)
	if err != nil {
		return nil, fault.Invalid(field, "want the id of a folder of this library")
	}
	return n, nil
}
