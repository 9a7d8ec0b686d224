package assets

import (
	"errors"
	"strings"
	"unicode"
)

// checkURL returns an error unless s is an absolute http or https URL, so that a link in an asset
// never runs a script in a browser: http:// or https://, with letters in either case, and then a
// character other than /, ? and #, where the host begins. The rest is not checked, except that white
// space, control characters and backslashes are refused anywhere. Browsers follow the WHATWG URL
// Standard: they remove or replace some of these before they look at the scheme, so "java\nscript:"
// would become "javascript:".
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
