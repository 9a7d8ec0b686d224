package assets

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/vitrine-go/vitrine/internal/fault"
)

// queryText is the parsed text of a search.
type queryText struct {
	must    []phrase // an asset must contain each of them
	mustNot []phrase // an asset must contain none of them
}

// phrase is a list of words, usually one, that must be adjacent in a text, in this order.
type phrase struct {
	words  []word
	prefix bool // the last one stands for every word that begins so
	star   bool // it has a * for that; a word of Hangul needs none
	exact  bool // it was quoted, so typos do not count
}

// parseQuery parses the text of a search. The text is folded as the texts of assets are, and split at white space:
//
//	launch berlin        two words, in any order
//	e-mail, a_b, 3.2.1   a phrase each: adjacent words, in this order
//	red,green            two words
//	launch*              words that begin so; a * elsewhere separates words
//	"first snow"         a phrase; the last quote may be missing
//	東京タワー             a phrase: a run of Han, kana, Thai or the like
//	서울                  words that begin so, as all words of Hangul outside of quotes
//	-snow -"a b"         none of these; - begins an exclusion where it begins a piece and no number
//
// A quote after a letter or digit, as in 27", begins no phrase. An excluded piece without quotes, such as -e-mail, is
// one phrase.
func (r rules) parseQuery(text string) (q queryText) {
	s := r.fold(strings.ToValidUTF8(r.strip(text).text, "\ufffd"))
	s = quotes.Replace(s)
	for {
		if s = strings.TrimLeftFunc(s, unicode.IsSpace); s == "" {
			return q
		}
		var piece string
		quoted := false
		rest, not := strings.CutPrefix(s, "-")
		if c, _ := utf8.DecodeRuneInString(strings.TrimLeft(rest, ".,"+string(zeroWidth))); unicode.IsDigit(c) {
			not = false
		}
		switch inQuotes, begins := strings.CutPrefix(rest, `"`); {
		case begins:
			quoted = true
			piece, s, _ = strings.Cut(inQuotes, `"`)
		default:
			end := strings.IndexFunc(rest, unicode.IsSpace)
			if end < 0 {
				end = len(rest)
			}
			if i := openingQuote(rest[:end]); i >= 0 {
				end = i
			}
			piece, s = rest[:end], rest[end:]
			if !not {
				q.must = append(q.must, r.phrasesOf(piece)...)
				continue
			}
		}
		p := phrase{exact: true}
		for _, part := range r.phrasesOf(piece) {
			p.words, p.prefix, p.star = append(p.words, part.words...), part.star || part.prefix && !quoted, part.star
		}
		switch {
		case len(p.words) == 0:
		case not:
			q.mustNot = append(q.mustNot, p)
		default:
			q.must = append(q.must, p)
		}
	}
}

// query parses the text of a search. It leaves out what is beyond Limits.Query and Limits.Words, and reports whether
// there is more. It returns ErrInvalid if a text that must be cut has an exclusion, and if a prefix is too short.
func (r rules) query(text string, lim Limits) (q queryText, isCut bool, err error) {
	q = r.parseQuery(text)
	n := 0
	for _, p := range slices.Concat(q.must, q.mustNot) {
		n += len(p.words)
	}
	if isCut = len(text) > lim.Query || n > lim.Words; isCut && len(q.mustNot) > 0 {
		return q, false,
			fault.Invalid("query", "has more than %d words or %d bytes, and words to exclude: want fewer, "+
				"since only a text without words to exclude can be cut", lim.Words, lim.Query)
	}
	if len(text) > lim.Query {
		q = r.parseQuery(wholeWords(text, lim.Query))
	}
	left := lim.Words
	for i, p := range q.must {
		if len(p.words) > left {
			if q.must = q.must[:i]; left > 0 {
				q.must = append(q.must, phrase{words: p.words[:left], exact: p.exact})
			}
			break
		}
		left -= len(p.words)
	}
	for _, p := range slices.Concat(q.must, q.mustNot) {
		last := p.words[len(p.words)-1].text
		_, size := utf8.DecodeRuneInString(last)
		if p.star && size == len(last) && !newRules.isOfRun(last) {
			err = fault.Invalid("query", "%q is too short before the *: want at least two characters", last)
			break
		}
	}
	return q, isCut, err
}

// wholeWords returns the beginning of a text, of at most size bytes. It does not end within a word, unless the text
// begins with one that is longer.
func wholeWords(text string, size int) string {
	head := cutAt(text, size)
	last, _ := utf8.DecodeLastRuneInString(head)
	next, _ := utf8.DecodeRuneInString(text[len(head):])
	if isInWord(last) && isInWord(next) && !newRules.isWordAlone(next) {
		if begin := strings.TrimRightFunc(head, isInWord); begin != "" {
			return begin
		}
	}
	return head
}

// quotes replaces all kinds of quotes by the one in ASCII.
var quotes = strings.NewReplacer("“", `"`, "”", `"`, "„", `"`, "‟", `"`, "«", `"`, "»", `"`)

// openingQuote returns the index of a quote in a piece without white space that does not follow a letter or digit, or
// -1.
func openingQuote(s string) int {
	inWord := false
	for i, r := range s {
		if r == '"' && !inWord {
			return i
		}
		inWord = unicode.In(r, unicode.L, unicode.Nd, unicode.M)
	}
	return -1
}

// phrasesOf returns the words of a folded text whose only operator is *. Words with something between them other than a
// separator are one phrase, and so is a run of words of a script without spaces.
func (r rules) phrasesOf(s string) (out []phrase) {
	pieces := strings.Split(s, "*")
	for i, piece := range pieces {
		last := word{}
		for w := range r.split(piece) {
			n := len(out)
			if last.end > 0 && r.together(piece, last, w) {
				out[n-1].words = append(out[n-1].words, w)
			} else {
				out = append(out, phrase{words: []word{w}})
			}
			last = w
		}
		// The last word is a prefix if it ends directly before the *, and no word begins directly after the *.
		if last.end > 0 && last.end == len(piece) && i < len(pieces)-1 && !r.beginsInWord(pieces[i+1]) {
			out[len(out)-1].prefix, out[len(out)-1].star = true, true
		}
	}
	for i := range out {
		c, _ := utf8.DecodeRuneInString(out[i].words[len(out[i].words)-1].text)
		out[i].prefix = out[i].prefix || unicode.Is(unicode.Hangul, c)
	}
	return out
}

// together reports whether two words of a piece of a query are adjacent in a phrase.
func (r rules) together(piece string, a, b word) bool {
	between := piece[a.end:b.start]
	switch {
	case strings.IndexFunc(between, func(c rune) bool { return !unicode.Is(unicode.M, c) }) < 0:
		return r.isOfRun(a.text) && r.isOfRun(b.text)
	case between == ",":
		last, _ := utf8.DecodeLastRuneInString(a.text)
		first, _ := utf8.DecodeRuneInString(b.text)
		return unicode.IsDigit(last) && unicode.IsDigit(first)
	}
	return !strings.ContainsAny(between, ",;|#+") && strings.IndexFunc(between, unicode.IsSpace) < 0
}

// isOfRun reports whether a word belongs to a run of words that are written without spaces between them.
func (r rules) isOfRun(word string) bool {
	c, _ := utf8.DecodeRuneInString(word)
	return r.isWordAlone(c) || unicode.Is(unicode.Hangul, c)
}

// beginsInWord reports whether a folded text begins with a letter, digit, mark or emoji.
func (r rules) beginsInWord(s string) bool {
	c, _ := utf8.DecodeRuneInString(s)
	return isInWord(c) || r.isWordAlone(c) || isEmoji(c)
}

// in reports whether a text with these words contains the phrase.
func (p phrase) in(words []word) bool {
	for i := range words {
		if p.begins(words[i:]) {
			return true
		}
	}
	return false
}

// begins reports whether a list of words begins with the phrase.
func (p phrase) begins(list []word) bool {
	for i := range p.words {
		n := p.words[i].begins(list, p.prefix && i == len(p.words)-1)
		if n == 0 {
			return false
		}
		list = list[n:]
	}
	return true
}

// begins returns how many words at the beginning of a list the word of a query stands for: one, or several that are
// joined. It returns 0 if there are none. If prefix is true, the list may go on.
func (w *word) begins(list []word, prefix bool) int {
	switch {
	case len(list) == 0:
		return 0
	case list[0].text == w.text:
		return 1
	case !prefix && w.spelled == "" && list[0].spelled == "" && list[0].also == nil &&
		(len(list) == 1 || !list[1].glued):
		return 0 // as for most
	}
	for _, text := range w.spellings() {
		is := func(have string) bool { return have == text || prefix && strings.HasPrefix(have, text) }
		if is(list[0].text) || is(list[0].spelled) || slices.ContainsFunc(list[0].also, is) {
			return 1
		}
	}
	if len(w.text) > longestWord { // the index has no joined words of this length
		return 0
	}
	rest := w.text
	for n := range list {
		part := &list[n]
		if n > 0 && !part.glued {
			break
		}
		after, found := strings.CutPrefix(rest, part.text)
		switch {
		case prefix && n > 0 && strings.HasPrefix(part.text, rest):
			return n + 1
		case !found:
			return 0
		case after == "":
			return n + 1
		}
		rest = after
	}
	return 0
}

// typosIn returns how many edits a typed word may be away from the intended word: one from 4 letters on, two from 8
// letters on. Digits are no letters.
func typosIn(word string) int {
	letters := 0
	if len(word) > valueHead { // its term has only a digest of its end
		return 0
	}
	for _, r := range word {
		if !unicode.IsDigit(r) {
			letters++
		}
	}
	return min(letters/4, 2)
}

// similar returns a function that reports whether a text is at most most edits, one or two, away from a word. An edit
// adds, removes or replaces a letter, or swaps two neighbours. Each letter is edited at most once.
func similar(word string, most int) func(string) bool {
	w := []rune(word)
	rows := [3][]int{make([]int, len(w)+1), make([]int, len(w)+1), make([]int, len(w)+1)}
	return func(text string) bool {
		if n := utf8.RuneCountInString(text); n > len(w)+most || n < len(w)-most {
			return false
		}
		// of the letter before the last, of the last one, and of this one
		before, above, row := rows[0], rows[1], rows[2]
		for j := range above {
			above[j] = j
		}
		var last rune
		i := 0
		for _, r := range text {
			i++
			// Cells further than most from the diagonal have more than most edits.
			from, to, least := max(1, i-most), min(len(w), i+most), most+1
			row[from-1] = most + 1
			if from == 1 {
				row[0] = i
			}
			for j := from; j <= to; j++ {
				n := above[j-1]
				if w[j-1] != r {
					n++
				}
				n = min(n, row[j-1]+1)
				if j < i+most {
					n = min(n, above[j]+1)
				}
				if i > 1 && j > 1 && w[j-1] == last && w[j-2] == r {
					n = min(n, before[j-2]+1)
				}
				row[j], least = n, min(least, n)
			}
			if least > most {
				return false
			}
			before, above, row = above, row, before
			last = r
		}
		return above[len(w)] <= most
	}
}
