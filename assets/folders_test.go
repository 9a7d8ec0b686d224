package assets_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/storage"
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
		_, err := d.As(moderator).ChangeFolders(ctx, lib,
			assets.ChangeFoldersRequest{Create: []assets.NewFolder{{Label: "x", Path: place}}})
		return err
	}
	move := func(id, place string) error {
		_, err := d.As(moderator).ChangeFolders(ctx, lib,
			assets.ChangeFoldersRequest{Update: []assets.FolderChange{{ID: id, Path: &place}}})
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
	d.want("moving without a path", move(low, ""), "invalid")
	for _, place := range []string{"/absent", "/" + ids[1], "//" + ids[0], "/" + ids[0] + "/",
		"/" + ids[0] + "//" + ids[1]} {
		d.want("a place that is none: "+place, create(place), "not found")
	}
	d.want("a path without a slash", create(ids[0]), "invalid")
	d.want("no path", create(""), "ok")
}

func TestFolderRequestsAreAtomicAndAnsweredInOrder(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	a, aPath := d.folder("a", "", true)
	b, _ := d.folder("b", aPath, true)
	_, err := d.As(moderator).ChangeFolders(ctx, lib, assets.ChangeFoldersRequest{
		Create: []assets.NewFolder{{Label: "c"}}, Update: []assets.FolderChange{{ID: a, Label: text("A")}},
		Delete: []string{b, "absent"}})
	d.want("one of them absent", err, "not found")
	page, err := d.As(moderator).ListFolders(ctx, lib, assets.ListFoldersRequest{})
	if list := page.Items; err != nil || len(list) != 1 || list[0].Label != "a" ||
		!slices.Equal(list[0].Children, []string{b}) {
		t.Errorf("a refused request leaves %+v, error %v", page, err)
	}
	changed, err := d.As(moderator).ChangeFolders(ctx, lib, assets.ChangeFoldersRequest{
		Create: []assets.NewFolder{{Label: "c", Path: aPath}, {Label: "c"}},
		Update: []assets.FolderChange{{ID: b, Inherit: flag(false)}, {ID: a, Label: text("A")}},
		Delete: []string{a, b, b}, Remove: []string{a}})
	out := changed.Folders
	if err != nil || len(out) != 4 || out[0].Path != aPath || out[1].Path != "/" || out[2].ID != b || out[2].Inherit ||
		out[3].ID != a || out[3].Label != "A" {
		t.Fatalf("%+v, error %v", out, err)
	}
	for _, i := range []int{0, 2, 3} {
		if !out[i].Deleted || out[i].Children != nil {
			t.Errorf("folder %d is returned as %+v", i, out[i])
		}
	}
	if f, err := d.As(moderator).Folder(ctx, lib, out[0].ID); err != nil || !f.Deleted {
		t.Errorf("below a deleted one: %+v, error %v", f, err)
	}
	_, err = d.As(moderator).ChangeFolders(ctx, lib,
		assets.ChangeFoldersRequest{Update: []assets.FolderChange{{ID: a, Label: text("x")}}})
	d.want("renaming a deleted one", err, "not found")
	changed, err = d.As(moderator).ChangeFolders(ctx, lib,
		assets.ChangeFoldersRequest{Update: []assets.FolderChange{{ID: b, Deleted: flag(false), Path: text("/")}}})
	if out = changed.Folders; err != nil || out[0].Deleted || out[0].Path != "/" {
		t.Errorf("moved out and brought back: %+v, error %v", out, err)
	}
}

// A folder below a deleted one is restored together with that one, or moved out by those who may restore that one.
func TestAFolderBelowADeletedOneCannotBeRestored(t *testing.T) {
	manage := func(user string) assets.Permission {
		return assets.Permission{Operation: assets.Manage, User: &assets.Subject{ID: user}}
	}
	for _, c := range []struct {
		what, path string // "" = no path
		by         vitrine.Caller
		want       string
	}{
		{"by a moderator, where it is", "", moderator, "invalid"},
		{"by its manager, where it is", "", viewer, "invalid"},
		{"by its manager, moved out", "OTHER", viewer, "invalid"},
		{"by the manager of the deleted one, moved out", "OTHER", manager, "ok"},
		{"by a moderator, moved to the top", "/", moderator, "ok"},
		{"by its manager, moved to the top", "/", viewer, "invalid"},
		{"by somebody else", "OTHER", writer, "not found"},
	} {
		d := newDesk(t, assets.Limits{})
		top, path := d.folder("top", "", true, manage("manager"))
		_, path = d.folder("between", path, true)
		id, _ := d.folder("f", path, true, manage("viewer"))
		_, other := d.folder("other", "", true, manage("viewer"), manage("manager"))
		if _, err := d.As(moderator).ChangeFolders(ctx, lib,
			assets.ChangeFoldersRequest{Delete: []string{top}}); err != nil {
			t.Fatal(err)
		}
		in := assets.FolderChange{ID: id, Deleted: flag(false)}
		if c.path != "" {
			in.Path = text(strings.Replace(c.path, "OTHER", other, 1))
		}
		_, err := d.As(c.by).ChangeFolders(ctx, lib, assets.ChangeFoldersRequest{Update: []assets.FolderChange{in}})
		d.want(c.what, err, c.want)
		_, err = d.As(moderator).ChangeFolders(ctx, lib,
			assets.ChangeFoldersRequest{Update: []assets.FolderChange{{ID: top, Deleted: flag(false)},
				{ID: id, Deleted: flag(false)}}})
		d.want(c.what+": after the one above", err, "ok")
	}
}

func TestFolderOrder(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	var want []string
	for _, label := range []string{"A", "a", "b", "B", "É", "straße", "STRASSF", "Z"} {
		id, _ := d.folder(label, "", true)
		want = append(want, id)
	}
	for _, pair := range [][2]int{{0, 1}, {2, 3}} { // labels that differ in case alone stand by id
		if want[pair[0]] > want[pair[1]] {
			want[pair[0]], want[pair[1]] = want[pair[1]], want[pair[0]]
		}
	}
	got := []string{}
	in := assets.ListFoldersRequest{Limit: 3}
	for {
		page, err := d.As(member).ListFolders(ctx, lib, in)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range page.Items {
			got = append(got, f.ID)
		}
		if page.Next == "" {
			break
		}
		in.After = page.Next
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if _, err := d.As(moderator).ChangeFolders(ctx, lib, assets.ChangeFoldersRequest{Delete: want[4:5]}); err != nil {
		t.Fatal(err)
	}
	_, err := d.As(member).ListFolders(ctx, lib, assets.ListFoldersRequest{Before: want[4]})
	d.want("a deleted folder as a cursor", err, "invalid")
	page, err := d.As(moderator).ListFolders(ctx, lib, assets.ListFoldersRequest{Limit: 2, Before: want[4]})
	if err != nil || len(page.Items) != 2 || page.Items[0].ID != want[2] || page.Items[1].ID != want[3] ||
		page.Next != want[3] {
		t.Errorf("before number 4: %+v, error %v", page, err)
	}
}

// A label finds folders at all levels. Deleted folders are listed for those who may restore them, and for nobody else.
func TestFoldersByLabelAndDeletedOnes(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	ids := map[string]string{}
	add := func(label, place string, inherit bool, permissions ...assets.Permission) (path string) {
		ids[label], path = d.folder(label, place, inherit, permissions...)
		return path
	}
	winter := add("Winter", "", true)
	add("Winterthur", winter, true)
	add("Midwinter", add("Summer", "", true, grants...), true)
	add("closed winter", "", false)
	add("lost winter", winter, true)
	add("lost restricted winter", "", true, grants...)
	add("below a lost winter", add("lost parent", "", true), true)
	add("lost and below a lost one", winter+"/"+ids["lost winter"], true)
	for _, label := range []string{"lost and below a lost one", "lost winter", "lost restricted winter",
		"lost parent"} {
		if _, err := d.As(moderator).ChangeFolders(ctx, lib,
			assets.ChangeFoldersRequest{Delete: []string{ids[label]}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		what string
		by   vitrine.Caller
		in   assets.ListFoldersRequest
		want []string
	}{
		{"a part of a label", moderator, assets.ListFoldersRequest{Label: "WINTER"},
			[]string{"closed winter", "Midwinter", "Winter", "Winterthur"}},
		{"of what a viewer sees", viewer, assets.ListFoldersRequest{Label: "winter"},
			[]string{"Midwinter", "Winter", "Winterthur"}},
		{"of what a member sees", member, assets.ListFoldersRequest{Label: "winter"}, []string{"Winter", "Winterthur"}},
		{"in a place", moderator, assets.ListFoldersRequest{Label: "winter", Paths: []string{"/"}},
			[]string{"closed winter", "Winter"}},
		{"of ids", moderator, assets.ListFoldersRequest{Label: "mid", IDs: []string{ids["Winter"], ids["Midwinter"]}},
			[]string{"Midwinter"}},
		{"as texts are compared", moderator, assets.ListFoldersRequest{Label: "WÍNTÉR"},
			[]string{"closed winter", "Midwinter", "Winter", "Winterthur"}},
		{"no such label", moderator, assets.ListFoldersRequest{Label: "winter*"}, nil},
		{"deleted ones", moderator, assets.ListFoldersRequest{Deleted: true},
			[]string{"lost and below a lost one", "lost parent", "lost restricted winter", "lost winter"}},
		{"deleted ones by label", moderator, assets.ListFoldersRequest{Deleted: true, Label: "restricted"},
			[]string{"lost restricted winter"}},
		{"deleted ones in a place", moderator, assets.ListFoldersRequest{Deleted: true, Paths: []string{winter}},
			[]string{"lost winter"}},
		{"deleted ones that a manager may bring back", manager, assets.ListFoldersRequest{Deleted: true},
			[]string{"lost restricted winter"}},
		{"deleted ones that a writer may not bring back", writer, assets.ListFoldersRequest{Deleted: true}, nil},
		{"deleted ones that were open", member, assets.ListFoldersRequest{Deleted: true}, nil},
	} {
		var have []string
		c.in.Limit = 2
		as := d.As(c.by)
		for f, err := range as.AllFolders(ctx, lib, c.in) {
			if err != nil {
				t.Fatalf("%s: %v", c.what, err)
			}
			if f.Deleted != c.in.Deleted {
				t.Errorf("%s: %s is deleted: %t", c.what, f.Label, f.Deleted)
			}
			have = append(have, f.Label)
		}
		if !slices.Equal(have, c.want) {
			t.Errorf("%s: %q, want %q", c.what, have, c.want)
		}
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
		"role at its limit": {assets.NewFolder{Label: "x",
			Permissions: []assets.Permission{{Operation: "view", Role: &assets.Subject{ID: strings.Repeat("é", 512)}}}},
			"ok"},
		"role over it": {assets.NewFolder{Label: "x",
			Permissions: []assets.Permission{{Operation: "view", Role: &assets.Subject{ID: strings.Repeat("é", 513)}}}},
			"invalid"},
		"an unknown operation": {assets.NewFolder{Label: "x",
			Permissions: []assets.Permission{{Operation: "View", Role: &assets.Subject{ID: "r"}}}}, "invalid"},
		"another folder's rId": {assets.NewFolder{Label: "x",
			Permissions: []assets.Permission{{Operation: "view", RID: "urn:x", Role: &assets.Subject{ID: "r"}}}},
			"invalid"},
	} {
		_, err := d.As(moderator).ChangeFolders(ctx, lib, assets.ChangeFoldersRequest{Create: []assets.NewFolder{c.in}})
		d.want(name, err, c.want)
	}
}

func TestPermissionsCollapseAndAreRemovedByIDOrContent(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	f, _ := d.folder("f", "", true)
	change := func(in assets.ChangePermissionsRequest) []assets.Permission {
		t.Helper()
		in.Folder = f
		out, err := d.As(moderator).ChangePermissions(ctx, lib, in)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	user := func(id, name string) assets.Permission {
		return assets.Permission{Operation: assets.View, User: &assets.Subject{ID: id, Name: name}}
	}
	out := change(
		assets.ChangePermissionsRequest{Create: []assets.Permission{user("x", "one"), user("x", "two"),
			user(network+":user=x", ""), grants[0], grants[1]}})
	if len(out) != 3 || out[0].User.Name != "one" || out[0].RType != "assetFolder" ||
		out[0].RID != network+":library=example.test:folder="+f {
		t.Fatalf("%+v", out)
	}
	kept := out[0]
	if out = change(assets.ChangePermissionsRequest{Create: []assets.Permission{kept}}); len(out) != 3 ||
		out[0].ID != kept.ID {
		t.Errorf("granting what is there: %+v", out)
	}
	if out = change(
		assets.ChangePermissionsRequest{Remove: []assets.Permission{{ID: "absent"}, {ID: kept.ID},
			user("never", "")}}); len(out) != 2 {
		t.Errorf("removed by id: %+v", out)
	}
	edit := user("y", "")
	edit.Operation = assets.Edit
	out = change(assets.ChangePermissionsRequest{Create: []assets.Permission{edit},
		Remove: []assets.Permission{grants[0], user("y", "")}})
	if len(out) != 2 || out[0].Group == nil || out[1].Operation != assets.Edit {
		t.Errorf("removed by content: %+v", out)
	}
	list, err := d.As(moderator).Permissions(ctx, lib, f)
	if err != nil || len(list) != 2 || list[0].ID != out[0].ID {
		t.Errorf("read again: %+v, error %v", list, err)
	}
	_, err = d.As(moderator).ChangePermissions(ctx, lib,
		assets.ChangePermissionsRequest{Folder: f, Remove: []assets.Permission{{Operation: assets.View}}})
	d.want("removing nobody's", err, "invalid")
}

func TestResourceIDsAreEscaped(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	odd := assets.Library{Network: "example.test", ID: "a:b/c%d"}
	out, err := d.As(moderator).ChangeFolders(ctx, odd,
		assets.ChangeFoldersRequest{Create: []assets.NewFolder{{Label: "x", Permissions: grants[:1]}}})
	if err != nil || out.Folders[0].Permissions[0].RID != network+":library=a%3Ab%2Fc%25d:folder="+out.Folders[0].ID {
		t.Errorf("%+v, error %v", out, err)
	}
}

// countingStore counts how often folders are stored.
type countingStore struct {
	storage.Store
	folders int
}

func (c *countingStore) Update(
	ctx context.Context, space string, o storage.UpdateOptions, fn func(storage.Tx) error,
) error {
	return c.Store.Update(ctx, space, o, func(tx storage.Tx) error { return fn(countingTx{tx, c}) })
}

type countingTx struct {
	storage.Tx
	store *countingStore
}

func (c countingTx) Put(ctx context.Context, entries ...storage.Entry) error {
	for _, e := range entries {
		if strings.Contains(e.Key, " folder/") {
			c.store.folders++
		}
	}
	return c.Tx.Put(ctx, entries...)
}

// A request that changes one folder many times stores it once, as it is in the end.
func TestAFolderIsStoredOnceARequest(t *testing.T) {
	store := &countingStore{Store: memory.New()}
	d := &desk{t: t, Service: assets.New(store, nil)}
	id, _ := d.folder("f", "", true)
	store.folders = 0
	var in assets.ChangeFoldersRequest
	for i := range 100 {
		in.Update = append(in.Update, assets.FolderChange{ID: id, Label: text(fmt.Sprint("label ", i))})
	}
	in.Create = []assets.NewFolder{{Label: "g", Path: "/" + id}}
	in.Delete = []string{id}
	if _, err := d.As(moderator).ChangeFolders(ctx, lib, in); err != nil {
		t.Fatal(err)
	}
	if f, err := d.As(moderator).Folder(ctx, lib, id); err != nil || f.Label != "label 99" || !f.Deleted {
		t.Errorf("it is %+v, %v", f, err)
	}
	if store.folders != 2 {
		t.Errorf("2 folders were stored %d times", store.folders)
	}
}

// Folders that are below themselves, in a damaged store, give an error, and no request loops for ever.
func TestFoldersInACircleAreAnError(t *testing.T) {
	d := newRecordDesk(t)
	for id, parent := range map[string]string{"a": "b", "b": "c", "c": "a", "d": ""} {
		d.change("folder/"+id, func([]byte) []byte {
			return fmt.Appendf(nil, `{"id":%q,"parent":%q,"label":%[1]q}`, id, parent)
		})
	}
	_, err := assets.New(d.db, nil).As(moderator).Search(ctx, lib, assets.SearchRequest{Folder: "a"})
	if err == nil || !strings.Contains(err.Error(), "circle") {
		t.Errorf("error %v, want one that tells the circle", err)
	}
}

// Folders are in the order in which a person looks for them, and a walk by either cursor keeps to it.
func TestTheOrderOfFolders(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	labels := []string{"2", "010", "10", "1.9", "1.10", "A", "a", "Ä", "A 2", "a 10", "Äpfel", "Apfel", "b", "É", "z",
		"ø", "Я", "б", "日本", "🙂"}
	for _, label := range labels {
		d.folder(label, "", true)
	}
	var all, back []string
	for f, err := range d.As(member).AllFolders(ctx, lib, assets.ListFoldersRequest{Limit: 3}) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, f.Label)
	}
	before := ""
	for {
		page, err := d.As(member).ListFolders(ctx, lib, assets.ListFoldersRequest{Limit: 3, Before: before})
		if err != nil {
			t.Fatal(err)
		}
		if before == "" { // the last folder
			page, err = d.As(member).ListFolders(ctx, lib, assets.ListFoldersRequest{Label: all[len(all)-1]})
			if err != nil {
				t.Fatal(err)
			}
		}
		if len(page.Items) == 0 {
			break
		}
		for i := range page.Items {
			back = append(back, page.Items[len(page.Items)-1-i].Label)
		}
		before = page.Items[0].ID
	}
	if slices.Reverse(back); !slices.Equal(all, back) {
		t.Errorf("forwards %q, backwards %q", all, back)
	}
	// Equal labels are in the order of their ids.
	want := "1.9 1.10 2 10 010 A a Ä A 2 a 10 Apfel Äpfel b É ø z б Я 日本 🙂"
	got := strings.NewReplacer("a A", "A a", "010 10", "10 010").Replace(strings.Join(all, " "))
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
