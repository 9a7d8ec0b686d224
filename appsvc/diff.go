package appsvc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc/internal/jsondiff"
	"github.com/vitrine-go/vitrine/appsvc/internal/jsonpatch"
	"github.com/vitrine-go/vitrine/appsvc/internal/rawjson"
	"github.com/vitrine-go/vitrine/internal/memlimit"
)

// How two versions are compared:
//
//   - Body.compared finds the title, the groups and the elements in each body, as text. Nothing is decoded yet.
//   - diffWithin compares them: the title as a whole, the groups as a list, and the elements by elementDiff (elementdiff.go),
//     which compares configs member by member with package jsondiff.
//   - If Patch would refuse the operations as too much work, Limits.diff compares once more with fewer operations allowed.
//
// ListHistory compares neighbouring versions in the same way (history.go), and leaves out the values.

// DiffRequest names two versions of an app, in any order.
type DiffRequest struct {
	AppID    string
	From, To vitrine.Version // Latest is allowed
}

// Diff is the difference between two versions of an app.
type Diff struct {
	From vitrine.Version `json:"from"`
	To   vitrine.Version `json:"to"`

	// Patch is a JSON Patch for the body of a read over HTTP of the version From. It begins with the test of
	// that version. The package comment says under "History" when Service.Patch accepts it.
	Patch json.RawMessage `json:"patch"`
}

// AppendJSON appends {"from":…,"to":…,"patch":[…]} to dst. The patch is copied, not encoded again, so that numbers keep their
// text.
func (d Diff) AppendJSON(dst []byte) []byte {
	dst = append(append(dst, `{"from":"`...), d.From.String()...)
	dst = append(append(dst, `","to":"`...), d.To.String()...)
	return append(append(append(dst, `","patch":`...), d.Patch...), '}')
}

// diffSteps is the budget of one call of Diff, in steps of package jsondiff: it takes at most about 250 ms. When it is spent, the
// patch is coarser. The time is not measured, so that equal versions have equal diffs.
const diffSteps = 100_000_000

// Diff returns the patch that turns the version From of an app into the version To: the title, the groups and the
// elements. Manifests are not part of it, since Patch copies those that components have at that time. From may be the
// later one: then the patch leads back. The same versions always have the same diff.
//
// A changed member of a config is one replace operation at that member, an added one is one add, and a removed one is
// one remove. An element that was inserted, removed or moved is one operation too, since elements are matched by
// their keys. Numbers keep their text. The patch has at most Limits.PatchOps operations, by default 1,000. If it would need more,
// if it would be more than a fifth longer than one that replaces all groups or all elements, or if the comparison takes too many
// steps, the operations are coarser: they replace whole configs, all groups, or all elements.
//
// Diff returns ErrNotFound if there is no such app or version, and ErrInvalid for the zero Version. Patch may refuse the patch;
// the package comment lists the cases under "History".
func (s *Service) Diff(ctx context.Context, by vitrine.Caller, in DiffRequest) (Diff, error) {
	if err := by.CheckUnrestricted(); err != nil {
		return Diff{}, err
	}
	if in.From.IsZero() || in.To.IsZero() {
		return Diff{}, errNoVersion()
	}
	// Both versions are read in one View. Comparing them needs no store.
	var from, to App
	err := s.store.view(ctx, func(r *reader) error {
		if _, err := readableHead(ctx, r, by, in.AppID); err != nil {
			return err
		}
		var err error
		if from, err = findVersion(ctx, r, in.AppID, in.From); err != nil {
			return err
		}
		if err := memlimit.Reserve(ctx, len(from.Body)); err != nil {
			return err
		}
		to, err = findVersion(ctx, r, in.AppID, in.To)
		return err
	})
	if err != nil {
		return Diff{}, err
	}
	// About what it takes to compare the two bodies and to write the patch.
	if err := memlimit.Reserve(ctx, 2*len(from.Body)+3*len(to.Body)); err != nil {
		return Diff{}, err
	}
	a, err := from.Body.compared(comparedVersion{})
	if err != nil {
		return Diff{}, err
	}
	b, err := to.Body.compared(a)
	if err != nil {
		return Diff{}, err
	}
	ops, err := s.limits.diff(a, b, jsondiff.NewBudget(diffSteps))
	if err != nil {
		return Diff{}, err
	}
	test := jsondiff.Op{Kind: "test", Path: versionPath, Value: appendString(nil, from.Version.String())}
	patch := test.Append(append(make([]byte, 0, jsondiff.Size(ops...)+128), '['))
	for _, op := range ops {
		patch = op.Append(append(patch, ','))
	}
	return Diff{from.Version, to.Version, append(patch, ']')}, nil
}

// diff returns the operations that turn the version a into b, without the test of the version. There are at most as many
// as Patch accepts besides the test: Limits.PatchOps less one, and fewer if the work of applying them would exceed
// Limits.patchWork. The fewest that diffWithin needs are always allowed.
func (l Limits) diff(a, b comparedVersion, budget *jsondiff.Budget) ([]jsondiff.Op, error) {
	ops, err := diffWithin(a, b, l.PatchOps-1, budget)
	if err != nil {
		return nil, err
	}
	// How many operations may be applied depends on the longest list or object in the two bodies.
	most := jsonpatch.MostEdits(a.body, len(ops), l.patchWork(), b.body)
	if most < len(ops) {
		return diffWithin(a, b, most, budget)
	}
	return ops, nil
}

// diffWithin is diff with at most so many operations, or with the fewest that there can be: one for each of title, groups and
// elements, and one for each element whose config is too deep for a list. At most half of the operations go to the groups, and
// the rest to the elements, so that many changed groups do not make the elements coarse.
func diffWithin(a, b comparedVersion, most int, budget *jsondiff.Budget) (ops []jsondiff.Op, err error) {
	if !bytes.Equal(a.title, b.title) {
		ops = append(ops, jsondiff.Op{Kind: "replace", Path: appPath + "/title", Value: b.title})
	}
	whole := jsondiff.Op{Kind: "replace", Path: appPath + "/groups", Value: b.groups}
	groups := jsondiff.Values(whole.Path, a.groups, b.groups, max(most/2, 1), budget)
	if len(groups) > 0 && !shortEnough(jsondiff.Size(groups...), jsondiff.Size(whole)) {
		groups = []jsondiff.Op{whole}
	}
	ops = append(ops, groups...)
	elements, err := newElementDiff(a.elements, b.elements, max(most-len(ops), 1), budget).ops()
	return append(ops, elements...), err
}

// comparedVersion is the content of a version that is compared: the title, the groups and the elements as JSON. They
// share the bytes of the body. Body.compared makes one for each of the two versions. A history makes one for each version, and
// each helps to take the next one apart.
type comparedVersion struct {
	body          Body
	title, groups []byte
	starts        []int // where in the body each element begins, and last where one more would begin, after its comma
	elements      []keyedElement
	scanned       int // about how many bytes were read to find the elements
}

// compared takes a stored body apart. An error means that no Service has stored it. before is a version that was taken apart
// already, or the zero value. What the two have in common at the beginning and at the end is not scanned again: neighbours in a
// history differ in few places.
func (b Body) compared(before comparedVersion) (comparedVersion, error) {
	at, _, err := rawjson.Lookup(b, "elements", 0)
	if err != nil || at < 0 {
		return comparedVersion{}, errors.New("stored body: no elements")
	}
	head, err := rawjson.Members(slices.Concat(b[:at], []byte("0}")))
	if err != nil {
		return comparedVersion{}, fmt.Errorf("stored body: %w", err)
	}
	v := comparedVersion{body: b, title: head.Get("title"), groups: head.Get("groups")}
	if v.title == nil || v.groups == nil {
		return comparedVersion{}, errors.New("stored body: no title or no groups")
	}
	if err := v.findElements(at, before); err != nil {
		return comparedVersion{}, err
	}
	v.elements = make([]keyedElement, len(v.starts)-1)
	for i := range v.elements {
		text := b[v.starts[i] : v.starts[i+1]-1]
		key, kept, ok := cutHead(text, i)
		if !ok {
			return comparedVersion{}, fmt.Errorf("stored element %d: does not begin with its id", i)
		}
		v.elements[i] = keyedElement{key, kept}
	}
	return v, nil
}

// findElements fills v.starts. The list of elements begins at the index at of the body; after the list comes only the brace that
// ends the body. It returns an error if the elements are not such a list of compact JSON.
//
// The starts in the common prefix of the two bodies are those of before. So are the starts in the common suffix, shifted
// by the difference in length, once an element begins at the same place in both. Only what lies between is scanned.
func (v *comparedVersion) findElements(at int, before comparedVersion) error {
	b, old := v.body, before.starts
	end := len(b) - 1 // behind the list
	if !bytes.HasSuffix(b, []byte("]}")) || b[at] != '[' || at > len(b)-3 {
		return errors.New("stored body: the elements are no list, or do not come last")
	}
	v.starts = make([]int, 0, max(len(old), 8)+2)
	pos := at + 1
	if b[pos] == ']' {
		v.starts = append(v.starts, end)
		return nil
	}
	// The elements that lie in the common prefix as a whole, each with the comma after it.
	same := commonPrefix(before.body, b)
	for n := 0; n+1 < len(old) && old[n+1] <= same; n++ {
		v.starts, pos = append(v.starts, old[n]), old[n+1]
	}
	v.scanned = len(b) / 16 // comparing is faster than scanning
	// From tail on the two bodies are equal: what is at pos in b is at pos+shift in the other body.
	tail, shift := len(b)-commonSuffix(before.body, b), len(before.body)-len(b)
	for pos < end {
		if pos >= tail {
			if n, found := slices.BinarySearch(old, pos+shift); found {
				for _, start := range old[n:] {
					v.starts = append(v.starts, start-shift)
				}
				return nil
			}
		}
		v.starts = append(v.starts, pos)
		element, _ := rawjson.Cut(b[pos:])
		v.scanned += len(element)
		if pos += len(element); len(element) == 0 || pos >= len(b) || b[pos] != ',' && pos+1 != end {
			return fmt.Errorf("stored element %d: is not compact JSON", len(v.starts)-1)
		}
		pos++
	}
	v.starts = append(v.starts, end)
	return nil
}

// commonPrefix returns how many bytes a and b have in common at the beginning. It compares blocks first, which is much faster
// than bytes: two versions of one app are mostly equal.
func commonPrefix(a, b []byte) int {
	const block = 256
	n, most := 0, min(len(a), len(b))
	for n+block <= most && bytes.Equal(a[n:n+block], b[n:n+block]) {
		n += block
	}
	for n < most && a[n] == b[n] {
		n++
	}
	return n
}

// commonSuffix returns how many bytes a and b have in common at the end. It may overlap the common prefix, if one text repeats
// what is in the other.
func commonSuffix(a, b []byte) int {
	const block = 256
	n, most := 0, min(len(a), len(b))
	for n+block <= most && bytes.Equal(a[len(a)-n-block:len(a)-n], b[len(b)-n-block:len(b)-n]) {
		n += block
	}
	for n < most && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}
