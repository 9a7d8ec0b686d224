package assets

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
)

// tree holds all folders of a library as of one snapshot, each linked with its parent and its children. The rules about
// folders walk up and down it. A tree is shared by requests and is not changed; a request that changes folders clones it.
type tree struct {
	nodes   map[string]*node
	top     []*node
	deleted int // the number of folders with the mark Deleted
}

// node is a folder in a tree. The children of a node, and the top level, are sorted in a tree that was read. In a clone,
// folders that the request has added or moved are at the end.
type node struct {
	FolderRecord
	order    string // the label, folded
	parent   *node  // nil = top level
	children []*node
}

// compareNodes is the order of folders: by label whatever its case, then by id.
func compareNodes(a, b *node) int {
	return cmp.Or(strings.Compare(a.order, b.order), strings.Compare(a.ID, b.ID))
}

// readTree reads the folders of the library.
func readTree(ctx context.Context, r Reader) (*tree, error) { return newTree(r.Folders(ctx)) }

// newTree links folders to a tree. It returns an error if a parent does not exist or a folder is below itself, so the way up
// from a node always ends at the top level.
func newTree(folders iter.Seq2[FolderRecord, error]) (*tree, error) {
	t := &tree{nodes: map[string]*node{}}
	for f, err := range folders {
		if err != nil {
			return nil, err
		}
		t.nodes[f.ID] = &node{FolderRecord: f, order: foldLabel(f.Label)}
		if f.Deleted {
			t.deleted++
		}
	}
	for _, n := range t.nodes {
		if n.Parent != "" && t.nodes[n.Parent] == nil {
			return nil, fmt.Errorf("stored folder %q: its parent %q does not exist", n.ID, n.Parent)
		}
		t.attach(n)
	}
	slices.SortFunc(t.top, compareNodes)
	for _, n := range t.nodes {
		slices.SortFunc(n.children, compareNodes)
	}
	return t, t.checkCycles()
}

// checkCycles returns an error if a folder cannot be reached from the top level: then it is below itself, or below a folder
// that is.
func (t *tree) checkCycles() error {
	count := 0
	for range t.all {
		count++
	}
	if count == len(t.nodes) {
		return nil
	}
	missing := maps.Clone(t.nodes)
	for n := range t.all {
		delete(missing, n.ID)
	}
	return fmt.Errorf("stored folder %q: its parents go round in a circle", slices.Min(slices.Collect(maps.Keys(missing))))
}

// clone returns a tree that can be changed without changing t.
func (t *tree) clone() *tree {
	c := &tree{nodes: make(map[string]*node, len(t.nodes)), deleted: t.deleted}
	for id, n := range t.nodes {
		c.nodes[id] = &node{FolderRecord: n.FolderRecord, order: n.order}
	}
	for _, n := range c.nodes {
		c.attach(n)
	}
	return c
}

// attach puts n below its parent.
func (t *tree) attach(n *node) {
	if n.Parent == "" {
		n.parent, t.top = nil, append(t.top, n)
		return
	}
	n.parent = t.nodes[n.Parent]
	n.parent.children = append(n.parent.children, n)
}

// put adds the folder f, or replaces the one with its ID, which it moves if f has another parent.
func (t *tree) put(f FolderRecord) *node {
	n := t.nodes[f.ID]
	if n == nil {
		n = &node{FolderRecord: f}
		t.nodes[f.ID] = n
		t.attach(n)
	}
	if n.Deleted {
		t.deleted--
	}
	if f.Deleted {
		t.deleted++
	}
	moved := n.Parent != f.Parent
	if moved {
		siblings := &t.top
		if n.parent != nil {
			siblings = &n.parent.children
		}
		*siblings = slices.DeleteFunc(*siblings, func(s *node) bool { return s == n })
	}
	n.FolderRecord, n.order = f, foldLabel(f.Label)
	if moved {
		t.attach(n)
	}
	return n
}

// walk yields n and all that is below it, parents before children.
func (n *node) walk(yield func(*node) bool) bool {
	if !yield(n) {
		return false
	}
	for _, c := range n.children {
		if !c.walk(yield) {
			return false
		}
	}
	return true
}

// all yields every folder, parents before children.
func (t *tree) all(yield func(*node) bool) {
	for _, n := range t.top {
		if !n.walk(yield) {
			return
		}
	}
}

// at returns the folder with this full path. The path "/" is the top level: its node is nil, and found is true.
func (t *tree) at(path string) (n *node, found bool) {
	if path == "/" {
		return nil, true
	}
	n = t.nodes[path[strings.LastIndexByte(path, '/')+1:]]
	return n, n != nil && n.fullPath() == path
}

// live reports whether neither the folder nor one above it is deleted.
func (n *node) live() bool {
	for ; n != nil; n = n.parent {
		if n.Deleted {
			return false
		}
	}
	return true
}

// depth is the number of levels from the top down to the folder: 1 at the top level, 0 for nil.
func (n *node) depth() int {
	depth := 0
	for ; n != nil; n = n.parent {
		depth++
	}
	return depth
}

// height is the number of levels from the folder down to the lowest folder below it: 1 if there is none.
func (n *node) height() int {
	height := 0
	for _, c := range n.children {
		height = max(height, c.height())
	}
	return height + 1
}

// within reports whether the folder is o or somewhere below it.
func (n *node) within(o *node) bool {
	for ; n != nil; n = n.parent {
		if n == o {
			return true
		}
	}
	return false
}

// path is the path of the folder's parent, as responses have it.
func (n *node) path() string {
	if n.parent == nil {
		return "/"
	}
	return n.parent.fullPath()
}

// fullPath is the path of the folder itself, which is the path of the folders in it.
func (n *node) fullPath() string {
	var ids []string
	for ; n != nil; n = n.parent {
		ids = append(ids, n.ID)
	}
	slices.Reverse(ids)
	return "/" + strings.Join(ids, "/")
}
