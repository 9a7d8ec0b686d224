package convert

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"github.com/vitrine-go/vitrine/internal/gunzip"
)

const (
	maxLook   = 256 << 10 // bytes at the beginning of a file that decide its format
	maxRow    = 1 << 20   // bytes of a row
	maxSample = 1000      // rows at the beginning that decide the order of dates
)

// table is a CSV file that is being read. Its parser reads it through Read, which keeps the bytes of a row until the next
// row begins, so that the lines of the row can be read again.
type table struct {
	read    *counted
	in      *bufio.Reader // what comes after buf
	charset string        // "utf-8", "utf-16" or "windows-1252", guessed from the beginning of the file
	marked  bool          // a spreadsheet reads UTF-8 of this file only after a byte order mark: it began with one, or is not UTF-8
	comma   byte          // the separator of cells
	header  []string
	sample  [][]string // rows at the beginning

	parser  *csv.Reader
	ahead   *bufio.Reader // of the parser
	buf     []byte        // the next row, and what was read after it
	at      int           // where that row begins in buf
	given   int           // how much of buf the parser has read
	line    int64         // of the next row, from 1
	foreign int64         // the line of the first row that is not UTF-8; 0 = none
	rescans int           // the number of bytes that may still be read twice, see next
}

// row is a row of a table. It has either cells or a fault.
type row struct {
	line  int64
	cells []string
	fault string
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

// openTable examines the beginning of a file and reads its header. It returns ErrInvalid if the file is not a table.
func openTable(file io.Reader) (*table, error) {
	read, charset := &counted{in: file}, "utf-8"
	in, err := gunzip.Unpacked(bufio.NewReaderSize(read, maxLook))
	if err != nil {
		return nil, err
	}
	head, _ := in.Peek(4)
	if decoder := utf16(head); decoder != nil {
		charset = "utf-16"
		in = bufio.NewReaderSize(transform.NewReader(in, decoder.NewDecoder()), maxLook)
	}
	head, _ = in.Peek(len(bom))
	marked := string(head) == bom
	if marked {
		_, _ = in.Discard(len(bom))
	}
	head, err = in.Peek(maxLook)
	if fault := foreign(head); fault != "" && (err == nil || err == io.EOF) {
		return nil, invalid("", fault)
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
		charset = "windows-1252"
	}
	look, t := newTable(bytes.NewReader(head), separator(head)), newTable(in, separator(head))
	t.read, t.charset, t.marked = read, charset, marked || charset != "utf-8"
	if err := look.readHeader(); err != nil {
		return nil, err
	}
	for len(t.sample) < maxSample {
		row, err := look.next()
		if err != nil {
			break
		}
		if row.fault == "" {
			t.sample = append(t.sample, slices.Clone(row.cells))
		}
	}
	return t, t.readHeader()
}

// bom is the byte order mark at the beginning of files of some programs.
const bom = "\ufeff"

// newTable returns a table of which nothing is read yet.
func newTable(in io.Reader, comma byte) *table {
	t := &table{in: bufio.NewReaderSize(in, maxLook), comma: comma, ahead: bufio.NewReaderSize(nil, 64<<10), line: 1, rescans: maxRow}
	t.parseFrom(0)
	return t
}

// utf16 returns the encoding of a file in UTF-16, or nil for any other file. Without a byte order mark, it is recognized by
// the zero bytes of the first two ASCII characters.
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
	case len(text) == 0:
		return "the file is empty: want CSV with the names of the columns in the first row"
	case text[0] == '{' || text[0] == '[':
		return "this is JSON and no table: check or import it, if it has the members that vitrine reviews schema lists; otherwise make CSV of it, for instance with jq"
	case 4*bytes.Count(head, []byte{0}) > len(head):
		return "this is a binary file: want CSV"
	}
	return ""
}

// separator returns the separator of the cells of a file: the one named by a first line with sep=, or the most frequent one
// of the first line.
func separator(head []byte) byte {
	end := bytes.IndexAny(head, "\r\n")
	if end < 0 {
		end = len(head)
	}
	first := head[:end]
	if rest, ok := bytes.CutPrefix(bytes.ToLower(bytes.Trim(first, `"`)), []byte("sep=")); ok && len(rest) == 1 && (rest[0] == '\t' || rest[0] > ' ' && rest[0] < 0x7f && rest[0] != '"') {
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
		return invalid("", "the file has no row with the names of its columns")
	case err != nil:
		return err
	case row.fault != "":
		return invalid("", "the row with the names of the columns cannot be read: "+row.fault)
	}
	for _, name := range row.cells {
		t.header = append(t.header, strings.TrimSpace(strings.TrimPrefix(name, bom)))
	}
	return nil
}

// errTooLong is the error of Read for a row longer than maxRow.
var errTooLong = errors.New("convert: the row is too long")

// Read returns the next bytes to the parser.
func (t *table) Read(p []byte) (int, error) {
	if t.given < len(t.buf) {
		n := copy(p, t.buf[t.given:])
		t.given += n
		return n, nil
	}
	if len(t.buf)-t.at > maxRow {
		return 0, errTooLong
	}
	t.buf = append(t.buf[:0], t.buf[t.at:]...)
	n, err := t.in.Read(p)
	t.buf = append(t.buf, p[:n]...)
	t.at, t.given = 0, len(t.buf)
	return n, err
}

// parseFrom makes the next row begin at an offset of buf.
func (t *table) parseFrom(at int) {
	t.at, t.given = at, at
	t.ahead.Reset(t)
	t.parser = csv.NewReader(t.ahead)
	t.parser.Comma, t.parser.LazyQuotes, t.parser.FieldsPerRecord, t.parser.ReuseRecord = rune(t.comma), true, -1, true
}

// next returns the next row that is not blank, or io.EOF. Its cells are valid until the next call.
//
// If a row of several lines has not as many cells as there are columns, only its first line is consumed, and the other lines
// are read again, each as a row. The number of bytes that are read again is limited, so that a byte is read four times on
// average at most. Beyond that limit, such rows are dropped whole.
func (t *table) next() (row, error) {
	for {
		before := t.parser.InputOffset()
		cells, err := t.parser.Read()
		tooLong := err == errTooLong
		if err != nil && !tooLong {
			return row{}, err
		}
		data := t.buf[t.at:]
		if !tooLong {
			data = data[:t.parser.InputOffset()-before]
		}
		end := t.at + len(data)
		t.line += int64(bytes.Count(data, []byte{'\n'}))
		data = bytes.TrimLeft(data, "\r\n") // the parser skips empty lines
		r := row{line: t.line - int64(bytes.Count(data, []byte{'\n'})), cells: cells}
		for i, cell := range cells {
			cells[i] = t.decode(cell, r.line)
		}
		columns := len(t.header)
		for columns > 0 && len(r.cells) > columns && r.cells[len(r.cells)-1] == "" {
			r.cells = r.cells[:len(r.cells)-1]
		}
		first, _, several := bytes.Cut(data, []byte{'\n'})
		several = several && len(first)+1 < len(data)
		wrong := columns > 0 && len(r.cells) != columns
		if (tooLong || wrong) && several && t.rescans >= len(data) {
			t.rescans -= len(data)
			r.cells = strings.Split(t.decode(string(bytes.TrimRight(first, "\r")), r.line), string(t.comma))
			r.fault = "a quote is opened in this line and closed in a later one, and then the cells do not fit the columns: close it, or double quotes inside of quotes"
			t.line = r.line + 1
			t.parseFrom(end - len(data) + len(first) + 1)
			return r, nil
		}
		t.rescans = min(t.rescans+4*len(data), 64*maxRow)
		t.at = end
		switch {
		case tooLong:
			r.fault = fmt.Sprintf("the row has more than %d KiB: a quote may be opened and not closed", maxRow>>10)
			t.skipLine()
		case wrong:
			r.fault = fmt.Sprintf("the row has %d cells, and there are %d columns: put cells with separators or line breaks into quotes", len(r.cells), columns)
		}
		if r.fault != "" || slices.ContainsFunc(r.cells, func(cell string) bool { return strings.TrimSpace(cell) != "" }) {
			return r, nil
		}
	}
}

// skipLine drops all buffered bytes and the rest of the current line.
func (t *table) skipLine() {
	if t.buf[len(t.buf)-1] != '\n' {
		for err := bufio.ErrBufferFull; err == bufio.ErrBufferFull; {
			_, err = t.in.ReadSlice('\n')
		}
		t.line++
	}
	t.buf = t.buf[:0]
	t.parseFrom(0)
}

// decode returns a cell of a row as UTF-8. A cell that is not valid UTF-8 is decoded as Windows-1252, even if other cells are UTF-8,
// since shops merge files from several programs.
func (t *table) decode(cell string, line int64) string {
	if !utf8.ValidString(cell) {
		t.foreign = cmp.Or(t.foreign, line)
		cell, _ = charmap.Windows1252.NewDecoder().String(cell) // every byte is a character
	}
	if strings.IndexByte(cell, 0) >= 0 {
		cell = strings.ReplaceAll(cell, "\x00", "")
	}
	return cell
}
