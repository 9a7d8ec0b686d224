package assets

import (
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// words splits a text that is indexed, and may have HTML, into its words, in their order. parseQuery, in query.go,
// splits queries by the same rules:
//
//   - HTML is stripped; see stripHTML.
//   - Case, diacritics of Latin, Greek and Cyrillic letters, and more are folded; see fold.
//   - Everything that is not a letter, digit or mark separates words. An emoji is a word.
//   - Each Han, Hiragana and Katakana character is a word of its own, since these scripts put no
//     spaces between words.
//
// For example, "<b>Café</b> no_1 漢字" has the words cafe, no, 1, 漢 and 字.
func words(text string) (out []string) {
	s := fold(strings.ToValidUTF8(stripHTML(text), "\ufffd"))
	for start, end := range eachWord(s) {
		out = append(out, s[start:end])
	}
	return slices.Clip(out)
}

// fold returns the same text for texts that differ only in case, in diacritics of Latin, Greek and Cyrillic letters, in
// marks of Arabic and points of Hebrew letters, in ligatures and other forms of characters, or in their Unicode normal
// form. Marks of other scripts are kept, since they tell words apart there, such as vowels in Devanagari. Skin tones of
// emoji and invisible characters, such as soft hyphens, are removed.
func fold(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 { // ASCII, as most texts are
		return strings.ToLower(s)
	}
	// Compatibility caseless matching of the Unicode Standard (definition D146) compares texts in this
	// form.
	s = norm.NFKD.String(cases.Fold().String(norm.NFKD.String(s)))
	var b strings.Builder
	b.Grow(len(s))
	marks := true // false if the marks after the last letter are removed
	for _, r := range s {
		switch {
		case isUnseen(r):
		case !unicode.Is(unicode.M, r): // a letter or anything else that is not a mark
			marks = !unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Arabic, unicode.Hebrew)
			b.WriteString(foldMore(r))
		case marks && !unicode.Is(unicode.Variation_Selector, r):
			b.WriteRune(r)
		}
	}
	return norm.NFC.String(b.String())
}

// isUnseen reports whether r is ignored wherever it is: soft hyphens, word joiners, marks of direction, the stretching
// of Arabic words, and skin tones.
func isUnseen(r rune) bool {
	switch {
	case r == '\u00ad', r == '\u0640', r == '\u2060', r == '\ufeff', '\u200e' <= r && r <= '\u200f', '\u202a' <= r &&
		r <= '\u202e', '\u2066' <= r && r <= '\u2069':
		return true
	}
	return 0x1f3fb <= r && r <= 0x1f3ff
}

// foldMore folds letters that the libraries do not fold: đ, ħ, ł, ø and ŧ, whose stroke is no mark,
// the dotless i, the ligatures æ and œ, and the case of Cherokee.
func foldMore(r rune) string {
	switch r {
	case 'đ':
		return "d"
	case 'ħ':
		return "h"
	case 'ı':
		return "i"
	case 'ł':
		return "l"
	case 'ø':
		return "o"
	case 'ŧ':
		return "t"
	case 'æ':
		return "ae"
	case 'œ':
		return "oe"
	}
	if unicode.Is(unicode.Cherokee, r) {
		r = unicode.ToUpper(r)
	}
	return string(r)
}

// eachWord yields where the words of a folded text begin and end. A mark belongs to the letter or
// digit before it. A mark after anything else, such as an emoji or a character that is a word of
// its own, is skipped. A joiner within a word belongs to it.
func eachWord(s string) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		start, done := -1, 0 // where the present word begins, -1 between words; how much of the text was split
		// end ends the present word, if there is one, in front of byte i.
		end := func(i int) bool {
			from := start
			start = -1
			return from < 0 || yield(from, i)
		}
		for i, r := range s {
			if i < done {
				continue
			}
			more := true
			switch {
			case r < utf8.RuneSelf: // without tables of Unicode, as most texts are
				inWord := 'a' <= r && r <= 'z' || '0' <= r && r <= '9'
				if !inWord {
					more = end(i)
				} else if start < 0 {
					start = i
				}
			case isEmoji(r):
				done = i + emojiLen(s[i:])
				more = end(i) && yield(i, done)
			case isWordAlone(r):
				more = end(i) && yield(i, i+utf8.RuneLen(r))
			case unicode.IsLetter(r) || unicode.IsDigit(r):
				if start < 0 {
					start = i
				}
			case r == joiner && start >= 0 && beginsWithLetter(s[i+len("\u200d"):]):
			case !unicode.Is(unicode.M, r):
				more = end(i)
			}
			if !more {
				return
			}
		}
		end(len(s))
	}
}

// joiner connects letters of some scripts, and connects several emoji to one.
const joiner = '\u200d'

func beginsWithLetter(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsLetter(r) && !isWordAlone(r)
}

// emoji are the characters with the Unicode property Extended_Pictographic, except © and ®, which texts contain for
// other reasons, and the letters of flags.
var emoji = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x2194, 0x2199, 1}, {0x21a9, 0x21aa, 1}, {0x231a, 0x231b, 1}, {0x2328, 0x2328, 1}, {0x2388, 0x2388, 1},
		{0x23cf, 0x23cf, 1}, {0x23e9, 0x23f3, 1},
		{0x23f8, 0x23fa, 1}, {0x25aa, 0x25ab, 1}, {0x25b6, 0x25b6, 1}, {0x25c0, 0x25c0, 1}, {0x25fb, 0x25fe, 1},
		{0x2600, 0x2605, 1}, {0x2607, 0x2612, 1},
		{0x2614, 0x2685, 1}, {0x2690, 0x2705, 1}, {0x2708, 0x2712, 1}, {0x2714, 0x2716, 2}, {0x271d, 0x271d, 1},
		{0x2721, 0x2721, 1}, {0x2728, 0x2728, 1},
		{0x2733, 0x2734, 1}, {0x2744, 0x2747, 3}, {0x274c, 0x274e, 2}, {0x2753, 0x2755, 1}, {0x2757, 0x2757, 1},
		{0x2763, 0x2767, 1}, {0x2795, 0x2797, 1},
		{0x27a1, 0x27a1, 1}, {0x27b0, 0x27bf, 15}, {0x2934, 0x2935, 1}, {0x2b05, 0x2b07, 1}, {0x2b1b, 0x2b1c, 1},
		{0x2b50, 0x2b55, 5}, {0x3030, 0x303d, 13},
	},
	R32: []unicode.Range32{
		{0x1f000, 0x1f0ff, 1}, {0x1f10d, 0x1f10f, 1}, {0x1f12f, 0x1f12f, 1}, {0x1f16c, 0x1f171, 1},
		{0x1f17e, 0x1f17f, 1}, {0x1f18e, 0x1f18e, 1},
		{0x1f191, 0x1f19a, 1}, {0x1f1ad, 0x1f1ff, 1}, {0x1f201, 0x1f20f, 1}, {0x1f21a, 0x1f21a, 1},
		{0x1f22f, 0x1f22f, 1}, {0x1f232, 0x1f23a, 1},
		{0x1f23c, 0x1f23f, 1}, {0x1f249, 0x1f3fa, 1}, {0x1f400, 0x1f53d, 1}, {0x1f546, 0x1f64f, 1},
		{0x1f680, 0x1f6ff, 1}, {0x1f774, 0x1f77f, 1},
		{0x1f7d5, 0x1f7ff, 1}, {0x1f80c, 0x1f80f, 1}, {0x1f848, 0x1f84f, 1}, {0x1f85a, 0x1f85f, 1},
		{0x1f888, 0x1f88f, 1}, {0x1f8ae, 0x1f8ff, 1},
		{0x1f90c, 0x1f93a, 1}, {0x1f93c, 0x1f945, 1}, {0x1f947, 0x1faff, 1}, {0x1fc00, 0x1fffd, 1},
	},
}

func isEmoji(r rune) bool { return unicode.Is(emoji, r) }

// emojiLen returns the length in bytes of the emoji at the beginning of s. A flag has two letters, a family is joined,
// and the flag of a part of a country is followed by tags.
func emojiLen(s string) int {
	isFlag := func(r rune) bool { return 0x1f1e6 <= r && r <= 0x1f1ff }
	first, n := utf8.DecodeRuneInString(s)
	if r, size := utf8.DecodeRuneInString(s[n:]); isFlag(first) && isFlag(r) {
		return n + size
	}
	for {
		r, size := utf8.DecodeRuneInString(s[n:])
		next, more := utf8.DecodeRuneInString(s[n+size:])
		switch {
		case 0xe0020 <= r && r <= 0xe007f:
			n += size
		case r == joiner && isEmoji(next):
			n += size + more
		default:
			return n
		}
	}
}

// isWordAlone reports whether r is a word of its own: a character of a script that is written
// without spaces. The length mark of Katakana, which Unicode assigns to no script,
// counts as Katakana. Han numerals such as 〇 are letter numbers for Unicode, and count too.
func isWordAlone(r rune) bool {
	return r == 'ー' || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) &&
		unicode.In(r, unicode.L, unicode.Nl)
}

// stripHTML returns the text of s without tags, comments, scripts and styles, and with entities
// decoded. An inline tag is removed, so a word may be partly bold. Any other tag becomes a space,
// so the words of two paragraphs are not joined.
//
//	a<b>b</b>c &amp; <p>d</p>e    becomes    abc &  d e
//
// The result is for searching. It is not safe to put into a page.
func stripHTML(s string) string {
	if !strings.ContainsAny(s, "<&") {
		return s
	}
	var b strings.Builder
	z := html.NewTokenizer(strings.NewReader(s))
	// The tokenizer gives all that is inside a script or a style as one text.
	skip := false // inside a script or style
	for {
		switch kind := z.Next(); kind {
		case html.ErrorToken: // the end; the tokenizer has no other error on a string
			return b.String()
		case html.TextToken:
			if !skip {
				b.Write(z.Text())
			}
		case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken:
			name, _ := z.TagName()
			tag := atom.Lookup(name)
			skip = kind != html.EndTagToken && (tag == atom.Script || tag == atom.Style)
			if !isInline(tag) {
				b.WriteByte(' ')
			}
		}
	}
}

// isInline reports whether an element of HTML with this tag stands within a line of text.
func isInline(tag atom.Atom) bool {
	switch tag {
	case atom.A, atom.Abbr, atom.B, atom.Bdi, atom.Bdo, atom.Big, atom.Cite, atom.Code, atom.Del, atom.Dfn,
		atom.Em, atom.Font, atom.I, atom.Ins, atom.Kbd, atom.Mark, atom.Q, atom.S, atom.Samp, atom.Small,
		atom.Span, atom.Strike, atom.Strong, atom.Sub, atom.Sup, atom.Tt, atom.U, atom.Var, atom.Wbr:
		return true
	}
	return false
}
