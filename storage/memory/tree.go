package memory

import "math/rand/v2"

// tree is an immutable sorted set. put and remove return another tree, which shares all nodes with the old one but
// those on the way to the change: about log n for n items. So a state of the store costs little beside the one before
// it, and old states stay readable.
//
// It is a treap: a search tree whose nodes have random priorities. A node's priority is never below those of its
// children, which keeps the tree shallow without rebalancing.
type tree[T any] struct {
	root    *node[T]
	compare func(a, b T) int
}

type node[T any] struct {
	item        T
	priority    uint64
	left, right *node[T]
}

// find returns the item for which at returns 0. at compares an item with the wanted one, in the order of the tree.
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

// ascend calls yield with the items in order, until it returns false. It skips the items for which before returns
// true; these must be the first ones in order. A nil before skips none.
func (t tree[T]) ascend(before func(item T) bool, yield func(item T) bool) {
	t.root.ascend(before, yield)
}

// descend is ascend in the opposite order: it skips the items for which after returns true, which must be the last ones.
func (t tree[T]) descend(after func(item T) bool, yield func(item T) bool) {
	t.root.descend(after, yield)
}

// put returns the tree with the item. It replaces an item that compares equal.
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

func (n *node[T]) descend(after func(T) bool, yield func(T) bool) bool {
	if n == nil {
		return true
	}
	if after != nil && after(n.item) {
		return n.left.descend(after, yield)
	}
	return n.right.descend(after, yield) && yield(n.item) && n.left.descend(nil, yield)
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
		l := n.left.put(item, compare) // a new node, so it may be changed
		changed.left = l
		if l.priority > changed.priority {
			changed.left, l.right = l.right, &changed
			return l
		}
	default:
		r := n.right.put(item, compare)
		changed.right = r
		if r.priority > changed.priority {
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

// merge joins two trees. All items of the first must be before those of the second.
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
