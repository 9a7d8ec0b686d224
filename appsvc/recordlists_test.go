package appsvc_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// Many apps of one time, a component that few or most apps have, and large bodies: what the rules for all stores have too few apps for.
func TestListsOfManyApps(t *testing.T) {
	ctx, db := context.Background(), memory.New()
	defer db.Close()
	s := appsvc.NewRecords(db)
	rng := rand.New(rand.NewPCG(1, 2))
	var heads []appsvc.Head
	body := func(h appsvc.Head) appsvc.Body {
		size := 10
		if h.ID[0] == '7' {
			size = 70_000
		}
		return appsvc.Body(h.ID + h.Version.String() + strings.Repeat("x", size))
	}
	for i := range 900 {
		h := appsvc.Head{Meta: appsvc.Meta{ID: fmt.Sprint(i), Version: vitrine.NewVersion(0), Owner: fmt.Sprint("urn:v:n:user=", i%3), CreatedAt: int64(i / 300)},
			Groups: []string{"urn:v:n:site=" + fmt.Sprint(i%5), "urn:v:m"}, Components: []string{"most"}}
		if i%50 == 0 {
			h.Components = []string{"few", "most"}
		}
		h.UpdatedAt = h.CreatedAt
		heads = append(heads, h)
	}
	err := s.Update(ctx, func(tx appsvc.Tx) error {
		for i, h := range heads {
			if err := tx.AddVersion(ctx, h, body(h)); err != nil {
				return err
			}
			if i%4 == 0 {
				h.Version, h.UpdatedAt, h.Groups = vitrine.NewVersion(1), 10+int64(i%8), h.Groups[:1+i%2]
				if err := tx.AddVersion(ctx, h, body(h)); err != nil {
					return err
				}
				heads[i] = h
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 300 {
		pick := heads[rng.IntN(len(heads))]
		q := appsvc.AppQuery{
			Owner:     []string{"nobody", pick.Owner}[rng.IntN(2)],
			Groups:    [][]string{nil, {"urn:v:n"}, {"urn:v:m", "urn:v:n:site=1"}, {"urn:v"}}[rng.IntN(4)],
			Component: []string{"", "few", "most", "none"}[rng.IntN(4)],
			Sort:      []appsvc.Sort{appsvc.CreatedAscending, appsvc.CreatedDescending, appsvc.UpdatedAscending, appsvc.UpdatedDescending}[rng.IntN(4)],
			Limit:     []int{0, 1, 50, 200}[rng.IntN(4)],
		}
		if rng.IntN(3) > 0 {
			p := q.Position(pick)
			q.After = &p
		}
		var want, got []string
		for _, h := range slices.SortedFunc(slices.Values(heads), q.Compare) {
			if q.Match(h) && (q.Limit == 0 || len(want) < q.Limit) {
				want = append(want, string(body(h)))
			}
		}
		err := s.View(ctx, func(r appsvc.Reader) error {
			got = nil
			for a, err := range r.Apps(ctx, q) {
				if err != nil {
					return err
				}
				got = append(got, string(a.Body))
			}
			return nil
		})
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%+v: %d apps, %v, want %d", q, len(got), err, len(want))
		}
	}
}
