package convert

import (
	"bufio"
	"bytes"
	"encoding/csv"
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
	maxLook   = 256 << 10 // bytes at the beginning of a file by which its form is decided
	maxRow    = 1 << 20   // bytes of a row
	maxSample = 1000      // rows of the beginning by which the order of dates is decided
)

// table is a CSV file that is being read.
type table struct {
	read    *counted
	in      *bufio.Reader
	charset string // "utf-8", "utf-16" or "windows-1252": what the beginning of the file looks like
	comma   byte   // what separates cells
	mac     bool   // lines end with CR alone
	header  []string
	sample  [][]string // rows at the beginning
	orders  [len(separators)]order

	buf     []byte // what was read and is not yet a row
	at      int    // where the next row begins in buf
	ended   error  // of in, once nothing more can be read
	line    int64  // of the next row, from 1
	skips   bool   // what comes up to the end of the line is the rest of a row that is too long
	parser  *csv.Reader
	feed    feed
	fed     int64 // bytes that the parser has got
	rescans int   // bytes that may still be read twice, see next
}

// row is a row of a table. It has a fault in place of cells that can be converted.
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

// feed gives the parser the bytes of one row at a time.
type feed struct{ data []byte }

// Read returns io.EOF at the end of the row; then the next row may be set.
func (f *feed) Read(p []byte) (int, error) {
	if len(f.data) == 0 {
		return 0, io.EOF
	}
	n := copy(p, f.data)
	f.data = f.data[n:]
	return n, nil
}

// open looks at the beginning of a file, and reads its header. It returns ErrInvalid for a file that is no table.
func open(file io.Reader) (*table, error) {
	t := &table{read: &counted{in: file}, charset: "utf-8"}
	t.in = bufio.NewReaderSize(t.read, maxLook)
	if head, _ := t.in.Peek(len(gunzip.Magic)); string(head) == gunzip.Magic {
		unzip, err := gunzip.NewReader(t.in)
		if err != nil {
			return nil, err
		}
		t.in = bufio.NewReaderSize(unzip, maxLook)
	}
	head, err := t.in.Peek(maxLook)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if decoder := utf16(head); decoder != nil {
		t.charset = "utf-16"
		t.in = bufio.NewReaderSize(transform.NewReader(t.in, decoder.NewDecoder()), maxLook)
		if head, err = t.in.Peek(maxLook); err != nil && err != io.EOF {
			return nil, err
		}
	}
	whole := err == io.EOF
	if bytes.HasPrefix(head, []byte("\ufeff")) {
		_, _ = t.in.Discard(len("\ufeff"))
		head = head[len("\ufeff"):]
	}
	if fault := foreign(head); fault != "" {
		return nil, invalid("", fault)
	}
	if !validBeginning(head, whole) {
		t.charset = "windows-1252"
	}
	t.mac = bytes.IndexByte(head, '\n') < 0 && bytes.IndexByte(head, '\r') >= 0
	t.comma = separator(head)
	t.rescans = maxRow
	look := *t
	look.in = bufio.NewReader(bytes.NewReader(bytes.Clone(head)))
	for _, t := range []*table{t, &look} {
		t.parser = csv.NewReader(&t.feed)
		t.parser.Comma, t.parser.LazyQuotes, t.parser.FieldsPerRecord, t.parser.ReuseRecord = rune(t.comma), true, -1, true
		if err := t.readHeader(); err != nil {
			return nil, err
		}
	}
	for len(t.sample) < maxSample {
		row, err := look.next()
		if err != nil || !whole && look.at == len(look.buf) && look.ended != nil { // the last one may be cut
			break
		}
		if row.fault == "" {
			t.sample = append(t.sample, append([]string(nil), row.cells...))
		}
	}
	return t, nil
}

// utf16 returns the encoding of a file in UTF-16, nil for any other file. Without a byte order mark, the zeros of the first two ASCII
// characters show it.
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

// foreign says what a file is that is no table; "" if it may be one.
func foreign(head []byte) string {
	text := bytes.TrimLeft(head, " \t\r\n")
	switch {
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("\xd0\xcf\x11\xe0")):
		return "this is a spreadsheet or an archive: save the sheet as CSV, or unpack the archive"
	case len(text) == 0:
		return "the file is empty: want CSV with the names of the columns in the first row"
	case text[0] == '{' || text[0] == '[':
		return "this is JSON and no table: check or import it as it is"
	case 4*bytes.Count(head, []byte{0}) > len(head):
		return "this is a binary file: want CSV"
	}
	return ""
}

// validBeginning returns whether the beginning of a file is UTF-8. Its last character may be cut unless it is the whole file.
func validBeginning(head []byte, whole bool) bool {
	for cut := 0; cut < utf8.UTFMax && cut <= len(head); cut++ {
		if utf8.Valid(head[:len(head)-cut]) {
			return true
		}
		if whole {
			break
		}
	}
	return false
}

// separator returns what separates the cells of a file: what its first line says with sep=, or what that line has most of.
func separator(head []byte) byte {
	end := bytes.IndexAny(head, "\r\n")
	if end < 0 {
		end = len(head)
	}
	first := head[:end]
	if rest, ok := bytes.CutPrefix(bytes.ToLower(bytes.Trim(first, `"`)), []byte("sep=")); ok && len(rest) == 1 && (rest[0] == '\t' || rest[0] > ' ' && rest[0] < 0x7f && rest[0] != '"') {
		return rest[0]
	}
	best, most := byte(','), 0
	for _, c := range []byte(",;\t|") {
		quoted, n := false, 0
		for _, b := range first {
			if b == '"' {
				quoted = !quoted
			} else if b == c && !quoted {
				n++
			}
		}
		if n > most {
			best, most = c, n
		}
	}
	return best
}

// readHeader reads the names of the columns.
func (t *table) readHeader() error {
	t.line = 1
	for {
		row, err := t.next()
		if err != nil {
			if err == io.EOF {
				err = invalid("", "the file has no row with the names of its columns")
			}
			return err
		}
		if row.fault != "" {
			return invalid("", "the row with the names of the columns cannot be read: "+row.fault)
		}
		if t.line == 2 && strings.EqualFold(strings.Join(row.cells, ""), "sep=") {
			continue
		}
		for _, name := range row.cells {
			t.header = append(t.header, strings.TrimSpace(strings.TrimPrefix(name, "\ufeff")))
		}
		return nil
	}
}

// next returns the next row that is not blank, io.EOF at the end of the file. Its cells are valid until the next call.
//
// A row over several lines that has not as many cells as there are columns is given up after its first line, and the others are read
// again, each as a row. A byte is read so four times on average at most, so that no file takes long; rows beyond that are dropped whole.
func (t *table) next() (row, error) {
	for {
		size, err := t.rowSize()
		if err != nil {
			return row{}, err
		}
		data := t.buf[t.at:]
		if size > 0 {
			data = data[:size]
		}
		tooLong := len(data) > maxRow
		if t.skips {
			end := bytes.IndexByte(data, '\n') + 1
			if t.skips = end == 0 && size == 0; t.skips || end == 0 {
				end = len(data)
			}
			t.at += end
			t.line += int64(bytes.Count(data[:end], []byte{'\n'}))
			continue
		}
		first := bytes.IndexByte(data, '\n') + 1
		r := row{line: t.line}
		if !tooLong && len(bytes.Trim(data, "\r\n")) > 0 {
			if r.cells = t.parse(data); r.cells == nil {
				r.fault = "the quotes of this row cannot be read: double those inside of quotes"
			}
		}
		columns := len(t.header)
		for columns > 0 && len(r.cells) > columns && r.cells[len(r.cells)-1] == "" {
			r.cells = r.cells[:len(r.cells)-1]
		}
		several := first > 0 && first < len(data)
		wrong := columns > 0 && len(r.cells) > 0 && len(r.cells) != columns
		switch {
		case (tooLong || wrong && several) && first > 0 && t.rescans >= len(data):
			t.rescans -= len(data)
			data = data[:first]
			r.cells = strings.Split(decode(string(bytes.TrimRight(data, "\r\n"))), string(t.comma))
			r.fault = "a quote is opened in this line and closed in a later one, and then the cells do not fit the columns: close it, or double quotes inside of quotes"
		case tooLong:
			r.fault = fmt.Sprintf("the row has more than %d KiB: a quote may be opened and not closed", maxRow>>10)
		case wrong:
			r.fault = fmt.Sprintf("the row has %d cells, and there are %d columns: put cells with separators or line breaks into quotes", len(r.cells), columns)
		}
		t.skips = len(data) > 0 && data[len(data)-1] != '\n'
		t.at += len(data)
		t.rescans = min(t.rescans+4*len(data), 64*maxRow)
		t.line += int64(bytes.Count(data, []byte{'\n'}))
		if r.fault == "" && !slices.ContainsFunc(r.cells, func(cell string) bool { return strings.TrimSpace(cell) != "" }) {
			continue
		}
		return r, nil
	}
}

// rowSize reads until buf has a whole row, and returns its size; 0 for a row that is longer than maxRow.
func (t *table) rowSize() (int, error) {
	for {
		if size := rowEnd(t.buf[t.at:], t.comma, t.ended == io.EOF); size > 0 {
			return size, nil
		}
		switch {
		case t.ended != nil && (t.ended != io.EOF || t.at == len(t.buf)):
			return 0, t.ended
		case len(t.buf)-t.at > maxRow:
			return 0, nil
		}
		if t.at > 0 {
			t.buf = append(t.buf[:0], t.buf[t.at:]...)
			t.at = 0
		}
		before := len(t.buf)
		t.buf = slices.Grow(t.buf, maxLook)[:before+maxLook]
		n, err := t.in.Read(t.buf[before:])
		t.buf = t.buf[:before+n]
		if t.mac {
			for i, c := range t.buf[before:] {
				if c == '\r' {
					t.buf[before+i] = '\n'
				}
			}
		}
		t.ended = err
	}
}

// rowEnd returns how many bytes the first row in data has, with the end of its line; 0 if it is not whole. It ends rows where the
// parser does: a quote opens a cell in quotes only at its beginning, and closes it only before a separator or the end of a line.
func rowEnd(data []byte, comma byte, last bool) int {
	begins := true
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c == '\n':
			return i + 1
		case c == '"' && begins:
			begins = false
			for i++; ; i++ {
				n := bytes.IndexByte(data[i:], '"')
				if n < 0 || !last && i+n+2 >= len(data) {
					if last {
						return len(data)
					}
					return 0
				}
				i += n
				rest := data[i+1:]
				if len(rest) == 0 || rest[0] == comma || rest[0] == '\n' || string(rest[:min(2, len(rest))]) == "\r\n" || string(rest) == "\r" {
					break
				}
				if rest[0] == '"' {
					i++
				}
			}
		default:
			begins = c == comma
		}
	}
	if last {
		return len(data)
	}
	return 0
}

// parse returns the cells of a row, in UTF-8 and without U+0000; nil if the parser finds its end somewhere else.
func (t *table) parse(data []byte) []string {
	t.feed.data = data
	t.fed += int64(len(data))
	cells, err := t.parser.Read()
	if err != nil || t.parser.InputOffset() != t.fed {
		for err != io.EOF {
			_, err = t.parser.Read()
		}
		t.fed = t.parser.InputOffset()
		return nil
	}
	for i, cell := range cells {
		cells[i] = decode(cell)
	}
	return cells
}

// decode returns a cell as UTF-8. A cell that is no valid UTF-8 is read as Windows-1252, even if other cells are UTF-8, since shops merge
// files from several programs.
func decode(cell string) string {
	if !utf8.ValidString(cell) {
		cell, _ = charmap.Windows1252.NewDecoder().String(cell) // every byte is a character
	}
	if strings.IndexByte(cell, 0) >= 0 {
		cell = strings.ReplaceAll(cell, "\x00", "")
	}
	return cell
}
