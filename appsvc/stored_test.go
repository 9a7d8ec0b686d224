package appsvc

import (
	"slices"
	"strings"
	"testing"
)

// What is kept of a stored element is printed again without a look at it, so that it must be in the
// form in which elements are stored.
func TestStoredBodiesHaveTheirForm(t *testing.T) {
	const begin, element = `{"title":"t","owner":{"urn":"o"},"groups":["g"],"elements":[`,
		`"key":"0.0","component":{"name":"\u0061","version":"1"},"config":{}}`
	app := App{Body: Body(begin + `{"id":"0",` + element + `,{"id":"1",` + element + `]}`)}
	if h, err := app.head(); err != nil || !slices.Equal(h.Components, []string{"a"}) ||
		!slices.Equal(h.Groups, []string{"g"}) {
		t.Errorf("got %v, %v", h, err)
	}
	for name, body := range map[string]string{
		"no object":           `[]`,
		"no elements":         `{"title":"t","owner":{"urn":"o"},"groups":["g"]}`,
		"elements no array":   begin[:len(begin)-1] + `{}}`,
		"no title":            `{"owner":{"urn":"o"},"groups":["g"],"elements":[]}`,
		"a group of a number": `{"title":"t","owner":{"urn":"o"},"groups":[1],"elements":[]}`,
		"ids out of order":    begin + `{"id":"1",` + element + `]}`,
		"an id of a number":   begin + `{"id":0,` + element + `]}`,
		"no id":               begin + `{` + element + `]}`,
		"no key":              begin + `{"id":"0",` + strings.TrimPrefix(element, `"key":"0.0",`) + `]}`,
		"spaces":              begin + `{"id": "0",` + element + `]}`,
	} {
		if h, err := (App{Body: Body(body)}).head(); err == nil {
			t.Errorf("%s: got %v, want an error", name, h)
		}
	}
}
