package convert

import (
	"slices"
	"strconv"
	"strings"
)

// ratingReason is the reason for rejecting a row whose rating cannot be read.
const ratingReason = "the rating is not readable: want a number such as 4 or 4.5"

// numerals are ratings of five stars in words, as Google writes them.
var numerals = []string{"one", "two", "three", "four", "five"}

// readRating reads a rating. of is the scale that it names itself, or 0.
func readRating(text string) (n, of float64, reason string) {
	if text == "" {
		return 0, 0, "the rating is empty"
	}
	if len(text) == 1 && digit(text[0]) {
		return float64(text[0] - '0'), 0, ""
	}
	if stars := strings.Count(text, "★") + strings.Count(text, "⭐"); stars > 0 {
		rest, half := strings.CutSuffix(strings.ReplaceAll(text, "\ufe0f", ""), "½")
		empty, all := strings.Count(rest, "☆")+strings.Count(rest, "✩"), len([]rune(rest))
		if n = float64(stars); half {
			n += 0.5
		}
		if stars+empty != all || half && empty > 0 {
			return 0, 0, ratingReason
		}
		return n, float64(max(5, all)), ""
	}
	number := strings.ToLower(text)
	if i := slices.Index(numerals, number); i >= 0 {
		return float64(i + 1), 5, ""
	}
	for _, word := range []string{"/", " out of ", " of ", " von ", " sur ", " de ", " su ", " van "} {
		left, right, found := strings.Cut(number, word)
		if !found {
			continue
		}
		var err error
		if of, err = parseNumber(right); err != nil || of <= 0 {
			return 0, 0, ratingReason
		}
		number = left
		break
	}
	if percent, ok := strings.CutSuffix(number, "%"); ok {
		number, of = percent, 100
	}
	n, err := parseNumber(number)
	if err != nil {
		return 0, 0, ratingReason
	}
	return n, of, ""
}

// validScale reports whether a rating may be the best one.
func validScale(scale float64) bool { return scale > 0 && scale <= 100 }

// guessScale returns 5, 10 or 100: the lowest that nearly all ratings do not exceed. A few are tolerated, so one that
// has too many digits decides nothing. found is false if no rating needs a scale.
func guessScale(texts []string) (scale float64, found bool) {
	all, above5, above10 := 0, 0, 0
	for _, text := range texts {
		n, of, reason := readRating(text)
		if reason != "" || of != 0 {
			continue
		}
		all++
		if n > 5 {
			above5++
		}
		if n > 10 {
			above10++
		}
	}
	switch {
	case 4*above10 > all:
		return 100, true
	case 20*above5 > all:
		return 10, true
	}
	return 5, all > 0
}

// fractions are characters that may follow a number, or be one.
var fractions = map[string]string{"½": ".5", "¼": ".25", "¾": ".75"}

// parseNumber parses a number with a decimal point or comma and without an exponent. The word stars may follow.
func parseNumber(text string) (float64, error) {
	for _, word := range []string{"stars", "star", "sterne", "stern", "rating"} {
		text = strings.TrimSuffix(strings.TrimSpace(text), word)
	}
	text = strings.Replace(strings.TrimSpace(text), ",", ".", 1)
	for mark, part := range fractions {
		if whole, found := strings.CutSuffix(text, mark); found && !strings.Contains(whole, ".") {
			text = strings.TrimSpace(whole) + part
		}
	}
	if strings.Trim(text, "0123456789.") != "" {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseFloat(text, 64)
}
