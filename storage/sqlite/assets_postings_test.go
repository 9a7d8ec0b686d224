package sqlite

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/assets"
)

// checkLists holds the list of each term, as it is read, against what MATCH finds.
func checkLists(t *testing.T, db *DB, library int64, terms []string) (longest, segments, hashes int) {
	t.Helper()
	err := db.view(context.Background(), func(c *conn) error {
		p, err := c.postings()
		if err != nil {
			return err
		}
		for _, s := range p.segments {
			hashes += len(s.gone)
		}
		segments = len(p.segments)
		r := &assetReader{db: db, c: c, number: library}
		first, last := r.places(0, 0)
		var encoded [][]byte
		sum := 0
		for _, term := range terms {
			got, err := p.read([][]byte{[]byte(term)}, first, last)
			if err != nil {
				return fmt.Errorf("%s: %w", term, err)
			}
			slices.Sort(got)
			var want []uint32
			rows := c.query("SELECT rowid FROM asset_term WHERE asset_term MATCH $1 AND rowid BETWEEN $2 AND $3", term, first, last)
			for rows.next() {
				want = append(want, uint32(ordinalOf(rows.int(0))))
			}
			if rows.err != nil {
				return rows.err
			}
			if !slices.Equal(got, want) {
				return fmt.Errorf("%s in library %d: read %v, MATCH finds %v", term, library, got, want)
			}
			longest = max(longest, len(got))
			sum += len(got)
			encoded = append(encoded, []byte(term))
		}
		got, err := p.read(encoded, first, last) // all of them in one walk
		if len(got) != sum {
			t.Errorf("together the lists have %d places, one by one %d", len(got), sum)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return longest, segments, hashes
}

// After any writes, with pages small enough for each list to go over many, the lists of all terms are
// those that MATCH finds.
func TestListsAreWhatMatchFinds(t *testing.T) {
	rounds, seeds := 12, uint64(4)
	if testing.Short() {
		rounds, seeds = 6, 2
	}
	var terms []string
	for i := range 60 {
		terms = append(terms, fmt.Sprintf("t%d", i*i*i), strings.Repeat("long", i+1))
	}
	sum := [3]int{}
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 3))
		db := openTest(t, nil)
		s := db.Assets()
		settings := fmt.Sprintf(`INSERT INTO asset_term (asset_term, rank) VALUES ('pgsz', %d), ('automerge', %d), ('crisismerge', %d)`,
			[]int{64, 100, 500, 4050}[seed], 2+rng.IntN(4), 4+rng.IntN(8))
		if err := db.update(t.Context(), func(c *conn) error { _, err := c.exec(settings); return err }); err != nil {
			t.Fatal(err)
		}
		// Of the three libraries the one in the middle is small: what is its own has to be leapt to.
		for round := range rounds {
			lib := assets.Library{Network: "n", ID: fmt.Sprint(1 + round%3)}
			err := s.Update(t.Context(), lib, func(w assets.Tx) error {
				for range 1 + rng.IntN(200) {
					ordinal := int64(1 + rng.IntN(4000))
					if round%3 == 1 {
						ordinal = int64(1 + rng.IntN(20))
					}
					if rng.IntN(4) == 0 {
						if err := w.DeleteAsset(t.Context(), ordinal); err != nil && !errors.Is(err, assets.ErrNotFound) {
							return err
						}
						continue
					}
					has := []string{"all"}
					for range rng.IntN(12) {
						has = append(has, terms[rng.IntN(1+rng.IntN(len(terms)))])
					}
					slices.Sort(has)
					r := assets.Record{Ordinal: ordinal, Body: assets.Body("{}")}
					if err := w.PutAsset(t.Context(), r, assets.Index{Terms: slices.Compact(has)}); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if round%3 != 2 {
				continue
			}
			for library := range int64(3) {
				longest, segments, hashes := checkLists(t, db, library+1, append(terms, "all", "never", "a", "zzz"))
				sum = [3]int{max(sum[0], longest), max(sum[1], segments), max(sum[2], hashes)}
			}
		}
	}
	if sum[0] < 200 || sum[1] < 4 || sum[2] < 2 {
		t.Errorf("at most %d places in a list, %d segments, %d pages of hashes: this test shows little", sum[0], sum[1], sum[2])
	}
}

// A list of a small library among large ones is read without reading theirs.
func TestListsOfOtherLibrariesAreLeaptOver(t *testing.T) {
	db := openTest(t, nil)
	if err := db.update(t.Context(), func(c *conn) error {
		_, err := c.exec("INSERT INTO asset_term (asset_term, rank) VALUES ('pgsz', 64)")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	fill := func(id string, n int64) {
		err := db.Assets().Update(t.Context(), assets.Library{Network: "n", ID: id}, func(w assets.Tx) error {
			for i := int64(1); i <= n; i++ {
				if err := w.PutAsset(t.Context(), assets.Record{Ordinal: 100_000 * i, Body: assets.Body("{}")}, assets.Index{Terms: []string{"all"}}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	fill("before", 5000)
	fill("small", 10)
	fill("after", 5000)
	err := db.update(t.Context(), func(c *conn) error { // to one segment, with the lists one behind the other
		_, err := c.exec("INSERT INTO asset_term (asset_term) VALUES ('optimize')")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for library := range int64(3) {
		if _, segments, _ := checkLists(t, db, library+1, []string{"all"}); segments != 1 {
			t.Errorf("%d segments", segments)
		}
	}
	err = db.view(t.Context(), func(c *conn) error {
		p, err := c.postings()
		if err != nil {
			return err
		}
		cost := func(library int64) float64 {
			r := &assetReader{db: db, c: c, number: library}
			first, last := r.places(0, 0)
			return testing.AllocsPerRun(3, func() {
				if _, err := p.read([][]byte{[]byte("all")}, first, last); err != nil {
					t.Fatal(err)
				}
			})
		}
		if small, large := cost(2), cost(1); small > large/4 {
			t.Errorf("the list of ten places takes %v allocations, that of 5,000 before it %v", small, large)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
