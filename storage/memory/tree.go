package memory

import "math/rand/v2"

// tree is a set of items in order. It is a value that never changes: put and remove return another
// tree that shares what is the same. The shape is a treap's: a search tree whose nodes carry random
// priorities, none below its parent's, which keeps it shallow without any balancing.
type tree[T any] struct {
	root    *node[T]
	compare func(a, b T) int
}

type node[T any] struct {
	item        T
	priority    uint64
	left, right *node[T]
}

// find returns the item for which at is 0. At must say how an item stands to what is looked for,
// as the tree's own compare would.
func (t tree[T]) find(at func(item T) int) (item T, found bool) {
	for n := t.root; n != nil; {
		switch c := at(n.item); {
		case c == 0:
			return n.item, true
		case c > 0:
			n = n.left
		default:
			n = n.right
		}
	}
	return item, false
}

// ascend calls yield with the items in order, until it returns false. Items for which before is
// true are left out; they must all stand in front. A nil before leaves out none.
func (t tree[T]) ascend(before func(item T) bool, yield func(item T) bool) {
	t.root.ascend(before, yield)
}

// put returns the tree with the item added, in place of one that compares equal.
func (t tree[T]) put(item T) tree[T] {
	t.root = t.root.put(item, t.compare)
	return t
}

// remove returns the tree without the item that compares equal, if there is one.
func (t tree[T]) remove(item T) tree[T] {
	t.root = t.root.remove(item, t.compare)
	return t
}

func (n *node[T]) ascend(before func(T) bool, yield func(T) bool) bool {
	if n == nil {
		return true
	}
	if before != nil && before(n.item) {
		return n.right.ascend(before, yield)
	}
	return n.left.ascend(before, yield) && yield(n.item) && n.right.ascend(nil, yield)
}

func (n *node[T]) put(item T, compare func(a, b T) int) *node[T] {
	if n == nil {
		return &node[T]{item: item, priority: rand.Uint64()}
	}
	changed := *n
	switch c := compare(item, n.item); {
	case c == 0:
		changed.item = item
	case c < 0:
		l := n.left.put(item, compare) // a new node, ours to write to
		if changed.left = l; l.priority > changed.priority {
			changed.left, l.right = l.right, &changed
			return l
		}
	default:
		r := n.right.put(item, compare)
		if changed.right = r; r.priority > changed.priority {
			changed.right, r.left = r.left, &changed
			return r
		}
	}
	return &changed
}

func (n *node[T]) remove(item T, compare func(a, b T) int) *node[T] {
	if n == nil {
		return nil
	}
	changed := *n
	switch c := compare(item, n.item); {
	case c == 0:
		return merge(n.left, n.right)
	case c < 0:
		changed.left = n.left.remove(item, compare)
	default:
		changed.right = n.right.remove(item, compare)
	}
	return &changed
}

// merge joins two trees of which the first stands wholly before the second.
func merge[T any](a, b *node[T]) *node[T] {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	case a.priority > b.priority:
		top := *a
		top.right = merge(a.right, b)
		return &top
	default:
		top := *b
		top.left = merge(a, b.left)
		return &top
	}
}
