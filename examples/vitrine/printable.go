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

// printable replaces characters that a terminal would act on, such as control characters and those that change the
// direction of text, by escapes. It is applied to all output that may quote the content of a file.
func printable(text string) string {
	return escaped(text, func(r rune) string { return strings.Trim(strconv.QuoteRuneToASCII(r), "'") })
}

// escaped replaces the characters that do not print by the results of escape, and bytes that are no UTF-8 by \xNN.
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

// escaper is a writer of lines of JSON that writes characters that do not print as escapes of JSON. Each Write must
// have a whole line.
type escaper struct{ out io.Writer }

// Write writes a line. The result counts the bytes of line, as an io.Writer must.
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
