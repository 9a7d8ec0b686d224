// Package jsontree edits and compares JSON values without decoding them. A Node is parsed one level at a time, when a
// member or an item is read. Other values are written as the text that they were read from, so numbers and strings keep
// their text, and a patch of one field of a large document costs little. The texts must be strict JSON.
//
// Patch applies JSON Patch documents (RFC 6902), and Differ computes them.
package jsontree

import (
	"bytes"
	"math"
	"strconv"
	"strings"
)

// Node is a JSON value. One goroutine uses it.
type Node struct {
	text []byte // as it was read; it is out of date when something inside has been changed
	list *list  // nil until it is parsed, and for a scalar
}

// list is the content of an object or an array.
type list struct {
	names [][]byte // of the members of an object, as JSON strings; nil for an array
	items []Node   // the values of the members, or the items
}

// New returns the value with this text, which it shares. It does not parse it.
func New(text []byte) Node { return Node{text: bytes.TrimSpace(text)} }

// Array returns the array of the values that have these texts.
func Array(texts [][]byte) Node {
	n := Node{text: []byte{'['}, list: &list{items: make([]Node, len(texts))}}
	for i, text := range texts {
		n.list.items[i] = New(text)
	}
	return n
}

// Kind returns the byte that the text begins with: '{', '[', '"', 't', 'f', 'n' or, for every number, '0'.
func (n *Node) Kind() byte {
	if len(n.text) == 0 {
		return 'n' // the text is no JSON: it was damaged
	}
	switch c := n.text[0]; c {
	case '{', '[', '"', 't', 'f', 'n':
		return c
	}
	return '0'
}

// parse returns the members or items of the value, an empty list for a scalar.
func (n *Node) parse() *list {
	l, _ := n.parseUpTo(math.MaxInt)
	return l
}

// parseUpTo is parse with a limit of members or items. ok is false if there are more than most.
func (n *Node) parseUpTo(most int) (l *list, ok bool) {
	if n.list != nil {
		return n.list, len(n.list.items) <= most
	}
	l = &list{}
	if kind := n.Kind(); kind != '{' && kind != '[' {
		return l, true
	}
	l.items = make([]Node, 0, min(8, len(n.text)/2))
	_ = each(n.text, func(name, value []byte) bool {
		if name != nil {
			l.names = append(l.names, name)
		}
		l.items = append(l.items, Node{text: value})
		return len(l.items) <= most
	})
	if len(l.items) > most {
		return nil, false
	}
	n.list = l
	return l, true
}

// Within parses the value if it has at most so many members or items, and reports whether it has.
func (n *Node) Within(most int) bool {
	_, ok := n.parseUpTo(most)
	return ok
}

// Len returns how many members or items the value has.
func (n *Node) Len() int { return len(n.parse().items) }

// At returns the value of the member, or the item, with this index. It is valid until members or items are added or
// removed.
func (n *Node) At(i int) *Node { return &n.parse().items[i] }

// Name returns the name of the member with this index.
func (n *Node) Name(i int) string { return n.parse().name(i) }

// Get returns the value of the member of this name, nil if there is none or the value is no object.
func (n *Node) Get(name string) *Node {
	l := n.parse()
	if i := l.index(name); i >= 0 {
		return &l.items[i]
	}
	return nil
}

// Add adds a member to an object that has none of this name.
func (n *Node) Add(name string, value Node) {
	l := n.parse()
	l.names, l.items = append(l.names, appendString(nil, name)), append(l.items, value)
}

// Untouched reports whether the value has this text, and nothing inside was parsed.
func (n *Node) Untouched(text []byte) bool { return n.list == nil && bytes.Equal(n.text, text) }

// Bytes returns the JSON of the value. If nothing inside was parsed, it is the text that New was given.
func (n *Node) Bytes() []byte {
	if n.list == nil {
		return n.text
	}
	return n.Append(make([]byte, 0, len(n.text)+64))
}

// Append appends the JSON of the value.
func (n *Node) Append(dst []byte) []byte {
	if n.list == nil {
		return append(dst, n.text...)
	}
	dst = append(dst, n.text[0])
	for i := range n.list.items {
		if i > 0 {
			dst = append(dst, ',')
		}
		if n.text[0] == '{' {
			dst = append(append(dst, n.list.names[i]...), ':')
		}
		dst = n.list.items[i].Append(dst)
	}
	return append(dst, n.text[0]+2) // in ASCII, '}' is '{'+2 and ']' is '['+2
}

// index returns the index of the member of this name, -1 if there is none.
func (l *list) index(name string) int {
	for i, quoted := range l.names {
		if isName(quoted, name) {
			return i
		}
	}
	return -1
}

// name returns the name of the member with this index.
func (l *list) name(i int) string {
	text, _ := Text(l.names[i])
	return text
}

// finder returns a function that finds the value of the member of l that has the same name as the member of other with
// the index i, nil if there is none. It makes an index of the names only if l has them in another order.
func (l *list) finder(other *list) func(i int) *Node {
	var byName map[string]int
	return func(i int) *Node {
		if i < len(l.names) && bytes.Equal(l.names[i], other.names[i]) {
			return &l.items[i]
		}
		if byName == nil {
			byName = make(map[string]int, len(l.names))
			for k := range l.names {
				byName[l.name(k)] = k
			}
		}
		if k, found := byName[other.name(i)]; found {
			return &l.items[k]
		}
		return nil
	}
}

// Equal reports whether two values are the same: objects with the same members in any order, arrays with the same items
// in order, and numbers for which same returns true.
func Equal(a, b *Node, same func(x, y []byte) bool) bool {
	if a.list == nil && b.list == nil && bytes.Equal(a.text, b.text) {
		return true
	}
	kind := a.Kind()
	if kind != b.Kind() {
		return false
	}
	switch kind {
	case '{', '[':
		x, y := a.parse(), b.parse()
		if len(x.items) != len(y.items) {
			return false
		}
		find := func(i int) *Node { return &y.items[i] }
		if kind == '{' {
			find = y.finder(x)
		}
		for i := range x.items {
			if other := find(i); other == nil || !Equal(&x.items[i], other, same) {
				return false
			}
		}
		return true
	case '"':
		if bytes.IndexByte(a.text, '\\') < 0 && bytes.IndexByte(b.text, '\\') < 0 {
			return false
		}
		x, _ := Text(a.text)
		y, _ := Text(b.text)
		return x == y
	case '0':
		return same(a.text, b.text)
	}
	return true // true, false or null
}

// SameText compares numbers as they are written.
func SameText(x, y []byte) bool { return bytes.Equal(x, y) }

// SameNumber compares numbers by value, however they are written: 1, 1.0 and 10e-1 are one.
func SameNumber(x, y []byte) bool { return normal(string(x)) == normal(string(y)) }

// normal returns one spelling for all spellings of a number: its sign, its digits without zeros at either end, and a
// power of ten. It takes time and memory linear in the text, however large the exponent is: 1e1000000000 is never
// written out.
func normal(text string) string {
	sign := ""
	if rest, negative := strings.CutPrefix(text, "-"); negative {
		sign, text = "-", rest
	}
	mantissa, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	trimmed := strings.TrimRight(digits, "0")
	if trimmed == "" {
		return "0"
	}
	var power int64
	if exponent != "" {
		var err error
		if power, err = strconv.ParseInt(exponent, 10, 64); err != nil || power > 1<<40 || power < -1<<40 {
			return sign + text // an absurd exponent: compare the text
		}
	}
	power += int64(len(digits) - len(trimmed) - len(fraction))
	return sign + trimmed + "e" + strconv.FormatInt(power, 10)
}
