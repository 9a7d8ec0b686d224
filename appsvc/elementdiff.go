package appsvc

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/vitrine-go/vitrine/appsvc/internal/jsontree"
	"github.com/vitrine-go/vitrine/internal/strictjson"
)

// diffElements returns the operations that turn one list of elements, a, into another one, b. Elements of a without a
// partner in b are removed, elements of b without one are added, and the fewest possible are moved. The operations come
// in this order: removals, moves, additions, and then the changes inside elements, so that additions and changes have
// the indices of b.
//
// If there would be more than most operations, they are made coarser: each changed config is replaced whole, and if
// that is not enough, all elements are replaced. Elements keep their keys in any case.
func diffElements(a, b []draftElement, most int, d *jsontree.Differ) ([]jsontree.Op, error) {
	d.Widest = max(d.Widest, len(a), len(b))
	from := pairElements(a, b)
	moves, err := moveElements(a, b, from)
	if err != nil {
		return nil, err
	}
	for _, mostOfConfig := range []int{most, 1} {
		ops := slices.Clone(moves)
		for j, i := range from {
			if i < 0 || bytes.Equal(a[i].kept, b[j].kept) {
				continue
			}
			changes, err := changeElement(a[i], b[j], elementPath(j), mostOfConfig, d)
			if err != nil {
				return nil, err
			}
			ops = append(ops, changes...)
		}
		if len(ops) <= most {
			return ops, nil
		}
	}
	return replaceElements(b, from)
}

// pairElements returns for each element of b the index of its partner in a, which has the same key, or -1.
func pairElements(a, b []draftElement) []int {
	byKey := map[string]int{}
	for i, e := range a {
		byKey[e.key] = i
	}
	from := make([]int, len(b))
	for j, e := range b {
		var paired bool
		if from[j], paired = byKey[e.key]; !paired {
			from[j] = -1
		}
	}
	return from
}

// moveElements returns the operations that remove, move and add elements. Removals go from the last to the first, so
// each has its index in a. The moves put the remaining elements into the order of b. Additions go from the first to the
// last, so each has its index in b.
func moveElements(a, b []draftElement, from []int) (ops []jsontree.Op, err error) {
	kept := slices.DeleteFunc(slices.Clone(from), func(i int) bool { return i < 0 })
	order := slices.Sorted(slices.Values(kept)) // indices of a, in the order that the operations so far have made
	for i := range slices.Backward(a) {
		if _, found := slices.BinarySearch(order, i); !found {
			ops = append(ops, jsontree.Op{Op: "remove", Path: elementPath(i)})
		}
	}
	stays := longestIncreasing(kept)
	before := -1 // the previous element in b; -1 = none
	for _, i := range from {
		if i < 0 {
			continue
		}
		if !stays[i] {
			at := slices.Index(order, i)
			order = slices.Delete(order, at, at+1)
			to := slices.Index(order, before) + 1
			order = slices.Insert(order, to, i)
			if at != to {
				ops = append(ops, jsontree.Op{Op: "move", From: elementPath(at), Path: elementPath(to)})
			}
		}
		before = i
	}
	for j, i := range from {
		if i < 0 {
			element, err := b[j].asPatched(-1)
			if err != nil {
				return nil, err
			}
			ops = append(ops, jsontree.Op{Op: "add", Path: elementPath(j), Value: element})
		}
	}
	return ops, nil
}

// longestIncreasing returns the numbers of a longest increasing subsequence of list. The numbers of list are unique.
func longestIncreasing(list []int) map[int]bool {
	var ends []int          // the smallest number that an increasing subsequence of each length ends with
	before := map[int]int{} // for each number the one before it in the longest subsequence that ends with it
	for _, n := range list {
		k, _ := slices.BinarySearch(ends, n)
		if k > 0 {
			before[n] = ends[k-1]
		}
		ends = append(ends[:k], append([]int{n}, ends[min(k+1, len(ends)):]...)...)
	}
	out := map[int]bool{}
	if len(ends) > 0 {
		for n, more := ends[len(ends)-1], true; more; n, more = before[n] {
			out[n] = true
		}
	}
	return out
}

// changeElement returns the operations that turn an element into its partner at a path: one for each changed field of
// the config, or one for the whole config if there would be more than most. A changed name and a changed version of the
// component are one operation each. There are none if only the manifest differs, or the order of members.
func changeElement(was, is draftElement, at string, most int, d *jsontree.Differ) (ops []jsontree.Op, err error) {
	manifestBefore, configBefore, err := was.split()
	if err != nil {
		return nil, err
	}
	manifest, config, err := is.split()
	if err != nil {
		return nil, err
	}
	before, now := storedRef(manifestBefore), storedRef(manifest)
	if before.Name != now.Name {
		ops = append(ops, jsontree.Op{Op: "replace", Path: at + "/component/name", Value: appendString(nil, now.Name)})
	}
	if before.Version != now.Version {
		ops = append(ops,
			jsontree.Op{Op: "replace", Path: at + "/component/version", Value: appendString(nil, now.Version)})
	}
	return append(ops, d.Values(at+"/config", jsontree.New(configBefore), jsontree.New(config), most)...), nil
}

// asPatched returns a kept element in the JSON of a patch: {"component":{"name":…,"version":…},"config":…} for one that
// the patch adds, and with the id for one that comes from the element of this index, -1 for none.
func (e draftElement) asPatched(from int) ([]byte, error) {
	manifest, config, err := e.split()
	if err != nil {
		return nil, err
	}
	ref := storedRef(manifest)
	out := append(make([]byte, 0, len(config)+128), '{')
	if from >= 0 {
		out = fmt.Appendf(out, `"id":"%d",`, from)
	}
	out = appendString(append(out, `"component":{"name":`...), ref.Name)
	out = appendString(append(out, `,"version":`...), ref.Version)
	return append(append(append(out, `},"config":`...), config...), '}'), nil
}

// replaceElements replaces all elements with one operation; from has the index that each comes from, or -1. A config of
// the maximum depth is too deep for a list of elements, so its element is added by an operation of its own.
func replaceElements(b []draftElement, from []int) ([]jsontree.Op, error) {
	list := []byte{'['}
	var deep []jsontree.Op
	for j, e := range b {
		element, err := e.asPatched(from[j])
		if err != nil {
			return nil, err
		}
		if strictjson.Check(element, configDepth) != nil { // an element is one level deeper than its config
			deep = append(deep, jsontree.Op{Op: "add", Path: elementPath(j), Value: element})
			continue
		}
		if len(list) > 1 {
			list = append(list, ',')
		}
		list = append(list, element...)
	}
	return append([]jsontree.Op{{Op: "replace", Path: elementsPath, Value: append(list, ']')}}, deep...), nil
}
