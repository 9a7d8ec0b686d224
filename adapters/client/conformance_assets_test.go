package client_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/assets"
)

var lib = assets.Library{Network: "example.test", ID: "example.test"}

// post is an asset to add.
func post(id, text string, folders ...string) assets.NewAsset {
	return assets.NewAsset{ID: id, Generator: assets.Generator{ID: "g"},
		Content: fmt.Appendf(nil, `{"content":%q,"more":{"n":1.10}}`, text), Folders: folders}
}

// add adds assets and returns them.
func add(t *testing.T, s services, posts ...assets.NewAsset) []assets.Asset {
	t.Helper()
	return ok(s.assets.ChangeAssets(t.Context(), lib, assets.ChangeAssetsRequest{Add: posts}))(t).Added
}

// newFolder creates a folder with permissions and returns it.
func newFolder(t *testing.T, s services, label, path string, grants ...assets.Permission) assets.Folder {
	t.Helper()
	return ok(s.assets.ChangeFolders(t.Context(), lib,
		assets.ChangeFoldersRequest{Create: []assets.NewFolder{{Label: label, Path: path, Permissions: grants}}}))(
		t).Folders[0]
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
	{"a file is uploaded, edited and replaced, as it was read",
		func(t *testing.T, as func(httpapi.Principal) services) {
			s, pdf := as(editor).assets, "%PDF-1.7\n"
			in := assets.UploadRequest{Name: "a b.pdf", Title: "T", Alt: "x", Size: int64(len(pdf))}
			a := ok(s.Upload(t.Context(), lib, in, strings.NewReader(pdf)))(t)
			read := ok(s.Asset(t.Context(), lib, a.ID))(t)
			if read.ETag() != a.ETag() || !strings.Contains(string(a.Body), `/x/file/`) {
				t.Errorf("%s %s", a.Body, read.Body)
			}
			edit := assets.EditFileRequest{Asset: a.ID, IfMatch: a.ETag(), Title: to("U"), Focus: &assets.Focus{Y: 1}}
			b := ok(s.EditFile(t.Context(), lib, edit))(t)
			code := func(what string, err error, kind error, code string) {
				t.Helper()
				e, found := errors.AsType[*vitrine.Error](err)
				if !errors.Is(err, kind) || !found || e.Code != code {
					t.Errorf("%s: %v", what, err)
				}
			}
			_, err := s.EditFile(t.Context(), lib, edit)
			code("with an older ETag", err, vitrine.ErrConflict, vitrine.CodeChanged)
			edit.IfMatch = ""
			_, err = s.EditFile(t.Context(), lib, edit)
			code("without an ETag", err, vitrine.ErrInvalid, vitrine.CodePrecondition)
			replace := assets.ReplaceFileRequest{Asset: a.ID, IfMatch: b.ETag()}
			c := ok(s.ReplaceFile(t.Context(), lib, replace, strings.NewReader(pdf+"new")))(t)
			_, err = s.ReplaceFile(t.Context(), lib, replace, strings.NewReader(pdf))
			code("replaced again", err, vitrine.ErrConflict, vitrine.CodeChanged)
			in.Size = 0
			_, err = s.Upload(t.Context(), lib, in, strings.NewReader("<html>"))
			code("a page", err, vitrine.ErrUnprocessable, vitrine.CodeMediaType)
			_, err = as(reader).assets.Upload(t.Context(), lib, in, strings.NewReader(pdf))
			code("by a reader", err, vitrine.ErrForbidden, vitrine.CodeForbidden)
			page := ok(s.Search(t.Context(), lib,
				assets.SearchRequest{Types: []string{"link"}, Facets: []string{"type"}}))(t)
			if len(page.Assets) != 1 || page.Assets[0].ETag() != c.ETag() || len(page.Facets[0].Values) != 1 {
				t.Errorf("%+v", page)
			}
		}},
	{"an asset is added, read and found as it was sent", func(t *testing.T, as func(httpapi.Principal) services) {
		s := as(editor)
		folder := newFolder(t, s, "Winter", "")
		in := post("1", "<p>First \u2028 snow</p>", folder.ID)
		in.SafeTags, in.Via, in.Rights = []string{"cold"}, to(int64(2)), to(int64(-1<<63))
		a := add(t, s, in)[0]
		if a.Library != lib.ID || a.CreatedAt == 0 || a.CreatedAt != a.UpdatedAt || len(a.Folders) != 1 ||
			a.Folders[0].Label != "Winter" || a.Folders[0].Children != nil {
			t.Errorf("%+v", a)
		}
		for _, part := range []string{`"more":{"n":1.10}`, `"safe_tags":["cold"],"via":2,"rights":-9223372036854775808`,
			`"generator":{"id":"g"}`} {
			if !strings.Contains(string(a.Body), part) {
				t.Errorf("the body lacks %s: %s", part, a.Body)
			}
		}
		read := ok(s.assets.Asset(t.Context(), lib, a.ID))(t)
		if have, want := string(read.AppendJSON(nil)), string(a.AppendJSON(nil)); have != want {
			t.Errorf("%s\n%s", have, want)
		}
		for _, q := range []assets.SearchRequest{{}, {Query: "SNOW first"}, {Folder: folder.ID},
			{FolderTree: folder.ID}, {Generator: "g"},
			{Via: to(int64(2))}, {Rights: to(int64(-1 << 63))}, {Tags: []string{"cold"}}, {Order: "asc", Limit: 1}} {
			page := ok(s.assets.Search(t.Context(), lib, q))(t)
			if len(page.Assets) != 1 || page.Total != 1 ||
				string(page.Assets[0].AppendJSON(nil)) != string(a.AppendJSON(nil)) {
				t.Errorf("%+v finds %+v", q, page)
			}
		}
		for _, q := range []assets.SearchRequest{{Query: "rain"}, {Generator: "x"}, {Via: to(int64(0))},
			{Tags: []string{"cold", "warm"}}} {
			if page := ok(s.assets.Search(t.Context(), lib, q))(t); len(page.Assets) != 0 || page.Total != 0 ||
				page.HasPrev || page.HasNext || page.Prev+page.Next != "" {
				t.Errorf("%+v finds %+v", q, page)
			}
		}
	}},
	{"a search takes prefixes, attributes and times, and counts values",
		func(t *testing.T, as func(httpapi.Principal) services) {
			s := as(editor)
			list := add(t, s, post("1", "launching"), post("2", "launch"), post("3", "lunch"))
			for i, value := range []string{"a:b", "", "a,b&c"} {
				ok(s.assets.ChangeAttributes(t.Context(), lib,
					assets.ChangeAttributesRequest{Assets: []string{list[i].ID},
						Add: []assets.Attribute{{Key: "k", Value: value}}}))(t)
			}
			begin := time.UnixMilli(list[0].CreatedAt)
			for _, c := range []struct {
				in   assets.SearchRequest
				want int64
			}{
				{assets.SearchRequest{Query: "launch*"}, 2}, {assets.SearchRequest{Attributes: []string{"k"}}, 3},
				{assets.SearchRequest{Attributes: []string{"k:a:b"}}, 1},
				{assets.SearchRequest{Attributes: []string{"k:"}}, 1},
				{assets.SearchRequest{Attributes: []string{"k:a,b&c", "k"}}, 1},
				{assets.SearchRequest{CreatedFrom: begin}, 3}, {assets.SearchRequest{CreatedBefore: begin}, 0},
				{assets.SearchRequest{CreatedFrom: begin.Add(-1), CreatedBefore: begin.Add(time.Hour)}, 3},
				{assets.SearchRequest{CreatedFrom: begin.Add(time.Hour)}, 0},
			} {
				if page := ok(s.assets.Search(t.Context(), lib, c.in))(t); page.Total != c.want || page.Facets != nil {
					t.Errorf("%+v finds %d with facets %v, want %d", c.in, page.Total, page.Facets, c.want)
				}
			}
			page := ok(s.assets.Search(t.Context(), lib,
				assets.SearchRequest{Query: "launch*",
					Facets: []string{"attribute:k", "via", "generator", "attribute"}}))(t)
			want := []assets.Facet{{Name: "attribute:k",
				Values: []assets.FacetValue{{Value: "", Count: 1}, {Value: "a:b", Count: 1}}}, {Name: "via"},
				{Name: "generator", Values: []assets.FacetValue{{Value: "g", Count: 2}}},
				{Name: "attribute", Values: []assets.FacetValue{{Value: "k", Count: 2}}}}
			if !reflect.DeepEqual(page.Facets, want) {
				t.Errorf("facets %#v, want %#v", page.Facets, want)
			}
		}},
	{"an asset keeps when it was first published, and has attributes from the beginning",
		func(t *testing.T, as func(httpapi.Principal) services) {
			s := as(editor)
			old, older := post("1", "x"), post("2", "x")
			old.CreatedAt, older.CreatedAt = to(time.Date(2012, 3, 4, 5, 6, 7, 8_000_000, time.UTC)), to(time.Time{})
			old.Attributes = []assets.Attribute{{Key: "k", Value: "v"}}
			list := add(t, s, old, older, post("3", "x"))
			if a := list[0]; a.CreatedAt != old.CreatedAt.UnixMilli() ||
				!strings.HasSuffix(string(a.Body), `"attributes":[{"key":"k","value":"v"}]}`) {
				t.Errorf("%+v: %s", a, a.Body)
			}
			page := ok(s.assets.Search(t.Context(), lib, assets.SearchRequest{Sort: "createdAt", Limit: 2}))(t)
			page2 := ok(s.assets.Search(t.Context(), lib, assets.SearchRequest{Until: page.Prev}))(t)
			if got := idsOf(append(page.Assets, page2.Assets...)); !slices.Equal(got,
				[]string{list[2].ID, list[0].ID, list[1].ID}) || page2.HasPrev {
				t.Errorf("sorted by createdAt they are %v of %v", got, idsOf(list))
			}
			for _, id := range []string{"1", "4"} {
				page := ok(s.assets.Search(t.Context(), lib, assets.SearchRequest{Generator: "g", ForeignID: id}))(t)
				if got := idsOf(page.Assets); (id == "1") != slices.Equal(got, []string{list[0].ID}) {
					t.Errorf("%s finds %v", id, got)
				}
			}
		}},
	{"a search takes phrases, exclusions, typos and where to look",
		func(t *testing.T, as func(httpapi.Principal) services) {
			s := as(editor)
			one := post("1", "first snow")
			one.Attributes = []assets.Attribute{{Key: "k", Value: "in the mountains"}}
			two := post("2", "snow first")
			two.Content = []byte(`{"content":"snow first","attachment":[{"version":"1.0","type":"photo",` +
				`"title":"Mountain"}]}`)
			list := add(t, s, one, two)
			for _, c := range []struct {
				in   assets.SearchRequest
				want []string
			}{
				{assets.SearchRequest{Query: `"first snow"`}, []string{list[0].ID}},
				{assets.SearchRequest{Query: `snow -"snow first"`}, []string{list[0].ID}},
				{assets.SearchRequest{Query: "snwo", Typos: true, Order: "asc"}, idsOf(list)},
				{assets.SearchRequest{Query: "snwo"}, nil},
				{assets.SearchRequest{Query: "mountain", In: []string{"attachments"}}, []string{list[1].ID}},
				{assets.SearchRequest{Query: "mountain"}, nil},
				{assets.SearchRequest{Query: `"in the mountains" snow`, In: []string{"attributes", "text"}},
					[]string{list[0].ID}},
			} {
				if got := idsOf(ok(s.assets.Search(t.Context(), lib, c.in))(t).Assets); !slices.Equal(got, c.want) {
					t.Errorf("%+v finds %v, want %v", c.in, got, c.want)
				}
			}
		}},
	{"a search takes tags with commas, what must not be there, authors, languages and links",
		func(t *testing.T, as func(httpapi.Principal) services) {
			s := as(editor)
			one, two := post("1", "first snow"), post("2", "snow")
			one.SafeTags, two.SafeTags = []string{"Rock, Paper", "x"}, []string{`"quoted"`, "X"}
			one.Content = []byte(`{"content":"http://www.example.com","lang":"en-GB","attributedTo":{"id":"Ann"}}`)
			two.Folders = []string{newFolder(t, s, "f", "").ID}
			list := add(t, s, one, two)
			for _, c := range []struct {
				in   assets.SearchRequest
				want string
			}{
				{assets.SearchRequest{Tags: []string{"rock, paper", "x"}}, list[0].ID},
				{assets.SearchRequest{Tags: []string{`"quoted"`}}, list[1].ID},
				{assets.SearchRequest{TagsAny: []string{"a,b", "ROCK, PAPER"}}, list[0].ID},
				{assets.SearchRequest{NotTags: []string{"rock, paper"}}, list[1].ID},
				{assets.SearchRequest{NotGenerators: []string{"g", two.Generator.ID}}, ""},
				{assets.SearchRequest{Filed: "none"}, list[0].ID}, {assets.SearchRequest{Filed: "any"}, list[1].ID},
				{assets.SearchRequest{Author: "ann"}, list[0].ID}, {assets.SearchRequest{Lang: "en"}, list[0].ID},
				{assets.SearchRequest{Link: "example.com"}, list[0].ID},
			} {
				got := strings.Join(idsOf(ok(s.assets.Search(t.Context(), lib, c.in))(t).Assets), " ")
				if got != c.want {
					t.Errorf("%+v finds %s, want %s", c.in, got, c.want)
				}
			}
			page := ok(s.assets.Search(t.Context(), lib,
				assets.SearchRequest{Facets: []string{"attribute:a,b", "tags"}, FacetLimit: 1}))(t)
			if len(page.Facets) != 2 || page.Facets[0].Name != "attribute:a,b" ||
				!slices.Equal(page.Facets[1].Values, []assets.FacetValue{{Value: "x", Count: 2}}) {
				t.Errorf("facets: %v", page.Facets)
			}
		}},
	{"adding again replaces the content, and what is not given stays",
		func(t *testing.T, as func(httpapi.Principal) services) {
			s := as(editor)
			in := post("1", "x")
			in.SafeTags, in.Via = []string{"a"}, to(int64(1))
			first := add(t, s, in)[0]
			again := add(t, s, post("1", "y"))[0]
			if again.ID != first.ID || !strings.Contains(string(again.Body), `"safe_tags":["a"],"via":1`) ||
				!strings.Contains(string(again.Body), `"content":"y"`) {
				t.Errorf("%s", again.Body)
			}
			in.SafeTags = []string{}
			if again = add(t, s, in)[0]; !strings.Contains(string(again.Body), `"safe_tags":[]`) {
				t.Errorf("%s", again.Body)
			}
		}},
	{"adding again in another folder is a conflict, and content has a bound",
		func(t *testing.T, as func(httpapi.Principal) services) {
			s := as(editor)
			here, there := newFolder(t, s, "here", ""), newFolder(t, s, "there", "")
			first := add(t, s, post("1", "x", here.ID))
			_, err := s.assets.ChangeAssets(t.Context(), lib,
				assets.ChangeAssetsRequest{Add: []assets.NewAsset{post("1", "x", there.ID)}})
			wantError(t, "another folder", err, vitrine.ErrConflict)
			if e, ok := errors.AsType[*vitrine.Error](err); !ok || e.Code != vitrine.CodeMoved ||
				e.Pointer != "/add/0" || e.ID != first[0].ID {
				t.Errorf("another folder: %+v", e)
			}
			_, err = s.assets.ChangeAssets(t.Context(), lib,
				assets.ChangeAssetsRequest{Add: []assets.NewAsset{post("2", strings.Repeat("x", 256<<10))}})
			wantError(t, "a long content", err, vitrine.ErrTooLarge)
		}},
	{"folders are found by label, and deleted ones to be brought back",
		func(t *testing.T, as func(httpapi.Principal) services) {
			s := as(editor)
			kept, lost := newFolder(t, s, "Winter", ""), newFolder(t, s, "Winterthur & more", "")
			newFolder(t, s, "Spring", "")
			ok(s.assets.ChangeFolders(t.Context(), lib, assets.ChangeFoldersRequest{Delete: []string{lost.ID}}))(t)
			for _, c := range []struct {
				in   assets.ListFoldersRequest
				want string
			}{{assets.ListFoldersRequest{Label: "wint"}, kept.ID},
				{assets.ListFoldersRequest{Label: "& MORE", Deleted: true}, lost.ID}} {
				if page := ok(s.assets.ListFolders(t.Context(), lib, c.in))(t); len(page.Items) != 1 ||
					page.Items[0].ID != c.want {
					t.Errorf("%+v: %+v, want %s", c.in, page, c.want)
				}
			}
		}},
	{"folders above are named by id, and a folder that moves out keeps what closes it",
		func(t *testing.T, as func(httpapi.Principal) services) {
			s := as(editor)
			top, other := newFolder(t, s, "top", ""), newFolder(t, s, "other", "")
			view := assets.Permission{Operation: assets.View, User: &assets.Subject{ID: reader.URN}}
			ok(s.assets.ChangePermissions(t.Context(), lib, assets.ChangePermissionsRequest{Folder: top.ID,
				Create: []assets.Permission{{Operation: assets.Manage, User: &assets.Subject{ID: "boss"}}}}))(t)
			in := ok(s.assets.ChangeFolders(t.Context(), lib, assets.ChangeFoldersRequest{Create: []assets.NewFolder{
				{Label: "in", Path: "/" + top.ID, Permissions: []assets.Permission{view}}}}))(t).Folders[0]
			for _, list := range []assets.ListFoldersRequest{{IDs: []string{in.ID}}, {}} {
				page := ok(as(reader).assets.ListFolders(t.Context(), lib, list))(t)
				if !slices.Equal(page.Ancestors, []assets.Ancestor{{ID: top.ID, Path: "/"}}) {
					t.Errorf("%+v: ancestors %+v", list, page.Ancestors)
				}
			}
			to := "/" + other.ID
			moved := ok(s.assets.ChangeFolders(t.Context(), lib, assets.ChangeFoldersRequest{
				Update: []assets.FolderChange{{ID: in.ID, Path: &to}}}))(t).Folders[0]
			if moved.Inherit || len(moved.Permissions) != 2 || moved.Permissions[1].User.ID != "boss" {
				t.Errorf("moved: %+v", moved)
			}
			next := ok(s.assets.ChangeFolders(t.Context(), lib, assets.ChangeFoldersRequest{Create: []assets.NewFolder{
				{Label: "next", Path: "/" + top.ID}}}))(t).Folders[0]
			moved = ok(s.assets.ChangeFolders(t.Context(), lib, assets.ChangeFoldersRequest{
				Update: []assets.FolderChange{{ID: next.ID, Path: &to, Open: true}}}))(t).Folders[0]
			if !moved.Inherit || len(moved.Permissions) != 0 {
				t.Errorf("opened: %+v", moved)
			}
			_, err := s.assets.ChangeFolders(t.Context(), lib, assets.ChangeFoldersRequest{
				Update: []assets.FolderChange{{ID: next.ID, Open: true}}})
			wantError(t, "open without a path", err, vitrine.ErrInvalid)
		}},
	{"an explanation says by which rule", func(t *testing.T, as func(httpapi.Principal) services) {
		s := as(editor)
		f := newFolder(t, s, "news", "", assets.Permission{Operation: assets.Edit, Role: &assets.Subject{ID: "desk"}})
		a := add(t, s, post("1", "x", f.ID))[0]
		grant := f.Permissions[0]
		byGrant := assets.Verdict{Allowed: true, Rule: assets.ByGrant, Folder: f.ID, Grant: &grant}
		desk := &vitrine.Caller{Roles: []string{"none", "desk"}}
		no, byModerator := assets.Verdict{Rule: assets.ByNone}, assets.Verdict{Allowed: true, Rule: assets.ByModerator}
		for _, c := range []struct {
			in   assets.ExplainRequest
			want assets.Explanation
		}{
			{assets.ExplainRequest{Folder: f.ID, About: desk},
				assets.Explanation{View: byGrant, Edit: byGrant, Manage: &no}},
			{assets.ExplainRequest{Folder: f.ID, About: &vitrine.Caller{}},
				assets.Explanation{View: no, Edit: no, Manage: &no}},
			{assets.ExplainRequest{Folder: f.ID},
				assets.Explanation{View: byModerator, Edit: byModerator, Manage: &byModerator}},
			{assets.ExplainRequest{Asset: a.ID, About: desk},
				assets.Explanation{View: byGrant, Edit: byGrant,
					Folders: []assets.Explanation{{ID: f.ID, View: byGrant, Edit: byGrant}}}},
		} {
			if out := ok(s.assets.Explain(t.Context(), lib, c.in))(t); !reflect.DeepEqual(out, c.want) {
				t.Errorf("%+v: %+v, want %+v", c.in, out, c.want)
			}
		}
	}},
	{"pages of a search lead to older assets and back to newer ones",
		func(t *testing.T, as func(httpapi.Principal) services) {
			s := as(editor)
			var want []string
			for i := range 5 {
				want = append(want, add(t, s, post(fmt.Sprint(i), "word"))[0].ID)
			}
			first := ok(s.assets.Search(t.Context(), lib, assets.SearchRequest{Query: "word", Limit: 2}))(t)
			if !slices.Equal(idsOf(first.Assets), []string{want[4], want[3]}) || !first.HasPrev || first.HasNext ||
				first.Total != 5 {
				t.Errorf("%+v", first)
			}
			older := ok(s.assets.Search(t.Context(), lib,
				assets.SearchRequest{Query: "word", Limit: 9, Until: first.Prev}))(t)
			if !slices.Equal(idsOf(older.Assets), []string{want[2], want[1], want[0]}) || older.HasPrev ||
				!older.HasNext {
				t.Errorf("%+v", older)
			}
			newer := ok(s.assets.Search(t.Context(), lib, assets.SearchRequest{Query: "word", Since: older.Next}))(t)
			if !slices.Equal(idsOf(newer.Assets), []string{want[3], want[4]}) {
				t.Errorf("%+v", newer)
			}
		}},
	{"what a folder hides is not found, not counted, and reads as absent",
		func(t *testing.T, as func(httpapi.Principal) services) {
			open, closed := newFolder(t, as(editor), "open", "/"),
				newFolder(t, as(editor), "closed", "", press(assets.View))
			list := add(t, as(editor), post("1", "word", open.ID), post("2", "word", closed.ID))
			other := httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=other"}}
			for _, c := range []struct {
				by   httpapi.Principal
				want int
			}{{editor, 2}, {reader, 2}, {other, 1}} {
				if page := ok(as(c.by).assets.Search(t.Context(), lib,
					assets.SearchRequest{Query: "word"}))(t); page.Total != int64(c.want) ||
					len(page.Assets) != c.want {
					t.Errorf("%s finds %+v", c.by.URN, page)
				}
			}
			for _, id := range []string{list[1].ID, "none", "", "..", "\xff"} {
				_, err := as(other).assets.Asset(t.Context(), lib, id)
				wantError(t, id, err, vitrine.ErrNotFound)
			}
			for _, id := range []string{closed.ID, "none", "", "a/b"} {
				_, err := as(other).assets.Folder(t.Context(), lib, id)
				wantError(t, id, err, vitrine.ErrNotFound)
			}
		}},
	{"folders are created, moved, listed by label, deleted and brought back",
		func(t *testing.T, as func(httpapi.Principal) services) {
			s := as(editor)
			b, a := newFolder(t, s, "b", ""), newFolder(t, s, "A", "/")
			c := newFolder(t, s, "c", "/"+a.ID)
			if c.Path != "/"+a.ID || !c.Inherit || c.Deleted || c.Permissions == nil || c.Children != nil {
				t.Errorf("%+v", c)
			}
			labels := func(in assets.ListFoldersRequest) string {
				out := ""
				for _, f := range ok(s.assets.ListFolders(t.Context(), lib, in))(t).Items {
					out += f.Label + fmt.Sprint(len(f.Children)) + " "
				}
				return out
			}
			moved := ok(s.assets.ChangeFolders(t.Context(), lib,
				assets.ChangeFoldersRequest{Update: []assets.FolderChange{
					{ID: c.ID, Path: to("/" + b.ID), Label: to("C"), Inherit: to(false)}, {ID: b.ID}}}))(t).Folders
			if len(moved) != 2 || moved[0].Path != "/"+b.ID || moved[0].Label != "C" || moved[0].Inherit ||
				moved[1].Label != "b" {
				t.Errorf("%+v", moved)
			}
			for _, list := range []struct {
				in   assets.ListFoldersRequest
				want string
			}{
				{assets.ListFoldersRequest{}, "A0 b1 "}, {assets.ListFoldersRequest{Limit: 1}, "A0 "},
				{assets.ListFoldersRequest{After: a.ID}, "b1 "}, {assets.ListFoldersRequest{Before: b.ID}, "A0 "},
				{assets.ListFoldersRequest{IDs: []string{c.ID, a.ID, "none"}}, "A0 C0 "},
				{assets.ListFoldersRequest{Paths: []string{"/" + b.ID, "/none"}}, "C0 "},
			} {
				if have := labels(list.in); have != list.want {
					t.Errorf("%+v lists %s, want %s", list.in, have, list.want)
				}
			}
			gone := ok(s.assets.ChangeFolders(t.Context(), lib,
				assets.ChangeFoldersRequest{Delete: []string{b.ID}}))(t).Folders
			if len(gone) != 1 || !gone[0].Deleted || labels(assets.ListFoldersRequest{}) != "A0 " {
				t.Errorf("%+v", gone)
			}
			if f := ok(s.assets.Folder(t.Context(), lib, c.ID))(t); !f.Deleted {
				t.Errorf("%+v", f)
			}
			ok(s.assets.ChangeFolders(t.Context(), lib,
				assets.ChangeFoldersRequest{Update: []assets.FolderChange{{ID: b.ID, Deleted: to(false)}}}))(t)
			if have := labels(assets.ListFoldersRequest{}); have != "A0 b1 " {
				t.Error(have)
			}
			purge := assets.ChangeFoldersRequest{Delete: []string{b.ID}, Purge: []string{b.ID}}
			if out := ok(s.assets.ChangeFolders(t.Context(), lib, purge))(t); len(out.Folders) != 1 ||
				out.Purged.Folders != 2 || out.Purged.Assets != 0 {
				t.Errorf("%+v", out)
			}
		}},
	{"permissions are granted, equal ones once, and taken back by id or by what they say",
		func(t *testing.T, as func(httpapi.Principal) services) {
			s := as(editor)
			f := newFolder(t, s, "x", "", press(assets.View), press(assets.View))
			list := ok(s.assets.Permissions(t.Context(), lib, f.ID))(t)
			if len(list) != 1 || list[0].ID == "" || list[0].RType != "assetFolder" || list[0].RID == "" ||
				*list[0].Role != (assets.Subject{ID: "press", Name: "Press"}) || list[0].User != nil ||
				list[0].Group != nil {
				t.Errorf("%+v", list)
			}
			group := assets.Permission{Operation: assets.Manage, Group: to(network + ":site=1")}
			list = ok(s.assets.ChangePermissions(t.Context(), lib,
				assets.ChangePermissionsRequest{Folder: f.ID, Create: []assets.Permission{group},
					Remove: []assets.Permission{{ID: list[0].ID}}}))(t)
			if len(list) != 1 || *list[0].Group != *group.Group {
				t.Errorf("%+v", list)
			}
			list = ok(s.assets.ChangePermissions(t.Context(), lib,
				assets.ChangePermissionsRequest{Folder: f.ID, Remove: []assets.Permission{group}}))(t)
			if len(list) != 0 {
				t.Errorf("%+v", list)
			}
			_, err := as(reader).assets.Permissions(t.Context(), lib, f.ID)
			wantError(t, "a reader of what lost its last permission", err, vitrine.ErrNotFound)
			ok(s.assets.ChangePermissions(t.Context(), lib,
				assets.ChangePermissionsRequest{Folder: f.ID, Create: []assets.Permission{press(assets.View)}}))(t)
			_, err = as(reader).assets.Permissions(t.Context(), lib, f.ID)
			wantError(t, "a reader", err, vitrine.ErrForbidden)
		}},
	{"assets are put into folders and taken out, each judged by itself",
		func(t *testing.T, as func(httpapi.Principal) services) {
			s := as(editor)
			f := newFolder(t, s, "x", "", press(assets.Edit))
			inside, outside := add(t, s, post("1", "x", f.ID))[0], add(t, s, post("2", "x"))[0]
			out := ok(as(reader).assets.AssignAssets(t.Context(), lib,
				assets.AssignAssetsRequest{Folder: f.ID, Assign: []string{outside.ID, "none", outside.ID},
					Remove: []string{inside.ID}}))(t)
			want := assets.AssignedAssets{Assign: []assets.ItemStatus{{ID: outside.ID, Status: 403},
				{ID: "none", Status: 404}, {ID: outside.ID, Status: 403}},
				Remove: []assets.ItemStatus{{ID: inside.ID, Status: 403}}}
			if !slices.Equal(out.Assign, want.Assign) || !slices.Equal(out.Remove, want.Remove) {
				t.Errorf("%+v", out)
			}
			out = ok(s.assets.AssignAssets(t.Context(), lib,
				assets.AssignAssetsRequest{Folder: f.ID, Assign: []string{outside.ID}}))(t)
			if !slices.Equal(out.Assign, []assets.ItemStatus{{ID: outside.ID, Status: 200}}) {
				t.Errorf("%+v", out)
			}
			_, err := s.assets.AssignAssets(t.Context(), lib, assets.AssignAssetsRequest{Folder: "none"})
			wantError(t, "no folder", err, vitrine.ErrNotFound)
		}},
	{"attributes are removed, set and added, and listed by key",
		func(t *testing.T, as func(httpapi.Principal) services) {
			s := as(editor)
			a := add(t, s, post("1", "x"))[0]
			out := ok(s.assets.ChangeAttributes(t.Context(), lib,
				assets.ChangeAttributesRequest{Assets: []string{a.ID, "none"},
					Add: []assets.Attribute{{Key: "k", Value: "v"}, {Key: "k", Value: ""}}}))(t)
			if !slices.Equal(out.Result, []int{200, 404}) || len(out.Assets) != 1 ||
				!strings.Contains(string(out.Assets[0].Body),
					`"attributes":[{"key":"k","value":"v"},{"key":"k","value":""}]`) {
				t.Errorf("%+v", out)
			}
			if list := ok(s.assets.Attributes(t.Context(), lib, "k"))(t); !slices.Equal(list,
				[]assets.Attribute{{Key: "k"}, {Key: "k", Value: "v"}}) {
				t.Errorf("%+v", list)
			}
			ok(s.assets.ChangeAttributes(t.Context(), lib,
				assets.ChangeAttributesRequest{Assets: []string{a.ID}, Set: []assets.Attribute{{Key: "k", Value: "w"}},
					Remove: []assets.Attribute{{Key: "k", Value: "x"}}}))(t)
			if list := ok(s.assets.Attributes(t.Context(), lib, "k"))(t); !slices.Equal(list,
				[]assets.Attribute{{Key: "k", Value: "w"}}) {
				t.Errorf("%+v", list)
			}
			if out := ok(s.assets.ChangeAttributes(t.Context(), lib,
				assets.ChangeAttributesRequest{}))(t); len(out.Result) != 0 {
				t.Errorf("%+v", out)
			}
		}},
}
