package assets

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// words splits a text, which may have HTML, into its words, in their order. Texts that are indexed
// and texts of queries are split by the same rules:
//
//   - HTML is stripped; see stripHTML.
//   - Case is folded, and so are diacritics of Latin, Greek and Cyrillic letters; see fold.
//   - Everything that is not a letter, digit or mark separates words.
//   - Each Han, Hiragana and Katakana character is a word of its own, since these scripts put no
//     spaces between words.
//
// For example, "<b>Café</b> no_1 漢字" has the words cafe, no, 1, 漢 and 字.
func words(text string) []string {
	text = strings.ToValidUTF8(stripHTML(text), "\ufffd")
	if isASCII(text) {
		return cutASCII(text)
	}
	return cut(fold(text))
}

// queryWords splits the text of a query like words. A word with a * right behind it is returned among
// the prefixes, unless a letter, digit or mark follows the *. Any other * separates words. For
// example, "launch* foo*bar" has the prefix launch and the words foo and bar.
func queryWords(text string) (whole, prefixes []string) {
	text = strings.ToValidUTF8(stripHTML(text), "\ufffd")
	split := cut
	if isASCII(text) {
		text, split = strings.ToLower(text), cutASCII
	} else {
		text = fold(text)
	}
	// A piece ends at a *, except the last one. Its last word is a prefix if nothing is between the
	// word and the *, and if no word begins right behind the *.
	pieces := strings.Split(text, "*")
	for i, piece := range pieces {
		list := split(piece)
		if n := len(list); n > 0 && i < len(pieces)-1 && strings.HasSuffix(piece, list[n-1]) && !beginsInWord(pieces[i+1]) {
			prefixes = append(prefixes, list[n-1])
			list = list[:n-1]
		}
		whole = append(whole, list...)
	}
	return whole, prefixes
}

// beginsInWord reports whether a folded text begins with a letter, digit or mark.
func beginsInWord(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.In(r, unicode.L, unicode.Nd, unicode.M) || isWordAlone(r)
}

// checkPrefix returns ErrInvalid if a prefix is a single character, since too many words would
// begin so. A character that is a word of its own, such as a Han character, is enough.
func checkPrefix(p string) error {
	if r, size := utf8.DecodeRuneInString(p); size == len(p) && !isWordAlone(r) {
		return invalid("query", "%q is too short before the *: want at least two characters", p)
	}
	return nil
}

// isASCII reports whether a text has no byte above 127.
func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// cutASCII is fold and cut for a text in ASCII, which most texts are: one pass over the bytes,
// without tables of Unicode.
func cutASCII(s string) []string {
	s = strings.ToLower(s)
	var out []string
	start := -1
	for i := range len(s) {
		c := s[i]
		switch inWord := 'a' <= c && c <= 'z' || '0' <= c && c <= '9'; {
		case inWord && start < 0:
			start = i
		case !inWord && start >= 0:
			out, start = append(out, s[start:i]), -1
		}
	}
	if start >= 0 {
		out = append(out, s[start:])
	}
	return out
}

// fold returns the same text for texts that differ only in case, in diacritics of Latin, Greek and
// Cyrillic letters, or in their Unicode normal form. Marks of other scripts are kept, since they
// tell words apart there: vowels in Devanagari, for example.
func fold(s string) string {
	// Canonical caseless matching of the Unicode Standard (definition D145) compares texts in this
	// form.
	s = norm.NFD.String(cases.Fold().String(norm.NFD.String(s)))
	var b strings.Builder
	b.Grow(len(s))
	european := false // the last letter is of a script whose diacritics are folded
	for _, r := range s {
		if !unicode.Is(unicode.M, r) { // a letter or anything else that is not a mark
			european = unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic)
			b.WriteRune(foldMore(r))
		} else if !european && !unicode.Is(unicode.Variation_Selector, r) {
			b.WriteRune(r)
		}
	}
	return norm.NFC.String(b.String())
}

// foldMore folds letters that the libraries do not fold: đ, ħ, ł, ø and ŧ, whose stroke is no mark,
// the dotless i, and the case of Cherokee.
func foldMore(r rune) rune {
	switch r {
	case 'đ':
		return 'd'
	case 'ħ':
		return 'h'
	case 'ı':
		return 'i'
	case 'ł':
		return 'l'
	case 'ø':
		return 'o'
	case 'ŧ':
		return 't'
	}
	if unicode.Is(unicode.Cherokee, r) {
		return unicode.ToUpper(r)
	}
	return r
}

// cut splits a folded text into words, which share its memory. A mark belongs to the letter or
// digit before it. A mark after anything else, such as an emoji or a character that is a word of
// its own, is skipped.
func cut(s string) []string {
	var out []string
	start := -1 // where the present word begins; -1 = between words
	// end ends the present word, if there is one, in front of byte i.
	end := func(i int) {
		if start >= 0 {
			out, start = append(out, s[start:i]), -1
		}
	}
	for i, r := range s {
		switch {
		case isWordAlone(r):
			end(i)
			out = append(out, s[i:i+utf8.RuneLen(r)])
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			if start < 0 {
				start = i
			}
		case !unicode.Is(unicode.M, r):
			end(i)
		}
	}
	end(len(s))
	return slices.Clip(out)
}

// isWordAlone reports whether r is a word of its own: a character of a script that is written
// without spaces. The marks of length and voice of Katakana, which Unicode assigns to no script,
// count as Katakana. Han numerals such as 〇 are letter numbers for Unicode, and count too.
func isWordAlone(r rune) bool {
	const prolonged, halfProlonged, halfVoiced, halfSemiVoiced = 'ー', 'ｰ', 'ﾞ', 'ﾟ'
	switch r {
	case prolonged, halfProlonged, halfVoiced, halfSemiVoiced:
		return true
	}
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) && unicode.In(r, unicode.L, unicode.Nl)
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
