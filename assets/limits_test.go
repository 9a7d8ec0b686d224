package assets_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/storage/memory"
)

func TestTheResponseHasAnAssetOnceHoweverOftenItIsAdded(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	f1, _ := d.folder("1", "", true, grants...)
	f2, _ := d.folder("2", "", true, grants...)
	one, two := int64(1), int64(2)
	first, second, third := newAsset("x", "first", f1), newAsset("x", "second", f2, f1), newAsset("x", "third")
	first.SafeTags, first.Via, first.Rights = []string{"a"}, &one, &one
	second.SafeTags, second.Via = []string{"b"}, &two
	third.Rights = &two
	out, err := d.change(writer,
		assets.ChangeAssetsRequest{Add: []assets.NewAsset{first, newAsset("y", "other", f1), second, third}})
	if d.want("three times one asset", err, "ok"); len(out.Added) != 2 {
		t.Fatalf("%d assets are in the response, want 2", len(out.Added))
	}
	got, folders := bodyOf(t, out.Added[0]), []string{}
	for _, f := range out.Added[0].Folders {
		folders = append(folders, f.ID)
	}
	if got.Content.Content != "third" || !slices.Equal(got.Tags, []string{"b"}) || *got.Via != 2 || *got.Rights != 2 ||
		!slices.Equal(folders, []string{f1, f2}) {
		t.Errorf("the first mentioned is %s", out.Added[0].AppendJSON(nil))
	}
	if other := bodyOf(t, out.Added[1]); other.Content.ID != "y" {
		t.Errorf("the second is %s", out.Added[1].AppendJSON(nil))
	}
	for query, want := range map[string]int64{"first": 0, "second": 0, "third": 1, "": 2} {
		if n := d.total(writer, assets.SearchRequest{Query: query}); n != want {
			t.Errorf("%q finds %d, want %d", query, n, want)
		}
	}
	_, err = d.change(writer,
		assets.ChangeAssetsRequest{Add: []assets.NewAsset{newAsset("z", ""), newAsset("z", "", f1)}})
	d.want("first without a folder, which is for moderators", err, "forbidden")
}

func TestTheResponseToAChangeIsBounded(t *testing.T) {
	d := newDesk(t, assets.Limits{PageBytes: 3600, ResponseBytes: 3600})
	posts := func(n int) (list []assets.NewAsset) {
		for i := range n {
			list = append(list, newAsset(fmt.Sprint(i), strings.Repeat("x", 1000)))
		}
		return list
	}
	_, err := d.change(moderator, assets.ChangeAssetsRequest{Add: posts(3)})
	if d.want("a response that is too long", err, "invalid"); err != nil &&
		!strings.Contains(err.Error(), "more than 3600 bytes: send it in parts") {
		t.Error(err)
	}
	if n := d.total(moderator, assets.SearchRequest{}); n != 0 {
		t.Errorf("%d assets of a refused request are kept", n)
	}
	out, err := d.change(moderator, assets.ChangeAssetsRequest{Add: posts(2)})
	d.want("a response that fits", err, "ok")
	_, err = d.change(moderator,
		assets.ChangeAssetsRequest{Add: []assets.NewAsset{newAsset("long", strings.Repeat("x", 4000))}})
	d.want("one asset, which has no parts", err, "ok")

	ids := []string{out.Added[0].ID, out.Added[1].ID}
	label := assets.ChangeAttributesRequest{Assets: ids,
		Add: []assets.Attribute{{Key: "k", Value: strings.Repeat("v", 1000)}}}
	_, err = d.As(moderator).ChangeAttributes(ctx, lib, label)
	d.want("attributes that make the response too long", err, "invalid")
	if values, err := d.As(moderator).Attributes(ctx, lib, "k"); err != nil || len(values) != 0 {
		t.Errorf("attributes of a refused request are kept: %d, error %v", len(values), err)
	}
	label.Assets = ids[:1]
	_, err = d.As(moderator).ChangeAttributes(ctx, lib, label)
	d.want("the same, in parts", err, "ok")
}

func TestTheResponseToAChangeOfFoldersIsBounded(t *testing.T) {
	d := newDesk(t, assets.Limits{PageBytes: 3000, ResponseBytes: 3000})
	folder := func(label string) assets.NewFolder {
		return assets.NewFolder{Label: label,
			Permissions: []assets.Permission{{Operation: assets.View,
				Role: &assets.Subject{ID: "r", Name: strings.Repeat("x", 512)}}}}
	}
	create := func(n int) error {
		_, err := d.As(moderator).ChangeFolders(ctx, lib,
			assets.ChangeFoldersRequest{Create: slices.Repeat([]assets.NewFolder{folder("f")}, n)})
		return err
	}
	d.want("a response that is too long", create(4), "invalid")
	if list, err := d.As(moderator).ListFolders(ctx, lib, assets.ListFoldersRequest{}); err != nil ||
		len(list.Items) != 0 {
		t.Errorf("folders of a refused request are kept: %d, error %v", len(list.Items), err)
	}
	d.want("a response that fits", create(3), "ok")
}

func TestContentIsBounded(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	content := func(bytes int) assets.ChangeAssetsRequest {
		in := newAsset("x", "")
		in.Content = fmt.Appendf(nil, `{"content":"%s"}`, strings.Repeat("x", bytes-len(`{"content":""}`)))
		return assets.ChangeAssetsRequest{Add: []assets.NewAsset{in}}
	}
	_, err := d.change(moderator, content(256<<10))
	d.want("as long as is allowed", err, "ok")
	_, err = d.change(moderator, content(256<<10+1))
	if d.want("one byte more", err, "too large"); err != nil &&
		!strings.Contains(err.Error(), "/add/0/content: has 262145 bytes, at most 262144 are allowed") {
		t.Error(err)
	}
	less := newDesk(t, assets.Limits{Content: 100})
	_, err = less.change(moderator, content(101))
	less.want("more than a limit that is set", err, "too large")
}

func TestTheAttributesOfAnAssetAreBounded(t *testing.T) {
	d := newDesk(t, assets.Limits{Attributes: 3})
	full, empty := d.asset("full", ""), d.asset("empty", "")
	a := func(values ...string) (list []assets.Attribute) {
		for _, v := range values {
			list = append(list, assets.Attribute{Key: "k", Value: v})
		}
		return list
	}
	for _, step := range []struct {
		name string
		in   assets.ChangeAttributesRequest
		want []int
	}{
		{"up to the limit", assets.ChangeAttributesRequest{Assets: []string{full}, Add: a("1", "2", "3")}, []int{200}},
		{"one more", assets.ChangeAttributesRequest{Assets: []string{full, empty}, Add: a("4")}, []int{400, 200}},
		{"one it has", assets.ChangeAttributesRequest{Assets: []string{full}, Add: a("3")}, []int{200}},
		{"one for another", assets.ChangeAttributesRequest{Assets: []string{full}, Remove: a("1"), Add: a("4")},
			[]int{200}},
	} {
		out, err := d.As(moderator).ChangeAttributes(ctx, lib, step.in)
		if err != nil || !slices.Equal(out.Result, step.want) {
			t.Errorf("%s: %v, error %v; want %v", step.name, out.Result, err, step.want)
		}
	}
	asset, err := d.As(moderator).Asset(ctx, lib, full)
	if got := bodyOf(t, asset).Attributes; err != nil || !slices.Equal(got, a("2", "3", "4")) {
		t.Errorf("the attributes are %v, error %v", got, err)
	}
	for what, in := range map[string]assets.ChangeAttributesRequest{"add": {Add: a("1", "2", "3", "4")},
		"set": {Set: a("1", "2", "3", "4")}, "remove": {Remove: a("1", "2", "3", "4")}} {
		_, err := d.As(moderator).ChangeAttributes(ctx, lib, in)
		if d.want("a list over the limit", err, "invalid"); err != nil &&
			!strings.Contains(err.Error(), what+": has 4 attributes, at most 3") {
			t.Error(err)
		}
	}
}

func TestTheFoldersOfAnAssetAreBounded(t *testing.T) {
	d := newDesk(t, assets.Limits{AssetFolders: 2})
	var f [3]string
	for i := range f {
		f[i], _ = d.folder(fmt.Sprint(i), "", true)
	}
	for _, step := range []struct {
		name, want string
		add        []assets.NewAsset
	}{
		{"a new one over the limit", "invalid", []assets.NewAsset{newAsset("1", "", f[:]...)}},
		{"over it by a repeat", "invalid", []assets.NewAsset{newAsset("1", "", f[:2]...), newAsset("1", "", f[:]...)}},
		{"at the limit", "ok", []assets.NewAsset{newAsset("1", "", f[0], f[1], f[0]), newAsset("1", "", f[1])}},
		{"one more", "invalid", []assets.NewAsset{newAsset("1", "", f[:]...)}},
		{"those it is in", "ok", []assets.NewAsset{newAsset("1", "new", f[0])}},
	} {
		_, err := d.change(moderator, assets.ChangeAssetsRequest{Add: step.add})
		if d.want(step.name, err, step.want); err != nil &&
			!strings.Contains(err.Error(), "folders: the asset would be in 3 folders, at most 2") {
			t.Errorf("%s: %v", step.name, err)
		}
	}
	id := d.asset("1", "new")
	for _, step := range []struct {
		name, folder string
		in           assets.AssignAssetsRequest
		want         int
	}{
		{"assigned to one more", f[2], assets.AssignAssetsRequest{Assign: []string{id}}, 400},
		{"to one it is in", f[1], assets.AssignAssetsRequest{Assign: []string{id}}, 200},
		{"after it is taken out of one", f[1], assets.AssignAssetsRequest{Assign: []string{id}, Remove: []string{id}},
			200},
	} {
		step.in.Folder = step.folder
		out, err := d.As(moderator).AssignAssets(ctx, lib, step.in)
		if err != nil || out.Assign[0].Status != step.want {
			t.Errorf("%s: %v, error %v; want %d", step.name, out, err, step.want)
		}
	}
}

func TestContentThatIsNoJSONIsNamedByItsPointer(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	for content, want := range map[string]string{
		`{"a":[1,{"b":1,"b":2}]}`: `/add/0/content/a/1/b: duplicate member name "b"`,
		`{`:                       "/add/0/content: the JSON text ends too early",
		`[]`:                      "/add/0/content: want an object, have an array",
	} {
		in := newAsset("1", "")
		in.Content = []byte(content)
		_, err := d.change(moderator, assets.ChangeAssetsRequest{Add: []assets.NewAsset{in}})
		if d.want(content, err, "invalid"); err != nil && err.Error() != want {
			t.Errorf("%s is refused with %q, want %q", content, err, want)
		}
	}
}

func TestAnAssetOverALoweredLimitCanStillBeChanged(t *testing.T) {
	store := memory.New()
	d := &desk{t: t, Service: assets.New(store, nil)}
	f1, _ := d.folder("1", "", true)
	f2, _ := d.folder("2", "", true)
	id := d.asset("1", "", f1, f2)
	label := func(in assets.ChangeAttributesRequest) {
		t.Helper()
		in.Assets = []string{id}
		out, err := d.As(moderator).ChangeAttributes(ctx, lib, in)
		if err != nil || out.Result[0] != 200 {
			t.Errorf("attributes: %v, error %v", out.Result, err)
		}
	}
	a, b, c := assets.Attribute{Key: "a"}, assets.Attribute{Key: "b"}, assets.Attribute{Key: "c"}
	label(assets.ChangeAttributesRequest{Add: []assets.Attribute{a, b, c}})
	d.Service = assets.New(store, &assets.Options{Limits: assets.Limits{Attributes: 1, AssetFolders: 1}})
	label(assets.ChangeAttributesRequest{Remove: []assets.Attribute{c}})
	label(assets.ChangeAttributesRequest{Set: []assets.Attribute{{Key: "b", Value: "new"}}})
	_, err := d.change(moderator, assets.ChangeAssetsRequest{Add: []assets.NewAsset{newAsset("1", "new text", f2)}})
	d.want("another content", err, "ok")
}

func TestPermissionsOverALoweredLimitCanStillBeRevoked(t *testing.T) {
	store := memory.New()
	d := &desk{t: t, Service: assets.New(store, nil)}
	f, _ := d.folder("1", "", true, grants...)
	d.Service = assets.New(store, &assets.Options{Limits: assets.Limits{Permissions: 1}})
	out, err := d.As(moderator).ChangePermissions(ctx, lib,
		assets.ChangePermissionsRequest{Folder: f, Remove: grants[:1]})
	if d.want("one of three is revoked", err, "ok"); len(out) != 2 {
		t.Errorf("the folder has %d permissions, want 2", len(out))
	}
	_, err = d.As(moderator).ChangePermissions(ctx, lib, assets.ChangePermissionsRequest{Folder: f, Create: grants[:1]})
	d.want("one more is granted", err, "invalid")
	out, err = d.As(moderator).ChangePermissions(ctx, lib,
		assets.ChangePermissionsRequest{Folder: f, Remove: grants[1:2], Create: grants[:1]})
	if d.want("one is granted in place of another", err, "ok"); len(out) != 2 || *out[1].Role != *grants[0].Role {
		t.Errorf("the folder has the permissions %v, want the third and the first", out)
	}
	_, err = d.As(moderator).ChangePermissions(ctx, lib,
		assets.ChangePermissionsRequest{Folder: f, Remove: grants[2:], Create: append(grants[1:2:2],
			assets.Permission{Operation: assets.View, Role: &assets.Subject{ID: "other"}})})
	d.want("two are granted in place of one", err, "invalid")
}

func TestFoldersOverALoweredDepthCanStillBeMovedUp(t *testing.T) {
	store := memory.New()
	d := &desk{t: t, Service: assets.New(store, nil)}
	_, top := d.folder("1", "", true)
	_, second := d.folder("2", top, true)
	third, path := d.folder("3", second, true)
	d.folder("4", path, true)
	_, other := d.folder("5", second, true)
	d.Service = assets.New(store, &assets.Options{Limits: assets.Limits{Depth: 2}})
	move := func(to string) error {
		_, err := d.As(moderator).ChangeFolders(ctx, lib,
			assets.ChangeFoldersRequest{Update: []assets.FolderChange{{ID: third, Path: &to}}})
		return err
	}
	d.want("from the third level to a fourth", move(other), "invalid")
	d.want("from the third level to the second", move(top), "ok")
	d.want("back to the third", move(second), "invalid")
	d.want("from the second level to the top", move("/"), "ok")
}

func TestAPageHasNoMoreItemsThanTheLimit(t *testing.T) {
	d := newDesk(t, assets.Limits{Page: 2})
	for i := range 3 {
		d.asset(fmt.Sprint(i), "")
		d.folder(fmt.Sprint(i), "", true)
	}
	if n := len(d.search(moderator, assets.SearchRequest{}).Assets); n != 2 {
		t.Errorf("a search without a limit has a page of %d assets, want 2", n)
	}
	page, err := d.As(moderator).ListFolders(ctx, lib, assets.ListFoldersRequest{})
	if err != nil || len(page.Items) != 2 {
		t.Errorf("a list without a limit has a page of %d folders, want 2; error %v", len(page.Items), err)
	}
}

func TestTheTermsThatARequestStoresAreBounded(t *testing.T) {
	d := newDesk(t, assets.Limits{Terms: 10})
	f, _ := d.folder("1", "", true)
	// Each asset has its words, counted once, its generator, and a folder or none. Adjacent short words would count
	// together, too.
	_, err := d.change(moderator,
		assets.ChangeAssetsRequest{Add: []assets.NewAsset{newAsset("1", "aaaaa bbbbb ccccc aaaaa AAAAA"),
			newAsset("2", "aaaaa bbbbb ccccc")}})
	d.want("ten terms", err, "ok")
	_, err = d.change(moderator,
		assets.ChangeAssetsRequest{Add: []assets.NewAsset{newAsset("3", "aaaaa bbbbb ccccc"),
			newAsset("4", "aaaaa bbbbb ccccc ddddd")}})
	d.want("eleven", err, "invalid")
	_, err = d.change(moderator,
		assets.ChangeAssetsRequest{
			Add: []assets.NewAsset{newAsset("3", "aaaaa bbbbb ccccc ddddd eeeee fffff ggggg hhhhh iiiii")}})
	d.want("eleven of one asset", err, "invalid")
	if n := d.total(moderator, assets.SearchRequest{}); n != 2 {
		t.Errorf("%d assets are there after refused requests, want 2", n)
	}
	_, err = d.change(moderator,
		assets.ChangeAssetsRequest{Add: []assets.NewAsset{newAsset("1", "aaaaa bbbbb ccccc aaaaa AAAAA"),
			newAsset("2", "aaaaa bbbbb ccccc"), newAsset("3", "")}})
	d.want("repeats that change nothing, and a new one", err, "ok")

	var ids []string
	for _, a := range d.search(moderator, assets.SearchRequest{}).Assets {
		ids = append(ids, a.ID)
	}
	_, err = d.As(moderator).ChangeAttributes(ctx, lib,
		assets.ChangeAttributesRequest{Assets: ids, Add: []assets.Attribute{{Key: "k"}}})
	d.want("an attribute of each", err, "ok")
	_, err = d.As(moderator).ChangeAttributes(ctx, lib,
		assets.ChangeAttributesRequest{Assets: ids, Add: []assets.Attribute{{Key: "l"}}})
	d.want("another one, with four terms of each together", err, "invalid")
	_, err = d.As(moderator).ChangeAttributes(ctx, lib,
		assets.ChangeAttributesRequest{Assets: ids[:2], Add: []assets.Attribute{{Key: "l"}}})
	d.want("another one of two assets", err, "ok")
	_, err = d.As(moderator).AssignAssets(ctx, lib, assets.AssignAssetsRequest{Folder: f, Assign: ids})
	d.want("a folder", err, "ok")
}

func TestTheValuesOfAKeyAreBounded(t *testing.T) {
	d := newDesk(t, assets.Limits{PageBytes: 1000, ResponseBytes: 1000})
	id := d.asset("1", "")
	label := func(n int) error {
		var list []assets.Attribute
		for i := range n {
			list = append(list, assets.Attribute{Key: "k", Value: fmt.Sprintf("%079d", i)}) // 100 bytes each
		}
		_, err := d.As(moderator).ChangeAttributes(ctx, lib,
			assets.ChangeAttributesRequest{Assets: []string{id}, Set: list[:1], Add: list})
		return err
	}
	for n, want := range map[int]string{10: "ok", 11: "invalid"} {
		d.want("labelling", label(n), "ok")
		_, err := d.As(moderator).Attributes(ctx, lib, "k")
		d.want(fmt.Sprint(n, " values"), err, want)
	}
}

func TestNamesOfFiles(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	for name, want := range map[string]string{"a": "ok", strings.Repeat("é", 127) + "x": "ok",
		strings.Repeat("é", 128): "invalid",
		"../../etc/passwd":       "invalid", `..\x`: "invalid", "..": "invalid", ".": "invalid", "a\nb": "invalid",
		"a\x7f": "invalid",
		"\xff":  "invalid", `"';<script>.pdf`: "ok", "": "ok"} {
		a, err := d.As(moderator).Upload(ctx, lib, assets.UploadRequest{Name: name}, strings.NewReader(pdf(9)))
		d.want(fmt.Sprintf("%q", name), err, want)
		if name == "" && d.shown(a).Content.Attachment[0].Title != "file.pdf" {
			t.Errorf("without a name: %s", a.Body)
		}
	}
	a := d.upload(moderator, pdf(9))
	id := d.shown(a).Content.ID
	for _, other := range []assets.FileRequest{{ID: id, Name: "A b.bin"}, {ID: id},
		{ID: id[:31] + "x", Name: "a b.bin"},
		{ID: id + "0", Name: "a b.bin"}, {Name: "a b.bin"}, {ID: strings.Repeat("0", 32), Name: "a b.bin"}} {
		_, err := d.File(ctx, other)
		d.want(fmt.Sprintf("%+v", other), err, "not found")
	}
}
