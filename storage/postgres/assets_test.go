//go:build proof

package postgres

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/internal/cluster"
	"github.com/vitrine-go/vitrine/storage/storagetest"
)

// The lists have parts of three bytes, so that they take many parts, as in a large library.
func TestAssets(t *testing.T) {
	t.Parallel()
	storagetest.Assets(t, func(t *testing.T) assets.Store { return assetStore{openTest(t, nil), 3, 2} })
}

var testLibrary = assets.Library{Network: "example.test", ID: "example.test"}

// asset returns an asset of its own origin.
func asset(ordinal int64) assets.Record {
	r := assets.Record{Ordinal: ordinal, CreatedAt: ordinal, Body: fmt.Appendf(nil, "{%d}", ordinal)}
	copy(r.Origin[:], fmt.Append(nil, ordinal))
	return r
}

// Queries mean what AssetQuery.Match and Compare say in lists that are long, that are sparse, and of
// which one goes on where the others have nothing for long; put in any order, and changed.
func TestSearchesOfLongPostingLists(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	random := func() int64 { return 1 + rng.Int64N(100_000) }
	terms := map[int64][]string{}
	for o := range int64(3000) {
		terms[40_000+o] = append(terms[40_000+o], "run")
	}
	for term, count := range map[string]int{"some": 2000, "few": 300, "two": 2} {
		for range count {
			o := random()
			terms[o] = append(terms[o], term)
		}
	}
	for o := range int64(500) {
		terms[100_000+2*o] = append(terms[100_000+2*o], "end", "some")
	}
	terms[assets.MaxOrdinal] = []string{"end", "two"}
	store := assetStore{openTest(t, nil), 40, maxWaiting}
	put := func(tx assets.Tx, ordinal int64) error {
		slices.Sort(terms[ordinal])
		terms[ordinal] = slices.Compact(terms[ordinal])
		return tx.PutAsset(ctx, asset(ordinal), assets.Index{Terms: terms[ordinal]})
	}
	var ordinals []int64
	for o := range terms {
		ordinals = append(ordinals, o)
	}
	slices.Sort(ordinals)
	rng.Shuffle(len(ordinals), func(i, j int) { ordinals[i], ordinals[j] = ordinals[j], ordinals[i] })
	for part := range slices.Chunk(ordinals, 1000) {
		err := store.Update(ctx, testLibrary, func(tx assets.Tx) error {
			for _, o := range part {
				if err := put(tx, o); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	err := store.Update(ctx, testLibrary, func(tx assets.Tx) error {
		for _, o := range ordinals[:1000] {
			if o%3 == 0 {
				delete(terms, o)
				if err := tx.DeleteAsset(ctx, o); err != nil {
					return err
				}
				continue
			}
			terms[o] = []string{"end", "few"}
			if err := put(tx, o); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"run", "some", "few", "two", "end", "never"}
	err = store.View(ctx, testLibrary, func(r assets.Reader) error {
		for range 150 {
			q := assets.AssetQuery{Ascending: rng.IntN(2) == 0, Limit: rng.IntN(3) * 60}
			for range 1 + rng.IntN(3) {
				q.All = append(q.All, assets.AnyOf{names[rng.IntN(6)], names[rng.IntN(6)]}[rng.IntN(2):])
			}
			if rng.IntN(3) == 0 {
				q.Prefixes = append(q.Prefixes, assets.AnyOf{[]string{"r", "s", "fe", "t", "e", "x"}[rng.IntN(6)], "two"}[:1+rng.IntN(2)])
			}
			if rng.IntN(2) == 0 {
				q.After = random()
			}
			if rng.IntN(2) == 0 {
				q.Before = random()
			}
			if err := checkSearch(r, q, terms); err != nil {
				return err
			}
			if err := checkCounts(r, q, terms, []string{"r", "s", "f", "tw", "end"}[rng.IntN(5)]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// Lists that get their ordinals in batches, each above those before, hold them all, and in few parts.
func TestPostingListsThatGrowAtTheEnd(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	const most = 40
	db := openTest(t, nil)
	store := assetStore{db, most, maxWaiting}
	terms, lists := map[int64][]string{}, map[string][]int64{}
	for last := int64(0); last < 3000; {
		err := store.Update(ctx, testLibrary, func(tx assets.Tx) error {
			for range 1 + rng.IntN(60)*rng.IntN(2) {
				last += 1 + rng.Int64N(3)
				terms[last] = []string{"all"}
				for term, n := range map[string]int{"half": 2, "some": 20, "few": 300} {
					if rng.IntN(n) == 0 {
						terms[last] = append(terms[last], term)
					}
				}
				slices.Sort(terms[last])
				for _, term := range terms[last] {
					lists[term] = append(lists[term], last)
				}
				if err := tx.PutAsset(ctx, asset(last), assets.Index{Terms: terms[last]}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	err := store.View(ctx, testLibrary, func(r assets.Reader) error {
		var errs []error
		for _, all := range [][]assets.AnyOf{{{"all"}}, {{"half"}}, {{"some"}}, {{"few"}}, {{"half"}, {"some"}}} {
			q := assets.AssetQuery{All: all}
			errs = append(errs, checkSearch(r, q, terms), checkCounts(r, q, terms, "s"))
		}
		return errors.Join(errs...)
	})
	if err != nil {
		t.Error(err)
	}
	for term, ordinals := range lists {
		least := len(encodeParts(ordinals, most))
		if got := db.list(t, "SELECT count(*)::text FROM asset_list WHERE term = '"+term+"'"); got != fmt.Sprint(least) && got != fmt.Sprint(least+1) && got != fmt.Sprint(least-1) {
			t.Errorf("the list %q of %d has %s parts, where %d would do", term, len(ordinals), got, least)
		}
	}
}

// checkCounts compares how many assets that q matches have the terms with a prefix.
func checkCounts(r assets.Reader, q assets.AssetQuery, terms map[int64][]string, prefix string) error {
	q.Limit = 0
	want, got := map[string]int64{}, map[string]int64{}
	for o, list := range terms {
		for _, term := range list {
			if strings.HasPrefix(term, prefix) && q.Match(o, list) {
				want[term]++
			}
		}
	}
	for c, err := range r.CountTerms(ctx, q, prefix) {
		if err != nil {
			return err
		}
		got[c.Term] = c.Count
	}
	if !maps.Equal(got, want) {
		return fmt.Errorf("terms with %q of %+v: %v, want %v", prefix, q, got, want)
	}
	return nil
}

// Of so many lists as are in this set one part is read at a time.
func TestSearchesOfManyPostingLists(t *testing.T) {
	var many assets.AnyOf
	for i := range maxParts + 1 {
		many = append(many, fmt.Sprintf("%04d", i))
	}
	terms := map[int64][]string{}
	store := assetStore{openTest(t, nil), 1, maxWaiting}
	err := store.Update(ctx, testLibrary, func(tx assets.Tx) error {
		for o := int64(1); o < 8_000_000; o += 1_000_000 {
			terms[o] = many
			if err := tx.PutAsset(ctx, asset(o), assets.Index{Terms: many}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	err = store.View(ctx, testLibrary, func(r assets.Reader) error {
		for _, ascending := range []bool{false, true} {
			if err := checkSearch(r, assets.AssetQuery{All: []assets.AnyOf{many}, After: 2_000_000, Before: 7_000_000, Ascending: ascending}, terms); err != nil {
				return err
			}
			if err := checkSearch(r, assets.AssetQuery{All: []assets.AnyOf{many}, After: math.MaxInt64, Ascending: ascending}, terms); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// checkSearch holds what a query finds against all the assets, in a View. A page comes from the lists, or from what the last
// count has found; both are read.
func checkSearch(r assets.Reader, q assets.AssetQuery, terms map[int64][]string) error {
	r.(*assetReader).last = lastFound{}
	if err := checkPage(r, q, terms); err != nil {
		return fmt.Errorf("from the lists: %w", err)
	}
	all := matching(q, terms)
	if n, err := r.Count(ctx, q); err != nil || n != int64(len(all)) {
		return fmt.Errorf("%+v: count %d, error %v, want %d", q, n, err, len(all))
	}
	if err := checkPage(r, q, terms); err != nil {
		return fmt.Errorf("after the count: %w", err)
	}
	if len(all) == 0 {
		return nil
	}
	// In the other order, without the first and the last match.
	q.Ascending, q.After, q.Before = !q.Ascending, slices.Min(all), slices.Max(all)
	if err := checkPage(r, q, terms); err != nil {
		return fmt.Errorf("after the count of more: %w", err)
	}
	return nil
}

// checkPage compares the page of a query with its matches among all the assets.
func checkPage(r assets.Reader, q assets.AssetQuery, terms map[int64][]string) error {
	var got []int64
	for a, err := range r.Assets(ctx, q) {
		if err != nil {
			return err
		}
		got = append(got, a.Ordinal)
	}
	want := matching(q, terms)
	if q.Limit > 0 && len(want) > q.Limit {
		want = want[:q.Limit]
	}
	if !slices.Equal(got, want) {
		return fmt.Errorf("%+v:\n got %v\nwant %v", q, got, want)
	}
	return nil
}

// matching returns the ordinals of all matches of a query, in its order and whatever its limit.
func matching(q assets.AssetQuery, terms map[int64][]string) (all []int64) {
	for o, list := range terms {
		if q.Match(o, list) {
			all = append(all, o)
		}
	}
	slices.SortFunc(all, q.Compare)
	return all
}

// An update holds up the other updates of its library, and those of no other one.
func TestUpdatesOfDifferentLibrariesDoNotWaitForEachOther(t *testing.T) {
	db := openTest(t, &Options{Busy: time.Minute})
	s := db.Assets()
	touch := func(tx assets.Tx) error { return tx.PutFolder(ctx, assets.FolderRecord{ID: "f"}) }
	for _, there := range []bool{false, true} {
		err := s.Update(ctx, testLibrary, func(tx assets.Tx) error {
			for id, busy := range map[string]bool{testLibrary.ID: true, "other": false} {
				db.busy = time.Minute
				if busy {
					db.busy = 100 * time.Millisecond
				}
				err := s.Update(ctx, assets.Library{Network: testLibrary.Network, ID: id}, touch)
				if errors.Is(err, vitrine.ErrBusy) != busy || !busy && err != nil {
					t.Errorf("there %t: an update of library %q: %v", there, id, err)
				}
			}
			return touch(tx)
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// What a page, a total and a change cost must not grow with what lies around: no statement reads more
// rows than it needs, not even one whose plan is from when the tables were empty.
func TestAssetStatementsUseTheirIndexes(t *testing.T) {
	db := openTest(t, &Options{Connections: 1})
	s := db.Assets()
	all := []assets.AnyOf{{"even", "odd"}, {"all"}}
	read := func(r assets.Reader) error {
		_, err1 := r.Count(ctx, assets.AssetQuery{All: all})
		_, err2 := r.Count(ctx, assets.AssetQuery{All: all[1:]})
		_, err3 := r.Asset(ctx, 7)
		err := errors.Join(err1, err2, notFound(err3))
		for _, e := range r.AssetsFrom(ctx, []assets.Origin{{}, asset(8).Origin}) {
			err = errors.Join(err, e)
		}
		for _, ascending := range []bool{false, true} {
			for _, all := range [][]assets.AnyOf{nil, all} {
				for _, e := range r.Assets(ctx, assets.AssetQuery{All: all, Ascending: ascending, Limit: 70}) {
					err = errors.Join(err, e)
				}
			}
		}
		for _, all := range [][]assets.AnyOf{nil, all} {
			for _, e := range r.Values(ctx, "even", all) {
				err = errors.Join(err, e)
			}
		}
		return err
	}
	put := func(tx assets.Tx, o int64) error {
		kind := [2]string{"even", "odd"}[o%2]
		return tx.PutAsset(ctx, asset(o), assets.Index{
			Terms: []string{"all", kind, fmt.Sprint("z", o)}, Attributes: []assets.Attribute{{Key: fmt.Sprint(o % 1000), Value: "v"}, {Key: kind, Value: "v"}}})
	}
	change := func(tx assets.Tx) error {
		err := errors.Join(notFound(tx.DeleteAsset(ctx, 50)), notFound(tx.DeleteAsset(ctx, 51)), put(tx, 50), put(tx, 52))
		return errors.Join(err, read(tx), tx.DeleteAsset(ctx, 52))
	}
	for range 8 { // until PostgreSQL settles for its plans
		if err := errors.Join(s.View(ctx, testLibrary, read), s.Update(ctx, testLibrary, change)); err != nil {
			t.Fatal(err)
		}
	}
	err := s.Update(ctx, testLibrary, func(tx assets.Tx) error {
		for o := range int64(4000) {
			if err := put(tx, o+1); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	const enough = 800 // rows; there are 4,000 assets and more lists
	err = errors.Join(
		s.View(ctx, testLibrary, func(r assets.Reader) error {
			c := r.(*assetReader).c
			before := touched(c)
			err := read(r)
			if n := touched(c) - before; n < 280 || n > enough {
				t.Errorf("a View touched %d rows", n)
			}
			return err
		}),
		s.Update(ctx, testLibrary, func(tx assets.Tx) error {
			c := tx.(*assetTx).c
			before := touched(c)
			err := change(tx)
			if n := touched(c) - before; n < 280 || n > enough {
				t.Errorf("an Update touched %d rows", n)
			}
			return err
		}))
	if err != nil {
		t.Error(err)
	}
}

func notFound(err error) error {
	if errors.Is(err, vitrine.ErrNotFound) {
		return nil
	}
	return err
}

// touched is how many rows were read on this connection, less those that the server has put into its
// statistics, which it does between transactions.
func touched(c *conn) int64 {
	r := c.query(ctx, `SELECT sum(seq_tup_read + idx_tup_fetch)::int8 FROM pg_stat_xact_user_tables
		WHERE relid IN (SELECT oid FROM pg_class WHERE relnamespace = current_schema()::regnamespace)`)
	if r.next() {
		return r.int(0)
	}
	return -1
}

func TestADamagedPostingListIsAnError(t *testing.T) {
	db := openTest(t, nil)
	s := db.Assets()
	err := s.Update(ctx, testLibrary, func(tx assets.Tx) error { return tx.PutAsset(ctx, asset(1), assets.Index{Terms: []string{"a", "b"}}) })
	if err != nil {
		t.Fatal(err)
	}
	db.script(t, "UPDATE asset_list SET ordinals = '\\x09'")
	q := assets.AssetQuery{All: []assets.AnyOf{{"a", "b"}}}
	err = s.View(ctx, testLibrary, func(r assets.Reader) error { _, err := r.Count(ctx, q); return err })
	if !errors.Is(err, errDamaged) {
		t.Errorf("a total: %v", err)
	}
	err = s.Update(ctx, testLibrary, func(tx assets.Tx) error { return tx.PutAsset(ctx, asset(2), assets.Index{Terms: []string{"a"}}) })
	if !errors.Is(err, errDamaged) {
		t.Errorf("a change: %v", err)
	}
}

// A service keeps the folders of a library at hand. What another process has done to them it sees at once.
func TestFoldersChangedByAnotherDBAreSeen(t *testing.T) {
	address := cluster.Schema(t)
	one, two := assets.NewWith(openAt(t, address, nil).Assets(), nil), assets.NewWith(openAt(t, address, nil).Assets(), nil)
	by := vitrine.Caller{URN: "urn:vitrine:example.test:user=mod", Moderates: []string{"urn:vitrine:example.test"}}
	for i := range 6 {
		one, two = two, one
		made, err := one.ChangeFolders(ctx, by, testLibrary, assets.ChangeFoldersRequest{Create: []assets.NewFolder{{Label: fmt.Sprint(i)}}})
		if err != nil {
			t.Fatal(err)
		}
		refused := assets.ChangeFoldersRequest{Create: []assets.NewFolder{{Label: "not kept"}, {Label: "x", Path: "/nowhere"}}}
		if _, err := two.ChangeFolders(ctx, by, testLibrary, refused); err == nil {
			t.Fatal("a folder was made in one that is not there")
		}
		for name, s := range map[string]*assets.Service{"the one that made it": one, "the other": two} {
			if f, err := s.Folder(ctx, by, testLibrary, made[0].ID); err != nil || f.Label != fmt.Sprint(i) {
				t.Errorf("folder %d in %s: %q, %v", i, name, f.Label, err)
			}
		}
	}
}
