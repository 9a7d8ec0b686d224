package console_test

import (
	"html"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/adapters/console"
)

func TestThePageHasTheNamesOfAssets(t *testing.T) {
	for want, names := range map[string]console.AssetNames{
		`{}`: {},
		`{"via":{"-1":"\u003cb\u003e"},"rights":{"2":"a\"b"}}`: {Via: map[int64]string{-1: "<b>"},
			Rights: map[int64]string{2: `a"b`}},
	} {
		r := httptest.NewRecorder()
		console.New(console.Config{AssetNames: names}).ServeHTTP(r, httptest.NewRequest("GET", "/", nil))
		if page := html.UnescapeString(r.Body.String()); !strings.Contains(page, want) ||
			!strings.Contains(page, "vitrine-asset-names") {
			t.Errorf("%s is not in %s", want, page)
		}
	}
}
