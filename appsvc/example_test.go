package appsvc_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// A service on the in-memory store with one component and one app: what the examples start from.
func example() (*appsvc.Service, appsvc.Caller, appsvc.App) {
	ctx := context.Background()
	apps := appsvc.New(memory.NewApps(), nil)
	me := appsvc.Caller{
		URN:              "urn:vitrine:example.test:user=me",
		Moderates:        []string{"urn:vitrine:example.test"},
		ManageComponents: true,
	}
	manifest := `{"name":"poll","version":"1.0.0","main":"https://example.test/poll.js",
		"configSchema":{"properties":{"question":{"type":"string"},"choices":{"default":2}}}}`
	if _, err := apps.CreateComponent(ctx, me, []byte(manifest), ""); err != nil {
		panic(err)
	}
	app, err := apps.CreateApp(ctx, me, appsvc.NewApp{
		Title:  "Front page",
		Groups: []string{"urn:vitrine:example.test:site=1"},
		Elements: []appsvc.NewElement{{
			Component: appsvc.ComponentRef{Name: "poll", Version: "1.0.0"},
			Config:    json.RawMessage(`{"question":"Tea?"}`),
		}},
	})
	if err != nil {
		panic(err)
	}
	return apps, me, app
}

func ExampleService_CreateApp() {
	_, _, app := example()
	content, err := app.Body.Content()
	fmt.Println(app.Version, content.Title, string(content.Elements[0].Config), err)
	// Output: 0 Front page {"question":"Tea?"} <nil>
}

func ExampleService_Patch() {
	apps, me, app := example()
	ctx := context.Background()
	patch := []byte(`[
		{"op":"test","path":"/apps/0/version","value":"0"},
		{"op":"replace","path":"/apps/0/elements/0/config/question","value":"Coffee?"}
	]`)
	app, err := apps.Patch(ctx, me, app.ID, patch)
	fmt.Println(app.Version, err)

	_, err = apps.Patch(ctx, me, app.ID, patch) // it was made for version 0
	fmt.Println(errors.Is(err, appsvc.ErrConflict), err)

	_, err = apps.Patch(ctx, me, app.ID, []byte(`[
		{"op":"test","path":"/apps/0/version","value":"1"},
		{"op":"replace","path":"/apps/0/elements/0/config/question","value":7}
	]`))
	fmt.Println(errors.Is(err, appsvc.ErrUnprocessable))
	// Output:
	// 1 <nil>
	// true conflict: the patch is for version "0", but the app is at version "1"
	// true
}

func ExampleService_PutTag() {
	apps, me, app := example()
	ctx := context.Background()
	_, err := apps.PutTag(ctx, me, appsvc.PutTag{AppID: app.ID, Name: "production", Version: 0})
	fmt.Println(err)
	live, err := apps.TaggedApp(ctx, me, app.ID, "production")
	fmt.Println(live.Version, err)
	// Output:
	// <nil>
	// 0 <nil>
}

func ExampleService_Restore() {
	apps, me, app := example()
	again, err := apps.Restore(context.Background(), me, appsvc.Restore{AppID: app.ID, Version: 0})
	fmt.Println(again.Version, string(again.Body) == string(app.Body), err)
	// Output: 1 true <nil>
}
