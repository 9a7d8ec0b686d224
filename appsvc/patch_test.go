package appsvc_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage"
)

const (
	site1 = "urn:vitrine:example.test:site=1"
	site2 = "urn:vitrine:example.test:site=2"
)

var editor = vitrine.Caller{
	URN:        "urn:vitrine:example.test:user=editor",
	Moderates:  []string{site1},
	Components: true,
}

// workshop is a service with a clock of its own and two components: text takes a config with an
// optional integer size, any takes everything.
type workshop struct {
	*appsvc.Service
	db    storage.Store
	t     *testing.T
	clock time.Time
}

func newWorkshop(t *testing.T) *workshop { return newLimitedWorkshop(t, appsvc.Limits{}) }

func newLimitedWorkshop(t *testing.T, limits appsvc.Limits) *workshop {
	w := bench(t, limits)
	w.component(`{"name":"text","version":"1.0.0","main":"https://example.test/text.js","vendor":{"a":1.10},
		"configSchema":{"type":"object","properties":{"size":{"type":"integer"}}}}`)
	w.component(`{"name":"text","version":"2.0.0","main":"https://example.test/text2.js",
		"configSchema":{"type":"object","properties":{"size":{"type":"string"}}}}`)
	w.component(`{"name":"any","version":"1","main":"/any.js","configSchema":{}}`)
	return w
}

func (w *workshop) component(manifest string) {
	w.t.Helper()
	if _, err := w.As(editor).CreateComponent(context.Background(),
		appsvc.CreateComponentRequest{Manifest: strings.NewReader(manifest)}); err != nil {
		w.t.Fatal(err)
	}
}

// app creates an app of two elements, text with size 1 and any with a nested config.
func (w *workshop) app() appsvc.App {
	w.t.Helper()
	app, err := w.As(editor).CreateApp(context.Background(), appsvc.CreateAppRequest{
		Title:  "First",
		Groups: []string{site1},
		Elements: []appsvc.NewElement{
			{Component: appsvc.ComponentRef{Name: "text", Version: "1.0.0"}, Config: json.RawMessage(`{"size":1}`)},
			{Component: appsvc.ComponentRef{Name: "any", Version: "1"},
				Config: json.RawMessage(`{"n":1.10,"big":9007199254740993,"list":["a","b"]}`)},
		},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return app
}

const testV0 = `{"op":"test","path":"/apps/0/version","value":"0"}`

func TestPatch(t *testing.T) {
	op := func(text string) string { return "[" + testV0 + "," + text + "]" }
	element := `{"component":{"name":"text","version":"1.0.0"},"config":{"size":7}}`
	tests := []struct {
		name, patch string
		err         error
		says        string   // part of the error's sentence
		want        []string // parts of the new body
		same        bool     // it makes no version
	}{
		{name: "the title", patch: op(`{"op":"replace","path":"/apps/0/title","value":"Second"}`),
			want: []string{`"title":"Second"`, `"size":1`}},
		{name: "a config", patch: op(`{"op":"replace","path":"/apps/0/elements/0/config","value":{"size":2}}`),
			want: []string{`"config":{"size":2}`}},
		{name: "inside a config", patch: op(`{"op":"add","path":"/apps/0/elements/1/config/list/-","value":"c"}`),
			want: []string{`{"n":1.10,"big":9007199254740993,"list":["a","b","c"]}`}},
		{name: "the text of a number", patch: op(`{"op":"replace","path":"/apps/0/elements/1/config/n","value":1.1}`),
			want: []string{`"n":1.1,`}},
		{name: "a component's version",
			patch: op(`{"op":"replace","path":"/apps/0/elements/0/component/version","value":"2.0.0"},` +
				`{"op":"replace","path":"/apps/0/elements/0/config","value":{"size":"L"}}`),
			want: []string{`text2.js`, `"size":"L"`}},
		{name: "a component by name and version",
			patch: op(`{"op":"replace","path":"/apps/0/elements/0/component/name","value":"any"},{"op":"replace",` +
				`"path":"/apps/0/elements/0/component/version","value":"1"}`),
			want: []string{`"id":"0","key":"0.0","component":{"name":"any"`}},
		{name: "a new element", patch: op(`{"op":"add","path":"/apps/0/elements/0","value":` + element + `}`),
			want: []string{`[{"id":"0","key":"1.0","component":{"name":"text"`, `"size":7`,
				`{"id":"1","key":"0.0","component":{"name":"text"`, `"id":"2"`}},
		{name: "an element removed", patch: op(`{"op":"remove","path":"/apps/0/elements/0"}`),
			want: []string{`"elements":[{"id":"0","key":"0.1","component":{"name":"any"`}},
		{name: "all elements removed", patch: op(`{"op":"replace","path":"/apps/0/elements","value":[]}`),
			want: []string{`"elements":[]`}},
		{name: "elements exchanged", patch: op(`{"op":"move","from":"/apps/0/elements/1","path":"/apps/0/elements/0"}`),
			want: []string{`[{"id":"0","key":"0.1","component":{"name":"any"`,
				`{"id":"1","key":"0.0","component":{"name":"text"`}},
		{name: "an element copied",
			patch: op(`{"op":"copy","from":"/apps/0/elements/0","path":"/apps/0/elements/-"},{"op":"replace",` +
				`"path":"/apps/0/elements/2/config/size","value":5}`),
			want: []string{`"size":1`, `{"id":"2","key":"1.2","component":{"name":"text"`, `"size":5`}},
		{name: "an element without its key",
			patch: op(`{"op":"remove","path":"/apps/0/elements/0/key"},{"op":"replace",` +
				`"path":"/apps/0/elements/0/config/size","value":5}`),
			want: []string{`[{"id":"0","key":"0.0"`, `"size":5`}},
		{name: "an element replaced by a new one",
			patch: op(`{"op":"replace","path":"/apps/0/elements/1","value":` + element + `}`),
			want:  []string{`"size":7`}},
		{name: "the version test at the end",
			patch: `[{"op":"replace","path":"/apps/0/title","value":"Second"},` + testV0 + `]`,
			want:  []string{`"title":"Second"`}},
		{name: "title and elements at once",
			patch: op(`{"op":"replace","path":"/apps/0/title","value":"S"},{"op":"remove",` +
				`"path":"/apps/0/elements/1"}`), want: []string{`"title":"S"`}},

		{name: "nothing but the test", patch: `[` + testV0 + `]`, same: true},
		{name: "the same title", patch: op(`{"op":"replace","path":"/apps/0/title","value":"First"}`), same: true},
		{name: "the same config, reordered",
			patch: op(`{"op":"replace","path":"/apps/0/elements/1/config","value":{"list":["a","b"],` +
				`"big":9007199254740993,"n":1.10}}`), same: true},
		{name: "elements moved there and back",
			patch: op(`{"op":"move","from":"/apps/0/elements/1","path":"/apps/0/elements/0"},{"op":"move",` +
				`"from":"/apps/0/elements/1","path":"/apps/0/elements/0"}`), same: true},

		{name: "no version test", patch: `[{"op":"replace","path":"/apps/0/title","value":"x"}]`,
			err: vitrine.ErrInvalid, says: "/apps/0/version"},
		{name: "an empty patch", patch: `[]`, err: vitrine.ErrInvalid},
		{name: "a version test of null", patch: `[{"op":"test","path":"/apps/0/version","value":null}]`,
			err: vitrine.ErrInvalid},
		{name: "a version test of a number", patch: `[{"op":"test","path":"/apps/0/version","value":0}]`,
			err: vitrine.ErrInvalid},
		{name: "a version test without value", patch: `[{"op":"test","path":"/apps/0/version"}]`,
			err: vitrine.ErrInvalid},
		{name: "a version test by another path", patch: `[{"op":"test","path":"/apps/00/version","value":"0"}]`,
			err: vitrine.ErrInvalid},
		{name: "a stale version", patch: `[{"op":"test","path":"/apps/0/version","value":"7"}]`,
			err: vitrine.ErrConflict, says: `"7"`},
		{name: "two version tests, one stale", patch: op(`{"op":"test","path":"/apps/0/version","value":"1"}`),
			err: vitrine.ErrConflict},
		{name: "replace, then test",
			patch: `[{"op":"replace","path":"/apps/0/version","value":"9"},{"op":"test","path":"/apps/0/version",` +
				`"value":"9"}]`, err: vitrine.ErrConflict},
		{name: "a shadow app",
			patch: `[{"op":"add","path":"/apps/0","value":{"version":"9"}},{"op":"test","path":"/apps/0/version",` +
				`"value":"9"}]`, err: vitrine.ErrConflict},
		{name: "another test fails",
			patch: op(`{"op":"test","path":"/apps/0/title","value":"x"},{"op":"replace","path":"/apps/0/title",` +
				`"value":"y"}`), err: vitrine.ErrConflict},
		{name: "a second app", patch: op(`{"op":"copy","from":"/apps/0","path":"/apps/-"}`),
			err: vitrine.ErrUnprocessable, says: "/apps"},
		{name: "no app left", patch: op(`{"op":"remove","path":"/apps/0"}`), err: vitrine.ErrUnprocessable},
		{name: "a member beside apps", patch: op(`{"op":"add","path":"/x","value":1}`), err: vitrine.ErrUnprocessable},
		{name: "a member of the app", patch: op(`{"op":"add","path":"/apps/0/x","value":1}`),
			err: vitrine.ErrUnprocessable, says: "/apps/0/x"},
		{name: "an index that is not canonical",
			patch: op(`{"op":"replace","path":"/apps/0/elements/00/config","value":{}}`),
			err:   vitrine.ErrUnprocessable},
		{name: "index -1", patch: op(`{"op":"replace","path":"/apps/-1/title","value":"x"}`),
			err: vitrine.ErrUnprocessable},
		{name: "an operation that does not apply", patch: op(`{"op":"remove","path":"/apps/0/elements/9"}`),
			err: vitrine.ErrUnprocessable, says: "/apps/0/elements/9"},
		{name: "a config against its schema",
			patch: op(`{"op":"replace","path":"/apps/0/elements/0/config","value":{"size":"L"}}`),
			err:   vitrine.ErrUnprocessable, says: "/apps/0/elements/0/config: does not conform to"},
		{name: "a config against its schema says where",
			patch: op(`{"op":"replace","path":"/apps/0/elements/0/config","value":{"size":"L"}}`),
			err:   vitrine.ErrUnprocessable, says: "/size"},
		{name: "a new component with the old config",
			patch: op(`{"op":"replace","path":"/apps/0/elements/0/component/version","value":"2.0.0"}`),
			err:   vitrine.ErrUnprocessable, says: "/size"},
		{name: "an unknown component version",
			patch: op(`{"op":"replace","path":"/apps/0/elements/0/component/version","value":"3"}`),
			err:   vitrine.ErrUnprocessable,
			says: `/apps/0/elements/0/component: ` +
				`there is no component "text" version "3": the latest are 1.0.0, 2.0.0`},
		{name: "a config that is no object",
			patch: op(`{"op":"replace","path":"/apps/0/elements/1/config","value":[1]}`), err: vitrine.ErrUnprocessable,
			says: "elements/1/config"},
		{name: "a config of null", patch: op(`{"op":"replace","path":"/apps/0/elements/1/config","value":null}`),
			err: vitrine.ErrUnprocessable},
		{name: "no config", patch: op(`{"op":"remove","path":"/apps/0/elements/1/config"}`),
			err: vitrine.ErrUnprocessable, says: "/apps/0/elements/1/config"},
		{name: "no component", patch: op(`{"op":"remove","path":"/apps/0/elements/1/component"}`),
			err: vitrine.ErrUnprocessable},
		{name: "no id, the rest kept", patch: op(`{"op":"remove","path":"/apps/0/elements/1/id"}`),
			err: vitrine.ErrUnprocessable},
		{name: "main", patch: op(`{"op":"replace","path":"/apps/0/elements/1/component/main","value":"evil.js"}`),
			err: vitrine.ErrUnprocessable, says: "/component/main"},
		{name: "main removed", patch: op(`{"op":"remove","path":"/apps/0/elements/1/component/main"}`),
			err: vitrine.ErrUnprocessable, says: "/component/main"},
		{name: "main with another version",
			patch: op(`{"op":"replace","path":"/apps/0/elements/0/component/version","value":"2.0.0"},` +
				`{"op":"replace","path":"/apps/0/elements/0/config","value":{}},{"op":"replace",` +
				`"path":"/apps/0/elements/0/component/main","value":"https://example.test/text2.js"}`),
			err: vitrine.ErrUnprocessable, says: "/component/main"},
		{name: "configSchema",
			patch: op(`{"op":"replace","path":"/apps/0/elements/0/component/configSchema","value":{}}`),
			err:   vitrine.ErrUnprocessable},
		{name: "an open member of the manifest",
			patch: op(`{"op":"replace","path":"/apps/0/elements/0/component/vendor/a","value":1.1}`),
			err:   vitrine.ErrUnprocessable, says: "vendor"},
		{name: "a member more in a component",
			patch: op(`{"op":"add","path":"/apps/0/elements/1/component/x","value":1}`), err: vitrine.ErrUnprocessable},
		{name: "a member more in an element", patch: op(`{"op":"add","path":"/apps/0/elements/1/x","value":1}`),
			err: vitrine.ErrUnprocessable},
		{name: "an element's id changed", patch: op(`{"op":"replace","path":"/apps/0/elements/1/id","value":"0"}`),
			err: vitrine.ErrUnprocessable},
		{name: "an element's id unknown", patch: op(`{"op":"replace","path":"/apps/0/elements/1/id","value":"2"}`),
			err: vitrine.ErrUnprocessable, says: `"2"`},
		{name: "an element's id a number", patch: op(`{"op":"replace","path":"/apps/0/elements/1/id","value":1}`),
			err: vitrine.ErrUnprocessable},
		{name: "a new element with an id",
			patch: op(`{"op":"add","path":"/apps/0/elements/-","value":{"id":"2","component":{"name":"any",` +
				`"version":"1"},"config":{}}}`), err: vitrine.ErrUnprocessable},
		{name: "an element with another key",
			patch: op(`{"op":"replace","path":"/apps/0/elements/0/key","value":"0.1"}`), err: vitrine.ErrUnprocessable},
		{name: "a key that is no string", patch: op(`{"op":"replace","path":"/apps/0/elements/0/key","value":0}`),
			err: vitrine.ErrUnprocessable},
		{name: "a new element with a key",
			patch: op(`{"op":"add","path":"/apps/0/elements/-","value":{"key":"1.2","component":{"name":"any",` +
				`"version":"1"},"config":{}}}`), err: vitrine.ErrUnprocessable},
		{name: "a new element with main",
			patch: op(`{"op":"add","path":"/apps/0/elements/-","value":{"component":{"name":"any","version":"1",` +
				`"main":"/any.js"},"config":{}}}`), err: vitrine.ErrUnprocessable},
		{name: "a component version that is no text",
			patch: op(`{"op":"replace","path":"/apps/0/elements/0/component/version","value":1}`),
			err:   vitrine.ErrUnprocessable,
			says:  "/apps/0/elements/0/component/version: want a string, have a number"},
		{name: "a new element with a main",
			patch: op(`{"op":"add","path":"/apps/0/elements/-","value":{"component":{"name":"any","version":"1",` +
				`"main":"/m.js"},"config":{}}}`), err: vitrine.ErrUnprocessable,
			says: "/apps/0/elements/2/component/main: unknown member"},
		{name: "a new element that is no object", patch: op(`{"op":"add","path":"/apps/0/elements/-","value":null}`),
			err: vitrine.ErrUnprocessable, says: "/apps/0/elements/2"},
		{name: "elements no array", patch: op(`{"op":"replace","path":"/apps/0/elements","value":{}}`),
			err: vitrine.ErrUnprocessable, says: "/apps/0/elements"},
		{name: "elements null", patch: op(`{"op":"replace","path":"/apps/0/elements","value":null}`),
			err: vitrine.ErrUnprocessable},
		{name: "elements removed", patch: op(`{"op":"remove","path":"/apps/0/elements"}`),
			err: vitrine.ErrUnprocessable},
		{name: "a title too long",
			patch: op(`{"op":"replace","path":"/apps/0/title","value":"` + strings.Repeat("é", 1025) + `"}`),
			err:   vitrine.ErrUnprocessable, says: "title"},
		{name: "a title at the limit",
			patch: op(`{"op":"replace","path":"/apps/0/title","value":"` + strings.Repeat("é", 1024) + `"}`)},
		{name: "an empty title", patch: op(`{"op":"replace","path":"/apps/0/title","value":""}`),
			err: vitrine.ErrUnprocessable, says: "title"},
		{name: "a title of null", patch: op(`{"op":"replace","path":"/apps/0/title","value":null}`),
			err: vitrine.ErrUnprocessable},
		{name: "a title of a number", patch: op(`{"op":"replace","path":"/apps/0/title","value":1}`),
			err: vitrine.ErrUnprocessable},
		{name: "no groups", patch: op(`{"op":"replace","path":"/apps/0/groups","value":[]}`),
			err: vitrine.ErrUnprocessable, says: "groups"},
		{name: "a group twice", patch: op(`{"op":"add","path":"/apps/0/groups/-","value":"` + site1 + `"}`),
			err: vitrine.ErrUnprocessable, says: "groups/1"},
		{name: "a malformed group", patch: op(`{"op":"add","path":"/apps/0/groups/-","value":"site 2"}`),
			err: vitrine.ErrUnprocessable, says: "groups/1"},
		{name: "a group that one does not moderate",
			patch: op(`{"op":"add","path":"/apps/0/groups/-","value":"` + site2 + `"}`), err: vitrine.ErrForbidden,
			says: site2},
		{name: "too large a patch",
			patch: op(`{"op":"replace","path":"/apps/0/title","value":"` + strings.Repeat("x", 1<<20) + `"}`),
			err:   vitrine.ErrTooLarge},
		{name: "too many operations", patch: op(strings.Repeat(testV0+",", 999) + testV0), err: vitrine.ErrTooLarge},
		{name: "as many operations as allowed",
			patch: op(strings.Repeat(testV0+",", 997) + `{"op":"replace","path":"/apps/0/title","value":"S"}`),
			want:  []string{`"title":"S"`}},
		{name: "no JSON", patch: `[`, err: vitrine.ErrInvalid},
		{name: "null", patch: `null`, err: vitrine.ErrInvalid},
	}
	for _, path := range []string{"/id", "/version", "/owner", "/owner/urn", "/createdAt", "/updatedAt", "/updatedBy",
		"/updatedBy/urn"} {
		tests = append(tests, struct {
			name, patch string
			err         error
			says        string
			want        []string
			same        bool
		}{name: "read-only " + path, patch: op(`{"op":"replace","path":"/apps/0` + path + `","value":"x"}`),
			err: vitrine.ErrUnprocessable, says: strings.Join(strings.Split(path, "/")[:2], "/")})
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorkshop(t)
			ctx := context.Background()
			before := w.app()
			w.clock = w.clock.Add(time.Second)
			got, err := w.As(editor).Patch(ctx, before.ID, strings.NewReader(tt.patch))
			now, _ := w.As(editor).App(ctx, before.ID)
			if tt.err != nil {
				if !errors.Is(err, tt.err) || !strings.Contains(err.Error(), tt.says) {
					t.Errorf("error = %v, want %v with %q in it", err, tt.err, tt.says)
				}
				if now.Version.Number() != 0 || !bytes.Equal(now.Body, before.Body) {
					t.Errorf("a refused patch left version %s: %s", now.Version, now.Body)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if tt.same {
				if !reflect.DeepEqual(got, before) || !reflect.DeepEqual(now, before) {
					t.Errorf("got version %s, stored %+v", got.Version, now)
				}
				return
			}
			if got.Version.Number() != 1 || got.UpdatedAt != before.UpdatedAt+1000 ||
				got.CreatedAt != before.CreatedAt || !bytes.Equal(now.Body, got.Body) {
				t.Errorf("got %+v, stored %+v", got, now)
			}
			for _, part := range tt.want {
				if !strings.Contains(string(got.Body), part) {
					t.Errorf("no %s in %s", part, got.Body)
				}
			}
			if old, err := w.As(editor).Version(ctx, before.ID, vitrine.NewVersion(0)); err != nil ||
				!bytes.Equal(old.Body, before.Body) {
				t.Errorf("version 0 is now %s, %v", old.Body, err)
			}
		})
	}
}

func TestPatchOfTheWholeDocument(t *testing.T) {
	w := newWorkshop(t)
	app := w.app()
	doc := strings.Replace(fmt.Sprintf(`{"apps":[%s]}`, app.AppendJSON(nil)), `"title":"First"`, `"title":"Second"`, 1)
	got, err := w.As(editor).Patch(context.Background(), app.ID,
		strings.NewReader(`[`+testV0+`,{"op":"replace","path":"","value":`+doc+`}]`))
	if err != nil || !strings.Contains(string(got.Body), `"title":"Second"`) {
		t.Errorf("got %s, %v", got.Body, err)
	}
}

// Patches of the same version by many at once: one of them wins each time.
func TestPatchLosesNoUpdate(t *testing.T) {
	w := newWorkshop(t)
	ctx := context.Background()
	app := w.app()
	done := make(chan int)
	for range 8 {
		go func() {
			won := 0
			for won < 10 {
				now, err := w.As(editor).App(ctx, app.ID)
				if err != nil {
					t.Error(err)
					break
				}
				_, err = w.As(editor).Patch(ctx, app.ID,
					strings.NewReader(fmt.Sprintf(`[{"op":"test","path":"/apps/0/version","value":%q},{"op":"add",`+
						`"path":"/apps/0/elements/1/config/list/-","value":"x"}]`, now.Version)))
				if err == nil {
					won++
				} else if !errors.Is(err, vitrine.ErrConflict) {
					t.Error(err)
					break
				}
			}
			done <- won
		}()
	}
	for range 8 {
		<-done
	}
	now, err := w.As(editor).App(ctx, app.ID)
	if err != nil || now.Version.Number() != 80 || strings.Count(string(now.Body), `"x"`) != 80 {
		t.Errorf("version %s with %d additions, %v", now.Version, strings.Count(string(now.Body), `"x"`), err)
	}
}

// unpage takes a page apart.
func unpage[T any](p vitrine.Page[T], err error) (items []T, next string, _ error) {
	return p.Items, p.Next, err
}

// listed takes a page apart, and reports whether another one follows.
func listed[T any](p vitrine.Page[T], err error) (items []T, more bool, _ error) {
	return p.Items, p.Next != "", err
}

// lateBody is a body that does something when it is read for the first time.
type lateBody struct {
	io.Reader
	read func() error
}

func (b *lateBody) Read(p []byte) (int, error) {
	if b.read != nil {
		read := b.read
		b.read = nil
		if err := read(); err != nil {
			return 0, err
		}
	}
	return b.Reader.Read(p)
}

// The body of a request is read once the caller is known to have the right, and while it is read others write.
func TestBodiesAreReadAfterTheRights(t *testing.T) {
	broken := errors.New("the connection is gone")
	for name, call := range map[string]func(s *appsvc.Session, app string, read func() error) error{
		"Patch": func(s *appsvc.Session, app string, read func() error) error {
			_, err := s.Patch(t.Context(), app, &lateBody{strings.NewReader("[" + testV0 + "]"), read})
			return err
		},
		"PutTag": func(s *appsvc.Session, app string, read func() error) error {
			in := appsvc.PutTagRequest{AppID: app, Name: "live", Fill: func(in *appsvc.PutTagRequest) error {
				in.Version = vitrine.NewVersion(0)
				return read()
			}}
			_, err := s.PutTag(t.Context(), in)
			return err
		},
		"CreateComponent": func(s *appsvc.Session, _ string, read func() error) error {
			manifest := strings.NewReader(`{"name":"late","version":"1","main":"/m.js","configSchema":{}}`)
			in := appsvc.CreateComponentRequest{Manifest: &lateBody{manifest, read}}
			_, err := s.CreateComponent(t.Context(), in)
			return err
		},
		"CheckComponent": func(s *appsvc.Session, _ string, read func() error) error {
			in := appsvc.CheckComponentRequest{Name: "late", Fill: func(in *appsvc.CheckComponentRequest) error {
				in.Manifest = []byte(`{"name":"late","version":"1","main":"/m.js","configSchema":{}}`)
				return read()
			}}
			_, err := s.CheckComponent(t.Context(), in)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorkshop(t)
			app := w.app()
			kind := vitrine.ErrForbidden
			if name == "Patch" || name == "PutTag" {
				kind = vitrine.ErrNotFound
			}
			checkKind(t, call(w.As(stranger), app.ID, func() error { t.Error("it is read"); return nil }), kind)
			if err := call(w.As(editor), app.ID, func() error { return broken }); err != broken {
				t.Errorf("%v, want the error of the reader", err)
			}
			reads := 0
			checkKind(t, call(w.As(editor), app.ID, func() error {
				reads++
				in := appsvc.PutTagRequest{AppID: app.ID, Name: "other", Version: vitrine.NewVersion(0)}
				_, err := w.As(editor).PutTag(t.Context(), in)
				return err
			}), nil)
			if reads != 1 {
				t.Errorf("it is read %d times", reads)
			}
		})
	}
}

// An app may be patched while the next patch of it is on its way.
func TestAPatchOfAVersionThatIsMadeWhileItIsRead(t *testing.T) {
	w := newWorkshop(t)
	app := w.app()
	rename := func(version int, meanwhile func() error) error {
		patch := fmt.Sprintf(`[{"op":"test","path":"/apps/0/version","value":"%d"},`+
			`{"op":"replace","path":"/apps/0/title","value":"%[1]d"}]`, version)
		_, err := w.As(editor).Patch(t.Context(), app.ID, &lateBody{strings.NewReader(patch), meanwhile})
		return err
	}
	checkKind(t, rename(1, func() error { return rename(0, nil) }), nil)
	checkKind(t, rename(2, func() error { return rename(2, nil) }), vitrine.ErrConflict)
}
