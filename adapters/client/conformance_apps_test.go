package client_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/appsvc"
)

// wantError fails the test unless err is of the kind.
func wantError(t *testing.T, what string, err, kind error) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Errorf("%s: the error is %v, want %v", what, err, kind)
	}
}

// ok returns the value of a call that must succeed.
func ok[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		must(t, err)
		return v
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

const site = network + ":site=1"

const poll = `{"name": "@scope/poll ü", "version": "1.0.0", "id": "p1", "description": "Asks", "main": "https://cdn.example.test/poll.js",
	"configSchema": {"type": "object", "required": ["question"]}, "more": [1.10, 9007199254740993]}`

// newApp creates an app with one element.
func newApp(t *testing.T, s services, title string, groups ...string) appsvc.App {
	t.Helper()
	if _, err := s.apps.Component(t.Context(), "@scope/poll ü"); err != nil {
		ok(s.apps.CreateComponent(t.Context(), appsvc.CreateComponentRequest{Manifest: strings.NewReader(poll)}))(t)
	}
	return ok(s.apps.CreateApp(t.Context(),
		appsvc.CreateAppRequest{Title: title, Groups: groups, Elements: []appsvc.NewElement{
			{Component: appsvc.ComponentRef{Name: "@scope/poll ü", Version: "1.0.0"},
				Config: []byte(`{"question": "Tea?", "n": 1.10, "big": 9007199254740993}`)}}}))(t)
}

func retitle(version vitrine.Version, title string) []byte {
	return fmt.Appendf(nil,
		`[{"op":"test","path":"/apps/0/version","value":"%s"},{"op":"replace","path":"/apps/0/title","value":%q}]`,
		version, title)
}

// same fails the test unless two apps are answered alike.
func same(t *testing.T, a, b appsvc.App) {
	t.Helper()
	if x, y := string(a.AppendJSON(nil)), string(b.AppendJSON(nil)); x != y || a.Owner != b.Owner {
		t.Errorf("these are not the same:\n%s\n%s", x, y)
	}
}

var appBehaviours = []behaviour{
	{"a new app is version 0, owned by its maker, and read as it was made",
		func(t *testing.T, as func(httpapi.Principal) services) {
			s := as(editor)
			app := newApp(t, s, "Tea \u2028 <b>&", site)
			if app.ID == "" || app.Version.Number() != 0 || app.Owner != editor.URN || app.UpdatedBy != editor.URN ||
				app.CreatedAt == 0 || app.CreatedAt != app.UpdatedAt {
				t.Errorf("%+v", app)
			}
			c := contentOf(t, app)
			if c.Title != "Tea \u2028 <b>&" || !slices.Equal(c.Groups, []string{site}) || len(c.Elements) != 1 ||
				c.Elements[0].ID != "0" {
				t.Errorf("%+v", c)
			}
			if got := string(c.Elements[0].Config); got != `{"question":"Tea?","n":1.10,"big":9007199254740993}` {
				t.Errorf("the config is %s", got)
			}
			if got := string(c.Elements[0].Manifest); !strings.Contains(got, `"more":[1.10,9007199254740993]`) {
				t.Errorf("the manifest is %s", got)
			}
			same(t, app, ok(s.apps.App(t.Context(), app.ID))(t))
			same(t, app, ok(s.apps.Version(t.Context(), app.ID, vitrine.NewVersion(0)))(t))
			same(t, app, ok(s.apps.Version(t.Context(), app.ID, vitrine.Latest))(t))
		}},
	{"a deleted app is listed as deleted, comes back, and is erased",
		func(t *testing.T, as func(httpapi.Principal) services) {
			s := as(editor)
			app := newApp(t, s, "Tea and Café", site)
			list := func(in appsvc.ListAppsRequest) appsvc.App {
				t.Helper()
				in.Summary, in.Query, in.Group, in.Owner = true, "CAFE te", site, editor.URN
				in.UsingComponent, in.UsingVersion = contentOf(t, app).Elements[0].Component.Name,
					contentOf(t, app).Elements[0].Component.Version
				page := ok(s.apps.ListApps(t.Context(), in))(t)
				if len(page.Items) != 1 {
					t.Fatalf("%d apps", len(page.Items))
				}
				return page.Items[0]
			}
			ok(s.apps.PutTag(t.Context(),
				appsvc.PutTagRequest{AppID: app.ID, Name: "live", Version: vitrine.NewVersion(0)}))(t)
			if a := list(appsvc.ListAppsRequest{}); a.Title != app.Title || a.Version != app.Version ||
				a.Owner != app.Owner || a.CreatedAt != app.CreatedAt || a.UpdatedBy != app.UpdatedBy || a.Body != nil ||
				!slices.Equal(a.Groups, []string{site}) ||
				len(a.Components) != 1 || len(a.Tags) != 1 ||
				a.Tags[0] != (appsvc.Tag{AppID: app.ID, Name: "live", AppVersion: app.Version}) {
				t.Errorf("%+v", a)
			}
			must(t, s.apps.DeleteApp(t.Context(), app.ID))
			wantError(t, "deleted twice", s.apps.DeleteApp(t.Context(), app.ID), vitrine.ErrNotFound)
			if a := list(appsvc.ListAppsRequest{Deleted: true}); a.ID != app.ID || a.DeletedAt == 0 ||
				a.DeletedBy != editor.URN {
				t.Errorf("%+v", a)
			}
			same(t, app, ok(s.apps.UndeleteApp(t.Context(), app.ID))(t))
			wantError(t, "erased too early", s.apps.EraseApp(t.Context(), app.ID), vitrine.ErrConflict)
			must(t, s.apps.DeleteApp(t.Context(), app.ID))
			must(t, s.apps.EraseApp(t.Context(), app.ID))
			_, err := s.apps.UndeleteApp(t.Context(), app.ID)
			wantError(t, "undeleted too late", err, vitrine.ErrNotFound)
		}},
	{"content is searched", func(t *testing.T, as func(httpapi.Principal) services) {
		s := as(editor)
		newApp(t, s, "needle", site)
		in := appsvc.ListAppsRequest{Query: "needle", In: []string{"title", "content"}, Summary: true}
		for _, app := range ok(s.apps.ListApps(t.Context(), in))(t).Items {
			if app.Title != "needle" || app.Found == nil || len(app.Found) > 0 {
				t.Errorf("%+v", app)
			}
		}
	}},
	{"links are made, listed and revoked", func(t *testing.T, as func(httpapi.Principal) services) {
		s := as(editor)
		app := newApp(t, s, "first", site)
		p := ok(s.apps.CreatePreview(t.Context(),
			appsvc.CreatePreviewRequest{AppID: app.ID, Version: "latest", Days: 3, Note: "for <you>"}))(t)
		if p.Version != "latest" || p.Note != "for <you>" || p.By != editor.URN || len(p.Secret) != 46 ||
			p.Expires != p.CreatedAt+3*24*3600_000 {
			t.Errorf("%+v", p)
		}
		list := ok(s.apps.ListPreviews(t.Context(), app.ID))(t)
		if p.Secret, p.URL = "", ""; len(list) != 1 || list[0] != p {
			t.Errorf("%+v, want %+v", list, p)
		}
		_, err := s.apps.CreatePreview(t.Context(), appsvc.CreatePreviewRequest{AppID: app.ID, Version: "0", Days: 31})
		wantError(t, "31 days", err, vitrine.ErrInvalid)
		must(t, s.apps.DeletePreview(t.Context(), app.ID, p.ID))
		wantError(t, "revoked twice", s.apps.DeletePreview(t.Context(), app.ID, p.ID), vitrine.ErrNotFound)
	}},
	{"the history says what changed, and a diff brings it back",
		func(t *testing.T, as func(httpapi.Principal) services) {
			s := as(editor)
			app := newApp(t, s, "first", site)
			v := vitrine.NewVersion[int]
			ok(s.apps.Patch(t.Context(), app.ID,
				strings.NewReader(`[{"op":"test","path":"/apps/0/version","value":"0"},{"op":"replace",`+
					`"path":"/apps/0/title",`+
					`"value":"<b>&"},`+
					`{"op":"replace","path":"/apps/0/elements/0/config/n","value":1.0}]`)))(t)
			ok(s.apps.Restore(t.Context(), appsvc.RestoreRequest{AppID: app.ID, Version: v(0)}))(t)
			ok(s.apps.PutTag(t.Context(), appsvc.PutTagRequest{AppID: app.ID, Name: "live", Version: v(1)}))(t)
			d := ok(s.apps.Diff(t.Context(), app.ID, vitrine.Latest, v(1)))(t)
			want := `[{"op":"test","path":"/apps/0/version","value":"2"},{"op":"replace","path":"/apps/0/title",` +
				`"value":"<b>&"},` +
				`{"op":"replace","path":"/apps/0/elements/0/config/n","value":1.0}]`
			if d.From != v(2) || d.To != v(1) || string(d.Patch) != want {
				t.Errorf("the diff is %s from %s to %s", d.Patch, d.From, d.To)
			}
			again := ok(s.apps.Patch(t.Context(), app.ID, bytes.NewReader(d.Patch)))(t)
			if contentOf(t, again).Title != "<b>&" {
				t.Errorf("the patch gives %s", again.Body)
			}
			d = ok(s.apps.Diff(t.Context(), app.ID, v(1), vitrine.Latest))(t)
			if string(d.Patch) != `[{"op":"test","path":"/apps/0/version","value":"1"}]` || d.To != v(3) {
				t.Errorf("the diff of equal versions is %s, to %s", d.Patch, d.To)
			}

			first := ok(s.apps.ListHistory(t.Context(), appsvc.ListHistoryRequest{AppID: app.ID, Limit: 3}))(t)
			rest := ok(s.apps.ListHistory(t.Context(),
				appsvc.ListHistoryRequest{AppID: app.ID, Limit: 3, After: first.Next}))(t)
			var told []string
			for _, e := range append(first.Items, rest.Items...) {
				var changes []string
				for _, c := range e.Changes {
					changes = append(changes, c.Op+" "+c.Path)
				}
				told = append(told,
					fmt.Sprintf("%s by %t, from %q, tags %q, changes %q %t", e.Version, e.UpdatedBy == editor.URN &&
						e.UpdatedAt > 0,
						e.RestoredFrom, e.Tags, changes, e.ChangesTruncated))
			}
			changes := `["replace /apps/0/title" "replace /apps/0/elements/0/config/n"] false`
			wantHistory := []string{
				`3 by true, from "", tags [], changes ` + changes, `2 by true, from "0", tags [], changes ` + changes,
				`1 by true, from "", tags ["live"], changes ` + changes,
				`0 by true, from "", tags [], changes [] false`,
			}
			if !slices.Equal(told, wantHistory) || len(first.Items) != 3 || rest.Next != "" {
				t.Errorf("the history is\n%s", strings.Join(told, "\n"))
			}
		}},
	{"a key makes a repeat about the latest answer with the first version, though the app has moved on",
		func(t *testing.T, as func(httpapi.Principal) services) {
			s := as(editor)
			app := newApp(t, s, "x", site)
			tag := appsvc.PutTagRequest{AppID: app.ID, Name: "live", Version: vitrine.Latest, Embed: true,
				IdempotencyKey: "tag"}
			restore := appsvc.RestoreRequest{AppID: app.ID, Version: vitrine.Latest, IdempotencyKey: "restore"}
			firstTag := ok(s.apps.PutTag(t.Context(), tag))(t)
			firstVersion := ok(s.apps.Restore(t.Context(), restore))(t)
			ok(s.apps.Patch(t.Context(), app.ID, bytes.NewReader(retitle(vitrine.NewVersion(1), "y"))))(t)
			again := ok(s.apps.PutTag(t.Context(), tag))(t)
			if again.AppVersion != firstTag.AppVersion || again.App == nil {
				t.Errorf("the repeat is answered %+v, the first was %+v", again, firstTag)
			} else {
				same(t, app, *again.App)
			}
			same(t, firstVersion, ok(s.apps.Restore(t.Context(), restore))(t))
			if latest := ok(s.apps.App(t.Context(), app.ID))(t); latest.Version != vitrine.NewVersion(2) {
				t.Errorf("after the repeats the app is at version %s", latest.Version)
			}
			restore.Version = vitrine.NewVersion(0)
			_, err := s.apps.Restore(t.Context(), restore)
			wantError(t, "another version", err, vitrine.ErrUnprocessable)
			tag.Version = vitrine.NewVersion(0)
			_, err = s.apps.PutTag(t.Context(), tag)
			wantError(t, "another version of the tag", err, vitrine.ErrUnprocessable)
		}},
	{"a tag moves from where it should, or the error says where it is, and its history has every move",
		func(t *testing.T, as func(httpapi.Principal) services) {
			s := as(editor)
			app := newApp(t, s, "x", site)
			ok(s.apps.Patch(t.Context(), app.ID, bytes.NewReader(retitle(vitrine.NewVersion(0), "y"))))(t)
			v0, v1 := vitrine.NewVersion(0), vitrine.NewVersion(1)
			put := func(to vitrine.Version, from appsvc.TagGuard) error {
				_, err := s.apps.PutTag(t.Context(),
					appsvc.PutTagRequest{AppID: app.ID, Name: "live", Version: to, From: from})
				return err
			}
			moved := func(err error, at vitrine.Version) {
				t.Helper()
				e := new(vitrine.Error)
				if !errors.As(err, &e) || e.Kind != vitrine.ErrConflict || e.Code != vitrine.CodeMoved ||
					e.Pointer != "/from" || e.PointsTo != at || e.Version != v1 || e.Reason == "" {
					t.Errorf("the error is %#v, want that the tag points to %q", err, at)
				}
			}
			for name, err := range s.apps.AllTagMoves(t.Context(),
				appsvc.ListTagMovesRequest{AppID: app.ID, Name: "live"}) {
				if !errors.Is(err, vitrine.ErrNotFound) {
					t.Errorf("the history before is %v, %v", name, err)
				}
			}
			moved(put(v0, appsvc.PointsTo(v1)), vitrine.Version{})
			must(t, put(v0, appsvc.NoTag()))
			moved(put(v1, appsvc.NoTag()), v0)
			must(t, put(v1, appsvc.PointsTo(v0)))
			moved(put(v1, appsvc.PointsTo(v0)), v1)
			must(t, put(v0, appsvc.TagGuard{}))
			must(t, s.apps.DeleteTag(t.Context(), appsvc.DeleteTagRequest{AppID: app.ID, Name: "live"}))
			for _, bad := range []vitrine.Version{{}, vitrine.Latest} {
				wantError(t, "a guard that names no version", put(v1, appsvc.PointsTo(bad)), vitrine.ErrInvalid)
			}
			var told []string
			for m, err := range s.apps.AllTagMoves(t.Context(),
				appsvc.ListTagMovesRequest{AppID: app.ID, Name: "live", Limit: 1}) {
				must(t, err)
				told = append(told, fmt.Sprintf("%q to %q, by %t", m.From, m.To, m.By == editor.URN && m.At > 0))
			}
			if want := []string{`"0" to "", by true`, `"1" to "0", by true`, `"0" to "1", by true`,
				`"" to "0", by true`}; !slices.Equal(told, want) {
				t.Errorf("the history is %q", told)
			}
			_, err := s.apps.ListTagMoves(t.Context(),
				appsvc.ListTagMovesRequest{AppID: app.ID, Name: "live", After: "x"})
			wantError(t, "no cursor", err, vitrine.ErrInvalid)
		}},
	{"a check says what a component would break", func(t *testing.T, as func(httpapi.Principal) services) {
		s := as(editor)
		app := newApp(t, s, "x", site)
		in := appsvc.CheckComponentRequest{Name: "@scope/poll ü",
			Manifest: []byte(`{"name": "@scope/poll ü", "version": "2.0.0", "main": "/m.js",
			"configSchema": {"properties": {"question": {"type": "integer"}}, "requierd": []}}`)}
		found := ok(s.apps.CheckComponent(t.Context(), in))(t)
		if found.Apps < 1 || found.Versions < 1 || found.Elements < 1 || len(found.Warnings) != 1 || found.Next != "" {
			t.Errorf("found %+v", found)
		}
		places := 0
		for b, err := range s.apps.AllBrokenElements(t.Context(), in) {
			must(t, err)
			if b.App == app.ID && b.Version == app.Version && b.Element == "0" && len(b.Violations) == 1 &&
				b.Violations[0].Pointer == "/question" && b.Tags != nil {
				places++
			}
		}
		if places != 1 {
			t.Errorf("the app is told of %d times: %+v", places, found.Broken)
		}
	}},
	{"an id that no app has is not found, whatever is in it", func(t *testing.T, as func(httpapi.Principal) services) {
		for _, id := range []string{newApp(t, as(editor), "x", network).ID, "none", "", "..", "a/b", "\x00", "tags"} {
			_, err := as(siteOne).apps.App(t.Context(), id)
			wantError(t, "App", err, vitrine.ErrNotFound)
			_, err = as(siteOne).apps.TaggedApp(t.Context(), id, "live")
			wantError(t, "TaggedApp", err, vitrine.ErrNotFound)
		}
	}},
	{"a patch makes the next version, and one for an older version is a conflict",
		func(t *testing.T, as func(httpapi.Principal) services) {
			s := as(siteOne)
			app := newApp(t, as(editor), "x", site)
			next := ok(s.apps.Patch(t.Context(), app.ID, bytes.NewReader(retitle(vitrine.NewVersion(0), "y"))))(t)
			if next.Version.Number() != 1 || next.UpdatedBy != siteOne.URN || next.Owner != editor.URN ||
				next.CreatedAt != app.CreatedAt {
				t.Errorf("%+v", next)
			}
			same(t, next, ok(s.apps.App(t.Context(), app.ID))(t))
			same(t, app, ok(s.apps.Version(t.Context(), app.ID, vitrine.NewVersion(0)))(t))
			same(t, next,
				ok(s.apps.Patch(t.Context(), app.ID, bytes.NewReader(retitle(vitrine.NewVersion(1), "y"))))(t))
		}},
	{"apps are listed in pages, in the order that is asked for",
		func(t *testing.T, as func(httpapi.Principal) services) {
			s := as(editor)
			var ids []string
			for i := range 5 {
				ids = append(ids, newApp(t, s, fmt.Sprint(i), site).ID)
			}
			ok(as(editor).apps.CreateApp(t.Context(),
				appsvc.CreateAppRequest{Title: "hidden", Groups: []string{network}}))(t)
			var seen []string
			in := appsvc.ListAppsRequest{Sort: appsvc.CreatedAscending, Limit: 2, UsingComponent: "@scope/poll ü"}
			for pages := 1; ; pages++ {
				list, next, err := unpage(as(siteOne).apps.ListApps(t.Context(), in))
				must(t, err)
				for _, app := range list {
					seen = append(seen, app.ID)
				}
				in.After = next
				if next == "" {
					if pages != 3 {
						t.Errorf("%d pages", pages)
					}
					break
				}
			}
			slices.Sort(ids)
			slices.Sort(seen)
			if !slices.Equal(seen, ids) {
				t.Errorf("seen %q of %q", seen, ids)
			}
		}},
	{"versions are listed newest first, from before a version on",
		func(t *testing.T, as func(httpapi.Principal) services) {
			s := as(editor)
			id := newApp(t, s, "x", site).ID
			for v := range 3 {
				ok(s.apps.Patch(t.Context(), id, bytes.NewReader(retitle(vitrine.NewVersion(v), fmt.Sprint(v)))))(t)
			}
			for _, c := range []struct {
				before vitrine.Version
				limit  int
				want   string
				more   bool
			}{{vitrine.Version{}, 0, "[3 2 1 0]", false}, {vitrine.Version{}, 2, "[3 2]", true},
				{vitrine.NewVersion(2), 2, "[1 0]", false}, {vitrine.NewVersion(0), 0, "[]", false}} {
				list, more, err := listed(s.apps.ListVersions(t.Context(),
					appsvc.ListVersionsRequest{AppID: id, Before: c.before, Limit: c.limit}))
				must(t, err)
				numbers := []string{}
				for _, app := range list {
					numbers = append(numbers, app.Version.String())
				}
				if fmt.Sprint(numbers) != c.want || more != c.more {
					t.Errorf("before %s: %v, %t", c.before, numbers, more)
				}
			}
		}},
	{"restoring stores an older version, or the latest, as a new one",
		func(t *testing.T, as func(httpapi.Principal) services) {
			s := as(editor)
			app := newApp(t, s, "x", site)
			ok(s.apps.Patch(t.Context(), app.ID, bytes.NewReader(retitle(vitrine.NewVersion(0), "y"))))(t)
			for i, c := range []struct {
				version vitrine.Version
				title   string
			}{{vitrine.NewVersion(0), "x"}, {vitrine.NewVersion(1), "y"}, {vitrine.Latest, "y"}} {
				restored := ok(s.apps.Restore(t.Context(), appsvc.RestoreRequest{AppID: app.ID, Version: c.version}))(t)
				if restored.Version != vitrine.NewVersion(2+i) || contentOf(t, restored).Title != c.title {
					t.Errorf("%+v: %s", c, restored.AppendJSON(nil))
				}
			}
			_, err := s.apps.Restore(t.Context(), appsvc.RestoreRequest{AppID: app.ID, Version: vitrine.NewVersion(9)})
			wantError(t, "version 9", err, vitrine.ErrNotFound)
			_, err = s.apps.Restore(t.Context(), appsvc.RestoreRequest{AppID: "none", Version: vitrine.NewVersion(0)})
			wantError(t, "no app", err, vitrine.ErrNotFound)
		}},
	{"a tag is put, moved, read with its version, listed and removed",
		func(t *testing.T, as func(httpapi.Principal) services) {
			s := as(editor)
			app := newApp(t, s, "x", site)
			next := ok(s.apps.Patch(t.Context(), app.ID, bytes.NewReader(retitle(vitrine.NewVersion(0), "y"))))(t)
			tag, err := s.apps.PutTag(t.Context(),
				appsvc.PutTagRequest{AppID: app.ID, Name: "live", Version: vitrine.NewVersion(0)})
			must(t, err)
			if tag != (appsvc.Tag{AppID: app.ID, Name: "live", AppVersion: vitrine.NewVersion(0)}) {
				t.Errorf("%+v", tag)
			}
			tag, err = s.apps.PutTag(t.Context(),
				appsvc.PutTagRequest{AppID: app.ID, Name: "live", Version: vitrine.Latest, Embed: true})
			must(t, err)
			if tag.App == nil || tag.AppVersion.Number() != 1 {
				t.Fatalf("%+v", tag)
			}
			same(t, next, *tag.App)
			same(t, next, ok(s.apps.TaggedApp(t.Context(), app.ID, "live"))(t))
			ok(s.apps.PutTag(t.Context(),
				appsvc.PutTagRequest{AppID: app.ID, Name: "a.b-c_", Version: vitrine.NewVersion(0)}))(t)
			page, err := s.apps.ListTags(t.Context(), appsvc.ListTagsRequest{AppID: app.ID, Limit: 1, Embed: true})
			must(t, err)
			if len(page.Items) != 1 || page.Items[0].Name != "a.b-c_" || page.Items[0].App == nil || page.Next == "" {
				t.Errorf("%+v", page)
			}
			page, err = s.apps.ListTags(t.Context(), appsvc.ListTagsRequest{AppID: app.ID, After: page.Next})
			must(t, err)
			if len(page.Items) != 1 || page.Items[0].Name != "live" || page.Items[0].App != nil || page.Next != "" {
				t.Errorf("%+v", page)
			}
			tag, err = s.apps.Tag(t.Context(), appsvc.TagRequest{AppID: app.ID, Name: "live", Embed: true})
			must(t, err)
			if tag.Name != "live" || tag.App == nil {
				t.Errorf("%+v", tag)
			}
			tags, err := s.apps.TagsNamed(t.Context(), "live", []string{"none", app.ID, app.ID})
			must(t, err)
			if len(tags) != 1 || tags[0].AppVersion.Number() != 1 {
				t.Errorf("%+v", tags)
			}
			must(t, s.apps.DeleteTag(t.Context(), appsvc.DeleteTagRequest{AppID: app.ID, Name: "live"}))
			wantError(t, "deleted twice",
				s.apps.DeleteTag(t.Context(), appsvc.DeleteTagRequest{AppID: app.ID, Name: "live"}),
				vitrine.ErrNotFound)
			_, err = s.apps.Tag(t.Context(), appsvc.TagRequest{AppID: app.ID, Name: "live"})
			wantError(t, "a deleted tag", err, vitrine.ErrNotFound)
		}},
	{"the versions of a component are listed newest first, and read as they were given",
		func(t *testing.T, as func(httpapi.Principal) services) {
			s := as(editor)
			for _, version := range []string{"1.0.0", "2.0.0", "1.5.0"} {
				ok(s.apps.CreateComponent(t.Context(),
					appsvc.CreateComponentRequest{
						Manifest: strings.NewReader(strings.NewReplacer("1.0.0", version, "p1",
							"p"+version).Replace(poll))}))(t)
			}
			const name = "@scope/poll ü"
			in := appsvc.ListComponentVersionsRequest{Name: name, Limit: 2}
			page := ok(as(stranger).apps.ListComponentVersions(t.Context(), in))(t)
			if len(page.Items) != 2 || page.Next != "2.0.0" || page.Items[0].Version != "1.5.0" ||
				page.Items[0].ID != "p1.5.0" {
				t.Fatalf("have %d, next %q, the first is %+v", len(page.Items), page.Next, page.Items[0])
			}
			const listed = `{"id":"p1.5.0","name":"@scope/poll ü","version":"1.5.0",` +
				`"main":"https://cdn.example.test/poll.js","description":"Asks"}`
			if have := string(page.Items[0].Manifest); have != listed {
				t.Errorf("listed as %s\nwant %s", have, listed)
			}
			in.After = page.Next
			if rest := ok(s.apps.ListComponentVersions(t.Context(), in))(t); len(rest.Items) != 1 || rest.Next != "" ||
				rest.Items[0].Version != "1.0.0" {
				t.Errorf("the rest is %+v", rest)
			}
			whole := ok(as(stranger).apps.ComponentVersion(t.Context(), name, "2.0.0"))(t)
			const given = `{"name":"@scope/poll ü","version":"2.0.0","id":"p2.0.0","description":"Asks",` +
				`"main":"https://cdn.example.test/poll.js",` +
				`"configSchema":{"type":"object","required":["question"]},"more":[1.10,9007199254740993]}`
			if have := string(whole.Manifest); have != given || whole.ID != "p2.0.0" || whole.Main == "" {
				t.Errorf("have %+v with %s\nwant %s", whole, have, given)
			}
			_, err := s.apps.ComponentVersion(t.Context(), name, "3")
			wantError(t, "a version that is not there", err, vitrine.ErrNotFound)
			_, err = s.apps.ComponentVersion(t.Context(), name, "")
			wantError(t, "no version", err, vitrine.ErrNotFound)
			in.After = "3"
			_, err = s.apps.ListComponentVersions(t.Context(), in)
			wantError(t, "a version to go on after that is not there", err, vitrine.ErrInvalid)
			_, err = s.apps.ListComponentVersions(t.Context(), appsvc.ListComponentVersionsRequest{Name: "none"})
			wantError(t, "versions of a component that is not there", err, vitrine.ErrNotFound)
		}},
	{"components are created by those who may, listed, read and deleted",
		func(t *testing.T, as func(httpapi.Principal) services) {
			s := as(editor)
			c := ok(s.apps.CreateComponent(t.Context(),
				appsvc.CreateComponentRequest{Manifest: strings.NewReader(poll)}))(t)
			if c.ID != "p1" || c.Name != "@scope/poll ü" || c.Version != "1.0.0" || *c.Description() != "Asks" {
				t.Errorf("%+v", c)
			}
			if schema, err := c.ConfigSchema(); err != nil ||
				string(schema) != `{"type":"object","required":["question"]}` {
				t.Errorf("%s, %v", schema, err)
			}
			a := ok(s.apps.CreateComponent(t.Context(),
				appsvc.CreateComponentRequest{
					Manifest: strings.NewReader(`{"name":"a","version":"1","main":"/a.js",` +
						`"configSchema":{"nullable":true}}`)}))(t)
			if len(a.Warnings) != 1 || a.Warnings[0].Pointer != "/nullable" {
				t.Errorf("the warnings %v", a.Warnings)
			}
			for same, manifest := range map[bool]string{true: poll, false: strings.Replace(poll, "Asks", "asks", 1)} {
				_, err := s.apps.CreateComponent(t.Context(),
					appsvc.CreateComponentRequest{Manifest: strings.NewReader(manifest)})
				e, there := errors.AsType[*vitrine.Error](err)
				if !there || e.Code != vitrine.CodeExists || e.Pointer != "/version" || e.Same == nil ||
					*e.Same != same {
					t.Errorf("a component that exists, the same %v: %#v", same, err)
				}
			}
			list, more, err := listed(as(stranger).apps.ListComponents(t.Context(), appsvc.ListComponentsRequest{}))
			must(t, err)
			if len(list) != 2 || more || list[0].Name != c.Name || list[0].ID != "p1" || list[1].Name != "a" {
				t.Errorf("%+v", list)
			}
			if list, _, err := listed(s.apps.ListComponents(t.Context(),
				appsvc.ListComponentsRequest{After: c.Name})); err != nil || len(list) != 1 {
				t.Errorf("%+v, %v", list, err)
			}
			read := ok(as(stranger).apps.Component(t.Context(), c.Name))(t)
			if read.Version != "1.0.0" || read.Main != c.Main || *read.Description() != "Asks" {
				t.Errorf("%+v", read)
			}
			must(t, s.apps.DeleteComponent(t.Context(), appsvc.DeleteComponentRequest{Name: c.Name}))
			wantError(t, "deleted twice",
				s.apps.DeleteComponent(t.Context(), appsvc.DeleteComponentRequest{Name: c.Name}), vitrine.ErrNotFound)
			_, err = s.apps.Component(t.Context(), c.Name)
			wantError(t, "a deleted component", err, vitrine.ErrNotFound)
			_, err = s.apps.Component(t.Context(), "")
			wantError(t, "no name", err, vitrine.ErrNotFound)
		}},
}

func contentOf(t *testing.T, app appsvc.App) appsvc.Content {
	t.Helper()
	return ok(app.Body.Content())(t)
}

// unpage takes a page apart.
func unpage[T any](p vitrine.Page[T], err error) (items []T, next string, _ error) {
	return p.Items, p.Next, err
}

// listed takes a page apart, and reports whether another one follows.
func listed[T any](p vitrine.Page[T], err error) (items []T, more bool, _ error) {
	return p.Items, p.Next != "", err
}
