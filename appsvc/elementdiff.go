package appsvc

import (
	"bytes"
	"cmp"
	"hash/maphash"
	"slices"

	"github.com/vitrine-go/vitrine/appsvc/internal/jsondiff"
	"github.com/vitrine-go/vitrine/appsvc/internal/jsonpatch"
	"github.com/vitrine-go/vitrine/appsvc/internal/rawjson"
)

// elementDiff finds the operations that turn one list of elements, a, into another one, b. Stored elements have no lasting
// identity: the id of an element is its index. So elementDiff first decides which element of b is which element of a:
//
//  1. Elements with equal content, along a longest common subsequence; then the others with equal content, which
//     have moved.
//  2. Elements whose configs share at least half of their members and words by size, the most similar ones first. A gap is what
//     lies between two neighbours among the elements that need not move. Two elements of the same component that are in the
//     same gap may share less.
//  3. What remains in a gap: pairs in their order, first those with the same component, then any.
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
	whole  [][]byte          // all elements of b
	budget *jsondiff.Budget
	most   int   // how many operations there may be
	from   []int // for each element of b its element of a, -1 = none
	to     []int // for each element of a its element of b, -1 = none
	err    error // the first error of a stored element that cannot be read
}

// comparedElement is an element of one of the two versions. Most elements of two versions are equal, and their text is all
// that is looked at. The fields after kept are set by elementDiff.split.
type comparedElement struct {
	kept     []byte // as in draftElement
	done     bool   // the fields below are set
	manifest []byte
	config   []byte
	ref      ComponentRef
}

// elementChange is the change inside one element, in two forms: many operations that are easy to read, and one that
// is short if much has changed.
type elementChange struct {
	ops   []jsondiff.Op // one for each field that changed
	whole jsondiff.Op   // one that does the same as all of ops
}

// newElementDiff returns the elementDiff of two lists of elements, given as in draftElement.kept.
func newElementDiff(a, b [][]byte, most int, budget *jsondiff.Budget) *elementDiff {
	d := &elementDiff{whole: b, budget: budget, most: most}
	for len(a) > 0 && len(b) > 0 && bytes.Equal(a[0], b[0]) {
		a, b = a[1:], b[1:]
		d.first++
	}
	for len(a) > 0 && len(b) > 0 && bytes.Equal(a[len(a)-1], b[len(b)-1]) {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	d.a, d.to = uncompared(a)
	d.b, d.from = uncompared(b)
	return d
}

// uncompared returns the elements with these stored texts, and for each the partner -1, which means none.
func uncompared(list [][]byte) (elements []comparedElement, partners []int) {
	elements, partners = make([]comparedElement, len(list)), make([]int, len(list))
	for i, kept := range list {
		elements[i].kept, partners[i] = kept, -1
	}
	return elements, partners
}

// ops returns the operations that turn a into b. It pairs the elements, removes, moves and adds whole ones, and changes what
// differs inside pairs. There are at most d.most operations, unless even the coarsest form needs more. It is called once.
func (d *elementDiff) ops() ([]jsondiff.Op, error) {
	if len(d.a) == 0 && len(d.b) == 0 {
		return nil, nil
	}
	// If the budget does not suffice for pairing or for the operations on whole elements, one operation replaces all elements.
	if !d.pair() {
		return d.coarse(), d.err
	}
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

// pair decides which elements of a and b belong together, by the three rules of elementDiff. It returns false if the
// budget is spent.
func (d *elementDiff) pair() bool {
	texts := func(list []comparedElement) [][]byte {
		out := make([][]byte, len(list))
		for i, e := range list {
			out[i] = e.kept
		}
		return out
	}
	common, ok := jsondiff.Common(texts(d.a), texts(d.b), d.budget)
	if !ok {
		return false
	}
	for _, p := range common {
		d.set(p.A, p.B)
	}
	d.pairEqual()
	d.pairSimilar()
	d.pairInPlace(func(e *comparedElement) []byte { return []byte(d.split(e).ref.Name) })
	d.pairInPlace(func(*comparedElement) []byte { return nil })
	return !d.budget.Spent()
}

// unpaired returns the indices of the elements that have no partner yet, in ascending order. partners is d.to or d.from.
func unpaired(partners []int) (out []int) {
	for i, p := range partners {
		if p < 0 {
			out = append(out, i)
		}
	}
	return out
}

// pairEqual pairs elements of equal content that the longest common subsequence did not pair, since they have moved. If
// several have the same content, they are paired in their order.
func (d *elementDiff) pairEqual() {
	left := unpaired(d.to)
	if len(left) == 0 || len(unpaired(d.from)) == 0 {
		return
	}
	places := map[string][]int{}
	for _, i := range left {
		places[string(d.a[i].kept)] = append(places[string(d.a[i].kept)], i)
	}
	for _, j := range unpaired(d.from) {
		if same := places[string(d.b[j].kept)]; len(same) > 0 {
			d.set(same[0], j)
			places[string(d.b[j].kept)] = same[1:]
		}
	}
}

// candidate is a pair of elements whose configs share traits: the element of a at i and the element of b at j.
type candidate struct {
	i, j, shared int     // shared is the weight of the traits that both have
	score        float64 // the part of the two configs that is shared, 0 to 1
}

// pairSimilar pairs elements without partners whose configs share traits, the most similar ones first. They must share half of
// what they have; otherwise one was removed and the other one added. Only elements that are in the same gap and have the same
// component may share less.
//
// To compare each element with each other one would take too long. So the traits of the elements of a are indexed, and
// an element of b is compared with those alone that share a trait with it.
func (d *elementDiff) pairSimilar() {
	left, right := unpaired(d.to), unpaired(d.from)
	if len(left) == 0 || len(right) == 0 {
		return
	}
	gapsA, gapsB := d.gaps()
	if len(left) == 1 && len(right) == 1 && gapsA[left[0]] == gapsB[right[0]] {
		return // pairInPlace pairs them anyway
	}
	// The index of the traits of a: which elements have each, and what all traits of an element weigh together.
	seed := maphash.MakeSeed()
	having := map[uint64][]int{} // indices into left of the elements that have a trait
	weights := make([]int, len(left))
	for n, i := range left {
		for _, m := range d.traits(seed, &d.a[i]) {
			having[m.hash] = append(having[m.hash], n)
			weights[n] += m.weight
		}
	}
	// For each element of b the elements of a that share enough with it. The budget pays for looking through shared.
	var found []candidate
	shared := make([]int, len(left)) // for each element of a, what it shares with the element of b that is looked at
	for _, j := range right {
		clear(shared)
		weight := 0
		for _, m := range d.traits(seed, &d.b[j]) {
			weight += m.weight
			if same := having[m.hash]; len(same) <= commonTrait {
				for _, n := range same {
					shared[n] += m.weight
				}
			}
		}
		for n, s := range shared {
			if s == 0 {
				continue
			}
			c := candidate{left[n], j, s, 2 * float64(s) / float64(weights[n]+weight)}
			inPlace := gapsA[c.i] == gapsB[j] && d.a[c.i].ref.Name == d.b[j].ref.Name
			if c.score >= similarShare || inPlace {
				found = append(found, c)
			}
		}
		if !d.budget.Spend(len(left)) {
			return
		}
	}
	// The order is total, so that the same versions always have the same diff.
	slices.SortFunc(found, func(x, y candidate) int {
		return cmp.Or(cmp.Compare(y.score, x.score), cmp.Compare(y.shared, x.shared),
			cmp.Compare(distance(x), distance(y)), cmp.Compare(x.j, y.j), cmp.Compare(x.i, y.i))
	})
	for _, c := range found {
		if d.to[c.i] < 0 && d.from[c.j] < 0 {
			d.set(c.i, c.j)
		}
	}
}

// distance is how far apart the two elements of a candidate are in their lists. Of equally similar pairs the closest is taken.
func distance(c candidate) int { return max(c.i-c.j, c.j-c.i) }

// similarShare is the part that two configs must share to count as versions of one element.
const similarShare = 0.5

// trait is something that two configs may share: a member, or a word of a long text.
type trait struct {
	hash   uint64
	weight int // about its bytes
}

// What traits are made of, and what they cost.
const (
	stepsPerTrait = 96 // what it costs to hash a trait and to note who has it, in steps of a budget
	longText      = 32 // bytes from which the words of a text count
	mostWords     = 64 // of a text that count
	shortWord     = 4  // bytes; shorter words are in every text
	wordWeight    = 16 // at most
	commonTrait   = 64 // a trait that more elements have says nothing about which one is which
)

// traits returns the traits of the config of an element, each once:
//
//   - Each member, with its name and value. It weighs as many bytes as the value has, and 64 at most.
//   - Of a member whose value is a string of 32 bytes or more, also those of its first 64 words that have four bytes or more. So
//     an element whose text was edited still shares most of its words. A word weighs as many bytes as it has, and 16 at most; the
//     member itself weighs 16 then. A word counts together with the name of its member: the same word in another member is
//     another trait. A word that occurs again in its member adds nothing.
//
// The weights are bounded so that no single member decides. traits returns nil if the budget is spent.
func (d *elementDiff) traits(seed maphash.Seed, e *comparedElement) []trait {
	d.split(e)
	members := d.budget.Members(e.config)
	out := make([]trait, 0, len(members))
	for _, m := range members {
		name := maphash.String(seed, m.Name)
		value := trait{hashIn(seed, name, m.Value), min(len(m.Value), 64)}
		if m.Value[0] != '"' || len(m.Value) < longText {
			out = append(out, value)
			continue
		}
		value.weight = wordWeight // its words count
		out = append(out, value)
		words, first := 0, len(out)
		for word := range bytes.FieldsFuncSeq(m.Value, notInWord) {
			if words++; words > mostWords {
				break
			}
			t := trait{hashIn(seed, name, word), min(len(word), wordWeight)}
			if len(word) >= shortWord && !slices.Contains(out[first:], t) {
				out = append(out, t)
			}
		}
	}
	if !d.budget.Spend(stepsPerTrait * len(out)) {
		return nil
	}
	return out
}

// hashIn returns the hash of a value or a word of the member whose name has the hash name. The value of a text and a word of it
// differ, because the value begins with a quotation mark, which no word has.
func hashIn(seed maphash.Seed, name uint64, text []byte) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	maphash.WriteComparable(&h, name)
	h.Write(text)
	return h.Sum64()
}

// notInWord separates words at spaces, quotes, parentheses, periods, commas, hyphens and slashes: what ASCII has before '0'.
func notInWord(r rune) bool { return r < '0' }

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

// gaps numbers the gaps between pairs that stay, from 0 before the first pair on. It returns the gap of each element of
// a and of b. An element of a and one of b with the same number are between the same two elements.
func (d *elementDiff) gaps() (a, b []int) {
	a, b = make([]int, len(d.a)), make([]int, len(d.b))
	i, j := 0, 0
	// A pair that stays ends its gap, and belongs to the next one. A pair after the last elements ends the last gap.
	for n, next := range append(d.stays(), jsondiff.Pair{A: len(d.a), B: len(d.b)}) {
		for ; i < next.A; i++ {
			a[i] = n
		}
		for ; j < next.B; j++ {
			b[j] = n
		}
	}
	return a, b
}

// pairInPlace pairs elements without partners that have the same key and are in the same gap, along a longest common
// subsequence of the keys in each gap. So pairs in a gap keep their order. pair calls it twice: first the key is the name of the
// component, and then all elements have the same key. If the budget is spent, it stops; pair notices that.
func (d *elementDiff) pairInPlace(key func(*comparedElement) []byte) {
	left, right := unpaired(d.to), unpaired(d.from)
	if len(left) == 0 || len(right) == 0 {
		return
	}
	// Both lists are in ascending order, and so are the gaps in them. So one pass finds the elements of each gap.
	gapsA, gapsB := d.gaps()
	for len(left) > 0 && len(right) > 0 {
		gap := max(gapsA[left[0]], gapsB[right[0]])
		if gapsA[left[0]] < gap {
			left = left[1:]
			continue
		}
		if gapsB[right[0]] < gap {
			right = right[1:]
			continue
		}
		var keysA, keysB [][]byte
		var inA, inB []int
		for ; len(left) > 0 && gapsA[left[0]] == gap; left = left[1:] {
			keysA, inA = append(keysA, key(&d.a[left[0]])), append(inA, left[0])
		}
		for ; len(right) > 0 && gapsB[right[0]] == gap; right = right[1:] {
			keysB, inB = append(keysB, key(&d.b[right[0]])), append(inB, right[0])
		}
		pairs, ok := jsondiff.Common(keysA, keysB, d.budget)
		if !ok {
			return
		}
		for _, p := range pairs {
			d.set(inA[p.A], inB[p.B])
		}
	}
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
// which the element has by then. These are the rules:
//
//   - If the name of the component differs and the configs are not alike, one operation replaces the element.
//   - Otherwise another name and another version are one operation each, and the configs are compared member by member.
//   - If neither the component nor the config differs but the manifest does, one operation replaces the element with itself, so
//     that Patch copies the present manifest.
func (d *elementDiff) change(i, j int) elementChange {
	was, is := d.split(&d.a[i]), d.split(&d.b[j])
	if d.err != nil {
		return elementChange{}
	}
	at := d.path(j)
	replaced := jsondiff.Op{Kind: "replace", Path: at, Value: is.asNew()}
	if was.ref.Name != is.ref.Name && !d.alike(was, is) {
		return elementChange{[]jsondiff.Op{replaced}, replaced}
	}
	var ops []jsondiff.Op
	if was.ref.Name != is.ref.Name {
		ops = append(ops, jsondiff.Op{Kind: "replace", Path: at + "/component/name", Value: appendString(nil, is.ref.Name)})
	}
	if was.ref.Version != is.ref.Version {
		ops = append(ops, jsondiff.Op{Kind: "replace", Path: at + "/component/version", Value: appendString(nil, is.ref.Version)})
	}
	whole := replaced
	if len(ops) == 0 {
		whole = jsondiff.Op{Kind: "replace", Path: at + "/config", Value: is.config}
	}
	ops = append(ops, jsondiff.Values(at+"/config", was.config, is.config, d.most, d.budget)...)
	if len(ops) == 0 && !jsonpatch.Equal(was.manifest, is.manifest, jsonpatch.SameText) {
		// The element was written again, with the same config, for a component that had been deleted and created again.
		ops, whole = []jsondiff.Op{replaced}, replaced
	}
	return elementChange{ops, whole}
}

// alike reports whether the configs of two elements share half of their traits by weight, as pairSimilar asks of elements that
// are not in the same place.
func (d *elementDiff) alike(a, b *comparedElement) bool {
	seed := maphash.MakeSeed()
	having := map[uint64]bool{}
	sum, shared := 0, 0
	for _, t := range d.traits(seed, a) {
		having[t.hash] = true
		sum += t.weight
	}
	for _, t := range d.traits(seed, b) {
		sum += t.weight
		if having[t.hash] {
			shared += 2 * t.weight
		}
	}
	return float64(shared) >= similarShare*float64(sum)
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
//  1. all operations, after replacing the elements with the most changes as a whole while there are too many operations;
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
	// Step 1. A change of one operation cannot be made shorter by replacing the element.
	count := len(all())
	longest := make([]*elementChange, len(changes))
	for n := range changes {
		longest[n] = &changes[n]
	}
	slices.SortStableFunc(longest, func(x, y *elementChange) int { return len(y.ops) - len(x.ops) })
	for _, c := range longest {
		if count <= d.most || len(c.ops) == 1 {
			break
		}
		count -= len(c.ops) - 1
		c.ops = []jsondiff.Op{c.whole}
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
		if jsondiff.Size(c.whole) < jsondiff.Size(c.ops...) {
			changes[n].ops = []jsondiff.Op{c.whole}
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
	for j, kept := range d.whole {
		e := d.split(&comparedElement{kept: kept})
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
