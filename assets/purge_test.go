package assets_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

func (d *desk) purge(by vitrine.Caller, in assets.ChangeFoldersRequest) (assets.ChangedFolders, error) {
	return d.As(by).ChangeFolders(ctx, lib, in)
}

func TestWhoMayPurgeWhat(t *testing.T) {
	d := newDesk(t, assets.Limits{Items: 3})
	f, path := d.folder("f", "", true, grants...)
	below, _ := d.folder("below", path, true)
	purge := func(ids ...string) assets.ChangeFoldersRequest { return assets.ChangeFoldersRequest{Purge: ids} }
	_, err := d.purge(moderator, purge(f))
	d.want("a folder that is not deleted", err, "invalid")
	gone := assets.ChangeFoldersRequest{Delete: []string{f}}
	if _, err := d.As(moderator).ChangeFolders(ctx, lib, gone); err != nil {
		t.Fatal(err)
	}
	_, err = d.purge(manager, purge(f))
	d.want("by who may manage it", err, "forbidden")
	_, err = d.purge(member, purge("none"))
	d.want("one that is not there, by a member", err, "forbidden")
	_, err = d.purge(moderator, purge(f, "none"))
	d.want("one that is not there", err, "not found")
	_, err = d.purge(moderator, purge(f, f, f, f))
	d.want("too many", err, "invalid")
	_, err = d.purge(moderator,
		assets.ChangeFoldersRequest{Create: []assets.NewFolder{{Label: "x"}}, Purge: []string{"none"}})
	d.want("with a new folder", err, "not found")
	if page, err := d.As(moderator).ListFolders(ctx, lib, assets.ListFoldersRequest{}); err != nil ||
		len(page.Items) != 0 {
		t.Errorf("the folders are %+v after a refused request, %v", page.Items, err)
	}
	out, err := d.purge(moderator, purge(below))
	if err != nil || out.Purged.Folders != 1 {
		t.Errorf("a folder below a deleted one: %+v, %v", out, err)
	}
	_, err = d.As(moderator).Folder(ctx, lib, below)
	d.want("reading it", err, "not found")
	other, _ := d.folder("other", "", true)
	out, err = d.purge(moderator, assets.ChangeFoldersRequest{Delete: []string{other}, Purge: []string{other, f}})
	if err != nil || out.Purged.Folders != 2 || len(out.Folders) != 1 || out.Folders[0].ID != other {
		t.Errorf("a folder that the same request deletes: %+v, %v", out, err)
	}
}

// failing is a store whose updates fail from one on.
type failing struct {
	storage.Store
	left int64
}

func (f *failing) Update(ctx context.Context, space string, o storage.UpdateOptions, fn func(storage.Tx) error) error {
	if atomic.AddInt64(&f.left, -1) < 0 {
		return storage.ErrBusy
	}
	return f.Store.Update(ctx, space, o, fn)
}

// A purge takes assets along with their folders, in portions, and what it has not done yet is done when it is asked for
// again.
func TestAPurgeTakesWhatIsInNoOtherFolder(t *testing.T) {
	const many = 450
	fill := func(db storage.Store) (d *desk, doomed, kept string) {
		d = &desk{t: t, Service: assets.New(db, nil)}
		doomed, path := d.folder("doomed", "", true)
		below, _ := d.folder("below", path, true)
		kept, _ = d.folder("kept", "", true)
		var add []assets.NewAsset
		for i := range many {
			folders := []string{doomed}
			if i%3 == 1 {
				folders = []string{below, doomed}
			} else if i%3 == 2 {
				folders = []string{kept, below}
			}
			add = append(add, newAsset(fmt.Sprint(i), fmt.Sprintf("confidential secret%dz", i), folders...))
		}
		if _, err := d.As(moderator).ChangeAssets(ctx, lib, assets.ChangeAssetsRequest{Add: add}); err != nil {
			t.Fatal(err)
		}
		if _, err := d.As(moderator).ChangeFolders(ctx, lib,
			assets.ChangeFoldersRequest{Delete: []string{doomed}}); err != nil {
			t.Fatal(err)
		}
		return d, doomed, kept
	}
	check := func(db storage.Store, d *desk, doomed, kept string) {
		t.Helper()
		d.Service = assets.New(db, nil)
		if n, in := d.total(moderator, assets.SearchRequest{Query: "confidential"}),
			d.total(moderator, assets.SearchRequest{Folder: kept}); n != many/3 || in != n {
			t.Errorf("%d assets are left, and %d in the other folder, want %d", n, in, many/3)
		}
		_, err := d.As(moderator).Folder(ctx, lib, doomed)
		d.want("the folder", err, "not found")
		for fault, err := range assets.Maintenance(assets.Limits{}, nil).Audit(ctx, db) {
			t.Fatalf("%v, %v", fault, err)
		}
	}

	db := memory.New()
	d, doomed, kept := fill(db)
	out, err := d.purge(moderator, assets.ChangeFoldersRequest{Purge: []string{doomed}})
	if err != nil || out.Purged.Folders != 2 || out.Purged.Assets != many*2/3 {
		t.Errorf("purged %+v, %v", out.Purged, err)
	}
	check(db, d, doomed, kept)

	for left := range 100 {
		inMemory := memory.New()
		d, doomed, kept := fill(inMemory)
		ask := assets.ChangeFoldersRequest{Purge: []string{doomed}}
		_, err := assets.New(&failing{inMemory, int64(left)}, nil).As(moderator).ChangeFolders(ctx, lib, ask)
		if err == nil {
			if check(inMemory, d, doomed, kept); left < 5 {
				t.Errorf("a purge of %d assets takes %d updates", many, left)
			}
			break
		}
		if _, err = d.purge(moderator, ask); err != nil {
			t.Errorf("again after %d updates: %v", left, err)
		}
		check(inMemory, d, doomed, kept)
	}
}
