package format

import (
	"bytes"
	"encoding/base64"
	"unicode"
)

// maxAddress is the maximum length of an imported_url in bytes. It is far above any address in use.
const maxAddress = 64 << 10

// isWebAddress returns whether text begins with http:// or https://, in either case, followed by a character that can
// begin a host: any character above U+0020 except / \ ? # @ and :. So an empty host is rejected. The rest of the URL is
// not checked: the rule only ensures that a link runs no script and leads to a web site. url.Parse is not used, since
// it does not accept the same texts as browsers.
//
//	https://example.test/a b   yes, but not for IsPlainWebAddress
//	HTTP://[::1]:80            yes
//	https:///path              no: there is no host
//	//example.test             no: there is no scheme
func isWebAddress(text []byte) bool {
	switch {
	case hasScheme(text, "http://"):
		text = text[len("http://"):]
	case hasScheme(text, "https://"):
		text = text[len("https://"):]
	default:
		return false
	}
	// browsers take a backslash for a slash
	return len(text) > 0 && text[0] > ' ' && bytes.IndexByte([]byte(`/\?#@:`), text[0]) < 0
}

// IsPlainWebAddress returns whether text is a web address without spaces and ASCII control characters. It is the rule
// url for an imported_url that is not empty. An href may have spaces, which browsers encode; hrefFault rejects its
// control characters.
func IsPlainWebAddress(text []byte) bool {
	for _, c := range text {
		if c <= ' ' || c == 0x7f {
			return false
		}
	}
	return isWebAddress(text)
}

// hasScheme returns whether text begins with scheme, in either case.
func hasScheme(text []byte, scheme string) bool {
	return len(text) >= len(scheme) && bytes.EqualFold(text[:len(scheme)], []byte(scheme))
}

// maxEmail is how many bytes an email address may have: 64 before the @ and 255 after it (RFC 5321).
const maxEmail = 64 + 1 + 255

// isEmail returns whether text looks like an email address: one @ with something on both sides, a domain without empty
// labels, and no characters that separate addresses or names from them. Letters of any script are allowed.
func isEmail(text []byte) bool {
	for _, r := range string(text) {
		if r <= ' ' || r >= 0x80 && unicode.IsSpace(r) {
			return false
		}
	}
	local, domain, found := bytes.Cut(text, []byte("@"))
	return found && len(text) <= maxEmail && len(local) > 0 && len(domain) > 0 &&
		!bytes.ContainsAny(text, "<>()[]\\,;:\"\x7f") &&
		bytes.IndexByte(domain, '@') < 0 && domain[0] != '.' && domain[len(domain)-1] != '.' &&
		!bytes.Contains(domain, []byte(".."))
}

// rightID ends the messages about the form of an id, so that the owner of the file can correct it.
const rightID = "want the Base64 of the article's id, such as YXJ0aWNsZS0x for article-1"

// DecodeID decodes the id of a collection, or returns what is wrong with it. It must be Base64 (RFC 4648) of at least
// one byte, in the standard alphabet (with + and /) or in the one for URLs (with - and _), but not in both, with full
// padding or none.
//
//	YQ==   YQ   a-_b   a+/b   accepted
//	a+_b                      mixes the alphabets
//	YQ=    Y                  no encoder writes this length
//	==                        Base64 of nothing
//
// Unused bits of the last character may be set, as in YR==.
func DecodeID(text []byte) (decoded []byte, fault string) {
	encoding := base64.StdEncoding
	switch url := bytes.ContainsAny(text, "-_"); {
	case url && bytes.ContainsAny(text, "+/"):
		return nil, "this is not Base64: it mixes the standard alphabet and the one for URLs; keep to one"
	case url:
		encoding = base64.URLEncoding
	}
	if !bytes.HasSuffix(text, []byte("=")) {
		encoding = encoding.WithPadding(base64.NoPadding)
	}
	decoded, err := encoding.AppendDecode(nil, text)
	if err != nil || len(decoded) == 0 || bytes.ContainsAny(text, "\r\n") { // package base64 skips line ends
		return nil, "this is not Base64; " + rightID
	}
	return decoded, ""
}
