package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/signin"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/reviews"
)

// demoPeople returns the people of a store, none of whom can sign in.
func demoPeople(t *testing.T, s storage.Store) *signin.Service {
	t.Helper()
	people, err := signin.New(s, signin.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return people
}

// The sample data have something to show in every view, and are the same in every store but for the days.
func TestTheSampleDataHaveSomethingToShow(t *testing.T) {
	ctx := t.Context()
	fill := func() storage.Store {
		s := memory.New()
		t.Cleanup(func() { _ = s.Close() })
		if _, err := newDemo(ctx, &program{}, s, demoPeople(t, s), "http://demo.test", "/"); err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := fill()
	apps, library, stored := appsvc.New(s, nil), assets.New(s, nil), reviews.New(s, nil)
	by := vitrine.Caller{URN: demoUser.URN, Moderates: demoUser.Moderates}

	if all, err := apps.Languages(ctx); err != nil || len(all) < 2 {
		t.Errorf("an editor cannot try to translate: %v %v", all, err)
	}
	t.Run("apps with a history of several people over days, in the order of the feed", func(t *testing.T) {
		page, err := apps.As(by).Changes(ctx, appsvc.ChangesRequest{Limit: 500})
		if err != nil || page.More {
			t.Fatal(page.More, err)
		}
		people, types, last := map[string]bool{}, map[appsvc.ChangeType]bool{},
			time.Now().AddDate(0, 0, -10).UnixMilli()
		for _, e := range page.Changes {
			if e.At < last || e.At > time.Now().UnixMilli() {
				t.Errorf("%s of %s is at %s, after %s", e.Type, e.AppID, time.UnixMilli(e.At), time.UnixMilli(last))
			}
			last = e.At
			people[e.By], types[e.Type] = true, true
		}
		if len(people) < 4 || len(types) < 5 || page.Changes[0].AppID != demoMark {
			t.Errorf("%d people, %d types of changes, the first is %+v", len(people), len(types), page.Changes[0])
		}
	})
	t.Run("a component whose second version breaks elements of the first", func(t *testing.T) {
		poll, err := apps.As(by).ComponentVersion(ctx, "@demo/poll", "2.1.0")
		if err != nil {
			t.Fatal(err)
		}
		manifest := strings.Replace(string(poll.Manifest), `"version":"2.1.0"`, `"version":"2.1.1"`, 1)
		manifest = strings.Replace(manifest, `"id":"`+poll.ID+`",`, "", 1)
		developer := by
		developer.Components = true
		check, err := apps.As(developer).CheckComponent(ctx,
			appsvc.CheckComponentRequest{Name: "@demo/poll", Manifest: []byte(manifest)})
		if err != nil || len(check.Broken) < 2 {
			t.Errorf("it breaks %+v, %v", check.Broken, err)
		}
	})
	t.Run("a restricted folder, whose assets the editor does not see", func(t *testing.T) {
		me, editors := vitrine.Caller{URN: demoUser.URN, Moderates: demoUser.Moderates},
			vitrine.Caller{URN: demoNetwork + ":user=editor", Roles: []string{"editor"}}
		list, err := library.As(me).ListFolders(ctx, demoLibrary, assets.ListFoldersRequest{})
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(list.Items, func(f assets.Folder) bool { return f.Label == "Press" })
		inside, err := library.As(me).ListFolders(ctx, demoLibrary,
			assets.ListFoldersRequest{Paths: []string{"/" + list.Items[at].ID}})
		if err != nil || len(inside.Items) != 1 {
			t.Fatalf("%+v, %v", inside, err)
		}
		why, err := library.As(me).Explain(ctx, demoLibrary,
			assets.ExplainRequest{Folder: inside.Items[0].ID,
				About: &vitrine.Caller{URN: "editor", Roles: []string{"editor"}}})
		if err != nil || why.View.Allowed {
			t.Errorf("%+v, %v", why, err)
		}
		everything, err := library.As(me).Search(ctx, demoLibrary, assets.SearchRequest{Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		some, err := library.As(editors).Search(ctx, demoLibrary, assets.SearchRequest{Limit: 1})
		if err != nil || everything.Total != 132 || some.Total >= everything.Total || some.Total < 63 {
			t.Errorf("the editor sees %d of %d, %v", some.Total, everything.Total, err)
		}
	})
	t.Run("collections of reviews with ratings in several dimensions", func(t *testing.T) {
		list, err := stored.As(vitrine.Caller{URN: demoUser.URN, Moderates: demoUser.Moderates}).ListCollections(ctx,
			reviews.ListCollectionsRequest{})
		if err != nil || len(list.Items) != 3 {
			t.Fatalf("%+v, %v", list, err)
		}
		for _, c := range list.Items {
			if c.Count < 20 || c.Dimensions[0].Mean < 60 {
				t.Errorf("%+v", c)
			}
		}
	})
	t.Run("the same again", func(t *testing.T) {
		again, err := appsvc.New(fill(), nil).As(by).ListApps(ctx, appsvc.ListAppsRequest{})
		if err != nil {
			t.Fatal(err)
		}
		list, err := apps.As(by).ListApps(ctx, appsvc.ListAppsRequest{})
		if err != nil || len(list.Items) != len(again.Items) {
			t.Fatalf("%d and %d apps, %v", len(list.Items), len(again.Items), err)
		}
		for i, a := range list.Items {
			b := again.Items[i]
			if a.ID != b.ID || a.Version != b.Version ||
				made.ReplaceAllString(string(a.Body), "") != made.ReplaceAllString(string(b.Body), "") {
				t.Errorf("%s and %s, or their content, differ", a.ID, b.ID)
			}
		}
	})
}

// made is a key or the id of a file in a config, another one in each store.
var made = regexp.MustCompile(`pk_[A-Za-z0-9_-]+|/x/file/[0-9a-f]+`)
