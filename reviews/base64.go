package reviews

// rightID ends the messages about the form of an id, except the one about mixed alphabets, which says itself what to do. So
// whoever has the file can mend it.
const rightID = "want the Base64 of the article's id, such as YXJ0aWNsZS0x for article-1"

// base64Fault returns what is wrong with the id of a collection; "" for nothing. It must be Base64 (RFC 4648) of at least one
// byte, in the standard alphabet (with + and /) or in the one for URLs (with - and _), but not in both, and padded with = fully
// or not at all. encoding/base64 needs to be told which of these four forms to expect. The id is not decoded: it is stored and
// compared as it is written.
//
//	YQ==   YQ   a-_b   a+/b   accepted
//	a+_b                      mixes the alphabets
//	YQ=    Y                  no encoder writes this length
//	==                        Base64 of nothing
//
// Bits of the last character that belong to no byte may be set, as in YR==.
func base64Fault(text []byte) string {
	// n is the length without the padding, which has two characters at most. A third = is then a character of neither alphabet.
	n := len(text)
	for n > 0 && len(text)-n < 2 && text[n-1] == '=' {
		n--
	}
	var standard, url bool
	for _, c := range text[:n] {
		switch {
		case 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' || '0' <= c && c <= '9':
		case c == '+' || c == '/':
			standard = true
		case c == '-' || c == '_':
			url = true
		default:
			return "this is not Base64: it holds a character of neither alphabet; " + rightID
		}
	}
	// Three bytes are written as four characters. At the end, one byte is two characters and two bytes are three, and padding
	// fills up to four. So one character alone stands for no byte.
	switch {
	case standard && url:
		return "this is not Base64: it mixes the standard alphabet and the one for URLs; keep to one"
	case n == 0:
		return "this is Base64 of nothing; " + rightID
	case n%4 == 1 || n < len(text) && len(text)%4 != 0:
		return "this is not Base64: it has a length that no encoder writes; " + rightID
	}
	return ""
}
