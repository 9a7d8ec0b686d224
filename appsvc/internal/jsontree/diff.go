package jsontree

import (
	"bytes"
	"strconv"

	"github.com/vitrine-go/vitrine/internal/jsonpointer"
)

// Differ finds the operations that turn values into others. Objects are compared member by member. Of two arrays, the
// items that both have at their beginnings and at their ends are left out, and the others are compared in pairs.
// Everything else is replaced whole. The operations are the same for the same values.
type Differ struct {
	// steps that are left, each about two nanoseconds; below zero, values that were not compared yet are replaced whole
	Steps  int
	Widest int // the members or items of the largest object or array that was parsed
	held   int // the members and items that are in memory
	most   int
	ops    []Op
}

const (
	stepsPerItem = 64      // of finding an item, which takes 32 to 56 bytes of memory
	mostHeld     = 1 << 21 // items in memory; values with more are replaced whole
)

// Values returns the operations that turn a into b, at most most of them. path is the pointer of the value.
func (d *Differ) Values(path string, a, b Node, most int) []Op {
	d.most, d.ops = most, nil
	d.value(path, &a, &b)
	return d.ops
}

// spend subtracts steps, and reports whether so many were left.
func (d *Differ) spend(steps int) bool {
	d.Steps -= steps
	return d.Steps >= 0
}

// parse parses a value, which release forgets again. ok is false if there are not enough steps or items left.
func (d *Differ) parse(n *Node) (*list, bool) {
	if !d.spend(len(n.text)) {
		return nil, false
	}
	l, ok := n.parseUpTo(min(d.Steps/stepsPerItem, mostHeld-d.held))
	if !ok {
		if d.Steps/stepsPerItem < mostHeld-d.held {
			d.Steps = -1
		}
		return nil, false
	}
	d.held += len(l.items)
	d.Widest = max(d.Widest, len(l.items))
	return l, d.spend(stepsPerItem * len(l.items))
}

// release forgets the members or items of a value.
func (d *Differ) release(n *Node) {
	if n.list != nil {
		d.held -= len(n.list.items)
		n.list = nil
	}
}

// value adds the operations that turn a into b. If their parts cannot be compared, or if that takes more than most
// operations, it adds one replace instead.
func (d *Differ) value(path string, a, b *Node) {
	if bytes.Equal(a.text, b.text) {
		return
	}
	begin := len(d.ops)
	done := false
	if kind := a.Kind(); kind == b.Kind() {
		if kind != '{' && kind != '[' {
			done = Equal(a, b, SameText)
		} else if x, ok := d.parse(a); ok {
			if y, ok := d.parse(b); ok {
				done = true
				if kind == '{' {
					d.object(path, x, y)
				} else {
					d.array(path, x.items, y.items)
				}
			}
		}
	}
	d.release(a)
	d.release(b)
	if !done || len(d.ops)-begin > max(d.most, 1) {
		d.ops = append(d.ops[:begin], Op{Op: "replace", Path: path, Value: b.text})
	}
}

// object adds the operations for the members. It stops when there are more than most.
func (d *Differ) object(path string, was, is *list) {
	begin := len(d.ops)
	after, before := is.finder(was), was.finder(is)
	for i := range was.items {
		if len(d.ops)-begin > d.most {
			return
		}
		now := after(i)
		switch {
		case now == nil:
			d.ops = append(d.ops, Op{Op: "remove", Path: path + "/" + jsonpointer.Escape(was.name(i))})
		case !bytes.Equal(was.items[i].text, now.text):
			d.value(path+"/"+jsonpointer.Escape(was.name(i)), &was.items[i], now)
		}
	}
	for i := range is.items {
		if before(i) == nil {
			d.ops = append(d.ops,
				Op{Op: "add", Path: path + "/" + jsonpointer.Escape(is.name(i)), Value: is.items[i].text})
		}
	}
}

// array adds the operations for the items. It stops when there are more than most.
func (d *Differ) array(path string, was, is []Node) {
	begin, first := len(d.ops), 0
	for first < min(len(was), len(is)) && bytes.Equal(was[first].text, is[first].text) {
		first++
	}
	was, is = was[first:], is[first:]
	for len(was) > 0 && len(is) > 0 && bytes.Equal(was[len(was)-1].text, is[len(is)-1].text) {
		was, is = was[:len(was)-1], is[:len(is)-1]
	}
	for i := range max(len(was), len(is)) {
		at := path + "/" + strconv.Itoa(first+min(i, len(is)))
		switch {
		case len(d.ops)-begin > d.most:
			return
		case i >= len(is):
			d.ops = append(d.ops, Op{Op: "remove", Path: at})
		case i >= len(was):
			d.ops = append(d.ops, Op{Op: "add", Path: at, Value: is[i].text})
		default:
			d.value(at, &was[i], &is[i])
		}
	}
}
