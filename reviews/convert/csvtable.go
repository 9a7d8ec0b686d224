package convert

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/gunzip"
)

const (
	maxLook   = 256 << 10 // bytes at the beginning of a file that decide its format
	maxRow    = 1 << 20   // bytes of a row
	maxSample = 1000      // rows at the beginning that decide the order of dates

	maxColumns = 1000
)

// table is a CSV file that is being read, or the rows of a JSON file. A row is doubtful if a quote may be missing in it
// or before it, see scanner, or if lines of it look like rows of their own. Such a row is one piece with all rows
// before it that are as doubtful: nothing of it is converted.
type table struct {
	read    *counted
	in      *bufio.Reader
	charset string // guessed from the beginning of the file, or given
	marked  bool   // spreadsheets need a byte order mark for what is made of it: it began with one, or is not UTF-8
	header  []string
	extra   int        // the columns at the end of header that only rejected rows have: 0 or 2
	sample  [][]string // rows at the beginning
	forms   []form     // of the columns of sample
	dump    bool       // sample shows that cells have the escapes of a dump of a database

	json    *jsonRows // nil for CSV
	rows    string    // the pointer to the rows of JSON
	scan    scanner
	single  scanner // of one line inside of a row
	raw     []byte  // the lines of the row, as they are in the file, or of the last part of it
	cells   []string
	blank   int     // the empty cells behind the last column
	usual   int     // of most rows of sample
	faults  []int64 // the lines of the first cells with quotes that are not doubled
	recent  recent
	long    int   // the parts of the row that were returned; 0 = all of it fits into one
	first   row   // the first part of such a row
	line    int64 // of the next line, from 1
	foreign int64 // the line of the first row that is not UTF-8; 0 = none
	found   notes // about the form of the file
}

// row is a row of a table, or a piece of several rows. It has either cells or a fault.
type row struct {
	line  int64
	lines int64
	cells []string // valid until the next row is read
	wrong string   // with a row of JSON
	fault string
	// with a fault: the lines as they are in the file, and what must precede the cells of Rejects; see verbatim
	text  string
	piece bool  // all rows from line on are part of it, also if they were returned before
	part  int   // of a row that is longer than maxRow: the number of the part, from 1; 0 = it is whole
	more  bool  // another part follows
	last  bool  // it is kept behind all other rejected rows, since a quote in it may not be closed
	sure  int64 // later rows do not make those before this line doubtful
}

// recent has the lines from the row on in which quotes were last read right for certain, but not many more than maxRow
// bytes.
type recent struct {
	older, newer []byte
	begin, half  int64 // the lines where older and newer begin
}

// reset forgets all lines. The next one is line.
func (r *recent) reset(line int64) {
	r.older, r.newer, r.begin, r.half = r.older[:0], r.newer[:0], line, line
}

// add adds the text of a row that begins in line.
func (r *recent) add(text []byte, line int64) {
	if len(r.newer) > maxRow {
		r.older, r.newer, r.begin, r.half = r.newer, r.older[:0], r.half, line
	}
	r.newer = append(r.newer, text...)
}

// counted counts the bytes of a file that were read.
type counted struct {
	in io.Reader
	n  int64
}

// Read reads and counts.
func (c *counted) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	c.n += int64(n)
	return n, err
}

// macLines replaces each CR by LF, for a file whose lines end with CR alone.
type macLines struct{ in io.Reader }

// Read reads and replaces.
func (m macLines) Read(p []byte) (int, error) {
	n, err := m.in.Read(p)
	copy(p, bytes.ReplaceAll(p[:n], []byte{'\r'}, []byte{'\n'}))
	return n, err
}

// openTable examines the beginning of a file and reads its header. Of the mapping it needs rows, if this is JSON. named
// is the character set, or "" to guess it. It returns ErrInvalid if the file is not a table.
func openTable(file io.Reader, m Mapping, named string) (*table, error) {
	read, charset := &counted{in: file}, "utf-8"
	in, err := gunzip.Unpacked(bufio.NewReaderSize(read, maxLook))
	if err != nil {
		return nil, err
	}
	head, _ := in.Peek(4)
	if named != "" {
		known, err := htmlindex.Get(named)
		if err != nil { // such as cp850
			known, err = ianaindex.IANA.Encoding(named)
		}
		if err != nil || known == nil {
			return nil, fault.Invalid("charset",
				"%q is not known: want a name such as utf-8, iso-8859-2, windows-1251, shift_jis or gbk", named)
		}
		charset = strings.ToLower(named)
		in = bufio.NewReaderSize(transform.NewReader(in, known.NewDecoder()), maxLook)
	} else if decoder := utf16(head); decoder != nil {
		charset = "utf-16"
		in = bufio.NewReaderSize(transform.NewReader(in, decoder.NewDecoder()), maxLook)
	}
	head, _ = in.Peek(len(bom))
	marked := string(head) == bom
	if marked {
		_, _ = in.Discard(len(bom))
	}
	head, err = in.Peek(maxLook)
	if reason := foreign(head); reason != "" && (err == nil || err == io.EOF) {
		return nil, fault.Invalid("", "%s", reason)
	}
	said := ""
	if charset == "utf-8" && named == "" && !marked {
		var known encoding.Encoding
		var doubt error
		if charset, known, doubt = guessCharset(head); doubt != nil {
			return nil, doubt
		}
		if known != nil {
			said = fmt.Sprintf("charset: %q, guessed; give another if letters are wrong", charset)
			in = bufio.NewReaderSize(transform.NewReader(in, known.NewDecoder()), maxLook)
			head, err = in.Peek(maxLook)
		}
	}
	if text := bytes.TrimLeft(head, " \t\r\n"); len(text) > 0 && (text[0] == '{' || text[0] == '[') {
		t := newTable(in, ',')
		t.read, t.charset, t.marked = read, charset, marked || charset != "utf-8"
		if whole := bytes.LastIndexByte(head, '"'); whole >= 0 && !utf8.Valid(head[:whole]) {
			t.charset, t.marked = latin, true
			in = bufio.NewReader(transform.NewReader(in, charmap.Windows1252.NewDecoder()))
		}
		if said != "" {
			t.found.add("%s", said)
		}
		rows, given := m["rows"].(string)
		if err := t.openJSON(in, head, rows, given); err != nil {
			t.close()
			return nil, err
		}
		return t, nil
	}
	if bytes.IndexByte(head, '\n') < 0 && bytes.IndexByte(head, '\r') >= 0 {
		in = bufio.NewReaderSize(macLines{in}, maxLook)
		head, err = in.Peek(maxLook)
	}
	if err != nil && err != io.EOF {
		return nil, err
	}
	if end := bytes.LastIndexByte(head, '\n') + 1; err == nil && end > 0 {
		head = head[:end] // the last line may be incomplete
	}
	if !utf8.Valid(head) {
		charset = latin
	}
	whole := err == io.EOF
	look, t := newTable(bytes.NewReader(head), separator(head)), newTable(in, separator(head))
	t.read, t.charset, t.marked = read, charset, marked || charset != "utf-8"
	if said != "" {
		t.found.add("%s", said)
	}
	if err := look.readHeader(); err != nil {
		return nil, cmp.Or(t.readHeader(), err) // head may have a part of the header
	}
	look.readSample()
	if look.quotesAreText(head, whole) {
		t.found.add("quotes are read as text, since no cell of this table both begins and ends with one")
		look = newTable(bytes.NewReader(head), t.scan.comma)
		look.scan.text, t.scan.text = true, true
		if err := look.readHeader(); err != nil {
			return nil, err
		}
		look.readSample()
	}
	if n := len(look.faults); look.extra == 0 && n > 2 && 100*n >= len(look.sample) {
		t.scan.lazy = true
		t.found.add("quotes inside of cells are not doubled in this table, as in line %d: they are read as text",
			look.faults[0])
	}
	t.sample, t.usual = look.sample, look.usual
	if t.dump = dumped(t.sample); t.dump {
		t.found.add(`this is a dump of a database: \N and NULL are empty, and \', \" and \n are read as such`)
	}
	if err := t.readHeader(); err != nil {
		return nil, err
	}
	t.forms = formsOf(t.sample, len(t.header)-t.extra)
	return t, nil
}

// close ends the reading of JSON.
func (t *table) close() {
	if t.json != nil {
		t.json.stop()
	}
}

// readSample reads the rows at the beginning.
func (t *table) readSample() {
	blanks := map[int]int{}
	for len(t.sample) < maxSample {
		row, err := t.next()
		if err != nil {
			break
		}
		if row.fault == "" {
			t.sample = append(t.sample, slices.Clone(row.cells))
			if blanks[t.blank]++; blanks[t.blank] > blanks[t.usual] {
				t.usual = t.blank
			}
		}
	}
}

// quotesAreText reports whether quotes do not enclose cells in this table, of which the sample was read. whole says
// that head is all of it. No quote encloses a cell if no cell both begins and ends with one, and the lines have to be
// right without quotes: the only cell in quotes may have lost one. A cell over several lines may begin and end with one
// by chance, as in the dump of a database: then other quotes have to show it.
func (t *table) quotesAreText(head []byte, whole bool) bool {
	seen := t.scan.seen
	if seen.closed > 0 || bytes.IndexByte(head, '"') < 0 || t.extra > 0 { // a file of rejected rows is always CSV
		return false
	}
	all, fit := 0, 0
	for line := range bytes.Lines(head) {
		if len(bytes.TrimSpace(line)) > 0 {
			all++
			if bytes.Count(line, []byte{t.scan.comma}) == len(t.header)-1 {
				fit++
			}
		}
	}
	return whole && seen.spans == 0 && fit == all || seen.stray > 1 && 20*fit >= 19*all
}

// bom is the byte order mark at the beginning of files of some programs.
const bom = "\ufeff"

// newTable returns a table of which nothing is read yet.
func newTable(in io.Reader, comma byte) *table {
	t := &table{in: bufio.NewReaderSize(in, 16<<10), line: 1, scan: scanner{comma: comma}}
	t.recent.reset(1)
	return t
}

// utf16 returns the encoding of a file in UTF-16, or nil for any other file. Without a byte order mark, it is
// recognized by the zero bytes of the first two ASCII characters.
func utf16(head []byte) encoding.Encoding {
	switch {
	case len(head) < 4:
	case string(head[:2]) == "\xff\xfe", head[0] != 0 && head[1] == 0 && head[2] != 0 && head[3] == 0:
		return unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	case string(head[:2]) == "\xfe\xff", head[0] == 0 && head[1] != 0 && head[2] == 0 && head[3] != 0:
		return unicode.UTF16(unicode.BigEndian, unicode.UseBOM)
	}
	return nil
}

// foreign returns what kind of file this is if it cannot be a table, or "".
func foreign(head []byte) string {
	text := bytes.TrimLeft(head, " \t\r\n")
	switch {
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("\xd0\xcf\x11\xe0")):
		return "this is a spreadsheet or an archive: save the sheet as CSV, and convert that, or unpack the archive"
	case len(text) > 1 && text[0] == '<' && (text[1] == '?' || text[1] == '!' ||
		'a' <= text[1]|0x20 && text[1]|0x20 <= 'z'):
		return "this is XML or HTML and no table: open it with a spreadsheet program and save it as CSV, or make CSV " +
			"of it with a program such as xmlstarlet or xq"
	case len(text) == 0:
		return "the file is empty: want CSV with the names of the columns in the first row"
	case 4*bytes.Count(head, []byte{0}) > len(head):
		return "this is a binary file: want CSV"
	}
	return ""
}

// separator returns the separator of the cells of a file: the one named by a first line with sep=, or the most frequent
// one of the first line.
func separator(head []byte) byte {
	end := bytes.IndexAny(head, "\r\n")
	if end < 0 {
		end = len(head)
	}
	first := head[:end]
	if rest, ok := bytes.CutPrefix(bytes.ToLower(bytes.Trim(first, `"`)), []byte("sep=")); ok && len(rest) == 1 &&
		(rest[0] == '\t' || rest[0] > ' ' && rest[0] < 0x7f && rest[0] != '"') {
		return rest[0]
	}
	best, most := byte(','), 1
	for _, c := range []byte(",;\t|") {
		in := csv.NewReader(bytes.NewReader(first))
		in.Comma, in.LazyQuotes = rune(c), true
		if cells, _ := in.Read(); len(cells) > most {
			best, most = c, len(cells)
		}
	}
	return best
}

// readHeader reads the names of the columns.
func (t *table) readHeader() error {
	row, err := t.next()
	if err == nil && row.line == 1 && strings.EqualFold(strings.Join(row.cells, ""), "sep=") {
		row, err = t.next()
	}
	switch {
	case err == io.EOF:
		return fault.Invalid("", "the file has no row with the names of its columns")
	case err != nil:
		return err
	case row.fault != "":
		return fault.Invalid("", "the row with the names of the columns cannot be read: %s", row.fault)
	}
	if n := t.scan.count; n > mostCells {
		return manyColumns(n)
	}
	for _, name := range row.cells {
		t.header = append(t.header, strings.TrimSpace(strings.TrimPrefix(name, bom)))
	}
	if n := len(t.header); n > 2 && t.header[n-2] == lineColumn && t.header[n-1] == reasonColumn {
		t.extra = 2
	}
	if n := len(t.header) - t.extra; n > maxColumns {
		return manyColumns(n)
	}
	t.scan.marked = len(t.header) - t.extra
	t.recent.reset(t.line)
	return nil
}

// manyColumns is the error for a table with too many columns.
func manyColumns(n int) error {
	return fault.Invalid("", "the table has %d columns, and at most %d can be read: take some out", n, maxColumns)
}
