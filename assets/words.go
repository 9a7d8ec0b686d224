package assets

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// rules are the rules by which assets have terms. The methods of rules split texts and queries into words:
//
//   - HTML is stripped; see strip.
//   - Case, diacritics of Latin, Greek and Cyrillic letters, and more are folded; see fold.
//   - Everything that is not a letter, digit or mark separates words. An emoji is a word.
//   - Each character of a script that puts no spaces between words is a word of its own, such as Han and Thai.
//   - Some words are found by other words too; see word.
//
// For example, "<b>Café</b> no_1 漢字" has the words cafe, no, 1, 漢 and 字.
type rules int

// The rules of v0.2.0, and those of now. A change of the rules of now needs a number of its own once they are released.
// Then Upkeep builds the indices by it.
const oldRules, newRules rules = 0, 1

// word is a word of a text or of a query.
type word struct {
	text    string   // what a query with this word asks for
	spelled string   // mueller, for müller; else ""
	also    []string // what finds this word besides: c for c++, net for .net, the parts of a joined emoji
	// A hyphen, an apostrophe or the like joins it to the word before: wifi finds wi-fi.
	glued      bool
	start, end int // where it is in the folded text
}

// words splits a text that is indexed and has no HTML into its words, in their order.
func (r rules) words(text string) []word {
	out := make([]word, 0, len(text)/6+4)
	for w := range r.split(r.fold(strings.ToValidUTF8(text, "\ufffd"))) {
		out = append(out, w)
	}
	return out
}

// fold returns the same text for texts that differ only in case, in diacritics of Latin, Greek and Cyrillic letters, in
// marks of Arabic and points of Hebrew letters, in ligatures and other forms of characters, in digits of other scripts,
// or in their Unicode normal form. Marks of other scripts are kept, since they tell words apart there, such as vowels
// in Devanagari. Skin tones of emoji and invisible characters, such as soft hyphens, are removed. The diacritics of
// keptMark are kept.
func (r rules) fold(s string) string {
	if strings.IndexFunc(s, func(c rune) bool { return !isSimple(c) }) < 0 {
		return strings.ToLower(s)
	}
	if r != oldRules {
		s = separateSymbols(s)
	}
	// Compatibility caseless matching of the Unicode Standard (definition D146) compares texts in this form.
	s = norm.NFKD.String(s)
	if other := cases.Fold().String(s); other != s {
		s = norm.NFKD.String(other)
	}
	var b strings.Builder
	b.Grow(len(s))
	marks := true // false if the marks after the last letter are removed
	letter := rune(0)
	for _, c := range s {
		switch {
		case c < utf8.RuneSelf:
			marks, letter = c < 'a' || 'z' < c, c
			b.WriteByte(byte(c))
		case isIdeograph(c):
			marks, letter = true, c
			b.WriteRune(c)
		case isUnseen(c):
		case !unicode.Is(unicode.M, c): // a letter or anything else that is not a mark
			marks = !unicode.In(c, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Arabic, unicode.Hebrew)
			letter = c
			if other := r.foldMore(c); other != "" {
				b.WriteString(other)
			} else {
				b.WriteRune(c)
			}
		case r != oldRules && keptMark(letter, c):
			b.WriteRune(c)
			letter = 0
		case marks && !unicode.Is(unicode.Variation_Selector, c):
			b.WriteRune(c)
		}
	}
	return norm.NFC.String(b.String())
}

// isSimple reports whether fold at most changes the case of a character, as long as all others of the text are simple,
// too. Most texts have only such characters: ASCII, ideographs, kana and syllables of Hangul.
func isSimple(c rune) bool {
	return c < utf8.RuneSelf || isIdeograph(c) || 'ぁ' <= c && c <= 'ゖ' || 'ァ' <= c && c <= 'ー' || '가' <= c && c <= '힣'
}

func isIdeograph(c rune) bool { return '一' <= c && c <= '鿿' }

// separateSymbols puts a space in place of ™ and the like, and zeroWidth around superscripts, subscripts, fractions and
// numbers in circles, which would become letters and digits of the word before.
func separateSymbols(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for _, c := range s {
		switch {
		case c < utf8.RuneSelf:
			b.WriteByte(byte(c))
		case c == '™' || c == '℠' || 0x1f16a <= c && c <= 0x1f16c:
			b.WriteByte(' ')
		case c == '´': // which would become a space with a mark
			b.WriteByte('\'')
		case c == 'ª' || c == 'º' || unicode.Is(unicode.No, c):
			b.WriteRune(zeroWidth)
			b.WriteRune(c)
			b.WriteRune(zeroWidth)
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}

// keptMark reports whether a mark makes another letter of its letter: й is not и. The marks of ä, ö, ü and å are kept
// for their other spelling; see umlauts.
func keptMark(letter, mark rune) bool {
	switch mark {
	case '\u0308':
		return strings.ContainsRune("aouі", letter) // the last one is Cyrillic
	case '\u030a':
		return letter == 'a'
	case '\u0306':
		return letter == 'и' || letter == 'у'
	}
	return false
}

// isUnseen reports whether r is ignored wherever it is: soft hyphens, word joiners, marks of direction, the stretching
// of Arabic words, and skin tones.
func isUnseen(r rune) bool {
	return r == '\u00ad' || r == '\u0640' || r == '\u2060' || r == '\ufeff' || '\u200e' <= r && r <= '\u200f' ||
		'\u202a' <= r && r <= '\u202e' || '\u2066' <= r && r <= '\u2069' || 0x1f3fb <= r && r <= 0x1f3ff
}

// foldMore returns what a character that Unicode's folding leaves apart becomes, since people take it for the same, or
// "" if it stays: đ, ħ, ł, ø and ŧ with and without the stroke, the dotless i, æ and œ, þ and ð, Cherokee in either
// case, some letters of Arabic, apostrophes, and the digits of all scripts. By newRules ø stays, since it has another
// spelling (oe).
func (r rules) foldMore(c rune) string {
	switch c {
	case 'đ':
		return "d"
	case 'ħ':
		return "h"
	case 'ı':
		return "i"
	case 'ł':
		return "l"
	case 'ŧ':
		return "t"
	case 'æ':
		return "ae"
	case 'œ':
		return "oe"
	}
	switch {
	case unicode.Is(unicode.Cherokee, c):
		return string(unicode.ToUpper(c))
	case r == oldRules && c == 'ø':
		return "o"
	case r == oldRules:
	case c == '’', c == '‘', c == 'ʼ', c == 'ʻ', c == '′', c == 'ʹ':
		return "'"
	case c == 'þ':
		return "th"
	case c == 'ð':
		return "d"
	case c == 'ٱ':
		return "ا"
	case c == 'ة':
		return "ه"
	case c == 'ى', c == 'ی':
		return "ي"
	case c == 'ک':
		return "ك"
	case unicode.Is(unicode.Nd, c):
		return digit(c)
	}
	return ""
}

// digit returns the digit of ASCII for a decimal digit. Unicode has the ten digits of a script in order, beginning with
// zero, so each range of unicode.Nd has whole tens.
func digit(c rune) string {
	for _, in := range unicode.Nd.R16 {
		if rune(in.Lo) <= c && c <= rune(in.Hi) {
			return string('0' + (c-rune(in.Lo))%10)
		}
	}
	for _, in := range unicode.Nd.R32 {
		if rune(in.Lo) <= c && c <= rune(in.Hi) {
			return string('0' + (c-rune(in.Lo))%10)
		}
	}
	return string(c)
}

var (
	umlauts   = "äöüøå"
	unmarked  = strings.NewReplacer("ä", "a", "ö", "o", "ü", "u", "ø", "o", "å", "a")
	inLetters = strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "ø", "oe", "å", "aa")
)

// fold returns a text folded for comparing it as a whole, such as a label.
func fold(s string) string { return unmarked.Replace(newRules.fold(s)) }

// spellings returns how a word of a query may be spelled.
func (w word) spellings() []string {
	if w.spelled == "" {
		return []string{w.text}
	}
	return []string{w.text, w.spelled}
}

// split yields the words of a folded text.
func (r rules) split(s string) iter.Seq[word] {
	return func(yield func(word) bool) {
		last, lastPlain := 0, false // the end of the word before
		for start, end := range r.eachWord(s) {
			w := word{text: s[start:end], start: start, end: end}
			if r != oldRules {
				plain := w.complete(s)
				w.glued = plain && lastPlain && joins(s[:last], s[last:w.start], w.text)
				lastPlain = plain
			}
			if last = w.end; !yield(w) {
				return
			}
		}
	}
}

// complete completes a word of the folded text s. It reports whether the word has nothing but letters, digits and
// marks.
func (w *word) complete(s string) (plain bool) {
	// Most words have only letters and digits of ASCII, and nothing beside them that belongs to them.
	plain = (w.start == 0 || s[w.start-1] != '.') && (w.end == len(s) || s[w.end] != '+' && s[w.end] != '#')
	for i := 0; plain && i < len(w.text); i++ {
		plain = w.text[i] < utf8.RuneSelf
	}
	if plain {
		return true
	}
	first, _ := utf8.DecodeRuneInString(w.text)
	last, _ := utf8.DecodeLastRuneInString(w.text)
	switch {
	case isEmoji(first):
		if strings.ContainsRune(w.text, joiner) {
			w.also = unique(strings.Split(w.text, string(joiner)))
		}
		return false
	case newRules.isWordAlone(first):
		return false
	case strings.ContainsAny(w.text, umlauts):
		w.text, w.spelled = unmarked.Replace(w.text), inLetters.Replace(w.text)
	}
	plain = true
	// C++, C#
	rest := s[w.end:]
	for _, sign := range []string{"++", "#"} {
		if after, has := strings.CutPrefix(rest, sign); has && unicode.IsLetter(last) &&
			!newRules.beginsWithLetter(after) &&
			!strings.HasPrefix(after, sign[:1]) {
			w.also = append(w.also, w.text)
			w.text, w.end, plain = w.text+sign, w.end+len(sign), false
		}
	}
	// .NET is asked for with the dot, and the net of ASP.NET without it.
	if before, dotted := strings.CutSuffix(s[:w.start], "."); dotted && unicode.IsLetter(first) {
		switch c, _ := utf8.DecodeLastRuneInString(before); {
		case c == '.':
		case isInWord(c):
			w.also = append(w.also, "."+w.text)
		default:
			w.also = append(w.also, w.text)
			w.text, w.start, plain = "."+w.text, w.start-1, false
		}
	}
	return plain
}

// joins reports whether what is between two words joins them. It joins no two numbers.
func joins(before, between, after string) bool {
	if between == " " { // as most
		return false
	}
	c, size := utf8.DecodeRuneInString(between)
	if size == 0 || size < len(between) || !strings.ContainsRune("-‐'·־׳״"+string(zeroWidth), c) {
		return false
	}
	last, _ := utf8.DecodeLastRuneInString(before)
	first, _ := utf8.DecodeRuneInString(after)
	return !unicode.IsDigit(last) || !unicode.IsDigit(first)
}

// isInWord reports whether a character belongs to a word.
func isInWord(c rune) bool { return unicode.In(c, unicode.L, unicode.Nd, unicode.M) }

// edge is a term of words from one index to another.
type edge struct {
	text     string
	from, to int
}

// edges returns the terms of words, by where they begin: of each word, of two that are joined, and of a run of them.
func edges(words []word) (out []edge) {
	out = make([]edge, 0, len(words))
	for i := range words {
		w := &words[i]
		out = append(out, edge{w.text, i, i + 1})
		if w.spelled != "" {
			out = append(out, edge{w.spelled, i, i + 1})
		}
		for _, text := range w.also {
			out = append(out, edge{text, i, i + 1})
		}
		to, size := i+1, len(w.text)
		for ; to < len(words) && words[to].glued && size <= longestWord; to++ {
			size += len(words[to].text)
		}
		if to > i+1 {
			out = append(out, edge{w.text + words[i+1].text, i, i + 2})
		}
		if to > i+2 && !w.glued && size <= longestWord {
			var b strings.Builder
			for _, part := range words[i:to] {
				b.WriteString(part.text)
			}
			out = append(out, edge{b.String(), i, to})
		}
	}
	return out
}

// eachWord yields where the words of a folded text begin and end. A mark belongs to the letter or digit before it. A
// mark after anything else, such as an emoji or a character that is a word of its own, is skipped; but of Thai and
// other scripts of the south-east such characters have marks. A joiner within a word belongs to it.
func (r rules) eachWord(s string) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		start, done := -1, 0 // where the present word begins, -1 between words; how much of the text was split
		// end ends the present word, if there is one, in front of byte i.
		end := func(i int) bool {
			from := start
			start = -1
			return from < 0 || yield(from, i)
		}
		for i, c := range s {
			if i < done {
				continue
			}
			more := true
			switch {
			case c < utf8.RuneSelf: // without tables of Unicode, as most texts are
				inWord := 'a' <= c && c <= 'z' || '0' <= c && c <= '9'
				if !inWord {
					more = end(i)
				} else if start < 0 {
					start = i
				}
			case isEmoji(c):
				done = i + emojiLen(s[i:])
				more = end(i) && yield(i, done)
			case r.isWordAlone(c):
				done = i + utf8.RuneLen(c)
				if inSouthEast(c) {
					done = len(s) - len(strings.TrimLeftFunc(s[done:], func(c rune) bool {
						return unicode.Is(unicode.M, c)
					}))
				}
				more = end(i) && yield(i, done)
			case unicode.IsLetter(c) || unicode.IsDigit(c):
				if start < 0 {
					start = i
				}
			case c == joiner && start >= 0 && r.beginsWithLetter(s[i+len("\u200d"):]):
			case !unicode.Is(unicode.M, c):
				more = end(i)
			}
			if !more {
				return
			}
		}
		end(len(s))
	}
}

// joiner connects letters of some scripts, and connects several emoji to one. zeroWidth separates letters that are one
// word in Persian.
const joiner, zeroWidth = '\u200d', '\u200c'

func (r rules) beginsWithLetter(s string) bool {
	c, _ := utf8.DecodeRuneInString(s)
	return unicode.IsLetter(c) && !r.isWordAlone(c)
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

// isWordAlone reports whether c is a word of its own: a character of a script that is written without spaces. The
// length mark of Katakana, which Unicode assigns to no script, counts as Katakana. Han numerals such as 〇 are letter
// numbers for Unicode, and count too.
func (r rules) isWordAlone(c rune) bool {
	return c == 'ー' || isIdeograph(c) || c > 0xe00 && (unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana) ||
		r != oldRules && inSouthEast(c)) && unicode.In(c, unicode.L, unicode.Nl)
}

// inSouthEast reports whether a character is of a script of South-East Asia that is written without spaces.
func inSouthEast(c rune) bool {
	return unicode.In(c, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tai_Le, unicode.New_Tai_Lue,
		unicode.Tai_Tham, unicode.Tai_Viet)
}

// stripped is a text of HTML.
type stripped struct {
	text  string
	alts  []string // the alternative texts of pictures
	links []string // the URLs of links
}

// strip returns the text of s without tags, comments, scripts, styles and templates, and with entities
// decoded. An inline tag is removed, so a word may be partly bold. Any other tag becomes a space,
// so the words of two paragraphs are not joined. The readings of ruby are at the end.
//
//	a<b>b</b>c &amp; <p>d</p>e    becomes    abc &  d e
//
// The result is for searching. It is not safe to put into a page.
func (r rules) strip(s string) (out stripped) {
	if !strings.ContainsAny(s, "<&") {
		return stripped{text: s}
	}
	var b, readings strings.Builder
	z := html.NewTokenizer(strings.NewReader(s))
	// The tokenizer gives all that is inside a script, a style or a noscript as one text.
	skip := false            // inside one of these
	templates := 0           // how many templates are open
	var annotation atom.Atom // rt or rp if one of them is open
	for {
		switch kind := z.Next(); kind {
		case html.ErrorToken: // the end; the tokenizer has no other error on a string
			if readings.Len() > 0 {
				b.WriteString(" " + readings.String())
			}
			out.text = b.String()
			return out
		case html.TextToken:
			switch {
			case skip || templates > 0 || annotation == atom.Rp:
			case annotation == atom.Rt:
				readings.Write(z.Text())
			default:
				b.Write(z.Text())
			}
		case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken:
			name, more := z.TagName()
			tag, begins := atom.Lookup(name), kind != html.EndTagToken
			skip = begins && (tag == atom.Script || tag == atom.Style || r != oldRules && tag == atom.Noscript)
			inline := isInline(tag)
			switch {
			case r == oldRules:
			case tag == atom.Template && begins:
				templates++
			case tag == atom.Template:
				templates = max(templates-1, 0)
			case tag == atom.Rt || tag == atom.Rp:
				inline, annotation = true, 0
				if begins {
					annotation = tag
				}
			case tag == atom.Ruby || tag == atom.Rb || tag == atom.Rtc:
				inline, annotation = true, 0
				if tag == atom.Ruby {
					readings.WriteByte(' ')
				}
			case !inline:
				annotation = 0
			}
			for begins && more && templates == 0 && r != oldRules &&
				(tag == atom.A || tag == atom.Area || tag == atom.Img) {
				var name, value []byte
				name, value, more = z.TagAttr()
				switch {
				case string(name) == "alt":
					out.alts = append(out.alts, string(value))
				case string(name) == "href":
					out.links = append(out.links, strings.TrimSpace(string(value)))
				}
			}
			if !inline {
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
