package archive_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/archive"
)

var (
	appCaller   = vitrine.Caller{URN: network + ":user=me", Moderates: []string{network}}
	assetCaller = vitrine.Caller{URN: appCaller.URN, Moderates: appCaller.Moderates}
	library     = assets.Library{Network: "example.test", ID: "example.test"}
)

// changeBoth makes one change in the feed of apps and one in that of the library.
func changeBoth(t *testing.T, s archive.Stores) {
	t.Helper()
	_, err := appsvc.NewWith(s.Apps, nil).CreateApp(ctx, appCaller, appsvc.CreateAppRequest{Title: "One more", Groups: []string{network}})
	check(t, err)
	_, err = assets.NewWith(s.Assets, nil).ChangeFolders(ctx, assetCaller, library, assets.ChangeFoldersRequest{Create: []assets.NewFolder{{Label: "One more"}}})
	check(t, err)
}

// feeds read a page of a feed of changes. They return how many entries it has, and the cursor of the next one.
var feeds = map[string]struct {
	read          func(s archive.Stores, after string) (entries int, next string, err error)
	invalid, gone error // ErrInvalid and ErrGone of the domain
}{
	"apps": {func(s archive.Stores, after string) (int, string, error) {
		page, err := appsvc.NewWith(s.Apps, nil).Changes(ctx, appCaller, appsvc.ChangesRequest{After: after})
		return len(page.Changes), page.Next, err
	}, vitrine.ErrInvalid, vitrine.ErrGone},
	"a library": {func(s archive.Stores, after string) (int, string, error) {
		page, err := assets.NewWith(s.Assets, nil).Changes(ctx, assetCaller, library, assets.ChangesRequest{After: after})
		return len(page.Changes), page.Next, err
	}, vitrine.ErrInvalid, vitrine.ErrGone},
}

// An archive has no feeds of changes. The imported stores have new feeds, which are empty. A cursor belongs to its store, so it
// is ErrInvalid in the other one, and not ErrGone as in a backup.
func TestCursorsOfFeedsAreOfTheirStore(t *testing.T) {
	for engine, stores := range map[string][2]archive.Stores{"memory": {inMemory(), inMemory()}, "SQLite": {inSQLite(t), inSQLite(t)}} {
		t.Run(engine, func(t *testing.T) {
			source, target := stores[0], stores[1]
			changeBoth(t, source)
			data, _ := export(t, source)
			_, err := archive.Import(ctx, target, bytes.NewReader(data), nil)
			check(t, err)
			ends := map[string]string{} // of the feeds of the target
			for name, feed := range feeds {
				entries, cursor, err := feed.read(source, "")
				if err != nil || entries != 1 {
					t.Fatalf("%s: the source has %d entries, %v, want 1", name, entries, err)
				}
				if _, _, err := feed.read(source, cursor); err != nil {
					t.Errorf("%s: the source refuses its own cursor: %v", name, err)
				}
				if _, _, err := feed.read(target, cursor); !errors.Is(err, feed.invalid) || errors.Is(err, feed.gone) {
					t.Errorf("%s: the cursor of the exported store is %v, want ErrInvalid", name, err)
				}
				entries, ends[name], err = feed.read(target, "")
				if err != nil || entries != 0 {
					t.Errorf("%s: the target begins with %d entries, %v, want none", name, entries, err)
				}
			}
			changeBoth(t, target)
			for name, feed := range feeds {
				entries, next, err := feed.read(target, ends[name])
				if err != nil || entries != 1 {
					t.Errorf("%s: a follower of the target meets %d entries, %v, want 1", name, entries, err)
				}
				if _, _, err := feed.read(source, next); !errors.Is(err, feed.invalid) || errors.Is(err, feed.gone) {
					t.Errorf("%s: the cursor of the imported store is %v in the exported one, want ErrInvalid", name, err)
				}
			}
		})
	}
}

// pages read a page of a list. They return what is on it, and the cursor of the next one.
var pages = map[string]func(s archive.Stores, after string) (items, next string, err error){
	"apps": func(s archive.Stores, after string) (string, string, error) {
		return shown(appsvc.NewWith(s.Apps, nil).ListApps(ctx, appCaller, appsvc.ListAppsRequest{Limit: 2, After: after}))
	},
	"versions": func(s archive.Stores, after string) (string, string, error) {
		return shown(appsvc.NewWith(s.Apps, nil).ListVersions(ctx, appCaller, appsvc.ListVersionsRequest{AppID: firstApp(s), Limit: 1, After: after}))
	},
	"tags": func(s archive.Stores, after string) (string, string, error) {
		return shown(appsvc.NewWith(s.Apps, nil).ListTags(ctx, appCaller, appsvc.ListTagsRequest{AppID: firstApp(s), Limit: 1, After: after}))
	},
	"moves of a tag": func(s archive.Stores, after string) (string, string, error) {
		return shown(appsvc.NewWith(s.Apps, nil).ListTagMoves(ctx, appCaller, appsvc.ListTagMovesRequest{AppID: firstApp(s), Name: "gone", Limit: 1, After: after}))
	},
	"assets": func(s archive.Stores, after string) (string, string, error) {
		page, err := assets.NewWith(s.Assets, nil).Search(ctx, assetCaller, library, assets.SearchRequest{Limit: 2, Until: after})
		return fmt.Sprintf("%+v", page.Assets), page.Paging.Prev, err
	},
	"folders": func(s archive.Stores, after string) (string, string, error) {
		page, err := assets.NewWith(s.Assets, nil).ListFolders(ctx, assetCaller, library, assets.ListFoldersRequest{Label: "o", Limit: 1, After: after})
		return fmt.Sprintf("%+v", page.Items), page.Next, err
	},
	"collections": func(s archive.Stores, after string) (string, string, error) {
		page, err := reviews.NewWith(s.Reviews, nil).ListCollections(ctx, vitrine.Caller{Operator: true},
			reviews.ListCollectionsRequest{Network: "example.test", Limit: 1, After: after})
		return fmt.Sprintf("%+v", page.Items), page.Next, err
	},
	"reviews": func(s archive.Stores, after string) (string, string, error) {
		page, err := reviews.NewWith(s.Reviews, nil).ListReviews(ctx, vitrine.Caller{Operator: true},
			reviews.ListReviewsRequest{Network: "example.test", Collection: "YmVk", Limit: 1, After: after})
		return fmt.Sprintf("%+v", page.Items), page.Next, err
	},
}

// shown writes the items of a page of appsvc.
func shown[T any](page vitrine.Page[T], err error) (items, next string, _ error) {
	return fmt.Sprintf("%+v", page.Items), page.Next, err
}

// firstApp returns the id of the app that was created first.
func firstApp(s archive.Stores) string {
	page, err := appsvc.NewWith(s.Apps, nil).ListApps(ctx, appCaller, appsvc.ListAppsRequest{Sort: appsvc.CreatedAscending, Limit: 1})
	if err != nil || len(page.Items) == 0 {
		return ""
	}
	return page.Items[0].ID
}

// The cursor of a list is a position in rows that the archive has, and so are the keys of libraries, which encrypt the cursors
// of searches. A program that has read the first page of a list from the exported store reads the next one from the imported
// store.
func TestCursorsOfListsGoOnAfterAnImport(t *testing.T) {
	source := inMemory()
	fill(t, source, 1)
	changeBoth(t, source)
	data, _ := export(t, source)
	target := inSQLite(t)
	_, err := archive.Import(ctx, target, bytes.NewReader(data), nil)
	check(t, err)
	for name, read := range pages {
		first, cursor, err := read(source, "")
		if err != nil || cursor == "" {
			t.Fatalf("%s: the first page has the cursor %q and the error %v", name, cursor, err)
		}
		want, _, err := read(source, cursor)
		check(t, err)
		got, _, err := read(target, cursor)
		if err != nil || got != want || got == first || got == "[]" {
			t.Errorf("%s: after the first page the target has %s, %v, want %s", name, got, err, want)
		}
	}
}
