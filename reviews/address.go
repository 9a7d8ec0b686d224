package reviews

// maxAddress is how many bytes the text of an imported_url may have. The limit is far above any address in use.
const maxAddress = 64 << 10

// isWebAddress returns whether text begins with http:// or https://, with letters in either case, and goes on with a character
// that can begin a host: any character above U+0020 but / \ ? # @ and :. So an empty host is refused. No other part of the URL is
// checked: the rule is there so that a link runs no script and leads to a web site, and whether the site exists cannot be known.
// url.Parse is not used, since it accepts and refuses other texts than browsers do.
//
//	https://example.test/a b   yes, but not for isPlainWebAddress
//	HTTP://[::1]:80            yes
//	https:///path              no: there is no host
//	//example.test             no: there is no scheme
func isWebAddress(text []byte) bool {
	rest, ok := afterScheme(text, "http://")
	if !ok {
		rest, ok = afterScheme(text, "https://")
	}
	if !ok || len(rest) == 0 {
		return false
	}
	// None of these begins a host. Browsers take a backslash for a slash.
	switch rest[0] {
	case '/', '\\', '?', '#', '@', ':':
		return false
	}
	return rest[0] > ' '
}

// isPlainWebAddress returns whether text is a web address without spaces and control characters of ASCII. It is the rule url for
// an imported_url that is not empty. An href may have spaces, which browsers encode; hrefFault has a rule of its own for control
// characters.
func isPlainWebAddress(text []byte) bool {
	for _, c := range text {
		if c <= ' ' || c == 0x7f {
			return false
		}
	}
	return isWebAddress(text)
}

// afterScheme returns what follows scheme in text. scheme is in lower case; in text its letters may be in either case. ok is
// false if text does not begin with the scheme.
func afterScheme(text []byte, scheme string) (rest []byte, ok bool) {
	if len(text) < len(scheme) {
		return nil, false
	}
	for i := range len(scheme) {
		c := text[i]
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		if c != scheme[i] {
			return nil, false
		}
	}
	return text[len(scheme):], true
}
