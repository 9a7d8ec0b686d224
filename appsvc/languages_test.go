package appsvc_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage"
)

// speaking is a store with languages, ann, who may do everything, and the component poll, whose schema is given.
type speaking struct {
	*testing.T
	db  storage.Store
	svc *appsvc.Service
	ann *appsvc.Session
}

func newSpeaking(t *testing.T, schema string, languages ...string) speaking {
	db, svc, _ := publishing(t)
	s := speaking{t, db, svc, svc.As(vitrine.Caller{URN: publisher + ":user=ann", Moderates: []string{publisher},
		Components: true})}
	s.component("1.0.0", schema)
	s.must(svc.SetLanguages(t.Context(), languages))
	return s
}

func (s speaking) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s speaking) component(version, schema string) (warnings []appsvc.SchemaWarning) {
	s.Helper()
	c, err := s.ann.CreateComponent(s.Context(), appsvc.CreateComponentRequest{Manifest: strings.NewReader(fmt.Sprintf(
		`{"name":"poll","version":%q,"main":"/poll.js","configSchema":%s}`, version, schema))})
	s.must(err)
	return c.Warnings
}

func (s speaking) create(configs ...string) (appsvc.App, error) {
	in := appsvc.CreateAppRequest{Title: "Poll", Groups: []string{publisher}}
	for _, config := range configs {
		in.Elements = append(in.Elements, appsvc.NewElement{
			Component: appsvc.ComponentRef{Name: "poll", Version: "1.0.0"}, Config: json.RawMessage(config)})
	}
	return s.ann.CreateApp(s.Context(), in)
}

func (s speaking) app(configs ...string) appsvc.App {
	s.Helper()
	app, err := s.create(configs...)
	s.must(err)
	return app
}

// set replaces the config of the first element.
func (s speaking) set(id, config string) (appsvc.App, error) {
	return s.ann.Edit(s.Context(), id, func(_ appsvc.App, p *appsvc.PatchBuilder) error {
		p.SetConfig(0, "", json.RawMessage(config))
		return nil
	})
}

func (s speaking) tag(id, name string, v int64) {
	s.Helper()
	_, err := s.ann.PutTag(s.Context(), appsvc.PutTagRequest{AppID: id, Name: name, Version: vitrine.NewVersion(v)})
	s.must(err)
}

// intact fails unless every record follows from the others.
func (s speaking) intact() {
	s.Helper()
	for _, fault := range auditOf(s.T, s.db) {
		s.Error(fault)
	}
}

// answer is what a read says of the texts of an app, and its configs.
func answer(t *testing.T, app appsvc.App, err error) string {
	t.Helper()
	if err != nil {
		return err.Error()
	}
	content, err := app.Body.Content()
	if err != nil {
		t.Fatal(err)
	}
	out := fmt.Sprintf("%s%d%v", app.Lang, app.Fallbacks, app.Languages)
	for _, e := range content.Elements {
		out += " " + string(e.Config)
	}
	return out
}

func TestLookupOfTexts(t *testing.T) {
	s := newSpeaking(t, `{"properties":{"d":{"type":"string","default":{"lang:fr":"oui","lang:de":"ja"}},
		"o":{"type":"object","properties":{"t":{"type":"string","maxLength":3,
			"default":{"lang:en":"long","lang:de":"nah"}}}}}}`,
		"en", "de", "fr")
	const config = `{"a":{"lang:en":"tea","lang:de":"Tee"},"b":[{"c":{"lang:fr":"eau"}}],"n":{"lang:en":"x",` +
		`"note":1.10}}`
	app := s.app(config)
	s.tag(app.ID, "live", 0)
	const rest = `,"n":{"lang:en":"x","note":1.10}`
	for lang, want := range map[string][2]string{
		"": {`0[] ` + config, `en2[en de fr] {"a":"tea","b":[{"c":"eau"}]` + rest + `,"d":"ja"}`},
		"en": {`en1[en de fr] {"a":"tea","b":[{"c":"eau"}]` + rest + `}`,
			`en2[en de fr] {"a":"tea","b":[{"c":"eau"}]` + rest + `,"d":"ja"}`},
		"de": {`de1[en de fr] {"a":"Tee","b":[{"c":"eau"}]` + rest + `}`,
			`de1[en de fr] {"a":"Tee","b":[{"c":"eau"}]` + rest + `,"d":"ja","o":{"t":"nah"}}`},
		"DE-x-a-at-1996": {`de1[en de fr] {"a":"Tee","b":[{"c":"eau"}]` + rest + `}`,
			`de1[en de fr] {"a":"Tee","b":[{"c":"eau"}]` + rest + `,"d":"ja","o":{"t":"nah"}}`},
		"fr-CA": {`fr1[en de fr] {"a":"tea","b":[{"c":"eau"}]` + rest + `}`,
			`fr1[en de fr] {"a":"tea","b":[{"c":"eau"}]` + rest + `,"d":"oui"}`},
		"xx": {`en1[en de fr] {"a":"tea","b":[{"c":"eau"}]` + rest + `}`,
			`en2[en de fr] {"a":"tea","b":[{"c":"eau"}]` + rest + `,"d":"ja"}`},
	} {
		in := s.ann.In(lang)
		for name, read := range map[string]func() (appsvc.App, error){
			"App":       func() (appsvc.App, error) { return in.App(t.Context(), app.ID) },
			"Version":   func() (appsvc.App, error) { return in.Version(t.Context(), app.ID, app.Version) },
			"TaggedApp": func() (appsvc.App, error) { return in.TaggedApp(t.Context(), app.ID, "live") },
		} {
			got, err := read()
			if a := answer(t, got, err); a != want[0] {
				t.Errorf("%s in %q: %s\nwant %s", name, lang, a, want[0])
			}
			if lang == "" {
				continue
			}
			filled, err := got.WithDefaults(t.Context())
			if a := answer(t, filled, err); a != want[1] {
				t.Errorf("%s in %q with defaults: %s\nwant %s", name, lang, a, want[1])
			}
			if again := answer(t, got, nil); again != want[0] {
				t.Errorf("defaults have changed what was read: %s", again)
			}
		}
		for range 2 {
			list, err := in.Deliver(t.Context(), "live", []string{app.ID})
			s.must(err)
			d := list[0]
			if got := fmt.Sprintf("%s%d%v %s", d.Lang, d.Fallbacks, d.Languages, d.Elements[0].Config); got != want[1] {
				t.Errorf("delivered in %q: %s\nwant %s", lang, got, want[1])
			}
		}
	}
	for _, lang := range []string{"de_AT", "d", "*", "de-", "de-waytoolongone", "x", "en-a-b-c-d-e-f-g-h-i-j"} {
		in := s.ann.In(lang)
		_, err := in.App(t.Context(), app.ID)
		_, err2 := in.TaggedApp(t.Context(), app.ID, "live")
		_, err3 := in.Deliver(t.Context(), "live", []string{app.ID})
		for _, err := range []error{err, err2, err3} {
			if e, ok := errors.AsType[*vitrine.Error](err); !ok || e.Kind != vitrine.ErrInvalid ||
				e.Parameter != "lang" {
				t.Errorf("%q: %v", lang, err)
			}
		}
	}
	// what has no texts says nothing of languages
	plain := s.app(`{"a":"tea","d":"x"}`)
	got, err := s.ann.In("de").App(t.Context(), plain.ID)
	if a := answer(t, got, err); a != `0[] {"a":"tea","d":"x"}` ||
		strings.Contains(string(got.AppendJSON(nil)), `"lang":`) {
		t.Errorf("an app without texts: %s", a)
	}
	s.must(func() error {
		_, err := s.ann.In("de").Edit(t.Context(), app.ID, func(a appsvc.App, p *appsvc.PatchBuilder) error {
			if a.Lang != "" {
				t.Error("Edit reads texts in one language")
			}
			p.SetTitle("x")
			return nil
		})
		return err
	}())
	s.intact()
}

// Without a rule, an object with such names is one like any other.
func TestWithoutLanguagesThereAreNoTexts(t *testing.T) {
	s := newSpeaking(t, `{"properties":{"a":{"type":"object","properties":{"x":{"default":1}}}}}`)
	app := s.app(`{"a":{"lang:en":"tea","lang:DE":5}}`)
	s.tag(app.ID, "live", 0)
	got, err := s.ann.In("de").App(t.Context(), app.ID)
	if a := answer(t, got, err); a != `0[] {"a":{"lang:en":"tea","lang:DE":5}}` {
		t.Error(a)
	}
	list, err := s.ann.Deliver(t.Context(), "live", []string{app.ID})
	s.must(err)
	if text := string(list[0].AppendJSON(nil, "", "")); !strings.Contains(text,
		`{"lang:en":"tea","lang:DE":5,"x":1}`) ||
		strings.Contains(text, "fallbacks") {
		t.Error(text)
	}
}

func TestTextsAreValidatedInTheirLanguages(t *testing.T) {
	const schema = `{"properties":{"title":{"type":"string","maxLength":5},"n":{"type":"integer"},
		"list":{"items":{"type":"string","minLength":2}},"a/b":{"const":"x"},"o":{"type":"object"}},
		"required":["title"]}`
	s := newSpeaking(t, schema, "en", "de", "de-AT")
	stored := s.app(`{"title":"x"}`)
	for config, want := range map[string]string{
		`{"title":{"lang:en":"short","lang:de":"kurz"}}`:            "",
		`{"title":{"lang:de":"kurz"}}`:                              "",
		`{"title":{"lang:de-AT":"kurz"},"list":[{"lang:en":"ab"}]}`: "",
		`{"title":{"\u006cang:\u0064e":"kurz"}}`:                    "",
		`{"title":"x","o":{"other":"lang:xx","lang:fr":"ok"}}`:      "",
		`{"title":{"lang:en":"short","lang:de":"zu lang"}}`:         "/title/lang:de maxLength",
		`{"title":{"lang:de":"zu lang"}}`:                           "/title/lang:de maxLength",
		`{"title":{"lang:en":"too long","lang:de":"noch mehr"}}`: "/title/lang:de maxLength, " +
			"/title/lang:en maxLength",
		`{"title":{"lang:en":"short"},"list":["ab",{"lang:de":""}]}`: "/list/1/lang:de minLength",
		`{"title":{"lang:en":"x"},"a/b":{"lang:de-AT":"y"}}`:         "/a~1b/lang:de-AT const",
		`{"title":{"lang:en":"x"},"n":{"lang:en":"1"}}`:              "/n/lang:en type",
		`{"title":{"lang:en":"x"},"n":"1"}`:                          "/n type",
		`{"title":{"lang:en":"x"},"o":{"lang:en":"x"}}`:              "/o/lang:en type",
		`{"title":"x","o":{"lang:fr":"x"}}`:                          "/o/lang:fr lang",
		`{"title":"x","o":{"lang:DE":"x","lang:de":"x"}}`:            "/o/lang:DE lang",
		`{"title":"x","o":{"lang:":"x"}}`:                            "/o/lang: lang",
		`{"title":"x","o":{"lang:en":"x","lang:de":5}}`:              "/o/lang:de lang",
		`{"title":"x","o":{"lang:en":{"lang:en":"x"}}}`:              "/o/lang:en lang",
		`{"title":"x","o":[{"lang:en":null}]}`:                       "/o/0/lang:en lang",
		`{"lang:en":"x"}`:                                            "/lang:en lang",
	} {
		_, created := s.create(config)
		_, patched := s.set(stored.ID, config)
		for how, err := range map[string]error{"created": created, "patched": patched} {
			e, _ := errors.AsType[*vitrine.Error](err)
			var got []string
			if e != nil {
				for _, v := range e.Violations {
					got = append(got, v.Pointer+" "+v.Keyword)
				}
			}
			if (err == nil) != (want == "") || strings.Join(got, ", ") != want || e != nil &&
				e.Code != vitrine.CodeSchema {
				t.Errorf("%s %s: %v %q, want %q", config, how, err, got, want)
			}
		}
	}
	s.intact()
	// All languages share one budget.
	s = newSpeaking(t, `{"properties":{"a":{"items":{"type":"string"}}}}`,
		"aa", "ab", "af", "am", "ar", "as", "az", "ba", "be", "bg", "bn", "br", "bs", "ca", "cs", "cy", "da", "de",
		"en", "fr")
	list, err := s.svc.Languages(t.Context())
	s.must(err)
	var text []string
	for _, lang := range list {
		text = append(text, fmt.Sprintf(`"lang:%s":"x"`, lang))
	}
	items := func(n int, text []string) string {
		return `{"a":[{` + strings.Join(text, ",") + "}" + strings.Repeat(`,"y"`, n) + `]}`
	}
	s.app(items(1000, text))
	if _, err := s.create(items(50_000, text)); !isCode(err, vitrine.CodeCost) {
		t.Errorf("50,000 items in 20 languages: %v", err)
	}
	s.app(items(50_000, text[:1]))
	// so does the work on many texts, and a pointer is made for what is wrong alone
	long := strings.Repeat("x", 1<<20)
	many := `,"b":{"` + long + `":[` + strings.Repeat(`{"lang:aa":"x"},`, 40_000) + `0]}}`
	if _, err := s.create(strings.Replace(items(1, text), "]}", "]"+many, 1)); !isCode(err, vitrine.CodeCost) {
		t.Errorf("40,000 texts in 20 languages: %.200v", err)
	}
}

// Another engine gets each config in one language after the other.
func TestAnotherEngineGetsTextsInOneLanguage(t *testing.T) {
	var got []string
	engine := &recorded{&got}
	db, _, _ := publishing(t)
	svc := appsvc.New(db, &appsvc.Options{Schemas: engine})
	s := speaking{t, db, svc, svc.As(vitrine.Caller{URN: publisher + ":user=ann", Moderates: []string{publisher},
		Components: true})}
	s.component("1.0.0", `{}`)
	s.must(svc.SetLanguages(t.Context(), []string{"en", "de", "fr"}))
	s.app(`{"n":1.10,"a":{"lang:de":"Tee","lang:en":"tea"},"b":["x",{"lang:de":"y"}]}`)
	want := []string{`{"a":"tea","b":["x","y"],"n":1.10}`, `{"a":"Tee","b":["x","y"],"n":1.10}`}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// recorded is an engine that records the configs that it validates.
type recorded struct{ configs *[]string }

func (r *recorded) Compile([]byte) (appsvc.Schema, error) { return r, nil }

func (r *recorded) Validate(config []byte) ([]vitrine.Violation, error) {
	*r.configs = append(*r.configs, string(config))
	return nil, nil
}

func isCode(err error, code string) bool {
	e, ok := errors.AsType[*vitrine.Error](err)
	return ok && e.Code == code
}

// Languages of latest and tagged versions stay, whatever has made these versions.
func TestLanguagesInUseStay(t *testing.T) {
	ctx := t.Context()
	s := newSpeaking(t, `{}`)
	for _, wrong := range [][]string{{"english"}, {"dd"}, {"en", "EN"}, {"de_AT"}, {""}, {"und"}, {"iw", "he"},
		slices.Repeat([]string{"en"}, 21)} {
		checkKind(t, s.svc.SetLanguages(ctx, wrong), vitrine.ErrInvalid)
	}
	// from before there are languages
	early := s.app(`{"a":{"lang:fr":"x"}}`)
	s.tag(early.ID, "old", 0)
	_, err := s.set(early.ID, `{}`)
	s.must(err)
	gone := s.app(`{"a":{"lang:it":"x"}}`)
	s.must(s.ann.DeleteApp(ctx, gone.ID))
	s.intact()
	s.must(s.svc.SetLanguages(ctx, []string{"EN", "de", "fr", "it", "zh-hant"}))
	if list, err := s.ann.Languages(ctx); err != nil || fmt.Sprint(list) != "[en de fr it zh-Hant]" {
		t.Error(list, err)
	}
	refused := func(list []string, words ...string) {
		t.Helper()
		err := s.svc.SetLanguages(ctx, list)
		for _, word := range words {
			if !isCode(err, vitrine.CodeWrongState) || !strings.Contains(err.Error(), word) {
				t.Errorf("%q: %v, want %q in it", list, err, word)
			}
		}
		s.intact()
	}
	refused([]string{"en", "de"}, `"fr" (the tag "old" of app "`+early.ID, `"it" (the latest version of app "`+gone.ID)
	s.must(s.ann.EraseApp(ctx, gone.ID))
	s.tag(early.ID, "old", 1)
	s.intact()
	s.must(s.svc.SetLanguages(ctx, []string{"en", "de"}))
	// a version whose language is gone is read, restored and published
	_, err = s.ann.Restore(ctx, appsvc.RestoreRequest{AppID: early.ID, Version: vitrine.NewVersion(0)})
	s.must(err)
	s.tag(early.ID, "old", 0)
	got, err := s.ann.In("fr").App(ctx, early.ID)
	if a := answer(t, got, err); a != `en1[fr] {"a":"x"}` {
		t.Error(a)
	}
	s.must(s.svc.SetLanguages(ctx, []string{"de", "en", "fr"}))
	refused([]string{"de", "en"}, "fr")
	_, err = s.ann.Restore(ctx, appsvc.RestoreRequest{AppID: early.ID, Version: vitrine.NewVersion(1)})
	s.must(err)
	refused([]string{"de", "en"}, `"old"`)
	s.must(s.ann.DeleteTag(ctx, appsvc.DeleteTagRequest{AppID: early.ID, Name: "old"}))
	s.must(s.svc.SetLanguages(ctx, []string{"de", "en"}))
	german := s.app(`{"a":{"lang:de":"x"}}`)
	s.must(s.db.Update(ctx, "apps", storage.UpdateOptions{}, func(tx storage.Tx) error {
		return tx.Delete(ctx, "apps spoken/de "+german.ID)
	}))
	if faults := auditOf(t, s.db); len(faults) != 1 || !strings.Contains(faults[0], "spoken/de") {
		t.Errorf("a language that is not known: %q", faults)
	}
	s.must(s.db.Update(ctx, "apps", storage.UpdateOptions{}, func(tx storage.Tx) error {
		return tx.Put(ctx, storage.Entry{Key: "apps spoken/de " + german.ID})
	}))
	refused(nil, `"de" (the latest`)
	refused([]string{"en"}, german.ID)
	_, err = s.set(german.ID, `{"a":"x"}`)
	s.must(err)
	s.must(s.svc.SetLanguages(ctx, nil))
	if list, err := s.svc.Languages(ctx); err != nil || len(list) != 0 {
		t.Error(list, err)
	}
	s.app(`{"a":{"lang:xx":5}}`)
	s.intact()
}

// A write that was validated for other languages is not stored.
func TestLanguagesAreReadInTheWrite(t *testing.T) {
	ctx := t.Context()
	db, _, _ := publishing(t)
	var change func()
	svc := appsvc.New(hooked{db, &change}, nil)
	s := speaking{t, db, svc, svc.As(vitrine.Caller{URN: publisher + ":user=ann", Moderates: []string{publisher},
		Components: true})}
	s.component("1.0.0", `{}`)
	s.must(svc.SetLanguages(ctx, []string{"en", "de"}))
	app := s.app(`{"a":"x"}`)
	once := func(list ...string) {
		change = func() {
			change = nil
			s.must(appsvc.New(db, nil).SetLanguages(ctx, list))
		}
	}
	once("en")
	if _, err := s.create(`{"a":{"lang:de":"x"}}`); !isCode(err, vitrine.CodeStaleVersion) {
		t.Errorf("a language was taken away during CreateApp: %v", err)
	}
	s.must(svc.SetLanguages(ctx, []string{"en", "de"}))
	once("en")
	if _, err := s.set(app.ID, `{"a":{"lang:de":"x"}}`); !isCode(err, vitrine.CodeSchema) {
		t.Errorf("a language was taken away during Patch: %v", err)
	}
	once("en", "fr")
	if _, err := s.set(app.ID, `{"a":{"lang:en":"x"}}`); err != nil {
		t.Errorf("a language was added during Patch: %v", err)
	}
	s.intact()
}

// hooked calls a function before an Update.
type hooked struct {
	storage.Store
	before *func()
}

func (h hooked) Update(ctx context.Context, space string, o storage.UpdateOptions, fn func(storage.Tx) error) error {
	if before := *h.before; before != nil {
		before()
	}
	return h.Store.Update(ctx, space, o, fn)
}

// An upgrade and a check validate texts, and defaults that are texts are no fault.
func TestComponentsOfTexts(t *testing.T) {
	ctx := t.Context()
	s := newSpeaking(t, `{}`, "en", "de")
	app := s.app(`{"title":{"lang:en":"short","lang:de":"nicht kurz"}}`)
	const next = `{"properties":{"title":{"type":"string","maxLength":5,"default":{"lang:en":"a","lang:de":"b"}}}}`
	manifest := `{"name":"poll","version":"2.0.0","main":"/p.js","configSchema":` + next + `}`
	check, err := s.ann.CheckComponent(ctx, appsvc.CheckComponentRequest{Name: "poll", Manifest: []byte(manifest)})
	s.must(err)
	if len(check.Warnings) > 0 || len(check.Broken) != 1 || check.Broken[0].Violations[0].Pointer != "/title/lang:de" {
		t.Errorf("%+v", check)
	}
	if w := s.component("3.0.0", strings.Replace(next, `"b"`, `"too long"`, 1)); len(w) != 1 ||
		w[0].Pointer != "/properties/title/default" {
		t.Errorf("a default that breaks its schema in one language: %v", w)
	}
	s.component("2.0.0", next)
	upgrade := func() vitrine.Page[appsvc.UpgradedApp] {
		page, err := s.ann.Upgrade(ctx, appsvc.UpgradeRequest{Name: "poll", To: "2.0.0"})
		s.must(err)
		return page
	}
	if got := upgrade().Items[0].Violations; len(got) != 1 ||
		got[0].Pointer != "/elements/0/config/title/lang:de" {
		t.Errorf("%+v", got)
	}
	_, err = s.set(app.ID, `{"title":{"lang:en":"short","lang:de":"kurz"}}`)
	s.must(err)
	if got := upgrade().Items[0]; len(got.Violations) > 0 || got.Version != vitrine.NewVersion(2) {
		t.Errorf("%+v", got)
	}
	diff, err := s.ann.Diff(ctx, app.ID, vitrine.NewVersion(0), vitrine.NewVersion(1))
	if err != nil || !strings.Contains(string(diff.Patch), `"path":"/apps/0/elements/0/config/title/lang:de"`) {
		t.Errorf("%s %v", diff.Patch, err)
	}
}
