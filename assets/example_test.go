package assets_test

import (
	"context"
	"fmt"
	"log"

	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/storage/memory"
)

func ExampleService() {
	ctx := context.Background()
	svc := assets.New(memory.NewAssets(), nil)
	lib := assets.Library{Network: "example.test", ID: "example.test"}
	moderator := assets.Caller{URN: "urn:vitrine:example.test:user=mo", Moderates: []string{"urn:vitrine:example.test"}}
	reader := assets.Caller{URN: "urn:vitrine:example.test:user=rea"}

	folders, err := svc.ChangeFolders(ctx, moderator, lib, assets.ChangeFolders{
		Create: []assets.NewFolder{{Label: "Drafts", Permissions: []assets.Permission{
			{Operation: assets.Edit, Role: &assets.Subject{ID: "editors"}},
		}}},
	})
	if err != nil {
		log.Fatal(err)
	}
	_, err = svc.ChangeAssets(ctx, moderator, lib, assets.ChangeAssets{Add: []assets.NewAsset{
		{ID: "1", Generator: assets.Generator{ID: "blog.example"}, Content: []byte(`{"content":"<p>Crème <b>brûlée</b></p>"}`)},
		{ID: "2", Generator: assets.Generator{ID: "blog.example"}, Content: []byte(`{"content":"Creme, not yet"}`), Folders: []string{folders[0].ID}},
	}})
	if err != nil {
		log.Fatal(err)
	}
	for _, by := range []assets.Caller{moderator, reader} {
		page, err := svc.Search(ctx, by, lib, assets.Search{Query: "creme"})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(page.Paging.Total)
	}
	why, err := svc.Explain(ctx, reader, lib, folders[0].ID, assets.View)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(why.Reason)
	// Output:
	// 2
	// 1
	// no grant on the folder, nor one it inherits, names the caller
}
