package httpapi

import (
	"strings"
	"testing"
)

func TestBounded(t *testing.T) {
	as := func(n int) string { return strings.Repeat("a", n) }
	for name, c := range map[string]struct{ in, want string }{
		"nothing":                   {"", ""},
		"as long as may be":         {as(1000), as(1000)},
		"a byte more":               {as(1001), as(1000) + "…"},
		"a character at the edge":   {as(997) + "😀a", as(997) + "…"},
		"a character at the end":    {as(996) + "😀a", as(996) + "😀…"},
		"bytes that are no text":    {strings.Repeat("\x80", 2000), strings.Repeat("\x80", 996) + "…"},
		"a character that is whole": {strings.Repeat("é", 501), strings.Repeat("é", 500) + "…"},
	} {
		if got := bounded(c.in); got != c.want {
			t.Errorf("%s: %d bytes, want %d", name, len(got), len(c.want))
		}
	}
}
