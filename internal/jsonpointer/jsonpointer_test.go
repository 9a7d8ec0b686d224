package jsonpointer_test

import (
	"math"
	"testing"

	"github.com/vitrine-go/vitrine/internal/jsonpointer"
)

// The examples of RFC 6901, section 5, and what a replacement in the wrong order would mix up.
func TestEscape(t *testing.T) {
	for name, token := range map[string]string{
		"": "", "foo": "foo", "a/b": "a~1b", "c%d": "c%d", " ": " ", "m~n": "m~0n", "~1": "~01", "/0": "~10",
		"~/": "~0~1", "~01": "~001",
	} {
		if got := jsonpointer.Escape(name); got != token {
			t.Errorf("Escape(%q) = %q, want %q", name, got, token)
		}
		if got := jsonpointer.Unescape(token); got != name {
			t.Errorf("Unescape(%q) = %q, want %q", token, got, name)
		}
	}
}

func TestIndex(t *testing.T) {
	for token, want := range map[string]int{
		"0": 0, "1": 1, "10": 10, "99999999999999999999": math.MaxInt,
		"": -1, "-": -1, "01": -1, "00": -1, "+1": -1, "-1": -1, "1.0": -1, "1e1": -1, "a": -1, "٣": -1,
	} {
		if got := jsonpointer.Index(token); got != want {
			t.Errorf("Index(%q) = %v, want %v", token, got, want)
		}
	}
}

func TestLookup(t *testing.T) {
	doc := map[string]any{"a/b": []any{1.0, map[string]any{"": "x"}}, "null": nil}
	for pointer, want := range map[string]any{"/a~1b/0": 1.0, "/a~1b/1/": "x", "/null": nil} {
		if got, ok := jsonpointer.Lookup(doc, pointer); !ok || got != want {
			t.Errorf("Lookup(%q) = %v, %v, want %v", pointer, got, ok, want)
		}
	}
	for _, pointer := range []string{"/a", "/a~1b/2", "/a~1b/00", "/a~1b/-", "/a~1b/0/0", "/null/x"} {
		if got, ok := jsonpointer.Lookup(doc, pointer); ok {
			t.Errorf("Lookup(%q) = %v, want nothing", pointer, got)
		}
	}
}
