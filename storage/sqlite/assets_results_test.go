package sqlite

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/internal/proof"
)

var resultLibraries = []assets.Library{{Network: "n", ID: "one"}, {Network: "n", ID: "two"}}

// someTerms returns some of a few terms, sorted.
func someTerms(rng *rand.Rand, most int) []string {
	has := []string{"all"}
	for range rng.IntN(most) {
		has = append(has, fmt.Sprint("t", rng.IntN(1+rng.IntN(12))))
	}
	slices.Sort(has)
	return slices.Compact(has)
}

var errKeptNot = errors.New("not to be kept")

// scribble makes some changes in one update, of which nothing is kept at times.
func scribble(t *testing.T, rng *rand.Rand, s assets.Store) {
	t.Helper()
	err := s.Update(t.Context(), resultLibraries[rng.IntN(2)], func(w assets.Tx) error {
		for range rng.IntN(12) {
			ordinal := int64(1 + rng.IntN(150))
			if rng.IntN(4) == 0 {
				if err := w.DeleteAsset(t.Context(), ordinal); err != nil && !errors.Is(err, vitrine.ErrNotFound) {
					return err
				}
			} else if err := w.PutAsset(t.Context(), assets.Record{Ordinal: ordinal, Body: assets.Body("{}")}, assets.Index{Terms: someTerms(rng, 6)}); err != nil {
				return err
			}
		}
		if rng.IntN(4) == 0 {
			return errKeptNot
		}
		return nil
	})
	if err != nil && err != errKeptNot {
		t.Fatal(err)
	}
}

// checkFound holds what a snapshot's sets say against what MATCH finds in the same snapshot.
func checkFound(t *testing.T, rng *rand.Rand, r assets.Reader) {
	t.Helper()
	bySets := r.(*assetReader)
	byMatch := &assetReader{db: bySets.db, c: bySets.c, number: bySets.number, edits: bySets.edits, writes: true}
	for range 4 {
		q := assets.AssetQuery{Ascending: rng.IntN(2) == 0, Limit: rng.IntN(90), After: int64(rng.IntN(20))}
		for range 1 + rng.IntN(3) {
			q.All = append(q.All, someTerms(rng, 4)[rng.IntN(2)*min(1, rng.IntN(2)):])
		}
		if rng.IntN(2) == 0 {
			q.Prefixes = append(q.Prefixes, assets.AnyOf{fmt.Sprint("t", rng.IntN(12)), "al"}[rng.IntN(2):])
		}
		counted := func(r *assetReader, prefix string) map[string]int64 {
			out := map[string]int64{}
			for c, err := range r.CountTerms(t.Context(), assets.AssetQuery{All: q.All, Prefixes: q.Prefixes, After: q.After}, prefix) {
				if err != nil {
					t.Fatal(err)
				}
				out[c.Term] = c.Count
			}
			return out
		}
		if got, want := counted(bySets, "t"), counted(byMatch, "t"); !maps.Equal(got, want) {
			t.Fatalf("%+v: counted %v, by MATCH %v", q, got, want)
		}
		ordinals := func(r *assetReader) (out []int64) {
			for a, err := range r.Assets(t.Context(), q) {
				if err != nil {
					t.Fatal(err)
				}
				out = append(out, a.Ordinal)
			}
			n, err := r.Count(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			return append(out, n)
		}
		if got, want := ordinals(bySets), ordinals(byMatch); !slices.Equal(got, want) {
			t.Fatalf("%+v: found and counted %v, MATCH finds %v", q, got, want)
		}
	}
}

// Whoever writes, what is held is what a snapshot has: also in one that began before, of a store that
// another one writes to, when an update is not kept, and when little can be held.
func TestCachedResultsEqualThoseOfMatch(t *testing.T) {
	rounds := 40
	if proof.Short() {
		rounds = 8
	}
	rng := rand.New(rand.NewPCG(8, 8))
	one := openTest(t, nil)
	stores := []*DB{one, openAt(t, one.path, nil), openAt(t, one.path, &Options{Cache: 40 << 10}), openAt(t, one.path, &Options{Cache: -1})}
	var look func(db *DB, depth int)
	look = func(db *DB, depth int) {
		err := db.Assets().View(t.Context(), resultLibraries[rng.IntN(2)], func(r assets.Reader) error {
			checkFound(t, rng, r)
			if depth > 0 {
				scribble(t, rng, stores[rng.IntN(2)].Assets())
				look(db, depth-1)
				checkFound(t, rng, r)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for range rounds {
		for range rng.IntN(3) {
			scribble(t, rng, stores[rng.IntN(2)].Assets())
		}
		for _, db := range stores {
			look(db, rng.IntN(3))
		}
	}
}

// What this process adds, changes and removes is followed, without reading the index again; what
// another one does is not.
func TestWritesOfThisProcessUpdateCachedSets(t *testing.T) {
	db := openTest(t, nil)
	lib := resultLibraries[0]
	put := func(db *DB, ordinal int64, terms ...string) {
		t.Helper()
		err := db.Assets().Update(t.Context(), lib, func(w assets.Tx) error {
			return w.PutAsset(t.Context(), assets.Record{Ordinal: ordinal, Body: assets.Body("{}")}, assets.Index{Terms: terms})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	var read bool
	count := func(want int64) {
		t.Helper()
		err := db.Assets().View(t.Context(), lib, func(r assets.Reader) error {
			n, err := r.Count(t.Context(), assets.AssetQuery{All: []assets.AnyOf{{"a", "b"}}})
			if n != want {
				t.Errorf("%d assets, want %d", n, want)
			}
			read = r.(*assetReader).index != nil
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	put(db, 1, "a")
	put(db, 2, "c")
	count(1)
	if !read {
		t.Fatal("the index was not read: this test shows nothing")
	}
	for want, change := range []func(){
		2: func() { put(db, 3, "b") },
		3: func() { put(db, 2, "a", "b") },
	} {
		if change != nil {
			change()
			count(int64(want))
			if read {
				t.Error("the index was read again")
			}
		}
	}
	err := db.Assets().Update(t.Context(), lib, func(w assets.Tx) error { return w.DeleteAsset(t.Context(), 1) })
	if err != nil {
		t.Fatal(err)
	}
	count(2)
	if read {
		t.Error("the index was read again after a deletion")
	}
	put(openAt(t, db.path, nil), 4, "a")
	count(3)
	if !read {
		t.Error("another store's asset was found without reading the index")
	}
}

// Where lists cannot be read, MATCH is asked: for an index in another format, and for ordinals that
// a set has no room for.
func TestMatchIsUsedWhereSetsCannotBeRead(t *testing.T) {
	ctx, lib := context.Background(), resultLibraries[0]
	for name, prepare := range map[string]struct {
		ordinal int64
		sql     string
	}{
		"format": {1, `DROP TABLE asset_vocabulary; DROP TABLE asset_term; CREATE VIRTUAL TABLE asset_term USING fts5 (
			terms, content = '', detail = none, tokenize = "ascii tokenchars '_'");
			CREATE VIRTUAL TABLE asset_vocabulary USING fts5vocab (asset_term, instance)`},
		"high": {1 << 32, "SELECT 1"},
	} {
		t.Run(name, func(t *testing.T) {
			db := openTest(t, nil)
			if err := db.update(ctx, func(c *conn) error { return c.script(prepare.sql) }); err != nil {
				t.Fatal(err)
			}
			err := db.Assets().Update(ctx, lib, func(w assets.Tx) error {
				return w.PutAsset(ctx, assets.Record{Ordinal: prepare.ordinal, Body: assets.Body("{}")}, assets.Index{Terms: []string{"a"}})
			})
			if err != nil {
				t.Fatal(err)
			}
			err = db.Assets().View(ctx, lib, func(r assets.Reader) error {
				q := assets.AssetQuery{All: []assets.AnyOf{{"a", "b"}}}
				if _, ok, err := r.(*assetReader).result(ctx, conditionsOf(q)); ok || err != nil {
					t.Errorf("a set was made, error %v", err)
				}
				for a, err := range r.Assets(ctx, q) {
					if a.Ordinal != prepare.ordinal || err != nil {
						t.Errorf("asset %d, error %v", a.Ordinal, err)
					}
				}
				if n, err := r.Count(ctx, q); n != 1 || err != nil {
					t.Errorf("counted %d, error %v", n, err)
				}
				for c, err := range r.CountTerms(ctx, q, "a") {
					if c != (assets.TermCount{Term: "a", Count: 1}) || err != nil {
						t.Errorf("counted %v, error %v", c, err)
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

// A library may have assets on both sides of the highest ordinal of a set. Then a list that fits into a set may be counted
// before one that does not.
func TestTermsAreCountedWhereOnlySomeSetsCanBeRead(t *testing.T) {
	ctx, lib := context.Background(), resultLibraries[0]
	db := openTest(t, nil)
	err := db.Assets().Update(ctx, lib, func(w assets.Tx) error {
		return errors.Join(
			w.PutAsset(ctx, assets.Record{Ordinal: 1, Body: assets.Body("{}")}, assets.Index{Terms: []string{"a1"}}),
			w.PutAsset(ctx, assets.Record{Ordinal: 1 << 32, Origin: assets.Origin{1}, Body: assets.Body("{}")}, assets.Index{Terms: []string{"a2"}}))
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, limit := range []int{0, 5} {
		err := db.Assets().View(ctx, lib, func(r assets.Reader) error {
			var got []assets.TermCount
			for c, err := range r.CountTerms(ctx, assets.AssetQuery{Limit: limit}, "a") {
				if err != nil {
					return err
				}
				got = append(got, c)
			}
			if want := []assets.TermCount{{Term: "a1", Count: 1}, {Term: "a2", Count: 1}}; !slices.Equal(got, want) {
				t.Errorf("limit %d: %v, want %v", limit, got, want)
			}
			return nil
		})
		if err != nil {
			t.Errorf("limit %d: %v", limit, err)
		}
	}
}

// Results are cached by the text of their conditions.
func TestDifferentConditionsHaveDifferentTexts(t *testing.T) {
	seen := map[string]assets.AssetQuery{}
	for _, q := range []assets.AssetQuery{
		{}, {All: []assets.AnyOf{{}}}, {All: []assets.AnyOf{{}, {}}}, {Prefixes: []assets.AnyOf{{}}}, {All: []assets.AnyOf{{"a"}}}, {Prefixes: []assets.AnyOf{{"a"}}},
		{All: []assets.AnyOf{{"\x01"}, {"a"}}}, {All: []assets.AnyOf{{"\x01", "a"}}}, {All: []assets.AnyOf{{"p"}, {"a"}}}, {All: []assets.AnyOf{{"t"}, {"a"}}},
		{All: []assets.AnyOf{{"pa"}}}, {All: []assets.AnyOf{{"ta"}}}, {All: []assets.AnyOf{{}, {"a"}}}, {All: []assets.AnyOf{{"a"}, {}}},
		{All: []assets.AnyOf{{"a"}}, Prefixes: []assets.AnyOf{{"a"}}}, {Prefixes: []assets.AnyOf{{"a"}, {"a"}}}, {Prefixes: []assets.AnyOf{{"a", "a"}}},
	} {
		text := textOf(conditionsOf(q))
		if other, known := seen[text]; known {
			t.Errorf("%+v and %+v have the text %q", other, q, text)
		}
		seen[text] = q
	}
}

// An update of more changes than are kept is not taken for one without any, and many updates are
// not followed one by one.
func TestSetsAreReadAgainAfterTooManyChanges(t *testing.T) {
	ctx, lib := context.Background(), resultLibraries[0]
	terms := []string{"a"}
	for i := range 999 {
		terms = append(terms, fmt.Sprint("b", i))
	}
	slices.Sort(terms)
	for name, edits := range map[string][]int{"in one update": {40}, "in many": slices.Repeat([]int{1}, 25)} {
		t.Run(name, func(t *testing.T) {
			db := openTest(t, nil)
			ordinal := int64(0)
			for round, n := range append([]int{1}, edits...) {
				err := db.Assets().Update(ctx, lib, func(w assets.Tx) error {
					for range n {
						ordinal++
						if err := w.PutAsset(ctx, assets.Record{Ordinal: ordinal, Body: assets.Body("{}")}, assets.Index{Terms: terms}); err != nil {
							return err
						}
					}
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				if round > 0 && round < len(edits) {
					continue
				}
				err = db.Assets().View(ctx, lib, func(r assets.Reader) error {
					n, err := r.Count(ctx, assets.AssetQuery{All: []assets.AnyOf{terms}})
					if n != ordinal || r.(*assetReader).index == nil {
						t.Errorf("%d assets, want %d, read from the index", n, ordinal)
					}
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
