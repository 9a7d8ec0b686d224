package assets

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// checkName returns ErrInvalid unless s is a name, such as a label, a tag or an id: a text of 1 to
// limit characters without control characters. at is where s stands in the request. Names are not
// normalized: two that look alike may differ.
func checkName(at, s string, limit int) error {
	if s == "" {
		return invalid(at, "must not be empty")
	}
	if err := checkText(at, s, limit); err != nil {
		return err
	}
	if strings.ContainsFunc(s, unicode.IsControl) {
		return invalid(at, "must not have control characters")
	}
	return nil
}

// checkText returns ErrInvalid unless s is a text: valid UTF-8 of at most limit characters, which
// are Unicode code points, without U+0000, which PostgreSQL cannot store. at is where s stands in
// the request.
func checkText(at, s string, limit int) error {
	if !utf8.ValidString(s) || strings.Contains(s, "\x00") {
		return invalid(at, "must be UTF-8 without U+0000")
	}
	// Characters are counted and not bytes, so that a limit is the same in all scripts.
	if n := utf8.RuneCountInString(s); n > limit {
		return invalid(at, "has %d characters, at most %d are allowed", n, limit)
	}
	return nil
}
