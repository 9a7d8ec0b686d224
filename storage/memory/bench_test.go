package memory_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/storage/internal/posts"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// benchSize is the number of apps, and of assets, in the benchmarks.
const benchSize = 200_000

// BenchmarkAppsOfFew lists apps for callers who may read few of them.
func BenchmarkAppsOfFew(b *testing.B) {
	ctx, store := context.Background(), memory.New().Apps()
	for from := 0; from < benchSize; from += 1000 {
		err := store.Update(ctx, func(tx appsvc.Tx) error {
			for i := from; i < from+1000; i++ {
				h := appsvc.Head{
					Meta: appsvc.Meta{ID: fmt.Sprintf("id-%07d", i*7919%benchSize), Version: vitrine.NewVersion(0), CreatedAt: int64(i), UpdatedAt: int64(i),
						Owner: fmt.Sprint("urn:vitrine:n:user=", i%10_000)},
					Groups: []string{fmt.Sprint("urn:vitrine:n:site=", i%1000)}, Components: []string{fmt.Sprint("c", i%20)},
				}
				if err := tx.AddVersion(ctx, h, []byte("{}")); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	for _, sort := range []appsvc.Sort{appsvc.CreatedDescending, appsvc.UpdatedAscending} {
		for name, q := range map[string]appsvc.AppQuery{
			"nothing":         {Owner: "urn:vitrine:n:user=none"},
			"20 of one owner": {Owner: "urn:vitrine:n:user=7"},
			"200 of one site": {Owner: "urn:vitrine:n:user=none", Groups: []string{"urn:vitrine:n:site=7"}},
			"a component":     {Owner: "urn:vitrine:n:user=none", Groups: []string{"urn:vitrine:n:site=7"}, Component: "c3"},
			"all":             {Owner: "urn:vitrine:n:user=none", Groups: []string{"urn:vitrine:n"}},
		} {
			q.Sort, q.Limit = sort, 100
			b.Run(fmt.Sprintf("%s/%s", name, sort), func(b *testing.B) {
				for b.Loop() {
					err := store.View(ctx, func(r appsvc.Reader) error {
						for _, err := range r.Apps(ctx, q) {
							if err != nil {
								return err
							}
						}
						return nil
					})
					if err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkAssetsOfFew searches for callers who see few of 200 folders.
func BenchmarkAssetsOfFew(b *testing.B) {
	ctx, svc := context.Background(), assets.New(memory.New().Assets(), nil)
	lib := assets.Library{Network: "example.test", ID: "example.test"}
	keeper := vitrine.Caller{URN: "urn:vitrine:example.test:user=mod", Moderates: []string{"urn:vitrine:example.test"}}
	var folders []string
	for i := range posts.Folders {
		to := "nobody"
		if i%100 == 0 {
			to = "few"
		}
		made, err := svc.ChangeFolders(ctx, keeper, lib, assets.ChangeFoldersRequest{Create: []assets.NewFolder{{Label: fmt.Sprint(i),
			Permissions: []assets.Permission{{Operation: assets.View, User: &assets.Subject{ID: to}}}}}})
		if err != nil {
			b.Fatal(err)
		}
		folders = append(folders, made[0].ID)
	}
	for from := 0; from < benchSize; from += 1000 {
		var in assets.ChangeAssetsRequest
		for i := from; i < from+1000; i++ {
			in.Add = append(in.Add, posts.Post(i, folders))
		}
		if _, err := svc.ChangeAssets(ctx, keeper, lib, in); err != nil {
			b.Fatal(err)
		}
	}
	for name, by := range map[string]vitrine.Caller{
		"nothing":     {URN: "urn:vitrine:example.test:user=none"},
		"two folders": {URN: "urn:vitrine:example.test:user=few"},
		"all of them": keeper,
	} {
		for _, in := range []assets.SearchRequest{{}, {Query: posts.Common}, {Query: "ba*"}, {Tags: []string{posts.Tag(1)}}, {Query: posts.Common, Facets: []string{"tags", "folder"}}} {
			b.Run(fmt.Sprintf("%s/%s%v%v", name, in.Query, in.Tags, in.Facets), func(b *testing.B) {
				for b.Loop() {
					if _, err := svc.Search(ctx, by, lib, in); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
