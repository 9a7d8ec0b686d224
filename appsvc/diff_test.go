package appsvc_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/proof"
)

// page is the content of a version, as the tests of differences write it.
type page struct {
	title    string
	groups   []string
	elements []appsvc.NewElement
	from     []int // the element of the page before that each element comes from, -1 for a new one; nil = see comesFrom
}

func newPage(elements ...appsvc.NewElement) page {
	return page{title: "Page", groups: []string{site1}, elements: elements}
}

// comesFrom returns which element of the page before each element is: one of equal content, or the one in its place.
func (p page) comesFrom(before page) []int {
	if p.from != nil {
		return p.from
	}
	from, taken := slices.Repeat([]int{-1}, len(p.elements)), map[int]bool{}
	places := map[string][]int{}
	for i, e := range before.elements {
		places[quoted(e)] = append(places[quoted(e)], i)
	}
	for j, e := range p.elements {
		if same := places[quoted(e)]; len(same) > 0 {
			from[j], taken[same[0]], places[quoted(e)] = same[0], true, same[1:]
		}
	}
	for j := range p.elements {
		if from[j] < 0 && j < len(before.elements) && !taken[j] {
			from[j] = j
		}
	}
	return from
}

// any returns an element that takes every config.
func anyElement(config string) appsvc.NewElement {
	return appsvc.NewElement{Component: appsvc.ComponentRef{Name: "any", Version: "1"}, Config: json.RawMessage(config)}
}

func textElement(version, config string) appsvc.NewElement {
	return appsvc.NewElement{Component: appsvc.ComponentRef{Name: "text", Version: version},
		Config: json.RawMessage(config)}
}

var designer = vitrine.Caller{URN: "urn:vitrine:example.test:user=designer",
	Moderates: []string{"urn:vitrine:example.test"}, Components: true}

// history stores the pages as the versions of a new app, and returns its id. Every element is written for every
// version.
func (w *workshop) history(pages ...page) string {
	w.t.Helper()
	first := pages[0]
	app, err := w.As(designer).CreateApp(context.Background(),
		appsvc.CreateAppRequest{Title: first.title, Groups: first.groups, Elements: first.elements})
	if err != nil {
		w.t.Fatal(err)
	}
	for v, p := range pages[1:] {
		if app, err = w.As(designer).Patch(context.Background(), app.ID,
			bytes.NewReader(p.replacing(app, pages[v]))); err != nil {
			w.t.Fatal(err)
		}
		if app.Version.Number() == int64(v) { // nothing has changed
			if app, err = w.As(designer).Restore(context.Background(),
				appsvc.RestoreRequest{AppID: app.ID, Version: app.Version}); err != nil {
				w.t.Fatal(err)
			}
		}
	}
	return app.ID
}

// replacing returns the patch that replaces title, groups and elements of a version, which has the content of before.
// Elements that come from others keep their ids.
func (p page) replacing(app appsvc.App, before page) []byte {
	content, err := app.Body.Content()
	if err != nil {
		panic(err)
	}
	list := []any{}
	for j, i := range p.comesFrom(before) {
		e := p.elements[j]
		if i < 0 {
			list = append(list, e)
			continue
		}
		component := string(content.Elements[i].Manifest)
		for _, named := range [][2]string{{`{"name":` + quoted(before.elements[i].Component.Name),
			`{"name":` + quoted(e.Component.Name)},
			{`"version":` + quoted(before.elements[i].Component.Version), `"version":` + quoted(e.Component.Version)}} {
			component = strings.Replace(component, named[0], named[1], 1)
		}
		list = append(list,
			map[string]any{"id": fmt.Sprint(i), "component": json.RawMessage(component), "config": e.Config})
	}
	return fmt.Appendf(nil,
		`[{"op":"test","path":"/apps/0/version","value":"%d"},{"op":"replace","path":"/apps/0/title","value":%s},`+
			`{"op":"replace","path":"/apps/0/groups","value":%s},{"op":"replace","path":"/apps/0/elements",`+
			`"value":%s}]`,
		app.Version.Number(), quoted(p.title), quoted(p.groups), quoted(list))
}

func quoted(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func (w *workshop) diff(id string, from, to int) appsvc.Diff {
	w.t.Helper()
	d, err := w.As(designer).Diff(context.Background(), id, vitrine.NewVersion(from), vitrine.NewVersion(to))
	if err != nil {
		w.t.Fatal(err)
	}
	return d
}

// operations returns the operations of a patch behind the version test, as texts.
func operations(t *testing.T, d appsvc.Diff) []string {
	t.Helper()
	var ops []json.RawMessage
	if err := json.Unmarshal(d.Patch, &ops); err != nil {
		t.Fatalf("%s: %v", d.Patch, err)
	}
	if want := fmt.Sprintf(`{"op":"test","path":"/apps/0/version","value":"%s"}`, d.From); len(ops) == 0 ||
		string(ops[0]) != want {
		t.Fatalf("the patch begins with %s, want %s", d.Patch[:min(80, len(d.Patch))], want)
	}
	out := []string{}
	for _, op := range ops[1:] {
		out = append(out, string(op))
	}
	return out
}

// checkDiff checks that the diff between two versions, applied to the older one as the latest, gives the newer one.
func (w *workshop) checkDiff(id string, from, to int) appsvc.Diff {
	w.t.Helper()
	ctx := context.Background()
	d := w.diff(id, from, to)
	restored, err := w.As(designer).Restore(ctx, appsvc.RestoreRequest{AppID: id, Version: vitrine.NewVersion(from)})
	if err != nil {
		w.t.Fatal(err)
	}
	again := w.diff(id, int(restored.Version.Number()), to)
	if a, b := operations(w.t, d), operations(w.t, again); !slices.Equal(a, b) {
		w.t.Fatalf("equal versions have different diffs:\n%s\n%s", d.Patch, again.Patch)
	}
	before, err := w.As(designer).App(ctx, id)
	if err != nil {
		w.t.Fatal(err)
	}
	got, err := w.As(designer).Patch(ctx, id, bytes.NewReader(again.Patch))
	if err != nil {
		w.t.Fatalf("the patch is not accepted: %v\n%.3000s", err, again.Patch)
	}
	want, err := w.As(designer).Version(ctx, id, vitrine.NewVersion(to))
	if err != nil {
		w.t.Fatal(err)
	}
	if a, b := plain(w.t, got), plain(w.t, want); a != b {
		w.t.Fatalf("the patch\n%.3000s\ngives\n%.3000s\nwant\n%.3000s", again.Patch, a, b)
	}
	// Each element that both versions have keeps its key.
	had, has := keysOf(w.t, before), keysOf(w.t, got)
	for i, key := range keysOf(w.t, want) {
		if slices.Contains(had, key) && has[i] != key {
			w.t.Fatalf("the patch\n%.3000s\nmakes %q of the keys %q, want %q", again.Patch, has, had, keysOf(w.t, want))
		}
	}
	return d
}

// plain returns title, groups and elements of a version in one canonical form, in which numbers keep their text.
func plain(t *testing.T, a appsvc.App) string {
	t.Helper()
	c, err := a.Body.Content()
	if err != nil {
		t.Fatal(err)
	}
	out := []any{c.Title, c.Groups}
	for _, e := range c.Elements {
		var config any
		decoder := json.NewDecoder(strings.NewReader(string(e.Config)))
		decoder.UseNumber()
		if err := decoder.Decode(&config); err != nil {
			t.Fatal(err)
		}
		var ref appsvc.ComponentRef
		if err := json.Unmarshal(e.Manifest, &ref); err != nil {
			t.Fatal(err)
		}
		out = append(out, ref, config)
	}
	return quoted(out)
}

func TestOneChangeIsOneOperation(t *testing.T) {
	long := strings.Repeat("lorem ipsum ", 20)
	base := func() page {
		return newPage(
			anyElement(`{"heading":"One","size":1,"text":"`+long+`1"}`),
			anyElement(`{"heading":"Two","size":1,"list":["a","b","c"],"deep":{"a/b":{"m~n":[{"x":1},{"x":2}]}},`+
				`"n":1.10}`),
			textElement("1.0.0", `{"size":3}`),
			anyElement(`{}`),
			anyElement(`{"heading":"Five","null":null,"":"empty"}`),
		)
	}
	tests := []struct {
		name   string
		change func(p *page)
		want   []string
	}{
		{"nothing", func(p *page) {}, nil},
		{"the title", func(p *page) {
			p.title = "Other \"page\""
		}, []string{`{"op":"replace","path":"/apps/0/title","value":"Other \"page\""}`}},
		{"a group more", func(p *page) {
			p.groups = append(p.groups, site2)
		}, []string{`{"op":"add","path":"/apps/0/groups/1","value":"` + site2 + `"}`}},
		{"a group in front", func(p *page) {
			p.groups = []string{site2, site1}
		}, []string{`{"op":"add","path":"/apps/0/groups/0","value":"` + site2 + `"}`}},
		{"another group", func(p *page) {
			p.groups = []string{site2}
		}, []string{`{"op":"replace","path":"/apps/0/groups/0","value":"` + site2 + `"}`}},
		{"a field", func(p *page) {
			p.elements[2].Config = json.RawMessage(`{"size":4}`)
		}, []string{`{"op":"replace","path":"/apps/0/elements/2/config/size","value":4}`}},
		{"a field more", func(p *page) {
			p.elements[3].Config = json.RawMessage(`{"a":"x"}`)
		}, []string{`{"op":"add","path":"/apps/0/elements/3/config/a","value":"x"}`}},
		{"a field less", func(p *page) {
			p.elements[2].Config = json.RawMessage(`{}`)
		}, []string{`{"op":"remove","path":"/apps/0/elements/2/config/size"}`}},
		{"the order of fields", func(p *page) {
			p.elements[4].Config = json.RawMessage(`{"":"empty","null":null,"heading":"F\u0069ve"}`)
		}, nil},
		{"the order of fields, of an element that is new", func(p *page) {
			p.elements[4].Config = json.RawMessage(`{"":"empty","null":null,"heading":"Five"}`)
			p.from = []int{0, 1, 2, 3, -1}
		}, []string{`{"op":"remove","path":"/apps/0/elements/4"}`,
			`{"op":"add","path":"/apps/0/elements/4","value":{"component":{"name":"any","version":"1"},` +
				`"config":{"":"empty","null":null,"heading":"Five"}}}`}},
		{"the text of a number", func(p *page) {
			replaceIn(p, 1, "1.10", "1.1")
		}, []string{`{"op":"replace","path":"/apps/0/elements/1/config/n","value":1.1}`}},
		{"null for a value", func(p *page) {
			replaceIn(p, 1, "1.10", "null")
		}, []string{`{"op":"replace","path":"/apps/0/elements/1/config/n","value":null}`}},
		{"a value for null", func(p *page) {
			replaceIn(p, 4, `:null`, `:0`)
		}, []string{`{"op":"replace","path":"/apps/0/elements/4/config/null","value":0}`}},
		{"null removed", func(p *page) {
			replaceIn(p, 4, `"null":null,`, ``)
		}, []string{`{"op":"remove","path":"/apps/0/elements/4/config/null"}`}},
		{"a field with an empty name", func(p *page) {
			replaceIn(p, 4, `"empty"`, `"full"`)
		}, []string{`{"op":"replace","path":"/apps/0/elements/4/config/","value":"full"}`}},
		{"a field deep inside, with names that need escapes", func(p *page) {
			replaceIn(p, 1, `"x":2`, `"x":3`)
		}, []string{`{"op":"replace","path":"/apps/0/elements/1/config/deep/a~1b/m~0n/1/x","value":3}`}},
		{"an item more", func(p *page) {
			replaceIn(p, 1, `"a","b"`, `"a","+","b"`)
		}, []string{`{"op":"add","path":"/apps/0/elements/1/config/list/1","value":"+"}`}},
		{"an item less", func(p *page) {
			replaceIn(p, 1, `"a","b"`, `"b"`)
		}, []string{`{"op":"remove","path":"/apps/0/elements/1/config/list/0"}`}},
		{"an item", func(p *page) {
			replaceIn(p, 1, `"b"`, `"B"`)
		}, []string{`{"op":"replace","path":"/apps/0/elements/1/config/list/1","value":"B"}`}},
		{"a list for an object", func(p *page) {
			replaceIn(p, 1, `["a","b","c"]`, `{"0":"a"}`)
		}, []string{`{"op":"replace","path":"/apps/0/elements/1/config/list","value":{"0":"a"}}`}},
		{"three fields", func(p *page) {
			replaceIn(p, 0, `"One"`, `"Uno"`)
			replaceIn(p, 0, `"size":1`, `"size":2`)
			replaceIn(p, 0, `ipsum 1`, `ipsum 2`)
		}, []string{
			`{"op":"replace","path":"/apps/0/elements/0/config/heading","value":"Uno"}`,
			`{"op":"replace","path":"/apps/0/elements/0/config/size","value":2}`,
			`{"op":"replace","path":"/apps/0/elements/0/config/text","value":"` + long + `2"}`,
		}},
		{"an element in front", func(p *page) {
			p.elements = slices.Insert(p.elements, 0, anyElement(`{"heading":"Zero"}`))
		},
			[]string{`{"op":"add","path":"/apps/0/elements/0","value":{"component":{"name":"any","version":"1"},` +
				`"config":{"heading":"Zero"}}}`}},
		{"an element at the end", func(p *page) { p.elements = append(p.elements, anyElement(`{}`)) },
			[]string{`{"op":"add","path":"/apps/0/elements/5","value":{"component":{"name":"any","version":"1"},` +
				`"config":{}}}`}},
		{"an element less", func(p *page) {
			p.elements = slices.Delete(p.elements, 1, 2)
		}, []string{`{"op":"remove","path":"/apps/0/elements/1"}`}},
		{"all elements less", func(p *page) { p.elements = nil }, []string{
			`{"op":"remove","path":"/apps/0/elements/4"}`, `{"op":"remove","path":"/apps/0/elements/3"}`,
			`{"op":"remove","path":"/apps/0/elements/2"}`,
			`{"op":"remove","path":"/apps/0/elements/1"}`, `{"op":"remove","path":"/apps/0/elements/0"}`,
		}},
		{"four elements less", func(p *page) { p.elements = p.elements[2:3] }, []string{
			`{"op":"remove","path":"/apps/0/elements/4"}`, `{"op":"remove","path":"/apps/0/elements/3"}`,
			`{"op":"remove","path":"/apps/0/elements/1"}`, `{"op":"remove","path":"/apps/0/elements/0"}`,
		}},
		{"an element to the front", func(p *page) {
			p.elements = append([]appsvc.NewElement{p.elements[4]}, p.elements[:4]...)
		},
			[]string{`{"op":"move","from":"/apps/0/elements/4","path":"/apps/0/elements/0"}`}},
		{"an element to the end", func(p *page) { p.elements = append(p.elements[1:], p.elements[0]) },
			[]string{`{"op":"move","from":"/apps/0/elements/0","path":"/apps/0/elements/4"}`}},
		{"an element moved and edited", func(p *page) {
			replaceIn(p, 0, `"One"`, `"Uno"`)
			p.elements = append(p.elements[1:], p.elements[0])
			p.from = []int{1, 2, 3, 4, 0}
		}, []string{`{"op":"move","from":"/apps/0/elements/0","path":"/apps/0/elements/4"}`,
			`{"op":"replace","path":"/apps/0/elements/4/config/heading","value":"Uno"}`}},
		{"another version of a component", func(p *page) {
			p.elements[2] = textElement("2.0.0", `{"size":"3"}`)
		}, []string{`{"op":"replace","path":"/apps/0/elements/2/component/version","value":"2.0.0"}`,
			`{"op":"replace","path":"/apps/0/elements/2/config/size","value":"3"}`}},
		{"another component with the same config", func(p *page) {
			p.elements[2] = appsvc.NewElement{Component: appsvc.ComponentRef{Name: "other", Version: "1.0.0"},
				Config: json.RawMessage(`{"size":3}`)}
		}, []string{`{"op":"replace","path":"/apps/0/elements/2/component/name","value":"other"}`}},
		{"another element in its place", func(p *page) {
			p.elements[0] = textElement("1.0.0", `{"size":9}`)
			p.from = []int{-1, 1, 2, 3, 4}
		}, []string{`{"op":"remove","path":"/apps/0/elements/0"}`,
			`{"op":"add","path":"/apps/0/elements/0","value":{"component":{"name":"text","version":"1.0.0"},` +
				`"config":{"size":9}}}`}},
		{"an equal element in its place", func(p *page) { p.from = []int{0, 1, -1, 3, 4} },
			[]string{`{"op":"remove","path":"/apps/0/elements/2"}`,
				`{"op":"add","path":"/apps/0/elements/2","value":{"component":{"name":"text","version":"1.0.0"},` +
					`"config":{"size":3}}}`}},
		{"a copy", func(p *page) {
			p.elements = append(p.elements, p.elements[2])
			p.from = []int{0, 1, 2, 3, 4, 2}
		}, []string{`{"op":"add","path":"/apps/0/elements/5","value":{"component":{"name":"text","version":"1.0.0"},` +
			`"config":{"size":3}}}`}},
		{"one removed and one far away added", func(p *page) {
			p.elements = append(p.elements[1:], anyElement(`{"heading":"Six"}`))
		},
			[]string{`{"op":"remove","path":"/apps/0/elements/0"}`,
				`{"op":"add","path":"/apps/0/elements/4","value":{"component":{"name":"any","version":"1"},` +
					`"config":{"heading":"Six"}}}`}},
		{"one inserted and its neighbour edited", func(p *page) {
			replaceIn(p, 0, `"One"`, `"Uno"`)
			p.elements = slices.Insert(p.elements, 0, anyElement(`{"heading":"Zero"}`))
			p.from = []int{-1, 0, 1, 2, 3, 4}
		}, []string{`{"op":"add","path":"/apps/0/elements/0","value":{"component":{"name":"any","version":"1"},` +
			`"config":{"heading":"Zero"}}}`,
			`{"op":"replace","path":"/apps/0/elements/1/config/heading","value":"Uno"}`}},
		{"a name that is longer than what replaces it", func(p *page) {
			replaceIn(p, 3, `{}`, `{"`+strings.Repeat("~", 2000)+`":1}`)
		},
			[]string{`{"op":"add","path":"/apps/0/elements/3/config/` + strings.Repeat("~0", 2000) + `","value":1}`}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newWorkshop(t)
			w.component(`{"name":"other","version":"1.0.0","main":"https://example.test/text.js","configSchema":{}}`)
			changed := base()
			test.change(&changed)
			id := w.history(base(), changed)
			if got := operations(t, w.checkDiff(id, 0, 1)); !slices.Equal(got, test.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
			w.checkDiff(id, 1, 0)
		})
	}
}

func replaceIn(p *page, element int, old, new string) {
	before := string(p.elements[element].Config)
	if !strings.Contains(before, old) {
		panic(before + " has no " + old)
	}
	p.elements[element].Config = json.RawMessage(strings.Replace(before, old, new, 1))
}

// A member's order, and a manifest that was copied anew, are no difference.
func TestDiffOfEqualElements(t *testing.T) {
	ctx, w := context.Background(), newWorkshop(t)
	id := w.history(newPage(anyElement(`{"a":1,"b":2}`), textElement("1.0.0", `{}`)))
	patch := func(v int, op string) {
		t.Helper()
		if _, err := w.As(designer).Patch(ctx, id,
			strings.NewReader(fmt.Sprintf(`[{"op":"test","path":"/apps/0/version","value":"%d"},%s]`, v,
				op))); err != nil {
			t.Fatal(err)
		}
	}
	patch(0, `{"op":"remove","path":"/apps/0/elements/0/config/a"}`)
	patch(1, `{"op":"add","path":"/apps/0/elements/0/config/a","value":1}`)
	first, err := w.As(designer).Version(ctx, id, vitrine.NewVersion(0))
	if err != nil {
		t.Fatal(err)
	}
	last, err := w.As(designer).App(ctx, id)
	if err != nil || bytes.Equal(first.Body, last.Body) {
		t.Fatalf("the order of members is the same, %v", err)
	}
	if err := w.As(designer).DeleteComponent(ctx, appsvc.DeleteComponentRequest{Name: "text"}); err != nil {
		t.Fatal(err)
	}
	forget(t, w.db)
	w.component(`{"name":"text","version":"1.0.0","main":"/new.js","configSchema":{}}`)
	patch(2, `{"op":"add","path":"/apps/0/elements/1/config/size","value":3}`)
	patch(3, `{"op":"remove","path":"/apps/0/elements/1/config/size"}`)
	for _, to := range []int{2, 4} {
		if got := operations(t, w.checkDiff(id, 0, to)); len(got) > 0 {
			t.Errorf("version %d: got %s, want nothing", to, got)
		}
	}
}

func TestDiffErrors(t *testing.T) {
	ctx, w := context.Background(), newWorkshop(t)
	id := w.history(newPage(), newPage(anyElement(`{}`)))
	v := vitrine.NewVersion[int]
	for _, test := range []struct {
		name     string
		by       vitrine.Caller
		id       string
		from, to vitrine.Version
		want     error
	}{
		{"no version from", designer, id, vitrine.Version{}, v(1), vitrine.ErrInvalid},
		{"no version to", designer, id, v(0), vitrine.Version{}, vitrine.ErrInvalid},
		{"a version from that is not there", designer, id, v(2), v(1), vitrine.ErrNotFound},
		{"a version to that is not there", designer, id, v(1), v(2), vitrine.ErrNotFound},
		{"no such app", designer, "x", v(0), v(1), vitrine.ErrNotFound},
		{"a stranger", moderator(site2), id, v(0), v(1), vitrine.ErrNotFound},
		{"tags only", vitrine.Caller{URN: designer.URN, Reads: []string{site1}, TagsOnly: true}, id, v(0), v(1),
			vitrine.ErrForbidden},
		{"a bad caller", vitrine.Caller{URN: "x"}, id, v(0), v(1), vitrine.ErrInvalid},
		{"a reader", vitrine.Caller{URN: designer.URN + "2", Reads: []string{site1}}, id, v(0), v(1), nil},
		{"the latest", designer, id, v(0), vitrine.Latest, nil},
		{"a version and itself", designer, id, v(1), v(1), nil},
	} {
		d, err := w.As(test.by).Diff(ctx, test.id, test.from, test.to)
		if !errors.Is(err, test.want) || test.want == nil && (d.From != test.from || d.To != v(1)) {
			t.Errorf("%s: %+v, %v, want %v", test.name, d, err, test.want)
		}
	}
}

// A diff has as many operations as a patch may have, and no more.
func TestDiffHasAtMostAsManyOperationsAsAPatch(t *testing.T) {
	numbers := func(elements, fields, from int) page {
		p := newPage()
		for e := range elements {
			var config []string
			for f := range fields {
				config = append(config, fmt.Sprintf(`"field%d":%d`, f, from+e*fields+f))
			}
			config = append(config, `"text":"`+strings.Repeat("x", 300)+`"`)
			p.elements = append(p.elements, anyElement("{"+strings.Join(config, ",")+"}"))
		}
		return p
	}
	for _, test := range []struct {
		name             string
		elements, fields int
		want             int
		first            string
	}{
		{"999 fields", 333, 3, 999, `{"op":"replace","path":"/apps/0/elements/0/config/field0"`},
		{"1,000 fields", 250, 4, 250, `{"op":"replace","path":"/apps/0/elements/0/config","value"`},
		{"2,000 fields of 1,000 elements", 1000, 2, 1, `{"op":"replace","path":"/apps/0/elements","value"`},
		{"1,000 fields of one config", 1, 1000, 1, `{"op":"replace","path":"/apps/0/elements/0/config","value"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorkshop(t)
			id := w.history(numbers(test.elements, test.fields, 0), numbers(test.elements, test.fields, 1_000_000))
			ops := operations(t, w.checkDiff(id, 0, 1))
			if len(ops) != test.want || !strings.HasPrefix(ops[0], test.first) {
				t.Errorf("%d operations, the first %.100s; want %d, %s", len(ops), ops[0], test.want, test.first)
			}
		})
	}
}

// Operations inside a very long list are so few that a patch of them is accepted; those beside it need not be few.
func TestDiffIsAcceptedInsideALongList(t *testing.T) {
	long := func(changed, value int) page {
		list := slices.Repeat([]string{"0"}, 150_000)
		for i := range changed {
			list[500*i] = "1"
		}
		p := newPage(anyElement(`{"list":[` + strings.Join(list, ",") + `]}`))
		for range 300 {
			p.elements = append(p.elements,
				anyElement(fmt.Sprintf(`{"a":"%s","b":%d}`, strings.Repeat("x", 100), value)))
			value++
		}
		return p
	}
	w := newWorkshop(t)
	id := w.history(long(0, 0), long(0, 1000), long(100, 1000), long(300, 1000))
	for from, want := range []int{300, 100, 1} {
		if ops := operations(t, w.checkDiff(id, from, from+1)); len(ops) != want {
			t.Errorf("version %d: %d operations, want %d", from, len(ops), want)
		}
	}
}

// A comparison that takes too long is ended, and what was not compared is replaced whole.
func TestDiffIsCoarserBeyondItsBudget(t *testing.T) {
	nested := func(text string, n int) page {
		config := fmt.Sprintf(`{"text":"%s","n":%d}`, text, n)
		for range 40 {
			config = `{"a":` + config + `}`
		}
		return newPage(anyElement(config))
	}
	w := newLimitedWorkshop(t, appsvc.Limits{PatchBytes: 64 << 20, DocumentBytes: 64 << 20, AppBytes: 64 << 20})
	small, big := "x", strings.Repeat("x", 15<<20)
	for text, bounds := range map[string][2]int{small: {41, 41}, big: {5, 40}} { // levels
		id := w.history(nested(text, 1), nested(text, 2))
		ops := operations(t, w.diff(id, 0, 1))
		beginning := ops[0][:min(300, len(ops[0]))]
		levels := strings.Count(beginning, "/a") + strings.Count(beginning, "/n") - 1 // of /apps
		if len(ops) != 1 || levels < bounds[0] || levels > bounds[1] {
			t.Errorf("%d operations, %d levels deep, want 1, between %v levels", len(ops), levels, bounds)
		}
	}
}

// Configs as deep as a patch can add them fit into no list of elements in a patch.
func TestDiffOfTheDeepestConfigs(t *testing.T) {
	deepest := strings.Repeat(`{"a":`, 60) + "{}" + strings.Repeat("}", 60)
	w := newWorkshop(t)
	many, others := newPage(), newPage()
	for i := range 1000 { // 2,000 changes, more than a patch may have
		many.elements = append(many.elements, anyElement(fmt.Sprintf(`{"a":%d,"b":%d}`, i, i)))
		others.elements = append(others.elements, anyElement(fmt.Sprintf(`{"a":%d,"b":%d}`, i+5000, i+5000)))
	}
	id := w.history(many, others)
	app, err := w.As(designer).Patch(context.Background(), id,
		strings.NewReader(`[{"op":"test","path":"/apps/0/version","value":"1"},`+
			`{"op":"replace","path":"/apps/0/elements/7","value":`+quoted(anyElement(deepest))+`}]`))
	if err != nil {
		t.Fatal(err)
	}
	ops := operations(t, w.checkDiff(id, 0, int(app.Version.Number())))
	if len(ops) != 2 || !strings.HasPrefix(ops[1], `{"op":"add","path":"/apps/0/elements/7"`) {
		t.Errorf("%d operations: %.500s", len(ops), ops)
	}
}

// randomPages makes pages of which one comes from another by some random changes.
type randomPages struct{ *rand.Rand }

func (r randomPages) page() page {
	p := page{title: r.text(), groups: r.groups()}
	for range r.IntN(1 + r.IntN(12)) {
		p.elements = append(p.elements, r.element())
	}
	return p
}

func (r randomPages) text() string {
	return []string{"a", "b", "ü \"\\", "<&>", "1", "\u2028", strings.Repeat("long ", 30)}[r.IntN(7)]
}

func (r randomPages) groups() []string {
	all := []string{site1, site2, "urn:vitrine:example.test", "urn:vitrine:example.test:site=3"}
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:1+r.IntN(len(all))]
}

func (r randomPages) element() appsvc.NewElement {
	if r.IntN(4) == 0 {
		return textElement("1.0.0", fmt.Sprintf(`{"size":%d}`, r.IntN(3)))
	}
	e := anyElement(r.object(4))
	e.Component.Name = []string{"any", "any", "other"}[r.IntN(3)]
	return e
}

func (r randomPages) object(depth int) string {
	names := []string{"a", "b", "", "~", "/", "a/b", "~1", "é", "0", "01", "-", "\\\""}
	r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	var members []string
	for _, name := range names[:r.IntN(4)] {
		members = append(members, quoted(name)+":"+r.value(depth-1))
	}
	return "{" + strings.Join(members, ",") + "}"
}

func (r randomPages) value(depth int) string {
	switch n := r.IntN(8); {
	case depth > 0 && n == 0:
		return r.object(depth)
	case depth > 0 && n < 3:
		items := make([]string, r.IntN(6))
		for i := range items {
			items[i] = r.value(depth - 1)
		}
		return "[" + strings.Join(items, ",") + "]"
	case n < 6:
		return []string{"1", "1.0", "1e0", "9007199254740993", "null", "true", `"1"`, `"\u0061"`, `"a"`,
			"-0"}[r.IntN(10)]
	}
	return quoted(r.text())
}

// changed returns the page with some changes.
func (r randomPages) changed(p page) page {
	p.elements = slices.Clone(p.elements)
	for range r.IntN(6) {
		n := len(p.elements)
		switch k := r.IntN(9); {
		case k == 0:
			p.title = r.text()
		case k == 1:
			p.groups = r.groups()
		case k == 2:
			p.elements = slices.Insert(p.elements, r.IntN(n+1), r.element())
		case n == 0:
		case k == 3:
			i := r.IntN(n)
			p.elements = slices.Delete(p.elements, i, i+1)
		case k == 4:
			i := r.IntN(n)
			e := p.elements[i]
			p.elements = slices.Delete(p.elements, i, i+1)
			p.elements = slices.Insert(p.elements, r.IntN(n), e)
		case k == 5:
			p.elements = slices.Insert(p.elements, r.IntN(n+1), p.elements[r.IntN(n)])
		case k == 6:
			p.elements[r.IntN(n)] = r.element()
		default:
			i := r.IntN(n)
			if e := p.elements[i]; e.Component.Name != "text" {
				e.Config = json.RawMessage(r.edited(string(e.Config)))
				p.elements[i] = e
			}
		}
	}
	return p
}

// edited changes one value in a config.
func (r randomPages) edited(config string) string {
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(config), &members); err != nil {
		panic(err)
	}
	for name, value := range members {
		if r.IntN(2) == 0 && value[0] == '[' {
			var items []json.RawMessage
			_ = json.Unmarshal(value, &items)
			members[name] = json.RawMessage(
				quoted(slices.Insert(items, r.IntN(len(items)+1), json.RawMessage(r.value(2)))))
		} else {
			members[name] = json.RawMessage(r.value(3))
		}
		return quoted(members)
	}
	return r.object(3)
}

func checkRandomDiff(t *testing.T, seed uint64) {
	r := randomPages{rand.New(rand.NewPCG(seed, 0))}
	w := newWorkshop(t)
	w.component(`{"name":"other","version":"1","main":"/other.js","configSchema":{}}`)
	a := r.page()
	b := r.changed(a)
	if r.IntN(5) == 0 {
		b = r.page()
	}
	if len(a.elements) == 0 && len(b.elements) == 0 && a.title == b.title && slices.Equal(a.groups, b.groups) {
		return // makes no version
	}
	id := w.history(a, b)
	w.checkDiff(id, 0, 1)
	w.checkDiff(id, 1, 0)
}

func TestDiffOfRandomVersions(t *testing.T) {
	count := uint64(1000)
	if proof.Short() {
		count = 60
	}
	for seed := range count {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { checkRandomDiff(t, seed) })
	}
}

func FuzzDiff(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(seed)
	}
	f.Fuzz(checkRandomDiff)
}
