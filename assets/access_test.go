package assets_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/assets"
)

// callers are the columns of the tables below.
var callers = []struct {
	name string
	assets.Caller
}{{"moderator", moderator}, {"manager", manager}, {"writer", writer}, {"viewer", viewer}, {"member", member}, {"outsider", outsider}}

// Each operation by each kind of caller on a folder in each state. A row is one word a caller:
// ok, 403, 404.
func TestWhoMayDoWhat(t *testing.T) {
	type try = func(d *desk, by assets.Caller, folder, path string) error
	operations := map[string]try{
		"read the folder": func(d *desk, by assets.Caller, f, _ string) error {
			_, err := d.Folder(ctx, by, lib, f)
			return err
		},
		"search in it": func(d *desk, by assets.Caller, f, _ string) error {
			_, err := d.Search(ctx, by, lib, assets.Search{FolderTree: f})
			return err
		},
		"create in it": func(d *desk, by assets.Caller, _, path string) error {
			_, err := d.ChangeFolders(ctx, by, lib, assets.ChangeFolders{Create: []assets.NewFolder{{Label: "new", Path: path}}})
			return err
		},
		"rename it": func(d *desk, by assets.Caller, f, _ string) error {
			_, err := d.ChangeFolders(ctx, by, lib, assets.ChangeFolders{Update: []assets.FolderChange{{ID: f, Label: text("x")}}})
			return err
		},
		"delete it": func(d *desk, by assets.Caller, f, _ string) error {
			_, err := d.ChangeFolders(ctx, by, lib, assets.ChangeFolders{Delete: []string{f}})
			return err
		},
		"bring it back": func(d *desk, by assets.Caller, f, _ string) error {
			_, err := d.ChangeFolders(ctx, by, lib, assets.ChangeFolders{Update: []assets.FolderChange{{ID: f, Deleted: flag(false)}}})
			return err
		},
		"read its permissions": func(d *desk, by assets.Caller, f, _ string) error {
			_, err := d.Permissions(ctx, by, lib, f)
			return err
		},
		"change its permissions": func(d *desk, by assets.Caller, f, _ string) error {
			_, err := d.ChangePermissions(ctx, by, lib, f, assets.ChangePermissions{Create: grants})
			return err
		},
		"add to it": func(d *desk, by assets.Caller, f, _ string) error {
			_, err := d.ChangeAssets(ctx, by, lib, assets.ChangeAssets{Add: []assets.NewAsset{newAsset("new", "", f)}})
			return err
		},
		"assign to it": func(d *desk, by assets.Caller, f, _ string) error {
			_, err := d.AssignAssets(ctx, by, lib, f, assets.AssignAssets{})
			return err
		},
	}
	for _, row := range []struct {
		state, operation, want string // moderator, manager, writer, viewer, member, outsider
	}{
		{"granted", "read the folder", "ok ok ok ok 404 403"},
		{"granted", "search in it", "ok ok ok ok 404 403"},
		{"granted", "create in it", "ok ok ok 403 404 403"},
		{"granted", "rename it", "ok ok 403 403 404 403"},
		{"granted", "delete it", "ok ok 403 403 404 403"},
		{"granted", "bring it back", "ok ok 403 403 404 403"},
		{"granted", "read its permissions", "ok ok 403 403 404 403"},
		{"granted", "change its permissions", "ok ok 403 403 404 403"},
		{"granted", "add to it", "ok ok ok 403 404 403"},
		{"granted", "assign to it", "ok ok ok 403 404 403"},
		{"inherited", "read the folder", "ok ok ok ok 404 403"},
		{"inherited", "rename it", "ok ok 403 403 404 403"},
		{"inherited", "add to it", "ok ok ok 403 404 403"},
		{"open", "read the folder", "ok ok ok ok ok 403"},
		{"open", "search in it", "ok ok ok ok ok 403"},
		{"open", "create in it", "ok 403 403 403 403 403"},
		{"open", "rename it", "ok 403 403 403 403 403"},
		{"open", "read its permissions", "ok 403 403 403 403 403"},
		{"open", "change its permissions", "ok 403 403 403 403 403"},
		{"open", "add to it", "ok 403 403 403 403 403"},
		{"open", "assign to it", "ok 403 403 403 403 403"},
		{"closed", "read the folder", "ok 404 404 404 404 403"},
		{"closed", "add to it", "ok 404 404 404 404 403"},
		{"closed", "rename it", "ok 404 404 404 404 403"},
		{"deleted", "read the folder", "ok ok 404 404 404 403"},
		{"deleted", "search in it", "404 404 404 404 404 403"},
		{"deleted", "create in it", "404 404 404 404 404 403"},
		{"deleted", "rename it", "404 404 404 404 404 403"},
		{"deleted", "delete it", "404 404 404 404 404 403"},
		{"deleted", "bring it back", "ok ok 404 404 404 403"},
		{"deleted", "read its permissions", "ok ok 404 404 404 403"},
		{"deleted", "change its permissions", "404 404 404 404 404 403"},
		{"deleted", "add to it", "404 404 404 404 404 403"},
		{"deleted", "assign to it", "404 404 404 404 404 403"},
		{"below a deleted one", "read the folder", "ok ok 404 404 404 403"},
		{"below a deleted one", "search in it", "404 404 404 404 404 403"},
		{"below a deleted one", "add to it", "404 404 404 404 404 403"},
		{"absent", "read the folder", "404 404 404 404 404 403"},
		{"absent", "bring it back", "404 404 404 404 404 403"},
		{"absent", "create in it", "404 404 404 404 404 403"},
	} {
		t.Run(row.state+": "+row.operation, func(t *testing.T) {
			wants := strings.Fields(row.want)
			for i, c := range callers {
				d := newDesk(t, assets.Limits{})
				f, path := d.inState(row.state)
				got := map[string]string{"ok": "ok", "forbidden": "403", "not found": "404"}[kind(operations[row.operation](d, c.Caller, f, path))]
				if got != wants[i] {
					t.Errorf("%s: %s, want %s", c.name, got, wants[i])
				}
			}
		})
	}
}

// inState returns a folder in the state.
func (d *desk) inState(state string) (id, path string) {
	remove := func(id string) {
		if _, err := d.ChangeFolders(ctx, moderator, lib, assets.ChangeFolders{Remove: []string{id}}); err != nil {
			d.t.Fatal(err)
		}
	}
	switch state {
	case "granted":
		return d.folder("f", "", true, grants...)
	case "inherited":
		_, path := d.folder("above", "", false, grants...)
		return d.folder("f", path, true)
	case "open":
		_, path := d.folder("above", "", true)
		return d.folder("f", path, true)
	case "closed":
		return d.folder("f", "", false)
	case "deleted":
		id, path = d.folder("f", "", true, grants...)
		remove(id)
	case "below a deleted one":
		above, place := d.folder("above", "", true, grants...)
		id, path = d.folder("f", place, true)
		remove(above)
	default:
		d.folder("other", "", true)
		return "absent", "/absent"
	}
	return id, path
}

func TestRightsOnAssets(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	granted, _ := d.folder("granted", "", true, grants...)
	open, _ := d.folder("open", "", true)
	gone, _ := d.folder("gone", "", true)
	ids := map[string]string{
		"in none": d.asset("none", ""), "in an open one": d.asset("open", "", open), "in a granted one": d.asset("granted", "", granted),
		"in both": d.asset("both", "", granted, open), "in a deleted one": d.asset("gone", "", gone), "in a deleted and a granted one": d.asset("gone2", "", gone, granted),
		"absent": "absent",
	}
	if _, err := d.ChangeFolders(ctx, moderator, lib, assets.ChangeFolders{Delete: []string{gone}}); err != nil {
		t.Fatal(err)
	}
	for where, want := range map[string][]string{ // moderator, manager, writer, viewer, member: the status of reading and of labelling
		"in none":                        {"200 200", "200 403", "200 403", "200 403", "200 403"},
		"in an open one":                 {"200 200", "200 403", "200 403", "200 403", "200 403"},
		"in a granted one":               {"200 200", "200 200", "200 200", "200 403", "404 404"},
		"in both":                        {"200 200", "200 200", "200 200", "200 403", "200 403"},
		"in a deleted one":               {"200 200", "404 404", "404 404", "404 404", "404 404"},
		"in a deleted and a granted one": {"200 200", "200 200", "200 200", "200 403", "404 404"},
		"absent":                         {"404 404", "404 404", "404 404", "404 404", "404 404"},
	} {
		for i, c := range callers[:5] {
			_, err := d.Asset(ctx, c.Caller, lib, ids[where])
			read := map[string]string{"ok": "200", "not found": "404"}[kind(err)]
			out, err := d.ChangeAttributes(ctx, c.Caller, lib, assets.ChangeAttributes{Assets: []string{ids[where]}, Add: []assets.Attribute{{Key: "k"}}})
			if got := fmt.Sprint(read, " ", out.Result[0]); err != nil || got != want[i] {
				t.Errorf("%s, %s: %s (%v), want %s", where, c.name, got, err, want[i])
			}
		}
	}
	for i, total := range []int64{5, 5, 5, 5, 3} { // nobody finds what is only in a deleted folder
		if got := d.total(callers[i].Caller, assets.Search{}); got != total {
			t.Errorf("%s finds %d, want %d", callers[i].name, got, total)
		}
	}
}

func TestAccessFollowsTheTreeAtOnce(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	_, closed := d.folder("closed", "", false, grants...)
	open, openPath := d.folder("open", "", true)
	child, _ := d.folder("child", openPath, true)
	d.asset("1", "word", child)
	for _, step := range []struct {
		what   string
		change assets.ChangeFolders
		member int64
	}{
		{"nothing", assets.ChangeFolders{}, 1},
		{"moving it below a closed one hides it", assets.ChangeFolders{Update: []assets.FolderChange{{ID: child, Path: &closed}}}, 0},
		{"inheriting no more keeps it hidden", assets.ChangeFolders{Update: []assets.FolderChange{{ID: child, Inherit: flag(false)}}}, 0},
		{"moving it to the top, not inheriting", assets.ChangeFolders{Update: []assets.FolderChange{{ID: child, Path: text("/")}}}, 0},
		{"inheriting at the top opens it", assets.ChangeFolders{Update: []assets.FolderChange{{ID: child, Inherit: flag(true)}}}, 1},
		{"back below the open one", assets.ChangeFolders{Update: []assets.FolderChange{{ID: child, Path: &openPath}}}, 1},
		{"deleting the one above hides it", assets.ChangeFolders{Delete: []string{open}}, 0},
		{"bringing that back shows it", assets.ChangeFolders{Update: []assets.FolderChange{{ID: open, Deleted: flag(false)}}}, 1},
	} {
		if _, err := d.ChangeFolders(ctx, moderator, lib, step.change); err != nil {
			t.Fatalf("%s: %v", step.what, err)
		}
		if got := d.total(member, assets.Search{Query: "word"}); got != step.member {
			t.Errorf("%s: a member finds %d", step.what, got)
		}
	}
	if _, err := d.ChangePermissions(ctx, moderator, lib, open, assets.ChangePermissions{Create: grants[:1]}); err != nil {
		t.Fatal(err)
	}
	if m, v := d.total(member, assets.Search{}), d.total(viewer, assets.Search{}); m != 0 || v != 1 {
		t.Errorf("with a grant above, a member finds %d and its holder %d", m, v)
	}
}

func TestNobodyGrantsMoreThanTheyHold(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	f, path := d.folder("f", "", true, grants...)
	for op, want := range map[assets.Operation]string{assets.View: "ok", assets.Edit: "ok", assets.Manage: "forbidden"} {
		p := []assets.Permission{{Operation: op, User: &assets.Subject{ID: "somebody"}}}
		_, err := d.ChangeFolders(ctx, writer, lib, assets.ChangeFolders{Create: []assets.NewFolder{{Label: "mine", Path: path, Permissions: p}}})
		d.want("a writer creates a folder and grants "+string(op), err, want)
		_, err = d.ChangePermissions(ctx, writer, lib, f, assets.ChangePermissions{Create: p})
		d.want("a writer grants "+string(op), err, "forbidden")
		_, err = d.ChangePermissions(ctx, manager, lib, f, assets.ChangePermissions{Create: p})
		d.want("a manager grants "+string(op), err, "ok")
	}
}

func TestExplain(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	top, path := d.folder("top", "", true, grants...)
	f, _ := d.folder("f", path, true)
	open, _ := d.folder("open", "", true)
	closed, _ := d.folder("closed", "", false)
	for _, c := range []struct {
		by      assets.Caller
		folder  string
		op      assets.Operation
		allowed bool
		from    string
		word    string
	}{
		{moderator, f, assets.Manage, true, "", "moderates"},
		{manager, f, assets.Manage, true, top, "inherited from folder " + top},
		{manager, top, assets.Edit, true, top, `user "manager" holds manage`},
		{writer, f, assets.Edit, true, top, "group"},
		{writer, f, assets.Manage, false, top, "holds edit"},
		{viewer, f, assets.View, true, top, `role "viewers" holds view`},
		{member, f, assets.View, false, "", "no grant"},
		{member, open, assets.View, true, "", "open"},
		{member, open, assets.Edit, false, "", "view it only"},
		{member, closed, assets.View, false, "", "no grant"},
	} {
		why, err := d.Explain(ctx, c.by, lib, c.folder, c.op)
		if err != nil || why.Allowed != c.allowed || why.From != c.from || !strings.Contains(why.Reason, c.word) || (why.Grant != nil) != (c.from != "") {
			t.Errorf("%s on %s for %s: %+v, error %v", c.op, c.folder, c.by.URN, why, err)
		}
	}
	_, err := d.Explain(ctx, member, lib, "absent", assets.View)
	d.want("an absent folder", err, "not found")
	_, err = d.Explain(ctx, outsider, lib, f, assets.View)
	d.want("an outsider", err, "forbidden")
	_, err = d.Explain(ctx, member, lib, f, "own")
	d.want("an unknown operation", err, "invalid")
}

func TestWhoBelongsToANetwork(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	for _, c := range []struct {
		urn, moderates, network, want string
	}{
		{network + ":user=x", "", "example.test", "ok"},
		{network + ":site=1:user=x", "", "example.test", "ok"},
		{network, "", "example.test", "ok"},
		{"urn:vitrine:example.testing:user=x", "", "example.test", "forbidden"},
		{"urn:other:example.test:user=x", "", "example.test", "forbidden"},
		{"urn:vitrine:example:user=x", "", "example.test", "forbidden"},
		{"", "", "example.test", "forbidden"},
		{"urn:x:y:user=x", network, "example.test", "ok"},
		{"urn:x:y:user=x", network + ":site=1", "example.test", "forbidden"},
		{"urn:x:y:user=x", network + ":site=1", "example.test:site=1", "forbidden"},
		{network + ":user=x", "", "example.test:user=x", "forbidden"},
		{network + ":user=x", "", "", "forbidden"},
	} {
		by := assets.Caller{URN: c.urn}
		if c.moderates != "" {
			by.Moderates = []string{c.moderates}
		}
		_, err := d.Search(ctx, by, assets.Library{Network: c.network, ID: c.network}, assets.Search{})
		d.want(fmt.Sprintf("%s moderating %q in %q", c.urn, c.moderates, c.network), err, c.want)
	}
}

// A way up of 63 folders with a thousand permissions each, and many folders at its end: what a member
// may do with each of these does not take another look at all permissions.
func TestManyPermissionsAreLookedThroughOnce(t *testing.T) {
	const below = 6_000
	d := newDesk(t, assets.Limits{})
	path, deepest := "", ""
	for i := range 63 {
		permissions := make([]assets.Permission, 1000)
		for j := range permissions {
			permissions[j] = assets.Permission{Operation: assets.View, User: &assets.Subject{ID: fmt.Sprintf("%d-%d", i, j)}}
		}
		if i == 0 {
			permissions[999].User.ID = "member"
		}
		deepest, path = d.folder("f", path, true, permissions...)
	}
	create := make([]assets.NewFolder, below/2)
	for i := range create {
		create[i] = assets.NewFolder{Label: "x", Path: path}
	}
	for range 2 {
		if _, err := d.ChangeFolders(ctx, moderator, lib, assets.ChangeFolders{Create: create}); err != nil {
			t.Fatal(err)
		}
	}
	d.asset("1", "x", deepest)
	begin := time.Now()
	page, err := d.Search(ctx, member, lib, assets.Search{})
	if err != nil || len(page.Assets) != 1 {
		t.Fatalf("%d assets, %v", len(page.Assets), err)
	}
	if took := time.Since(begin); took > 2*time.Second { // each time anew it would be 400 million looks
		t.Errorf("a search among %d folders takes %s", below, took)
	}
}

// What a member holds is that of the moment, also within the request that changes it.
func TestPermissionsChangeWithinARequest(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	many := make([]assets.Permission, 20)
	for i := range many {
		many[i] = assets.Permission{Operation: assets.View, User: &assets.Subject{ID: fmt.Sprint(i)}}
	}
	id, path := d.folder("f", "", true, append(many, assets.Permission{Operation: assets.Manage, User: &assets.Subject{ID: "member"}})...)
	under, _ := d.folder("g", path, false, many...)
	change := func(by assets.Caller, create, remove []assets.Permission) error {
		_, err := d.ChangePermissions(ctx, by, lib, id, assets.ChangePermissions{Create: create, Remove: remove})
		return err
	}
	if _, err := d.Folder(ctx, member, lib, under); !errors.Is(err, assets.ErrNotFound) {
		t.Errorf("a folder that inherits nothing: %v", err)
	}
	inherit := assets.ChangeFolders{Update: []assets.FolderChange{{ID: id, Label: text("h")}, {ID: id, Inherit: flag(false)}, {ID: id, Inherit: flag(true)}}}
	if _, err := d.ChangeFolders(ctx, member, lib, inherit); err != nil {
		t.Error(err)
	}
	own := assets.Permission{Operation: assets.Manage, User: &assets.Subject{ID: "member"}}
	if err := change(member, nil, []assets.Permission{own}); err != nil {
		t.Error(err)
	}
	if err := change(member, []assets.Permission{own}, nil); !errors.Is(err, assets.ErrNotFound) {
		t.Errorf("after it gave its permission up: %v", err)
	}
}
