package assets_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/internal/proof"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// callers are the columns of the tables below.
var callers = []struct {
	name string
	vitrine.Caller
}{{"moderator", moderator}, {"manager", manager}, {"writer", writer}, {"viewer", viewer}, {"member", member},
	{"outsider", outsider}}

// TestWhoMayDoWhat tries each operation as each kind of caller, on a folder in each state. A row has one
// word for each caller: ok, 403 or 404.
func TestWhoMayDoWhat(t *testing.T) {
	type try = func(d *desk, by vitrine.Caller, folder, path string) error
	operations := map[string]try{
		"read the folder": func(d *desk, by vitrine.Caller, f, _ string) error {
			_, err := d.As(by).Folder(ctx, lib, f)
			return err
		},
		"search in it": func(d *desk, by vitrine.Caller, f, _ string) error {
			_, err := d.As(by).Search(ctx, lib, assets.SearchRequest{FolderTree: f})
			return err
		},
		"create in it": func(d *desk, by vitrine.Caller, _, path string) error {
			_, err := d.As(by).ChangeFolders(ctx, lib,
				assets.ChangeFoldersRequest{Create: []assets.NewFolder{{Label: "new", Path: path}}})
			return err
		},
		"rename it": func(d *desk, by vitrine.Caller, f, _ string) error {
			_, err := d.As(by).ChangeFolders(ctx, lib,
				assets.ChangeFoldersRequest{Update: []assets.FolderChange{{ID: f, Label: text("x")}}})
			return err
		},
		"delete it": func(d *desk, by vitrine.Caller, f, _ string) error {
			_, err := d.As(by).ChangeFolders(ctx, lib, assets.ChangeFoldersRequest{Delete: []string{f}})
			return err
		},
		"bring it back": func(d *desk, by vitrine.Caller, f, _ string) error {
			_, err := d.As(by).ChangeFolders(ctx, lib,
				assets.ChangeFoldersRequest{Update: []assets.FolderChange{{ID: f, Deleted: flag(false)}}})
			return err
		},
		"read its permissions": func(d *desk, by vitrine.Caller, f, _ string) error {
			_, err := d.As(by).Permissions(ctx, lib, f)
			return err
		},
		"change its permissions": func(d *desk, by vitrine.Caller, f, _ string) error {
			_, err := d.As(by).ChangePermissions(ctx, lib, assets.ChangePermissionsRequest{Folder: f, Create: grants})
			return err
		},
		"add to it": func(d *desk, by vitrine.Caller, f, _ string) error {
			_, err := d.As(by).ChangeAssets(ctx, lib,
				assets.ChangeAssetsRequest{Add: []assets.NewAsset{newAsset("new", "", f)}})
			return err
		},
		"assign to it": func(d *desk, by vitrine.Caller, f, _ string) error {
			_, err := d.As(by).AssignAssets(ctx, lib, assets.AssignAssetsRequest{Folder: f})
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
				got := map[string]string{"ok": "ok", "forbidden": "403",
					"not found": "404"}[kind(operations[row.operation](d, c.Caller, f, path))]
				if got != wants[i] {
					t.Errorf("%s: %s, want %s", c.name, got, wants[i])
				}
			}
			// What is granted to the manager by name is not granted to a key with NotOwner, which is still a member of
			// the network.
			key := manager
			key.NotOwner = true
			d := newDesk(t, assets.Limits{})
			f, path := d.inState(row.state)
			got := map[string]string{"ok": "ok", "forbidden": "403",
				"not found": "404"}[kind(operations[row.operation](d, key, f, path))]
			if member := wants[4]; got != member {
				t.Errorf("a key of the manager: %s, want %s", got, member)
			}
		})
	}
}

// inState returns a folder in the state.
func (d *desk) inState(state string) (id, path string) {
	remove := func(id string) {
		if _, err := d.As(moderator).ChangeFolders(ctx, lib,
			assets.ChangeFoldersRequest{Remove: []string{id}}); err != nil {
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
	lost, _ := d.folder("lost", "", true, grants...)
	ids := map[string]string{
		"in none": d.asset("none", ""), "in an open one": d.asset("open", "", open),
		"in a granted one": d.asset("granted", "", granted),
		"in both":          d.asset("both", "", granted, open), "in a deleted one": d.asset("gone", "", gone),
		"in a deleted and a granted one":               d.asset("gone2", "", gone, granted),
		"in a deleted one with grants and an open one": d.asset("lost", "", lost, open), "absent": "absent",
	}
	if _, err := d.As(moderator).ChangeFolders(ctx, lib,
		assets.ChangeFoldersRequest{Delete: []string{gone, lost}}); err != nil {
		t.Fatal(err)
	}
	// moderator, manager, writer, viewer, member: the status of reading and of labelling
	for where, want := range map[string][]string{
		"in none":                        {"200 200", "200 403", "200 403", "200 403", "200 403"},
		"in an open one":                 {"200 200", "200 403", "200 403", "200 403", "200 403"},
		"in a granted one":               {"200 200", "200 200", "200 200", "200 403", "404 404"},
		"in both":                        {"200 200", "200 200", "200 200", "200 403", "200 403"},
		"in a deleted one":               {"200 200", "404 404", "404 404", "404 404", "404 404"},
		"in a deleted and a granted one": {"200 200", "200 200", "200 200", "200 403", "404 404"},
		"in a deleted one with grants and an open one": {"200 200", "200 403", "200 403", "200 403", "200 403"},
		"absent": {"404 404", "404 404", "404 404", "404 404", "404 404"},
	} {
		for i, c := range callers[:5] {
			_, err := d.As(c.Caller).Asset(ctx, lib, ids[where])
			read := map[string]string{"ok": "200", "not found": "404"}[kind(err)]
			out, err := d.As(c.Caller).ChangeAttributes(ctx, lib,
				assets.ChangeAttributesRequest{Assets: []string{ids[where]}, Add: []assets.Attribute{{Key: "k"}}})
			if got := fmt.Sprint(read, " ", out.Result[0]); err != nil || got != want[i] {
				t.Errorf("%s, %s: %s (%v), want %s", where, c.name, got, err, want[i])
			}
		}
	}
	for i, total := range []int64{6, 6, 6, 6, 4} { // nobody finds what is only in a deleted folder
		if got := d.total(callers[i].Caller, assets.SearchRequest{}); got != total {
			t.Errorf("%s finds %d, want %d", callers[i].name, got, total)
		}
	}
}

func TestNobodyGrantsMoreThanTheyHold(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	f, path := d.folder("f", "", true, grants...)
	for _, op := range []assets.Operation{assets.View, assets.Edit, assets.Manage} {
		p := []assets.Permission{{Operation: op, User: &assets.Subject{ID: "somebody"}}}
		create := func(by vitrine.Caller) error {
			_, err := d.As(by).ChangeFolders(ctx, lib,
				assets.ChangeFoldersRequest{Create: []assets.NewFolder{{Label: "mine", Path: path, Permissions: p}}})
			return err
		}
		d.want("a writer creates a folder and grants "+string(op), create(writer), "forbidden")
		d.want("a manager creates a folder and grants "+string(op), create(manager), "ok")
		_, err := d.As(writer).ChangePermissions(ctx, lib, assets.ChangePermissionsRequest{Folder: f, Create: p})
		d.want("a writer grants "+string(op), err, "forbidden")
		_, err = d.As(manager).ChangePermissions(ctx, lib, assets.ChangePermissionsRequest{Folder: f, Create: p})
		d.want("a manager grants "+string(op), err, "ok")
	}
}

// An editor of one folder tries every request by which it could get a right to an asset that it only sees.
func TestAssigningGivesNoRightToAnAsset(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	edit := assets.Permission{Operation: assets.Edit, User: &assets.Subject{ID: "member"}}
	mine, path := d.folder("mine", "", true, edit)
	open, _ := d.folder("open", "", true)
	secret, _ := d.folder("secret", "", false)
	theirs, _ := d.folder("theirs", "", true,
		append(grants, assets.Permission{Operation: assets.View, User: &assets.Subject{ID: "member"}})...)
	seen := map[string]string{"in an open folder": d.asset("open", "", open),
		"in a folder of others": d.asset("theirs", "", theirs), "in no folder": d.asset("loose", "")}
	hidden := d.asset("secret", "", secret)
	assign := func(by vitrine.Caller, folder, id string) int {
		out, err := d.As(by).AssignAssets(ctx, lib, assets.AssignAssetsRequest{Folder: folder, Assign: []string{id}})
		if err != nil {
			t.Fatal(err)
		}
		return out.Assign[0].Status
	}
	for where, id := range seen {
		if got := assign(member, mine, id); got != 403 {
			t.Errorf("an asset %s is assigned to the editor's folder: %d, want 403", where, got)
		}
		out, err := d.As(member).ChangeAttributes(ctx, lib,
			assets.ChangeAttributesRequest{Assets: []string{id}, Add: []assets.Attribute{{Key: "k"}}})
		if err != nil || out.Result[0] != 403 {
			t.Errorf("and then changed: %v, %v, want 403", out.Result, err)
		}
		_, err = d.As(member).ChangeAssets(ctx, lib, assets.ChangeAssetsRequest{Remove: []string{id}})
		d.want("and then removed", err, "forbidden")
	}
	if got := assign(member, mine, hidden); got != 404 {
		t.Errorf("a hidden asset is assigned: %d, want 404", got)
	}
	_, err := d.As(member).ChangeFolders(ctx, lib,
		assets.ChangeFoldersRequest{Create: []assets.NewFolder{{Label: "x", Path: path, Inherit: flag(false),
			Permissions: []assets.Permission{{Operation: assets.Edit, User: &assets.Subject{ID: "friend"}}}}}})
	d.want("a folder that shares what is in it with a friend", err, "forbidden")

	added, err := d.change(member, assets.ChangeAssetsRequest{Add: []assets.NewAsset{newAsset("own", "", mine)}})
	d.want("an asset of the editor's own", err, "ok")
	sub, err := d.As(member).ChangeFolders(ctx, lib,
		assets.ChangeFoldersRequest{Create: []assets.NewFolder{{Label: "x", Path: path}}})
	d.want("a folder without grants of its own", err, "ok")
	if got := assign(member, sub.Folders[0].ID, added.Added[0].ID); got != 200 {
		t.Errorf("the editor's own asset is assigned to the editor's own folder: %d, want 200", got)
	}
	if got := assign(moderator, mine, seen["in no folder"]); got != 200 {
		t.Errorf("a moderator assigns what is in no folder: %d, want 200", got)
	}
}

// A folder that loses its last permission is hidden, and does not become visible to every member.
func TestRevokingNeverPublishes(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	own := assets.Permission{Operation: assets.Manage, User: &assets.Subject{ID: "member"}}
	id, path := d.folder("f", "", true, own)
	below, _ := d.folder("below", path, true)
	d.asset("1", "word", below)
	revoke := func(by vitrine.Caller, in assets.ChangePermissionsRequest) {
		t.Helper()
		in.Folder = id
		if _, err := d.As(by).ChangePermissions(ctx, lib, in); err != nil {
			t.Fatal(err)
		}
	}
	revoke(member, assets.ChangePermissionsRequest{Remove: []assets.Permission{own}, Create: []assets.Permission{own}})
	if f, err := d.As(member).Folder(ctx, lib, id); err != nil || !f.Inherit {
		t.Errorf("a folder whose only permission is replaced: %+v, %v", f, err)
	}
	revoke(member, assets.ChangePermissionsRequest{Remove: []assets.Permission{own}})
	for _, by := range []vitrine.Caller{member, viewer, manager} {
		if n := d.total(by, assets.SearchRequest{Query: "word"}); n != 0 {
			t.Errorf("%s finds what was for one", by.URN)
		}
		_, err := d.As(by).ChangeFolders(ctx, lib,
			assets.ChangeFoldersRequest{Update: []assets.FolderChange{{ID: id, Inherit: flag(true)}}})
		d.want(by.URN+" opens it", err, "not found")
	}
	if f, err := d.As(moderator).Folder(ctx, lib, id); err != nil || f.Inherit {
		t.Errorf("a folder that lost its last permission: %+v, %v", f, err)
	}
	revoke(moderator, assets.ChangePermissionsRequest{Remove: []assets.Permission{own}})
	_, err := d.As(moderator).ChangeFolders(ctx, lib,
		assets.ChangeFoldersRequest{Update: []assets.FolderChange{{ID: id, Inherit: flag(true)}}})
	if d.want("a moderator opens it", err, "ok"); d.total(viewer, assets.SearchRequest{Query: "word"}) != 1 {
		t.Error("a folder that a moderator opened is closed")
	}
	revoke(moderator, assets.ChangePermissionsRequest{Remove: []assets.Permission{own}})
	if f, err := d.As(viewer).Folder(ctx, lib, id); err != nil || !f.Inherit {
		t.Errorf("revoking what is not granted closes an open folder: %+v, %v", f, err)
	}
}

func TestExplain(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	top, path := d.folder("top", "", true, grants...)
	f, _ := d.folder("f", path, true)
	open, _ := d.folder("open", "", true)
	closed, _ := d.folder("closed", "", false)
	hidden, hiddenPath := d.folder("hidden", "", false)
	gone, _ := d.folder("gone", hiddenPath, false, grants...)
	names := map[string]string{"": "", top: "top", f: "f", open: "open", closed: "closed", hidden: "hidden",
		gone: "gone"}
	ids := map[string]string{}
	for id, name := range names {
		ids[name] = id
	}
	for name, in := range map[string][]string{"an asset in none": nil, "an asset in f": {f}, "an asset in open": {open},
		"an asset in closed": {closed},
		"an asset in gone":   {gone}, "an asset in f and closed": {f, closed}, "an asset in f and gone": {f, gone},
		"an asset in gone and closed": {gone, closed}} {
		ids[name] = d.asset(name, "", in...)
	}
	if _, err := d.As(moderator).ChangeFolders(ctx, lib,
		assets.ChangeFoldersRequest{Delete: []string{hidden}}); err != nil {
		t.Fatal(err)
	}
	told := func(v assets.Verdict) string { // + is allowed, the rule, of which folder
		text := map[bool]string{true: "+", false: "-"}[v.Allowed] + string(v.Rule)
		if (v.Grant != nil) != (v.Rule == assets.ByGrant) {
			t.Errorf("%+v", v)
		}
		if v.Folder != "" {
			text += ":" + names[v.Folder]
		}
		return text
	}
	whom := func(user string, roles ...string) *vitrine.Caller { return &vitrine.Caller{URN: user, Roles: roles} }
	for _, c := range []struct {
		by    vitrine.Caller
		about *vitrine.Caller
		what  string
		want  string // view, edit and manage, and then view and edit of each folder of an asset
	}{
		{moderator, nil, "f", "+moderator +moderator +moderator"},
		{manager, nil, "f", "+grant:top +grant:top +grant:top"},
		{manager, nil, "top", "+grant:top +grant:top +grant:top"},
		{writer, nil, "f", "+grant:top +grant:top -none"},
		{viewer, nil, "f", "+grant:top -none -none"},
		{member, nil, "open", "+open -none -none"},
		{member, nil, "f", "not found"},
		{member, nil, "closed", "not found"},
		{member, nil, "", "invalid"},
		{outsider, nil, "f", "forbidden"},
		{moderator, nil, "hidden", "-deleted:hidden -deleted:hidden +moderator"},
		{moderator, nil, "gone", "-deleted:hidden -deleted:hidden +moderator"},
		{manager, nil, "gone", "-deleted -deleted +grant:gone"}, // what is above it is hidden from the manager
		{writer, nil, "gone", "not found"},

		{moderator, whom("member"), "f", "-none -none -none"},
		{moderator, whom("member"), "open", "+open -none -none"},
		{moderator, whom("manager"), "f", "+grant:top +grant:top +grant:top"},
		{moderator, whom(network + ":user=manager"), "f", "+grant:top +grant:top +grant:top"},
		{moderator, whom("member", "viewers"), "f", "+grant:top -none -none"},
		{moderator, whom("", "viewers"), "f", "+grant:top -none -none"},
		{moderator, &vitrine.Caller{Groups: []string{network + ":site=1"}}, "f", "+grant:top +grant:top -none"},
		{moderator, whom("mod"), "f", "-none -none -none"}, // what a user moderates is not known
		{moderator, whom("manager"), "gone", "-deleted:hidden -deleted:hidden +grant:gone"},
		{moderator, whom("urn:vitrine:other.test:user=x"), "f", "invalid"},
		{moderator, whom("a:b"), "f", "invalid"},
		{manager, whom("member"), "f", "forbidden"},
		{manager, whom("manager"), "f", "forbidden"},

		{member, nil, "an asset in none", "+unfiled -none"},
		{member, nil, "an asset in open", "+open -none; open +open -none"},
		{member, nil, "an asset in f", "not found"},
		{moderator, nil, "an asset in gone", "+moderator +moderator; gone -deleted:hidden -deleted:hidden"},
		{manager, nil, "an asset in gone", "not found"},
		{writer, nil, "an asset in f and closed", "+grant:top +grant:top; f +grant:top +grant:top"},
		{viewer, nil, "an asset in f and closed", "+grant:top -none; f +grant:top -none"},
		{manager, nil, "an asset in f and gone",
			"+grant:top +grant:top; f +grant:top +grant:top; gone -deleted -deleted"},
		{moderator, whom("member"), "an asset in f and closed", "-none -none; f -none -none; closed -none -none"},
		{moderator, whom("manager"), "an asset in gone",
			"-deleted:hidden -deleted:hidden; gone -deleted:hidden -deleted:hidden"},
		{moderator, whom("member"), "an asset in gone and closed",
			"-none -none; gone -deleted:hidden -deleted:hidden; closed -none -none"},
		{moderator, whom("manager"), "an asset in none", "+unfiled -none"},
		{moderator, whom("manager"), "an asset in f", "+grant:top +grant:top; f +grant:top +grant:top"},
	} {
		in := assets.ExplainRequest{About: c.about, Folder: ids[c.what]}
		if strings.HasPrefix(c.what, "an asset") {
			in.Asset, in.Folder = in.Folder, ""
		}
		why, err := d.As(c.by).Explain(ctx, lib, in)
		got := kind(err)
		if err == nil {
			got = told(why.View) + " " + told(why.Edit)
			if why.Manage != nil {
				got += " " + told(*why.Manage)
			}
			for _, f := range why.Folders {
				got += "; " + names[f.ID] + " " + told(f.View) + " " + told(f.Edit)
			}
		}
		if got != c.want {
			t.Errorf("%s about %v on %s: %s, want %s", c.by.URN, c.about, c.what, got, c.want)
		}
	}
	for what, in := range map[string]assets.ExplainRequest{"neither": {},
		"both": {Asset: ids["an asset in none"], Folder: f}} {
		_, err := d.As(moderator).Explain(ctx, lib, in)
		d.want(what, err, "invalid")
	}
	_, err := d.As(member).Explain(ctx, lib, assets.ExplainRequest{Folder: "absent"})
	_, hid := d.As(member).Explain(ctx, lib, assets.ExplainRequest{Folder: closed})
	if err == nil || hid == nil || err.Error() != hid.Error() {
		t.Errorf("what is absent reads %q, what is hidden %q", err, hid)
	}
}

func TestWhoBelongsToANetwork(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	for _, c := range []struct {
		urn, moderates, network, want string
	}{
		{network + ":user=x", "", "example.test", "ok"},
		{"urn:vitrine:example.testing:user=x", "", "example.test", "forbidden"},
		{"urn:other:example.test:user=x", "", "example.test", "forbidden"},
		{"urn:vitrine:example:user=x", "", "example.test", "forbidden"},
		{"urn:x:y:user=x", network, "example.test", "ok"},
		{"urn:x:y:user=x", network + ":site=1", "example.test", "forbidden"},
		{"urn:x:y:user=x", network + ":site=1", "example.test:site=1", "forbidden"},
		{network + ":user=x", "", "example.test:user=x", "forbidden"},
		{network + ":user=x", "", "", "forbidden"},
	} {
		by := vitrine.Caller{URN: c.urn}
		if c.moderates != "" {
			by.Moderates = []string{c.moderates}
		}
		_, err := d.As(by).Search(ctx, assets.Library{Network: c.network, ID: c.network}, assets.SearchRequest{})
		d.want(fmt.Sprintf("%s moderating %q in %q", c.urn, c.moderates, c.network), err, c.want)
	}
}

// A malformed URN in a caller never gives a right.
func TestCallersWithMalformedURNsAreInvalid(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	id, _ := d.folder("f", "", true)
	user := network + ":user=x"
	for what, by := range map[string]vitrine.Caller{
		"nobody":                           {},
		"a network as the user":            {URN: network},
		"a site as the user":               {URN: network + ":site=1"},
		"a user of a site":                 {URN: network + ":site=1:user=x"},
		"a user whose id is a URN":         {URN: network + ":user=" + user},
		"a user without an id":             {URN: network + ":user="},
		"no UTF-8":                         {URN: user + "\xff"},
		"an empty URN moderated":           {URN: user, Moderates: []string{""}},
		"all URNs moderated":               {URN: user, Moderates: []string{"urn"}},
		"a vendor moderated":               {URN: user, Moderates: []string{"urn:vitrine"}},
		"a user moderated":                 {URN: user, Moderates: []string{user}},
		"what is below a site moderated":   {URN: user, Moderates: []string{network + ":site=1:page=1"}},
		"a malformed URN beside a network": {URN: user, Moderates: []string{network, "urn:vitrine"}},
	} {
		_, err := d.As(by).Folder(ctx, lib, id)
		d.want(what+" reads", err, "invalid")
		_, err = d.As(by).ChangeFolders(ctx, lib, assets.ChangeFoldersRequest{Delete: []string{id}})
		d.want(what+" writes", err, "invalid")
		d.want(what+" asks whether it may enter", d.As(by).CheckMember(lib), "invalid")
	}
}

// A permission names a user by the id or by the URN, and never somebody else.
func TestAPermissionNamesOneUser(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	for _, c := range []struct{ id, holder, other string }{
		{"x", network + ":user=x", "urn:vitrine:other.test:user=x"},
		{network + ":user=x", network + ":user=x", network + ":user=y"},
		{"urn:vitrine:other.test:user=x", "", network + ":user=x"},
	} {
		id, _ := d.folder("f", "", true, assets.Permission{Operation: assets.View, User: &assets.Subject{ID: c.id}})
		if c.holder != "" {
			_, err := d.As(vitrine.Caller{URN: c.holder}).Folder(ctx, lib, id)
			d.want(c.holder+" by the permission of "+c.id, err, "ok")
		}
		_, err := d.As(vitrine.Caller{URN: c.other}).Folder(ctx, lib, id)
		if kind(err) == "ok" {
			t.Errorf("%s sees what is for %s", c.other, c.id)
		}
	}
	id, _ := d.folder("f", "", true)
	for _, user := range []string{"a:b", network, network + ":site=1", network + ":site=1:user=x", "urn:vitrine",
		":x"} {
		p := assets.Permission{Operation: assets.View, User: &assets.Subject{ID: user}}
		_, err := d.As(moderator).ChangePermissions(ctx, lib,
			assets.ChangePermissionsRequest{Folder: id, Create: []assets.Permission{p}})
		d.want("a permission of the user "+user, err, "invalid")
	}
}

// Many folders are below 63 nested ones with a thousand permissions each. The permissions of a folder are
// compared once in a request, and not once for each folder below it.
func TestPermissionsOfAFolderAreComparedOncePerRequest(t *testing.T) {
	if proof.Short() {
		t.Skip("a search among few folders is quick in any case")
	}
	const below = 6_000
	d := newDesk(t, assets.Limits{})
	path, deepest := "", ""
	for i := range 63 {
		permissions := make([]assets.Permission, 1000)
		for j := range permissions {
			permissions[j] = assets.Permission{Operation: assets.View,
				User: &assets.Subject{ID: fmt.Sprintf("%d-%d", i, j)}}
		}
		if i == 0 {
			permissions[999].User.ID = "member"
		}
		deepest, path = d.folder("f", path, true, permissions...)
	}
	create := make([]assets.NewFolder, 1000)
	for i := range create {
		create[i] = assets.NewFolder{Label: "x", Path: path}
	}
	for range below / len(create) {
		if _, err := d.As(moderator).ChangeFolders(ctx, lib, assets.ChangeFoldersRequest{Create: create}); err != nil {
			t.Fatal(err)
		}
	}
	d.asset("1", "x", deepest)
	var took time.Duration
	for range 10 { // one search of ten is quick even on a busy machine
		begin := time.Now()
		page, err := d.As(member).Search(ctx, lib, assets.SearchRequest{})
		if took = time.Since(begin); errors.Is(err, vitrine.ErrBusy) {
			continue // the search took longer than it may
		}
		if err != nil || len(page.Assets) != 1 {
			t.Fatalf("%d assets, %v", len(page.Assets), err)
		}
		if took < 2*time.Second { // each time anew it would be 400 million looks
			return
		}
	}
	t.Errorf("a search among %d folders takes %s", below, took)
}

// failingOver is a store that can lose its latest commits, as after a failover to a standby without them.
type failingOver struct{ storage.Store }

// After a failover that lost commits, the service does not use cached permissions of the lost commits.
func TestPermissionsOfLostCommitsAreNotServed(t *testing.T) {
	first, second := memory.New(), memory.New()
	store := &failingOver{first}
	id, folder := "", ""
	svc := assets.New(store, &assets.Options{NewID: func() string { id += "x"; return id }})
	grant := func(to string) {
		p := assets.Permission{Operation: assets.View, User: &assets.Subject{ID: to}}
		if _, err := svc.As(moderator).ChangePermissions(ctx, lib,
			assets.ChangePermissionsRequest{Folder: folder, Create: []assets.Permission{p}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range []storage.Store{second, first} { // both have the folder, as a primary and its standby
		store.Store, id = s, ""
		out, err := svc.As(moderator).ChangeFolders(ctx, lib,
			assets.ChangeFoldersRequest{Create: []assets.NewFolder{{Label: "f", Inherit: flag(false)}}})
		if err != nil || folder != "" && folder != out.Folders[0].ID {
			t.Fatalf("%+v, %v", out, err)
		}
		folder = out.Folders[0].ID
	}
	grant("member")
	if _, err := svc.As(member).Folder(ctx, lib, folder); err != nil {
		t.Fatal(err)
	}
	store.Store = second
	grant("viewer")
	if _, err := svc.As(member).Folder(ctx, lib, folder); !errors.Is(err, vitrine.ErrNotFound) {
		t.Errorf("by a permission that was lost, a member reads the folder: %v", err)
	}
}

// A request that changes permissions checks its later steps by the changed ones.
func TestPermissionsChangeWithinARequest(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	many := make([]assets.Permission, 20)
	for i := range many {
		many[i] = assets.Permission{Operation: assets.View, User: &assets.Subject{ID: fmt.Sprint(i)}}
	}
	id, path := d.folder("f", "", true,
		append(many, assets.Permission{Operation: assets.Manage, User: &assets.Subject{ID: "member"}})...)
	under, _ := d.folder("g", path, false, many...)
	change := func(by vitrine.Caller, create, remove []assets.Permission) error {
		_, err := d.As(by).ChangePermissions(ctx, lib,
			assets.ChangePermissionsRequest{Folder: id, Create: create, Remove: remove})
		return err
	}
	if _, err := d.As(member).Folder(ctx, lib, under); !errors.Is(err, vitrine.ErrNotFound) {
		t.Errorf("a folder that inherits nothing: %v", err)
	}
	below, _ := d.folder("below", path, true)
	d.asset("1", "x", below)
	if n := d.total(member, assets.SearchRequest{}); n != 1 {
		t.Errorf("an asset in a folder that inherits from it: a search finds %d", n)
	}
	inherit := assets.ChangeFoldersRequest{Update: []assets.FolderChange{{ID: id, Label: text("h")},
		{ID: id, Inherit: flag(false)}, {ID: id, Inherit: flag(true)}}}
	if _, err := d.As(member).ChangeFolders(ctx, lib, inherit); err != nil {
		t.Error(err)
	}
	own := assets.Permission{Operation: assets.Manage, User: &assets.Subject{ID: "member"}}
	if err := change(member, nil, []assets.Permission{own}); err != nil {
		t.Error(err)
	}
	if err := change(member, []assets.Permission{own}, nil); !errors.Is(err, vitrine.ErrNotFound) {
		t.Errorf("after it gave its permission up: %v", err)
	}
}

// Who may not add an asset at all does not learn whether the library has it.
func TestAddingToNoFolderTellsNothingOfHiddenAssets(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	hidden, _ := d.folder("hidden", "", false)
	d.asset("there", "x", hidden)
	refusal := func(id string) string {
		_, err := d.change(member, assets.ChangeAssetsRequest{Add: []assets.NewAsset{newAsset(id, "x")}})
		d.want("adding "+id, err, "forbidden")
		return fmt.Sprintf("%+v", err)
	}
	if there, absent := refusal("there"), refusal("absent"); there != absent {
		t.Errorf("an asset that is there: %s; one that is not: %s", there, absent)
	}
}

// An id without characters is an error where it is used first: of the key of a library, of a folder, of a permission.
func TestAnEmptyIDIsAnError(t *testing.T) {
	for given := range 3 {
		made := 0
		svc := assets.New(memory.New(), &assets.Options{NewID: func() string {
			if made++; made > given {
				return ""
			}
			return fmt.Sprint("id", made)
		}})
		_, err := svc.As(moderator).ChangeFolders(ctx, lib,
			assets.ChangeFoldersRequest{Create: []assets.NewFolder{{Label: "f",
				Permissions: []assets.Permission{{Operation: assets.View, User: &assets.Subject{ID: "member"}}}}}})
		if err == nil || !strings.Contains(err.Error(), "Options.NewID") || made != given+1 {
			t.Errorf("after %d of %d ids: %v, want an error that names Options.NewID", given, made, err)
		}
	}
}

// Fill is called once the caller is known to have the rights that do not depend on it, while others write.
func TestRequestsAreFilledAfterTheRights(t *testing.T) {
	broken := errors.New("the connection is gone")
	for name, call := range map[string]func(s *assets.Session, lib assets.Library, folder string,
		fill func() error) error{
		"ChangeAssets": func(s *assets.Session, lib assets.Library, _ string, fill func() error) error {
			_, err := s.ChangeAssets(ctx, lib,
				assets.ChangeAssetsRequest{Fill: func(*assets.ChangeAssetsRequest) error { return fill() }})
			return err
		},
		"AssignAssets": func(s *assets.Session, lib assets.Library, folder string, fill func() error) error {
			_, err := s.AssignAssets(ctx, lib,
				assets.AssignAssetsRequest{Folder: folder, Fill: func(*assets.AssignAssetsRequest) error {
					return fill()
				}})
			return err
		},
		"ChangeFolders": func(s *assets.Session, lib assets.Library, _ string, fill func() error) error {
			_, err := s.ChangeFolders(ctx, lib,
				assets.ChangeFoldersRequest{Fill: func(*assets.ChangeFoldersRequest) error { return fill() }})
			return err
		},
		"ChangePermissions": func(s *assets.Session, lib assets.Library, folder string, fill func() error) error {
			_, err := s.ChangePermissions(ctx, lib, assets.ChangePermissionsRequest{
				Folder: folder, Fill: func(*assets.ChangePermissionsRequest) error { return fill() }})
			return err
		},
		"ChangeAttributes": func(s *assets.Session, lib assets.Library, _ string, fill func() error) error {
			_, err := s.ChangeAttributes(ctx, lib, assets.ChangeAttributesRequest{
				Fill: func(*assets.ChangeAttributesRequest) error { return fill() }})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, assets.Limits{})
			folder, _ := d.folder("hidden", "", false)
			refused := map[string]error{
				"a stranger": call(d.As(vitrine.Caller{URN: "urn:vitrine:other.test:user=x"}), lib, folder,
					func() error { t.Error("a stranger's is filled"); return nil }),
				"no library": call(d.As(member), assets.Library{Network: "example.test", ID: "none"}, folder,
					func() error { t.Error("one without a library is filled"); return nil }),
			}
			if name == "AssignAssets" || name == "ChangePermissions" {
				refused["a hidden folder"] = call(d.As(member), lib, folder,
					func() error { t.Error("one for a hidden folder is filled"); return nil })
			}
			for who, err := range refused {
				if !errors.Is(err, vitrine.ErrForbidden) && !errors.Is(err, vitrine.ErrNotFound) {
					t.Errorf("%s: %v", who, err)
				}
			}
			if err := call(d.As(moderator), lib, folder, func() error { return broken }); err != broken {
				t.Errorf("%v, want the error of Fill", err)
			}
			err := call(d.As(moderator), lib, folder, func() error {
				d.folder("meanwhile", "", true)
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}
