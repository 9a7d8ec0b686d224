package httpapi

import (
	"testing"
)

func TestUnescape(t *testing.T) {
	for in, want := range map[string]string{
		"plain": "plain", "%40a%2Fb": "@a/b", "%2540": "%40", "a+b": "a+b", "é": "é", "%C3%A9": "é", "%FF": "\x00",
		"a%ED%A0%80b": "a\x00b", "%zz": "\x00", "%": "\x00",
	} {
		if got := unescape(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
