package reviews

// maxAddress is the longest imported_url that is looked at, in bytes.
const maxAddress = 64 << 10

// isWebAddress says whether text begins with http:// or https:// and a host.
func isWebAddress(text []byte) bool {
	rest, ok := afterScheme(text, "http://")
	if !ok {
		rest, ok = afterScheme(text, "https://")
	}
	if !ok || len(rest) == 0 {
		return false
	}
	switch rest[0] {
	case '/', '\\', '?', '#', '@', ':':
		return false
	}
	return rest[0] > ' '
}

// isPlainWebAddress says too that there is no white space and no control character in it.
func isPlainWebAddress(text []byte) bool {
	for _, c := range text {
		if c <= ' ' || c == 0x7f {
			return false
		}
	}
	return isWebAddress(text)
}

// afterScheme gives what follows scheme, which may be written in either case.
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
