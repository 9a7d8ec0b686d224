package storagetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/assets/assetstore"
)

// assetModel is a simple implementation of a library. Its writes change both the model and a library in a transaction, so
// that the two can be compared. The model of an Update that is rolled back must be dropped too.
type assetModel struct {
	state   assetstore.State
	rows    map[int64]assetRow
	folders map[string]assetstore.FolderRecord
}

// assetRow is an asset with the index entries that it was put with.
type assetRow struct {
	assetstore.Record
	index assetstore.Index
}

func newAssetModel() *assetModel {
	return &assetModel{rows: map[int64]assetRow{}, folders: map[string]assetstore.FolderRecord{}}
}

func (m *assetModel) clone() *assetModel {
	return &assetModel{m.state, maps.Clone(m.rows), maps.Clone(m.folders)}
}

func (m *assetModel) put(w assetstore.Tx, r assetstore.Record, x assetstore.Index) error {
	m.rows[r.Ordinal] = assetRow{r, x}
	return w.PutAsset(ctx, r, x)
}

func (m *assetModel) delete(w assetstore.Tx, ordinal int64) error {
	delete(m.rows, ordinal)
	return w.DeleteAsset(ctx, ordinal)
}

func (m *assetModel) putFolder(w assetstore.Tx, f assetstore.FolderRecord) error {
	m.folders[f.ID] = f
	return w.PutFolder(ctx, f)
}

func (m *assetModel) setState(w assetstore.Tx, s assetstore.State) error {
	m.state = s
	return w.SetState(ctx, s)
}

// answer returns the ordinals of the assets that match a query, in its order and up to its limit.
func (m *assetModel) answer(q assetstore.AssetQuery) []int64 {
	var out []int64
	for ordinal, r := range m.rows {
		if q.Match(ordinal, r.index.Terms) {
			out = append(out, ordinal)
		}
	}
	slices.SortFunc(out, q.Compare)
	if q.Limit > 0 && len(out) > q.Limit {
		out = out[:q.Limit]
	}
	return out
}

// check reads the library by every method of Reader but those of the feed, and reports the first difference from the model.
func (m *assetModel) check(r assetstore.Reader) error {
	if s, err := r.State(ctx); err != nil || s != m.state {
		return fmt.Errorf("state: %+v, error %v; want %+v", s, err, m.state)
	}
	if err := m.checkFolders(r); err != nil {
		return err
	}
	terms, keys := map[string]bool{"never": true}, map[string]bool{"never": true}
	// AssetsFrom is asked for an origin that no asset has before each origin that one has.
	var origins []assetstore.Origin
	var from []assetstore.Record
	for ordinal, row := range m.rows {
		got, err := r.Asset(ctx, ordinal)
		if err != nil || !equalRecords(got, row.Record) {
			return fmt.Errorf("asset %d: %+v, error %v; want %+v", ordinal, got, err, row.Record)
		}
		origins, from = append(origins, assetstore.Origin{255, byte(ordinal), byte(ordinal >> 8)}, row.Origin), append(from, assetstore.Record{}, row.Record)
		for _, term := range row.index.Terms {
			terms[term] = true
		}
		for _, a := range row.index.Attributes {
			keys[a.Key] = true
		}
	}
	got, err := collect(r.AssetsFrom(ctx, origins))
	if err != nil || !slices.EqualFunc(got, from, equalRecords) {
		return fmt.Errorf("assets of the origins %x: %+v, error %v; want %+v", origins, got, err, from)
	}
	for key := range keys {
		if err := m.checkValues(r, key, nil); err != nil {
			return err
		}
	}
	for term := range terms {
		err := errors.Join(
			m.checkQuery(r, assetstore.AssetQuery{All: []assetstore.AnyOf{{term}}}),
			m.checkQuery(r, assetstore.AssetQuery{Prefixes: []assetstore.AnyOf{{term}}}),
			m.checkCounts(r, assetstore.AssetQuery{Limit: 3}, term),
		)
		if err != nil {
			return err
		}
	}
	return errors.Join(m.checkQuery(r, assetstore.AssetQuery{}), m.checkQuery(r, assetstore.AssetQuery{Ascending: true}))
}

// checkValues returns an error unless Values yields the values of a key in the assets that match all the sets.
func (m *assetModel) checkValues(r assetstore.Reader, key string, all []assetstore.AnyOf) error {
	q := assetstore.AssetQuery{All: all}
	var want []string
	for ordinal, row := range m.rows {
		for _, a := range row.index.Attributes {
			if a.Key == key && q.Match(ordinal, row.index.Terms) {
				want = append(want, a.Value)
			}
		}
	}
	slices.Sort(want)
	want = slices.Compact(want)
	if got, err := collect(r.Values(ctx, key, all)); err != nil || !slices.Equal(got, want) {
		return fmt.Errorf("values of %q among %q: %q, error %v; want %q", key, all, got, err, want)
	}
	return nil
}

// checkCounts returns an error unless CountTerms yields, for each term with this prefix, the number of assets that match q
// and have the term. Without a limit the order does not matter, so both lists are sorted.
func (m *assetModel) checkCounts(r assetstore.Reader, q assetstore.AssetQuery, prefix string) error {
	counts := map[string]int64{}
	for ordinal, row := range m.rows {
		for _, term := range row.index.Terms {
			if strings.HasPrefix(term, prefix) && q.Match(ordinal, row.index.Terms) {
				counts[term]++
			}
		}
	}
	var want []assetstore.TermCount
	for term, n := range counts {
		want = append(want, assetstore.TermCount{Term: term, Count: n})
	}
	slices.SortFunc(want, assetstore.TermCount.Compare)
	got, err := collect(r.CountTerms(ctx, q, prefix))
	if q.Limit == 0 {
		slices.SortFunc(got, assetstore.TermCount.Compare)
	} else {
		want = want[:min(len(want), q.Limit)]
	}
	if err != nil || !slices.Equal(got, want) {
		return fmt.Errorf("terms with prefix %q among %+v:\n got %v, error %v\nwant %v", prefix, q, got, err, want)
	}
	return nil
}

// checkFolders returns an error unless Folders yields the folders of the model by ID.
func (m *assetModel) checkFolders(r assetstore.Reader) error {
	want := slices.Sorted(maps.Keys(m.folders))
	got, err := collect(r.Folders(ctx))
	if err != nil || len(got) != len(want) {
		return fmt.Errorf("folders: %d, error %v; want %d", len(got), err, len(want))
	}
	for i, f := range got {
		if w := m.folders[want[i]]; !equalFolders(f, w) {
			return fmt.Errorf("folders: number %d is %+v, want %+v", i, f, w)
		}
	}
	return nil
}

// checkQuery returns an error unless Assets and Count agree with the model about q. A driver may take a page from what it has
// found for a count before, so pages are read before the count and after it: then without the first and the last match, in both
// orders.
func (m *assetModel) checkQuery(r assetstore.Reader, q assetstore.AssetQuery) error {
	if err := m.checkPage(r, q); err != nil {
		return err
	}
	counted := q
	counted.Limit = 0
	all := m.answer(counted)
	counted.Limit = 1 // Count ignores it
	if n, err := r.Count(ctx, counted); err != nil || n != int64(len(all)) {
		return fmt.Errorf("count of %+v: %d, error %v; want %d", counted, n, err, len(all))
	}
	if len(all) < 3 {
		return nil
	}
	q.After, q.Before = slices.Min(all), slices.Max(all)
	for _, q.Ascending = range []bool{false, true} {
		if err := m.checkPage(r, q); err != nil {
			return fmt.Errorf("after the count of more: %w", err)
		}
	}
	return nil
}

// checkPage returns an error unless Assets agrees with the model about q.
func (m *assetModel) checkPage(r assetstore.Reader, q assetstore.AssetQuery) error {
	want := m.answer(q)
	records, err := collect(r.Assets(ctx, q))
	if err != nil {
		return fmt.Errorf("assets of %+v: %w", q, err)
	}
	got := make([]int64, len(records))
	for i, record := range records {
		got[i] = record.Ordinal
		if want := m.rows[record.Ordinal].Record; !equalRecords(record, want) {
			return fmt.Errorf("assets of %+v: got %+v, want %+v", q, record, want)
		}
	}
	if !slices.Equal(got, want) {
		return fmt.Errorf("assets of %+v:\n got %v\nwant %v", q, got, want)
	}
	return nil
}

func equalRecords(a, b assetstore.Record) bool {
	return a.Ordinal == b.Ordinal && a.Origin == b.Origin && a.CreatedAt == b.CreatedAt && a.UpdatedAt == b.UpdatedAt &&
		slices.Equal(a.Folders, b.Folders) && bytes.Equal(a.Body, b.Body)
}

func equalFolders(a, b assetstore.FolderRecord) bool {
	return a.ID == b.ID && a.Parent == b.Parent && a.Label == b.Label && a.Inherit == b.Inherit && a.Deleted == b.Deleted &&
		slices.EqualFunc(a.Permissions, b.Permissions, func(p, q assetstore.Permission) bool { return reflect.DeepEqual(p, q) })
}

// library is the library that most rules write. nowhere stays empty, unless a rule needs a second library.
var (
	library = assetstore.Library{Network: "example.test", ID: "example.test"}
	nowhere = assetstore.Library{Network: "example.test", ID: "nowhere"}
)

// record returns an asset with an origin that no other ordinal has.
func record(ordinal int64, folders ...string) assetstore.Record {
	sum := sha256.Sum256(fmt.Append(nil, ordinal))
	return assetstore.Record{
		Ordinal: ordinal, Origin: assetstore.Origin(sum[:16]), CreatedAt: 1_700_000_000_000 + ordinal, UpdatedAt: 1_700_000_000_001 + ordinal,
		Folders: folders, Body: fmt.Appendf(nil, `{"content":{"id":"%d"},"safe_tags":[]}`, ordinal),
	}
}

// index returns an index with these terms, sorted and each once, as a driver may expect them.
func index(terms ...string) assetstore.Index {
	slices.Sort(terms)
	return assetstore.Index{Terms: slices.Compact(terms)}
}

func folderRecord(id, parent string, permissions ...assetstore.Permission) assetstore.FolderRecord {
	return assetstore.FolderRecord{ID: id, Parent: parent, Label: "Label of " + id, Inherit: true, Permissions: permissions}
}

func permission(id string) assetstore.Permission {
	group := "urn:vitrine:example.test:site=1"
	return assetstore.Permission{ID: id, RType: "assetFolder", Operation: assetstore.Edit, RID: "urn:x", Group: &group,
		Role: &assetstore.Subject{ID: "r", Name: "Röle"}, User: &assetstore.Subject{ID: "u"}}
}

// change runs fn in an Update of the library that must succeed.
func change(t *testing.T, s assetstore.Store, lib assetstore.Library, fn func(w assetstore.Tx) error) {
	t.Helper()
	if err := s.Update(ctx, lib, fn); err != nil {
		t.Fatalf("Update: %v", err)
	}
}

// checkIn fails unless the library is as the model says, in a View of its own.
func (m *assetModel) checkIn(t *testing.T, s assetstore.Store, lib assetstore.Library) {
	t.Helper()
	if err := s.View(context.Background(), lib, m.check); err != nil {
		t.Fatal(err)
	}
}

// fillAssets puts two assets and two folders into a library, and sets its State.
func fillAssets(w assetstore.Tx, m *assetModel) error {
	x := index("both", "one")
	x.Attributes = []assetstore.Attribute{{Key: "k", Value: "v1"}}
	y := index("both", "two")
	y.Attributes = []assetstore.Attribute{{Key: "k", Value: "v1"}, {Key: "k", Value: "v2"}, {Key: "l", Value: ""}}
	return errors.Join(
		m.setState(w, assetstore.State{Key: assetstore.Key{1}, Last: 2, At: 3, Count: 2, Tree: 1}),
		m.putFolder(w, folderRecord("a", "")), m.putFolder(w, folderRecord("b", "a", permission("p"))),
		m.put(w, record(1), x), m.put(w, record(2, "b", "a"), y),
	)
}
