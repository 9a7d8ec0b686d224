package assets_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/storage/memory"
)

func TestFoldersNestUpTo64Levels(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	path, ids := "/", []string{}
	for i := range 64 {
		id, next := d.folder(fmt.Sprint(i), path, true)
		ids, path = append(ids, id), next
	}
	create := func(place string) error {
		_, err := d.ChangeFolders(ctx, moderator, lib, assets.ChangeFolders{Create: []assets.NewFolder{{Label: "x", Path: place}}})
		return err
	}
	move := func(id, place string) error {
		_, err := d.ChangeFolders(ctx, moderator, lib, assets.ChangeFolders{Update: []assets.FolderChange{{ID: id, Path: &place}}})
		return err
	}
	d.want("level 65", create(path), "invalid")
	top, topPath := d.folder("top", "/", true)
	low, _ := d.folder("low", topPath, true)
	upper := path[:strings.LastIndex(path, "/")] // of level 63
	d.want("moving two levels below level 63", move(top, upper), "invalid")
	d.want("moving one level there", move(low, upper), "ok")
	d.want("moving below itself", move(ids[0], path), "invalid")
	d.want("moving into itself", move(ids[5], path[:strings.Index(path, ids[6])-1]), "invalid")
	d.want("moving to where it is", move(ids[0], "/"), "ok")
	d.want("moving up", move(ids[63], "/"), "ok")
	for _, place := range []string{"/absent", "/" + ids[1], "//" + ids[0], "/" + ids[0] + "/", "/" + ids[0] + "//" + ids[1]} {
		d.want("a place that is none: "+place, create(place), "not found")
	}
	d.want("a path without a slash", create(ids[0]), "invalid")
	d.want("no path", create(""), "ok")
}

func TestFolderRequestsAreAtomicAndAnsweredInOrder(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	a, aPath := d.folder("a", "", true)
	b, _ := d.folder("b", aPath, true)
	_, err := d.ChangeFolders(ctx, moderator, lib, assets.ChangeFolders{
		Create: []assets.NewFolder{{Label: "c"}}, Update: []assets.FolderChange{{ID: a, Label: text("A")}}, Delete: []string{b, "absent"}})
	d.want("one of them absent", err, "not found")
	list, err := d.Folders(ctx, moderator, lib, assets.ListFolders{})
	if err != nil || len(list) != 1 || list[0].Label != "a" || !slices.Equal(list[0].Children, []string{b}) {
		t.Errorf("a refused request leaves %+v, error %v", list, err)
	}
	out, err := d.ChangeFolders(ctx, moderator, lib, assets.ChangeFolders{
		Create: []assets.NewFolder{{Label: "c", Path: aPath}, {Label: "c"}}, Update: []assets.FolderChange{{ID: b, Inherit: flag(false)}, {ID: a, Label: text("A")}},
		Delete: []string{a, b, b}, Remove: []string{a}})
	if err != nil || len(out) != 4 || out[0].Path != aPath || out[1].Path != "/" || out[2].ID != b || out[2].Inherit || out[3].ID != a || out[3].Label != "A" {
		t.Fatalf("%+v, error %v", out, err)
	}
	for _, i := range []int{0, 2, 3} {
		if !out[i].Deleted || out[i].Children != nil {
			t.Errorf("folder %d is answered as %s", i, out[i].AppendJSON(nil))
		}
	}
	if f, err := d.Folder(ctx, moderator, lib, out[0].ID); err != nil || !f.Deleted {
		t.Errorf("below a deleted one: %+v, error %v", f, err)
	}
	_, err = d.ChangeFolders(ctx, moderator, lib, assets.ChangeFolders{Update: []assets.FolderChange{{ID: a, Label: text("x")}}})
	d.want("renaming a deleted one", err, "not found")
	out, err = d.ChangeFolders(ctx, moderator, lib, assets.ChangeFolders{Update: []assets.FolderChange{{ID: b, Deleted: flag(false), Path: text("/")}}})
	if err != nil || out[0].Deleted || out[0].Path != "/" {
		t.Errorf("moved out and brought back: %+v, error %v", out, err)
	}
}

func TestFolderOrder(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	var want []string
	for _, label := range []string{"A", "a", "b", "B", "straße", "STRASSF", "Z", "É"} {
		id, _ := d.folder(label, "", true)
		want = append(want, id)
	}
	for _, pair := range [][2]int{{0, 1}, {2, 3}} { // labels that differ in case alone stand by id
		if want[pair[0]] > want[pair[1]] {
			want[pair[0]], want[pair[1]] = want[pair[1]], want[pair[0]]
		}
	}
	got := []string{}
	in := assets.ListFolders{Limit: 3}
	for {
		page, err := d.Folders(ctx, member, lib, in)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range page {
			got = append(got, f.ID)
		}
		if len(page) < 3 {
			break
		}
		in.Since = page[2].ID
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if _, err := d.ChangeFolders(ctx, moderator, lib, assets.ChangeFolders{Delete: want[4:5]}); err != nil {
		t.Fatal(err)
	}
	_, err := d.Folders(ctx, member, lib, assets.ListFolders{Until: want[4]})
	d.want("a deleted folder as a cursor", err, "invalid")
	page, err := d.Folders(ctx, moderator, lib, assets.ListFolders{Limit: 2, Until: want[4]})
	if err != nil || len(page) != 2 || page[0].ID != want[2] || page[1].ID != want[3] {
		t.Errorf("before number 4: %+v, error %v", page, err)
	}
}

func TestFolderLimits(t *testing.T) {
	d := newDesk(t, assets.Limits{Permissions: 3})
	group := func(n int) (list []assets.Permission) {
		for i := range n {
			list = append(list, assets.Permission{Operation: assets.View, Role: &assets.Subject{ID: fmt.Sprint(i)}})
		}
		return list
	}
	for name, c := range map[string]struct {
		in   assets.NewFolder
		want string
	}{
		"label at its limit":       {assets.NewFolder{Label: strings.Repeat("é", 128)}, "ok"},
		"label over it":            {assets.NewFolder{Label: strings.Repeat("é", 129)}, "invalid"},
		"no label":                 {assets.NewFolder{}, "invalid"},
		"label with a line break":  {assets.NewFolder{Label: "a\nb"}, "invalid"},
		"permissions at the limit": {assets.NewFolder{Label: "x", Permissions: group(3)}, "ok"},
		"permissions over it":      {assets.NewFolder{Label: "x", Permissions: group(4)}, "invalid"},
		"equal ones count once":    {assets.NewFolder{Label: "x", Permissions: append(group(3), group(3)...)}, "ok"},
		"role at its limit":        {assets.NewFolder{Label: "x", Permissions: []assets.Permission{{Operation: "view", Role: &assets.Subject{ID: strings.Repeat("é", 512)}}}}, "ok"},
		"role over it":             {assets.NewFolder{Label: "x", Permissions: []assets.Permission{{Operation: "view", Role: &assets.Subject{ID: strings.Repeat("é", 513)}}}}, "invalid"},
		"an unknown operation":     {assets.NewFolder{Label: "x", Permissions: []assets.Permission{{Operation: "View", Role: &assets.Subject{ID: "r"}}}}, "invalid"},
		"another folder's rId":     {assets.NewFolder{Label: "x", Permissions: []assets.Permission{{Operation: "view", RID: "urn:x", Role: &assets.Subject{ID: "r"}}}}, "invalid"},
	} {
		_, err := d.ChangeFolders(ctx, moderator, lib, assets.ChangeFolders{Create: []assets.NewFolder{c.in}})
		d.want(name, err, c.want)
	}
}

func TestPermissionsCollapseAndAreRemovedByIDOrContent(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	f, _ := d.folder("f", "", true)
	change := func(in assets.ChangePermissions) []assets.Permission {
		t.Helper()
		out, err := d.ChangePermissions(ctx, moderator, lib, f, in)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	user := func(id, name string) assets.Permission {
		return assets.Permission{Operation: assets.View, User: &assets.Subject{ID: id, Name: name}}
	}
	out := change(assets.ChangePermissions{Create: []assets.Permission{user("x", "one"), user("x", "two"), user(network+":user=x", ""), grants[0], grants[1]}})
	if len(out) != 3 || out[0].User.Name != "one" || out[0].RType != "assetFolder" || out[0].RID != network+":library=example.test:folder="+f {
		t.Fatalf("%+v", out)
	}
	kept := out[0]
	if out = change(assets.ChangePermissions{Create: []assets.Permission{kept}}); len(out) != 3 || out[0].ID != kept.ID {
		t.Errorf("granting what is there: %+v", out)
	}
	if out = change(assets.ChangePermissions{Remove: []assets.Permission{{ID: "absent"}, {ID: kept.ID}, user("never", "")}}); len(out) != 2 {
		t.Errorf("removed by id: %+v", out)
	}
	edit := user("y", "")
	edit.Operation = assets.Edit
	out = change(assets.ChangePermissions{Create: []assets.Permission{edit}, Remove: []assets.Permission{grants[0], user("y", "")}})
	if len(out) != 2 || out[0].Group == nil || out[1].Operation != assets.Edit {
		t.Errorf("removed by content: %+v", out)
	}
	list, err := d.Permissions(ctx, moderator, lib, f)
	if err != nil || len(list) != 2 || list[0].ID != out[0].ID {
		t.Errorf("read again: %+v, error %v", list, err)
	}
	_, err = d.ChangePermissions(ctx, moderator, lib, f, assets.ChangePermissions{Remove: []assets.Permission{{Operation: assets.View}}})
	d.want("removing nobody's", err, "invalid")
}

func TestResourceIDsAreEscaped(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	odd := assets.Library{Network: "example.test", ID: "a:b/c%d"}
	out, err := d.ChangeFolders(ctx, moderator, odd, assets.ChangeFolders{Create: []assets.NewFolder{{Label: "x", Permissions: grants[:1]}}})
	if err != nil || out[0].Permissions[0].RID != network+":library=a%3Ab%2Fc%25d:folder="+out[0].ID {
		t.Errorf("%+v, error %v", out, err)
	}
}

// countingStore counts how often folders are stored.
type countingStore struct {
	assets.Store
	folders int
}

func (c *countingStore) Update(ctx context.Context, lib assets.Library, fn func(assets.Tx) error) error {
	return c.Store.Update(ctx, lib, func(tx assets.Tx) error { return fn(countingTx{tx, c}) })
}

type countingTx struct {
	assets.Tx
	store *countingStore
}

func (c countingTx) PutFolder(ctx context.Context, f assets.FolderRecord) error {
	c.store.folders++
	return c.Tx.PutFolder(ctx, f)
}

// A request that changes one folder many times stores it once, as it is in the end.
func TestAFolderIsStoredOnceARequest(t *testing.T) {
	store := &countingStore{Store: memory.NewAssets()}
	d := &desk{t: t, Service: assets.New(store, nil)}
	id, _ := d.folder("f", "", true)
	store.folders = 0
	var in assets.ChangeFolders
	for i := range 100 {
		in.Update = append(in.Update, assets.FolderChange{ID: id, Label: text(fmt.Sprint("label ", i))})
	}
	in.Create = []assets.NewFolder{{Label: "g", Path: "/" + id}}
	in.Delete = []string{id}
	if _, err := d.ChangeFolders(ctx, moderator, lib, in); err != nil {
		t.Fatal(err)
	}
	if f, err := d.Folder(ctx, moderator, lib, id); err != nil || f.Label != "label 99" || !f.Deleted {
		t.Errorf("it is %+v, %v", f, err)
	}
	if store.folders != 2 {
		t.Errorf("2 folders were stored %d times", store.folders)
	}
}
