package vitrine_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/memory"
)

var me = vitrine.Caller{URN: "urn:vitrine:example.test:user=me", Moderates: []string{"urn:vitrine:example.test"}}

// A rule of a program: no two apps have the same title. A title is free again when its app is renamed or deleted.
func ExampleUnique() {
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
	ctx, apps := context.Background(), appsvc.New(memory.New(), &appsvc.Options{Check: rule}).As(me)
	create := func(title string) appsvc.App {
		app, err := apps.CreateApp(ctx, appsvc.CreateAppRequest{Title: title, Groups: me.Moderates})
		fmt.Println(title, err)
		return app
	}
	app := create("News")
	create("News")
	_, err := apps.Edit(ctx, app.ID, func(_ appsvc.App, p *appsvc.PatchBuilder) error { p.SetTitle("Old"); return nil })
	fmt.Println("renamed", err)
	app = create("News")
	fmt.Println("deleted", apps.DeleteApp(ctx, app.ID))
	create("News")
	// Output:
	// News <nil>
	// News "News" is taken
	// renamed <nil>
	// News <nil>
	// deleted <nil>
	// News <nil>
}

// A follower that has a copy of the titles reads all of them when it begins, also after the store was restored.
func ExampleFollow() {
	ctx, stop := context.WithCancel(context.Background())
	db := memory.New()
	apps, titles := appsvc.New(db, nil), map[string]string{}
	create := func(title string) {
		if _, err := apps.As(me).CreateApp(ctx,
			appsvc.CreateAppRequest{Title: title, Groups: me.Moderates}); err != nil {
			panic(err)
		}
	}
	read := func(ctx context.Context, change appsvc.OutboxEvent) error {
		app, err := apps.As(me).App(ctx, change.AppID)
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
		for app, err := range apps.As(me).AllApps(ctx, appsvc.ListAppsRequest{Summary: true}) {
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
