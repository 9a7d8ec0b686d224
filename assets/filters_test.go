package assets_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/assets"
)

func TestFilters(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	open, _ := d.folder("open", "", true)
	hidden, _ := d.folder("hidden", "", true, grants...)
	gone, _ := d.folder("gone", "", true)
	for id, a := range map[string]struct{ content, tags, folder string }{
		"1": {`{"content":"see <a href=' https://WWW.Example.com:8080/a?b#c '>x</a>","lang":"en_GB",` +
			`"attributedTo":{"id":"7","username":"Ann","displayName":"Ann Müller"}}`, "Snow|first snow", open},
		"2": {`{"content":"read (http://example.com/a), or https://[::1]/ and xhttps://münchen.example.","lang":"EN"}`,
			"snow|Rock, Paper", hidden},
		"3": {`{"content":"example.com ftp://ftp.example.com","lang":"eng","attributedTo":{"username":"ann"},` +
			`"attachment":[{"version":"1.0","type":"link","url":{"href":"https://xexample.com"},` +
			`"provider_url":"https://p.example"},` +
			`{"version":"1.0","type":"video","link":{"href":"http://127.0.0.1:80"},` +
			`"provider_url":{"href":"https://q.example./"}}]}`, "SNOW", ""},
		"4": {`{"content":"<p>x","lang":null,"attributedTo":{"url":{"href":"https://profile.example"}}}`, "Ice", ""},
		"5": {`{"content":"x"}`, "snow", gone},
	} {
		in := assets.NewAsset{ID: id, Generator: assets.Generator{ID: "g" + id}, Content: []byte(a.content),
			SafeTags: strings.Split(a.tags, "|")}
		if a.folder != "" {
			in.Folders = []string{a.folder}
		}
		d.add(in)
	}
	if _, err := d.As(moderator).ChangeFolders(ctx, lib,
		assets.ChangeFoldersRequest{Delete: []string{gone}}); err != nil {
		t.Fatal(err)
	}
	find := func(by vitrine.Caller, in assets.SearchRequest) string {
		var ids []string
		for a, err := range d.As(by).AllAssets(ctx, lib, in) {
			if err != nil {
				t.Fatal(err)
			}
			_, rest, _ := strings.Cut(string(a.Body), `{"id":"`)
			ids = append(ids, rest[:1])
		}
		if page := d.search(by, in); page.Total != int64(len(ids)) {
			t.Errorf("%+v: a total of %d, found %v", in, page.Total, ids)
		}
		slices.Sort(ids)
		return strings.Join(ids, "")
	}
	for _, c := range []struct {
		in            assets.SearchRequest
		all, ofMember string
	}{
		{assets.SearchRequest{Filed: "none"}, "34", "34"}, {assets.SearchRequest{Filed: "any"}, "12", "1"},
		{assets.SearchRequest{Filed: "any", Folder: open}, "1", "1"},
		{assets.SearchRequest{Filed: "none", Folder: open}, "", ""},
		{assets.SearchRequest{Author: "ann"}, "13", "13"}, {assets.SearchRequest{Author: "ANN MULLER"}, "1", "1"},
		{assets.SearchRequest{Author: "7"}, "1", "1"}, {assets.SearchRequest{Author: "Müller"}, "", ""},
		{assets.SearchRequest{Lang: "en"}, "12", "1"}, {assets.SearchRequest{Lang: "en-gb"}, "1", "1"},
		{assets.SearchRequest{Lang: "e"}, "", ""}, {assets.SearchRequest{Lang: "ENG"}, "3", "3"},
		{assets.SearchRequest{Link: "example.com"}, "12", "1"},
		{assets.SearchRequest{Link: "www.EXAMPLE.com."}, "1", "1"},
		{assets.SearchRequest{Link: "xexample.com"}, "3", "3"}, {assets.SearchRequest{Link: "com"}, "123", "13"},
		{assets.SearchRequest{Link: "::1"}, "2", ""}, {assets.SearchRequest{Link: "127.0.0.1"}, "3", "3"},
		{assets.SearchRequest{Link: "0.0.1"}, "", ""}, {assets.SearchRequest{Link: "xn--mnchen-3ya.example"}, "2", ""},
		{assets.SearchRequest{Link: "München.example"}, "2", ""}, {assets.SearchRequest{Link: "p.example"}, "3", "3"},
		{assets.SearchRequest{Link: "q.example"}, "3", "3"}, {assets.SearchRequest{Link: "profile.example"}, "", ""},
		{assets.SearchRequest{Link: "ftp.example.com"}, "", ""},
		{assets.SearchRequest{Tags: []string{"snow"}}, "123", "13"},
		{assets.SearchRequest{Tags: []string{"SNÖW"}}, "123", "13"},
		{assets.SearchRequest{Tags: []string{"rock, paper"}}, "2", ""},
		{assets.SearchRequest{Tags: []string{"sno"}}, "", ""},
		{assets.SearchRequest{TagsAny: []string{"ICE", "First Snow", "none"}}, "14", "14"},
		{assets.SearchRequest{NotTags: []string{"Snow"}}, "4", "4"},
		{assets.SearchRequest{NotTags: []string{"ice", "first snow"}}, "23", "3"},
		{assets.SearchRequest{NotGenerators: []string{"g1", "g4", "G3"}}, "23", "3"},
		{assets.SearchRequest{Query: "x", NotTags: []string{"ice"}, NotGenerators: []string{"g"}}, "1", "1"},
	} {
		if got := find(moderator, c.in); got != c.all {
			t.Errorf("%+v finds %s, want %s", c.in, got, c.all)
		}
		if got := find(member, c.in); got != c.ofMember {
			t.Errorf("%+v of a member finds %s, want %s", c.in, got, c.ofMember)
		}
	}
	for what, in := range map[string]assets.SearchRequest{
		"filed":          {Filed: "some"},
		"no tag of some": {TagsAny: []string{}},
		"a URL":          {Link: "https://example.com"},
		"a port":         {Link: "example.com:80"},
		"a path":         {Link: "example.com/x"},
		"a space":        {Link: "exa mple.com"},
		"many tags":      {TagsAny: slices.Repeat([]string{"t"}, 17)},
		"many not tags":  {NotTags: slices.Repeat([]string{"t"}, 17)},
		"many services":  {NotGenerators: slices.Repeat([]string{"t"}, 17)},
		"a long author":  {Author: strings.Repeat("a", 1025)},
		"a long lang":    {Lang: strings.Repeat("a", 129)},
		"values below 1": {FacetLimit: -1},
		"many values":    {FacetLimit: 1001},
	} {
		_, err := d.As(member).Search(ctx, lib, in)
		d.want(what, err, "invalid")
	}
}

// Spellings of a tag or of a key are one value of a facet, under the most frequent of those that the caller finds.
func TestSpellingsInFacets(t *testing.T) {
	t.Run("few", spellingsInFacets)
	t.Run("index", func(t *testing.T) { assets.FacetsByIndex(t); spellingsInFacets(t) })
}

func spellingsInFacets(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	hidden, _ := d.folder("hidden", "", true, grants...)
	long := strings.Repeat("Ж", 120)
	add := func(id, folder, key string, tags ...string) {
		a := newAsset(id, "x")
		a.SafeTags = tags
		if folder != "" {
			a.Folders = []string{folder}
		}
		d.label(d.add(a).ID, assets.Attribute{Key: key, Value: "v" + long}, assets.Attribute{Key: key, Value: ""})
	}
	add("1", "", "Color", "Snow", "snow", "Ice", long)
	add("2", "", "color", "SNOW", "ice", strings.ToLower(long))
	add("3", "", "COLOR", "SNOW", "Rock, Paper", long)
	for i := range 5 {
		add(fmt.Sprint("h", i), hidden, "cOlOr", "sNoW", "rock, paper")
	}
	for by, want := range map[string]string{
		"member": `{"tags":[{"value":"SNOW","count":3},{"value":"` + long + `","count":3},{"value":"ice","count":2},` +
			`{"value":"Rock, Paper","count":1}],` +
			`"attribute":[{"value":"color","count":3}],` +
			`"attribute:COLOR":[{"value":"","count":3},{"value":"v` + long + `","count":3}]}`,
		"moderator": `{"tags":[{"value":"sNoW","count":8},{"value":"rock, paper","count":6},{"value":"` + long +
			`","count":3},{"value":"ice","count":2}],` +
			`"attribute":[{"value":"cOlOr","count":8}],` +
			`"attribute:COLOR":[{"value":"","count":8},{"value":"v` + long + `","count":8}]}`,
	} {
		caller := map[string]vitrine.Caller{"member": member, "moderator": moderator}[by]
		page := d.search(caller, assets.SearchRequest{Facets: []string{"tags", "attribute", "attribute:COLOR"}})
		if _, got, _ := strings.Cut(string(page.AppendJSON(nil)), `"facets":`); got != want+"}" {
			t.Errorf("%s: %s\nwant %s", by, got, want)
		}
		page = d.search(caller, assets.SearchRequest{Facets: []string{"tags"}, FacetLimit: 1})
		if got := page.Facets[0].Values; len(got) != 1 || !strings.EqualFold(got[0].Value, "snow") {
			t.Errorf("one value for %s: %v", by, got)
		}
	}
	// A10 compares exactly.
	for key, want := range map[string]int{"Color": 2, "color": 2, "cOlOr": 0, "colour": 0} {
		if got, err := d.As(member).Attributes(ctx, lib, key); len(got) != want || err != nil || want > 0 &&
			got[0] != (assets.Attribute{Key: key}) || want > 0 && got[1].Value != "v"+long {
			t.Errorf("values of %s: %v, %v", key, got, err)
		}
	}
	if n := d.total(member, assets.SearchRequest{Attributes: []string{"colOR:v" + long}}); n != 3 {
		t.Errorf("an attribute in another spelling finds %d", n)
	}
	if n := d.total(member, assets.SearchRequest{Tags: []string{strings.ToUpper(long[:2]) + long[2:]}}); n != 3 {
		t.Errorf("a long tag in another spelling finds %d", n)
	}
}
