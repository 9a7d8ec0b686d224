package records

import (
	"bytes"
	"slices"
	"strings"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// mostOfWord is the maximum number of bytes of a word in the index of titles. Longer words are compared with the title
// itself.
const mostOfWord = 64

// TitleWords returns the words of a title, folded, sorted and unique. Words consist of letters, digits and marks. Case,
// diacritics and compatible forms are folded. Each Han, Hiragana and Katakana character is a word of its own.
func TitleWords(title string) []string {
	folded := Fold(nil, norm.NFKD.Bytes([]byte(title)))
	words := strings.FieldsFunc(string(folded), func(r rune) bool { return r == 0 })
	slices.Sort(words)
	return slices.Compact(words)
}

// Fold appends a text to dst as its words are compared: folded, with bytes of 0 between words.
func Fold(dst, text []byte) []byte {
	for len(text) > 0 {
		n := 0
		for n < len(text) && text[n] < utf8.RuneSelf {
			n++
		}
		at := len(dst)
		dst = append(dst, text[:n]...)
		for i, c := range dst[at:] {
			dst[at+i] = foldedASCII[c]
		}
		if text = text[n:]; len(text) > 0 {
			r, size := utf8.DecodeRune(text)
			dst, text = append(dst, folded(r)...), text[size:]
		}
	}
	return dst
}

// foldedASCII are the folded forms of the ASCII characters.
var foldedASCII = func() (table [utf8.RuneSelf]byte) {
	for r := range table {
		table[r] = fold(rune(r))[0]
	}
	return table
}()

// foldedPages are the folded forms of the characters of the basic plane, by the page of 256 that they are in. A page is
// made when one of its characters is first asked for.
var foldedPages [256]atomic.Pointer[[256]string]

// folded returns fold of a character, which takes long.
func folded(r rune) string {
	if r > 0xffff {
		return fold(r)
	}
	page := foldedPages[r>>8].Load()
	if page == nil {
		page = new([256]string)
		for i := range page {
			page[i] = fold(r&^0xff + rune(i))
		}
		foldedPages[r>>8].Store(page)
	}
	return page[r&0xff]
}

// fold returns what Fold appends for a character.
func fold(r rune) string {
	var out strings.Builder
	for _, r := range norm.NFKD.String(string(r)) {
		switch {
		case unicode.Is(unicode.Mn, r):
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana):
			out.WriteString("\x00" + string(r) + "\x00")
		case r == 'ß' || r == 'ẞ':
			out.WriteString("ss")
		case unicode.IsLetter(r), unicode.IsNumber(r), unicode.IsMark(r):
			out.WriteRune(foldCase(r))
		default:
			out.WriteByte(0)
		}
	}
	return out.String()
}

// Finder finds the words of a query, which TitleWords has returned: each must begin a word of a text.
type Finder [][]byte

// NewFinder returns a Finder.
func NewFinder(words []string) Finder {
	f := make(Finder, len(words))
	for i, word := range words {
		f[i] = []byte("\x00" + word)
	}
	return f
}

// In reports whether a folded text, which begins with a byte of 0, has all the words.
func (f Finder) In(folded []byte) bool {
	return !slices.ContainsFunc(f, func(word []byte) bool { return !bytes.Contains(folded, word) })
}

// Near returns the part of a text, of at most that many characters, in which the first of the words is found that the
// text has. Where something is left out, there is an ellipsis.
func (f Finder) Near(text string, most int) string {
	all, at := []rune(text), 0
	if len(all) <= most {
		return text
	}
	longest := len(slices.MaxFunc(f, func(a, b []byte) int { return len(a) - len(b) }))
	for folded := []byte{0}; at < len(all); at++ {
		folded = Fold(folded[max(len(folded)-longest, 0):], []byte(string(all[at])))
		if slices.ContainsFunc(f, func(word []byte) bool { return bytes.Contains(folded, word) }) {
			break
		}
	}
	from := min(max(at-most/2, 0), len(all)-most)
	part := slices.Clone(all[from : from+most])
	if from > 0 {
		part[0] = '…'
	}
	if from+most < len(all) {
		part[most-1] = '…'
	}
	return string(part)
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
