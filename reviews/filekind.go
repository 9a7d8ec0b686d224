package reviews

import (
	"bufio"
	"bytes"
	"strings"

	"github.com/vitrine-go/vitrine/internal/gunzip"
)

// maxLook is how many bytes at the beginning of a file fileKind looks at. They are decompressed, and follow the
// byte order mark of UTF-8 if there is one; see lines.head.
const maxLook = 4 << 10

// isGzip reports whether a file is compressed with gzip: it begins with the magic number of gzip, as no JSON does. All bytes stay
// in file, to be read from there.
func isGzip(file *bufio.Reader) bool {
	head, _ := file.Peek(len(gunzip.Magic))
	return string(head) == gunzip.Magic
}

// fileKind returns what a file that begins with head may be instead of NDJSON, and what to do about it; "" if it looks like
// nothing else. It is the message of the rule file-kind, which is reported only if no line of the file is a record. So a wrong
// guess does no harm to a file with records, and fileKind may guess from few signs.
func fileKind(head []byte) string {
	// Files in a binary form are known by their first bytes, so white space counts there. text is for those of plain text.
	text := bytes.TrimLeft(head, " \t\r\n")
	switch {
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("PK\x05\x06")): // a zip archive
		// Spreadsheets are zip archives too. The names of their first entries, or the type at their beginning, stand there as
		// text.
		for _, part := range []string{"[Content_Types].xml", "xl/", "opendocument.spreadsheet"} { // .xlsx, .ods
			if bytes.Contains(head, []byte(part)) {
				return kindSpreadsheet
			}
		}
		return "this is a zip archive: unpack it, and check the files that are in it"
	case bytes.HasPrefix(head, []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")): // .xls
		return kindSpreadsheet
	case isUTF16(head):
		return "this is UTF-16: convert it to UTF-8, for instance with iconv -f UTF-16 -t UTF-8"
	case bytes.HasPrefix(text, []byte("[")):
		return kindArray
	case bytes.HasPrefix(text, []byte("{")):
		// NDJSON begins so too. But its first line ends with the bracket of its object.
		if line, _, ended := bytes.Cut(text, []byte("\n")); ended && breaksOff(line) {
			return "this is JSON over several lines: write each collection on one line, for instance with jq -c ."
		}
	case isTable(text):
		return "this is a table, such as CSV: write each collection as a JSON object with its reviews on one line; vitrine reviews schema prints what it has"
	}
	return ""
}

// kindArray is the kind of a file that begins with [. It has a name because fileChecker compares with it.
const kindArray = "this is one JSON array: write each of its collections on a line of its own, for instance with jq -c '.[]'"

// array is how far a file that begins with [ was read as a JSON array with an element on each line:
//
//	[
//	{"source":…},      a JSON value and a comma: an error of the rule json
//	{"source":…},
//	{"source":…}       looks like a record of NDJSON
//	]
//
// Every element but the last has a comma after it, so its line is no record. The line of the last element looks like a record,
// but must not count as one: it would be imported alone, and every other line would be an error in place of one file-kind.
//
// The values are states, in this order. next moves on by at most one state for each line:
//
//	[                  arrayBefore
//	{"source":…},      arrayInside
//	{"source":…}       arrayInLast: the record does not count
//	]                  arrayAfter
type array uint8

const (
	arrayBefore array = iota // no line was a JSON value and a comma
	arrayInside              // some line was
	arrayInLast              // the line that is read is the first record after such a line
	arrayAfter               // that line was read; if there is another record, the file is no array
)

// next returns how far the file was read once line is read too.
func (a array) next(line lineResult) array {
	switch {
	case a == arrayInLast:
		return arrayAfter
	case a == arrayBefore && line.element:
		return arrayInside
	case a == arrayInside && line.record:
		return arrayInLast
	}
	return a
}

// lastElement is the message for the last element of an array if another record follows.
const lastElement = "this is taken for the last element of a JSON array; take the brackets and commas out of the file, and give this record again"

// kindSpreadsheet is the kind of a file of a spreadsheet program.
const kindSpreadsheet = "this is a spreadsheet: write each collection as a JSON object with its reviews on one line; vitrine reviews schema prints what it has"

// isUTF16 returns whether text begins with the byte order mark of UTF-16 in either byte order, or looks like ASCII in UTF-16:
// of its first 64 bytes, four at least, every other one is zero, from the first or from the second on, and none of those
// between is.
func isUTF16(text []byte) bool {
	if bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
		return true
	}
	// Count the zeros at even and at odd indices. The length is made even, so that there are as many of both.
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

// breaksOff returns whether a line of JSON goes on in the next one, because no value can end with its last character.
func breaksOff(line []byte) bool {
	line = bytes.TrimRight(line, " \t\r")
	return bytes.HasSuffix(line, []byte("{")) || bytes.HasSuffix(line, []byte("[")) || bytes.HasSuffix(line, []byte(",")) || bytes.HasSuffix(line, []byte(":"))
}

// isTable returns whether a comma, a semicolon or a tab cuts the first two lines of text into the same number of columns, two at
// least. If text does not have all of the second line, the first one decides. A first line with `":` is taken for JSON.
func isTable(text []byte) bool {
	// lines are the first line, the second, and all others. Without the others, the second may have been cut.
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

// cells counts the cells of a line of a table. Separators in quotes do not count.
func cells(line, separator string) int {
	count := 1
	for i, part := range strings.Split(line, `"`) {
		if i%2 == 0 { // outside of quotes
			count += strings.Count(part, separator)
		}
	}
	return count
}
