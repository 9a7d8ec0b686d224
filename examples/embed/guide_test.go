package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// What the comment of package vitrine begins with.
func Example_guide() {
	ctx := context.Background()
	apps := appsvc.New(memory.New(), nil).As(vitrine.Caller{URN: network + ":user=me", Moderates: []string{network}})
	app, err := apps.CreateApp(ctx, appsvc.CreateAppRequest{Title: "Hello", Groups: []string{network}})
	if err == nil {
		app, err = apps.Edit(ctx, app.ID, func(_ appsvc.App, p *appsvc.PatchBuilder) error {
			p.SetTitle("Hello again")
			return nil
		})
	}
	if err == nil {
		_, err = apps.PutTag(ctx, appsvc.PutTagRequest{AppID: app.ID, Name: "production", Version: app.Version})
	}
	if err != nil {
		panic(err)
	}
	live, err := apps.TaggedApp(ctx, app.ID, "production")
	fmt.Println(live.Title, live.Version, err)
	// Output: Hello again 1 <nil>
}

var editor = vitrine.Caller{URN: network + ":user=me", Moderates: []string{network}}

// A rule of a program: no two apps have the same title. A title is free again when its app is renamed or deleted.
func Example_unique() {
	titles := func(content appsvc.Body) []string {
		if content == nil {
			return nil
		}
		c, err := content.Content()
		if err != nil {
			return nil
		}
		return []string{c.Title}
	}
	rule := func(ctx context.Context, _ vitrine.Caller, c appsvc.Change) error {
		if c.AppID == "" || c.Tag != "" { // a component, or a tag that moves to a version with an old title
			return nil
		}
		return vitrine.Unique(ctx, c.Rows("titles"), c.AppID, titles(c.Old), titles(c.New))
	}
	ctx, db := context.Background(), memory.New()
	apps := appsvc.New(db, &appsvc.Options{Check: rule}).As(editor)
	create := func(title string) appsvc.App {
		app, err := apps.CreateApp(ctx, appsvc.CreateAppRequest{Title: title, Groups: editor.Moderates})
		fmt.Println(title, err)
		return app
	}
	app := create("News")
	create("News")
	_, err := apps.Edit(ctx, app.ID, func(_ appsvc.App, p *appsvc.PatchBuilder) error { p.SetTitle("Old"); return nil })
	fmt.Println("renamed", err)
	app = create("News")
	id, err := vitrine.Holder(ctx, db, "apps x/titles/", "News")
	fmt.Println("found", id == app.ID, err)
	fmt.Println("deleted", apps.DeleteApp(ctx, app.ID))
	create("News")
	// Output:
	// News <nil>
	// News "News" is taken
	// renamed <nil>
	// News <nil>
	// found true <nil>
	// deleted <nil>
	// News <nil>
}

// A program follows changes to keep a copy of all titles. It reads all of them when it begins, and again after the
// store was restored.
func Example_follow() {
	ctx, stop := context.WithCancel(context.Background())
	db := memory.New()
	apps, titles := appsvc.New(db, nil), map[string]string{}
	create := func(title string) {
		if _, err := apps.As(editor).CreateApp(ctx,
			appsvc.CreateAppRequest{Title: title, Groups: editor.Moderates}); err != nil {
			panic(err)
		}
	}
	read := func(ctx context.Context, change appsvc.OutboxEvent) error {
		app, err := apps.As(editor).App(ctx, change.AppID)
		if errors.Is(err, vitrine.ErrNotFound) { // a component, or an app that was deleted
			delete(titles, change.AppID)
			return nil
		}
		if err == nil {
			titles[change.AppID] = app.Title
		}
		if len(titles) == 3 {
			stop()
		}
		return err
	}
	begin := func(ctx context.Context, why error) (string, error) {
		clear(titles)
		for app, err := range apps.As(editor).AllApps(ctx, appsvc.ListAppsRequest{Summary: true}) {
			if err != nil {
				return "", err
			}
			titles[app.ID] = app.Title
		}
		fmt.Println(len(titles), "titles", why)
		create("Shop") // a change meanwhile is not missed
		return vitrine.Now, nil
	}
	create("Front page")
	create("News")
	fmt.Println(vitrine.Follow(ctx, db, "titles", apps.Feed(), read, vitrine.FollowOptions{Begin: begin}))
	fmt.Println(len(titles), "titles")
	// Output:
	// 2 titles <nil>
	// context canceled
	// 3 titles
}
