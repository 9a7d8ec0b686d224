package httpapi

import (
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/appsvc"
)

// A query may name a type tens of thousands of times. What is kept of it has room for each type once.
func TestTypesInAListAreASet(t *testing.T) {
	types := typesIn("tag.set" + strings.Repeat(",app.left,tag.set", 29_000))
	if !slices.Equal(types, []appsvc.ChangeType{appsvc.AppLeft, appsvc.TagSet}) || cap(types) > 100 {
		t.Errorf("%d types, with room for %d", len(types), cap(types))
	}
	// The service refuses a list with an empty name, which must not become a list of nothing.
	for list, want := range map[string][]appsvc.ChangeType{"": {""}, "tag.set,": {"", "tag.set"}} {
		if have := typesIn(list); !slices.Equal(have, want) {
			t.Errorf("%q: %q", list, have)
		}
	}
}
