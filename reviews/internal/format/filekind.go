package format

import (
	"bytes"
	"encoding/csv"

	"github.com/vitrine-go/vitrine/internal/gunzip"
)

// maxLook is the number of bytes at the beginning of a file that fileKind examines. They are decompressed and do not
// include the byte order mark.
const maxLook = 4 << 10

// kind is what a file may be instead of NDJSON.
type kind struct {
	// the message of the rule file-kind: what the file is, and what to do about it; "" if the file looks like NDJSON
	message string
	// the file begins like a binary format, so it is not NDJSON even if some of its lines look like records
	binary bool
}

// fileKind returns the kind of a file that begins with head. The kinds of text are guesses. A wrong guess does no harm
// to a file with records, since file-kind is only reported if no line is a record. A binary file may have such lines:
// an archive without compression contains the lines of its files unchanged.
func fileKind(head []byte) kind {
	if message := binaryKind(head); message != "" {
		return kind{message, true}
	}
	text := bytes.TrimLeft(head, " \t\r\n")
	switch {
	case bytes.HasPrefix(text, []byte("[")):
		return kind{message: kindArray}
	case bytes.HasPrefix(text, []byte("{")):
		// NDJSON begins with the same characters, but its first line ends with the closing bracket of its object.
		if line, _, ended := bytes.Cut(text, []byte("\n")); ended && breaksOff(line) {
			return kind{message: "this is JSON over several lines: write each collection on one line, for instance " +
				"with jq -c ." + otherJSON}
		}
	case bytes.HasPrefix(text, []byte("<?xml")), bytes.HasPrefix(text, []byte("<!")), isTagged(text):
		return kind{
			message: "this is XML or HTML: open it with a spreadsheet program and save it as CSV, or make CSV " +
				"of it with a program such as xmlstarlet; vitrine reviews convert makes the import format of that"}
	case isTable(text):
		return kind{message: "this is a table, such as CSV: vitrine reviews convert makes the import format of it"}
	}
	return kind{}
}

// signatures are the first bytes of binary files and of archives of a store, each with its message. No record begins
// with them. They are compared after decompression, so the signature of gzip means that the file was compressed twice.
var signatures = []struct{ first, message string }{
	{"PK\x03\x04", kindZip}, {"PK\x05\x06", kindZip}, {"PK\x07\x08", kindZip}, // also empty, and in several parts
	{"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", kindSpreadsheet}, // .xls
	{"\xff\xfe", kindUTF16}, {"\xfe\xff", kindUTF16},
	{gunzip.Magic, "this is compressed with gzip twice: decompress it once, for instance with gunzip"},
	{"BZh91AY&SY", "this is compressed with bzip2: decompress it, for instance with bunzip2"},
	{"\xfd7zXZ\x00", "this is compressed with xz: decompress it, for instance with unxz"},
	{"\x28\xb5\x2f\xfd", "this is compressed with zstd: decompress it, for instance with unzstd"},
	{`{"vitrine":`, "this is an archive of a whole store: vitrine import reads it into an empty one"},
	{"7z\xbc\xaf\x27\x1c", "this is a 7z archive: unpack it, and check the files that are in it"},
	{"Rar!\x1a\x07", "this is a rar archive: unpack it, and check the files that are in it"},
	{"SQLite format 3\x00", "this is an SQLite database: export its reviews as NDJSON, and check that file"},
	{"PAR1\x15", "this is a Parquet file: export its reviews as NDJSON, and check that file"},
	{"%PDF-", "this is a PDF document: write each collection as a JSON object with its reviews on one line; vitrine " +
		"reviews schema prints what it has"},
}

// Messages of more than one kind of binary file.
const (
	kindZip         = "this is a zip archive: unpack it, and check the files that are in it"
	kindSpreadsheet = "this is a spreadsheet: save the sheet as CSV, and vitrine reviews convert makes the import " +
		"format of it"
	kindUTF16 = "this is UTF-16: convert it to UTF-8, for instance with iconv -f UTF-16 -t UTF-8"
)

// binaryKind returns the message for a binary file, or "" for a text file.
func binaryKind(head []byte) string {
	const tar = "ustar" // at offset 257, after names and numbers that are filled up with zeros
	for _, s := range signatures {
		if !bytes.HasPrefix(head, []byte(s.first)) {
			continue
		}
		if s.message == kindZip && isZippedSpreadsheet(head) {
			return kindSpreadsheet
		}
		return s.message
	}
	switch {
	case len(head) > 257 && bytes.HasPrefix(head[257:], []byte(tar)) && bytes.IndexByte(head[:257], 0) >= 0:
		return "this is a tar archive: unpack it, and check the files that are in it"
	case isUTF16(head):
		return kindUTF16
	case len(head) > 0 && (head[0] < ' ' && !bytes.ContainsAny(head[:1], "\t\r\n") || head[0] == 0x7f):
		return "this is a binary file, since it begins with a control character: export its reviews as NDJSON, and " +
			"check that file"
	}
	return ""
}

// isZippedSpreadsheet returns whether a zip archive is a spreadsheet (.xlsx, .ods). The name of its first entry follows
// a header of 30 bytes. In .ods that entry is not compressed, and contains the type.
func isZippedSpreadsheet(head []byte) bool {
	for _, first := range []string{"[Content_Types].xml", "_rels/", "docProps/", "xl/",
		"mimetypeapplication/vnd.oasis.opendocument.spreadsheet"} {
		if len(head) > 30 && bytes.HasPrefix(head[30:], []byte(first)) {
			return true
		}
	}
	return false
}

// kindArray is the kind of a file that begins with [. It has a name because Checker compares with it.
const kindArray = "this is one JSON array: write each of its collections on a line of its own, for instance with jq " +
	"-c '.[]'" + otherJSON

const otherJSON = "; if another program wrote it, vitrine reviews convert makes the import format of it"

// isUTF16 returns whether text without a byte order mark looks like ASCII in UTF-16, in either byte order: of its first
// 64 bytes, which must be four or more, either those at even or those at odd indices are zero, and the others are not.
func isUTF16(text []byte) bool {
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

// isTagged returns whether text begins with a tag.
func isTagged(text []byte) bool {
	return len(text) > 1 && text[0] == '<' && 'a' <= text[1]|0x20 && text[1]|0x20 <= 'z'
}

// breaksOff returns whether a line of JSON continues in the next line, because no value can end with its last
// character.
func breaksOff(line []byte) bool {
	line = bytes.TrimRight(line, " \t\r")
	return bytes.HasSuffix(line, []byte("{")) || bytes.HasSuffix(line, []byte("[")) ||
		bytes.HasSuffix(line, []byte(",")) || bytes.HasSuffix(line, []byte(":"))
}

// isTable returns whether a comma, a semicolon or a tab splits the first two rows of text into the same number of
// cells, at least two. If text does not have the whole second row, the first one decides. A first row with `":` counts
// as JSON. A first row sep=; is for spreadsheet programs, and no other file begins so.
func isTable(text []byte) bool {
	if bytes.HasPrefix(text, []byte("sep=")) {
		return true
	}
	text = bytes.ReplaceAll(text, []byte(`\"`), []byte(`""`)) // some programs write a quote in a cell like this
	for _, separator := range ",;\t" {
		rows := csv.NewReader(bytes.NewReader(text))
		rows.Comma, rows.LazyQuotes, rows.FieldsPerRecord = separator, true, -1
		first, err := rows.Read()
		if err != nil || len(first) < 2 || bytes.Contains(text[:rows.InputOffset()], []byte(`":`)) {
			continue
		}
		if second, err := rows.Read(); err != nil || len(second) == len(first) ||
			rows.InputOffset() == int64(len(text)) && !bytes.HasSuffix(text, []byte("\n")) {
			return true
		}
	}
	return false
}
