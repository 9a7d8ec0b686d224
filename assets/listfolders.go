package assets

import (
	"context"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine/internal/memlimit"
	"github.com/vitrine-go/vitrine/internal/paging"
)

// ListFoldersRequest says which folders to list. The zero value lists those at the top level. With IDs, Label or Deleted,
// folders at any level are listed, unless Paths is given too.
type ListFoldersRequest struct {
	IDs     []string // of these ids; nil = any
	Paths   []string // with these parents: "/", "/12/15"; nil = "/", or any parent with IDs, Label or Deleted
	Label   string   // whose label contains this text, whatever its case; "" = any
	Deleted bool     // those that were deleted and that the caller may manage, in place of those that it sees
	Limit   int      // 0 = 50
	After   string   // id of a folder: those that follow it; over HTTP the parameter since
	Before  string   // id of a folder: the last ones before it; over HTTP the parameter until
}

// everywhere reports whether the request lists folders at all levels.
func (in ListFoldersRequest) everywhere() bool {
	return in.Paths == nil && (in.IDs != nil || in.Label != "" || in.Deleted)
}

// From returns the request for the page after a cursor, Page.Next of another page. With the cursor "" it returns in unchanged.
func (in ListFoldersRequest) From(cursor string) ListFoldersRequest {
	if cursor != "" {
		in.After, in.Before = cursor, ""
	}
	return in
}

// ListFolders returns a page of the folders that the caller sees, with their children. They are ordered by label, ignoring case,
// and then by id. With in.Deleted it lists the deleted folders that the caller may bring back instead.
//
// It returns ErrInvalid if After or Before is not the id of a folder that the caller may read, or if a list or a limit is too
// long.
func (s *Service) ListFolders(ctx context.Context, by Caller, lib Library, in ListFoldersRequest) (Page[Folder], error) {
	var out Page[Folder]
	err := s.view(ctx, by, lib, func(ss *request) (err error) {
		out, err = ss.folders(in)
		return err
	})
	return out, err
}

// AllFolders yields the folders of a list, beginning with the page that the request asks for. It yields an error once, as its
// last pair.
func (s *Service) AllFolders(ctx context.Context, by Caller, lib Library, in ListFoldersRequest) iter.Seq2[Folder, error] {
	return paging.All("", func(after string) ([]Folder, string, error) {
		page, err := s.ListFolders(ctx, by, lib, in.From(after))
		return page.Items, page.Next, err
	})
}

// Folder returns one folder. A folder that is deleted, or below a deleted one, is for callers who may manage it. It returns
// ErrNotFound if the caller does not see the folder.
func (s *Service) Folder(ctx context.Context, by Caller, lib Library, id string) (Folder, error) {
	var out Folder
	err := s.view(ctx, by, lib, func(ss *request) error {
		n, err := ss.folderToRead("", id)
		if err != nil {
			return err
		}
		out = ss.fullFolder(n)
		return nil
	})
	return out, err
}

func (ss *request) folders(in ListFoldersRequest) (Page[Folder], error) {
	limit, err := ss.pageLimit(in.Limit)
	if err != nil {
		return Page[Folder]{}, err
	}
	if n := len(in.IDs); n > ss.limits.IDs {
		return Page[Folder]{}, invalid("id", "has %d ids, at most %d are allowed", n, ss.limits.IDs)
	}
	if n := len(in.Paths); n > ss.limits.IDs {
		return Page[Folder]{}, invalid("path", "has %d paths, at most %d are allowed", n, ss.limits.IDs)
	}
	found, behind, err := ss.listed(in)
	if err != nil {
		return Page[Folder]{}, err
	}
	backward := in.Before != ""
	if backward {
		slices.Reverse(found)
	}
	list := []Folder{}
	bytes := 0
	for _, n := range found {
		if len(list) == limit || len(list) > 0 && bytes >= ss.limits.PageBytes {
			behind = behind || !backward
			break
		}
		f := ss.fullFolder(n)
		size := len(f.AppendJSON(nil))
		if err := memlimit.Reserve(ss.ctx, size); err != nil {
			return Page[Folder]{}, err
		}
		bytes += size
		list = append(list, f)
	}
	if backward {
		slices.Reverse(list)
	}
	out := Page[Folder]{Items: list}
	if behind && len(list) > 0 {
		out.Next = list[len(list)-1].ID
	}
	return out, nil
}

// listed returns all folders of the list in order, without its limit. behind reports whether folders at Before or after it
// were left out.
func (ss *request) listed(in ListFoldersRequest) (found []*node, behind bool, err error) {
	if in.After != "" && in.Before != "" {
		return nil, false, invalid("since", "want one cursor at a time, since or until")
	}
	after, err := ss.folderCursor("since", in.After)
	if err != nil {
		return nil, false, err
	}
	before, err := ss.folderCursor("until", in.Before)
	if err != nil {
		return nil, false, err
	}
	label := foldLabel(in.Label)
	for _, n := range ss.candidates(in) {
		if !strings.Contains(n.order, label) {
			continue
		}
		switch inPage := before == nil || compareNodes(n, before) < 0; {
		case after != nil && compareNodes(n, after) <= 0 || !ss.lists(in, n):
		case inPage:
			found = append(found, n)
		default:
			behind = true
		}
	}
	slices.SortFunc(found, compareNodes)
	return found, behind, nil
}

// lists reports whether a list may have the folder. A list has folders that the caller sees. A list of deleted folders has
// those that were deleted themselves and that the caller may manage; folders below them are brought back together with them.
func (ss *request) lists(in ListFoldersRequest, n *node) bool {
	if in.Deleted {
		return n.Deleted && ss.right(n).level >= levelManage
	}
	return ss.sees(n)
}

// candidates returns the folders with the ids and the parents of the request, each once.
func (ss *request) candidates(in ListFoldersRequest) []*node {
	switch {
	case in.everywhere() && in.IDs == nil:
		return slices.Collect(maps.Values(ss.tree.nodes))
	case in.IDs == nil && in.Paths == nil:
		return ss.tree.top
	}
	places := map[*node]bool{} // nil is the top level
	for _, path := range in.Paths {
		if n, ok := ss.tree.at(path); ok {
			places[n] = true
		}
	}
	var out []*node
	if in.IDs == nil {
		for n := range places {
			if n == nil {
				out = append(out, ss.tree.top...)
			} else {
				out = append(out, n.children...)
			}
		}
		return out
	}
	for _, id := range unique(in.IDs) {
		if n := ss.tree.nodes[id]; n != nil && (in.Paths == nil || places[n.parent]) {
			out = append(out, n)
		}
	}
	return out
}

func (ss *request) folderCursor(field, id string) (*node, error) {
	if id == "" {
		return nil, nil
	}
	n, err := ss.folderToRead(field, id) // a folder that was deleted since still has a position in the order
	if err != nil {
		return nil, invalid(field, "want the id of a folder of this library")
	}
	return n, nil
}

// folderSeen returns the folder with this id, or ErrNotFound if the caller does not see it. at is where the request names it.
func (ss *request) folderSeen(at, id string) (*node, error) {
	n := ss.tree.nodes[id]
	if n == nil || !ss.sees(n) {
		return nil, noFolder(at)
	}
	return n, nil
}

// folderToRead returns the folder with this id: one that the caller sees, or one that is hidden by a deletion and that the caller
// may manage. Any other is ErrNotFound. at is where the request names it.
func (ss *request) folderToRead(at, id string) (*node, error) {
	n := ss.tree.nodes[id]
	if n == nil || !ss.sees(n) && (n.live() || ss.right(n).level < levelManage) {
		return nil, noFolder(at)
	}
	return n, nil
}

// placeSeen returns the folder with this full path, or ErrNotFound if the caller does not see it. It returns nil for the top
// level, whose path is "/" or "".
func (ss *request) placeSeen(at, path string) (*node, error) {
	if path == "" {
		return nil, nil
	}
	if !strings.HasPrefix(path, "/") {
		return nil, invalid(at, "want / or /<id>/<id>, have %q", path)
	}
	n, ok := ss.tree.at(path)
	if !ok || n != nil && !ss.sees(n) {
		return nil, noFolder(at)
	}
	return n, nil
}

// folder returns the folder without children and permissions, as assets have it.
func (n *node) folder() Folder {
	return Folder{ID: n.ID, Path: n.path(), Label: n.Label, Inherit: n.Inherit, Deleted: !n.live()}
}

// ownFolder returns the folder with its permissions, if the caller may manage it.
func (ss *request) ownFolder(n *node) Folder {
	f := n.folder()
	if ss.right(n).level >= levelManage {
		f.Permissions = n.Clone().Permissions
		if f.Permissions == nil {
			f.Permissions = []Permission{}
		}
	}
	return f
}

// fullFolder returns the folder with its permissions and with the children that the caller sees.
func (ss *request) fullFolder(n *node) Folder {
	f := ss.ownFolder(n)
	f.Children = []string{}
	for _, c := range n.children {
		if ss.sees(c) {
			f.Children = append(f.Children, c.ID)
		}
	}
	return f
}

// changeTree replaces the shared tree by a clone, which the request may change.
func (ss *request) changeTree() { ss.before, ss.tree = ss.tree, ss.tree.clone() }

// placeFolder puts a folder into the request's tree. It is stored by storeFolders, since a request may change a folder many
// times.
func (ss *request) placeFolder(f FolderRecord) *node {
	if !ss.wrote {
		ss.state.Tree = newTreeNumber()
		ss.wrote = true
	}
	n := ss.tree.put(f)
	delete(ss.best, n)
	return n
}

// storeFolders stores folders as they are in the tree, if they have changed.
func (ss *request) storeFolders(list []*node) error {
	for _, n := range list {
		if err := ss.tx.PutFolder(ss.ctx, n.FolderRecord); err != nil {
			return err
		}
		if old := ss.before.nodes[n.ID]; old == nil || !sameFolder(old.FolderRecord, n.FolderRecord) {
			ss.changes.folders = append(ss.changes.folders, n.ID)
		}
	}
	return nil
}

// sameFolder reports whether two records of a folder are equal.
func sameFolder(a, b FolderRecord) bool {
	samePermission := func(p, o Permission) bool { return reflect.DeepEqual(p, o) }
	return a.Parent == b.Parent && a.Label == b.Label && a.Inherit == b.Inherit && a.Deleted == b.Deleted &&
		slices.EqualFunc(a.Permissions, b.Permissions, samePermission)
}
