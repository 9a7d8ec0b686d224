package client_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/assets"
)

var lib = assets.Library{Network: "example.test", ID: "example.test"}

// post is an asset to add.
func post(id, text string, folders ...string) assets.NewAsset {
	return assets.NewAsset{ID: id, Generator: assets.Generator{ID: "g"}, Content: fmt.Appendf(nil, `{"content":%q,"more":{"n":1.10}}`, text), Folders: folders}
}

// add adds assets and returns them.
func add(t *testing.T, s services, posts ...assets.NewAsset) []assets.Asset {
	t.Helper()
	return ok(s.assets.ChangeAssets(t.Context(), lib, assets.ChangeAssets{Add: posts}))(t).Added
}

// newFolder creates a folder with permissions and returns it.
func newFolder(t *testing.T, s services, label, path string, grants ...assets.Permission) assets.Folder {
	t.Helper()
	return ok(s.assets.ChangeFolders(t.Context(), lib, assets.ChangeFolders{Create: []assets.NewFolder{{Label: label, Path: path, Permissions: grants}}}))(t)[0]
}

func press(operation assets.Operation) assets.Permission {
	return assets.Permission{Operation: operation, Role: &assets.Subject{ID: "press", Name: "Press"}}
}

func to[T any](v T) *T { return &v }

// idsOf returns the ids of assets, in their order.
func idsOf(list []assets.Asset) (out []string) {
	for _, a := range list {
		out = append(out, a.ID)
	}
	return out
}

var assetBehaviours = []behaviour{
	{"an asset is added, read and found as it was sent", func(t *testing.T, as func(httpapi.Principal) services) {
		s := as(editor)
		folder := newFolder(t, s, "Winter", "")
		in := post("1", "<p>First \u2028 snow</p>", folder.ID)
		in.SafeTags, in.Via, in.Rights = []string{"cold"}, to(int64(2)), to(int64(-1<<63))
		a := add(t, s, in)[0]
		if a.Library != lib.ID || a.CreatedAt == 0 || a.CreatedAt != a.UpdatedAt || len(a.Folders) != 1 || a.Folders[0].Label != "Winter" || a.Folders[0].Children != nil {
			t.Errorf("%+v", a)
		}
		for _, part := range []string{`"more":{"n":1.10}`, `"safe_tags":["cold"],"via":2,"rights":-9223372036854775808`, `"generator":{"id":"g"}`} {
			if !strings.Contains(string(a.Body), part) {
				t.Errorf("the body lacks %s: %s", part, a.Body)
			}
		}
		read := ok(s.assets.Asset(t.Context(), lib, a.ID))(t)
		if have, want := string(read.AppendJSON(nil)), string(a.AppendJSON(nil)); have != want {
			t.Errorf("%s\n%s", have, want)
		}
		for _, q := range []assets.Search{{}, {Query: "SNOW first"}, {Folder: folder.ID}, {FolderTree: folder.ID}, {Generator: "g"},
			{Via: to(int64(2))}, {Rights: to(int64(-1 << 63))}, {Tags: []string{"cold"}}, {Order: assets.Ascending, Limit: 1}} {
			page := ok(s.assets.Search(t.Context(), lib, q))(t)
			if len(page.Assets) != 1 || page.Paging.Total != 1 || string(page.Assets[0].AppendJSON(nil)) != string(a.AppendJSON(nil)) {
				t.Errorf("%+v finds %+v", q, page)
			}
		}
		for _, q := range []assets.Search{{Query: "rain"}, {Generator: "x"}, {Via: to(int64(0))}, {Tags: []string{"cold", "warm"}}} {
			if page := ok(s.assets.Search(t.Context(), lib, q))(t); len(page.Assets) != 0 || page.Paging != (assets.Paging{}) {
				t.Errorf("%+v finds %+v", q, page)
			}
		}
	}},
	{"adding again replaces the content, and what is not given stays", func(t *testing.T, as func(httpapi.Principal) services) {
		s := as(editor)
		in := post("1", "x")
		in.SafeTags, in.Via = []string{"a"}, to(int64(1))
		first := add(t, s, in)[0]
		again := add(t, s, post("1", "y"))[0]
		if again.ID != first.ID || !strings.Contains(string(again.Body), `"safe_tags":["a"],"via":1`) || !strings.Contains(string(again.Body), `"content":"y"`) {
			t.Errorf("%s", again.Body)
		}
		in.SafeTags = []string{}
		if again = add(t, s, in)[0]; !strings.Contains(string(again.Body), `"safe_tags":[]`) {
			t.Errorf("%s", again.Body)
		}
	}},
	{"removing names what was removed, and passes over what is not there", func(t *testing.T, as func(httpapi.Principal) services) {
		s := as(editor)
		list := add(t, s, post("1", "x"), post("2", "y"))
		out := ok(s.assets.ChangeAssets(t.Context(), lib, assets.ChangeAssets{Remove: []string{list[0].ID, "none"}}))(t)
		if !slices.Equal(out.Removed, []string{list[0].ID}) || len(out.Added) != 0 {
			t.Errorf("%+v", out)
		}
		_, err := s.assets.Asset(t.Context(), lib, list[0].ID)
		wantError(t, "a removed asset", err, assets.ErrNotFound)
	}},
	{"a change that is malformed, or of someone who may not, is refused as a whole", func(t *testing.T, as func(httpapi.Principal) services) {
		s := as(editor)
		for _, c := range []struct {
			by   httpapi.Principal
			in   assets.NewAsset
			kind error
		}{
			{editor, assets.NewAsset{ID: "2", Generator: assets.Generator{ID: "g"}}, assets.ErrInvalid},
			{editor, post("", "x"), assets.ErrInvalid},
			{editor, assets.NewAsset{ID: "2", Generator: assets.Generator{ID: "g"}, Content: []byte(`{"content":1}`)}, assets.ErrInvalid},
			{editor, assets.NewAsset{ID: "2", Generator: assets.Generator{ID: "g"}, Content: []byte(`{`)}, assets.ErrInvalid},
			{editor, post("2", "x", "none"), assets.ErrNotFound},
			{reader, post("2", "x"), assets.ErrForbidden},
			{stranger, post("2", "x"), assets.ErrForbidden},
		} {
			_, err := as(c.by).assets.ChangeAssets(t.Context(), lib, assets.ChangeAssets{Add: []assets.NewAsset{post("1", "x"), c.in}})
			wantError(t, fmt.Sprintf("%+v", c.in), err, c.kind)
		}
		if page := ok(s.assets.Search(t.Context(), lib, assets.Search{}))(t); page.Paging.Total != 0 {
			t.Errorf("%+v", page)
		}
	}},
	{"pages of a search lead to older assets and back to newer ones", func(t *testing.T, as func(httpapi.Principal) services) {
		s := as(editor)
		var want []string
		for i := range 5 {
			want = append(want, add(t, s, post(fmt.Sprint(i), "word"))[0].ID)
		}
		first := ok(s.assets.Search(t.Context(), lib, assets.Search{Query: "word", Limit: 2}))(t)
		if !slices.Equal(idsOf(first.Assets), []string{want[4], want[3]}) || !first.Paging.HasPrev || first.Paging.HasNext || first.Paging.Total != 5 {
			t.Errorf("%+v", first.Paging)
		}
		older := ok(s.assets.Search(t.Context(), lib, assets.Search{Query: "word", Limit: 9, Until: first.Paging.Prev}))(t)
		if !slices.Equal(idsOf(older.Assets), []string{want[2], want[1], want[0]}) || older.Paging.HasPrev || !older.Paging.HasNext {
			t.Errorf("%+v", older.Paging)
		}
		newer := ok(s.assets.Search(t.Context(), lib, assets.Search{Query: "word", Since: older.Paging.Next}))(t)
		if !slices.Equal(idsOf(newer.Assets), []string{want[3], want[4]}) {
			t.Errorf("%+v", newer.Paging)
		}
		for _, q := range []assets.Search{{Limit: 501}, {Limit: -1}, {Order: "up"}, {Since: "x"}, {Since: "x", Until: "x"}, {Query: strings.Repeat("a ", 17)}, {Query: "\xff"}} {
			_, err := s.assets.Search(t.Context(), lib, q)
			wantError(t, fmt.Sprintf("%+v", q), err, assets.ErrInvalid)
		}
		_, err := s.assets.Search(t.Context(), lib, assets.Search{Folder: "none"})
		wantError(t, "no folder", err, assets.ErrNotFound)
	}},
	{"what a folder hides is not found, not counted, and reads as absent", func(t *testing.T, as func(httpapi.Principal) services) {
		open, closed := newFolder(t, as(editor), "open", "/"), newFolder(t, as(editor), "closed", "", press(assets.View))
		list := add(t, as(editor), post("1", "word", open.ID), post("2", "word", closed.ID))
		other := httpapi.Principal{URN: network + ":user=other"}
		for _, c := range []struct {
			by   httpapi.Principal
			want int
		}{{editor, 2}, {reader, 2}, {other, 1}} {
			if page := ok(as(c.by).assets.Search(t.Context(), lib, assets.Search{Query: "word"}))(t); page.Paging.Total != int64(c.want) || len(page.Assets) != c.want {
				t.Errorf("%s finds %+v", c.by.URN, page.Paging)
			}
		}
		for _, id := range []string{list[1].ID, "none", "", "..", "\xff"} {
			_, err := as(other).assets.Asset(t.Context(), lib, id)
			wantError(t, id, err, assets.ErrNotFound)
		}
		for _, id := range []string{closed.ID, "none", "", "a/b"} {
			_, err := as(other).assets.Folder(t.Context(), lib, id)
			wantError(t, id, err, assets.ErrNotFound)
		}
		_, err := as(editor).assets.Search(t.Context(), assets.Library{Network: lib.Network, ID: "none"}, assets.Search{})
		wantError(t, "no library", err, assets.ErrNotFound)
		_, err = as(stranger).assets.Search(t.Context(), lib, assets.Search{})
		wantError(t, "another network", err, assets.ErrForbidden)
	}},
	{"folders are created, moved, listed by label, deleted and brought back", func(t *testing.T, as func(httpapi.Principal) services) {
		s := as(editor)
		b, a := newFolder(t, s, "b", ""), newFolder(t, s, "A", "/")
		c := newFolder(t, s, "c", "/"+a.ID)
		if c.Path != "/"+a.ID || !c.Inherit || c.Deleted || c.Permissions == nil || c.Children != nil {
			t.Errorf("%+v", c)
		}
		labels := func(in assets.ListFolders) string {
			out := ""
			for _, f := range ok(s.assets.Folders(t.Context(), lib, in))(t) {
				out += f.Label + fmt.Sprint(len(f.Children)) + " "
			}
			return out
		}
		moved := ok(s.assets.ChangeFolders(t.Context(), lib, assets.ChangeFolders{Update: []assets.FolderChange{
			{ID: c.ID, Path: to("/" + b.ID), Label: to("C"), Inherit: to(false)}, {ID: b.ID}}}))(t)
		if len(moved) != 2 || moved[0].Path != "/"+b.ID || moved[0].Label != "C" || moved[0].Inherit || moved[1].Label != "b" {
			t.Errorf("%+v", moved)
		}
		for _, list := range []struct {
			in   assets.ListFolders
			want string
		}{
			{assets.ListFolders{}, "A0 b1 "}, {assets.ListFolders{Limit: 1}, "A0 "}, {assets.ListFolders{Since: a.ID}, "b1 "}, {assets.ListFolders{Until: b.ID}, "A0 "},
			{assets.ListFolders{IDs: []string{c.ID, a.ID, "none"}}, "A0 C0 "}, {assets.ListFolders{Paths: []string{"/" + b.ID, "/none"}}, "C0 "},
		} {
			if have := labels(list.in); have != list.want {
				t.Errorf("%+v lists %s, want %s", list.in, have, list.want)
			}
		}
		gone := ok(s.assets.ChangeFolders(t.Context(), lib, assets.ChangeFolders{Delete: []string{b.ID}}))(t)
		if len(gone) != 1 || !gone[0].Deleted || labels(assets.ListFolders{}) != "A0 " {
			t.Errorf("%+v", gone)
		}
		if f := ok(s.assets.Folder(t.Context(), lib, c.ID))(t); !f.Deleted {
			t.Errorf("%+v", f)
		}
		ok(s.assets.ChangeFolders(t.Context(), lib, assets.ChangeFolders{Update: []assets.FolderChange{{ID: b.ID, Deleted: to(false)}}}))(t)
		if have := labels(assets.ListFolders{}); have != "A0 b1 " {
			t.Error(have)
		}
		for _, test := range []struct {
			in   assets.ChangeFolders
			kind error
		}{
			{assets.ChangeFolders{Create: []assets.NewFolder{{}}}, assets.ErrInvalid},
			{assets.ChangeFolders{Update: []assets.FolderChange{{ID: b.ID, Label: to("")}}}, assets.ErrInvalid},
			{assets.ChangeFolders{Update: []assets.FolderChange{{ID: b.ID, Path: to("/" + b.ID + "/" + c.ID)}}}, assets.ErrInvalid},
			{assets.ChangeFolders{Create: []assets.NewFolder{{Label: "x", Path: "/none"}}}, assets.ErrNotFound},
			{assets.ChangeFolders{Delete: []string{"none"}}, assets.ErrNotFound},
		} {
			_, err := s.assets.ChangeFolders(t.Context(), lib, test.in)
			wantError(t, fmt.Sprintf("%+v", test.in), err, test.kind)
		}
		_, err := as(reader).assets.ChangeFolders(t.Context(), lib, assets.ChangeFolders{Create: []assets.NewFolder{{Label: "x"}}})
		wantError(t, "the top level", err, assets.ErrForbidden)
	}},
	{"permissions are granted, equal ones once, and taken back by id or by what they say", func(t *testing.T, as func(httpapi.Principal) services) {
		s := as(editor)
		f := newFolder(t, s, "x", "", press(assets.View), press(assets.View))
		list := ok(s.assets.Permissions(t.Context(), lib, f.ID))(t)
		if len(list) != 1 || list[0].ID == "" || list[0].RType != "assetFolder" || list[0].RID == "" || *list[0].Role != (assets.Subject{ID: "press", Name: "Press"}) || list[0].User != nil || list[0].Group != nil {
			t.Errorf("%+v", list)
		}
		group := assets.Permission{Operation: assets.Manage, Group: to(network + ":site=1")}
		list = ok(s.assets.ChangePermissions(t.Context(), lib, f.ID, assets.ChangePermissions{Create: []assets.Permission{group}, Remove: []assets.Permission{{ID: list[0].ID}}}))(t)
		if len(list) != 1 || *list[0].Group != *group.Group {
			t.Errorf("%+v", list)
		}
		list = ok(s.assets.ChangePermissions(t.Context(), lib, f.ID, assets.ChangePermissions{Remove: []assets.Permission{group}}))(t)
		if len(list) != 0 {
			t.Errorf("%+v", list)
		}
		for _, p := range []assets.Permission{{}, {Operation: "own", Role: &assets.Subject{ID: "r"}}, {Operation: assets.View, Role: &assets.Subject{ID: "r"}, RID: "x"}} {
			_, err := s.assets.ChangePermissions(t.Context(), lib, f.ID, assets.ChangePermissions{Create: []assets.Permission{p}})
			wantError(t, fmt.Sprintf("%+v", p), err, assets.ErrInvalid)
		}
		_, err := as(reader).assets.Permissions(t.Context(), lib, f.ID)
		wantError(t, "a reader", err, assets.ErrForbidden)
	}},
	{"assets are put into folders and taken out, each judged by itself", func(t *testing.T, as func(httpapi.Principal) services) {
		s := as(editor)
		f := newFolder(t, s, "x", "", press(assets.Edit))
		inside, outside := add(t, s, post("1", "x", f.ID))[0], add(t, s, post("2", "x"))[0]
		out := ok(as(reader).assets.AssignAssets(t.Context(), lib, f.ID, assets.AssignAssets{Assign: []string{outside.ID, "none", outside.ID}, Remove: []string{inside.ID}}))(t)
		want := assets.AssignedAssets{Assign: []assets.ItemStatus{{ID: outside.ID, Status: 200}, {ID: "none", Status: 404}, {ID: outside.ID, Status: 200}}, Remove: []assets.ItemStatus{{ID: inside.ID, Status: 403}}}
		if !slices.Equal(out.Assign, want.Assign) || !slices.Equal(out.Remove, want.Remove) {
			t.Errorf("%+v", out)
		}
		_, err := s.assets.AssignAssets(t.Context(), lib, "none", assets.AssignAssets{})
		wantError(t, "no folder", err, assets.ErrNotFound)
	}},
	{"attributes are removed, set and added, and listed by key", func(t *testing.T, as func(httpapi.Principal) services) {
		s := as(editor)
		a := add(t, s, post("1", "x"))[0]
		out := ok(s.assets.ChangeAttributes(t.Context(), lib, assets.ChangeAttributes{Assets: []string{a.ID, "none"}, Add: []assets.Attribute{{Key: "k", Value: "v"}, {Key: "k", Value: ""}}}))(t)
		if !slices.Equal(out.Result, []int{200, 404}) || len(out.Assets) != 1 || !strings.Contains(string(out.Assets[0].Body), `"attributes":[{"key":"k","value":"v"},{"key":"k","value":""}]`) {
			t.Errorf("%+v", out)
		}
		if list := ok(s.assets.Attributes(t.Context(), lib, "k"))(t); !slices.Equal(list, []assets.Attribute{{Key: "k"}, {Key: "k", Value: "v"}}) {
			t.Errorf("%+v", list)
		}
		ok(s.assets.ChangeAttributes(t.Context(), lib, assets.ChangeAttributes{Assets: []string{a.ID}, Set: []assets.Attribute{{Key: "k", Value: "w"}}, Remove: []assets.Attribute{{Key: "k", Value: "x"}}}))(t)
		if list := ok(s.assets.Attributes(t.Context(), lib, "k"))(t); !slices.Equal(list, []assets.Attribute{{Key: "k", Value: "w"}}) {
			t.Errorf("%+v", list)
		}
		if out := ok(s.assets.ChangeAttributes(t.Context(), lib, assets.ChangeAttributes{}))(t); len(out.Result) != 0 {
			t.Errorf("%+v", out)
		}
		_, err := s.assets.Attributes(t.Context(), lib, "")
		wantError(t, "no key", err, assets.ErrInvalid)
		_, err = s.assets.ChangeAttributes(t.Context(), lib, assets.ChangeAttributes{Assets: []string{a.ID}, Add: []assets.Attribute{{}}})
		wantError(t, "no key", err, assets.ErrInvalid)
	}},
}
