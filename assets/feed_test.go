package assets_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/internal/feed"
	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// news returns the entries of the feed after a cursor, and the next cursor.
func (d *desk) news(after string) ([]assets.Event, string) {
	d.t.Helper()
	page, err := d.As(moderator).Changes(ctx, lib, vitrine.ChangesRequest{After: after})
	if err != nil || page.More {
		d.t.Fatalf("%+v, %v", page, err)
	}
	for _, e := range page.Changes {
		text, err := json.Marshal(e)
		var again assets.Event
		if err == nil {
			err = json.Unmarshal(text, &again)
		}
		if err != nil || !reflect.DeepEqual(again, e) || e.Cursor == "" || e.At != d.now.UnixMilli() {
			d.t.Errorf("%s comes back as %+v, %v", text, again, err)
		}
	}
	return page.Changes, page.Next
}

func TestARequestHasOneEntryInTheFeed(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	_, at := d.news(vitrine.Now)
	folder, path := d.folder("one", "/", false, grants...)
	a, b := d.asset("a", "x"), d.asset("b", "y", folder)
	check := func(what string, want ...assets.Event) {
		t.Helper()
		got, next := d.news(at)
		at = next
		same := slices.EqualFunc(got, want, func(a, b assets.Event) bool {
			sorted := func(e assets.Event) [][]string {
				out := [][]string{{e.By}}
				for _, ids := range [][]string{e.Added, e.Changed, e.Removed, e.Folders} {
					out = append(out, append([]string{}, slices.Sorted(slices.Values(ids))...))
				}
				return out
			}
			return reflect.DeepEqual(sorted(a), sorted(b))
		})
		if !same {
			t.Errorf("%s: %+v, want %+v", what, got, want)
		}
	}
	must := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	by := moderator.URN
	check("adding", assets.Event{By: by, Folders: []string{folder}}, assets.Event{By: by, Added: []string{a}},
		assets.Event{By: by, Added: []string{b}})
	changed := newAsset("a", "z")
	out, err := d.As(moderator).ChangeAssets(ctx, lib,
		assets.ChangeAssetsRequest{Remove: []string{b, "none"}, Add: []assets.NewAsset{changed, newAsset("c", "w")}})
	must(out, err)
	check("changing",
		assets.Event{By: by, Added: []string{out.Added[1].ID}, Changed: []string{a}, Removed: []string{b}})
	c := out.Added[1].ID
	must(d.As(moderator).ChangeAssets(ctx, lib, assets.ChangeAssetsRequest{Add: []assets.NewAsset{changed}}))
	must(d.As(moderator).ChangeAssets(ctx, lib, assets.ChangeAssetsRequest{Remove: []string{b}}))
	check("what changes nothing")
	must(d.As(manager).AssignAssets(ctx, lib,
		assets.AssignAssetsRequest{Folder: folder, Assign: []string{a, c, "none"}}))
	check("what one may not do")
	must(d.As(moderator).AssignAssets(ctx, lib,
		assets.AssignAssetsRequest{Folder: folder, Assign: []string{a, c, "none", a}}))
	check("assigning", assets.Event{By: by, Changed: []string{a, c}})
	label := assets.ChangeAttributesRequest{Assets: []string{a, c}, Add: []assets.Attribute{{Key: "k", Value: "v"}}}
	must(d.As(writer).ChangeAttributes(ctx, lib, label))
	must(d.As(writer).ChangeAttributes(ctx, lib, label))
	check("labelling", assets.Event{By: writer.URN, Changed: []string{a, c}})
	must(d.As(manager).ChangePermissions(ctx, lib,
		assets.ChangePermissionsRequest{Folder: folder,
			Create: []assets.Permission{{Operation: assets.View, Role: &assets.Subject{ID: "r"}}}}))
	must(d.As(manager).ChangePermissions(ctx, lib,
		assets.ChangePermissionsRequest{Folder: folder,
			Create: []assets.Permission{{Operation: assets.View, Role: &assets.Subject{ID: "r"}}}}))
	check("granting", assets.Event{By: manager.URN, Folders: []string{folder}})
	name := "two"
	made, err := d.As(moderator).ChangeFolders(ctx, lib,
		assets.ChangeFoldersRequest{Create: []assets.NewFolder{{Label: "in", Path: path}},
			Update: []assets.FolderChange{{ID: folder, Label: &name}}})
	must(made, err)
	check("folders", assets.Event{By: by, Folders: []string{folder, made.Folders[0].ID}})
	must(d.As(moderator).ChangeFolders(ctx, lib,
		assets.ChangeFoldersRequest{Update: []assets.FolderChange{{ID: folder, Label: &name}}}))
	check("a folder as it is")
	must(d.As(moderator).ChangeFolders(ctx, lib, assets.ChangeFoldersRequest{Delete: []string{folder}}))
	check("deleting", assets.Event{By: by, Folders: []string{folder}})
	if _, err := d.As(moderator).ChangeFolders(ctx, lib,
		assets.ChangeFoldersRequest{Create: []assets.NewFolder{{Label: "x"}, {Label: ""}}}); err == nil {
		t.Fatal("no error")
	}
	check("what is refused as a whole")
}

func TestTheFeedOfALibraryIsForModerators(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	d.asset("a", "x")
	for _, by := range []vitrine.Caller{member, viewer, writer, manager, outsider} {
		_, err := d.As(by).Changes(ctx, lib, vitrine.ChangesRequest{After: "none"})
		d.want(by.URN, err, "forbidden")
		for _, err := range d.As(by).Follow(ctx, lib, vitrine.ChangesRequest{}) {
			d.want(by.URN, err, "forbidden")
			break
		}
	}
	other := assets.Library{Network: lib.Network, ID: "other"}
	_, err := d.As(moderator).Changes(ctx, other, vitrine.ChangesRequest{})
	d.want("a library that does not exist", err, "not found")
	if _, err := d.As(moderator).ChangeAssets(ctx, other,
		assets.ChangeAssetsRequest{Add: []assets.NewAsset{newAsset("a", "x")}}); err != nil {
		t.Fatal(err)
	}
	one, err := d.As(moderator).Changes(ctx, lib, vitrine.ChangesRequest{})
	if err != nil || len(one.Changes) != 1 {
		t.Fatalf("%+v, %v", one, err)
	}
	for _, after := range []string{one.Next, one.Changes[0].Cursor, "x", "Now"} {
		_, err := d.As(moderator).Changes(ctx, other, vitrine.ChangesRequest{After: after})
		d.want("a cursor of another library", err, "invalid")
	}
	for _, limit := range []int{-1, 501} {
		_, err := d.As(moderator).Changes(ctx, lib, vitrine.ChangesRequest{Limit: limit})
		d.want(fmt.Sprint("limit ", limit), err, "invalid")
	}
	outbox, err := d.Outbox(ctx, lib, vitrine.ChangesRequest{})
	if err != nil || !reflect.DeepEqual(outbox, one) {
		t.Errorf("outbox: %+v, %v, want %+v", outbox, err, one)
	}
	var all []assets.Library
	for l, err := range d.Libraries(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, l)
	}
	if !slices.Equal(all, []assets.Library{lib, other}) {
		t.Errorf("%+v", all)
	}
}

func TestEntriesOfALibraryAreRemoved(t *testing.T) {
	db := memory.New()
	clock := time.UnixMilli(1_700_000_000_000)
	s := assets.New(db, &assets.Options{Now: func() time.Time { return clock }, KeepChanges: time.Hour})
	add := func(n int) {
		t.Helper()
		if _, err := s.As(moderator).ChangeAssets(ctx, lib,
			assets.ChangeAssetsRequest{Add: []assets.NewAsset{newAsset(fmt.Sprint(n), "x")}}); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 64 {
		add(n)
	}
	page, err := s.As(moderator).Changes(ctx, lib, vitrine.ChangesRequest{})
	if err != nil || len(page.Changes) != 64 {
		t.Fatalf("%d, %v", len(page.Changes), err)
	}
	clock = clock.Add(time.Hour)
	add(64)
	if _, err := s.As(moderator).Changes(ctx, lib,
		vitrine.ChangesRequest{After: page.Changes[0].Cursor}); !errors.Is(err, vitrine.ErrGone) {
		t.Errorf("after an entry that was removed: %v", err)
	}
	for _, after := range []string{"", page.Next} {
		if now, err := s.As(moderator).Changes(ctx, lib, vitrine.ChangesRequest{After: after}); err != nil ||
			len(now.Changes) != 1 {
			t.Errorf("after %q: %+v, %v", after, now, err)
		}
	}
	if err := storage.RenewIdentity(ctx, db); err != nil {
		t.Fatal(err)
	}
	_, err = s.As(moderator).Changes(ctx, lib, vitrine.ChangesRequest{After: page.Next})
	if e, ok := errors.AsType[*vitrine.Error](err); !ok || e.Kind != vitrine.ErrGone || e.Code != vitrine.CodeGone ||
		e.Parameter != "after" {
		t.Errorf("after a reset: %v", err)
	}
}

func TestAPageOfALibraryEndsWithItsBytes(t *testing.T) {
	d := newDesk(t, assets.Limits{PageBytes: 2000})
	var many []assets.NewAsset
	for i := range 3 {
		many = append(many, newAsset(fmt.Sprint(i), strings.Repeat("x", 10)))
	}
	for i := range 20 {
		many[0].ID = fmt.Sprint("again", i)
		if _, err := d.As(moderator).ChangeAssets(ctx, lib, assets.ChangeAssetsRequest{Add: many[:1]}); err != nil {
			t.Fatal(err)
		}
	}
	met, pages := 0, 0
	for after, more := "", true; more; pages++ {
		page, err := d.As(moderator).Changes(ctx, lib, vitrine.ChangesRequest{After: after})
		if err != nil {
			t.Fatal(err)
		}
		met += len(page.Changes)
		after, more = page.Next, page.More
	}
	if met != 20 || pages < 2 {
		t.Errorf("%d entries in %d pages", met, pages)
	}
}

// A page for a program that delivers changes is small, since it waits while a receiver is away.
func TestAPageOfTheOutboxIsSmall(t *testing.T) {
	store := memory.New()
	d := &desk{t: t, Service: assets.New(store, nil)}
	var add []assets.NewAsset
	for i := range 1000 {
		add = append(add, newAsset(fmt.Sprint("p", i), "x"))
	}
	if _, err := d.As(moderator).ChangeAssets(ctx, lib, assets.ChangeAssetsRequest{Add: add}); err != nil {
		t.Fatal(err)
	}
	const more = 50 // of the same entry
	entries := feed.Feed{Space: keyval.Space("assets", lib.Network, lib.ID)}
	if err := store.Update(ctx, entries.Space, storage.UpdateOptions{}, func(tx storage.Tx) error {
		for e, err := range entries.Entries(ctx, tx, 0, 1) {
			return errors.Join(err, entries.Add(ctx, tx, slices.Repeat([]feed.Entry{e}, more)...))
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	met := 0
	for after, goOn := "", true; goOn; {
		page, err := d.Outbox(ctx, lib, vitrine.ChangesRequest{After: after})
		if err != nil {
			t.Fatal(err)
		}
		text, _ := json.Marshal(page)
		if len(text) > 400<<10 {
			t.Errorf("a page of %d entries has %d bytes", len(page.Changes), len(text))
		}
		met += len(page.Changes)
		after, goOn = page.Next, page.More
	}
	if met != 1+more {
		t.Errorf("%d entries, want %d", met, 1+more)
	}
}
