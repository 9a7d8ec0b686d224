package appsvc

import (
	"context"
	"encoding/json"
	"slices"
	"sort"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc/internal/jsontree"
)

// Two versions are compared as drafts, whose elements are encoded texts. diffWithin compares the titles as a whole, the
// groups as a list, and the elements by their keys (elementdiff.go). Configs are compared member by member with package
// jsontree. If Patch would reject the operations as too much work, Limits.diff compares again with fewer operations
// allowed.
//
// ListHistory compares neighbouring versions in the same way (history.go), and leaves out the values.

// Diff is the difference between two versions of an app.
type Diff struct {
	From vitrine.Version `json:"from"`
	To   vitrine.Version `json:"to"`

	// Patch is a JSON Patch for the body of a read over HTTP of the version From. It begins with the test of
	// that version. HistoryEntry says under "History" when Session.Patch accepts it.
	Patch json.RawMessage `json:"patch"`
}

// AppendJSON appends {"from":…,"to":…,"patch":[…]} to dst. The patch is copied, not encoded again, so that numbers keep
// their text.
func (d Diff) AppendJSON(dst []byte) []byte {
	dst = append(append(dst, `{"from":"`...), d.From.String()...)
	dst = append(append(dst, `","to":"`...), d.To.String()...)
	return append(append(append(dst, `","patch":`...), d.Patch...), '}')
}

// diffSteps is the limit of steps of package jsontree in one call of Diff, about 2 s of work. Beyond it, the patch is
// coarser. Steps are counted instead of time, so that equal versions have equal diffs.
const diffSteps = 800_000_000

// Diff returns the patch that turns the version from of an app into the version to: the title, the groups and the
// elements. Each may be Latest. Manifests are not part of it, since Patch copies those that components have at that
// time. from may be the later one: then the patch leads back. The same versions always have the same diff.
//
// A changed member of a config is one replace operation at that member, an added one is one add, and a removed one is
// one remove. An element that was inserted, removed or moved is one operation too, since elements are matched by their
// keys, and keep them if the patch is applied. An element that differs only in the order of members is unchanged.
// Numbers keep their text. The patch has at most Limits.PatchOps operations, by default 1,000. If it would need more,
// if applying it would be too much work for Patch, or if the comparison takes too many steps, the operations are
// coarser: they replace whole configs, all groups, or all elements.
//
// Diff returns ErrNotFound if there is no such app or version, and ErrInvalid for the zero Version. Patch may reject
// the patch; HistoryEntry lists the cases under "History".
func (s *Session) Diff(ctx context.Context, id string, from, to vitrine.Version) (Diff, error) {
	s = s.calls("Diff")
	if err := s.check(); err != nil {
		return Diff{}, err
	}
	if from.IsZero() || to.IsZero() {
		return Diff{}, errNoVersion()
	}
	// Both versions are read in one View. Comparing them needs no store.
	var before, after App
	err := s.service.store.view(ctx, func(r *reader) error {
		h, err := readableHead(ctx, r, s.by, id)
		if err != nil {
			return err
		}
		if before, err = r.version(ctx, h, from); err != nil {
			return err
		}
		if err := s.mayTake(2 * len(before.Body)); err != nil { // as much again as for the other body, at least
			return err
		}
		after, err = r.version(ctx, h, to)
		return err
	})
	if err == nil { // the approximate memory for the two bodies, for comparing them and for writing the patch
		err = s.mayTake(3*len(before.Body) + 3*len(after.Body))
	}
	if err != nil {
		return Diff{}, err
	}
	a, err := before.Body.draft()
	if err != nil {
		return Diff{}, err
	}
	b, err := after.Body.draft()
	if err != nil {
		return Diff{}, err
	}
	ops, err := s.service.limits.diff(a, b, &jsontree.Differ{Steps: diffSteps})
	if err != nil {
		return Diff{}, err
	}
	test := jsontree.Op{Op: "test", Path: versionPath, Value: appendString(nil, before.Version.String())}
	return Diff{before.Version, after.Version, appendPatch(nil, append([]jsontree.Op{test}, ops...))}, nil
}

// diff returns the operations that turn the content a into b, without the test of the version. There are at most as
// many as Patch accepts besides the test: Limits.PatchOps less one, and fewer if the work of applying them would exceed
// Limits.patchWork. The fewest that diffWithin needs are always allowed.
func (l Limits) diff(a, b draft, d *jsontree.Differ) ([]jsontree.Op, error) {
	ops, err := diffWithin(a, b, l.PatchOps-1, d)
	if err != nil {
		return nil, err
	}
	// Each operation may scan the longest list or object, which may grow by one with each operation.
	tooMany := func(n int) bool { return n*(d.Widest+n) > l.patchWork() }
	if tooMany(len(ops)) {
		most := sort.Search(len(ops), func(n int) bool { return tooMany(n + 1) })
		return diffWithin(a, b, most, d)
	}
	return ops, nil
}

// diffWithin is diff with at most most operations, or with the minimum: one for each of title, groups and elements, and
// one for each element whose config is too deep for a list. The groups get at most half of the operations, and the
// elements the rest, so that many changed groups do not make the elements coarse.
func diffWithin(a, b draft, most int, d *jsontree.Differ) (ops []jsontree.Op, err error) {
	if a.title != b.title {
		ops = append(ops, jsontree.Op{Op: "replace", Path: appPath + "/title", Value: appendString(nil, b.title)})
	}
	if !slices.Equal(a.groups, b.groups) {
		was, is := jsontree.New(appendStrings(nil, a.groups)), jsontree.New(appendStrings(nil, b.groups))
		ops = append(ops, d.Values(appPath+"/groups", was, is, max(most/2, 1))...)
	}
	elements, err := diffElements(a.elements, b.elements, max(most-len(ops), 1), d)
	return append(ops, elements...), err
}
