package records

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// mostOfWord is the maximum number of bytes of a word in the index of titles. Longer words are compared with the title
// itself.
const mostOfWord = 64

// TitleWords returns the words of a title, folded, sorted and unique. Words consist of letters, digits and marks. Case,
// diacritics and compatible forms are folded. Each Han, Hiragana and Katakana character is a word of its own.
func TitleWords(title string) []string {
	var words []string
	var word strings.Builder
	end := func() {
		if word.Len() > 0 {
			words = append(words, word.String())
			word.Reset()
		}
	}
	for _, r := range norm.NFKD.String(title) {
		switch {
		case unicode.Is(unicode.Mn, r):
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana):
			end()
			words = append(words, string(r))
		case r == 'ß' || r == 'ẞ':
			word.WriteString("ss")
		case unicode.IsLetter(r), unicode.IsNumber(r), unicode.IsMark(r):
			word.WriteRune(foldCase(r))
		default:
			end()
		}
	}
	end()
	slices.Sort(words)
	return slices.Compact(words)
}

// foldCase returns the lower case of a letter, and one form for those that have several or that differ in a stroke
// alone.
func foldCase(r rune) rune {
	switch r = unicode.ToLower(unicode.ToUpper(r)); r {
	case 'ø':
		return 'o'
	case 'ł':
		return 'l'
	case 'đ':
		return 'd'
	}
	return r
}

// shortWord returns a word as the index has it.
func shortWord(word string) string {
	if len(word) > mostOfWord {
		return strings.ToValidUTF8(word[:mostOfWord], "")
	}
	return word
}

// wordKeys returns the keys of the words of an app's title.
func wordKeys(h Head) (keys []string) {
	for _, word := range TitleWords(h.Title) {
		keys = append(keys, Key(WordKind, shortWord(word), h.ID))
	}
	return slices.Compact(keys)
}
