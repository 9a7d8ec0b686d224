package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"

	"github.com/vitrine-go/vitrine/adapters/client"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// exampleServer is a server that takes any token for the editor's.
func exampleServer() *httptest.Server {
	handler, _ := httpapi.New(httpapi.Config{
		Apps: appsvc.New(memory.NewApps(), nil), Assets: assets.New(memory.NewAssets(), nil), Reviews: reviews.New(memory.NewReviews()),
		Authenticate: func(context.Context, string) (httpapi.Principal, error) { return editor, nil },
	})
	return httptest.NewServer(handler)
}

func Example() {
	server := exampleServer()
	defer server.Close()
	ctx := context.Background()
	c, err := client.New(client.Config{URL: server.URL, Token: client.Static("a-token")})
	if err != nil {
		panic(err)
	}
	app, err := c.Apps.CreateApp(ctx, appsvc.NewApp{Title: "Front page", Groups: []string{"urn:vitrine:example.test:site=1"}})
	if err != nil {
		panic(err)
	}
	patch := []byte(`[{"op": "test", "path": "/apps/0/version", "value": "0"}, {"op": "replace", "path": "/apps/0/title", "value": "Winter"}]`)
	app, err = c.Apps.Patch(ctx, app.ID, patch)
	fmt.Println(app.Version, err)
	_, err = c.Apps.Patch(ctx, app.ID, patch)
	fmt.Println(errors.Is(err, appsvc.ErrConflict))
	// Output:
	// 1 <nil>
	// true
}

func ExampleAssets_AllAssets() {
	server := exampleServer()
	defer server.Close()
	ctx := context.Background()
	c, err := client.New(client.Config{URL: server.URL, Token: client.Static("a-token")})
	if err != nil {
		panic(err)
	}
	lib := assets.Library{Network: "example.test", ID: "example.test"}
	in := assets.NewAsset{ID: "1", Generator: assets.Generator{ID: "social.example"}, Content: []byte(`{"content": "First snow"}`)}
	if _, err := c.Assets.ChangeAssets(ctx, lib, assets.ChangeAssets{Add: []assets.NewAsset{in}}); err != nil {
		panic(err)
	}
	for asset, err := range c.Assets.AllAssets(ctx, lib, assets.Search{Query: "snow"}) {
		fmt.Println(asset.Library, err)
	}
	// Output:
	// example.test <nil>
}

func ExampleReviews_Import() {
	server := exampleServer()
	defer server.Close()
	c, err := client.New(client.Config{URL: server.URL, Token: client.Static("a-token")})
	if err != nil {
		panic(err)
	}
	report, err := c.Reviews.Import(context.Background(), strings.NewReader(oneReview), false)
	fmt.Println(report.Created, report.Errors, err)
	// Output:
	// 1 0 <nil>
}
