package convert

import "bytes"

// scanner cuts the lines of a row into cells, as encoding/csv does with LazyQuotes: a cell that begins with a quote
// goes on, over as many lines as it takes, to a quote that a separator or the end of a line follows. Inside, two quotes
// stand for one, and any other quote is text. It also watches for signs that a quote is missing or one too many, since
// then a row has the lines of other rows.
//
// A lost quote swaps inside and outside: from there on, the text between cells is read as a cell, and the text of cells
// as rows, until there is a quote where none can be. The scanner notes the first such fault of a row. It also notes a
// proof that inside is inside: a cell whose first or last character is neither a separator nor a line break, which are
// all that there is between cells. So the lost quote is after the last proof and before the fault, and the rows in
// between are doubtful.
type scanner struct {
	comma byte
	text  bool // quotes are text
	lazy  bool // quotes inside of cells are not doubled in this table, so those in unquoted cells are no faults

	state  scanState
	buf    []byte // the text of the cells, one after another
	ends   []int  // where each cell ends in buf; at most mostCells
	count  int    // all cells
	marked int    // the count at which mark is set
	mark   int    // where the cell of that number ends in the bytes of the row
	at     int    // bytes of the row before those that are scanned; the caller sets it
	lines  int    // of the row before the one that is scanned

	// Of the current quoted cell:
	before int  // the last byte before the current quotes; -1 if the cell begins with them
	opened int  // the line in the row
	real   bool // it begins with a character that shows that its quote opens a cell
	proved bool // something in the row has shown that quotes are read right

	fault   quoteFault // the first one
	faultAt int        // its line in the row
	openAt  int        // the line where the cell with the fault was opened
	back    bool       // nothing in the row before the fault has shown that quotes were read right
	seen    lookout
}

// lookout counts what shows whether quotes are text in a table.
type lookout struct {
	closed int // cells in quotes that end in the line they begin in
	spans  int // cells in quotes that end in a later line
	stray  int // quotes that are neither at the beginning or end of a cell nor doubled
}

type scanState uint8

const (
	atCell   scanState = iota // before the first byte of a cell
	inPlain                   // in a cell without quotes
	inQuotes                  // in a cell with quotes
	atQuote                   // after a quote in such a cell
)

// quoteFault says why a quote may be missing.
type quoteFault uint8

const (
	noFault     quoteFault = iota
	neverClosed            // the file ends inside of quotes
	openedTwice            // a quote begins a cell inside of quotes that were opened in an earlier line
	neverOpened            // a cell ends with a quote, and has not begun with one
	doublyOpen             // a cell begins with a doubled quote
)

// mostCells is how many cells of a row are kept. Further ones are only counted.
const mostCells = maxColumns + 100

// begin prepares the scanner for a row.
func (s *scanner) begin() {
	*s = scanner{
		comma: s.comma, text: s.text, lazy: s.lazy, marked: s.marked, seen: s.seen, buf: s.buf[:0], ends: s.ends[:0],
	}
}

// scan scans a line without its end, or a part of one if eol is false, and reports whether the row has ended.
func (s *scanner) scan(line []byte, eol bool) bool {
	b := line
	for {
		switch s.state {
		case atCell:
			switch {
			case len(b) == 0 && !eol:
				return false
			case len(b) > 0 && b[0] == '"' && !s.text:
				b, s.state = b[1:], inQuotes
				s.before, s.opened, s.real = -1, s.lines, false
			default:
				s.state = inPlain
			}
		case inPlain:
			i := bytes.IndexByte(b, s.comma)
			if i < 0 {
				s.buf = append(s.buf, b...)
				if eol {
					s.endPlain(line, nil)
				}
				return eol
			}
			s.buf = append(s.buf, b[:i]...)
			b = b[i+1:]
			s.endPlain(line, b)
		case inQuotes:
			i := bytes.IndexByte(b, '"')
			if i < 0 {
				s.inside(b)
				if eol {
					s.inside([]byte{'\n'})
					s.lines++
				}
				return false
			}
			s.inside(b[:i])
			b, s.state = b[i+1:], atQuote
		case atQuote:
			switch {
			case len(b) == 0 && !eol:
				return false
			case len(b) == 0:
				s.endQuoted(line, nil)
				return true
			case b[0] == s.comma:
				b = b[1:]
				s.endQuoted(line, b)
			case b[0] == '"':
				s.buf = append(s.buf, '"')
				b, s.state = b[1:], inQuotes
			default:
				s.lone()
			}
		}
	}
}

// end ends a row at the end of the file.
func (s *scanner) end() {
	switch s.state {
	case atQuote:
		s.endQuoted(nil, nil)
	case inQuotes:
		s.found(neverClosed)
		s.endCell(nil, nil)
	default:
		s.endPlain(nil, nil)
	}
}

// inside adds bytes to a quoted cell.
func (s *scanner) inside(b []byte) {
	if len(b) == 0 {
		return
	}
	if s.before < 0 && !s.between(int(b[0])) {
		s.real, s.proved = true, true
	}
	s.before = int(b[len(b)-1])
	s.buf = append(s.buf, b...)
}

// between reports whether a byte may be between a quote that closes a cell and one that opens another.
func (s *scanner) between(c int) bool { return c == int(s.comma) || c == '\n' || c == '\r' }

// lone takes a quote in a quoted cell for text, since it is neither doubled nor at the end.
func (s *scanner) lone() {
	switch {
	case s.before < 0 && !s.lazy:
		s.found(doublyOpen)
	case s.before >= 0 && !s.between(s.before):
		s.seen.stray++
	case s.before >= 0 && (s.lines > s.opened || !s.real):
		s.found(openedTwice)
	}
	s.buf, s.state = append(s.buf, '"'), inQuotes
}

// endQuoted ends a cell with the quote that was read last. rest is what follows in the line after the separator.
func (s *scanner) endQuoted(line, rest []byte) {
	if s.before >= 0 && !s.between(s.before) {
		s.proved = true
	}
	if s.lines == s.opened {
		s.seen.closed++
	} else {
		s.seen.spans++
	}
	s.endCell(line, rest)
}

// endPlain ends a cell without quotes around it.
func (s *scanner) endPlain(line, rest []byte) {
	begin := 0
	if len(s.ends) > 0 {
		begin = s.ends[len(s.ends)-1]
	}
	cell := s.buf[begin:]
	if !s.text && bytes.Count(cell, []byte{'"'})%2 > 0 {
		s.seen.stray++
		if cell[len(cell)-1] == '"' && !s.lazy {
			s.found(neverOpened)
		}
	}
	s.endCell(line, rest)
}

// endCell ends a cell.
func (s *scanner) endCell(line, rest []byte) {
	s.state = atCell
	s.count++
	if s.count == s.marked {
		s.mark = s.at + len(line) - len(rest)
		if rest != nil {
			s.mark-- // the separator
		}
	}
	if len(s.ends) < mostCells {
		s.ends = append(s.ends, len(s.buf))
	} else if n := s.ends[mostCells-1]; len(s.buf) > n {
		s.buf = s.buf[:n]
	}
}

// found notes a fault, if it is the first of the row.
func (s *scanner) found(fault quoteFault) {
	if s.fault == noFault {
		s.fault, s.faultAt, s.openAt, s.back = fault, s.lines, s.opened, !s.proved
	}
}

// cells returns the cells of the row, which share the memory of one string.
func (s *scanner) cells(into []string) []string {
	text, begin := string(s.buf), 0
	for _, end := range s.ends {
		into = append(into, text[begin:end])
		begin = end
	}
	return into
}
