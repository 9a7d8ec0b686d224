package appsvc_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// A service on the in-memory store with one component and one app: what the examples start from.
func example() (*appsvc.Service, vitrine.Caller, appsvc.App) {
	ctx := context.Background()
	apps := appsvc.New(memory.New(), nil)
	me := vitrine.Caller{
		URN:        "urn:vitrine:example.test:user=me",
		Moderates:  []string{"urn:vitrine:example.test"},
		Components: true,
	}
	manifest := `{"name":"poll","version":"1.0.0","main":"https://example.test/poll.js",
		"configSchema":{"properties":{"question":{"type":"string"},"choices":{"default":2}}}}`
	if _, err := apps.As(me).CreateComponent(ctx,
		appsvc.CreateComponentRequest{Manifest: strings.NewReader(manifest)}); err != nil {
		panic(err)
	}
	app, err := apps.As(me).CreateApp(ctx, appsvc.CreateAppRequest{
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

func ExampleSession_CreateApp() {
	_, _, app := example()
	content, err := app.Body.Content()
	fmt.Println(app.Version, content.Title, string(content.Elements[0].Config), err)
	// Output: 0 Front page {"question":"Tea?"} <nil>
}

func ExampleApp_WithDefaults() {
	_, _, app := example()
	app, err := app.WithDefaults(context.Background())
	if err != nil {
		panic(err)
	}
	content, err := app.Body.Content()
	fmt.Println(string(content.Elements[0].Config), err)
	// Output: {"question":"Tea?","choices":2} <nil>
}

func ExampleSession_Patch() {
	apps, me, app := example()
	ctx := context.Background()
	patch := []byte(`[
		{"op":"test","path":"/apps/0/version","value":"0"},
		{"op":"replace","path":"/apps/0/elements/0/config/question","value":"Coffee?"}
	]`)
	app, err := apps.As(me).Patch(ctx, app.ID, bytes.NewReader(patch))
	fmt.Println(app.Version, err)

	_, err = apps.As(me).Patch(ctx, app.ID, bytes.NewReader(patch)) // it was made for version 0
	fmt.Println(errors.Is(err, vitrine.ErrConflict), err)

	_, err = apps.As(me).Patch(ctx, app.ID, strings.NewReader(`[
		{"op":"test","path":"/apps/0/version","value":"1"},
		{"op":"replace","path":"/apps/0/elements/0/config/question","value":7}
	]`))
	fmt.Println(errors.Is(err, vitrine.ErrUnprocessable))
	// Output:
	// 1 <nil>
	// true the patch is for version "0", but the app is at version "1"
	// true
}

func ExampleSession_PutTag() {
	apps, me, app := example()
	ctx := context.Background()
	_, err := apps.As(me).PutTag(ctx,
		appsvc.PutTagRequest{AppID: app.ID, Name: "production", Version: vitrine.NewVersion(0)})
	fmt.Println(err)
	live, err := apps.As(me).TaggedApp(ctx, app.ID, "production")
	fmt.Println(live.Version, err)
	// Output:
	// <nil>
	// 0 <nil>
}

func ExampleSession_RunRelease() {
	apps, me, app := example()
	ctx := context.Background()
	release, err := apps.As(me).CreateRelease(ctx,
		appsvc.CreateReleaseRequest{Name: "spring", Moves: []appsvc.ReleaseMove{
			// and up to 199 more, made at the same moment
			{AppID: app.ID, Tag: "production", To: appsvc.PointsTo(app.Version)},
		}})
	if err != nil {
		panic(err)
	}
	release, err = apps.As(me).RunRelease(ctx, release.ID, release.Version)
	fmt.Println(release.State, release.Moves[0].To.Version(), err)
	release, err = apps.As(me).UndoRelease(ctx, release.ID, release.Version)
	fmt.Println(release.State, err)
	// Output:
	// done 0 <nil>
	// cancelled <nil>
}

func ExampleSession_ListApps_summary() {
	apps, me, _ := example()
	page, err := apps.As(me).ListApps(context.Background(), appsvc.ListAppsRequest{Summary: true, Query: "front"})
	for _, app := range page.Items {
		fmt.Println(app.Title, app.Groups, app.Components)
	}
	fmt.Println(err)
	// Output:
	// Front page [urn:vitrine:example.test:site=1] [poll]
	// <nil>
}

func ExampleSession_Restore() {
	apps, me, app := example()
	again, err := apps.As(me).Restore(context.Background(),
		appsvc.RestoreRequest{AppID: app.ID, Version: vitrine.NewVersion(0)})
	fmt.Println(again.Version, string(again.Body) == string(app.Body), err)
	// Output: 1 true <nil>
}

// Only leads may move the tag production.
func ExampleOptions_check() {
	leads := []string{"urn:vitrine:example.test:user=lead"}
	apps := appsvc.New(memory.New(),
		&appsvc.Options{Check: func(_ context.Context, by vitrine.Caller, c appsvc.Change) error {
			if c.Tag == "production" && !slices.Contains(leads, by.URN) {
				return &vitrine.Error{Kind: vitrine.ErrForbidden, Reason: "only leads may move production"}
			}
			return nil
		}})

	ctx := context.Background()
	moderates := []string{"urn:vitrine:example.test"}
	me := vitrine.Caller{URN: "urn:vitrine:example.test:user=me", Moderates: moderates}
	app, err := apps.As(me).CreateApp(ctx, appsvc.CreateAppRequest{Title: "Front page", Groups: moderates})
	if err != nil {
		panic(err)
	}
	put := appsvc.PutTagRequest{AppID: app.ID, Name: "production", Version: app.Version}
	_, err = apps.As(me).PutTag(ctx, put)
	fmt.Println(err, errors.Is(err, vitrine.ErrForbidden))
	_, err = apps.As(vitrine.Caller{URN: leads[0], Moderates: moderates}).PutTag(ctx, put)
	fmt.Println(err)
	// Output:
	// only leads may move production true
	// <nil>
}

// A format is an annotation unless the engine is told to assert it. A service uses the engine that
// stands in Options.Schemas.
func ExampleNewSchemaEngine() {
	engine := appsvc.NewSchemaEngine(&appsvc.SchemaOptions{
		AssertFormats: true,
		Formats: map[string]func(string) error{
			"article-number": func(value string) error {
				if !strings.HasPrefix(value, "A-") {
					return errors.New("it begins with A-")
				}
				return nil
			},
		},
	})
	schema, err := engine.Compile(
		[]byte(`{"properties": {"mail": {"format": "email"}, "article": {"format": "article-number"}}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	violations, err := schema.Validate([]byte(`{"mail": "nobody", "article": "7"}`))
	for _, v := range violations {
		fmt.Println(v)
	}
	fmt.Println(err)
	// Output:
	// /article: not of the format "article-number": it begins with A-
	// /mail: not of the format "email"
	// <nil>
}
