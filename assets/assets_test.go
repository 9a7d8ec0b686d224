package assets_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/assets"
)

func (d *desk) change(by vitrine.Caller, in assets.ChangeAssetsRequest) (assets.ChangedAssets, error) {
	return d.As(by).ChangeAssets(ctx, lib, in)
}

// body has the members of an asset's JSON that the tests compare.
type body struct {
	Content struct {
		Content, Published string
		ID                 string
	}
	CreatedAt, UpdatedAt string
	Tags                 []string `json:"safe_tags"`
	Via, Rights          *int64
	Attributes           []assets.Attribute
}

func bodyOf(t *testing.T, a assets.Asset) (b body) {
	t.Helper()
	if err := json.Unmarshal(a.AppendJSON(nil), &b); err != nil {
		t.Fatal(err)
	}
	return b
}

func TestAddingAgain(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	f1, _ := d.folder("1", "", true)
	f2, _ := d.folder("2", "", true)
	via, rights := int64(1), int64(2)
	in := newAsset("x", "first text", f1)
	in.SafeTags, in.Via, in.Rights = []string{"a", "b"}, &via, &rights
	first, err := d.change(moderator, assets.ChangeAssetsRequest{Add: []assets.NewAsset{in}})
	d.want("the first", err, "ok")
	d.now = d.now.Add(time.Second)

	same, err := d.change(moderator, assets.ChangeAssetsRequest{Add: []assets.NewAsset{in}})
	d.want("the same", err, "ok")
	if a, b := string(same.Added[0].AppendJSON(nil)), string(first.Added[0].AppendJSON(nil)); a != b {
		t.Errorf("adding the same again returns\n%s\nnot\n%s", a, b)
	}

	again := newAsset("x", "second text", f2, f1)
	again.Via = new(int64)
	out, err := d.change(moderator,
		assets.ChangeAssetsRequest{Add: []assets.NewAsset{again, newAsset("y", "other", f2), again,
			newAsset("x", "second text", f2)}})
	d.want("another content", err, "ok")
	got := bodyOf(t, out.Added[0])
	if len(out.Added) != 2 || out.Added[0].ID != first.Added[0].ID || out.Added[1].ID == out.Added[0].ID ||
		len(out.Added[0].Folders) != 2 || got.Content.Content != "second text" ||
		!slices.Equal(got.Tags, []string{"a", "b"}) || *got.Via != 0 || *got.Rights != 2 {
		t.Errorf("adding again returns %s", out.Added[0].AppendJSON(nil))
	}
	if got.CreatedAt != "2023-11-14T22:13:20.000Z" || got.Content.Published != got.CreatedAt ||
		got.UpdatedAt != "2023-11-14T22:13:21.000Z" {
		t.Errorf("created %s, published %s, updated %s", got.CreatedAt, got.Content.Published, got.UpdatedAt)
	}
	for query, want := range map[string]int64{"first": 0, "second": 1, "text": 1, "": 2} {
		if n := d.total(member, assets.SearchRequest{Query: query}); n != want {
			t.Errorf("%q finds %d, want %d", query, n, want)
		}
	}
	cleared := newAsset("x", "second text")
	cleared.SafeTags = []string{}
	out, err = d.change(moderator, assets.ChangeAssetsRequest{Add: []assets.NewAsset{cleared}})
	d.want("no tags", err, "ok")
	if got := bodyOf(t, out.Added[0]); len(got.Tags) != 0 || len(out.Added[0].Folders) != 2 {
		t.Errorf("an empty list of tags leaves %v in %d folders", got.Tags, len(out.Added[0].Folders))
	}
	other := newAsset("x", "other generator")
	other.Generator.ID = "G"
	out, err = d.change(moderator, assets.ChangeAssetsRequest{Add: []assets.NewAsset{other}})
	if d.want("another generator", err, "ok"); out.Added[0].ID == first.Added[0].ID {
		t.Error("the same id of another generator is the same asset")
	}
}

// Content that was sent for one folder never appears in another.
func TestAddingAgainElsewhereIsAConflict(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	f1, _ := d.folder("1", "", true)
	f2, _ := d.folder("2", "", true)
	f3, _ := d.folder("3", "", true)
	gone, _ := d.folder("gone", "", true)
	filed, both, loose, away := d.asset("filed", "first", f1), d.asset("both", "first", f1, f2),
		d.asset("loose", "first"), d.asset("away", "first", gone)
	if _, err := d.As(moderator).ChangeFolders(ctx, lib,
		assets.ChangeFoldersRequest{Delete: []string{gone}}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what string
		add  []assets.NewAsset
		id   string // of the asset in the sentence
		at   string // pointer in the sentence, "" = no conflict
	}{
		{"another folder", []assets.NewAsset{newAsset("filed", "", f2)}, filed, "/add/0"},
		{"another folder for one of two", []assets.NewAsset{newAsset("both", "", f1, f3)}, both, "/add/0"},
		{"another folder in the last item",
			[]assets.NewAsset{newAsset("new", "", f1), newAsset("filed", ""), newAsset("filed", "", f3)}, filed,
			"/add/2"},
		{"another folder than the deleted one", []assets.NewAsset{newAsset("away", "", f1)}, away, "/add/0"},
		{"two folders in two items", []assets.NewAsset{newAsset("new", "", f1), newAsset("new", "", f2)}, "", "/add/1"},
		{"its folder", []assets.NewAsset{newAsset("filed", "", f1)}, "", ""},
		{"one of its folders", []assets.NewAsset{newAsset("both", "", f2)}, "", ""},
		{"no folder", []assets.NewAsset{newAsset("both", "")}, "", ""},
		{"its folder and another", []assets.NewAsset{newAsset("filed", "", f2, f1)}, "", ""},
		{"a folder for what is in none", []assets.NewAsset{newAsset("loose", "", f2)}, "", ""},
		{"more folders in each item",
			[]assets.NewAsset{newAsset("new", "", f1), newAsset("new", "", f1, f2), newAsset("new", "", f2)}, "", ""},
	} {
		_, err := d.change(moderator, assets.ChangeAssetsRequest{Add: c.add})
		if c.at == "" {
			d.want(c.what, err, "ok")
			continue
		}
		if d.want(c.what, err, "conflict"); err != nil &&
			(!strings.Contains(err.Error(), c.at+": ") || !strings.Contains(err.Error(), c.id)) {
			t.Errorf("%s: %v", c.what, err)
		}
	}
	if n := d.total(moderator, assets.SearchRequest{Query: "first"}); n != 0 {
		t.Errorf("%d assets keep the first content of %s", n, loose)
	}
}

// A folder that the caller does not see makes no conflict, since the error would reveal it.
func TestHiddenFoldersMakeNoConflict(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	mine, _ := d.folder("mine", "", true, grants...)
	also, _ := d.folder("also", "", true, grants...)
	hidden, _ := d.folder("hidden", "", false)
	d.asset("x", "", mine, hidden)
	_, err := d.change(writer, assets.ChangeAssetsRequest{Add: []assets.NewAsset{newAsset("x", "", mine, also)}})
	d.want("beside a hidden folder", err, "ok")
	_, err = d.change(manager, assets.ChangeAssetsRequest{Add: []assets.NewAsset{newAsset("x", "", hidden)}})
	d.want("the hidden folder", err, "not found")
}

func TestAssetRequestsAreAtomic(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	granted, _ := d.folder("granted", "", true, grants...)
	mine, public := d.asset("mine", "", granted), d.asset("public", "")
	for what, in := range map[string]assets.ChangeAssetsRequest{
		"a removal that is forbidden": {Add: []assets.NewAsset{newAsset("new", "", granted)},
			Remove: []string{mine, public}},
		"an addition that is": {Add: []assets.NewAsset{newAsset("new", "", granted), newAsset("public", "", granted)},
			Remove: []string{mine}},
		"no folder": {Add: []assets.NewAsset{newAsset("new", "", granted), newAsset("none", "")}},
	} {
		_, err := d.change(writer, in)
		d.want(what, err, "forbidden")
		if n := d.total(moderator, assets.SearchRequest{}); n != 2 {
			t.Errorf("%s: %d assets are there", what, n)
		}
	}
	out, err := d.change(writer, assets.ChangeAssetsRequest{Remove: []string{"absent", mine, mine}})
	if d.want("a removal", err, "ok"); !slices.Equal(out.Removed, []string{mine}) {
		t.Errorf("removed %v", out.Removed)
	}
	out, err = d.change(moderator,
		assets.ChangeAssetsRequest{Add: []assets.NewAsset{newAsset("public", "")}, Remove: []string{public}})
	if d.want("removed and added", err, "ok"); out.Added[0].ID == public ||
		!slices.Equal(out.Removed, []string{public}) {
		t.Errorf("what is removed and added in one request keeps its id %s", public)
	}
}

func TestCreatedAtNeverDecreases(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	d.asset("1", "")
	d.now = d.now.Add(-time.Hour)
	d.asset("2", "")
	page := d.search(member, assets.SearchRequest{Order: "asc"})
	if a, b := page.Assets[0], page.Assets[1]; b.CreatedAt < a.CreatedAt || b.UpdatedAt < b.CreatedAt {
		t.Errorf("created %d and then %d", a.CreatedAt, b.CreatedAt)
	}
	a := page.Assets[1].ID
	if _, err := d.change(moderator, assets.ChangeAssetsRequest{Remove: []string{a}}); err != nil {
		t.Fatal(err)
	}
	d.now = d.now.Add(-time.Hour)
	if again := d.asset("2", ""); again == a {
		t.Error("the id of a removed asset is given again")
	}
}

func TestPagesSayWhatIsOnBothSides(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	for i := range 5 {
		d.asset(fmt.Sprint(i), "x")
	}
	all := d.search(member, assets.SearchRequest{})
	cursor := map[int]string{} // of asset i
	for i := range 5 {
		page := d.search(member, assets.SearchRequest{Limit: 1, Order: "asc", Since: cursor[i-1]})
		cursor[i] = page.Next
		if page.Prev != page.Next || page.HasPrev != (i > 0) || page.HasNext != (i < 4) || page.Total != 5 {
			t.Errorf("page %d: %+v", i, page)
		}
	}
	if p := all; p.Next != cursor[4] || p.Prev != cursor[0] || p.HasNext || p.HasPrev {
		t.Errorf("the page of all: %+v", p)
	}
	for name, c := range map[string]struct {
		in               assets.SearchRequest
		hasPrev, hasNext bool
		found            int
	}{
		"newer than the newest":      {assets.SearchRequest{Since: cursor[4]}, true, false, 0},
		"older than the oldest":      {assets.SearchRequest{Until: cursor[0]}, false, true, 0},
		"newer, nothing of the kind": {assets.SearchRequest{Since: cursor[2], Query: "none"}, false, false, 0},
		"two older ones":             {assets.SearchRequest{Until: cursor[3], Limit: 2}, true, true, 2},
		"two newer ones":             {assets.SearchRequest{Since: cursor[2], Limit: 2}, true, false, 2},
		"the newest two":             {assets.SearchRequest{Limit: 2}, true, false, 2},
	} {
		p := d.search(member, c.in)
		if p.HasPrev != c.hasPrev || p.HasNext != c.hasNext || len(p.Assets) != c.found ||
			(p.Next == "") != (c.found == 0) {
			t.Errorf("%s: %d assets, %+v", name, len(p.Assets), p)
		}
	}
}

func TestACursorIsNoIDAndSaysOnWhichSideTheOnlyAssetIs(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	id := d.asset("1", "x")
	cursor := d.search(member, assets.SearchRequest{}).Next
	if p := d.search(member, assets.SearchRequest{Since: cursor}); !p.HasPrev || p.HasNext || len(p.Assets) != 0 {
		t.Errorf("since: %+v", p)
	}
	if p := d.search(member, assets.SearchRequest{Until: cursor}); p.HasPrev || !p.HasNext || len(p.Assets) != 0 {
		t.Errorf("until: %+v", p)
	}
	_, err := d.As(member).Search(ctx, lib, assets.SearchRequest{Since: id})
	d.want("an id as a cursor", err, "invalid")
	_, err = d.As(member).Asset(ctx, lib, cursor)
	d.want("a cursor as an id", err, "not found")
}

// A library begins with the first write of a moderator that is accepted, even one of nothing.
func TestALibraryBeginsWithAModeratorsWrite(t *testing.T) {
	for what, write := range map[string]func(*desk, vitrine.Caller, assets.Library) error{
		"assets": func(d *desk, by vitrine.Caller, lib assets.Library) error {
			_, err := d.As(by).ChangeAssets(ctx, lib, assets.ChangeAssetsRequest{})
			return err
		},
		"folders": func(d *desk, by vitrine.Caller, lib assets.Library) error {
			_, err := d.As(by).ChangeFolders(ctx, lib, assets.ChangeFoldersRequest{})
			return err
		},
		"attributes": func(d *desk, by vitrine.Caller, lib assets.Library) error {
			_, err := d.As(by).ChangeAttributes(ctx, lib, assets.ChangeAttributesRequest{Assets: []string{"absent"}})
			return err
		},
	} {
		t.Run(what, func(t *testing.T) {
			d := newDesk(t, assets.Limits{})
			other := assets.Library{Network: "example.test", ID: "other"}
			read := func(by vitrine.Caller, lib assets.Library) error {
				_, err := d.As(by).Search(ctx, lib, assets.SearchRequest{})
				return err
			}
			d.want("reading the default library", read(member, lib), "ok")
			d.want("a member writes", write(d, member, other), "not found")
			_, err := d.As(moderator).ChangeAssets(ctx, other,
				assets.ChangeAssetsRequest{Add: []assets.NewAsset{newAsset("1", "", "absent")}})
			d.want("a moderator fails to write", err, "not found")
			d.want("reading it then", read(moderator, other), "not found")
			d.want("a moderator writes", write(d, moderator, other), "ok")
			d.want("a member reads", read(member, other), "ok")
			_, err = d.As(moderator).ChangeFolders(ctx, other,
				assets.ChangeFoldersRequest{Create: []assets.NewFolder{{Label: "x"}}})
			d.want("the moderator creates a folder", err, "ok")
			list, err := d.As(member).ListFolders(ctx, other, assets.ListFoldersRequest{})
			if err != nil || len(list.Items) != 1 {
				t.Errorf("the folder is not listed: %v, error %v", list, err)
			}
		})
	}
}

func TestAPageEndsWhenItIsLarge(t *testing.T) {
	d := newDesk(t, assets.Limits{PageBytes: 3600, ResponseBytes: 3600})
	for i := range 6 {
		d.asset(fmt.Sprint(i), strings.Repeat("x", 800))
	}
	sizes, in := []int{}, assets.SearchRequest{}
	for more := true; more; {
		page := d.search(member, in)
		sizes = append(sizes, len(page.Assets))
		if text, _ := json.Marshal(page.Assets); len(text) > 3600 {
			t.Errorf("a page has %d bytes", len(text))
		}
		in.Until, more = page.Prev, page.HasPrev
	}
	if !slices.Equal(sizes, []int{3, 3}) {
		t.Errorf("pages have %v assets", sizes)
	}
	d = newDesk(t, assets.Limits{PageBytes: 1, ResponseBytes: 1})
	d.asset("1", "")
	d.folder("f", "", true)
	d.folder("g", "", true)
	list, err := d.As(member).ListFolders(ctx, lib, assets.ListFoldersRequest{})
	if page := d.search(member, assets.SearchRequest{}); len(page.Assets) != 1 || len(list.Items) != 1 ||
		list.Next != list.Items[0].ID || err != nil {
		t.Errorf("a page has %d assets and a list %d folders, want one at least and at most", len(page.Assets),
			len(list.Items))
	}
}

func TestFolderTreeFindsThroughTheFoldersSeen(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	top, topPath := d.folder("top", "", true)
	middle, middlePath := d.folder("middle", topPath, false)
	low, _ := d.folder("low", middlePath, true,
		assets.Permission{Operation: assets.View, User: &assets.Subject{ID: "viewer"}})
	d.asset("t", "", top)
	d.asset("m", "", middle)
	d.asset("l", "", low)
	d.asset("ml", "", middle, low)
	for _, c := range []struct {
		by               vitrine.Caller
		tree, folder, in string
		want             int64
	}{
		{moderator, top, "", "", 4}, {moderator, middle, "", "", 3}, {moderator, "", middle, "", 2},
		{moderator, top, low, "", 2},
		{viewer, top, "", "", 3}, {viewer, low, "", "", 2}, {member, top, "", "", 1}, {member, "", "", "", 1},
		{viewer, "", "", "", 3},
	} {
		if n := d.total(c.by, assets.SearchRequest{FolderTree: c.tree, Folder: c.folder}); n != c.want {
			t.Errorf("%s finds %d in tree %q, folder %q; want %d", c.by.URN, n, c.tree, c.folder, c.want)
		}
	}
	_, err := d.As(viewer).Search(ctx, lib, assets.SearchRequest{FolderTree: middle})
	d.want("the tree of a hidden folder", err, "not found")
	f, err := d.As(viewer).Folder(ctx, lib, top)
	if err != nil || len(f.Children) != 0 {
		t.Errorf("the children of the one above a hidden one are %v, error %v", f.Children, err)
	}
}

func TestALastFolderIsForModerators(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	f, _ := d.folder("f", "", true, grants...)
	g, _ := d.folder("g", "", true, grants...)
	id := d.asset("1", "", f, g)
	status := func(by vitrine.Caller, folder string) int {
		out, err := d.As(by).AssignAssets(ctx, lib, assets.AssignAssetsRequest{Folder: folder, Remove: []string{id}})
		if err != nil {
			t.Fatal(err)
		}
		return out.Remove[0].Status
	}
	for i, c := range []struct {
		by     vitrine.Caller
		folder string
		want   int
	}{{writer, f, 200}, {writer, f, 200}, {writer, g, 403}, {manager, g, 403}, {moderator, g, 200}, {writer, g, 200}} {
		if got := status(c.by, c.folder); got != c.want {
			t.Errorf("removal %d: %d, want %d", i, got, c.want)
		}
	}
	if n := d.total(member, assets.SearchRequest{}); n != 1 {
		t.Errorf("an asset that is in no folder any more: a member finds %d", n)
	}
}

func TestAttributesAreRemovedThenSetThenAdded(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	id, other := d.asset("1", ""), d.asset("2", "")
	a := func(list ...string) (out []assets.Attribute) {
		for _, s := range list {
			key, value, _ := strings.Cut(s, "=")
			out = append(out, assets.Attribute{Key: key, Value: value})
		}
		return out
	}
	var before []assets.Attribute
	for i, step := range []struct {
		in   assets.ChangeAttributesRequest
		want []assets.Attribute
	}{
		{assets.ChangeAttributesRequest{Add: a("k=1", "k=2", "k=1", "l=")}, a("k=1", "k=2", "l=")},
		{assets.ChangeAttributesRequest{Add: a("k=2")}, a("k=1", "k=2", "l=")},
		{assets.ChangeAttributesRequest{Remove: a("k=1", "k=9")}, a("k=2", "l=")},
		{assets.ChangeAttributesRequest{Set: a("k=3"), Add: a("k=4")}, a("l=", "k=3", "k=4")},
		{assets.ChangeAttributesRequest{Remove: a("k=5"), Set: a("k=5"), Add: a("k=5")}, a("l=", "k=5")},
		{assets.ChangeAttributesRequest{Set: a("K=1", "K=2")}, a("l=", "k=5", "K=2")},
		{assets.ChangeAttributesRequest{Set: a("l=")}, a("l=", "k=5", "K=2")},
		{assets.ChangeAttributesRequest{Remove: a("k=5"), Add: a("k=5")}, a("l=", "k=5", "K=2")},
		{assets.ChangeAttributesRequest{Remove: a("l="), Set: a("k=5", "K=2"), Add: a("l=")}, a("l=", "k=5", "K=2")},
		{assets.ChangeAttributesRequest{Remove: a("l="), Set: a("l=x"), Add: a("l=")}, a("l=", "k=5", "K=2", "l=x")},
	} {
		step.in.Assets = []string{id, "absent", id}
		out, err := d.As(moderator).ChangeAttributes(ctx, lib, step.in)
		if err != nil || !slices.Equal(out.Result, []int{200, 404, 200}) {
			t.Fatalf("step %d: %+v, error %v", i, out, err)
		}
		if modified := !slices.Equal(step.want, before); modified != (len(out.Assets) == 1) {
			t.Errorf("step %d: %d assets are said to be modified", i, len(out.Assets))
		}
		asset, err := d.As(moderator).Asset(ctx, lib, id)
		if err != nil || len(out.Assets) == 1 && !bytes.Equal(out.Assets[0].AppendJSON(nil), asset.AppendJSON(nil)) {
			t.Errorf("step %d: returned %v, stored %v, error %v", i, out.Assets, asset, err)
		}
		if got := bodyOf(t, asset).Attributes; !slices.Equal(got, step.want) {
			t.Errorf("step %d: %v, want %v", i, got, step.want)
		}
		before = step.want
	}
	if _, err := d.As(moderator).ChangeAttributes(ctx, lib,
		assets.ChangeAttributesRequest{Assets: []string{other}, Add: a("k=é", "k=5", "k=10", "k=Z")}); err != nil {
		t.Fatal(err)
	}
	values, err := d.As(member).Attributes(ctx, lib, "k")
	if want := a("k=10", "k=5", "k=Z", "k=é"); err != nil || !slices.Equal(values, want) {
		t.Errorf("values %v, error %v; want %v", values, err, want)
	}
	for what, bad := range map[string]assets.ChangeAttributesRequest{
		"empty key":            {Add: a("=1")},
		"key over 128":         {Set: []assets.Attribute{{Key: strings.Repeat("é", 129)}}},
		"value over 1,024":     {Remove: []assets.Attribute{{Key: "k", Value: strings.Repeat("é", 1025)}}},
		"value with U+0000":    {Add: []assets.Attribute{{Key: "k", Value: "\x00"}}},
		"key that is no UTF-8": {Add: []assets.Attribute{{Key: "\xff"}}},
	} {
		_, err := d.As(moderator).ChangeAttributes(ctx, lib, bad)
		d.want(what, err, "invalid")
	}
	_, err = d.As(moderator).ChangeAttributes(ctx, lib,
		assets.ChangeAttributesRequest{Assets: []string{id},
			Add: []assets.Attribute{{Key: strings.Repeat("é", 128), Value: strings.Repeat("é", 1024)}}})
	d.want("key and value at their limits", err, "ok")
}

func TestSearchFilters(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	one, two := int64(1), int64(2)
	in := newAsset("1", "Hello <b>World</b> #tag")
	in.SafeTags, in.Via, in.Rights = []string{"a", "b", "A"}, &one, &two
	in.Content = json.RawMessage(`{"content":"Hello <b>World</b> #tag","attributedTo":{"username":"Nick_42",` +
		`"displayName":"Zoë 漢字"}}`)
	out, err := d.change(moderator, assets.ChangeAssetsRequest{Add: []assets.NewAsset{in}})
	if err != nil || len(out.Added) != 1 {
		t.Fatal(err)
	}
	d.asset("2", "hello only")
	for name, c := range map[string]struct {
		in   assets.SearchRequest
		want int64
	}{
		"a word":                   {assets.SearchRequest{Query: "HELLO"}, 2},
		"two words":                {assets.SearchRequest{Query: "world hello"}, 1},
		"a tag":                    {assets.SearchRequest{Query: "#Tag"}, 1},
		"a username":               {assets.SearchRequest{Query: "@nick_42"}, 1},
		"half a username":          {assets.SearchRequest{Query: "42"}, 1},
		"a display name":           {assets.SearchRequest{Query: "zoe"}, 1},
		"Han":                      {assets.SearchRequest{Query: "字"}, 1},
		"Han in another order":     {assets.SearchRequest{Query: "字漢"}, 0},
		"Han, apart":               {assets.SearchRequest{Query: "字 漢"}, 1},
		"half a word":              {assets.SearchRequest{Query: "hell"}, 0},
		"a tag's name in the HTML": {assets.SearchRequest{Query: "b"}, 0},
		"nothing to look for":      {assets.SearchRequest{Query: " -"}, 0},
		"an empty query":           {assets.SearchRequest{Query: ""}, 2},
		"the foreign id":           {assets.SearchRequest{Query: "2"}, 0},
		"a safe tag":               {assets.SearchRequest{Tags: []string{"a"}}, 1},
		"safe tags":                {assets.SearchRequest{Tags: []string{"a", "A", "b", "a"}}, 1},
		"safe tags, one missing":   {assets.SearchRequest{Tags: []string{"a", "c"}}, 0},
		"a safe tag as a word":     {assets.SearchRequest{Query: "a"}, 0},
		"the generator":            {assets.SearchRequest{Generator: "g"}, 2},
		"another generator":        {assets.SearchRequest{Generator: "G"}, 0},
		"via":                      {assets.SearchRequest{Via: &one}, 1},
		"another via":              {assets.SearchRequest{Via: &two}, 0},
		"rights":                   {assets.SearchRequest{Rights: &two}, 1},
		"via of what has none":     {assets.SearchRequest{Via: new(int64)}, 0},
		"all together": {assets.SearchRequest{Query: "hello", Tags: []string{"b"}, Generator: "g",
			Via: &one, Rights: &two}, 1},
		"all together, but another": {assets.SearchRequest{Query: "only", Tags: []string{"b"}, Generator: "g",
			Via: &one, Rights: &two}, 0},
	} {
		if n := d.total(member, c.in); n != c.want {
			t.Errorf("%s: %d, want %d", name, n, c.want)
		}
	}
}
