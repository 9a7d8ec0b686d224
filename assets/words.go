package assets

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// words cuts a text, which may hold HTML, into its words in their order: HTML is stripped, case and
// diacritics are folded, and everything that is not a letter, digit or mark stands between words.
// Each Han, Hiragana and Katakana character is a word of its own. It is the one place that says what
// a word is, for what is indexed and for what is asked.
func words(text string) []string {
	text = strings.ToValidUTF8(stripHTML(text), "\ufffd")
	if isASCII(text) {
		return cutASCII(text)
	}
	return cut(fold(text))
}

// queryWords cuts the text of a query into words as words does. A word that ends in * stands among the prefixes.
// Any other * stands between words.
func queryWords(text string) (whole, prefixes []string) {
	text = strings.ToValidUTF8(stripHTML(text), "\ufffd")
	split := cut
	if isASCII(text) {
		text, split = strings.ToLower(text), cutASCII
	} else {
		text = fold(text)
	}
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

// beginsInWord reports whether a text begins with a letter, digit or mark.
func beginsInWord(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.In(r, unicode.L, unicode.Nd, unicode.M) || isWordAlone(r)
}

// checkPrefix refuses a prefix that is too short to be searched for.
func checkPrefix(p string) error {
	if r, size := utf8.DecodeRuneInString(p); size == len(p) && !isWordAlone(r) {
		return invalid("query", "%q is too short before the *: want at least two characters", p)
	}
	return nil
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// cutASCII is cut for a text that needs no Unicode: most of what there is.
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

// fold makes texts equal that differ only in case, in diacritics of Latin, Greek and Cyrillic, or
// in the normal form they are written in.
func fold(s string) string {
	s = norm.NFD.String(cases.Fold().String(norm.NFD.String(s)))
	var b strings.Builder
	b.Grow(len(s))
	european := false // the last letter is of a script whose diacritics are folded
	for _, r := range s {
		if !unicode.Is(unicode.M, r) {
			european = unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic)
			b.WriteRune(foldMore(r))
		} else if !european && !unicode.Is(unicode.Variation_Selector, r) {
			b.WriteRune(r)
		}
	}
	return norm.NFC.String(b.String())
}

// foldMore folds what the libraries leave. The diacritics that Unicode does not take apart: strokes,
// and the missing dot. And the case of Cherokee, which package cases turns either way.
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

// cut splits a folded text. A mark belongs to the letter or digit before it; one that follows
// anything else, an emoji or a character that is a word of its own, belongs to nothing.
func cut(s string) []string {
	var out []string
	start := -1
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

// isWordAlone reports whether r is written without spaces between words. The marks of length and
// voice of Katakana count as Katakana: Unicode has them in no script of their own. The zero 〇 and the
// numerals of merchants are no letters but letter numbers, and Han all the same.
func isWordAlone(r rune) bool {
	const prolonged, halfProlonged, halfVoiced, halfSemiVoiced = 'ー', 'ｰ', 'ﾞ', 'ﾟ'
	switch r {
	case prolonged, halfProlonged, halfVoiced, halfSemiVoiced:
		return true
	}
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) && unicode.In(r, unicode.L, unicode.Nl)
}
