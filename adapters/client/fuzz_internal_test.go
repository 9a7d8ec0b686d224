package client

import (
	"bytes"
	"net/http"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
)

// What can be read as an app or an asset is answered as it was read, and reads the same again.
func FuzzAppsAndAssets(f *testing.F) {
	for _, seed := range []string{
		`{"id":"a","version":"3","createdAt":1,"updatedAt":2,"updatedBy":{"urn":"u"},"title":"t",` +
			`"owner":{"urn":"o"},"groups":[],"elements":[{"id":"0","config":{"n":1.10}}]}`,
		`{"owner":{"urn":""},"id":"a","version":"0"}`, `{"id":"a","version":"0","owner":null}`,
		`{"id":"a","version":"03","owner":{}}`,
		`{"id":"x","library":{"id":"l"},"createdAt":"2026-01-05T09:30:00.000Z",` +
			`"updatedAt":"2026-01-05T09:30:00.001Z","folders":[{"id":"1","path":"/","label":"x","inherit":true,` +
			`"deleted":false}],"content":{"a":"\u2028"},"safe_tags":[]}`,
		`{"id":"x","content":1}`, `{"id":"x"}`, `[]`, `{}`, `{`, ``,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var x, again appsvc.App
		if json.Unmarshal(text, &x) == nil {
			out := x.AppendJSON(nil)
			if err := json.Unmarshal(out, &again); err != nil || !bytes.Equal(again.AppendJSON(nil), out) {
				t.Errorf("%s was read as %s, and that as %s: %v", text, out, again.AppendJSON(nil), err)
			}
		}
		var a, b assets.Asset
		if json.Unmarshal(text, &a) == nil {
			out := a.AppendJSON(nil)
			if err := json.Unmarshal(out, &b); err != nil || !bytes.Equal(b.AppendJSON(nil), out) {
				t.Errorf("%s was read as %s, and that as %s: %v", text, out, b.AppendJSON(nil), err)
			}
		}
	})
}

func FuzzLinks(f *testing.F) {
	for _, seed := range []string{`<http://h/x?after=c>; rel="next"`, `<?after=%zz>; rel="next"`, `<>; rel="next"`, `>`,
		`<:>; rel="next"`, ``} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, link string) {
		_ = next(http.Header{"Link": {link}}, "after") // any answer will do, a panic will not
	})
}
