package appsvc_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
)

func TestCreateApp(t *testing.T) {
	w := newWorkshop(t)
	app := w.app()
	id, err := uuid.Parse(app.ID)
	if err != nil || id.Version() != 4 {
		t.Errorf("id = %q, want a UUID of version 4", app.ID)
	}
	manifest := func(name, version, id, main, rest string) string {
		return fmt.Sprintf(`{"name":%q,"version":%q,"id":%q,"description":null,"main":%q,%s}`, name, version, id, main,
			rest)
	}
	text, err := w.As(editor).Component(context.Background(), "text")
	if err != nil || text.Version != "2.0.0" {
		t.Fatalf("component text = %+v, %v", text, err)
	}
	content, err := app.Body.Content()
	if err != nil {
		t.Fatal(err)
	}
	var ids [2]struct{ ID string }
	for i, e := range content.Elements {
		if err := json.Unmarshal(e.Manifest, &ids[i]); err != nil {
			t.Fatal(err)
		}
	}
	want := `{"id":"` + app.ID +
		`","version":"0","createdAt":1700000000000,"updatedAt":1700000000000,"updatedBy":{"urn":"` + editor.URN +
		`"},` +
		`"title":"First","owner":{"urn":"` + editor.URN + `"},"groups":["` + site1 + `"],"elements":[` +
		`{"id":"0","key":"0.0","component":` +
		manifest("text", "1.0.0", ids[0].ID, "https://example.test/text.js",
			`"configSchema":{"type":"object","properties":{"size":{"type":"integer"}}},"vendor":{"a":1.10}`) +
		`,"config":{"size":1}},` +
		`{"id":"1","key":"0.1","component":` + manifest("any", "1", ids[1].ID, "/any.js", `"configSchema":{}`) +
		`,"config":{"n":1.10,"big":9007199254740993,"list":["a","b"]}}]}`
	if got := string(app.AppendJSON(nil)); got != want {
		t.Errorf("the app reads\n%s, want\n%s", got, want)
	}
}

func TestCreateAppRefuses(t *testing.T) {
	element := func(name, version, config string) appsvc.NewElement {
		return appsvc.NewElement{Component: appsvc.ComponentRef{Name: name, Version: version},
			Config: json.RawMessage(config)}
	}
	groups := func(n int) (out []string) {
		for i := range n {
			out = append(out, fmt.Sprintf("urn:vitrine:example.test:site=%d", i))
		}
		return out
	}
	deep := func(n int) string {
		return strings.Repeat(`{"a":`, n-1) + `{}` + strings.Repeat(`}`, n-1)
	}
	moderator := editor
	moderator.Moderates = []string{"urn:vitrine:example.test"}
	tests := []struct {
		name string
		edit func(*appsvc.CreateAppRequest)
		err  error
		says string
	}{
		{"nothing wrong", func(*appsvc.CreateAppRequest) {}, nil, ""},
		{"no title", func(a *appsvc.CreateAppRequest) { a.Title = "" }, vitrine.ErrInvalid, "title"},
		{"a title at the limit", func(a *appsvc.CreateAppRequest) { a.Title = strings.Repeat("é", 1024) }, nil, ""},
		{"a title over the limit", func(a *appsvc.CreateAppRequest) {
			a.Title = strings.Repeat("é", 1025)
		}, vitrine.ErrInvalid, "title"},
		{"a title that is no UTF-8", func(a *appsvc.CreateAppRequest) {
			a.Title = "\xff"
		}, vitrine.ErrInvalid, "title"},
		{"a group that is no UTF-8", func(a *appsvc.CreateAppRequest) {
			a.Groups = []string{network + ":site=\xff"}
		}, vitrine.ErrInvalid, "groups/0"},
		{"no groups", func(a *appsvc.CreateAppRequest) { a.Groups = nil }, vitrine.ErrInvalid, "groups"},
		{"a malformed group", func(a *appsvc.CreateAppRequest) {
			a.Groups = []string{site1, "site 1"}
		}, vitrine.ErrInvalid, "groups/1"},
		{"a user as a group", func(a *appsvc.CreateAppRequest) {
			a.Groups = []string{editor.URN}
		}, vitrine.ErrInvalid, "groups/0"},
		{"a group twice", func(a *appsvc.CreateAppRequest) {
			a.Groups = []string{site1, site1}
		}, vitrine.ErrInvalid, "groups/1"},
		{"as many groups as allowed", func(a *appsvc.CreateAppRequest) { a.Groups = groups(100) }, nil, ""},
		{"a group too many", func(a *appsvc.CreateAppRequest) { a.Groups = groups(101) }, vitrine.ErrInvalid, "groups"},
		{"a group of others", func(a *appsvc.CreateAppRequest) {
			a.Groups = []string{site1, "urn:vitrine:other.test"}
		}, vitrine.ErrForbidden, "other.test"},
		{"no elements", func(a *appsvc.CreateAppRequest) { a.Elements = nil }, nil, ""},
		{"as many elements as allowed", func(a *appsvc.CreateAppRequest) {
			a.Elements = make([]appsvc.NewElement, 1000)
			for i := range a.Elements {
				a.Elements[i] = element("any", "1", `{}`)
			}
		}, nil, ""},
		{"an element too many", func(a *appsvc.CreateAppRequest) {
			a.Elements = make([]appsvc.NewElement, 1001)
		}, vitrine.ErrInvalid, "elements"},
		{"no component", func(a *appsvc.CreateAppRequest) {
			a.Elements = []appsvc.NewElement{element("", "1", `{}`)}
		}, vitrine.ErrInvalid, "elements/0/component/name"},
		{"no component version", func(a *appsvc.CreateAppRequest) {
			a.Elements = []appsvc.NewElement{element("any", "", `{}`)}
		}, vitrine.ErrInvalid, "elements/0/component/version"},
		{"no config", func(a *appsvc.CreateAppRequest) {
			a.Elements = []appsvc.NewElement{element("any", "1", ``)}
		}, vitrine.ErrInvalid, "elements/0/config"},
		{"a config of null", func(a *appsvc.CreateAppRequest) {
			a.Elements = []appsvc.NewElement{element("any", "1", `null`)}
		}, vitrine.ErrInvalid, "elements/0/config"},
		{"a config that is no JSON", func(a *appsvc.CreateAppRequest) {
			a.Elements = []appsvc.NewElement{element("any", "1", `{"a":1,"a":2}`)}
		}, vitrine.ErrInvalid, `/elements/0/config/a: duplicate member name "a"`},
		{"a config as deep as allowed", func(a *appsvc.CreateAppRequest) {
			a.Elements = []appsvc.NewElement{element("any", "1", deep(61))}
		}, nil, ""},
		{"a config too deep", func(a *appsvc.CreateAppRequest) {
			a.Elements = []appsvc.NewElement{element("any", "1", deep(62))}
		}, vitrine.ErrInvalid, "elements/0/config"},
		{"an unknown component", func(a *appsvc.CreateAppRequest) {
			a.Elements = []appsvc.NewElement{element("none", "1", `{}`)}
		}, vitrine.ErrUnprocessable, "/elements/0/component: there is no component"},
		{"an unknown component version", func(a *appsvc.CreateAppRequest) {
			a.Elements = []appsvc.NewElement{element("any", "1", `{}`), element("any", "2", `{}`)}
		}, vitrine.ErrUnprocessable, "/elements/1/component: there is no component"},
		{"a config against its schema", func(a *appsvc.CreateAppRequest) {
			a.Elements = []appsvc.NewElement{element("any", "1", `{}`), element("text", "1.0.0", `{"size":"x"}`)}
		}, vitrine.ErrUnprocessable, "/elements/1/config: does not conform to"},
		{"an app larger than a patched one may be", func(a *appsvc.CreateAppRequest) {
			a.Elements = []appsvc.NewElement{element("any", "1", `{"a":"`+strings.Repeat("x", 4<<20)+`"}`)}
		}, nil, ""},
		{"an app too large", func(a *appsvc.CreateAppRequest) {
			a.Elements = []appsvc.NewElement{element("any", "1", `{"a":"`+strings.Repeat("x", 16<<20)+`"}`)}
		}, vitrine.ErrTooLarge, "16777216"},
		{"anything under a schema without constraints", func(a *appsvc.CreateAppRequest) {
			a.Elements = []appsvc.NewElement{element("any", "1", `{"a":[`+strings.Repeat("1,", 1_000_000)+`1]}`)}
		}, nil, ""},
		{"configs that are too costly together", func(a *appsvc.CreateAppRequest) {
			for range 1000 {
				a.Elements = append(a.Elements, element("branching", "1", `{"a":1,"b":2,"c":3,"d":4}`))
			}
			a.Elements = a.Elements[1:]
		}, vitrine.ErrUnprocessable, "too long"},
		{"a config that is not too costly by itself", func(a *appsvc.CreateAppRequest) {
			a.Elements = append(a.Elements, element("branching", "1", `{"a":1,"b":2,"c":3,"d":4}`))
		}, nil, ""},
		{"a bad key", func(a *appsvc.CreateAppRequest) {
			a.IdempotencyKey = "a b"
		}, vitrine.ErrInvalid, "Idempotency-Key"},
		{"a key over the limit", func(a *appsvc.CreateAppRequest) {
			a.IdempotencyKey = strings.Repeat("k", 256)
		}, vitrine.ErrInvalid, "Idempotency-Key"},
		{"a key at the limit", func(a *appsvc.CreateAppRequest) {
			a.IdempotencyKey = strings.Repeat("k", 255)
		}, nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorkshop(t)
			w.component(`{"name":"branching","version":"1","main":"/b.js","configSchema":` + branching(10) + `}`)
			in := appsvc.CreateAppRequest{Title: "x", Groups: []string{site1},
				Elements: []appsvc.NewElement{element("any", "1", `{}`)}}
			tt.edit(&in)
			_, err := w.As(moderator).CreateApp(context.Background(), in)
			if !errors.Is(err, tt.err) || err != nil && !strings.Contains(err.Error(), tt.says) {
				t.Errorf("error = %v, want %v with %q in it", err, tt.err, tt.says)
			}
			apps, _, listErr := unpage(w.As(moderator).ListApps(context.Background(), appsvc.ListAppsRequest{}))
			if want := map[bool]int{true: 1, false: 0}[err == nil]; listErr != nil || len(apps) != want {
				t.Errorf("%d apps are stored, want %d; %v", len(apps), want, listErr)
			}
		})
	}
}

// branching is a schema that applies 2^n subschemas to each member of a config.
func branching(n int) string {
	defs := `"d0":{"minimum":0}`
	for i := range n {
		defs += fmt.Sprintf(`,"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]}`, i+1, i, i)
	}
	return fmt.Sprintf(`{"$defs":{%s},"additionalProperties":{"$ref":"#/$defs/d%d"}}`, defs, n)
}

func TestParseVersion(t *testing.T) {
	for s, want := range map[string]vitrine.Version{"0": vitrine.NewVersion(0), "1": vitrine.NewVersion(1),
		"10": vitrine.NewVersion(10), "9223372036854775807": vitrine.NewVersion(int64(math.MaxInt64)),
		"": {}, "-1": {}, "+1": {}, "01": {}, "1.0": {}, "1e3": {}, " 1": {}, "٣": {}, "9223372036854775808": {},
		"latest": {}} {
		got, err := vitrine.ParseVersion(s)
		if (err == nil) != (!want.IsZero()) || err == nil && (got != want || got.String() != s) {
			t.Errorf("ParseVersion(%q) = %v, %v", s, got, err)
		}
	}
}
