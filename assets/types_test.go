package assets_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// Searches by the types of attachments find the same in a store of v0.2.0, before and after its assets are indexed by
// them, and count only what the caller sees.
func TestSearchByTypes(t *testing.T) {
	db := memory.New()
	d := &desk{t: t, Service: assets.New(db, nil)}
	hidden, _ := d.folder("hidden", "", true, grants...)
	attachments := []string{"", `[]`, `[{"version":"1.0","type":"photo"}]`,
		`[{"version":"1.0","type":"photo","description":"ships"},{"version":"1.0","type":"video"}]`,
		`[{"version":"1.0","type":"photo","description":""},{"version":"1.0","type":"photo","description":"x"}]`,
		`[{"version":"1.0","type":"photo","description":{"a":1}}]`, `[{"version":"1.0","type":"rich"}]`}
	var add []assets.NewAsset
	for i := range 260 {
		a := assets.NewAsset{ID: fmt.Sprint(i), Generator: assets.Generator{ID: "g"},
			Content: []byte(`{"content":"x"}`)}
		if with := attachments[i%len(attachments)]; with != "" {
			a.Content = fmt.Appendf(nil,
				`{"content":"x <a href='https://%d.example'></a>","attachment":%s,"lang":"de",`+
					`"attributedTo":{"username":"Ann %d"}}`, i%3, with, i%4)
		}
		a.SafeTags = []string{"t", []string{"Snow", "snow"}[i%2]}
		a.Attributes = []assets.Attribute{{Key: []string{"Key", "key"}[i/2%2], Value: "v"}}
		if i%2 == 0 {
			a.Folders = []string{hidden}
		}
		add = append(add, a)
	}
	if _, err := d.As(moderator).ChangeAssets(ctx, lib, assets.ChangeAssetsRequest{Add: add}); err != nil {
		t.Fatal(err)
	}
	searches := map[string]assets.SearchRequest{"photo": {Types: []string{"photo"}}, "none": {Types: []string{"none"}},
		"any": {Types: []string{"any"}}, "video,rich": {Types: []string{"video", "rich"}},
		"audio":  {Types: []string{"audio"}},
		"author": {Author: "ann 1"}, "lang": {Lang: "DE"}, "link": {Link: "2.example"}, "tag": {Tags: []string{"t"}},
		"not": {NotTags: []string{"t"}}, "services": {NotGenerators: []string{"g"}},
		"none,any": {Types: []string{"none", "any"}}, "alt": {NoAlt: true}, "all": {},
		"alt of video": {NoAlt: true, Types: []string{"video"}}, "with a word": {Query: "x", Types: []string{"photo"}}}
	look := func() string {
		t.Helper()
		text := ""
		for _, by := range []struct {
			name string
			as   func(in assets.SearchRequest) assets.SearchPage
		}{{"moderator", func(in assets.SearchRequest) assets.SearchPage { return d.search(moderator, in) }},
			{"member", func(in assets.SearchRequest) assets.SearchPage { return d.search(member, in) }}} {
			for _, name := range slices.Sorted(func(yield func(string) bool) {
				for name := range searches {
					if !yield(name) {
						return
					}
				}
			}) {
				in := searches[name]
				in.Facets = []string{"type"}
				page := by.as(in)
				text += fmt.Sprintf("%s %s: %d %v\n", by.name, name, page.Total, page.Facets)
			}
		}
		for _, key := range []string{"Key", "key", "KEY"} {
			values, err := d.As(member).Attributes(ctx, lib, key)
			text += fmt.Sprintf("%v %v", values, err)
		}
		for fault, err := range assets.Maintenance(assets.Limits{}, nil).Audit(ctx, db) {
			t.Errorf("%v, %v", fault, err)
		}
		return text
	}
	// names is what is found by tags and keys, which are not folded before the index is built.
	names := func() string {
		t.Helper()
		text := ""
		for _, in := range []assets.SearchRequest{{Tags: []string{"snow"}}, {NotTags: []string{"Snow"}},
			{TagsAny: []string{"SNOW", "T"}}, {Attributes: []string{"KEY:v"}}, {Attributes: []string{"key"}}} {
			in.Facets = []string{"tags", "attribute", "attribute:Key"}
			page := d.search(moderator, in)
			text += fmt.Sprintf("%d %v\n", page.Total, page.Facets)
		}
		return text
	}
	foldedNames := names()
	want := look()
	for _, part := range []string{"moderator photo: 148 ", "moderator none: 75 [{type [{none 75}]}]",
		"moderator any: 185 ",
		"moderator all: 260 [{type [{photo 148} {none 75} {rich 37} {video 37}]}]", "moderator alt: 111 ",
		"member none: 38 [{type [{none 38}]}]", "moderator audio: 0 "} {
		if !strings.Contains(want, part) {
			t.Errorf("%q is missing in\n%s", part, want)
		}
	}
	if n := d.total(moderator, assets.SearchRequest{Query: "ships", In: []string{"attachments"}}); n != 37 {
		t.Errorf("%d are found by a description", n)
	}
	if err := assets.Outdate(ctx, db, lib); err != nil {
		t.Fatal(err)
	}
	d.Service = assets.New(db, nil)
	if got := look(); got != want {
		t.Errorf("in an older store:\n%s\nwant\n%s", got, want)
	}
	if got := names(); got != exactNames {
		t.Errorf("names in an older store:\n%s\nwant\n%s", got, exactNames)
	}
	if err := d.Upkeep(ctx); err != nil {
		t.Fatal(err)
	}
	if got := names(); got != foldedNames {
		t.Errorf("names after Upkeep:\n%s\nwant\n%s", got, foldedNames)
	}
	if got := look(); got != want {
		t.Errorf("after Upkeep:\n%s\nwant\n%s", got, want)
	}
	if n := d.total(moderator, assets.SearchRequest{Query: "ships", In: []string{"attachments"}}); n != 37 {
		t.Errorf("%d are found by a description after Upkeep", n)
	}
	for _, wrong := range [][]string{{}, {""}, {"Photo"}, {"photo", "x"}} {
		_, err := d.As(moderator).Search(ctx, lib, assets.SearchRequest{Types: wrong})
		d.want(fmt.Sprintf("%q", wrong), err, "invalid")
	}
}

// exactNames is what v0.2.0 finds.
const exactNames = `130 [{tags [{snow 130} {t 130}]} {attribute [{Key 65} {key 65}]} {attribute:Key [{v 65}]}]
130 [{tags [{snow 130} {t 130}]} {attribute [{Key 65} {key 65}]} {attribute:Key [{v 65}]}]
0 [{tags []} {attribute []} {attribute:Key []}]
0 [{tags []} {attribute []} {attribute:Key []}]
130 [{tags [{t 130} {Snow 65} {snow 65}]} {attribute [{key 130}]} {attribute:Key []}]
`
