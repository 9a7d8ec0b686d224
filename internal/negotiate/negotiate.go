// Package negotiate reads the headers Accept, Accept-Encoding and If-None-Match.
package negotiate

import (
	"strconv"
	"strings"
)

// Takes reports whether a header such as Accept or Accept-Encoding, which may be repeated, names wanted with a weight
// above 0 (RFC 9110, section 12.4.2). Patterns such as "*" do not name it. A weight that is no number is 0.
func Takes(lists []string, wanted string) bool {
	for _, list := range lists {
		for item := range strings.SplitSeq(list, ",") {
			name, params, _ := strings.Cut(item, ";")
			if !strings.EqualFold(strings.TrimSpace(name), wanted) {
				continue
			}
			weight := 1.0
			for param := range strings.SplitSeq(params, ";") {
				if q, ok := strings.CutPrefix(strings.ToLower(strings.TrimSpace(param)), "q="); ok {
					weight, _ = strconv.ParseFloat(q, 64)
				}
			}
			return weight > 0
		}
	}
	return false
}

// Has reports whether If-None-Match, which may be repeated, has etag or "*". Tags are compared weakly (RFC 9110,
// section 13.1.2).
func Has(ifNoneMatch []string, etag string) bool {
	for _, list := range ifNoneMatch {
		for tag := range strings.SplitSeq(list, ",") {
			tag = strings.TrimSpace(tag)
			if tag == "*" || strings.TrimPrefix(tag, "W/") == etag {
				return true
			}
		}
	}
	return false
}
