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
