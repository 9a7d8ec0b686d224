package storagetest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/vitrine-go/vitrine/assets"
)

var assetRowRules = []assetRule{
	{"what was put is found by its ordinal, its origin and each of its terms", func(t *testing.T, s assets.Store) {
		m := newAssetModel()
		change(t, s, library, func(w assets.Tx) error { return fillAssets(w, m) })
		m.checkIn(t, s, library)
	}},
	{"putting again replaces the asset and all that it was found by", func(t *testing.T, s assets.Store) {
		m := newAssetModel()
		change(t, s, library, func(w assets.Tx) error { return fillAssets(w, m) })
		x := index("both", "new")
		x.Attributes = []assets.Attribute{{Key: "k", Value: "v3"}}
		r := record(2, "a")
		old := r.Origin
		r.Origin, r.UpdatedAt, r.Body = assets.Origin{7}, 9, []byte(`{"other":1}`)
		change(t, s, library, func(w assets.Tx) error { return m.put(w, r, x) })
		m.checkIn(t, s, library)
		wantNone(t, s, library, 3, old)
		if err := s.View(ctx, library, func(r assets.Reader) error {
			return m.checkQuery(r, assets.AssetQuery{All: []assets.AnyOf{{"two"}}})
		}); err != nil {
			t.Error(err)
		}
	}},
	{"an asset that is put again as it is stays as it is", func(t *testing.T, s assets.Store) {
		m := newAssetModel()
		for range 3 {
			change(t, s, library, func(w assets.Tx) error { return fillAssets(w, m) })
			m.checkIn(t, s, library)
		}
	}},
	{"a deleted asset is found by nothing, and the others stay", func(t *testing.T, s assets.Store) {
		m := newAssetModel()
		change(t, s, library, func(w assets.Tx) error { return fillAssets(w, m) })
		change(t, s, library, func(w assets.Tx) error { return m.delete(w, 2) })
		m.checkIn(t, s, library)
		wantNone(t, s, library, 2, record(2).Origin)
		if err := s.View(ctx, library, func(r assets.Reader) error {
			values, err := collect(r.Values(ctx, "l", nil))
			if len(values) > 0 {
				err = fmt.Errorf("the values of a deleted asset are there: %q", values)
			}
			return errors.Join(err, m.checkQuery(r, assets.AssetQuery{All: []assets.AnyOf{{"two"}}}))
		}); err != nil {
			t.Error(err)
		}
		change(t, s, library, func(w assets.Tx) error { return m.put(w, record(2), index("back")) })
		m.checkIn(t, s, library)
	}},
	{"deleting an asset that is not there is ErrNotFound", func(t *testing.T, s assets.Store) {
		for _, ordinal := range []int64{1, 0, -1, assets.MaxOrdinal + 1} {
			err := s.Update(ctx, library, func(w assets.Tx) error { return w.DeleteAsset(ctx, ordinal) })
			checkError(t, err, assets.ErrNotFound, "DeleteAsset")
		}
	}},
	{"a count follows what is added, behind all others and among them, changed and removed", func(t *testing.T, s assets.Store) {
		m := newAssetModel()
		check := func() {
			t.Helper()
			err := s.View(ctx, library, func(r assets.Reader) error {
				var errs []error
				for _, q := range []assets.AssetQuery{{}, {All: []assets.AnyOf{{"x"}}}, {All: []assets.AnyOf{{"y"}}}, {All: []assets.AnyOf{{"x", "y"}, {"all"}}}} {
					errs = append(errs, m.checkQuery(r, q))
				}
				return errors.Join(errs...)
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		put := func(ordinal int64, terms ...string) func(assets.Tx) error {
			return func(w assets.Tx) error { return m.put(w, record(ordinal), index(append(terms, "all")...)) }
		}
		remove := func(ordinal int64) func(assets.Tx) error {
			return func(w assets.Tx) error { return m.delete(w, ordinal) }
		}
		check()
		for _, step := range []func(assets.Tx) error{
			put(5, "x"), put(7, "x", "y"), put(6, "y"), put(8), put(7, "y"), put(1, "x"), remove(8), put(8, "x"), put(9, "x"), remove(5), put(10, "x", "y"),
		} {
			change(t, s, library, step)
			check()
			check() // and again, should it be remembered
		}
	}},
	{"folders come by id in byte order, with their permissions in order", func(t *testing.T, s assets.Store) {
		m := newAssetModel()
		change(t, s, library, func(w assets.Tx) error {
			for _, id := range []string{"b", "a", "B", "é", "aa", "a b", "a'b", "10", "9"} {
				if err := m.putFolder(w, folderRecord(id, "", permission("2"), permission("1"))); err != nil {
					return err
				}
			}
			changed := folderRecord("a", "b", permission("9"))
			changed.Inherit, changed.Deleted, changed.Label = false, true, "other"
			return m.putFolder(w, changed)
		})
		m.checkIn(t, s, library)
	}},
	{"the ordinal goes up to MaxOrdinal, and integers keep all their bits", func(t *testing.T, s assets.Store) {
		m := newAssetModel()
		change(t, s, library, func(w assets.Tx) error {
			r := record(assets.MaxOrdinal)
			r.CreatedAt, r.UpdatedAt = 1<<62, -1<<62
			return errors.Join(m.put(w, r, index("x")), m.put(w, record(1), index("x")),
				m.setState(w, assets.State{Key: assets.Key{255}, Last: assets.MaxOrdinal, At: 1 << 62, Count: 1<<53 + 1, Tree: -1}))
		})
		m.checkIn(t, s, library)
		if err := s.View(ctx, library, func(r assets.Reader) error {
			return m.checkQuery(r, assets.AssetQuery{All: []assets.AnyOf{{"x"}}, After: 1, Before: assets.MaxOrdinal + 1})
		}); err != nil {
			t.Error(err)
		}
	}},
}

// wantNone reports what is there under the ordinal or the origin.
func wantNone(t *testing.T, s assets.Store, lib assets.Library, ordinal int64, o assets.Origin) {
	t.Helper()
	_ = s.View(ctx, lib, func(r assets.Reader) error {
		_, err := r.Asset(ctx, ordinal)
		checkError(t, err, assets.ErrNotFound, "Asset")
		_, err = r.AssetFrom(ctx, o)
		checkError(t, err, assets.ErrNotFound, "AssetFrom")
		return nil
	})
}
