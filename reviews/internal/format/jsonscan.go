package format

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// decoder reads JSON in memory. It accepts repeated names and bytes that are not UTF-8.
type decoder struct {
	jsontext.Decoder
	input bytes.Buffer
}

// begin lets d read text, and returns d.
func (d *decoder) begin(text []byte) *decoder {
	d.input = *bytes.NewBuffer(text)
	d.Reset(&d.input, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	return d
}

// member returns the value of the first member with a name. It returns nil if text does not begin with an object that
// has it, or if the object has a fault before that.
func (d *decoder) member(text []byte, name string) []byte {
	if len(text) == 0 || text[0] != '{' {
		return nil
	}
	d.begin(text).ReadToken()
	for d.PeekKind() == '"' {
		token, err := d.ReadToken()
		found := err == nil && token.String() == name
		value, err := d.ReadValue()
		if err != nil {
			return nil
		}
		if found {
			return value
		}
	}
	return nil
}

// idOf returns the id of the object at the beginning of text, as problems show it: the first member id, or "" if that
// is not a string.
func idOf(d *decoder, text []byte) string {
	raw := d.member(text, "id")
	if len(raw) == 0 || raw[0] != '"' {
		return ""
	}
	id, _ := jsontext.AppendUnquote(nil, raw)
	return Shown(id)
}

// unquote returns the text of a JSON string, valid until the next call. Half of a surrogate pair becomes U+FFFD.
func (c *lineChecker) unquote(raw []byte) []byte {
	rest := raw[1 : len(raw)-1]
	n := bytes.IndexByte(rest, '\\')
	if n < 0 {
		return rest
	}
	c.decoded = c.decoded[:0]
	for ; n >= 0; n = bytes.IndexByte(rest, '\\') {
		r, size := escape(rest[n:])
		c.decoded = utf8.AppendRune(append(c.decoded, rest[:n]...), r)
		rest = rest[n+size:]
	}
	c.decoded = append(c.decoded, rest...)
	return c.decoded
}

// unquoteKept returns the text of a JSON string, valid as long as the line.
func (c *lineChecker) unquoteKept(raw []byte) []byte {
	text := c.unquote(raw)
	if len(text) == len(raw)-2 { // no escapes: each is longer than its character
		return text
	}
	return bytes.Clone(text)
}

// escape returns the character of an escape, or half of a surrogate pair, and the length of the escape.
func escape(raw []byte) (r rune, size int) {
	if raw[1] != 'u' {
		if n := bytes.IndexByte([]byte("bfnrt"), raw[1]); n >= 0 {
			return rune("\b\f\n\r\t"[n]), 2
		}
		return rune(raw[1]), 2
	}
	unit := func(at int) rune {
		n, _ := strconv.ParseUint(string(raw[at:at+4]), 16, 16)
		return rune(n)
	}
	if r = unit(2); utf16.IsSurrogate(r) && len(raw) >= 12 && raw[6] == '\\' && raw[7] == 'u' {
		if pair := utf16.DecodeRune(r, unit(8)); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return r, 6
}

// within returns the index in an encoded string, with its quotes, of byte i of its text.
func within(raw []byte, i int) int {
	at := 1
	for i > 0 {
		size, length := 1, 1
		if raw[at] == '\\' {
			var r rune
			r, size = escape(raw[at:])
			length = len(utf8.AppendRune(nil, r))
		}
		at += size
		i -= length
	}
	return at
}

// wrong returns Problem.Value for a problem at an index of the line, at most 80 characters: the JSON value or name
// there; for body-html, the rest of the string; or the one wrong escape. It is "" if something is missing, or if the
// problem is about the whole file. For example:
//
//	text at the place                   rule           value
//	"03/04/2019","id":"1", …            timestamp      "03/04/2019"
//	[80,20],"author_id":"7", …          ratings-count  [80,20]
//	\u0000 and more", …                 text-nul       \u0000
//	<b>Bright</b></p>", …               body-html      <b>Bright</b></p>
func (c *lineChecker) wrong(rule RuleID, at int) string {
	// The end of the value is only searched in as many bytes as can be shown.
	text := c.text[at:min(at+maxValue*utf8.UTFMax, len(c.text))]
	switch rule {
	case RuleMissing, RuleDimensionsAbsent, RuleAuthorMissing:
		return ""
	case RuleNUL, RuleSurrogate:
		return string(text[:len(`\u0000`)])
	case RuleHTML:
		return firstCharacters(restOfString(text))
	}
	return firstCharacters(firstValue(text))
}

const maxValue = 80 // characters

// firstCharacters returns the first maxValue characters of text.
func firstCharacters(text []byte) string {
	n := 0
	for i := range string(text) {
		if n == maxValue {
			return string(text[:i])
		}
		n++
	}
	return string(text)
}

// firstValue returns the JSON value or name at the beginning of text, or all of text if it does not end there. text
// must be valid JSON up to the end of the value.
func firstValue(text []byte) []byte {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i += 1 + len(restOfString(text[i+1:]))
		case '{', '[':
			depth++
			continue
		case '}', ']':
			if depth == 0 { // a number ends in front of it
				return text[:i]
			}
			depth--
		case ',', ':', ' ', '\t', '\r':
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

// restOfString returns text, which begins inside a string, up to the closing quote, or all of text if there is none.
func restOfString(text []byte) []byte {
	for i := 0; ; i++ {
		n := bytes.IndexByte(text[i:], '"')
		if n < 0 {
			return text
		}
		i += n
		escapes := 0
		for escapes < i && text[i-escapes-1] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return text[:i]
		}
	}
}
