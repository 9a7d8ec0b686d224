package assets_test

import (
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/assets"
)

// Each source has its own words.
func TestWhereAQueryLooks(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	d.add(assets.NewAsset{ID: "1", Generator: assets.Generator{ID: "g"}, Content: []byte(`{"content":
		"text <img src=x alt=\"a light&shy;house\"> <a href=\"https://Foo.example/blog/Caf%C3%A9?utm=2\">here</a>",
		"attachment": [{"version": "1.0", "type": "link", "title": "headline", "description": "summary",
			"provider_name": "Clips", "url": {"href": "https://xn--mnchen-3ya.example/path-of"},
			"link": {"href": "http://clip.example:8080/v"}},
			{"version": "1.0", "type": "photo", "url": {"href": "https://img.example/p.jpg"}}]}`)})
	for query, in := range map[string]string{
		"text": "text", "here": "text", "lighthouse": "attachments", `"a lighthouse"`: "attachments",
		"headline": "attachments", "summary": "attachments", "clips": "attachments", "foo.example": "links",
		"cafe": "links", "blog/café": "links", "münchen": "links", "muenchen": "links", "pathof": "links",
		"clip.example": "links", "utm": "", "8080": "", "own": "", "img": "", "https": "", "src": "",
		"headline summary":   "attachments",
		`"headline summary"`: "",
	} {
		for _, source := range []string{"text", "attachments", "attributes", "links"} {
			want := int64(0)
			if source == in {
				want = 1
			}
			if n := d.total(member, assets.SearchRequest{Query: query, In: []string{source}}); n != want {
				t.Errorf("%s in %s finds %d, want %d", query, source, n, want)
			}
		}
	}
}

// A long query is cut between words, and says so.
func TestALongQueryIsCut(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	d.asset("1", strings.Repeat("word ", 70)+strings.Repeat("字", 700))
	d.asset("2", "word "+strings.Repeat("b", 3000))
	for _, c := range []struct {
		query string
		cut   bool
		found int64
	}{
		{strings.Repeat("word ", 64), false, 2},
		{strings.Repeat("word ", 64) + "none", true, 2},
		{strings.Repeat("word ", 63) + "none word", true, 0},
		{strings.Repeat(" ", 1995) + "word", false, 2},
		{strings.Repeat(" ", 1995) + "word's", true, 2}, // the piece of a phrase that fits
		{strings.Repeat(" ", 1996) + "words", true, 0},  // no word fits
		{strings.Repeat(" ", 1994) + "word none", true, 2},
		{strings.Repeat("字", 65), true, 1},
		{strings.Repeat("字", 700), true, 1},
		{`"` + strings.Repeat("word ", 65) + `"`, true, 1},
		{"word -none", false, 2},
		{"-none", false, 2},
		{"-字", false, 1},
		{"-word", false, 0},
		{strings.Repeat("b", 3000), true, 0},
		{strings.Repeat("\u200d\u200c", 5000), true, 0},
	} {
		page := d.search(moderator, assets.SearchRequest{Query: c.query})
		if page.Cut != c.cut || page.Total != c.found ||
			strings.Contains(string(page.AppendJSON(nil)), `"cut":true`) != c.cut {
			t.Errorf("%.30q of %d bytes finds %d, cut %t, want %d, %t", c.query, len(c.query), page.Total, page.Cut,
				c.found, c.cut)
		}
	}
	for _, query := range []string{strings.Repeat("word ", 64) + "-none", strings.Repeat(" ", 3000) + "-none"} {
		_, err := d.As(moderator).Search(ctx, lib, assets.SearchRequest{Query: query})
		d.want("a cut exclusion", err, "invalid")
	}
}
