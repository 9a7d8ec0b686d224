package main

import (
	"context"
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
