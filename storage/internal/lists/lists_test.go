package lists_test

import (
	"slices"
	"testing"

	"github.com/vitrine-go/vitrine/storage/internal/lists"
)

func TestSplitUndoesJoin(t *testing.T) {
	for _, list := range [][]string{nil, {""}, {"", ""}, {"a"}, {"a", ""}, {"", "a"}, {"a b", "é", "\xff\n"}} {
		if got := lists.Split(lists.Join(list)); !slices.Equal(got, list) {
			t.Errorf("%q came back as %q", list, got)
		}
	}
}

func TestUnique(t *testing.T) {
	list := []string{"b", "a", "b", "Z", "é", "a"}
	if got := lists.Unique(list); !slices.Equal(got, []string{"Z", "a", "b", "é"}) {
		t.Errorf("%q", got)
	}
	if !slices.Equal(list, []string{"b", "a", "b", "Z", "é", "a"}) {
		t.Errorf("the list itself was changed to %q", list)
	}
}

func TestWithout(t *testing.T) {
	list := []string{"a", "b", "c"}
	if got := lists.Without(list, []string{"d", "b"}); !slices.Equal(got, []string{"a", "c"}) || list[1] != "b" {
		t.Errorf("%q of %q", got, list)
	}
}
