package storagetest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/assets/assetstore"
)

var assetRowRules = []assetRule{
	// These are the three ways in which the Service looks for assets. The values of its attributes are found too.
	{"an asset that was put is found by its ordinal, its origin and each of its terms", func(t *testing.T, s assetstore.Store) {
		m := newAssetModel()
		change(t, s, library, func(w assetstore.Tx) error { return fillAssets(w, m) })
		m.checkIn(t, s, library)
	}},
	// The old terms, attributes and origin must not find the asset any more.
	{"an asset that is put again replaces the old one with all of its index entries", func(t *testing.T, s assetstore.Store) {
		m := newAssetModel()
		change(t, s, library, func(w assetstore.Tx) error { return fillAssets(w, m) })
		x := index("both", "new")
		x.Attributes = []assetstore.Attribute{{Key: "k", Value: "v3"}}
		r := record(2, "a")
		old := r.Origin
		r.Origin, r.UpdatedAt, r.Body = assetstore.Origin{7}, 9, []byte(`{"other":1}`)
		change(t, s, library, func(w assetstore.Tx) error { return m.put(w, r, x) })
		m.checkIn(t, s, library)
		wantNone(t, s, library, 3, old)
		if err := s.View(ctx, library, func(r assetstore.Reader) error {
			return m.checkQuery(r, assetstore.AssetQuery{All: []assetstore.AnyOf{{"two"}}})
		}); err != nil {
			t.Error(err)
		}
	}},
	// A driver that adds index entries without removing the old ones would find or count the asset twice.
	{"putting an equal asset again changes nothing", func(t *testing.T, s assetstore.Store) {
		m := newAssetModel()
		for range 3 {
			change(t, s, library, func(w assetstore.Tx) error { return fillAssets(w, m) })
			m.checkIn(t, s, library)
		}
	}},
	// Its ordinal and its origin may be used again.
	{"a deleted asset is not found by anything, and the others stay", func(t *testing.T, s assetstore.Store) {
		m := newAssetModel()
		change(t, s, library, func(w assetstore.Tx) error { return fillAssets(w, m) })
		change(t, s, library, func(w assetstore.Tx) error { return m.delete(w, 2) })
		m.checkIn(t, s, library)
		wantNone(t, s, library, 2, record(2).Origin)
		if err := s.View(ctx, library, func(r assetstore.Reader) error {
			values, err := collect(r.Values(ctx, "l", nil))
			if len(values) > 0 {
				err = fmt.Errorf("the values of a deleted asset are there: %q", values)
			}
			return errors.Join(err, m.checkQuery(r, assetstore.AssetQuery{All: []assetstore.AnyOf{{"two"}}}))
		}); err != nil {
			t.Error(err)
		}
		change(t, s, library, func(w assetstore.Tx) error { return m.put(w, record(2), index("back")) })
		m.checkIn(t, s, library)
	}},
	// The Service walks the origins of an upload in their order and puts each asset before it asks for the next. Some
	// origins have no asset. The bodies are too large to read all of them at once.
	{"AssetsFrom yields assets in the order of the origins, also large ones, and while they are written", func(t *testing.T, s assetstore.Store) {
		m := newAssetModel()
		large := func(ordinal int64) assetstore.Record {
			r := record(ordinal, "f")
			r.Body = bytes.Repeat([]byte{'x'}, 1<<20)
			return r
		}
		change(t, s, library, func(w assetstore.Tx) error {
			var errs []error
			for ordinal := int64(1); ordinal <= 9; ordinal += 2 {
				errs = append(errs, m.put(w, large(ordinal), index("x")))
			}
			return errors.Join(errs...)
		})
		change(t, s, library, func(w assetstore.Tx) error {
			ordinals := []int64{6, 9, 7, 2, 3, 1, 5, 4}
			var origins []assetstore.Origin
			for _, ordinal := range ordinals {
				origins = append(origins, record(ordinal).Origin)
			}
			for a, err := range w.AssetsFrom(ctx, origins) {
				if err != nil {
					return err
				}
				ordinal := ordinals[0]
				ordinals = ordinals[1:]
				if want := m.rows[ordinal].Record; !equalRecords(a, want) {
					t.Errorf("the asset from the origin of %d is %d with %d bytes", ordinal, a.Ordinal, len(a.Body))
				}
				if err := m.put(w, record(ordinal, "g"), index("y")); err != nil {
					return err
				}
			}
			if len(ordinals) > 0 {
				t.Errorf("it ends before the origins of %d", ordinals)
			}
			return nil
		})
		m.checkIn(t, s, library)
	}},
	// An asset that is written during the loop may be yielded as it was before or as it is after.
	{"AssetsFrom can be ranged over again, and assets may be written before they are yielded", func(t *testing.T, s assetstore.Store) {
		m := newAssetModel()
		change(t, s, library, func(w assetstore.Tx) error {
			return errors.Join(m.put(w, record(1), index("x")), m.put(w, record(2), index("x")), m.put(w, record(3), index("x")))
		})
		change(t, s, library, func(w assetstore.Tx) error {
			from := w.AssetsFrom(ctx, []assetstore.Origin{record(1).Origin, record(9).Origin, record(2).Origin, record(3).Origin})
			want := []assetstore.Record{record(1), {}, record(2), record(3)}
			for range 2 {
				if got, err := collect(from); err != nil || !slices.EqualFunc(got, want, equalRecords) {
					t.Errorf("AssetsFrom: %+v, error %v, want %+v", got, err, want)
				}
			}
			for a, err := range from {
				if err != nil {
					return err
				}
				if a.Ordinal == 1 {
					err = errors.Join(m.put(w, record(2), index("y")), m.delete(w, 3))
				}
				if err != nil {
					return err
				}
			}
			return errors.Join(m.put(w, record(2), index("x")), m.put(w, record(3), index("x")))
		})
		m.checkIn(t, s, library)
	}},
	// An ordinal out of range is an absent asset, and no other error.
	{"deleting an absent asset is ErrNotFound", func(t *testing.T, s assetstore.Store) {
		for _, ordinal := range []int64{1, 0, -1, assetstore.MaxOrdinal + 1} {
			err := s.Update(ctx, library, func(w assetstore.Tx) error { return w.DeleteAsset(ctx, ordinal) })
			checkError(t, err, vitrine.ErrNotFound, "DeleteAsset")
		}
	}},
	// A driver may cache counts and result sets. Most assets are added with the highest ordinal; a cache that only
	// appends must notice the others. Each check runs twice, so the second one can come from a cache.
	{"a count follows each asset that is added, changed or removed, also in the middle", func(t *testing.T, s assetstore.Store) {
		m := newAssetModel()
		check := func() {
			t.Helper()
			err := s.View(ctx, library, func(r assetstore.Reader) error {
				var errs []error
				for _, q := range []assetstore.AssetQuery{{}, {All: []assetstore.AnyOf{{"x"}}}, {All: []assetstore.AnyOf{{"y"}}}, {All: []assetstore.AnyOf{{"x", "y"}, {"all"}}}} {
					errs = append(errs, m.checkQuery(r, q))
				}
				return errors.Join(errs...)
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		put := func(ordinal int64, terms ...string) func(assetstore.Tx) error {
			return func(w assetstore.Tx) error { return m.put(w, record(ordinal), index(append(terms, "all")...)) }
		}
		remove := func(ordinal int64) func(assetstore.Tx) error {
			return func(w assetstore.Tx) error { return m.delete(w, ordinal) }
		}
		check()
		for _, step := range []func(assetstore.Tx) error{
			put(5, "x"), put(7, "x", "y"), put(6, "y"), put(8), put(7, "y"), put(1, "x"), remove(8), put(8, "x"), put(9, "x"), remove(5), put(10, "x", "y"),
		} {
			change(t, s, library, step)
			check()
			check() // now a cache may have the results
		}
	}},
	// A folder that is put again replaces the old one.
	{"Folders yields folders by id in byte order, with their permissions in the order given", func(t *testing.T, s assetstore.Store) {
		m := newAssetModel()
		change(t, s, library, func(w assetstore.Tx) error {
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
	// A driver may pack the ordinal with a library number into one integer. A driver that stores numbers as floating
	// point loses bits here.
	{"ordinals up to MaxOrdinal are accepted, and integers keep all 64 bits", func(t *testing.T, s assetstore.Store) {
		m := newAssetModel()
		change(t, s, library, func(w assetstore.Tx) error {
			r := record(assetstore.MaxOrdinal)
			r.CreatedAt, r.UpdatedAt = 1<<62, -1<<62
			return errors.Join(m.put(w, r, index("x")), m.put(w, record(1), index("x")),
				m.setState(w, assetstore.State{Key: assetstore.Key{255}, Last: assetstore.MaxOrdinal, At: 1 << 62, Count: 1<<53 + 1, Tree: -1}))
		})
		m.checkIn(t, s, library)
		if err := s.View(ctx, library, func(r assetstore.Reader) error {
			return m.checkQuery(r, assetstore.AssetQuery{All: []assetstore.AnyOf{{"x"}}, After: 1, Before: assetstore.MaxOrdinal + 1})
		}); err != nil {
			t.Error(err)
		}
	}},
}

// wantNone reports an error if there is an asset with the ordinal or the origin. AssetsFrom stands for an absent asset with
// a zero Record.
func wantNone(t *testing.T, s assetstore.Store, lib assetstore.Library, ordinal int64, o assetstore.Origin) {
	t.Helper()
	_ = s.View(ctx, lib, func(r assetstore.Reader) error {
		_, err := r.Asset(ctx, ordinal)
		checkError(t, err, vitrine.ErrNotFound, "Asset")
		if from, err := collect(r.AssetsFrom(ctx, []assetstore.Origin{o})); err != nil || len(from) != 1 || from[0].Ordinal != 0 {
			t.Errorf("AssetsFrom: %+v, error %v, want one zero Record", from, err)
		}
		return nil
	})
}
