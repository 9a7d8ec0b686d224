package client_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

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
		ok(s.apps.CreateComponent(t.Context(), []byte(poll), ""))(t)
	}
	return ok(s.apps.CreateApp(t.Context(), appsvc.NewApp{Title: title, Groups: groups, Elements: []appsvc.NewElement{
		{Component: appsvc.ComponentRef{Name: "@scope/poll ü", Version: "1.0.0"}, Config: []byte(`{"question": "Tea?", "n": 1.10, "big": 9007199254740993}`)}}}))(t)
}

func retitle(version appsvc.Version, title string) []byte {
	return fmt.Appendf(nil, `[{"op":"test","path":"/apps/0/version","value":"%s"},{"op":"replace","path":"/apps/0/title","value":%q}]`, version, title)
}

// same fails the test unless two apps are answered alike.
func same(t *testing.T, a, b appsvc.App) {
	t.Helper()
	if x, y := string(a.AppendJSON(nil)), string(b.AppendJSON(nil)); x != y || a.Owner != b.Owner {
		t.Errorf("these are not the same:\n%s\n%s", x, y)
	}
}

var appBehaviours = []behaviour{
	{"a new app is version 0, owned by its maker, and read as it was made", func(t *testing.T, as func(httpapi.Principal) services) {
		s := as(editor)
		app := newApp(t, s, "Tea \u2028 <b>&", site)
		if app.ID == "" || app.Version != 0 || app.Owner != editor.URN || app.UpdatedBy != editor.URN || app.CreatedAt == 0 || app.CreatedAt != app.UpdatedAt {
			t.Errorf("%+v", app.Meta)
		}
		c := contentOf(t, app)
		if c.Title != "Tea \u2028 <b>&" || !slices.Equal(c.Groups, []string{site}) || len(c.Elements) != 1 || c.Elements[0].ID != "0" {
			t.Errorf("%+v", c)
		}
		if got := string(c.Elements[0].Config); got != `{"question":"Tea?","n":1.10,"big":9007199254740993}` {
			t.Errorf("the config is %s", got)
		}
		if got := string(c.Elements[0].Component); !strings.Contains(got, `"more":[1.10,9007199254740993]`) {
			t.Errorf("the manifest is %s", got)
		}
		same(t, app, ok(s.apps.App(t.Context(), app.ID))(t))
		same(t, app, ok(s.apps.Version(t.Context(), app.ID, 0))(t))
		same(t, app, ok(s.apps.Version(t.Context(), app.ID, appsvc.Latest))(t))
	}},
	{"an app that breaks a rule is refused by the kind of its fault", func(t *testing.T, as func(httpapi.Principal) services) {
		s := as(siteOne)
		element := func(name, config string) []appsvc.NewElement {
			return []appsvc.NewElement{{Component: appsvc.ComponentRef{Name: name, Version: "1.0.0"}, Config: []byte(config)}}
		}
		newApp(t, as(editor), "x", site)
		for _, c := range []struct {
			in   appsvc.NewApp
			kind error
		}{
			{appsvc.NewApp{Groups: []string{site}}, appsvc.ErrInvalid},
			{appsvc.NewApp{Title: "x"}, appsvc.ErrInvalid},
			{appsvc.NewApp{Title: "x", Groups: []string{"no URN"}}, appsvc.ErrInvalid},
			{appsvc.NewApp{Title: "\xff", Groups: []string{site}}, appsvc.ErrInvalid},
			{appsvc.NewApp{Title: strings.Repeat("x", 1025), Groups: []string{site}}, appsvc.ErrInvalid},
			{appsvc.NewApp{Title: "x", Groups: []string{site, network}}, appsvc.ErrForbidden},
			{appsvc.NewApp{Title: "x", Groups: []string{site}, Elements: element("none", `{}`)}, appsvc.ErrUnprocessable},
			{appsvc.NewApp{Title: "x", Groups: []string{site}, Elements: element("@scope/poll ü", `{}`)}, appsvc.ErrUnprocessable},
			{appsvc.NewApp{Title: "x", Groups: []string{site}, Elements: element("@scope/poll ü", `[]`)}, appsvc.ErrInvalid},
			{appsvc.NewApp{Title: "x", Groups: []string{site}, Elements: element("@scope/poll ü", ``)}, appsvc.ErrInvalid},
			{appsvc.NewApp{Title: "x", Groups: []string{site}, IdempotencyKey: "\x01"}, appsvc.ErrInvalid},
		} {
			_, err := s.apps.CreateApp(t.Context(), c.in)
			wantError(t, fmt.Sprintf("%+v", c.in), err, c.kind)
		}
	}},
	{"a key makes a repeat answer with the first app, and another request with it is refused", func(t *testing.T, as func(httpapi.Principal) services) {
		s := as(editor)
		in := appsvc.NewApp{Title: "x", Groups: []string{site}, IdempotencyKey: "k"}
		first := ok(s.apps.CreateApp(t.Context(), in))(t)
		_, err := s.apps.Patch(t.Context(), first.ID, retitle(0, "y"))
		must(t, err)
		same(t, first, ok(s.apps.CreateApp(t.Context(), in))(t))
		in.Title = "z"
		_, err = s.apps.CreateApp(t.Context(), in)
		wantError(t, "another title", err, appsvc.ErrUnprocessable)
	}},
	{"an app that is hidden reads like one that is not there", func(t *testing.T, as func(httpapi.Principal) services) {
		id := newApp(t, as(editor), "x", network).ID
		for _, id := range []string{id, "none", "", "..", "a/b", "\x00", "tags"} {
			s := as(siteOne)
			_, err := s.apps.App(t.Context(), id)
			wantError(t, "App", err, appsvc.ErrNotFound)
			_, err = s.apps.Version(t.Context(), id, 0)
			wantError(t, "Version", err, appsvc.ErrNotFound)
			_, _, err = s.apps.Versions(t.Context(), appsvc.ListVersions{AppID: id, Before: appsvc.Latest})
			wantError(t, "Versions", err, appsvc.ErrNotFound)
			_, err = s.apps.Patch(t.Context(), id, retitle(0, "y"))
			wantError(t, "Patch", err, appsvc.ErrNotFound)
			_, err = s.apps.Tags(t.Context(), appsvc.ListTags{AppID: id})
			wantError(t, "Tags", err, appsvc.ErrNotFound)
			_, err = s.apps.PutTag(t.Context(), appsvc.PutTag{AppID: id, Name: "live"})
			wantError(t, "PutTag", err, appsvc.ErrNotFound)
			_, err = s.apps.TaggedApp(t.Context(), id, "live")
			wantError(t, "TaggedApp", err, appsvc.ErrNotFound)
			wantError(t, "DeleteTag", s.apps.DeleteTag(t.Context(), id, "live", ""), appsvc.ErrNotFound)
		}
	}},
	{"a patch makes the next version, and one for an older version is a conflict", func(t *testing.T, as func(httpapi.Principal) services) {
		s := as(siteOne)
		app := newApp(t, as(editor), "x", site)
		next := ok(s.apps.Patch(t.Context(), app.ID, retitle(0, "y")))(t)
		if next.Version != 1 || next.UpdatedBy != siteOne.URN || next.Owner != editor.URN || next.CreatedAt != app.CreatedAt {
			t.Errorf("%+v", next.Meta)
		}
		same(t, next, ok(s.apps.App(t.Context(), app.ID))(t))
		same(t, app, ok(s.apps.Version(t.Context(), app.ID, 0))(t))
		for _, c := range []struct {
			patch string
			kind  error
		}{
			{string(retitle(0, "z")), appsvc.ErrConflict},
			{`[]`, appsvc.ErrInvalid}, {``, appsvc.ErrInvalid}, {`null`, appsvc.ErrInvalid}, {`[{]`, appsvc.ErrInvalid},
			{`[{"op":"test","path":"/apps/0/version","value":"1"},{"op":"remove","path":"/apps/0/id"}]`, appsvc.ErrUnprocessable},
			{`[{"op":"test","path":"/apps/0/version","value":"1"},{"op":"add","path":"/apps/0/groups/-","value":"` + network + `"}]`, appsvc.ErrForbidden},
			{string(retitle(1, strings.Repeat("x", 1<<20))), appsvc.ErrTooLarge},
		} {
			_, err := s.apps.Patch(t.Context(), app.ID, []byte(c.patch))
			wantError(t, c.patch[:min(len(c.patch), 100)], err, c.kind)
		}
		same(t, next, ok(s.apps.Patch(t.Context(), app.ID, retitle(1, "y")))(t))
	}},
	{"apps are listed in pages, in the order that is asked for", func(t *testing.T, as func(httpapi.Principal) services) {
		s := as(editor)
		var ids []string
		for i := range 5 {
			ids = append(ids, newApp(t, s, fmt.Sprint(i), site).ID)
		}
		ok(as(editor).apps.CreateApp(t.Context(), appsvc.NewApp{Title: "hidden", Groups: []string{network}}))(t)
		var seen []string
		in := appsvc.ListApps{Sort: appsvc.CreatedAscending, Limit: 2, UsingComponent: "@scope/poll ü"}
		for pages := 1; ; pages++ {
			list, next, err := as(siteOne).apps.Apps(t.Context(), in)
			must(t, err)
			for _, app := range list {
				seen = append(seen, app.ID)
			}
			if in.After = next; next == "" {
				if pages != 3 {
					t.Errorf("%d pages", pages)
				}
				break
			}
		}
		slices.Sort(ids)
		if slices.Sort(seen); !slices.Equal(seen, ids) {
			t.Errorf("seen %q of %q", seen, ids)
		}
		for _, in := range []appsvc.ListApps{{Sort: "title"}, {Limit: 501}, {Limit: -1}, {After: "x"}} {
			_, _, err := s.apps.Apps(t.Context(), in)
			wantError(t, fmt.Sprint(in), err, appsvc.ErrInvalid)
		}
	}},
	{"versions are listed newest first, from before a version on", func(t *testing.T, as func(httpapi.Principal) services) {
		s := as(editor)
		id := newApp(t, s, "x", site).ID
		for v := range appsvc.Version(3) {
			ok(s.apps.Patch(t.Context(), id, retitle(v, fmt.Sprint(v))))(t)
		}
		for _, c := range []struct {
			before appsvc.Version
			limit  int
			want   string
			more   bool
		}{{appsvc.Latest, 0, "[3 2 1 0]", false}, {appsvc.Latest, 2, "[3 2]", true}, {2, 2, "[1 0]", false}, {0, 0, "[]", false}} {
			list, more, err := s.apps.Versions(t.Context(), appsvc.ListVersions{AppID: id, Before: c.before, Limit: c.limit})
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
	{"restoring stores an older version, or the latest, as a new one", func(t *testing.T, as func(httpapi.Principal) services) {
		s := as(editor)
		app := newApp(t, s, "x", site)
		ok(s.apps.Patch(t.Context(), app.ID, retitle(0, "y")))(t)
		for i, c := range []struct {
			version appsvc.Version
			title   string
		}{{0, "x"}, {1, "y"}, {appsvc.Latest, "y"}} {
			restored := ok(s.apps.Restore(t.Context(), appsvc.Restore{AppID: app.ID, Version: c.version}))(t)
			if restored.Version != appsvc.Version(2+i) || contentOf(t, restored).Title != c.title {
				t.Errorf("%+v: %s", c, restored.AppendJSON(nil))
			}
		}
		_, err := s.apps.Restore(t.Context(), appsvc.Restore{AppID: app.ID, Version: 9})
		wantError(t, "version 9", err, appsvc.ErrNotFound)
		_, err = s.apps.Restore(t.Context(), appsvc.Restore{AppID: "none", Version: 0})
		wantError(t, "no app", err, appsvc.ErrNotFound)
	}},
	{"a tag is put, moved, read with its version, listed and removed", func(t *testing.T, as func(httpapi.Principal) services) {
		s := as(editor)
		app := newApp(t, s, "x", site)
		next := ok(s.apps.Patch(t.Context(), app.ID, retitle(0, "y")))(t)
		page, err := s.apps.PutTag(t.Context(), appsvc.PutTag{AppID: app.ID, Name: "live", Version: 0})
		if must(t, err); len(page.Tags) != 1 || page.Tags[0] != (appsvc.Tag{AppID: app.ID, Name: "live"}) || page.Apps != nil {
			t.Errorf("%+v", page)
		}
		page, err = s.apps.PutTag(t.Context(), appsvc.PutTag{AppID: app.ID, Name: "live", Version: appsvc.Latest, Embed: true})
		if must(t, err); len(page.Apps) != 1 || page.Tags[0].AppVersion != 1 {
			t.Errorf("%+v", page)
		}
		same(t, next, page.Apps[0])
		same(t, next, ok(s.apps.TaggedApp(t.Context(), app.ID, "live"))(t))
		ok(s.apps.PutTag(t.Context(), appsvc.PutTag{AppID: app.ID, Name: "a.b-c_"}))(t)
		page, err = s.apps.Tags(t.Context(), appsvc.ListTags{AppID: app.ID, Limit: 1, Embed: true})
		if must(t, err); len(page.Tags) != 1 || page.Tags[0].Name != "a.b-c_" || len(page.Apps) != 1 || !page.More {
			t.Errorf("%+v", page)
		}
		page, err = s.apps.Tags(t.Context(), appsvc.ListTags{AppID: app.ID, After: "a.b-c_"})
		if must(t, err); len(page.Tags) != 1 || page.Tags[0].Name != "live" || page.Apps != nil || page.More {
			t.Errorf("%+v", page)
		}
		page, err = s.apps.Tag(t.Context(), app.ID, "live", true)
		if must(t, err); len(page.Tags) != 1 || len(page.Apps) != 1 {
			t.Errorf("%+v", page)
		}
		tags, err := s.apps.TagsNamed(t.Context(), "live", []string{"none", app.ID, app.ID})
		if must(t, err); len(tags) != 1 || tags[0].AppVersion != 1 {
			t.Errorf("%+v", tags)
		}
		must(t, s.apps.DeleteTag(t.Context(), app.ID, "live", ""))
		wantError(t, "deleted twice", s.apps.DeleteTag(t.Context(), app.ID, "live", ""), appsvc.ErrNotFound)
		_, err = s.apps.Tag(t.Context(), app.ID, "live", false)
		wantError(t, "a deleted tag", err, appsvc.ErrNotFound)
		for _, name := range []string{"", "-x", "ü", "a/b", strings.Repeat("x", 129)} {
			_, err := s.apps.PutTag(t.Context(), appsvc.PutTag{AppID: app.ID, Name: name})
			wantError(t, name, err, appsvc.ErrInvalid)
			_, err = s.apps.Tag(t.Context(), app.ID, name, false)
			wantError(t, name, err, appsvc.ErrNotFound)
		}
		_, err = s.apps.TagsNamed(t.Context(), "live", nil)
		wantError(t, "no apps", err, appsvc.ErrInvalid)
	}},
	{"a key makes a repeated removal of a tag succeed", func(t *testing.T, as func(httpapi.Principal) services) {
		s := as(editor)
		app := newApp(t, s, "x", site)
		ok(s.apps.PutTag(t.Context(), appsvc.PutTag{AppID: app.ID, Name: "live"}))(t)
		for range 2 {
			must(t, s.apps.DeleteTag(t.Context(), app.ID, "live", "k"))
		}
	}},
	{"components are created by those who may, listed, read and deleted", func(t *testing.T, as func(httpapi.Principal) services) {
		s := as(editor)
		c := ok(s.apps.CreateComponent(t.Context(), []byte(poll), ""))(t)
		if c.ID != "p1" || c.Name != "@scope/poll ü" || c.Version != "1.0.0" || *c.Description() != "Asks" {
			t.Errorf("%+v", c)
		}
		if schema, err := c.ConfigSchema(); err != nil || string(schema) != `{"type":"object","required":["question"]}` {
			t.Errorf("%s, %v", schema, err)
		}
		ok(s.apps.CreateComponent(t.Context(), []byte(`{"name":"a","version":"1","main":"/a.js","configSchema":{}}`), ""))(t)
		list, more, err := as(stranger).apps.Components(t.Context(), "")
		if must(t, err); len(list) != 2 || more || list[0].Name != c.Name || list[0].ID != "p1" || list[1].Name != "a" {
			t.Errorf("%+v", list)
		}
		if list, _, err := s.apps.Components(t.Context(), c.Name); err != nil || len(list) != 1 {
			t.Errorf("%+v, %v", list, err)
		}
		read := ok(as(stranger).apps.Component(t.Context(), c.Name))(t)
		if read.Version != "1.0.0" || read.Main != c.Main || *read.Description() != "Asks" {
			t.Errorf("%+v", read)
		}
		for _, manifest := range []string{poll, `{}`, ``, `{"name":1}`} {
			_, err := s.apps.CreateComponent(t.Context(), []byte(manifest), "")
			wantError(t, manifest, err, appsvc.ErrInvalid)
		}
		_, err = as(siteOne).apps.CreateComponent(t.Context(), []byte(poll), "")
		wantError(t, "not a selected user", err, appsvc.ErrForbidden)
		wantError(t, "not a selected user", as(siteOne).apps.DeleteComponent(t.Context(), c.Name, ""), appsvc.ErrForbidden)
		must(t, s.apps.DeleteComponent(t.Context(), c.Name, ""))
		wantError(t, "deleted twice", s.apps.DeleteComponent(t.Context(), c.Name, ""), appsvc.ErrNotFound)
		_, err = s.apps.Component(t.Context(), c.Name)
		wantError(t, "a deleted component", err, appsvc.ErrNotFound)
		_, err = s.apps.Component(t.Context(), "")
		wantError(t, "no name", err, appsvc.ErrNotFound)
	}},
}

func contentOf(t *testing.T, app appsvc.App) appsvc.Content {
	t.Helper()
	return ok(app.Body.Content())(t)
}
