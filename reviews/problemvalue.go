package reviews

import (
	"bytes"
	"unicode/utf8"
)

// A problem repeats the text that is wrong, as it stands in the file: the whole JSON value or name at its offset, the rest of the
// string for body_html, or the one escape that is wrong. It repeats the first 80 characters. For example:
//
//	text at the offset                  rule           Problem.Value
//	"03/04/2019","id":"1", …            timestamp      "03/04/2019"
//	[80,20],"author_id":"7", …          ratings-count  [80,20]
//	\u0000 and more", …                 text-nul       \u0000
//	<b>Bright</b></p>", …               body-html      <b>Bright</b></p>
//
// The value is cut from the bytes at the offset, and not from what was decoded. So it costs the same for a value of any length.

const (
	maxValue = 80                     // characters
	maxHead  = maxValue * utf8.UTFMax // bytes that so many characters may take
)

// wrong returns Problem.Value for a problem with this rule. head is the text at its offset, maxHead bytes of it unless the line
// ends before. The value is "" if something is missing, if the line is no JSON, or if the problem is about the whole file.
func (r ruleID) wrong(head []byte) string {
	switch r {
	case ruleJSON, ruleUTF8, ruleDepth, ruleTooLong, ruleMissing, ruleDimensionsAbsent, ruleAuthorMissing, ruleFileKind, ruleFileEmpty, ruleScale, ruleOverwrite:
		return ""
	case ruleNUL, ruleSurrogate:
		return string(head[:len(`\u0000`)])
	case ruleHTML:
		return string(firstCharacters(restOfString(head)))
	}
	return string(firstCharacters(firstValue(head)))
}

// firstValue returns the JSON value that text begins with, or all of text if the value does not end in it. For a member it
// returns the name. The value was read before and is JSON, so firstValue only looks for its end: of `[1,"]"],"id":1` it is
// `[1,"]"]`. Brackets inside strings do not count, and which kind a bracket is does not matter in valid JSON.
func firstValue(text []byte) []byte {
	// A string is read at once. Numbers, true, false and null end in front of the next separator, and an array or an object ends
	// with the bracket that closes it, when depth is 0 again.
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

// restOfString returns the beginning of text, which begins inside a string, up to the closing quote; all of text if that is not
// in it. An escaped quote does not close the string.
func restOfString(text []byte) []byte {
	for i := 0; ; i++ {
		n := bytes.IndexByte(text[i:], '"')
		if n < 0 {
			return text
		}
		i += n
		escapes := i
		for escapes > 0 && text[escapes-1] == '\\' {
			escapes--
		}
		if (i-escapes)%2 == 0 {
			return text[:i]
		}
	}
}

// firstCharacters returns the first maxValue characters of text. A character is never cut, since maxHead has room for so many of
// the longest ones.
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
