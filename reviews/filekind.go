package reviews

import (
	"bytes"
	"strings"
)

// maxLook is how many bytes of a file's beginning are looked at to tell what else it may be.
const maxLook = 4 << 10

// fileKind says what a file that begins with head may be instead of NDJSON, and what to do; "" when it looks like
// nothing else. It is only told of a file of which no line is a record.
func fileKind(head []byte) string {
	text := bytes.TrimLeft(head, " \t\r\n")
	switch {
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("PK\x05\x06")):
		for _, part := range []string{"[Content_Types].xml", "xl/", "opendocument.spreadsheet"} {
			if bytes.Contains(head, []byte(part)) {
				return kindSpreadsheet
			}
		}
		return "this is a zip archive: unpack it, and check the files that are in it"
	case bytes.HasPrefix(head, []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")):
		return kindSpreadsheet
	case isUTF16(head):
		return "this is UTF-16: convert it to UTF-8, for instance with iconv -f UTF-16 -t UTF-8"
	case bytes.HasPrefix(text, []byte("[")):
		return kindArray
	case bytes.HasPrefix(text, []byte("{")):
		if line, _, ended := bytes.Cut(text, []byte("\n")); ended && breaksOff(line) {
			return "this is JSON over several lines: write each collection on one line, for instance with jq -c ."
		}
	case isTable(text):
		return "this is a table, such as CSV: write each collection as a JSON object with its reviews on one line; vitrine reviews schema prints what it has"
	}
	return ""
}

const kindArray = "this is one JSON array: write each of its collections on a line of its own, for instance with jq -c '.[]'"

// array is how far a file that begins with [ was read as a JSON array with an element on each line. Each element but the
// last has a comma behind it, so that its line is no record. The line of the last one is a record; it is not taken for
// one, or it would be imported alone, and every other line would be an error.
type array uint8

const (
	arrayBefore array = iota // no line was a record and a comma
	arrayInside              // some line was
	arrayInLast              // the line that is read is the first record behind such a line
	arrayBehind              // that line was read; if there is another record, the file is no array
)

// next returns how far the file was read when a line begins.
func (a array) next(line lineResult) array {
	switch {
	case a == arrayInLast:
		return arrayBehind
	case a == arrayBefore && line.element:
		return arrayInside
	case a == arrayInside && line.record:
		return arrayInLast
	}
	return a
}

// lastElement is the message for that element in a file that proves to be no array.
const lastElement = "this is taken for the last element of a JSON array; take the brackets and commas out of the file, and give this record again"

const kindSpreadsheet = "this is a spreadsheet: write each collection as a JSON object with its reviews on one line; vitrine reviews schema prints what it has"

// isUTF16 says whether text has the byte order mark of UTF-16, or zeros as ASCII has them in it.
func isUTF16(text []byte) bool {
	if bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
		return true
	}
	text = text[:min(len(text), 64)&^1]
	var even, odd int
	for i := 0; i < len(text); i += 2 {
		if text[i] == 0 {
			even++
		}
		if text[i+1] == 0 {
			odd++
		}
	}
	half := len(text) / 2
	return half > 1 && (even == half && odd == 0 || odd == half && even == 0)
}

// breaksOff says whether a line of JSON goes on in the next one: it ends where a value cannot.
func breaksOff(line []byte) bool {
	line = bytes.TrimRight(line, " \t\r")
	return bytes.HasSuffix(line, []byte("{")) || bytes.HasSuffix(line, []byte("[")) || bytes.HasSuffix(line, []byte(",")) || bytes.HasSuffix(line, []byte(":"))
}

// isTable says whether the first lines of text are cut into as many columns, two at least, by the same separator.
func isTable(text []byte) bool {
	lines := strings.SplitN(string(text), "\n", 3)
	for _, separator := range []string{",", ";", "\t"} {
		columns := cells(lines[0], separator)
		if columns < 2 || strings.Contains(lines[0], `":`) {
			continue
		}
		if len(lines) < 3 || cells(lines[1], separator) == columns {
			return true
		}
	}
	return false
}

// cells counts the cells of a line, of which some may be in quotes.
func cells(line, separator string) int {
	count := 1
	for i, part := range strings.Split(line, `"`) {
		if i%2 == 0 { // outside of quotes
			count += strings.Count(part, separator)
		}
	}
	return count
}
