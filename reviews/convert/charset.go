package convert

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gogs/chardet"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"

	"github.com/vitrine-go/vitrine/internal/fault"
)

// latin is the character set of cells that are not UTF-8, unless the file shows another one.
const latin = "windows-1252"

const (
	maxGuessed = 32 << 10 // bytes of cells that are not UTF-8, which decide the character set
	minGuessed = 8        // bytes other than ASCII; fewer decide nothing
)

// guessCharset returns the character set of a file with this beginning, and its encoding: nil for UTF-8, for files that
// have both UTF-8 and other cells, and for latin, since such files are decoded cell by cell. It returns ErrInvalid if
// several character sets are as likely, and read the file differently.
func guessCharset(head []byte) (string, encoding.Encoding, error) {
	if end := bytes.LastIndexByte(head, '\n') + 1; len(head) == maxLook && end > 0 {
		head = head[:end] // the last line may be incomplete
	}
	for n := 0; n < utf8.UTFMax && n < len(head); n++ {
		if len(head) == maxLook && utf8.Valid(head[:len(head)-n]) {
			head = head[:len(head)-n]
		}
	}
	valid, n := 0, 0
	var other []byte // cells that are not UTF-8
	// In no character set are these bytes a part of another character.
	for _, cell := range bytes.FieldsFunc(head, func(r rune) bool { return strings.ContainsRune("\";\t\r\n", r) }) {
		high := 0
		for _, c := range cell {
			if c >= utf8.RuneSelf {
				high++
			}
		}
		switch {
		case high == 0:
		case utf8.Valid(cell):
			valid++
		case len(other) < maxGuessed:
			n, other = n+high, append(append(other, cell[:min(len(cell), maxGuessed)]...), '\n')
		}
	}
	if len(other) == 0 {
		return "utf-8", nil, nil
	}
	if valid > 0 || n < minGuessed {
		return latin, nil, nil
	}
	all, _ := chardet.NewTextDetector().DetectAll(other) // no guess is latin, too
	type reading struct {
		name, text string
		confidence int
		encoding.Encoding
	}
	var likely []reading
	for _, guess := range all {
		known, err := htmlindex.Get(guess.Charset)
		if err != nil || 3*guess.Confidence < 2*all[0].Confidence {
			continue
		}
		name, _ := htmlindex.Name(known) // iso-8859-1 is windows-1252 there
		text, err := known.NewDecoder().String(string(other))
		if impossible(text) {
			continue
		}
		if err == nil {
			likely = append(likely, reading{name, text, guess.Confidence, known})
		}
	}
	if len(likely) == 0 {
		return latin, nil, nil
	}
	best := likely[0]
	if i := slices.IndexFunc(likely, func(r reading) bool { return r.name == latin }); i >= 0 && best.confidence < 100 {
		best = likely[i]
		best.Encoding = nil
	}
	for _, r := range likely {
		if a, b := differentWords(best.text, r.text); a != "" && best.confidence < 100 {
			return "", nil,
				fault.Invalid("charset", "the file is not UTF-8, and it is doubtful what it is: %s reads %q "+
					"where %s reads %q: give the character set", best.name, a, r.name, b)
		}
	}
	return best.name, best.Encoding, nil
}

// impossible reports whether nobody writes such a text: it has control characters, or signs inside of many words.
func impossible(text string) bool {
	odd, all := 0, 0
	runes := []rune(text)
	for i, r := range runes {
		if r < utf8.RuneSelf {
			continue
		}
		if all++; r == utf8.RuneError || unicode.IsControl(r) {
			return true
		}
		inWord := unicode.IsLetter(r) || unicode.IsMark(r) || strings.ContainsRune("’‘–—·\u00ad", r)
		if !inWord && r < 0x300 && i > 0 && i+1 < len(runes) && unicode.IsLetter(runes[i-1]) &&
			unicode.IsLetter(runes[i+1]) {
			odd++
		}
	}
	return 20*odd > all
}

// differentWords returns the first word that two readings of a text have differently, as each has it.
func differentWords(a, b string) (string, string) {
	first, second := strings.Fields(a), strings.Fields(b)
	for i := range min(len(first), len(second)) {
		if first[i] != second[i] {
			return first[i], second[i]
		}
	}
	return "", ""
}
