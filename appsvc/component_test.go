package appsvc_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// bench is a workshop without components.
func bench(t *testing.T, limits appsvc.Limits) *workshop {
	w := &workshop{t: t, db: memory.New(), clock: time.UnixMilli(1_700_000_000_000)}
	w.Service = appsvc.New(w.db, &appsvc.Options{Now: func() time.Time { return w.clock }, Limits: limits})
	return w
}

func (w *workshop) addComponent(name, version string) {
	w.t.Helper()
	w.component(fmt.Sprintf(`{"name":%q,"version":%q,"main":"/m.js","configSchema":{}}`, name, version))
}

func TestTheLatestComponent(t *testing.T) {
	for _, test := range []struct{ name, versions, latest string }{
		{"one alone", "1.0.0", "1.0.0"},
		{"one alone that is no semantic version", "spring", "spring"},
		{"the highest, in whatever order they came", "1.0.0 2.0.0 1.5.0", "2.0.0"},
		{"by number, not by text", "9.0.0 10.0.0 2.0.0", "10.0.0"},
		{"by minor and patch", "1.9.9 1.10.0 1.10.0-rc.1", "1.10.0"},
		{"a release is above its candidates", "2.0.0-rc.1 2.0.0 2.0.0-rc.2", "2.0.0"},
		{"candidates by number", "1.0.0-rc.9 1.0.0-rc.10 1.0.0-rc.2", "1.0.0-rc.10"},
		{"numbers are below words", "1.0.0-alpha 1.0.0-1", "1.0.0-alpha"},
		{"builds are equal, so the newest of them", "1.0.0+b 1.0.0+a", "1.0.0+a"},
		{"the newest when one is no semantic version", "3.0.0 spring 2.0.0", "2.0.0"},
		{"the newest when the first is none", "spring 3.0.0 2.0.0", "2.0.0"},
		{"the newest when the last is none", "3.0.0 2.0.0 1", "1"},
		{"1.0 is no semantic version", "2.0.0 1.0", "1.0"},
		{"v1.0.0 is no semantic version", "2.0.0 v1.0.0", "v1.0.0"},
		{"01.0.0 is no semantic version", "2.0.0 01.0.0", "01.0.0"},
		{"a sign is no semantic version", "2.0.0 +1.0.0", "+1.0.0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			ctx, w := context.Background(), bench(t, appsvc.Limits{})
			for _, version := range strings.Fields(test.versions) {
				w.addComponent("x", version)
				w.addComponent("y", "1.0.0-between."+strings.NewReplacer(".", "-", "+", "-").Replace(version))
			}
			c, err := w.As(editor).Component(ctx, "x")
			if err != nil || c.Version != test.latest || c.Manifest == nil {
				t.Errorf("version %q, %v; want %q, manifest and all", c.Version, err, test.latest)
			}
			list, more, err := listed(w.As(editor).ListComponents(ctx, appsvc.ListComponentsRequest{}))
			if err != nil || more || len(list) != 2 || list[0].Version != test.latest {
				t.Errorf("in the list: %q, %t, %v; want %q", list, more, err, test.latest)
			}
		})
	}
}

func TestComponentsAreListedByName(t *testing.T) {
	ctx := context.Background()
	for _, limits := range []appsvc.Limits{{}, {PageBytes: 1}, {PageBytes: 300}} {
		w := bench(t, limits)
		names := []string{"10", "2", "@scope/x", "A", "B", "a", "a b", "b", "\u00e4"}
		for _, version := range []string{"1.0.0", "2.0.0"} {
			for i := range names {
				w.addComponent(names[i*5%len(names)], version)
			}
		}
		var got []string
		for after, more := "", true; more; after = got[len(got)-1] {
			var page []appsvc.Component
			var err error
			page, more, err = listed(w.As(editor).ListComponents(ctx, appsvc.ListComponentsRequest{After: after}))
			if err != nil || len(page) == 0 {
				t.Fatalf("%d after %q, %v", len(page), after, err)
			}
			for _, c := range page {
				got = append(got, c.Name)
				if c.Version != "2.0.0" || c.ID == "" || c.Main != "/m.js" ||
					strings.Contains(string(c.Manifest), "configSchema") {
					t.Errorf("%+v", c)
				}
			}
		}
		if !slices.Equal(got, names) {
			t.Errorf("pages of %d bytes: %q, want %q", limits.PageBytes, got, names)
		}
	}
	none := bench(t, appsvc.Limits{}).As(editor)
	list, more, err := listed(none.ListComponents(ctx, appsvc.ListComponentsRequest{}))
	if len(list) > 0 || more || err != nil {
		t.Errorf("of none: %q, %t, %v", list, more, err)
	}
}

func TestAComponentThatIsNotThere(t *testing.T) {
	ctx, w := context.Background(), newWorkshop(t)
	for _, name := range []string{"", "Any", "any ", "%", "absent"} {
		_, err := w.As(editor).Component(ctx, name)
		checkKind(t, err, vitrine.ErrNotFound)
		checkKind(t, w.As(editor).DeleteComponent(ctx, appsvc.DeleteComponentRequest{Name: name}), vitrine.ErrNotFound)
	}
}

// Elements keep the copy of what they were made with; only a write that changes such an element
// needs the component.
func TestElementsOutliveTheirComponent(t *testing.T) {
	ctx, w := context.Background(), newWorkshop(t)
	app := w.app()
	patch := func(v int, op string) error {
		_, err := w.As(editor).Patch(ctx, app.ID,
			strings.NewReader(fmt.Sprintf(`[{"op":"test","path":"/apps/0/version","value":"%d"},%s]`, v, op)))
		return err
	}
	checkKind(t, patch(0, `{"op":"replace","path":"/apps/0/elements/0/config","value":{"size":2}}`), nil)
	if err := w.As(editor).DeleteComponent(ctx, appsvc.DeleteComponentRequest{Name: "text"}); err != nil {
		t.Fatal(err)
	}
	w.component(`{"name":"text","version":"9.0.0","main":"/nine.js","configSchema":{}}`) // another one of that name
	if now, err := w.As(editor).Version(ctx, app.ID, vitrine.NewVersion(0)); err != nil ||
		string(now.Body) != string(app.Body) {
		t.Errorf("version 0 is now %s, %v", now.Body, err)
	}
	for _, op := range []string{
		`{"op":"replace","path":"/apps/0/elements/0/config","value":{"size":3}}`,
		`{"op":"copy","from":"/apps/0/elements/0","path":"/apps/0/elements/-"},{"op":"replace",` +
			`"path":"/apps/0/elements/2/config","value":{}}`,
		`{"op":"add","path":"/apps/0/elements/-","value":{"component":{"name":"text","version":"1.0.0"},"config":{}}}`,
	} {
		checkKind(t, patch(1, op), vitrine.ErrUnprocessable)
	}
	checkKind(t, patch(1, `{"op":"replace","path":"/apps/0/title","value":"still"}`), nil)
	checkKind(t, patch(2, `{"op":"move","from":"/apps/0/elements/0","path":"/apps/0/elements/1"}`), nil)
	checkKind(t, patch(3, `{"op":"copy","from":"/apps/0/elements/1","path":"/apps/0/elements/-"}`), nil)
	restored, err := w.As(editor).Restore(ctx, appsvc.RestoreRequest{AppID: app.ID, Version: vitrine.NewVersion(0)})
	if err != nil || string(restored.Body) != string(app.Body) {
		t.Errorf("restored it is %s, %v; want %s", restored.Body, err, app.Body)
	}
	for component, want := range map[string]int{"text": 1, "any": 1, "absent": 0} {
		apps, _, err := unpage(w.As(editor).ListApps(ctx, appsvc.ListAppsRequest{UsingComponent: component}))
		if err != nil || len(apps) != want {
			t.Errorf("using %s: %d apps, %v", component, len(apps), err)
		}
	}
}

func TestAComponentIsKeptAsItWasSent(t *testing.T) {
	ctx, w := context.Background(), newWorkshop(t)
	sent := `{ "vendor" : {"n":1.10, "big":9007199254740993}, "name":"kept", "description":"what it does", "id":"my-id",
		"version":"1.0.0", "main":"https://example.test/a.js?b=%20#c", "configSchema":{"default":{"x":1.0}}, "Ünï":null }`
	c, err := w.As(editor).CreateComponent(ctx, appsvc.CreateComponentRequest{Manifest: strings.NewReader(sent)})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"name":"kept","version":"1.0.0","id":"my-id","description":"what it does",` +
		`"main":"https://example.test/a.js?b=%20#c",` +
		`"configSchema":{"default":{"x":1.0}},"vendor":{"n":1.10,"big":9007199254740993},"Ünï":null}`
	read, err := w.As(moderator()).Component(ctx, "kept")
	if err != nil || string(read.Manifest) != want || string(c.Manifest) != want || read.ID != "my-id" ||
		read.Description() == nil || *read.Description() != "what it does" {
		t.Errorf("it is kept as\n%s\n%s, %v\nwant\n%s", read.Manifest, c.Manifest, err, want)
	}
	w.addComponent("kept", "2.0.0")
	if one, err := w.As(moderator()).ComponentVersion(ctx, "kept", "1.0.0"); err != nil ||
		string(one.Manifest) != want {
		t.Errorf("beside another version it is read as\n%s, %v\nwant\n%s", one.Manifest, err, want)
	}

	plain, err := w.As(editor).CreateComponent(ctx, appsvc.CreateComponentRequest{
		Manifest: strings.NewReader(`{"name":"plain","version":"1","main":"/m.js","configSchema":{}}`)})
	if uuid := regexp.MustCompile(
		`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`); err != nil ||
		!uuid.MatchString(plain.ID) {
		t.Errorf("an id that was not given is %q, %v", plain.ID, err)
	}
	if plain.Description() != nil {
		t.Errorf("a description that was not given is %q", *plain.Description())
	}
}

func TestCreateComponentRefuses(t *testing.T) {
	with := func(change string) string { // the members of change replace those of a good manifest
		var manifest, changes map[string]json.RawMessage
		_ = json.Unmarshal(
			[]byte(`{"name":"x","version":"1","id":"i","description":"d","main":"/m.js","configSchema":{}}`), &manifest)
		if err := json.Unmarshal([]byte(change), &changes); err != nil {
			t.Fatal(err)
		}
		for name, value := range changes {
			manifest[name] = value
			if string(value) == `"-"` {
				delete(manifest, name)
			}
		}
		text, _ := json.Marshal(manifest)
		return string(text)
	}
	long := func(n int) string { return strings.Repeat("é", n) }
	for _, test := range []struct {
		name, manifest string
		says           string // part of the refusal, "" = it is taken
	}{
		{"nothing wrong", with(`{}`), ""},
		{"no id and no description", with(`{"id":"-","description":"-"}`), ""},
		{"an id and a description of null", with(`{"id":null,"description":null}`), ""},
		{"no name", with(`{"name":"-"}`), "name"},
		{"an empty name", with(`{"name":""}`), "name"},
		{"a name of 128 characters", with(`{"name":"` + long(128) + `"}`), ""},
		{"a name of 129 characters", with(`{"name":"` + long(129) + `"}`), "name"},
		{"a name with a control character", with(`{"name":"a\tb"}`), "name"},
		{"a name that is no string", with(`{"name":1}`), "name"},
		{"a name of null", with(`{"name":null}`), "name"},
		{"a scoped name", with(`{"name":"@scope/name"}`), ""},
		{"no version", with(`{"version":"-"}`), "version"},
		{"an empty version", with(`{"version":""}`), "version"},
		{"a version of 128 characters", with(`{"version":"` + long(128) + `"}`), ""},
		{"a version of 129 characters", with(`{"version":"` + long(129) + `"}`), "version"},
		{"an empty id", with(`{"id":""}`), "id"},
		{"an id that is no string", with(`{"id":7}`), "id"},
		{"a description that is no string", with(`{"description":[]}`), "description"},
		{"no main", with(`{"main":"-"}`), "main"},
		{"an empty main", with(`{"main":""}`), "no address"},
		{"main without a scheme", with(`{"main":"//cdn.test/m.js"}`), "no address"},
		{"a javascript: main", with(`{"main":"javascript:alert(1)"}`), "no address"},
		{"a JavaScript: main after a space", with(`{"main":" JavaScript:alert(1)"}`), "no address"},
		{"a javascript: main split by a tab", with(`{"main":"java\tscript:alert(1)"}`), "no address"},
		{"a javascript: main after a control character", with(`{"main":"\u0001javascript:alert(1)"}`), "no address"},
		{"a javascript: main by an entity", with(`{"main":"javascript&colon;alert(1)"}`), "no address"},
		{"a javascript: main by a numbered entity", with(`{"main":"&#x6A;ava&#9;script:alert(1)"}`), "no address"},
		{"a data: main", with(`{"main":"data:text/javascript,1"}`), "no address"},
		{"a main in a blob", with(`{"main":"blob:https://x.test/1"}`), "no address"},
		{"a main in a file", with(`{"main":"file:///m.js"}`), "no address"},
		{"a main that is no address", with(`{"main":"nonsense"}`), "no address"},
		{"a main with a backslash", with(`{"main":"/\\cdn.test/m.js"}`), "no address"},
		{"a main with a user", with(`{"main":"https://u:p@cdn.test/m.js"}`), "no address"},
		{"a title that is no string", with(`{"title":1}`), "want a string"},
		{"a title in another case", with(`{"Title":"x"}`), "did you mean title"},
		{"a preview that is no string", with(`{"preview":{"href":"/a.png"}}`), "want a string"},
		{"a preview in another case", with(`{"Preview":"/a.png"}`), "did you mean preview"},
		{"a javascript: preview", with(`{"preview":"javascript:alert(1)"}`), "no address of a picture"},
		{"an empty preview", with(`{"preview":""}`), "no address of a picture"},
		{"a preview of another host without its scheme", with(`{"preview":"//x.test/a.png"}`),
			"no address of a picture"},
		{"a headless that is no boolean", with(`{"headless":"yes"}`), "want true or false"},
		{"a vbscript: main", with(`{"main":"VBSCRIPT:x"}`), "no address"},
		{"no configSchema", with(`{"configSchema":"-"}`), "configSchema"},
		{"a configSchema that is no schema", with(`{"configSchema":{"type":"colour"}}`), "configSchema"},
		{"a name that is no text", with(`{"name":1}`), "/name: want a string, have a number"},
		{"a configSchema that is no object", with(`{"configSchema":true}`), "configSchema"},
		{"a configSchema of null", with(`{"configSchema":null}`), "configSchema"},
		{"a configSchema that fetches", with(`{"configSchema":{"$ref":"https://example.test/s"}}`),
			"/configSchema/$ref: "},
		{"a name in another case", with(`{"Name":"y"}`), "Name"},
		{"a member twice", `{"name":"x","version":"1","version":"2","main":"/m.js","configSchema":{}}`, "version"},
		{"a member twice, unknown", `{"name":"x","version":"1","main":"/m.js","configSchema":{},"v":1,"v":2}`, "v"},
		{"no object", `[]`, " "},
		{"no JSON", `{`, " "},
		{"two values", `{"name":"x","version":"1","main":"/m.js","configSchema":{}}{}`, " "},
		{"nothing", ``, " "},
		{"null", `null`, " "},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := bench(t, appsvc.Limits{})
			_, err := w.As(editor).CreateComponent(context.Background(),
				appsvc.CreateComponentRequest{Manifest: strings.NewReader(test.manifest)})
			list, _, _ := listed(w.As(editor).ListComponents(context.Background(), appsvc.ListComponentsRequest{}))
			if test.says == "" {
				if err != nil || len(list) != 1 {
					t.Errorf("refused: %v", err)
				}
				return
			}
			checkKind(t, err, vitrine.ErrInvalid)
			if err == nil || !strings.Contains(err.Error(), test.says) || len(list) != 0 {
				t.Errorf("error %v, want %q in it; %d components are stored", err, test.says, len(list))
			}
		})
	}
}

func TestAComponentExistsOnce(t *testing.T) {
	ctx, w := context.Background(), bench(t, appsvc.Limits{})
	create := func(id, name, version string) error {
		_, err := w.As(editor).CreateComponent(ctx,
			appsvc.CreateComponentRequest{
				Manifest: strings.NewReader(
					fmt.Sprintf(`{"id":%q,"name":%q,"version":%q,"main":"/m.js","configSchema":{}}`, id, name,
						version))})
		return err
	}
	checkKind(t, create("1", "a", "1"), nil)
	checkKind(t, create("1", "b", "1"), vitrine.ErrInvalid)
	checkKind(t, create("2", "a", "1"), vitrine.ErrInvalid)
	checkKind(t, create("2", "a", "2"), nil)
	checkKind(t, create("3", "A", "1"), nil)
	checkKind(t, w.As(editor).DeleteComponent(ctx, appsvc.DeleteComponentRequest{Name: "a"}), nil)
	checkKind(t, create("2", "a", "1"), vitrine.ErrInvalid) // it had the id 1
	checkKind(t, create("1", "a", "1"), nil)
	checkKind(t, create("2", "b", "1"), nil)
	checkKind(t, create("2", "a", "2"), vitrine.ErrInvalid) // it had the id that another one has now
}

// A component that is there is refused with a code, a place and whether it is the same, by CreateComponent and by
// CheckComponent.
func TestAComponentThatExists(t *testing.T) {
	ctx, w := context.Background(), newWorkshop(t)
	w.component(`{"id":"7","name":"c","version":"1","main":"/m.js","configSchema":{"a":1.10},"more":[1,2]}`)
	w.component(`{"id":"8","name":"d","version":"1","main":"/m.js","configSchema":{}}`)
	for _, test := range []struct {
		name, manifest, pointer string
		same                    bool
	}{
		{"as it is", `{"id":"7","name":"c","version":"1","main":"/m.js","configSchema":{"a":1.10},"more":[1,2]}`,
			"/version", true},
		{"without an id", `{"name":"c","version":"1","main":"/m.js","configSchema":{"a":1.10},"more":[1,2]}`,
			"/version", true},
		{"with null",
			`{"id":null,"description":null,"name":"c","version":"1","main":"/m.js","configSchema":{"a":1.10},` +
				`"more":[1,2]}`, "/version", true},
		{"in another order", `{"more":[1,2],"configSchema":{"a":1.10},"main":"/m.js","version":"1","name":"c"}`,
			"/version", true},
		{"with another id", `{"id":"9","name":"c","version":"1","main":"/m.js","configSchema":{"a":1.10},"more":[1,2]}`,
			"/version", false},
		{"with the id of another one",
			`{"id":"8","name":"c","version":"1","main":"/m.js","configSchema":{"a":1.10},"more":[1,2]}`, "/version",
			false},
		{"with another number", `{"name":"c","version":"1","main":"/m.js","configSchema":{"a":1.1},"more":[1,2]}`,
			"/version", false},
		{"with another list", `{"name":"c","version":"1","main":"/m.js","configSchema":{"a":1.10},"more":[2,1]}`,
			"/version", false},
		{"another version", `{"id":"7","name":"c","version":"2","main":"/m.js","configSchema":{"a":1.10},"more":[1,2]}`,
			"/id", false},
	} {
		_, created := w.As(editor).CreateComponent(ctx,
			appsvc.CreateComponentRequest{Manifest: strings.NewReader(test.manifest)})
		_, checked := w.As(editor).CheckComponent(ctx,
			appsvc.CheckComponentRequest{Name: "c", Manifest: []byte(test.manifest)})
		for _, err := range []error{created, checked} {
			e, ok := errors.AsType[*vitrine.Error](err)
			if !ok || e.Kind != vitrine.ErrInvalid || e.Code != vitrine.CodeExists || e.Pointer != test.pointer ||
				e.Same == nil || *e.Same != test.same {
				t.Errorf("%s: have %#v, want it at %s, same %v", test.name, err, test.pointer, test.same)
			}
		}
	}
}

// CreateComponent returns the warnings that CheckComponent gives before, and again for a repeat.
func TestCreateComponentWarns(t *testing.T) {
	ctx, w := context.Background(), newWorkshop(t)
	manifest := []byte(`{"name":"c","version":"1","main":"/m.js","configSchema":{"requird":["a"],` +
		`"properties":{"a":{"nullable":true}}}}`)
	check, err := w.As(editor).CheckComponent(ctx, appsvc.CheckComponentRequest{Name: "c", Manifest: manifest})
	if err != nil || len(check.Warnings) != 2 {
		t.Fatal(check, err)
	}
	for range 2 {
		c, err := w.As(editor).CreateComponent(ctx,
			appsvc.CreateComponentRequest{Manifest: bytes.NewReader(manifest), IdempotencyKey: "k"})
		if err != nil || !slices.Equal(c.Warnings, check.Warnings) {
			t.Errorf("have %v, %v, want %v", c.Warnings, err, check.Warnings)
		}
	}
	if c, err := w.As(editor).Component(ctx, "c"); err != nil || c.Warnings != nil {
		t.Errorf("a component that is read has the warnings %v, %v", c.Warnings, err)
	}
}

func TestAManifestHasOnlySoManyBytes(t *testing.T) {
	ctx, w := context.Background(), newWorkshop(t)
	manifest := func(size int) []byte {
		const begin, end = `{"name":"large","version":"1","main":"/m.js","configSchema":{},"note":"`, `"}`
		return []byte(begin + strings.Repeat("x", size-len(begin)-len(end)) + end)
	}
	_, err := w.As(editor).CreateComponent(ctx,
		appsvc.CreateComponentRequest{Manifest: bytes.NewReader(manifest(1<<20 + 1))})
	checkKind(t, err, vitrine.ErrTooLarge)
	if _, err := w.As(editor).CreateComponent(ctx,
		appsvc.CreateComponentRequest{Manifest: bytes.NewReader(manifest(1 << 20))}); err != nil {
		t.Error(err)
	}
}

// meanwhile is a store in which something happens before each update.
type meanwhile struct {
	storage.Store
	happens func()
}

func (m *meanwhile) Update(
	ctx context.Context, space string, o storage.UpdateOptions, fn func(storage.Tx) error,
) error {
	if happens := m.happens; happens != nil && space == "apps" {
		m.happens = nil
		happens()
	}
	return m.Store.Update(ctx, space, o, fn)
}

// forget removes what a store knows of deleted components, which it does not know of those that were deleted before it
// was imported. They may be made again with any manifest.
func forget(t *testing.T, db storage.Store) {
	t.Helper()
	ctx := context.Background()
	err := db.Update(ctx, "apps", storage.UpdateOptions{}, func(tx storage.Tx) error {
		return tx.DeleteRange(ctx, storage.Prefix("apps was/"))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A version of a component that was deleted is made again with the same manifest alone, and has the id that it had.
func TestADeletedVersionIsMadeAgainWithTheSameManifest(t *testing.T) {
	const of = `{"name":"c","version":"1","main":"/m.js","configSchema":{"a":1.10},"more":[1,2]%s}`
	ctx, w := context.Background(), newWorkshop(t)
	create := func(more string) (appsvc.Component, error) {
		return w.As(editor).CreateComponent(ctx,
			appsvc.CreateComponentRequest{Manifest: strings.NewReader(fmt.Sprintf(of, more))})
	}
	first, err := create("")
	if err == nil {
		err = w.As(editor).DeleteComponent(ctx, appsvc.DeleteComponentRequest{Name: "c"})
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, more := range []string{`,"x":1`, `,"description":"y"`, `,"id":"another"`} {
		if _, err := create(more); !errors.Is(err, vitrine.ErrInvalid) {
			t.Errorf("with %s: error %v", more, err)
		}
	}
	again, err := w.As(editor).CreateComponent(ctx, appsvc.CreateComponentRequest{
		Manifest: strings.NewReader(`{"id":null,"more":[1,2],"configSchema":{"a":1.10},"version":"1","main":"/m.js", ` +
			`"name":"c"}`)})
	if err != nil || again.ID != first.ID {
		t.Errorf("with the members in another order: %+v, %v, want the id %s", again, err, first.ID)
	}
	if err := w.As(editor).DeleteComponent(ctx, appsvc.DeleteComponentRequest{Name: "c"}); err != nil {
		t.Fatal(err)
	}
	if again, err = w.As(editor).CreateComponent(ctx,
		appsvc.CreateComponentRequest{Manifest: bytes.NewReader(first.Manifest)}); err != nil ||
		string(again.Manifest) != string(first.Manifest) {
		t.Errorf("with the manifest as it is stored: %s, %v, want %s", again.Manifest, err, first.Manifest)
	}
	if _, err := w.As(editor).CreateComponent(ctx, appsvc.CreateComponentRequest{
		Manifest: strings.NewReader(`{"name":"c","version":"2","main":"/n.js","configSchema":{}}`)}); err != nil {
		t.Errorf("another version: %v", err)
	}
}

// A component is deleted and made anew under its id while a config is validated against it.
func TestAComponentThatWasMadeAnewMeanwhileIsAnother(t *testing.T) {
	const old = `{"id":"7","name":"c","version":"1","main":"/m.js","configSchema":{}}`
	tests := []struct {
		name, made string
		err        error
	}{
		{"with another schema", `{"id":"7","name":"c","version":"1","main":"/m.js","configSchema":{"type":"object"}}`,
			vitrine.ErrConflict},
		{"with another script", `{"id":"7","name":"c","version":"1","main":"/n.js","configSchema":{}}`,
			vitrine.ErrConflict},
		{"with another id", `{"id":"8","name":"c","version":"1","main":"/m.js","configSchema":{}}`,
			vitrine.ErrConflict},
		{"as it was", old, nil},
		{"not at all", "", vitrine.ErrUnprocessable},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			ctx, w, store := context.Background(), newWorkshop(t), &meanwhile{Store: memory.New()}
			w.Service = appsvc.New(store, nil)
			w.component(old)
			element := appsvc.NewElement{Component: appsvc.ComponentRef{Name: "c", Version: "1"},
				Config: []byte(`{"a":1}`)}
			app, err := w.As(editor).CreateApp(ctx,
				appsvc.CreateAppRequest{Title: "x", Groups: []string{site1}, Elements: []appsvc.NewElement{element}})
			if err != nil {
				t.Fatal(err)
			}
			exchange := func() {
				if err := w.As(editor).DeleteComponent(ctx, appsvc.DeleteComponentRequest{Name: "c"}); err != nil {
					t.Fatal(err)
				}
				if test.made != "" {
					forget(t, store)
					w.component(test.made)
				}
			}
			store.happens = exchange
			_, err = w.As(editor).Patch(ctx, app.ID,
				strings.NewReader(`[`+testV0+
					`,{"op":"add","path":"/apps/0/elements/-","value":{"component":{"name":"c","version":"1"},`+
					`"config":{}}}]`))
			if !errors.Is(err, test.err) {
				t.Errorf("patch that adds an element: error %v, want %v", err, test.err)
			}
			if test.err == nil {
				return
			}
			// The element has its manifest already. It gets the one of the component that is there now.
			app, err = w.As(editor).Patch(ctx, app.ID,
				strings.NewReader(`[`+testV0+`,{"op":"replace","path":"/apps/0/elements/0/config/a","value":2}]`))
			if now := test.made; now == "" {
				checkKind(t, err, vitrine.ErrUnprocessable)
			} else if err != nil || !strings.Contains(string(app.Body), now[strings.Index(now, `"main"`):]) {
				t.Errorf("patch of a config: %s, %v, want the manifest %s", app.Body, err, now)
			}
		})
	}
}

// A list of components has the addresses of their pictures, and so has the whole manifest.
func TestComponentsHaveAPreview(t *testing.T) {
	ctx := context.Background()
	w := bench(t, appsvc.Limits{})
	for name, member := range map[string]string{"a": "", "b": `"preview":"/b.svg",`} {
		manifest := fmt.Sprintf(`{"name":%q,"version":"1",%s"main":"/x.js","configSchema":{}}`, name, member)
		if _, err := w.As(editor).CreateComponent(ctx,
			appsvc.CreateComponentRequest{Manifest: strings.NewReader(manifest)}); err != nil {
			t.Fatal(err)
		}
	}
	list, _, err := listed(w.As(editor).ListComponents(ctx, appsvc.ListComponentsRequest{}))
	if err != nil || len(list) != 2 || list[0].Preview() != nil || list[1].Preview() == nil ||
		*list[1].Preview() != "/b.svg" {
		t.Errorf("%+v, %v", list, err)
	}
	if c, err := w.As(editor).Component(ctx, "b"); err != nil || c.Preview() == nil || *c.Preview() != "/b.svg" {
		t.Errorf("%s, %v", c.Manifest, err)
	}
}
