package appsvc_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// contents is a workshop with a component that takes any config, and apps of one element for each config.
func contents(
	t testing.TB, o appsvc.Options,
) (svc *appsvc.Service, add func(title, group string, configs ...string) string) {
	svc = appsvc.New(memory.New(), &o)
	ctx := context.Background()
	if _, err := svc.As(admin).CreateComponent(ctx, appsvc.CreateComponentRequest{
		Manifest: strings.NewReader(
			`{"name":"any","version":"1","main":"/any.js","configSchema":{"title":"Zimt"}}`)}); err != nil {
		t.Fatal(err)
	}
	return svc, func(title, group string, configs ...string) string {
		t.Helper()
		in := appsvc.CreateAppRequest{Title: title, Groups: []string{group}}
		for _, config := range configs {
			in.Elements = append(in.Elements,
				appsvc.NewElement{Component: appsvc.ComponentRef{Name: "any", Version: "1"},
					Config: json.RawMessage(config)})
		}
		app, err := svc.As(admin).CreateApp(ctx, in)
		if err != nil {
			t.Fatal(err)
		}
		return app.ID
	}
}

func TestSearchInContent(t *testing.T) {
	ctx, now := context.Background(), time.UnixMilli(1_700_000_000_000)
	svc, add := contents(t, appsvc.Options{Now: func() time.Time { now = now.Add(time.Millisecond); return now }})
	all := map[string]string{}
	for _, app := range []struct{ title, group, config string }{
		{"Plätzchen", site1, `{"t":"Die Zimtsterne"}`},
		{"Languages", site1,
			`{"t":{"lang:de":"Grüße aus\nKiel","lang:en":"Greetings from \"Kiel\""},"list":[1,{"a/b~":"KIEL"}]}`},
		{"Kiel", site1, `{"kiel":"a name is no text","n":1.10}`},
		{"Apart", site1, `{"a":"Grüße","b":"Kiel"}`},
		{"Many", site1, `{"a":["kiel","kiel kiel","kielwasser","kiel"]}`},
		{"Other site", site2, `{"t":"Kiel"}`},
	} {
		all[app.title] = add(app.title, app.group, app.config)
	}
	reader := vitrine.Caller{URN: network + ":user=r", Reads: []string{site1}}
	for _, test := range []struct {
		query, in string
		by        vitrine.Caller
		want      string
	}{
		{"zimt", "content", ann, "Plätzchen 0.0/t"}, // and not in the manifest
		{"GRUSSE kiel", "content", ann, "Languages 0.0/t/lang:de"},
		{"kiel", "content", ann, "Many 0.0/a/0 0.0/a/1 0.0/a/2, Apart 0.0/b, " +
			"Languages 0.0/t/lang:de 0.0/t/lang:en 0.0/list/1/a~1b~0"},
		{"kiel", "title,content", reader, "Many 0.0/a/0 0.0/a/1 0.0/a/2, Apart 0.0/b, Kiel, " +
			"Languages 0.0/t/lang:de 0.0/t/lang:en 0.0/list/1/a~1b~0"},
		{"kiel", "content", admin, "Other site 0.0/t, Many 0.0/a/0 0.0/a/1 0.0/a/2, Apart 0.0/b, " +
			"Languages 0.0/t/lang:de 0.0/t/lang:en 0.0/list/1/a~1b~0"},
		{"kiel", "content", nobody, ""},
		{"...", "content", ann, ""},
		{"name", "content", ann, "Kiel 0.0/kiel"},
		{"lang", "content", ann, ""},
	} {
		for _, summary := range []bool{false, true} {
			var got []string
			for app, err := range svc.As(test.by).AllApps(ctx, appsvc.ListAppsRequest{Query: test.query,
				In: strings.Split(test.in, ","), Limit: 1, Summary: summary}) {
				if err != nil {
					t.Fatal(err)
				}
				line := app.Title
				for _, f := range app.Found {
					line += " " + f.Element + f.Pointer
				}
				if got = append(got, line); app.Found == nil || (app.Body == nil) != summary ||
					app.ID != all[app.Title] {
					t.Errorf("%+v", app)
				}
				var back appsvc.App
				text := app.AppendJSON(nil)
				if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(back.Found, app.Found) ||
					!strings.Contains(string(text), `,"found":[`) {
					t.Errorf("%s: %v", text, err)
				}
			}
			if list := strings.Join(got, ", "); list != test.want {
				t.Errorf("%q in %s: %s, want %s", test.query, test.in, list, test.want)
			}
		}
	}
	for _, test := range []struct {
		in   appsvc.ListAppsRequest
		want string
	}{
		{appsvc.ListAppsRequest{Query: "a", In: []string{"body"}}, "in"},
		{appsvc.ListAppsRequest{Query: "a", In: []string{}}, "in"},
		{appsvc.ListAppsRequest{In: []string{"content"}}, "in"},
		{appsvc.ListAppsRequest{Query: "a", In: []string{"content"}, Sort: appsvc.UpdatedDescending}, "sort"},
		{appsvc.ListAppsRequest{Query: "a", In: []string{"content"}, After: "x"}, "after"},
		{appsvc.ListAppsRequest{Query: "a", In: []string{"content"}, Limit: 501}, "limit"},
	} {
		_, err := svc.As(ann).ListApps(ctx, test.in)
		if e := wantCode(t, err, vitrine.CodeInvalid); e.Parameter != test.want && e.Pointer != test.want {
			t.Errorf("%+v: %+v", test.in, e)
		}
	}
	page, err := svc.As(ann).ListApps(ctx, appsvc.ListAppsRequest{Query: "kiel", In: []string{"title"}})
	if err != nil || len(page.Items) != 1 || page.Items[0].Found != nil {
		t.Errorf("%+v, %v", page.Items, err)
	}
	if err := svc.As(ann).DeleteApp(ctx, all["Many"]); err != nil {
		t.Fatal(err)
	}
	for deleted, want := range map[bool]int{true: 1, false: 2} {
		page, err := svc.As(ann).ListApps(ctx, appsvc.ListAppsRequest{Query: "kiel", In: []string{"content"},
			Deleted: deleted, UsingComponent: "any", Group: site1})
		if err != nil || len(page.Items) != want {
			t.Errorf("%+v, %v", page.Items, err)
		}
	}
}

// A page ends after a second of work, also without a result, and the next one goes on from there.
func TestASearchInContentEndsInTime(t *testing.T) {
	now, step := time.UnixMilli(1_700_000_000_000), time.Duration(0)
	svc, add := contents(t, appsvc.Options{Now: func() time.Time { now = now.Add(step); return now }})
	add("first", site1, `{"t":"needle"}`)
	for n := range 249 {
		add(fmt.Sprint(n), site1, `{"t":"hay"}`)
	}
	step = 10 * time.Millisecond
	in := appsvc.ListAppsRequest{Query: "needle", In: []string{"content"}, Summary: true}
	pages, found := 0, 0
	for ; pages < 10; pages++ {
		page, err := svc.As(ann).ListApps(context.Background(), in)
		if err != nil {
			t.Fatal(err)
		}
		if found += len(page.Items); page.Next == "" {
			break
		}
		in.After = page.Next
	}
	if pages != 2 || found != 1 {
		t.Errorf("%d pages before the last one, %d found", pages, found)
	}
}

// BenchmarkSearchInContent looks for a word that no app has in 10,000 apps of 5 KB.
func BenchmarkSearchInContent(b *testing.B) {
	svc, add := contents(b, appsvc.Options{})
	text := strings.Repeat("Die schönen Grüße aus Kiel, und was sonst noch zu sagen wäre. ", 8)
	var config []string
	for n := range 9 {
		config = append(config, fmt.Sprintf(`"field%d":{"lang:de":%q,"size":%d}`, n, text, n))
	}
	body := "{" + strings.Join(config, ",") + "}"
	for n := range 10_000 {
		add(fmt.Sprint(n), site1, body)
	}
	b.SetBytes(10_000 * int64(len(body)))
	b.ReportMetric(float64(len(body)), "B/app")
	for b.Loop() {
		pages := 0
		for in := (appsvc.ListAppsRequest{Query: "nadel", In: []string{"content"}, Summary: true}); ; pages++ {
			page, err := svc.As(ann).ListApps(context.Background(), in)
			if err != nil || len(page.Items) > 0 {
				b.Fatal(err)
			}
			if in.After = page.Next; in.After == "" {
				break
			}
		}
	}
}
