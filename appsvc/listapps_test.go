package appsvc_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage"
)

// Every combination of conditions finds what a look at all apps finds, in each order and by small pages.
func TestFiltersOfLists(t *testing.T) { onStores(t, testFiltersOfLists) }

func testFiltersOfLists(t *testing.T, db storage.Store) {
	ctx, rng := context.Background(), rand.New(rand.NewPCG(3, 4))
	svc := appsvc.New(db, nil)
	all := vitrine.Caller{URN: network + ":user=all", Moderates: []string{network}, Components: true}
	for _, version := range []string{"1", "2"} {
		manifest := fmt.Appendf(nil, `{"name":"poll","version":%q,"main":"/m.js","configSchema":{}}`, version)
		if _, err := svc.As(all).CreateComponent(ctx,
			appsvc.CreateComponentRequest{Manifest: bytes.NewReader(manifest)}); err != nil {
			t.Fatal(err)
		}
	}
	type known struct {
		app     appsvc.App
		group   string
		words   []string
		version string
		deleted bool
	}
	var apps []known
	words := [][]string{{"Frühling", "fruhling"}, {"FRONT", "front"}, {"Straße", "strasse"}, {"漢字", "漢", "字"},
		{"a_b-1", "a", "b", "1"}, {"Øre", "ore"}}
	owners := []vitrine.Caller{all, moderator(network)}
	for i := range 60 {
		k := known{group: []string{network, site1, site2}[i%3], version: []string{"", "1", "2"}[rng.IntN(3)],
			deleted: rng.IntN(4) == 0}
		title := ""
		for _, w := range words {
			if rng.IntN(3) == 0 {
				title += " " + w[0]
				k.words = append(k.words, w[1:]...)
			}
		}
		in := appsvc.CreateAppRequest{Title: "x" + title, Groups: []string{k.group}}
		if k.version != "" {
			in.Elements = []appsvc.NewElement{{Component: appsvc.ComponentRef{Name: "poll", Version: k.version},
				Config: json.RawMessage(`{}`)}}
		}
		var err error
		k.app, err = svc.As(owners[rng.IntN(2)]).CreateApp(ctx, in)
		if err == nil && rng.IntN(3) == 0 { // the words of the title before are gone
			if k.app, err = svc.As(all).Edit(ctx, k.app.ID, func(_ appsvc.App, p *appsvc.PatchBuilder) error {
				p.SetTitle("Ganz anders")
				return nil
			}); err == nil {
				k.words = []string{"ganz", "anders"}
			}
		}
		if err == nil && k.deleted {
			err = svc.As(all).DeleteApp(ctx, k.app.ID)
		}
		if err != nil {
			t.Fatal(err)
		}
		apps = append(apps, k)
	}
	for range 300 {
		pick := func(list ...string) string { return list[rng.IntN(len(list))] }
		in := appsvc.ListAppsRequest{Summary: pick("", "summary") != "",
			Sort: appsvc.Sort(pick("", "createdAt", "updatedAt", "-updatedAt")), Limit: 1 + rng.IntN(40),
			Group: pick("", "", network, site1, network+":site=10"),
			Owner: pick("", "", all.URN, owners[1].URN, "urn:v:x:user=none"), UsingComponent: pick("", "poll", "none"),
			Deleted: rng.IntN(3) == 0,
			Query:   pick("", "", "f", "FRO stra", "fruhling", "字", "b 1", "øR", "nothing", "ganz", "x")}
		if in.UsingComponent != "" {
			in.UsingVersion = pick("", "1", "2")
		}
		by := []vitrine.Caller{all, moderator(site1), {URN: network + ":user=r", Reads: []string{site2}}}[rng.IntN(3)]
		var want []string
		for _, k := range apps {
			inGroup := func(g string) bool { return g == k.group || g == network }
			may := by.URN == all.URN || by.URN == k.app.Owner || slices.ContainsFunc(by.Moderates, inGroup) ||
				!k.deleted && slices.ContainsFunc(by.Reads, inGroup)
			fits := k.deleted == in.Deleted && (in.Group == "" || inGroup(in.Group)) &&
				(in.Owner == "" || in.Owner == k.app.Owner) &&
				(in.UsingComponent == "" || in.UsingComponent == "poll" && k.version != "" &&
					(in.UsingVersion == "" || in.UsingVersion == k.version))
			for _, q := range map[string][]string{"FRO stra": {"fro", "stra"}, "øR": {"or"}, "b 1": {"b", "1"},
				"": nil}[in.Query] {
				fits = fits && slices.ContainsFunc(k.words, func(w string) bool { return strings.HasPrefix(w, q) })
			}
			if one := map[string]bool{"f": true, "fruhling": true, "字": true, "nothing": true,
				"ganz": true}; one[in.Query] {
				fits = fits &&
					slices.ContainsFunc(k.words, func(w string) bool { return strings.HasPrefix(w, in.Query) })
			}
			if in.Query == "x" {
				fits = fits && k.app.Title[0] == 'x'
			}
			if may && fits {
				want = append(want, k.app.ID)
			}
		}
		var got []string
		var last appsvc.App
		for app, err := range svc.As(by).AllApps(ctx, in) {
			if err != nil {
				t.Fatal(err)
			}
			if (app.Body == nil) != in.Summary || app.Title == "" || len(app.Groups) == 0 {
				t.Fatalf("summary %t: %+v", in.Summary, app)
			}
			at := func(a appsvc.App) int64 {
				if strings.HasSuffix(string(in.Sort), "updatedAt") {
					return a.UpdatedAt
				}
				return a.CreatedAt
			}
			if down := in.Sort == "" || in.Sort[0] == '-'; last.ID != "" &&
				(down && at(last) < at(app) || !down && at(last) > at(app)) {
				t.Errorf("%+v: not in order", in)
			}
			last, got = app, append(got, app.ID)
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("%+v for %s: %d apps, want %d", in, by.URN, len(got), len(want))
		}
	}
	if faults := auditOf(t, db); faults != nil {
		t.Error(faults)
	}
}
