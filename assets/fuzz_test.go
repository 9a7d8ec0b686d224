package assets_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/assets"
)

// A content that is accepted is returned as JSON with the same meaning. Adding it again changes nothing, and
// neither does adding what was returned.
func FuzzContent(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"content":"<b>x</b>","more":[1.10,{"a":null}]}`, ` { "id" : 1 , "published":{} ,"generator":[]} `,
		`{"attachment":[{"version":"1.0","type":"photo","url":{"href":"https://x.example"},` +
			`"provider_url":"http://y"}]}`,
		`{"attributedTo":{"username":"u","icon":{"url":{"href":"http://x"}}},"socialnet":{"retweets":-1}}`,
		`{"content":null}`,
		`{"Content":1}`, `{"a":1,"a":2}`, `[`, `{"x":"\ud800"}`, `{"x":"\u0000"}`, "{\"\xff\":1}",
		`{"attachment":[{"version":"1.0","type":"link","link":{"href":"java\tscript:x"}}]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		d := newDesk(t, assets.Limits{})
		add := func(content []byte) (string, json.RawMessage, error) {
			in := newAsset("1", "")
			in.Content = content
			out, err := d.As(moderator).ChangeAssets(ctx, lib, assets.ChangeAssetsRequest{Add: []assets.NewAsset{in}})
			if err != nil {
				return "", nil, err
			}
			answer := out.Added[0].AppendJSON(nil)
			var b struct{ Content json.RawMessage }
			if err := json.Unmarshal(answer, &b); err != nil {
				t.Fatalf("the response %s: %v", answer, err)
			}
			return string(answer), b.Content, nil
		}
		first, stored, err := add(content)
		if err != nil {
			if !errors.Is(err, vitrine.ErrInvalid) {
				t.Fatal(err)
			}
			return
		}
		if !json.Valid(content) {
			t.Fatalf("%q is accepted", content)
		}
		if again, _, err := add(content); err != nil || again != first {
			t.Fatalf("added again it is %s, error %v; first %s", again, err, first)
		}
		if again, _, err := add(bytes.Clone(stored)); err != nil || again != first {
			t.Fatalf("what was returned, added again, is %s, error %v; first %s", again, err, first)
		}
	})
}

// Any search returns a page or ErrInvalid. A query of one plain word finds the asset with that word, whatever
// is around the word in the text, and a text that is not cut finds itself.
func FuzzQuery(f *testing.F) {
	for _, seed := range []string{"a", `"`, "NEAR(a b)", "*", "col:x", "-a", "^a", "\x00", "\xff", "漢字", "é", " ",
		"a b c d e f g h i j k l m n o p q"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, query string) {
		d := newDesk(t, assets.Limits{})
		if !strings.Contains(query, "\x00") { // which no content has
			d.asset("1", query+" plainword")
		} else {
			d.asset("1", "plainword")
		}
		d.asset("2", "")
		_, err := d.As(member).Search(ctx, lib, assets.SearchRequest{Query: query})
		if err != nil && !errors.Is(err, vitrine.ErrInvalid) {
			t.Fatal(err)
		}
		if !strings.ContainsAny(query, "<&") { // else the word may stand in a tag
			if n := d.total(member, assets.SearchRequest{Query: "PlainWord"}); n != 1 {
				t.Errorf("beside %q the word is found %d times", query, n)
			}
		}
		if page, err := d.As(member).Search(ctx, lib, assets.SearchRequest{Query: query + " plainword"}); err == nil &&
			!page.Cut && !strings.ContainsAny(query, "<&\x00-﹣－") {
			if len(page.Assets) != 1 || page.Total != 1 {
				t.Errorf("a text finds itself %d times: %q", page.Total, query)
			}
		}
	})
}
