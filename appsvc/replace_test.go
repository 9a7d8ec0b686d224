package appsvc_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// replacing is a workshop with a component of this schema, and a function that adds an app with a config.
func replacing(t *testing.T, o appsvc.Options, schema string) (*appsvc.Service, func(group, config string) string) {
	svc := appsvc.New(memory.New(), &o)
	manifest := `{"name":"c","version":"1","main":"/c.js","configSchema":` + schema + `}`
	if _, err := svc.As(admin).CreateComponent(context.Background(),
		appsvc.CreateComponentRequest{Manifest: strings.NewReader(manifest)}); err != nil {
		t.Fatal(err)
	}
	return svc, func(group, config string) string {
		t.Helper()
		app, err := svc.As(admin).CreateApp(context.Background(),
			appsvc.CreateAppRequest{Title: "Tea", Groups: []string{group},
				Elements: []appsvc.NewElement{{Component: appsvc.ComponentRef{Name: "c", Version: "1"},
					Config: json.RawMessage(config)}}})
		if err != nil {
			t.Fatal(err)
		}
		return app.ID
	}
}

// replaced returns the apps of all pages of a dry run and of a run, which must be the same but for what is stored.
func replaced(
	t *testing.T, svc *appsvc.Service, by vitrine.Caller, in appsvc.ReplaceRequest,
) (all []appsvc.UpgradedApp) {
	t.Helper()
	var dry []appsvc.UpgradedApp
	for _, list := range []*[]appsvc.UpgradedApp{&dry, &all} {
		in.DryRun, in.After = list == &dry, ""
		for {
			page, err := svc.As(by).Replace(context.Background(), in)
			if err != nil {
				t.Fatal(err)
			}
			*list = append(*list, page.Items...)
			if in.After = page.Next; in.After == "" {
				break
			}
		}
	}
	if !reflect.DeepEqual(dry, all) {
		t.Errorf("the dry run says %+v, and the run %+v", dry, all)
	}
	return all
}

// configOf is the config of the only element of an app.
func configOf(t *testing.T, svc *appsvc.Service, id string) (config string, v vitrine.Version) {
	t.Helper()
	app, err := svc.As(admin).App(context.Background(), id)
	if err != nil {
		t.Fatal(err)
	}
	c, err := app.Body.Content()
	if err != nil {
		t.Fatal(err)
	}
	return string(c.Elements[0].Config), app.Version
}

// Texts are replaced in strings alone, and never where the schema fixes them.
func TestReplaceLeavesWhatSchemasFix(t *testing.T) {
	for _, test := range []struct{ name, schema, config, want string }{
		{"strings", `{}`, `{"Tea":["Tea, Tea","tea",1.10,{"a/b":"Te\u0061\n\"Tea\""}]}`,
			`{"Tea":["Cocoa, Cocoa","tea",1.10,{"a/b":"Cocoa\n\"Cocoa\""}]}`},
		{"enum", `{"properties":{"a":{"enum":["Tea","Cocoa"]}}}`, `{"a":"Tea","b":"Tea"}`, `{"a":"Tea","b":"Cocoa"}`},
		{"const in an alternative", `{"oneOf":[{"properties":{"k":{"const":"Tea"}}},{"properties":{"k":{"const":"x"}},
			"required":["x"]}]}`, `{"k":"Tea","t":"Tea"}`, `{"k":"Tea","t":"Cocoa"}`},
		{"below an enum", `{"properties":{"a":{"enum":[{"b":["Tea"]}]}}}`, `{"a":{"b":["Tea"]},"c":"Tea"}`,
			`{"a":{"b":["Tea"]},"c":"Cocoa"}`},
		{"through $ref and allOf",
			`{"properties":{"a":{"allOf":[{"$ref":"#/$defs/e"}]}},"$defs":{"e":{"enum":["Tea"]}}}`,
			`{"a":"Tea","b":"Tea"}`, `{"a":"Tea","b":"Cocoa"}`},
		{"a condition", `{"if":{"properties":{"k":{"const":"Tea"}}},"then":{"properties":{"v":{"enum":["Tea","x"]}}}}`,
			`{"k":"Tea","v":"Tea","w":"Tea"}`, `{"k":"Tea","v":"Tea","w":"Cocoa"}`},
		{"items", `{"properties":{"l":{"prefixItems":[{"enum":["Tea"]}],"items":{"type":"string"}}}}`,
			`{"l":["Tea","Tea"]}`,
			`{"l":["Tea","Cocoa"]}`},
		{"items of draft-07", `{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"l":{"items":[{},
			{"const":"Tea"}],"additionalItems":{"enum":["Tea"]}}}}`, `{"l":["Tea","Tea","Tea"]}`,
			`{"l":["Cocoa","Tea","Tea"]}`},
		{"other members", `{"patternProperties":{"^a":{"properties":{"x":{"const":"Tea"}}}},"additionalProperties":
			{"properties":{"z":{"enum":["Tea"]}}}}`, `{"a":{"x":"Tea","y":"Tea"},"b":{"z":"Tea"}}`,
			`{"a":{"x":"Tea","y":"Cocoa"},"b":{"z":"Tea"}}`},
		{"a schema that contains itself", `{"properties":{"k":{"enum":["Tea"]},"in":{"$ref":"#"}}}`,
			`{"in":{"in":{"k":"Tea","t":"Tea"}}}`, `{"in":{"in":{"k":"Tea","t":"Cocoa"}}}`},
		{"a dynamic reference", `{"$dynamicAnchor":"n","properties":{"k":{"enum":["Tea"]},"in":{"$dynamicRef":"#n"}}}`,
			`{"in":{"k":"Tea","t":"Tea"}}`, `{"in":{"k":"Tea","t":"Cocoa"}}`},
		{"formats in alternatives",
			`{"properties":{"a":{"oneOf":[{"enum":["Tea"]},{"type":"string","format":"email"}]}}}`,
			`{"a":"Tea","b":"Tea"}`, `{"a":"Tea","b":"Cocoa"}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			svc, add := replacing(t, appsvc.Options{}, test.schema)
			id := add(site1, test.config)
			all := replaced(t, svc, ann, appsvc.ReplaceRequest{Find: "Tea", Replace: "Cocoa"})
			if got, v := configOf(t, svc, id); got != test.want || v != vitrine.NewVersion(1) || len(all) != 1 ||
				len(all[0].Violations) > 0 {
				t.Errorf("version %s: %s, want %s; %+v", v, got, test.want, all)
			}
			again := replaced(t, svc, ann, appsvc.ReplaceRequest{Find: "Tea", Replace: "Cocoa"})
			if len(again) > 0 {
				t.Errorf("a second run changes %+v", again)
			}
		})
	}
}

func TestReplace(t *testing.T) {
	ctx := context.Background()
	svc, add := replacing(t, appsvc.Options{}, `{"properties":{"short":{"maxLength":5}}}`)
	one, bad := add(site1, `{"t":"Tea"}`), add(site1, `{"short":"Tea","t":"Tea"}`)
	hidden, none := add(site2, `{"t":"Tea"}`), add(site1, `{"t":"Milk"}`)
	if _, err := svc.As(admin).PutTag(ctx,
		appsvc.PutTagRequest{AppID: one, Name: "live", Version: vitrine.NewVersion(0)}); err != nil {
		t.Fatal(err)
	}
	all := replaced(t, svc, ann, appsvc.ReplaceRequest{Find: "Tea", Replace: "Tea or Cocoa"})
	if len(all) == 2 && all[0].App == bad { // apps of one millisecond are in the order of their ids
		slices.Reverse(all)
	}
	if len(all) != 2 || all[0].App != one || all[0].Version != vitrine.NewVersion(1) || len(all[0].Tags) != 1 ||
		!strings.Contains(string(all[0].Diff),
			`{"op":"replace","path":"/apps/0/elements/0/config/t","value":"Tea or Cocoa"}`) ||
		len(all[0].Elements) != 1 {
		t.Errorf("%+v", all)
	}
	if all[1].App != bad || len(all[1].Violations) != 1 || all[1].Violations[0].Keyword != "maxLength" ||
		all[1].Violations[0].Pointer != "/elements/0/config/short" {
		t.Errorf("%+v", all[1])
	}
	for id, want := range map[string]string{one: "1", bad: "0", hidden: "0", none: "0"} {
		if _, v := configOf(t, svc, id); v.String() != want {
			t.Errorf("version %s, want %s", v, want)
		}
	}
	page, err := svc.As(ann).ListHistory(ctx, appsvc.ListHistoryRequest{AppID: one, Limit: 1})
	if err != nil || page.Items[0].Note != `replaced "Tea" by "Tea or Cocoa"` {
		t.Errorf("%+v, %v", page.Items, err)
	}
	// What contains the text that was found is found again.
	if again := replaced(t, svc, ann, appsvc.ReplaceRequest{Find: "Tea", Replace: "Tea or Cocoa"}); len(again) != 2 {
		t.Errorf("%+v", again)
	}
	if config, _ := configOf(t, svc, one); config != `{"t":"Tea or Cocoa or Cocoa"}` {
		t.Errorf("%s", config)
	}
	for _, in := range []appsvc.ReplaceRequest{{Find: "Tea", Replace: "x", Group: site2},
		{Find: "Tea", Replace: "x", Component: "d"},
		{Find: "tea", Replace: "x"}, {Find: "TeaX", Replace: "x"}} {
		if all := replaced(t, svc, ann, in); len(all) > 0 {
			t.Errorf("%+v: %+v", in, all)
		}
	}
	reader := vitrine.Caller{URN: network + ":user=r", Reads: []string{network}}
	if all := replaced(t, svc, reader, appsvc.ReplaceRequest{Find: "Tea", Replace: "x"}); len(all) > 0 {
		t.Errorf("who reads changes %+v", all)
	}
	for pointer, in := range map[string]appsvc.ReplaceRequest{
		"/find": {Find: "é", Replace: "xx"}, "/find ": {Find: strings.Repeat("x", 1025)},
		"/find  ": {Find: "a\x00b"}, "/replace": {Find: "xx", Replace: strings.Repeat("x", 1025)},
		"/replace ": {Find: "xx", Replace: "xx"}, "/group": {Find: "xx", Group: "x"},
		"/after": {Find: "xx", After: "x"},
	} {
		_, err := svc.As(ann).Replace(ctx, in)
		if e := wantCode(t, err, vitrine.CodeInvalid); e.Pointer != strings.TrimSpace(pointer) {
			t.Errorf("%s: %v", pointer, err)
		}
	}
	_, err = svc.As(vitrine.Caller{URN: ann.URN, Moderates: []string{site1}, Key: "vt_x", Agent: "helper"}).Replace(ctx,
		appsvc.ReplaceRequest{Find: "Tea", Replace: "x"})
	wantCode(t, err, vitrine.CodeForbidden)
	// A component that is gone, and one that Options.Check protects.
	if err := svc.As(admin).DeleteComponent(ctx, appsvc.DeleteComponentRequest{Name: "c"}); err != nil {
		t.Fatal(err)
	}
	if all := replaced(t, svc, ann, appsvc.ReplaceRequest{Find: "Cocoa", Replace: "Milk"}); len(all) != 1 ||
		all[0].Violations[0].Keyword != vitrine.CodeUnknownComponent {
		t.Errorf("%+v", all)
	}
}

// Each app is changed once by a request, however many pages it has, and results are bounded before they are made.
func TestReplaceIsBounded(t *testing.T) {
	svc, add := replacing(t, appsvc.Options{Limits: appsvc.Limits{DocumentBytes: 100_000}}, `{}`)
	large := add(site1, `{"t":"`+strings.Repeat("xx", 1000)+`"}`)
	for n := range 230 {
		add(site1, fmt.Sprintf(`{"t":"Tea %d"}`, n))
	}
	in := appsvc.ReplaceRequest{Find: "Tea", Replace: "Teapot"}
	if all := replaced(t, svc, ann, in); len(all) != 230 {
		t.Errorf("%d apps", len(all))
	}
	all := replaced(t, svc, ann, appsvc.ReplaceRequest{Find: "xx", Replace: strings.Repeat("y", 1024)})
	if len(all) != 1 || all[0].App != large || all[0].Violations[0].Keyword != "size" {
		t.Errorf("%+v", all)
	}
	all = replaced(t, svc, ann, appsvc.ReplaceRequest{Find: "xx", Replace: "yyy"})
	if config, _ := configOf(t, svc, large); len(all) != 1 || config != `{"t":"`+strings.Repeat("yyy", 1000)+`"}` {
		t.Errorf("%+v", all)
	}
}
