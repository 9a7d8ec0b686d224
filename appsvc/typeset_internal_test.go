package appsvc

import (
	"slices"
	"testing"
)

// However often a request names a type, each entry of the feed is compared with one word.
func TestTheTypesOfARequestAreASet(t *testing.T) {
	for name, c := range map[string]struct{ asked, want []ChangeType }{
		"all":      {nil, allTypes},
		"none":     {[]ChangeType{}, nil},
		"unknown":  {[]ChangeType{"app.gone"}, nil},
		"repeated": {slices.Repeat([]ChangeType{TagSet, AppLeft}, 29_000), []ChangeType{TagSet, AppLeft}},
		"each":     {allTypes, allTypes},
	} {
		set := setOf(c.asked)
		for _, kind := range allTypes {
			if set.has(kind) != slices.Contains(c.want, kind) {
				t.Errorf("%s: has %s: %t", name, kind, set.has(kind))
			}
		}
	}
	if len(allTypes) > 16 {
		t.Errorf("%d types do not fit into a typeSet", len(allTypes))
	}
}
