package sqlite

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/storage/internal/posts"
)

// After updates that ran side by side, of which some were not kept, the index holds for each term
// just the assets that a rebuild from the rows would give it.
func TestTheIndexEqualsARebuiltOne(t *testing.T) {
	ctx := context.Background()
	db := openTest(t, nil)
	svc := assets.New(db.Assets(), nil)
	lib := assets.Library{Network: "example.test", ID: "example.test"}
	by := assets.Caller{URN: "urn:vitrine:example.test:user=mod", Moderates: []string{"urn:vitrine:example.test"}}
	made, err := svc.ChangeFolders(ctx, by, lib, assets.ChangeFoldersRequest{Create: []assets.NewFolder{{Label: "a"}, {Label: "b"}, {Label: "c"}}})
	if err != nil {
		t.Fatal(err)
	}
	folders := []string{made[0].ID, made[1].ID, made[2].ID}

	var group sync.WaitGroup
	for worker := range 6 {
		group.Go(func() {
			rng := rand.New(rand.NewPCG(5, uint64(worker)))
			var mine []string
			for round := range 25 {
				var in assets.ChangeAssetsRequest
				for range rng.IntN(8) {
					post := posts.Post(rng.IntN(400), folders)
					if rng.IntN(3) == 0 {
						post.Content = []byte(fmt.Sprintf(`{"content":"changed %d"}`, round))
					}
					in.Add = append(in.Add, post)
				}
				if len(mine) > 0 && rng.IntN(3) == 0 {
					in.Remove = mine[:1]
				}
				fails := rng.IntN(3) == 0
				if fails {
					in.Add = append(in.Add, posts.Post(1000, []string{"absent"}))
				}
				out, err := svc.ChangeAssets(ctx, by, lib, in)
				if errors.Is(err, assets.ErrConflict) { // one of them was assigned elsewhere: let them be where they are
					for i := range in.Add {
						in.Add[i].Folders = nil
					}
					out, err = svc.ChangeAssets(ctx, by, lib, in)
				}
				if fails != errors.Is(err, assets.ErrNotFound) || !fails && err != nil {
					t.Error(err)
				}
				for _, a := range out.Added {
					mine = append(mine, a.ID)
				}
				if len(mine) > 2 {
					_, err = svc.AssignAssets(ctx, by, lib, assets.AssignAssetsRequest{Folder: folders[rng.IntN(3)], Assign: mine[:1], Remove: mine[1:2]})
					_, err2 := svc.ChangeAttributes(ctx, by, lib, assets.ChangeAttributesRequest{Assets: mine[:2], Set: []assets.Attribute{{Key: "k", Value: fmt.Sprint(round)}}})
					if err := errors.Join(err, err2); err != nil {
						t.Error(err)
					}
					mine = mine[1:]
				}
			}
		})
	}
	group.Wait()

	err = db.Assets().View(ctx, lib, func(r assets.Reader) error {
		want := map[string][]int64{}
		n := int64(0)
		for a, err := range r.Assets(ctx, assets.AssetQuery{Ascending: true}) {
			if err != nil {
				return err
			}
			n++
			x, err := assets.IndexOf(a, assets.Limits{})
			if err != nil {
				return err
			}
			for _, term := range x.Terms {
				want[term] = append(want[term], a.Ordinal)
			}
		}
		if state, err := r.State(ctx); err != nil || state.Count != n || n == 0 {
			return fmt.Errorf("the state counts %d assets, %d are there, error %w", state.Count, n, err)
		}
		for term, ordinals := range want {
			var got []int64
			for a, err := range r.Assets(ctx, assets.AssetQuery{All: []assets.AnyOf{{term}}, Ascending: true}) {
				if err != nil {
					return err
				}
				got = append(got, a.Ordinal)
			}
			if !slices.Equal(got, ordinals) {
				return fmt.Errorf("term %q: the index has %v, the rows %v", term, got, ordinals)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	// No row of the index is left of an asset that is gone.
	err = db.view(ctx, func(c *conn) error {
		n, err := c.value("SELECT count(*) FROM asset_term_docsize WHERE id NOT IN (SELECT place FROM asset)")
		if n != 0 {
			t.Errorf("the index has %d assets that are gone", n)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	err = db.update(ctx, func(c *conn) error {
		_, err := c.exec("INSERT INTO asset_term (asset_term) VALUES ('integrity-check')")
		return err
	})
	if err != nil {
		t.Errorf("the index is damaged: %v", err)
	}
}
