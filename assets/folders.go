package assets

import (
	"context"
	"slices"
	"strings"
)

// ListFolders says which folders to list (A4). The zero value lists those at the top level.
type ListFolders struct {
	IDs   []string // of these ids, wherever they are; nil = any
	Paths []string // in these places: "/", "/12/15"; nil = "/", or any with IDs
	Limit int      // 0 = 50
	Since string   // id of a folder: those after it
	Until string   // id of a folder: those before it, the nearest
}

// Folders lists folders that the caller sees by label, whatever its case, and then by id (A4), with
// their children. ErrInvalid when Since or Until is no folder that the caller sees.
func (s *Service) Folders(ctx context.Context, by Caller, lib Library, in ListFolders) ([]Folder, error) {
	var out []Folder
	err := s.view(ctx, by, lib, func(ss *session) (err error) {
		out, err = ss.folders(in)
		return err
	})
	return out, err
}

// Folder returns one folder (A6); one that is deleted, or below a deleted one, to those who may
// manage it. ErrNotFound.
func (s *Service) Folder(ctx context.Context, by Caller, lib Library, id string) (Folder, error) {
	var out Folder
	err := s.view(ctx, by, lib, func(ss *session) error {
		n, err := ss.folderToRead(id)
		if err != nil {
			return err
		}
		out = ss.fullFolder(n)
		return nil
	})
	return out, err
}

func (ss *session) folders(in ListFolders) ([]Folder, error) {
	limit, err := ss.pageLimit(in.Limit)
	if err != nil {
		return nil, err
	}
	found, err := ss.matching(in)
	if err != nil {
		return nil, err
	}
	backward := in.Until != ""
	if backward {
		slices.Reverse(found)
	}
	out := []Folder{}
	bytes := 0
	for _, n := range found {
		if len(out) == limit || len(out) > 0 && bytes >= ss.limits.PageBytes {
			break
		}
		f := ss.fullFolder(n)
		bytes += len(f.AppendJSON(nil))
		out = append(out, f)
	}
	if backward {
		slices.Reverse(out)
	}
	return out, nil
}

// matching returns the folders asked for that the caller sees, in order, the limit aside.
func (ss *session) matching(in ListFolders) ([]*node, error) {
	if in.Since != "" && in.Until != "" {
		return nil, invalidAt("since", "goes not with until: one cursor at a time")
	}
	after, err := ss.folderCursor("since", in.Since)
	if err != nil {
		return nil, err
	}
	before, err := ss.folderCursor("until", in.Until)
	if err != nil {
		return nil, err
	}
	var found []*node
	for _, n := range ss.candidates(in) {
		if (after == nil || compareNodes(n, after) > 0) && (before == nil || compareNodes(n, before) < 0) && ss.sees(n) {
			found = append(found, n)
		}
	}
	slices.SortFunc(found, compareNodes)
	return found, nil
}

// candidates returns the folders of the ids and in the places asked for, each once.
func (ss *session) candidates(in ListFolders) []*node {
	if in.IDs == nil && in.Paths == nil {
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

func (ss *session) folderCursor(field, id string) (*node, error) {
	if id == "" {
		return nil, nil
	}
	n, err := ss.folderToRead(id) // one deleted meanwhile still has its place in the order
	if err != nil {
		return nil, invalidAt(field, "want the id of a folder of this library")
	}
	return n, nil
}

// folderSeen returns the folder that is named at a place of a request, if the caller sees it.
func (ss *session) folderSeen(at, id string) (*node, error) {
	n := ss.tree.nodes[id]
	if n == nil || !ss.sees(n) {
		return nil, errNoFolder(at)
	}
	return n, nil
}

// folderToRead returns a folder asked for by itself: one that the caller sees, or one out of sight
// because of a deletion that it may manage.
func (ss *session) folderToRead(id string) (*node, error) {
	n := ss.tree.nodes[id]
	if n == nil || !ss.sees(n) && (n.live() || ss.right(n).level < levelManage) {
		return nil, errNoFolder("folder")
	}
	return n, nil
}

// placeSeen returns the folder that a path in a request leads to, nil for the top level.
func (ss *session) placeSeen(at, path string) (*node, error) {
	if path == "" {
		return nil, nil
	}
	if !strings.HasPrefix(path, "/") {
		return nil, invalidAt(at, "want / or /<id>/<id>, have %q", path)
	}
	n, ok := ss.tree.at(path)
	if !ok || n != nil && !ss.sees(n) {
		return nil, errNoFolder(at)
	}
	return n, nil
}

// folder returns the folder as any answer gives it.
func (n *node) folder() Folder {
	return Folder{ID: n.ID, Path: n.path(), Label: n.Label, Inherit: n.Inherit, Deleted: !n.live()}
}

// ownFolder adds the permissions for those who may manage the folder.
func (ss *session) ownFolder(n *node) Folder {
	f := n.folder()
	if ss.right(n).level >= levelManage {
		f.Permissions = n.Clone().Permissions
		if f.Permissions == nil {
			f.Permissions = []Permission{}
		}
	}
	return f
}

// fullFolder adds the children that the caller sees.
func (ss *session) fullFolder(n *node) Folder {
	f := ss.ownFolder(n)
	f.Children = []string{}
	for _, c := range n.children {
		if ss.sees(c) {
			f.Children = append(f.Children, c.ID)
		}
	}
	return f
}

// changeTree gives the session a tree of its own, before it changes folders.
func (ss *session) changeTree() { ss.tree = ss.tree.clone() }

// placeFolder gives the folder its place in the tree. What is stored of it waits for storeFolders: a
// request may change one folder many times.
func (ss *session) placeFolder(f FolderRecord) *node {
	if !ss.wrote {
		ss.state.Tree++
		ss.wrote = true
	}
	n := ss.tree.put(f)
	delete(ss.best, n)
	return n
}

// storeFolders stores folders as they are in the tree, each of them once.
func (ss *session) storeFolders(list []*node) error {
	for _, n := range list {
		if err := ss.tx.PutFolder(ss.ctx, n.FolderRecord); err != nil {
			return err
		}
	}
	return nil
}
