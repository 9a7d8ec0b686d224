package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// printable writes what a terminal would act on instead of showing it, such as a control character
// or one that turns the direction of the text, as an escape. Texts may repeat what a file holds.
func printable(text string) string {
	return escaped(text, func(r rune) string { return strings.Trim(strconv.QuoteRuneToASCII(r), "'") })
}

// escaped writes the characters that do not print by escape; bytes that are no character as \xNN.
func escaped(text string, escape func(rune) string) string {
	var out strings.Builder
	for i, r := range text {
		if _, size := utf8.DecodeRuneInString(text[i:]); r == utf8.RuneError && size == 1 {
			fmt.Fprintf(&out, `\x%02x`, text[i])
		} else if unicode.IsPrint(r) {
			out.WriteRune(r)
		} else {
			out.WriteString(escape(r))
		}
	}
	return out.String()
}

// escaper is a writer of lines of JSON in which what does not print stands as JSON's escapes. A line
// comes in one piece.
type escaper struct{ out io.Writer }

func (e escaper) Write(line []byte) (int, error) {
	text := escaped(string(line), func(r rune) string {
		switch high, low := utf16.EncodeRune(r); {
		case r == '\n':
			return "\n" // the end of the line: others are escaped already
		case high != utf8.RuneError:
			return fmt.Sprintf(`\u%04x\u%04x`, high, low)
		}
		return fmt.Sprintf(`\u%04x`, r)
	})
	if _, err := io.WriteString(e.out, text); err != nil {
		return 0, err
	}
	return len(line), nil
}
