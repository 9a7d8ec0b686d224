package assets

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"

	"github.com/vitrine-go/vitrine/internal/lru"
)

// folderRecord is a stored folder. It has the id of its parent instead of its path, so moving a folder changes one
// record. A deleted folder stays until it is purged, so that it can be restored.
type folderRecord struct {
	ID      string `json:"id"`               // unique in the library
	Parent  string `json:"parent,omitzero"`  // id of the folder that it is in; "" = top level
	Label   string `json:"label"`            // any text without control characters; not unique
	Inherit bool   `json:"inherit,omitzero"` // the permissions of the parent apply here too
	// the folder itself was deleted; folders below it are hidden with it and keep their own mark
	Deleted bool `json:"deleted,omitzero"`
	// those of the folder itself, in the order in which they were granted
	Permissions []Permission `json:"permissions,omitzero"`
}

// clone returns a copy that shares nothing with f.
func (f folderRecord) clone() folderRecord {
	f.Permissions = slices.Clone(f.Permissions)
	for i, p := range f.Permissions {
		f.Permissions[i] = p.clone()
	}
	return f
}

// tree has all folders of a library as of one snapshot, including deleted ones, each linked with its parent and its
// children. The store keeps folders as single records with the id of their parent. The rules about permissions, paths
// and deletion depend on the folders above and below, so every request works on the whole tree in memory.
//
// Requests share trees through a cache. A tree does not change, except in the request that has cloned it.
type tree struct {
	nodes       map[string]*node // by id
	top         []*node          // the folders at the top level
	deleted     int              // the number of folders that were deleted themselves
	permissions int              // the number of permissions of all folders
}

// node is a folder in a tree. The children of a node, and the top level, are sorted by compareNodes
// in a tree that was read. In a clone they are in no order.
type node struct {
	folderRecord
	folded   string // the label
	order    string // what folders are sorted by; see labelOrder
	parent   *node  // nil = top level
	children []*node
}

// compareNodes is the order of folders: by label, then by id.
func compareNodes(a, b *node) int {
	return cmp.Or(strings.Compare(a.order, b.order), strings.Compare(a.ID, b.ID))
}

// labels has what labelOrder works with, for one goroutine each.
var labels = sync.Pool{New: func() any {
	return &labelKeys{Collator: collate.New(language.Und, collate.IgnoreCase, collate.Numeric)}
}}

type labelKeys struct {
	*collate.Collator
	buffer collate.Buffer
}

// labelOrder returns a text that sorts as labels do: by letters, whatever their case, and numbers by value.
func labelOrder(label string) string {
	keys := labels.Get().(*labelKeys)
	defer labels.Put(keys)
	keys.buffer.Reset()
	return string(keys.KeyFromString(&keys.buffer, label))
}

// newNode returns the node of a folder, which is not linked.
func newNode(f folderRecord) *node {
	return &node{folderRecord: f, folded: fold(f.Label), order: labelOrder(f.Label)}
}

// newTree links folders to a tree. It returns an error if the parent of a folder does not exist or
// a folder is below itself. Every walk from a node upwards therefore ends at the top level.
func newTree(folders iter.Seq2[folderRecord, error]) (*tree, error) {
	t := &tree{nodes: map[string]*node{}}
	for f, err := range folders {
		if err != nil {
			return nil, err
		}
		t.nodes[f.ID] = newNode(f)
		t.permissions += len(f.Permissions)
		if f.Deleted {
			t.deleted++
		}
	}
	// Folders come in the order of their ids, so a parent may come after its child. They are linked
	// when all are there.
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
	if err := t.checkCycles(); err != nil {
		return nil, err
	}
	return t, nil
}

// checkCycles returns an error that names a folder if that is below itself. Such a folder, and each
// one below it, cannot be reached from the top level.
func (t *tree) checkCycles() error {
	missing := maps.Clone(t.nodes)
	for n := range t.all {
		delete(missing, n.ID)
	}
	if len(missing) == 0 {
		return nil
	}
	// The path up from any of them comes to a circle and stays there.
	at := missing[slices.Min(slices.Collect(maps.Keys(missing)))]
	for range missing {
		at = at.parent
	}
	return fmt.Errorf("stored folder %q: its parents go round in a circle", at.ID)
}

// clone returns a copy of the tree that can be changed without changing t. The nodes are new. They
// share the permissions, which a change replaces as a whole.
func (t *tree) clone() *tree {
	c := &tree{nodes: make(map[string]*node, len(t.nodes)), deleted: t.deleted, permissions: t.permissions}
	for id, n := range t.nodes {
		c.nodes[id] = &node{folderRecord: n.folderRecord, folded: n.folded, order: n.order}
	}
	for _, n := range c.nodes {
		c.attach(n)
	}
	return c
}

// siblings returns the list that n is in: the children of its parent, or the top level.
func (t *tree) siblings(n *node) *[]*node {
	if n.parent == nil {
		return &t.top
	}
	return &n.parent.children
}

// attach links n with its parent, which must be in the tree, as the last of its children.
func (t *tree) attach(n *node) {
	n.parent = nil
	if n.Parent != "" {
		n.parent = t.nodes[n.Parent]
	}
	list := t.siblings(n)
	*list = append(*list, n)
}

// put adds the folder f, or replaces the folder with its ID, and returns its node. A folder that
// gets another parent moves with all folders below it. The caller has checked that the parent
// exists and is not below f.
func (t *tree) put(f folderRecord) *node {
	n := t.nodes[f.ID]
	if n == nil {
		n = &node{folderRecord: folderRecord{ID: f.ID, Parent: f.Parent}} // the rest follows below
		t.nodes[f.ID] = n
		t.attach(n)
	}
	if n.Deleted {
		t.deleted--
	}
	if f.Deleted {
		t.deleted++
	}
	t.permissions += len(f.Permissions) - len(n.Permissions)
	// A folder that moves leaves its siblings before its record changes, and joins the new ones after.
	reparented := n.Parent != f.Parent // false for a new node, which attach has linked already
	if reparented {
		list := t.siblings(n)
		*list = slices.DeleteFunc(*list, func(o *node) bool { return o == n })
	}
	n.folderRecord, n.folded, n.order = f, fold(f.Label), labelOrder(f.Label)
	if reparented {
		t.attach(n)
	}
	return n
}

// walk yields n and all folders below it, parents before children. It returns false if yield did,
// to stop the walk.
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

// at returns the folder with this full path. The path "/" is the top level: its node is nil, and
// found is true. A path names every folder from the top level down, so a folder that was moved is
// not found by its old path.
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

// height is the number of levels from the folder down to the lowest folder below it: 1 if there is
// none.
func (n *node) height() int {
	below := 0
	for _, c := range n.children {
		below = max(below, c.height())
	}
	return 1 + below
}

// within reports whether the folder is o or anywhere below it. The top level, a nil node, is not
// within any folder.
func (n *node) within(o *node) bool {
	for ; n != nil; n = n.parent {
		if n == o {
			return true
		}
	}
	return false
}

// fullPath is the path of the folder itself, which is the path of the folders in it. That of the top level, a nil node,
// is "/".
func (n *node) fullPath() string {
	var ids []string
	for ; n != nil; n = n.parent {
		ids = append(ids, n.ID)
	}
	slices.Reverse(ids)
	return "/" + strings.Join(ids, "/")
}

// trees is a cache of folder trees. Every request needs the whole tree of its library, since permissions are inherited
// along it. Reading and linking the tree each time would cost more than most requests.
//
// The cache needs no invalidation. Every change of a folder or a permission gives State.Tree a new random number, and a
// request reads that number in its own transaction. A cached tree with the same number is therefore the tree of that
// transaction, also if another process has changed the library since, or the change was rolled back.
type trees struct {
	known *lru.Cache[Library, knownTree] // one of each library

	mu sync.Mutex
	// the numbers of the trees that are being read; a channel is closed when its tree was read
	reading map[int64]chan struct{}
}

type knownTree struct {
	number int64
	*tree
}

// maxCached is the maximum number of folders and permissions of all cached trees of a Service, about 300 bytes each. A
// tree counts as at least a 256th of that, so the cache has at most 256 trees. Tests change it.
var maxCached = 1 << 19

func newTrees() *trees {
	return &trees{known: lru.New[Library, knownTree](maxCached), reading: map[int64]chan struct{}{}}
}

// of returns the tree of a library. Requests that need the same tree at the same time read it once: the first one reads
// it, and the others wait. Callers share the tree and must not change it.
//
// Updates do not wait for each other here: updates that share a transaction run one after the other.
func (c *trees) of(r *records) (*tree, error) {
	for {
		if k, _ := c.known.Get(r.lib); k.tree != nil && k.number == r.state.Tree {
			return k.tree, nil
		}
		if r.tx != nil {
			return newTree(r.folders())
		}
		c.mu.Lock()
		other := c.reading[r.state.Tree]
		if other == nil {
			c.reading[r.state.Tree] = make(chan struct{})
		}
		c.mu.Unlock()
		if other == nil {
			return c.read(r)
		}
		select {
		case <-other: // the other request may have failed, for example because its client has gone
		case <-r.ctx.Done():
			return nil, r.ctx.Err()
		}
	}
}

// read reads a tree into the cache.
func (c *trees) read(r *records) (*tree, error) {
	defer func() { // also if reading panics
		c.mu.Lock()
		defer c.mu.Unlock()
		close(c.reading[r.state.Tree])
		delete(c.reading, r.state.Tree)
	}()
	t, err := newTree(r.folders())
	if err == nil {
		c.known.Put(r.lib, knownTree{r.state.Tree, t}, max(len(t.nodes)+t.permissions, maxCached/256))
	}
	return t, err
}
