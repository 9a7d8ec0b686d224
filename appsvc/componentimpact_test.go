package appsvc_test

import (
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
	"github.com/vitrine-go/vitrine/storage/memory"
)

// manifestOf is the manifest of a version of the component text.
func manifestOf(version, schema string) []byte {
	return fmt.Appendf(nil, `{"name":"text","version":%q,"main":"/m.js","configSchema":%s}`, version, schema)
}

// textApp creates an app of elements of text 0, which accepts anything, with these configs.
func (w *workshop) textApp(by vitrine.Caller, group string, configs ...string) appsvc.App {
	w.t.Helper()
	in := appsvc.CreateAppRequest{Title: "x", Groups: []string{group}}
	for _, config := range configs {
		in.Elements = append(in.Elements,
			appsvc.NewElement{Component: appsvc.ComponentRef{Name: "text", Version: "0"},
				Config: json.RawMessage(config)})
	}
	app, err := w.As(by).CreateApp(context.Background(), in)
	if err != nil {
		w.t.Fatal(err)
	}
	return app
}

// change builds and sends a patch.
func (w *workshop) change(id string, fn func(p *appsvc.PatchBuilder)) {
	w.t.Helper()
	if _, err := w.As(admin).Edit(context.Background(), id, func(_ appsvc.App, p *appsvc.PatchBuilder) error {
		fn(p)
		return nil
	}); err != nil {
		w.t.Fatal(err)
	}
}

// checking is a workshop of its own with text 0 and other 1.
func checking(t *testing.T) *workshop {
	w := newWorkshop(t)
	w.Service = appsvc.New(memory.New(), &appsvc.Options{Now: func() time.Time { return w.clock }})
	w.component(string(manifestOf("0", "{}")))
	w.component(`{"name":"other","version":"1","main":"/m.js","configSchema":{}}`)
	return w
}

func TestACheckFindsWhatWouldBreak(t *testing.T) {
	ctx, w := context.Background(), checking(t)
	first := w.textApp(admin, site1, `{"size":1}`, `{"size":"1"}`, `{}`)
	hidden := w.textApp(admin, "urn:vitrine:other.test:site=1", `{"size":"hidden"}`)
	other, err := w.As(admin).CreateApp(ctx,
		appsvc.CreateAppRequest{Title: "x", Groups: []string{site1}, Elements: []appsvc.NewElement{
			{Component: appsvc.ComponentRef{Name: "other", Version: "1"},
				Config: json.RawMessage(`{"size":"other"}`)}}})
	if err != nil {
		t.Fatal(err)
	}
	was := w.textApp(admin, site1, `{"size":"tagged"}`) // uses it in a tagged version only
	w.putTag(was.ID, "production", vitrine.NewVersion(0))
	w.putTag(was.ID, "Stable", vitrine.NewVersion(0))
	w.change(was.ID, func(p *appsvc.PatchBuilder) { p.RemoveElement(0) })
	past := w.textApp(admin, site1, `{"size":"past"}`) // used it in a version that nobody is shown
	w.change(past.ID, func(p *appsvc.PatchBuilder) { p.RemoveElement(0) })
	w.putTag(past.ID, "production", vitrine.NewVersion(1))
	w.putTag(first.ID, "production", vitrine.NewVersion(0)) // the latest, looked at once
	w.change(first.ID, func(p *appsvc.PatchBuilder) { p.SetConfig(1, "/size", 2) })
	before := w.everything(first.ID)
	// it need not exist
	if err := w.As(admin).DeleteComponent(ctx, appsvc.DeleteComponentRequest{Name: "text"}); err != nil {
		t.Fatal(err)
	}
	by := vitrine.Caller{URN: network + ":user=builder", Reads: []string{network}, Components: true}
	in := appsvc.CheckComponentRequest{Name: "text",
		Manifest: manifestOf("2", `{"properties":{"size":{"type":"integer"}},"tpye":"object"}`)}
	got, err := w.As(by).CheckComponent(ctx, in)
	if err != nil {
		t.Fatal(err)
	}
	violation := []vitrine.Violation{{Pointer: "/size", Keyword: "type", Message: "got string, want integer"}}
	want := []appsvc.BrokenElement{
		{App: first.ID, Version: vitrine.NewVersion(0), Tags: []string{"production"}, Element: "1",
			Violations: violation},
		{App: was.ID, Version: vitrine.NewVersion(0), Tags: []string{"Stable", "production"}, Element: "0",
			Violations: violation},
	}
	slices.SortFunc(want, func(a, b appsvc.BrokenElement) int { return strings.Compare(a.App, b.App) })
	if len(got.Broken) == 2 {
		want[0].Violations, want[1].Violations = got.Broken[0].Violations, got.Broken[1].Violations
		for _, v := range [][]vitrine.Violation{want[0].Violations, want[1].Violations} {
			if len(v) != 1 || v[0].Pointer != "/size" || v[0].Keyword != "type" || v[0].Message == "" {
				t.Errorf("violations %+v", v)
			}
		}
	}
	if gotText, wantText := jsonOf(got.Broken), jsonOf(want); gotText != wantText {
		t.Errorf("broken\n%s, want\n%s", gotText, wantText)
	}
	if got.Apps != 2 || got.Versions != 3 || got.Elements != 7 || got.Next != "" {
		t.Errorf("looked at %d apps, %d versions, %d elements; next %q", got.Apps, got.Versions, got.Elements, got.Next)
	}
	if len(got.Warnings) != 1 || got.Warnings[0].Pointer != "/tpye" {
		t.Errorf("warnings %+v", got.Warnings)
	}
	if after := w.everything(first.ID); after != before {
		t.Error("something was stored")
	}
	text := jsonOf(got)
	for _, id := range []string{hidden.ID, other.ID, past.ID} {
		if strings.Contains(text, id) {
			t.Errorf("app %s is told of: %s", id, text)
		}
	}
	all, err := w.As(admin).CheckComponent(ctx, in)
	if err != nil || all.Apps != 3 || all.Elements != 8 || len(all.Broken) != 3 {
		t.Errorf("a caller who reads all: %+v, %v", all, err)
	}
}

func jsonOf(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func TestACheckRefusesWhatACreationRefuses(t *testing.T) {
	ctx, w := context.Background(), checking(t)
	w.component(`{"id":"taken","name":"x","version":"1","main":"/m.js","configSchema":{}}`)
	for _, manifest := range []string{
		``, `{`, `[]`, `{}`, `{"name":"text"}`, string(manifestOf("0", "{}")),
		`{"id":"taken","name":"text","version":"2","main":"/m.js","configSchema":{}}`,
		string(manifestOf("2", `{"$ref":"http://x.test/y"}`)), string(manifestOf("2", `[]`)),
		string(manifestOf("2", `{"type":7}`)),
		string(manifestOf("", `{}`)), `{"name":"text","version":"2","main":"javascript:x","configSchema":{}}`,
		strings.Repeat(" ", 1<<20+1),
	} {
		_, created := w.As(admin).CreateComponent(ctx,
			appsvc.CreateComponentRequest{Manifest: strings.NewReader(manifest)})
		_, checked := w.As(admin).CheckComponent(ctx,
			appsvc.CheckComponentRequest{Name: "text", Manifest: []byte(manifest)})
		if created == nil || checked == nil || withoutID(created) != withoutID(checked) {
			t.Errorf("%.80s: created %v, checked %v", manifest, created, checked)
		}
	}
	good := manifestOf("2", "{}")
	_, err := w.As(admin).CheckComponent(ctx, appsvc.CheckComponentRequest{Name: "other", Manifest: good})
	if e := new(vitrine.Error); !errors.As(err, &e) || e.Kind != vitrine.ErrInvalid || e.Pointer != "/name" {
		t.Errorf("another name: %v", err)
	}
	for _, by := range []vitrine.Caller{owner, moderator(network), {URN: network + ":user=r", Reads: []string{network}},
		{URN: network + ":user=t", TagsOnly: true, Tags: []string{"a"}, Components: true}} {
		_, err := w.As(by).CheckComponent(ctx, appsvc.CheckComponentRequest{Name: "text", Manifest: good})
		checkKind(t, err, vitrine.ErrForbidden)
	}
}

// withoutID returns the text of an error without the id that the service gave a component.
func withoutID(err error) string {
	return regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}`).ReplaceAllString(err.Error(), "ID")
}

func TestACheckOfACostlyConfig(t *testing.T) {
	ctx, w := context.Background(), checking(t)
	app := w.textApp(admin, site1, `{"size":1e1000000}`, `{"size":2}`)
	manifest := manifestOf("2", `{"properties":{"size":{"multipleOf":2}}}`)
	got, err := w.As(admin).CheckComponent(ctx, appsvc.CheckComponentRequest{Name: "text", Manifest: manifest})
	if err != nil || got.Elements != 2 {
		t.Fatalf("%+v, %v", got, err)
	}
	if len(got.Broken) != 1 {
		t.Fatalf("%+v", got.Broken)
	}
	if b := got.Broken[0]; b.Element != "0" || len(b.Violations) != 1 || b.Violations[0].Keyword != "cost" ||
		b.Violations[0].Pointer != "" {
		t.Errorf("%+v", got.Broken)
	}
	w.component(string(manifest))
	_, err = w.As(admin).Patch(ctx, app.ID,
		strings.NewReader(`[{"op":"test","path":"/apps/0/version","value":"0"},{"op":"replace",`+
			`"path":"/apps/0/elements/0/component/version","value":"2"}]`))
	if e := new(vitrine.Error); !errors.As(err, &e) || e.Code != vitrine.CodeCost {
		t.Errorf("the write says %v", err)
	}
}

func TestACheckEndsAtAThousandBrokenElements(t *testing.T) {
	ctx, w := context.Background(), checking(t)
	in := appsvc.CheckComponentRequest{Name: "text", Manifest: manifestOf("2", `{"required":["a"]}`)}
	configs := slices.Repeat([]string{`{}`}, 400)
	for range 2 {
		w.textApp(admin, site1, configs...)
	}
	w.textApp(admin, site1, configs[:200]...)
	got, err := w.As(admin).CheckComponent(ctx, in)
	if err != nil || len(got.Broken) != 1000 || got.Next != "" || got.Elements != 1000 {
		t.Fatalf("1,000 broken elements: %d, next %q, %v", len(got.Broken), got.Next, err)
	}
	w.textApp(admin, site1, append([]string{`{"a":1}`}, configs...)...)
	w.textApp(admin, site1, `{"a":1}`, `{}`)
	var places []string
	pages, elements := 0, 0
	for after := ""; ; pages++ {
		in.After = after
		got, err := w.As(admin).CheckComponent(ctx, in)
		if err != nil || len(got.Broken) > 1000 {
			t.Fatal(len(got.Broken), err)
		}
		elements += got.Elements
		for _, b := range got.Broken {
			places = append(places, fmt.Sprintf("%s %s %4s", b.App, b.Version, b.Element))
		}
		if after = got.Next; after == "" {
			break
		}
	}
	if pages != 1 || elements != 1403 || len(places) != 1401 || !slices.IsSorted(places) ||
		len(slices.Compact(places)) != 1401 {
		t.Errorf("%d answers more, %d elements, %d broken", pages, elements, len(places))
	}
	other := manifestOf("2", "{}")
	got, err = w.As(admin).CheckComponent(ctx, appsvc.CheckComponentRequest{Name: "text", Manifest: other})
	if err != nil || len(got.Broken) != 0 || got.Next != "" || got.Elements != 1403 {
		t.Errorf("one that accepts everything: %d of %d elements broken, %v", len(got.Broken), got.Elements, err)
	}
	in.After = ""
	full, err := w.As(admin).CheckComponent(ctx, in)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"x", full.Next + "=", full.Next[1:], "AAAA", strings.Repeat("A", 40)} {
		in.After = bad
		_, err := w.As(admin).CheckComponent(ctx, in)
		if e := new(vitrine.Error); !errors.As(err, &e) || e.Parameter != "after" {
			t.Errorf("cursor %q: %v", bad, err)
		}
	}
	_, err = w.As(admin).CheckComponent(ctx, appsvc.CheckComponentRequest{Name: "any", After: full.Next,
		Manifest: []byte(`{"name":"any","version":"2","main":"/m.js","configSchema":{}}`)})
	checkKind(t, err, vitrine.ErrInvalid)
}

// The clock of this service moves a second each time it is looked at.
func TestACheckEndsAfterFiveSeconds(t *testing.T) {
	ctx, w := context.Background(), checking(t)
	store := memory.New()
	w.Service = appsvc.New(store,
		&appsvc.Options{Now: func() time.Time { w.clock = w.clock.Add(time.Second); return w.clock }})
	w.component(string(manifestOf("0", "{}")))
	for range 3 {
		id := w.textApp(admin, site1, slices.Repeat([]string{`{}`}, 7)...).ID
		w.putTag(id, "a", vitrine.NewVersion(0))
		w.change(id, func(p *appsvc.PatchBuilder) { p.SetTitle("y") })
	}
	in := appsvc.CheckComponentRequest{Name: "text", Manifest: manifestOf("2", `{"required":["a"]}`)}
	elements, answers := 0, 0
	var places []string
	for {
		got, err := w.As(admin).CheckComponent(ctx, in)
		if err != nil || got.Elements > 5 {
			t.Fatalf("%d elements, %v", got.Elements, err)
		}
		for _, b := range got.Broken {
			places = append(places, fmt.Sprint(b.App, b.Version, b.Element))
		}
		elements, answers = elements+got.Elements, answers+1
		if in.After = got.Next; in.After == "" {
			break
		}
	}
	if elements != 42 || len(places) != 42 || !slices.IsSorted(places) || len(slices.Compact(places)) != 42 ||
		answers < 8 {
		t.Errorf("%d elements in %d answers, %d broken", elements, answers, len(places))
	}
}
