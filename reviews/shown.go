package reviews

import "unicode/utf8"

// A problem repeats the beginning of the text that is wrong.

// maxValue is how many characters of it.
const maxValue = 80

// maxHead is how many bytes these may take.
const maxHead = maxValue * utf8.UTFMax

// wrong gives what a problem with a rule repeats of the line, which goes on with head at its place; "" for what
// is missing, or no JSON.
func (r ruleID) wrong(head []byte) string {
	switch r {
	case ruleJSON, ruleUTF8, ruleDepth, ruleMissing, ruleDimensionsAbsent, ruleAuthorMissing, ruleFileKind, ruleFileEmpty:
		return ""
	case ruleNUL, ruleSurrogate:
		return string(head[:len(`\u0000`)])
	case ruleHTML:
		return string(firstCharacters(restOfString(head)))
	}
	return string(firstCharacters(firstValue(head)))
}

// firstValue cuts text behind the JSON value that it begins with, if that ends in it.
func firstValue(text []byte) []byte {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '"':
			i += 1 + len(restOfString(text[i+1:]))
		case '{', '[':
			depth++
			continue
		case '}', ']':
			if depth == 0 {
				return text[:i]
			}
			depth--
		case ',', ':', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return text[:i]
			}
			continue
		default:
			continue
		}
		if depth == 0 {
			return text[:min(i+1, len(text))]
		}
	}
	return text
}

// restOfString cuts text, which begins inside a string, before the closing quote.
func restOfString(text []byte) []byte {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return text[:i]
		}
	}
	return text
}

// firstCharacters gives at most maxValue characters.
func firstCharacters(text []byte) []byte {
	n := 0
	for range maxValue {
		if n >= len(text) {
			break
		}
		_, size := utf8.DecodeRune(text[n:])
		n += size
	}
	return text[:n]
}
