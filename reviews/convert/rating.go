package convert

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// ratingReason is the reason for rejecting a row whose rating cannot be read.
const ratingReason = "the rating is not readable: want a number such as 4 or 4.5"

// rating converts a rating on a scale to an integer from 1 to 100, or returns why it cannot be read.
func rating(text string, scale float64) (int, string) {
	if text == "" {
		return 0, "the rating is empty"
	}
	if len(text) == 1 && digit(text[0]) {
		return scaled(float64(text[0]-'0'), scale)
	}
	if stars, all := strings.Count(text, "★")+strings.Count(text, "⭐"),
		len([]rune(strings.ReplaceAll(text, "\ufe0f", ""))); stars > 0 {
		if empty := strings.Count(text, "☆") + strings.Count(text, "✩"); stars+empty != all {
			return 0, ratingReason
		}
		return scaled(float64(stars), 5)
	}
	number := strings.ToLower(text)
	for _, of := range []string{"/", " out of ", " of ", " von ", " sur ", " de ", " su ", " van "} {
		left, right, found := strings.Cut(number, of)
		if !found {
			continue
		}
		of, err := parseNumber(right)
		if err != nil || of <= 0 {
			return 0, ratingReason
		}
		number, scale = left, of
		break
	}
	if percent, ok := strings.CutSuffix(number, "%"); ok {
		number, scale = percent, 100
	}
	n, err := parseNumber(number)
	if err != nil {
		return 0, ratingReason
	}
	return scaled(n, scale)
}

// parseNumber parses a number with a decimal point or comma and without an exponent. The word stars may follow.
func parseNumber(text string) (float64, error) {
	for _, word := range []string{"stars", "star", "sterne", "stern", "rating"} {
		text = strings.TrimSuffix(strings.TrimSpace(text), word)
	}
	text = strings.Replace(strings.TrimSpace(text), ",", ".", 1)
	if strings.Trim(text, "0123456789.") != "" {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseFloat(text, 64)
}

// scaled converts a rating on a scale to an integer from 1 to 100.
func scaled(n, scale float64) (int, string) {
	switch {
	case n <= 0:
		return 0, "the rating is 0: want one above 0, or leave the row out"
	case n > scale:
		return 0, fmt.Sprintf("the rating %v is above %v: mend it, or give another scale", n, scale)
	}
	return max(1, int(math.Round(n*100/scale))), ""
}
