package assets

import (
	"errors"
	"strings"
	"unicode"
)

// checkURL reports what keeps s from being an absolute http or https URL. What a browser would strip
// or turn before it looks at the scheme (white space, control characters, backslashes) is refused.
func checkURL(s string) error {
	if strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) || r == '\\' }) {
		return errors.New("a URL has no white space, control characters or backslashes")
	}
	for _, scheme := range []string{"http://", "https://"} {
		if len(s) > len(scheme) && strings.EqualFold(s[:len(scheme)], scheme) && !strings.ContainsRune("/?#", rune(s[len(scheme)])) {
			return nil
		}
	}
	return errors.New("want an absolute http or https URL")
}
