package assets_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"log"
	"strings"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/storage/memory"
)

func ExampleService() {
	ctx := context.Background()
	svc := assets.New(memory.New(), nil)
	lib := assets.Library{Network: "example.test", ID: "example.test"}
	moderator := vitrine.Caller{URN: "urn:vitrine:example.test:user=mo",
		Moderates: []string{"urn:vitrine:example.test"}}
	reader := vitrine.Caller{URN: "urn:vitrine:example.test:user=rea"}

	made, err := svc.As(moderator).ChangeFolders(ctx, lib, assets.ChangeFoldersRequest{
		Create: []assets.NewFolder{{Label: "Drafts", Permissions: []assets.Permission{
			{Operation: assets.Edit, Role: &assets.Subject{ID: "editors"}},
		}}},
	})
	if err != nil {
		log.Fatal(err)
	}
	_, err = svc.As(moderator).ChangeAssets(ctx, lib, assets.ChangeAssetsRequest{Add: []assets.NewAsset{
		{ID: "1", Generator: assets.Generator{ID: "blog.example"},
			Content: []byte(`{"content":"<p>Crème <b>brûlée</b></p>"}`)},
		{ID: "2", Generator: assets.Generator{ID: "blog.example"}, Content: []byte(`{"content":"Creme, not yet"}`),
			Folders: []string{made.Folders[0].ID}},
	}})
	if err != nil {
		log.Fatal(err)
	}
	for _, by := range []vitrine.Caller{moderator, reader} {
		page, err := svc.As(by).Search(ctx, lib, assets.SearchRequest{Query: "creme"})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(page.Total)
	}
	why, err := svc.As(moderator).Explain(ctx, lib,
		assets.ExplainRequest{Folder: made.Folders[0].ID, About: &vitrine.Caller{URN: "rea"}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(why.View.Allowed, why.View.Rule)
	// Output:
	// 2
	// 1
	// false none
}

// A picture is put into the library, and its address into an app. The server has the base path /cms. The store is one
// for golden tests: anywhere else the id in the address cannot be guessed.
func ExampleSession_Upload() {
	ids := 0
	db := memory.New(memory.Options{Seed: "golden", NewID: func() string { ids++; return fmt.Sprint("id-", ids) }})
	me := vitrine.Caller{URN: "urn:vitrine:example.test:user=me", Moderates: []string{"urn:vitrine:example.test"}}
	library := assets.Library{Network: "example.test", ID: "example.test"}
	var file bytes.Buffer
	if err := png.Encode(&file, image.NewGray(image.Rect(0, 0, 400, 300))); err != nil {
		log.Fatal(err)
	}
	made, err := assets.New(db, &assets.Options{BasePath: "/cms"}).As(me).Upload(context.Background(), library,
		assets.UploadRequest{Name: "tea.png", Alt: "A cup of tea"}, &file)
	if err != nil {
		log.Fatal(err)
	}
	attachments, err := made.Attachments()
	if err != nil {
		log.Fatal(err)
	}
	picture := attachments[0]
	address, _, _ := strings.Cut(picture.URL, "?") // ?v= changes with the bytes
	fmt.Println(address)
	fmt.Println(picture.Width, picture.Height, picture.Description, picture.File.Widths)
	// Output:
	// /cms/x/file/dec55505c5f7c875067e96147b5cb2cc/tea.png
	// 400 300 A cup of tea [320]
}

// A page of results with counts beside its filters, while somebody types.
func ExampleSession_Search() {
	ctx := context.Background()
	svc := assets.New(memory.New(), nil)
	lib := assets.Library{Network: "example.test", ID: "example.test"}
	moderator := vitrine.Caller{URN: "urn:vitrine:example.test:user=mo",
		Moderates: []string{"urn:vitrine:example.test"}}
	_, err := svc.As(moderator).ChangeAssets(ctx, lib, assets.ChangeAssetsRequest{Add: []assets.NewAsset{
		{ID: "1", Generator: assets.Generator{ID: "blog.example"}, Content: []byte(`{"content":"Launching in Berlin"}`),
			SafeTags: []string{"city", "event"}},
		{ID: "2", Generator: assets.Generator{ID: "blog.example"}, Content: []byte(`{"content":"The launch party"}`),
			SafeTags: []string{"event"}},
		{ID: "3", Generator: assets.Generator{ID: "photos.example"}, Content: []byte(`{"content":"Lunch"}`),
			SafeTags: []string{"food"}},
	}})
	if err != nil {
		log.Fatal(err)
	}
	page, err := svc.As(moderator).Search(ctx, lib,
		assets.SearchRequest{Query: "lau*", Limit: 1, Facets: []string{"tags", "generator"}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(page.Assets), "of", page.Total)
	for _, facet := range page.Facets {
		fmt.Println(facet.Name, facet.Values)
	}
	// Output:
	// 1 of 2
	// tags [{event 2} {city 1}]
	// generator [{blog.example 2}]
}

// A form that adds an asset shows each complaint at its field.
func ExampleError() {
	svc := assets.New(memory.New(), nil)
	lib := assets.Library{Network: "example.test", ID: "example.test"}
	library := svc.As(vitrine.Caller{URN: "urn:vitrine:example.test:user=mo",
		Moderates: []string{"urn:vitrine:example.test"}})

	_, err := library.ChangeAssets(context.Background(), lib, assets.ChangeAssetsRequest{Add: []assets.NewAsset{
		{ID: "1", Generator: assets.Generator{ID: "blog.example"},
			Content: []byte(`{"lang":5,"attachment":[{"type":"photo","url":{"href":"snow.jpg"}}]}`)},
	}})
	if e, ok := errors.AsType[*vitrine.Error](err); ok {
		fmt.Println(e.Code)
		for _, p := range e.Problems {
			fmt.Println(p.Pointer, p.Message)
		}
	}
	// Output:
	// invalid
	// /add/0/content/lang want a string
	// /add/0/content/attachment/0/url/href want an absolute http or https URL
}

// The iterators ask for the next page when it is needed.
func ExampleSession_AllFolders() {
	svc := assets.New(memory.New(), nil)
	ctx, lib := context.Background(), assets.Library{Network: "example.test", ID: "example.test"}
	library := svc.As(vitrine.Caller{URN: "urn:vitrine:example.test:user=mo",
		Moderates: []string{"urn:vitrine:example.test"}})
	_, err := library.ChangeFolders(ctx, lib,
		assets.ChangeFoldersRequest{Create: []assets.NewFolder{{Label: "b"}, {Label: "C"}, {Label: "a"}}})
	if err != nil {
		log.Fatal(err)
	}
	for folder, err := range library.AllFolders(ctx, lib, assets.ListFoldersRequest{Limit: 2}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Print(folder.Label, " ")
	}
	// Output: a b C
}

// A program checks what it has stored, as the command vitrine check does for all packages that keep records.
func ExampleMaintenance() {
	ctx, db := context.Background(), memory.New()
	faults := 0
	for fault, err := range assets.Maintenance(assets.Limits{}, nil).Audit(ctx, db) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(fault)
		faults++
	}
	fmt.Println(faults, "faults")
	// Output: 0 faults
}
