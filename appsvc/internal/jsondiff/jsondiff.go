// Package jsondiff finds the JSON Patch operations (RFC 6902) that turn one JSON value into another.
//
// Objects are compared member by member, arrays along a longest common subsequence, and everything else is
// replaced whole. Values keep their text, so a number arrives as it was written. The values must be strict JSON;
// package rawjson takes them apart.
//
// A Budget bounds the work. When it is spent, what has not been compared yet is replaced whole: the operations
// are always right, and only coarser.
package jsondiff

import (
	"bytes"
	"errors"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/vitrine-go/vitrine/appsvc/internal/jsonpatch"
	"github.com/vitrine-go/vitrine/appsvc/internal/rawjson"
	"github.com/vitrine-go/vitrine/internal/jsonpointer"
)

// Op is one operation of a JSON Patch.
type Op struct {
	Kind  string // add, remove, replace, move or test
	From  string // JSON pointer of what is moved; "" in other operations
	Path  string // JSON pointer
	Value []byte // JSON text; nil for remove and move
}

// Append appends the JSON of the operation to dst.
func (op Op) Append(dst []byte) []byte {
	dst = append(append(dst, `{"op":"`...), op.Kind...)
	if op.Kind == "move" {
		dst, _ = jsontext.AppendQuote(append(dst, `","from":`...), op.From)
		dst = append(dst, `,"path":`...)
	} else {
		dst = append(dst, `","path":`...)
	}
	dst, _ = jsontext.AppendQuote(dst, op.Path)
	if op.Value != nil {
		dst = append(append(dst, `,"value":`...), op.Value...)
	}
	return append(dst, '}')
}

// Size returns the bytes of the JSON of the operations, with a comma behind each.
func Size(ops ...Op) int {
	n := 0
	var head []byte
	for _, op := range ops {
		value := len(op.Value)
		op.Value = nil
		head = op.Append(head[:0])
		n += len(head) + 1
		if value > 0 {
			n += len(`,"value":`) + value
		}
	}
	return n
}

// Budget bounds the work of a comparison, in steps. A step takes about two nanoseconds on a machine of 2020. A Budget
// that is spent stays spent, and every comparison that is under way then ends soon with a coarse result. Several
// comparisons may share one, in one goroutine.
type Budget struct{ left int }

// NewBudget returns a budget of so many steps.
func NewBudget(steps int) *Budget { return &Budget{steps} }

// The steps that the parts of the work take.
const (
	stepsPerItem   = 64  // finding an item or a member, and 24 to 40 bytes of memory
	stepsPerLookup = 128 // finding an equal one among many
	stepsPerMatch  = 16  // a pair of equal items
)

// Members returns the members of an object, and nil if the budget is spent before or the value is no object.
func (b *Budget) Members(value []byte) rawjson.Object {
	if !b.Spend(len(value)) {
		return nil
	}
	out, err := rawjson.MembersUpTo(value, b.left/stepsPerItem)
	b.took(len(out), err)
	return out
}

// Items returns the items of an array, and nil if the budget is spent before or the value is no array.
func (b *Budget) Items(value []byte) [][]byte {
	if !b.Spend(len(value)) {
		return nil
	}
	out, err := rawjson.ItemsUpTo(value, b.left/stepsPerItem)
	b.took(len(out), err)
	return out
}

// took pays for so many members or items.
func (b *Budget) took(count int, err error) {
	if errors.Is(err, rawjson.ErrTooMany) {
		b.left = -1
	}
	b.left -= stepsPerItem * count
}

// Spend takes steps from the budget. It returns false if the budget does not have them; from then on the
// budget is spent.
func (b *Budget) Spend(steps int) bool {
	b.left -= steps
	return b.left >= 0
}

// Spent reports whether more was asked for than the budget had.
func (b *Budget) Spent() bool { return b.left < 0 }

// Left returns how many steps are left.
func (b *Budget) Left() int { return max(b.left, 0) }

// Values returns the operations that turn a into b, in the order in which they must be carried out. path is the pointer
// of a. A container that would need more than most operations is replaced whole, and so is one that the budget does not
// suffice for.
func Values(path string, a, b []byte, most int, budget *Budget) []Op {
	d := differ{most: most, budget: budget}
	d.value(path, a, b)
	return d.ops
}

// differ is one comparison.
type differ struct {
	ops    []Op
	most   int
	budget *Budget
}

// value adds the operations that turn a into b. If comparing their parts is not possible, or takes more than most
// operations, those that were added are dropped for one replace.
func (d *differ) value(path string, a, b []byte) {
	if bytes.Equal(a, b) {
		return
	}
	begin := len(d.ops)
	done := false
	if len(a) > 0 && len(b) > 0 && a[0] == b[0] && d.budget.Spend(1) {
		switch a[0] {
		case '{':
			done = d.object(path, d.budget.Members(a), d.budget.Members(b))
		case '[':
			done = d.array(path, d.budget.Items(a), d.budget.Items(b))
		default:
			done = jsonpatch.Equal(a, b, jsonpatch.SameText)
		}
	}
	if !done || len(d.ops)-begin > max(d.most, 1) {
		d.ops = append(d.ops[:begin], Op{Kind: "replace", Path: path, Value: b})
	}
}

// object adds the operations that turn the members was into the members is. It returns false if the budget is spent, or
// if one of the two was no object.
func (d *differ) object(path string, was, is rawjson.Object) bool {
	if was == nil || is == nil {
		return false
	}
	// Small objects, and objects with the same names in the same order, need no index.
	before, after := byName(was, is), byName(is, was)
	if before == nil || after == nil {
		if !d.budget.Spend(stepsPerLookup * (len(was) + len(is))) {
			return false
		}
		before, after = index(was), index(is)
	}
	begin := len(d.ops)
	for _, m := range was {
		if len(d.ops)-begin > d.most {
			return true // replaced whole
		}
		at := path + "/" + jsonpointer.Escape(m.Name)
		if now := after(m.Name); now == nil {
			d.ops = append(d.ops, Op{Kind: "remove", Path: at})
		} else {
			d.value(at, m.Value, now)
		}
	}
	for _, m := range is {
		if before(m.Name) == nil {
			d.ops = append(d.ops, Op{Kind: "add", Path: path + "/" + jsonpointer.Escape(m.Name), Value: m.Value})
		}
	}
	return true
}

// byName returns a function that finds the value of a member, nil if there is none. It is asked for the names of
// other in their order. byName returns nil if that would be slow without an index.
func byName(o, other rawjson.Object) func(name string) []byte {
	if len(o) <= 8 {
		return o.Get
	}
	same := func(m, n rawjson.Member) bool { return m.Name == n.Name }
	if !slices.EqualFunc(o, other, same) {
		return nil
	}
	next := -1
	return func(string) []byte {
		next++
		return o[next].Value
	}
}

// index returns a function that finds the value of a member, nil if there is none.
func index(o rawjson.Object) func(name string) []byte {
	values := make(map[string][]byte, len(o))
	for _, m := range o {
		values[m.Name] = m.Value
	}
	return func(name string) []byte { return values[name] }
}

// array adds the operations that turn the items was into the items is. It finds the items that both have in the same
// order. Between two of these, the items that differ are compared in pairs, in order; the rest is removed or added. It
// returns false as object does.
func (d *differ) array(path string, was, is [][]byte) bool {
	if was == nil || is == nil {
		return false
	}
	common, ok := Common(was, is, d.budget)
	if !ok {
		return false
	}
	begin := len(d.ops)
	i, j := 0, 0
	for _, next := range append(common, Pair{len(was), len(is)}) {
		for i < next.A || j < next.B {
			if len(d.ops)-begin > d.most {
				return true // replaced whole
			}
			at := path + "/" + strconv.Itoa(j)
			switch {
			case j == next.B:
				d.ops = append(d.ops, Op{Kind: "remove", Path: at})
				i++
			case i == next.A:
				d.ops = append(d.ops, Op{Kind: "add", Path: at, Value: is[j]})
				j++
			default:
				d.value(at, was[i], is[j])
				i, j = i+1, j+1
			}
		}
		i, j = i+1, j+1
	}
	return true
}

// Pair is a pair of indices into two lists.
type Pair struct{ A, B int }

// Common returns the pairs of a longest common subsequence of two lists, both indices ascending. If items occur so
// often that finding the longest one takes too long, it returns a shorter one. ok is false if the budget is spent.
func Common(a, b [][]byte, budget *Budget) (pairs []Pair, ok bool) {
	// Most lists differ in a few items only: what they begin and end with in common needs no search.
	first := 0
	for first < min(len(a), len(b)) && bytes.Equal(a[first], b[first]) {
		pairs = append(pairs, Pair{first, first})
		first++
	}
	endA, endB := len(a), len(b)
	for endA > first && endB > first && bytes.Equal(a[endA-1], b[endB-1]) {
		endA, endB = endA-1, endB-1
	}
	if first < endA && first < endB {
		middle, ok := commonMiddle(a[first:endA], b[first:endB], budget)
		if !ok {
			return nil, false
		}
		for _, p := range middle {
			pairs = append(pairs, Pair{first + p.A, first + p.B})
		}
	}
	for ; endA < len(a); endA, endB = endA+1, endB+1 {
		pairs = append(pairs, Pair{endA, endB})
	}
	return pairs, true
}

// commonMiddle is Common without the items that the two lists have in common at their beginnings and ends. It uses the
// algorithm of Hunt and Szymanski: among the pairs of equal items, it finds a longest chain in which both indices
// ascend.
func commonMiddle(a, b [][]byte, budget *Budget) ([]Pair, bool) {
	if !budget.Spend(stepsPerLookup * (len(a) + len(b))) {
		return nil, false
	}
	// Equal items get the same number, so that they are compared once and not once for each pair.
	ids := map[string]int{}
	var places [][]int // of each different item in b
	for j, item := range b {
		id, known := ids[string(item)]
		if !known {
			id = len(places)
			ids[string(item)] = id
			places = append(places, nil)
		}
		places[id] = append(places[id], j)
	}
	of := make([]int, len(a)) // the index in places of each item of a, -1 = not in b
	matches := 0
	for i, item := range a {
		id, known := ids[string(item)]
		if !known {
			id = -1
		} else {
			matches += len(places[id])
		}
		of[i] = id
	}
	all := matches <= 1<<16+8*(len(a)+len(b))
	if !budget.Spend(stepsPerMatch * min(matches, len(a)+len(b)+1<<16)) {
		return nil, false
	}
	seen := make([]int, len(places))
	return chain(len(a), func(i int) []int {
		id := of[i]
		if id < 0 {
			return nil
		}
		if all {
			return places[id]
		}
		// Too many equal items: the nth in a is matched with the nth in b alone.
		n := seen[id]
		seen[id]++
		if n >= len(places[id]) {
			return nil
		}
		return places[id][n : n+1]
	}), true
}

// Increasing returns the indices of a longest increasing subsequence of list. The numbers of list differ.
func Increasing(list []int) []int {
	pairs := chain(len(list), func(i int) []int { return list[i : i+1] })
	out := make([]int, len(pairs))
	for k, p := range pairs {
		out[k] = p.A
	}
	return out
}

// chain returns a longest chain of pairs (i, j), with i below n and j one of candidates(i), in which both indices
// ascend. candidates returns its indices in ascending order.
func chain(n int, candidates func(i int) []int) []Pair {
	type node struct {
		Pair
		before int
	}
	var nodes []node
	var ends, last []int // of the best chain of each length: the index in B that it ends with, and its last node
	for i := range n {
		for _, j := range slices.Backward(candidates(i)) { // downwards, so that no two of them join one chain
			k, found := slices.BinarySearch(ends, j)
			if found {
				continue
			}
			before := -1
			if k > 0 {
				before = last[k-1]
			}
			nodes = append(nodes, node{Pair{i, j}, before})
			if k == len(ends) {
				ends, last = append(ends, j), append(last, len(nodes)-1)
			} else {
				ends[k], last[k] = j, len(nodes)-1
			}
		}
	}
	out := make([]Pair, len(ends))
	if len(ends) > 0 {
		for k, at := len(ends)-1, last[len(ends)-1]; at >= 0; k, at = k-1, nodes[at].before {
			out[k] = nodes[at].Pair
		}
	}
	return out
}
