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
	words  []string
	prefix bool // the last one stands for every word that begins so
	exact  bool // it was quoted, so typos do not count
}

func (q queryText) isEmpty() bool { return len(q.must)+len(q.mustNot) == 0 }

// parseQuery parses the text of a search. The text is folded as the texts of assets are, and split at white space:
//
//	launch berlin     two words, in any order
//	e-mail, a_b       two words each
//	launch*           words that begin so; a * elsewhere separates words
//	"first snow"      a phrase: adjacent, in this order; the last quote may be missing
//	東京タワー          a phrase: a run of Han, kana or Hangul
//	-snow -"a b"      none of these; - begins an exclusion where it begins a piece
//
// A quote after a letter or digit, as in 27", begins no phrase. An excluded piece without quotes, such as -e-mail, is
// one phrase.
func parseQuery(text string) (q queryText) {
	s := fold(strings.ToValidUTF8(stripHTML(text), "\ufffd"))
	s = quotes.Replace(s)
	for {
		if s = strings.TrimLeftFunc(s, unicode.IsSpace); s == "" {
			return q
		}
		var piece string
		rest, not := strings.CutPrefix(s, "-")
		switch inQuotes, quoted := strings.CutPrefix(rest, `"`); {
		case quoted:
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
				q.must = append(q.must, phrasesOf(piece)...)
				continue
			}
		}
		p := phrase{exact: true}
		for _, part := range phrasesOf(piece) {
			p.words, p.prefix = append(p.words, part.words...), part.prefix
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

// phrasesOf returns the words of a folded text whose only operator is *. Words in a run of a script without spaces are
// one phrase.
func phrasesOf(s string) (out []phrase) {
	pieces := strings.Split(s, "*")
	for i, piece := range pieces {
		last := 0 // the end of the previous word
		for start, end := range eachWord(piece) {
			word := piece[start:end]
			if n := len(out); n > 0 && last > 0 && onlyMarks(piece[last:start]) && isOfRun(word) &&
				isOfRun(out[n-1].words[0]) {
				out[n-1].words = append(out[n-1].words, word)
			} else {
				out = append(out, phrase{words: []string{word}})
			}
			last = end
		}
		// The last word is a prefix if it ends directly before the *, and no word begins directly after the *.
		if last > 0 && last == len(piece) && i < len(pieces)-1 && !beginsInWord(pieces[i+1]) {
			out[len(out)-1].prefix = true
		}
	}
	return out
}

func onlyMarks(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return !unicode.Is(unicode.M, r) }) < 0
}

// isOfRun reports whether a word belongs to a run of words that are written without spaces between them.
func isOfRun(word string) bool {
	r, _ := utf8.DecodeRuneInString(word)
	return isWordAlone(r) || unicode.Is(unicode.Hangul, r)
}

// beginsInWord reports whether a folded text begins with a letter, digit, mark or emoji.
func beginsInWord(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.In(r, unicode.L, unicode.Nd, unicode.M) || isWordAlone(r) || isEmoji(r)
}

// check returns ErrInvalid if the text has too many words, a prefix that is too short, or only exclusions.
func (q queryText) check(lim Limits) error {
	n := 0
	for _, p := range slices.Concat(q.must, q.mustNot) {
		n += len(p.words)
		if last := p.words[len(p.words)-1]; p.prefix {
			if r, size := utf8.DecodeRuneInString(last); size == len(last) && !isWordAlone(r) {
				return fault.Invalid("query", "%q is too short before the *: want at least two characters", last)
			}
		}
	}
	switch {
	case n > lim.Words:
		return fault.Invalid("query", "has %d words, at most %d are allowed", n, lim.Words)
	case len(q.must) == 0 && len(q.mustNot) > 0:
		return fault.Invalid("query", "has only words to exclude: want at least one to find")
	}
	return nil
}

// in reports whether a text with these words contains the phrase.
func (p phrase) in(words []string) bool {
	last := len(p.words) - 1
	for i := range len(words) - last {
		n := 0
		for n < last && words[i+n] == p.words[n] {
			n++
		}
		if n == last && (words[i+n] == p.words[n] || p.prefix && strings.HasPrefix(words[i+n], p.words[n])) {
			return true
		}
	}
	return false
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
