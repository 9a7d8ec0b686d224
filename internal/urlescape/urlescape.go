// Package urlescape escapes names for the path of a URL.
package urlescape

import (
	"net/url"
	"strings"
)

// Escape returns s as one segment of a path. Dots that would be a step to the same or the upper folder are escaped too.
func Escape(s string) string {
	if s == "." || s == ".." {
		return strings.ReplaceAll(s, ".", "%2E")
	}
	return strings.ReplaceAll(url.QueryEscape(s), "+", "%20")
}
