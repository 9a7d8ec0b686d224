package appsvc_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
)

// What changed between production and now.
func ExampleSession_Diff() {
	ctx := context.Background()
	apps, me, app := example()
	must := func(_ any, err error) {
		if err != nil {
			panic(err)
		}
	}
	must(apps.As(me).PutTag(ctx, appsvc.PutTagRequest{AppID: app.ID, Name: "production", Version: app.Version}))
	must(apps.As(me).Patch(ctx, app.ID, strings.NewReader(`[{"op":"test","path":"/apps/0/version","value":"0"},
		{"op":"replace","path":"/apps/0/elements/0/config/question","value":"Coffee?"}]`)))
	must(apps.As(me).Patch(ctx, app.ID, strings.NewReader(`[{"op":"test","path":"/apps/0/version","value":"1"},
		{"op":"replace","path":"/apps/0/title","value":"Winter"}]`)))

	live, err := apps.As(me).Tag(ctx, appsvc.TagRequest{AppID: app.ID, Name: "production"})
	if err != nil {
		panic(err)
	}
	d, err := apps.As(me).Diff(ctx, app.ID, live.AppVersion, vitrine.Latest)
	fmt.Println(string(d.Patch), err)
	// Output:
	// [{"op":"test","path":"/apps/0/version","value":"0"},{"op":"replace","path":"/apps/0/title","value":"Winter"},{"op":"replace","path":"/apps/0/elements/0/config/question","value":"Coffee?"}] <nil>
}

func ExampleSession_AllHistory() {
	ctx := context.Background()
	apps, me, app := example()
	if _, err := apps.As(me).Patch(ctx, app.ID, strings.NewReader(`[{"op":"test","path":"/apps/0/version","value":"0"},
		{"op":"replace","path":"/apps/0/title","value":"Winter"}]`)); err != nil {
		panic(err)
	}
	if _, err := apps.As(me).Restore(ctx,
		appsvc.RestoreRequest{AppID: app.ID, Version: vitrine.NewVersion(0)}); err != nil {
		panic(err)
	}
	for e, err := range apps.As(me).AllHistory(ctx, appsvc.ListHistoryRequest{AppID: app.ID}) {
		if err != nil {
			panic(err)
		}
		fmt.Printf("%s by %s, restored from %q: %v\n", e.Version, e.UpdatedBy, e.RestoredFrom, e.Changes)
	}
	// Output:
	// 2 by urn:vitrine:example.test:user=me, restored from "0": [{replace  /apps/0/title}]
	// 1 by urn:vitrine:example.test:user=me, restored from "": [{replace  /apps/0/title}]
	// 0 by urn:vitrine:example.test:user=me, restored from "": []
}

// Roll production back, if nobody else has moved it meanwhile.
func ExamplePointsTo() {
	ctx := context.Background()
	apps, me, app := example()
	next, err := apps.As(me).Patch(ctx, app.ID, strings.NewReader(`[{"op":"test","path":"/apps/0/version","value":"0"},
		{"op":"replace","path":"/apps/0/title","value":"Winter"}]`))
	if err != nil {
		panic(err)
	}
	put := appsvc.PutTagRequest{AppID: app.ID, Name: "production", Version: next.Version}
	if _, err := apps.As(me).PutTag(ctx, put); err != nil {
		panic(err)
	}

	put.Version, put.From = app.Version, appsvc.PointsTo(next.Version)
	live, err := apps.As(me).PutTag(ctx, put)
	fmt.Println(live.AppVersion, err)
	_, err = apps.As(me).PutTag(ctx, put) // production is at version 0 by now
	fmt.Println(err)
	// Output:
	// 0 <nil>
	// /from: the tag "production" points to version "0", and not to version "1"
}
