package appsvc

import (
	"bytes"
	"slices"

	"github.com/vitrine-go/vitrine/appsvc/internal/jsondiff"
	"github.com/vitrine-go/vitrine/appsvc/internal/jsonpatch"
	"github.com/vitrine-go/vitrine/appsvc/internal/rawjson"
)

// elementDiff finds the operations that turn one list of elements, a, into another one, b. Elements with the same key are the same
// element. Elements of a version without lasting keys are paired with those of equal content, and then with those at the same index.
//
// Elements of a without a partner are removed, and elements of b without one are added. The fewest possible elements are
// moved. The operations come in this order: removals, moves, additions, and then the changes inside elements, so
// that additions and changes have the indices of b.
//
// The steps of all comparisons come from one budget. When it is spent, one operation replaces all elements.
//
// diffWithin makes an elementDiff for one comparison, and calls ops once. One goroutine uses it.
type elementDiff struct {
	a, b   []comparedElement // the two lists without the equal elements at both ends
	first  int               // how many equal elements at the beginning were left out
	whole  []keyedElement    // all elements of b
	budget *jsondiff.Budget
	most   int   // how many operations there may be
	from   []int // for each element of b its element of a, -1 = none
	to     []int // for each element of a its element of b, -1 = none
	err    error // the first error of a stored element that cannot be read
}

// keyedElement is an element of a version: its key, and the rest of its text as in draftElement.kept.
type keyedElement struct {
	key  string
	kept []byte
}

// same reports whether two elements have the same content, and may be the same element.
func (e keyedElement) same(other keyedElement) bool {
	return (e.key == other.key || !lasts(e.key) || !lasts(other.key)) && bytes.Equal(e.kept, other.kept)
}

// comparedElement is an element of one of the two versions. Most elements of two versions are equal, and their text is all
// that is looked at. The fields after keyedElement are set by elementDiff.split.
type comparedElement struct {
	keyedElement
	done     bool // the fields below are set
	manifest []byte
	config   []byte
	ref      ComponentRef
}

// elementChange is the change inside one element, in two forms: many operations that are easy to read, and few
// that are short if much has changed.
type elementChange struct {
	ops   []jsondiff.Op // one for each field that changed
	whole []jsondiff.Op // these do the same as all of ops
}

// newElementDiff returns the elementDiff of two lists of elements.
func newElementDiff(a, b []keyedElement, most int, budget *jsondiff.Budget) *elementDiff {
	d := &elementDiff{whole: b, budget: budget, most: most}
	for len(a) > 0 && len(b) > 0 && a[0].same(b[0]) {
		a, b = a[1:], b[1:]
		d.first++
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1].same(b[len(b)-1]) {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	d.a, d.to = uncompared(a)
	d.b, d.from = uncompared(b)
	return d
}

// uncompared returns the elements of a list, and for each the partner -1, which means none.
func uncompared(list []keyedElement) (elements []comparedElement, partners []int) {
	elements, partners = make([]comparedElement, len(list)), make([]int, len(list))
	for i, e := range list {
		elements[i].keyedElement, partners[i] = e, -1
	}
	return elements, partners
}

// ops returns the operations that turn a into b. It pairs the elements, removes, moves and adds whole ones, and changes what
// differs inside pairs. There are at most d.most operations, unless even the coarsest form needs more. It is called once.
func (d *elementDiff) ops() ([]jsondiff.Op, error) {
	if len(d.a) == 0 && len(d.b) == 0 {
		return nil, nil
	}
	d.pair()
	// If the budget does not suffice for the operations on whole elements, one operation replaces all elements.
	ops, ok := d.structure()
	if !ok {
		return d.coarse(), d.err
	}
	// The changes inside the elements that have a partner. If the budget is spent on the way, the rest of the changes are coarse.
	var changes []elementChange
	for j, i := range d.from {
		if i >= 0 && !bytes.Equal(d.a[i].kept, d.b[j].kept) {
			if c := d.change(i, j); len(c.ops) > 0 {
				changes = append(changes, c)
			}
		}
	}
	if d.err != nil {
		return nil, d.err
	}
	return d.fit(ops, changes)
}

// path returns the JSON pointer of the element of d.a or d.b with this index.
func (d *elementDiff) path(index int) string { return elementPath(d.first + index) }

// set makes the element of a at i and the element of b at j partners. Neither must have one.
func (d *elementDiff) set(i, j int) { d.to[i], d.from[j] = j, i }

// split sets the manifest, the config and the component of an element, if this has not been done, and returns e. It
// sets d.err if the stored element cannot be read.
func (d *elementDiff) split(e *comparedElement) *comparedElement {
	if !e.done {
		var err error
		e.done = true
		if e.manifest, e.config, err = (draftElement{kept: e.kept}).split(); err != nil && d.err == nil {
			d.err = err
		}
		e.ref = storedRef(e.manifest)
	}
	return e
}

// pair decides which elements of a and b belong together.
func (d *elementDiff) pair() {
	byKey, byContent := map[string]int{}, map[string][]int{}
	for i, e := range d.a {
		if lasts(e.key) {
			byKey[e.key] = i
		}
		byContent[string(e.kept)] = append(byContent[string(e.kept)], i)
	}
	for j, e := range d.b {
		if i, found := byKey[e.key]; found {
			d.set(i, j)
		}
	}
	// Two elements with lasting keys that differ are different ones.
	mayPair := func(i, j int) bool {
		return d.to[i] < 0 && d.from[j] < 0 && !(lasts(d.a[i].key) && lasts(d.b[j].key))
	}
	for j, e := range d.b {
		same := byContent[string(e.kept)]
		for len(same) > 0 && d.from[j] < 0 {
			if i := same[0]; mayPair(i, j) {
				d.set(i, j)
			} else if lasts(e.key) && lasts(d.a[i].key) {
				break
			}
			same = same[1:]
		}
		byContent[string(e.kept)] = same
	}
	for j := range min(len(d.a), len(d.b)) {
		if mayPair(j, j) {
			d.set(j, j)
		}
	}
}

// stays returns the pairs that need not move: a longest list of pairs that are in the same order in a and in b.
func (d *elementDiff) stays() []jsondiff.Pair {
	var list []int
	var of []int
	for j, i := range d.from {
		if i >= 0 {
			list, of = append(list, i), append(of, j)
		}
	}
	var out []jsondiff.Pair
	for _, k := range jsondiff.Increasing(list) {
		out = append(out, jsondiff.Pair{A: list[k], B: of[k]})
	}
	return out
}

// structure returns the operations that remove, move and add elements. ok is false if the budget is spent.
//
// The order makes the indices simple. Removals go from the last to the first, so each has its index in a. The moves that follow
// bring what is left into the order of b. Additions go from the first to the last, so each has its index in b.
func (d *elementDiff) structure() (ops []jsondiff.Op, ok bool) {
	for i, j := range slices.Backward(d.to) {
		if j < 0 {
			ops = append(ops, jsondiff.Op{Kind: "remove", Path: d.path(i)})
		}
	}
	moves, ok := d.moves()
	if !ok {
		return nil, false
	}
	ops = append(ops, moves...)
	for j, i := range d.from {
		if i < 0 {
			ops = append(ops, jsondiff.Op{Kind: "add", Path: d.path(j), Value: d.split(&d.b[j]).asNew()})
		}
	}
	return ops, true
}

// moves returns the operations that bring the elements with partners into the order of b. It goes through b, and moves each
// element that cannot stay to the place after the element before it. ok is false if the budget is spent: a move takes about
// two steps for each element.
func (d *elementDiff) moves() (ops []jsondiff.Op, ok bool) {
	fixed := map[int]bool{} // indices of a
	for _, p := range d.stays() {
		fixed[p.A] = true
	}
	var order []int // indices of a, in the order that the operations so far have made
	for i, j := range d.to {
		if j >= 0 {
			order = append(order, i)
		}
	}
	if !d.budget.Spend(2 * len(order) * (len(order) - len(fixed))) {
		return nil, false
	}
	before := -1 // the element that comes before in b; -1 = none
	for _, i := range d.from {
		if i < 0 {
			continue
		}
		if !fixed[i] {
			at := slices.Index(order, i)
			order = slices.Delete(order, at, at+1)
			to := 0
			if before >= 0 {
				to = slices.Index(order, before) + 1
			}
			order = slices.Insert(order, to, i)
			if at != to {
				ops = append(ops, jsondiff.Op{Kind: "move", From: d.path(at), Path: d.path(to)})
			}
		}
		before = i
	}
	return ops, true
}

// change returns the change from the element of a at i to its partner, the element of b at j. The operations have the index j,
// which the element has by then. Another name and another version of the component are one operation each, and the configs are
// compared member by member. If neither the component nor the config differs but the manifest does, one operation replaces the element
// with itself, so that Patch copies the present manifest.
func (d *elementDiff) change(i, j int) elementChange {
	was, is := d.split(&d.a[i]), d.split(&d.b[j])
	if d.err != nil {
		return elementChange{}
	}
	at := d.path(j)
	var ops []jsondiff.Op
	if was.ref.Name != is.ref.Name {
		ops = append(ops, jsondiff.Op{Kind: "replace", Path: at + "/component/name", Value: appendString(nil, is.ref.Name)})
	}
	if was.ref.Version != is.ref.Version {
		ops = append(ops, jsondiff.Op{Kind: "replace", Path: at + "/component/version", Value: appendString(nil, is.ref.Version)})
	}
	whole := append(slices.Clip(ops), jsondiff.Op{Kind: "replace", Path: at + "/config", Value: is.config})
	inside := jsondiff.Values(at+"/config", was.config, is.config, d.most, d.budget)
	if ops = append(ops, inside...); len(inside) == 0 {
		whole = ops
	}
	if len(ops) == 0 && !jsonpatch.Equal(was.manifest, is.manifest, jsonpatch.SameText) {
		// The element was written again, with the same config, for a component that had been deleted and created again.
		ops = []jsondiff.Op{{Kind: "replace", Path: at, Value: is.asNew()}}
		whole = ops
	}
	return elementChange{ops, whole}
}

// asNew returns the JSON of the element as a patch adds it: {"component":{"name":…,"version":…},"config":…}. The element must
// have been split.
func (e *comparedElement) asNew() []byte {
	out := make([]byte, 0, len(e.config)+len(e.ref.Name)+len(e.ref.Version)+64)
	out = appendString(append(out, `{"component":{"name":`...), e.ref.Name)
	out = appendString(append(out, `,"version":`...), e.ref.Version)
	return append(append(append(out, `},"config":`...), e.config...), '}')
}

// fit returns all operations, made coarser if they are too many, or more than a fifth longer than a replacement of all
// elements: such a patch would say less to its reader than the elements themselves. ops are those that remove, move and add
// elements; changes are those inside elements. It tries, in this order:
//
//  1. all operations, after replacing the configs with the most changes as a whole while there are too many operations;
//  2. the shorter form of each change;
//  3. one operation that replaces all elements.
func (d *elementDiff) fit(ops []jsondiff.Op, changes []elementChange) ([]jsondiff.Op, error) {
	all := func() []jsondiff.Op {
		out := slices.Clip(ops)
		for _, c := range changes {
			out = append(out, c.ops...)
		}
		return out
	}
	// Step 1. A change of few operations cannot be made shorter by replacing the config.
	count := len(all())
	longest := make([]*elementChange, len(changes))
	for n := range changes {
		longest[n] = &changes[n]
	}
	slices.SortStableFunc(longest, func(x, y *elementChange) int { return len(y.ops) - len(x.ops) })
	for _, c := range longest {
		if count <= d.most {
			break
		}
		if len(c.whole) < len(c.ops) {
			count -= len(c.ops) - len(c.whole)
			c.ops = c.whole
		}
	}
	out := all()
	// A replacement of all elements is at least so long. To write it is worth its time only if ops are longer than that.
	const least = len(`{"component":{"name":"","version":""},"config":{}}`)
	if len(out) <= d.most && shortEnough(jsondiff.Size(out...), least*len(d.whole)) {
		return out, nil
	}
	whole := d.coarse()
	most := jsondiff.Size(whole...)
	if d.err != nil || len(out) <= d.most && shortEnough(jsondiff.Size(out...), most) {
		return out, d.err
	}
	// Step 2, and if that is not enough, step 3.
	for n, c := range changes {
		if jsondiff.Size(c.whole...) < jsondiff.Size(c.ops...) {
			changes[n].ops = c.whole
		}
	}
	if out = all(); len(out) <= d.most && shortEnough(jsondiff.Size(out...), most) {
		return out, nil
	}
	return whole, nil
}

// shortEnough reports whether operations of so many bytes are at most a fifth longer than one operation that
// replaces the whole.
func shortEnough(bytes, whole int) bool { return 5*bytes <= 6*whole }

// coarse replaces all elements with one operation. A config that is as deep as a patch can add it, but too deep for
// a list of elements, is added by an operation of its own.
func (d *elementDiff) coarse() []jsondiff.Op {
	list := []byte{'['}
	var deep []jsondiff.Op
	for j, e := range d.whole {
		e := d.split(&comparedElement{keyedElement: e})
		if isDeep(e.config) {
			deep = append(deep, jsondiff.Op{Kind: "add", Path: elementPath(j), Value: e.asNew()})
			continue
		}
		if len(list) > 1 {
			list = append(list, ',')
		}
		list = append(list, e.asNew()...)
	}
	return append([]jsondiff.Op{{Kind: "replace", Path: elementsPath, Value: append(list, ']')}}, deep...)
}

// isDeep reports whether a config is as deep as a config can be. In a list of elements it would be one level deeper in the
// patch, which may be too deep for one.
func isDeep(config []byte) bool {
	opened := bytes.Count(config, []byte{'{'}) + bytes.Count(config, []byte{'['}) // much faster to count
	return opened >= configDepth && rawjson.Depth(config) >= configDepth
}
