package httpapi

import (
	"strings"
	"testing"
)

// FuzzAcceptEncoding compares readings of Accept-Encoding that must be equal: a list may be split over several headers,
// codings other than gzip change nothing, and neither does identity with weight 0 after a list that does not name it.
func FuzzAcceptEncoding(f *testing.F) {
	for _, seed := range []string{"", "gzip", "gzip;q=0.5, identity;q=0.4", "*;q=0, gzip", "gzip;q=1.0000", "x-gzip ; Q=1,,br;q=.5", "identity;q=0"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, list string) {
		takes := takesGzip([]string{list})
		parts := strings.Split(list, ",")
		if takesGzip(parts) != takes {
			t.Errorf("%q over %d headers is another list", list, len(parts))
		}
		if takesGzip(append(parts, "br;q=1", "deflate;q=0")) != takes {
			t.Errorf("other codings change what %q says of gzip", list)
		}
		if strings.Contains(strings.ToLower(list), "identity") {
			return
		}
		if takesGzip(append(parts, "identity;q=0")) != takes {
			t.Errorf("a client that refuses what is not compressed, and says %q, gets something else", list)
		}
	})
}
