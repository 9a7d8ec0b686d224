package negotiate_test

import (
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/internal/negotiate"
)

func TestTakes(t *testing.T) {
	for _, c := range []struct {
		lists []string
		takes bool
	}{
		{nil, false}, {[]string{""}, false}, {[]string{"gzip"}, true}, {[]string{"GZip"}, true}, {[]string{"*"}, false},
		{[]string{"gzip, deflate, br"}, true}, {[]string{"br", "gzip"}, true}, {[]string{"br, deflate"}, false},
		{[]string{"identity"}, false},
		{[]string{"gzip;q=0"}, false}, {[]string{"gzip;q=0.000"}, false}, {[]string{"gzip;q=0.001"}, true},
		{[]string{"gzip ; q=1.000"}, true},
		{[]string{"gzip;Q=0.5"}, true}, {[]string{"*;q=0, gzip"}, true}, {[]string{"gzip;level=9"}, true},
		{[]string{"gzip;level=9;q=0"}, false},
		{[]string{"gzip;q=x"}, false}, {[]string{"gzip;q="}, false}, {[]string{"gzip;q=-1"}, false},
		{[]string{"gzip;q=NaN"}, false},
		{[]string{"gzipped"}, false}, {[]string{strings.Repeat(",", 10000) + "gzip"}, true},
	} {
		if takes := negotiate.Takes(c.lists, "gzip"); takes != c.takes {
			t.Errorf("%.60q: %v", c.lists, takes)
		}
	}
}

func TestHas(t *testing.T) {
	for _, c := range []struct {
		lists []string
		has   bool
	}{
		{nil, false}, {[]string{`"a"`}, true}, {[]string{`W/"a"`}, true}, {[]string{`"b", "a"`}, true},
		{[]string{`"b"`, `"a"`}, true}, {[]string{"*"}, true},
		{[]string{`"b"`}, false}, {[]string{"a"}, false}, {[]string{""}, false},
	} {
		if has := negotiate.Has(c.lists, `"a"`); has != c.has {
			t.Errorf("%q: %v", c.lists, has)
		}
	}
}

// A list may be split over several headers, and other names change nothing.
func FuzzTakes(f *testing.F) {
	for _, seed := range []string{"", "gzip", "gzip;q=0.5, identity;q=0.4", "*;q=0, gzip", "gzip;q=1.0000",
		"x-gzip ; Q=1,,br;q=.5", "identity;q=0"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, list string) {
		takes := negotiate.Takes([]string{list}, "gzip")
		parts := strings.Split(list, ",")
		if negotiate.Takes(parts, "gzip") != takes ||
			negotiate.Takes(append(parts, "br;q=1", "deflate;q=0"), "gzip") != takes {
			t.Errorf("%q over %d headers is another list", list, len(parts))
		}
	})
}
