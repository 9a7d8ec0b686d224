package jsonpointer_test

import (
	"testing"

	"github.com/vitrine-go/vitrine/internal/jsonpointer"
)

// The examples of RFC 6901, section 5, and what a replacement in the wrong order would mix up.
func TestEscape(t *testing.T) {
	for name, token := range map[string]string{
		"": "", "foo": "foo", "a/b": "a~1b", "c%d": "c%d", " ": " ", "m~n": "m~0n", "~1": "~01", "/0": "~10", "~/": "~0~1", "~01": "~001",
	} {
		if got := jsonpointer.Escape(name); got != token {
			t.Errorf("Escape(%q) = %q, want %q", name, got, token)
		}
		if got := jsonpointer.Unescape(token); got != name {
			t.Errorf("Unescape(%q) = %q, want %q", token, got, name)
		}
	}
}

func TestIsIndex(t *testing.T) {
	for token, want := range map[string]bool{
		"0": true, "1": true, "10": true, "99999999999999999999": true,
		"": false, "-": false, "01": false, "00": false, "+1": false, "-1": false, "1.0": false, "1e1": false, "a": false, "٣": false,
	} {
		if got := jsonpointer.IsIndex(token); got != want {
			t.Errorf("IsIndex(%q) = %v, want %v", token, got, want)
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
