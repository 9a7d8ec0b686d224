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
	"testing"

	"github.com/vitrine-go/vitrine/assets"
)

// assetModel is what a library should hold. Its writes go to a transaction too, so that the two can
// be compared.
type assetModel struct {
	state   assets.State
	rows    map[int64]assetRow
	folders map[string]assets.FolderRecord
}

type assetRow struct {
	assets.Record
	index assets.Index
}

func newAssetModel() *assetModel {
	return &assetModel{rows: map[int64]assetRow{}, folders: map[string]assets.FolderRecord{}}
}

func (m *assetModel) clone() *assetModel {
	return &assetModel{m.state, maps.Clone(m.rows), maps.Clone(m.folders)}
}

func (m *assetModel) put(w assets.Tx, r assets.Record, x assets.Index) error {
	m.rows[r.Ordinal] = assetRow{r, x}
	return w.PutAsset(ctx, r, x)
}

func (m *assetModel) delete(w assets.Tx, ordinal int64) error {
	delete(m.rows, ordinal)
	return w.DeleteAsset(ctx, ordinal)
}

func (m *assetModel) putFolder(w assets.Tx, f assets.FolderRecord) error {
	m.folders[f.ID] = f
	return w.PutFolder(ctx, f)
}

func (m *assetModel) setState(w assets.Tx, s assets.State) error {
	m.state = s
	return w.SetState(ctx, s)
}

// answer returns the ordinals that a query finds, in order.
func (m *assetModel) answer(q assets.AssetQuery) []int64 {
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

// check reads all that the library holds in every way there is, and reports what is not as in the model.
func (m *assetModel) check(r assets.Reader) error {
	if s, err := r.State(ctx); err != nil || s != m.state {
		return fmt.Errorf("state: %+v, error %v; want %+v", s, err, m.state)
	}
	if err := m.checkFolders(r); err != nil {
		return err
	}
	terms, keys := map[string]bool{"never": true}, map[string]bool{"never": true}
	for ordinal, row := range m.rows {
		got, err := r.Asset(ctx, ordinal)
		if err != nil || !equalRecords(got, row.Record) {
			return fmt.Errorf("asset %d: %+v, error %v; want %+v", ordinal, got, err, row.Record)
		}
		got, err = r.AssetFrom(ctx, row.Origin)
		if err != nil || !equalRecords(got, row.Record) {
			return fmt.Errorf("asset from the origin of %d: %+v, error %v; want %+v", ordinal, got, err, row.Record)
		}
		for _, term := range row.index.Terms {
			terms[term] = true
		}
		for _, a := range row.index.Attributes {
			keys[a.Key] = true
		}
	}
	for key := range keys {
		if err := m.checkValues(r, key, nil); err != nil {
			return err
		}
	}
	for term := range terms {
		if err := m.checkQuery(r, assets.AssetQuery{All: []assets.AnyOf{{term}}}); err != nil {
			return err
		}
	}
	return errors.Join(m.checkQuery(r, assets.AssetQuery{}), m.checkQuery(r, assets.AssetQuery{Ascending: true}))
}

// checkValues reports values of a key that are not those of the assets that match all the sets.
func (m *assetModel) checkValues(r assets.Reader, key string, all []assets.AnyOf) error {
	q := assets.AssetQuery{All: all}
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

func (m *assetModel) checkFolders(r assets.Reader) error {
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

func (m *assetModel) checkQuery(r assets.Reader, q assets.AssetQuery) error {
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
	q.Limit = 0
	all := len(m.answer(q))
	q.Limit = 1 // of no meaning here
	if n, err := r.Count(ctx, q); err != nil || n != int64(all) {
		return fmt.Errorf("count of %+v: %d, error %v; want %d", q, n, err, all)
	}
	return nil
}

func equalRecords(a, b assets.Record) bool {
	return a.Ordinal == b.Ordinal && a.Origin == b.Origin && a.CreatedAt == b.CreatedAt && a.UpdatedAt == b.UpdatedAt &&
		slices.Equal(a.Folders, b.Folders) && bytes.Equal(a.Body, b.Body)
}

func equalFolders(a, b assets.FolderRecord) bool {
	return a.ID == b.ID && a.Parent == b.Parent && a.Label == b.Label && a.Inherit == b.Inherit && a.Deleted == b.Deleted &&
		slices.EqualFunc(a.Permissions, b.Permissions, func(p, q assets.Permission) bool { return reflect.DeepEqual(p, q) })
}

var (
	library = assets.Library{Network: "example.test", ID: "example.test"}
	nowhere = assets.Library{Network: "example.test", ID: "nowhere"}
)

// record returns an asset of its own origin, and index what it is found by.
func record(ordinal int64, folders ...string) assets.Record {
	sum := sha256.Sum256(fmt.Append(nil, ordinal))
	return assets.Record{
		Ordinal: ordinal, Origin: assets.Origin(sum[:16]), CreatedAt: 1_700_000_000_000 + ordinal, UpdatedAt: 1_700_000_000_001 + ordinal,
		Folders: folders, Body: fmt.Appendf(nil, `{"content":{"id":"%d"},"safe_tags":[]}`, ordinal),
	}
}

func index(terms ...string) assets.Index {
	slices.Sort(terms)
	return assets.Index{Terms: slices.Compact(terms)}
}

func folderRecord(id, parent string, permissions ...assets.Permission) assets.FolderRecord {
	return assets.FolderRecord{ID: id, Parent: parent, Label: "Label of " + id, Inherit: true, Permissions: permissions}
}

func permission(id string) assets.Permission {
	group := "urn:vitrine:example.test:site=1"
	return assets.Permission{ID: id, RType: "assetFolder", Operation: assets.Edit, RID: "urn:x", Group: &group,
		Role: &assets.Subject{ID: "r", Name: "Röle"}, User: &assets.Subject{ID: "u"}}
}

// change runs fn in an update of the library, and view in a view of it.
func change(t *testing.T, s assets.Store, lib assets.Library, fn func(w assets.Tx) error) {
	t.Helper()
	if err := s.Update(ctx, lib, fn); err != nil {
		t.Fatalf("Update: %v", err)
	}
}

func (m *assetModel) checkIn(t *testing.T, s assets.Store, lib assets.Library) {
	t.Helper()
	if err := s.View(context.Background(), lib, m.check); err != nil {
		t.Fatal(err)
	}
}

// fillAssets puts a bit of everything into a library.
func fillAssets(w assets.Tx, m *assetModel) error {
	x := index("both", "one")
	x.Attributes = []assets.Attribute{{Key: "k", Value: "v1"}}
	y := index("both", "two")
	y.Attributes = []assets.Attribute{{Key: "k", Value: "v1"}, {Key: "k", Value: "v2"}, {Key: "l", Value: ""}}
	return errors.Join(
		m.setState(w, assets.State{Key: assets.Key{1}, Last: 2, At: 3, Count: 2, Tree: 1}),
		m.putFolder(w, folderRecord("a", "")), m.putFolder(w, folderRecord("b", "a", permission("p"))),
		m.put(w, record(1), x), m.put(w, record(2, "b", "a"), y),
	)
}
