package client_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/vitrine-go/vitrine"
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
		Apps: appsvc.New(memory.New(), nil), Assets: assets.New(memory.New(), nil),
		Reviews:      reviews.New(memory.New(), nil),
		Authenticate: func(*http.Request) (httpapi.Principal, error) { return editor, nil },
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
	app, err := c.Apps.CreateApp(ctx,
		appsvc.CreateAppRequest{Title: "Front page", Groups: []string{"urn:vitrine:example.test:site=1"}})
	if err != nil {
		panic(err)
	}
	patch := []byte(`[{"op": "test", "path": "/apps/0/version", "value": "0"}, {"op": "replace", "path": ` +
		`"/apps/0/title", "value": "Winter"}]`)
	app, err = c.Apps.Patch(ctx, app.ID, bytes.NewReader(patch))
	fmt.Println(app.Version, err)
	_, err = c.Apps.Patch(ctx, app.ID, bytes.NewReader(patch))
	fmt.Println(errors.Is(err, vitrine.ErrConflict))
	// Output:
	// 1 <nil>
	// true
}

// publish is written for an embedded service and for a server alike: *appsvc.Session and *client.Apps have these
// methods, and return the same errors.
func publish(ctx context.Context, apps interface {
	appsvc.Patcher
	CreateApp(context.Context, appsvc.CreateAppRequest) (appsvc.App, error)
	PutTag(context.Context, appsvc.PutTagRequest) (appsvc.Tag, error)
}) {
	app, err := apps.CreateApp(ctx,
		appsvc.CreateAppRequest{Title: "Front page", Groups: []string{"urn:vitrine:example.test:site=1"}})
	if err != nil {
		panic(err)
	}
	app, err = appsvc.EditApp(ctx, apps, app.ID, func(_ appsvc.App, patch *appsvc.PatchBuilder) error {
		patch.SetTitle("Winter")
		return nil
	})
	if err != nil {
		panic(err)
	}
	tag, err := apps.PutTag(ctx, appsvc.PutTagRequest{AppID: app.ID, Name: "production", Version: app.Version})
	fmt.Println(tag.Name, tag.AppVersion, err)
	_, err = apps.PutTag(ctx, appsvc.PutTagRequest{AppID: app.ID, Name: "production"})
	if e, ok := errors.AsType[*vitrine.Error](err); ok {
		fmt.Println(e.Code, "at", e.Pointer)
	}
}

func Example_embeddedOrRemote() {
	ctx := context.Background()
	embedded := appsvc.New(memory.New(), nil)
	publish(ctx, embedded.As(vitrine.Caller{URN: editor.URN, Moderates: editor.Moderates}))

	server := exampleServer()
	defer server.Close()
	remote, err := client.New(client.Config{URL: server.URL, Token: client.Static("a-token")})
	if err != nil {
		panic(err)
	}
	publish(ctx, remote.Apps)
	// Output:
	// production 1 <nil>
	// invalid at /appVersion
	// production 1 <nil>
	// invalid at /appVersion
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
	in := assets.NewAsset{ID: "1", Generator: assets.Generator{ID: "social.example"},
		Content: []byte(`{"content": "First snow"}`)}
	if _, err := c.Assets.ChangeAssets(ctx, lib, assets.ChangeAssetsRequest{Add: []assets.NewAsset{in}}); err != nil {
		panic(err)
	}
	for asset, err := range c.Assets.AllAssets(ctx, lib, assets.SearchRequest{Query: "snow"}) {
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
	report, err := c.Reviews.Import(context.Background(),
		reviews.ImportRequest{Network: "example.test", File: strings.NewReader(oneReview)})
	fmt.Println(report.ReviewsCreated, report.Errors, err)
	// Output:
	// 1 0 <nil>
}
