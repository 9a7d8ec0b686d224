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

	"golang.org/x/text/encoding/charmap"
)

// next returns the next row that is not blank, or io.EOF.
func (t *table) next() (row, error) {
	if t.json != nil {
		return t.nextJSON()
	}
	for {
		r := row{line: t.line}
		if t.long > 0 {
			r = row{line: t.first.line, part: t.long + 1}
		} else {
			t.scan.begin()
		}
		whole, err := t.readRow()
		if err != nil {
			return row{}, err
		}
		r.lines = t.line - r.line
		if whole && t.long == 0 {
			r.cells = t.cellsOf(r.line)
		}
		t.judge(&r, whole)
		cells := r.cells
		if t.extra > 0 && len(cells) == len(t.header) { // there may be nothing but the reason of the row before
			cells = cells[:len(cells)-t.extra]
		}
		if r.fault != "" || slices.ContainsFunc(cells, filled) {
			return r, nil
		}
	}
}

// readRow reads a row into raw and scans it. whole is false if it has read maxRow bytes and the row goes on.
func (t *table) readRow() (whole bool, err error) {
	t.raw = t.raw[:0]
	for len(t.raw) <= maxRow {
		b, err := t.in.ReadSlice('\n')
		if err == bufio.ErrBufferFull && b[len(b)-1] == '\r' { // a line break may follow
			_ = t.in.UnreadByte()
			b = b[:len(b)-1]
		}
		if err != nil && err != io.EOF && err != bufio.ErrBufferFull {
			return false, err
		}
		if err == io.EOF && len(b) == 0 && len(t.raw) == 0 && t.long == 0 {
			return false, io.EOF
		}
		t.scan.at = len(t.raw)
		t.raw = append(t.raw, b...)
		line, eol := bytes.CutSuffix(b, []byte{'\n'})
		if eol {
			t.line++
		}
		if eol || err == io.EOF {
			line = bytes.TrimSuffix(line, []byte{'\r'})
		}
		ended := t.scan.scan(line, eol)
		if err == io.EOF && !ended {
			t.scan.end()
			if len(b) > 0 {
				t.line++
			}
			ended = true
		}
		if ended {
			return true, nil
		}
	}
	return false, nil
}

// judge says what is wrong with the row that was read, or with this part of it, and which rows before it are as
// doubtful.
func (t *table) judge(r *row, whole bool) {
	s, back := &t.scan, false
	if !whole || t.long > 0 || len(t.raw) > maxRow {
		t.judgePart(r, whole)
		return
	}
	columns := len(t.header)
	switch inside := t.rowInside(r); {
	case columns == 0:
		r.fault = t.headerFault(r)
	case s.fault != noFault:
		r.piece, back = true, s.back
		if len(t.faults) < maxSample && s.fault >= neverOpened {
			t.faults = append(t.faults, r.line+int64(s.faultAt))
		}
	case inside > 0:
		s.faultAt = inside
		r.fault = t.doubt(r.line, r.lines)
	case (s.count > mostCells || slices.ContainsFunc(r.cells, filled)) && len(r.cells) != columns:
		r.fault = t.wrongCount(r)
	default:
		if at := t.shifted(r.cells); at > 0 {
			r.fault = fmt.Sprintf("the row has more cells than others, and they fit the columns if cell %d, or one "+
				"before it, goes on in the next one: put cells with separators or line breaks into quotes", at)
		}
	}
	raw := t.raw
	if r.piece {
		own := r.line
		if back {
			r.line = t.recent.begin
			r.lines = t.line - r.line
			raw = slices.Concat(t.recent.older, t.recent.newer, raw)
		}
		r.fault = t.doubt(own, r.lines)
		t.recent.reset(t.line)
	} else {
		if s.proved {
			t.recent.reset(r.line)
		}
		t.recent.add(t.raw, r.line)
	}
	if r.fault != "" {
		r.text = t.verbatim(raw)
	}
	r.last = s.fault == neverClosed
	r.sure = min(r.line, t.recent.begin) // recent begins behind a piece
}

// filled reports whether a cell is not blank.
func filled(cell string) bool { return strings.TrimSpace(cell) != "" }

// judgePart does so for a part of a row that is longer than maxRow.
func (t *table) judgePart(r *row, whole bool) {
	s := &t.scan
	if t.long == 0 {
		t.first = row{line: r.line}
		r.piece = true
		if s.state >= inQuotes && !s.proved {
			t.first.line = t.recent.begin
			r.text = t.decodeLines(slices.Concat(t.recent.older, t.recent.newer))
		}
	}
	t.long++
	s.buf, s.ends = s.buf[:0], s.ends[:0]
	r.last = true
	r.line, r.part, r.more, r.sure = t.first.line, t.long, !whole, t.first.line
	r.lines, r.cells = t.line-r.line, nil
	r.fault = fmt.Sprintf("the row has more than %d KiB: a quote may be opened and not closed", maxRow>>10)
	if r.lines > 1 {
		r.fault += fmt.Sprintf("; it ends in line %d, so these %d lines are not converted", t.line-1, r.lines)
	}
	if !whole {
		r.text += t.decodeLines(t.raw)
		return
	}
	r.text += t.verbatim(t.raw)
	t.long = 0
	t.recent.reset(t.line)
}

// headerFault says why the row with the names of the columns cannot be read, or returns "".
func (t *table) headerFault(r *row) string {
	s := &t.scan
	switch {
	case s.fault == neverClosed, s.fault == openedTwice:
		return t.doubt(r.line, r.lines)
	case slices.ContainsFunc(r.cells, t.lineInside):
		return "a quote is opened in it and closed in a later line, with separators or nothing else in between: " +
			"close it before"
	case slices.ContainsFunc(r.cells, t.cellInside):
		return "a quote is opened in it and not closed before another is opened: close the quote, or double quotes " +
			"inside of quotes"
	}
	return ""
}

// lineInside reports whether the name of a column goes on in a line that is none of a name.
func (t *table) lineInside(name string) bool {
	return strings.HasSuffix(name, "\n") || strings.Contains(name, "\n") && strings.IndexByte(name, t.scan.comma) >= 0
}

// cellInside reports whether the name of a column has another cell in it: a separator, and then a quote. All later
// columns would have the names of those before them.
func (t *table) cellInside(name string) bool {
	for _, cell := range strings.Split(name, string(t.scan.comma))[1:] {
		if strings.HasPrefix(strings.TrimLeft(cell, " "), `"`) {
			return true
		}
	}
	return false
}

// wrongCount says that a row has not as many cells as there are columns.
func (t *table) wrongCount(r *row) string {
	columns, quoted := len(t.header), bytes.IndexByte(t.raw, '"') >= 0
	n, cells := max(len(r.cells), t.scan.count-t.blank), "cells"
	if n == 1 {
		cells = "cell"
	}
	reason := fmt.Sprintf("the row has %d %s, and there are %d columns: ", n, cells, columns)
	switch {
	case r.lines > 1:
		return reason + fmt.Sprintf("a quote is opened in line %d and closed in line %d; "+
			"close it before, or double quotes inside of quotes", r.line, t.line-1)
	case quoted && t.scan.text:
		return reason + "a quote is opened in this line, and quotes are text in this table"
	}
	return reason + "put cells with separators or line breaks into quotes"
}

// doubt says why a row that begins in this line, and so a piece of this many lines, is doubtful.
func (t *table) doubt(line, lines int64) string {
	s := &t.scan
	open, at := line+int64(s.openAt), line+int64(s.faultAt)
	so := "so this line is not converted"
	if lines > 1 {
		so = fmt.Sprintf("so these %d lines are not converted", lines)
	}
	const mend = "; close the quote, or double quotes inside of quotes"
	switch s.fault {
	case neverClosed:
		return fmt.Sprintf("a quote is opened in line %d and not closed up to the end of the file in line %d, %s%s",
			open, t.line-1, so, mend)
	case openedTwice:
		return fmt.Sprintf("a quote is opened in line %d and not closed before another is opened in line %d, %s%s",
			open, at, so, mend)
	case neverOpened:
		return fmt.Sprintf("a cell in line %d ends with a quote that was not opened, and quotes were last right in "+
			"line %d, %s; open it, or double quotes inside of quotes", at, t.line-lines, so)
	case doublyOpen:
		return fmt.Sprintf("a cell in line %d begins with two quotes, and quotes were last right in line %d, %s%s",
			at, t.line-lines, so, mend)
	}
	return fmt.Sprintf("line %d looks like a row of its own, and is inside of a quote that is opened in line %d, %s"+
		"; close the quote, or take that line out", at, open, so)
}

// rowInside looks for a line inside of a quoted cell that looks like a row of the table. It returns how many lines
// after the beginning of the row that line is, or 0, and sets openAt of the scanner to where the cell begins.
func (t *table) rowInside(r *row) int {
	columns := len(t.header) - t.extra
	if r.lines < 2 || t.forms == nil || t.scan.fault != noFault {
		return 0
	}
	at, separator := 0, string(t.scan.comma)
	for _, cell := range r.cells {
		open := at
		for rest, more := cell, true; more; {
			var line string
			if line, rest, more = strings.Cut(rest, "\n"); at > open && strings.Count(line, separator) >= columns-1 {
				cells := t.split(line)
				for len(cells) > columns && cells[len(cells)-1] == "" {
					cells = cells[:len(cells)-1]
				}
				if (len(cells) == columns || len(cells) == len(t.header)) && looksLikeRow(cells, t.forms) {
					t.scan.openAt = open
					return at
				}
			}
			if more {
				at++
			}
		}
	}
	return 0
}

// split cuts one line into cells.
func (t *table) split(line string) []string {
	t.single.comma = t.scan.comma
	t.single.begin()
	if !t.single.scan([]byte(line), true) {
		t.single.end()
	}
	return t.single.cells(nil)
}

// cellsOf returns the cells of the row that was scanned, without empty ones behind the last column.
func (t *table) cellsOf(line int64) []string {
	t.cells = t.scan.cells(t.cells[:0])
	if buf := t.scan.buf; !utf8.Valid(buf) || bytes.IndexByte(buf, 0) >= 0 {
		for i, cell := range t.cells {
			t.cells[i] = t.decode(cell, line)
		}
	}
	columns, cells := len(t.header), t.cells
	t.blank = 0
	kept := t.scan.count <= mostCells // otherwise there may be more behind them
	for kept && columns > 0 && len(cells) > columns && cells[len(cells)-1] == "" {
		cells = cells[:len(cells)-1]
		t.blank++
	}
	if t.extra > 0 && len(cells) == columns-t.extra { // a row that was mended has lost its line and reason
		cells = append(cells, "", "")
	}
	return cells
}

// verbatim returns the text of a row or a piece, of which the row that was scanned is the last, so that the cells for
// its line and its reason can follow. They follow in a row of their own, in their columns, if a quote may be open or
// cells are missing: otherwise they would be taken for what is missing when the text is converted again.
func (t *table) verbatim(raw []byte) string {
	s, columns, count := &t.scan, len(t.header)-t.extra, t.scan.count
	certain := s.fault == noFault && t.long == 0
	if t.extra > 0 && count == columns+t.extra && certain {
		raw, count = raw[:len(raw)-len(t.raw)+s.mark], columns
	}
	text, comma := strings.TrimSuffix(strings.TrimSuffix(t.decodeLines(raw), "\n"), "\r"), string(s.comma)
	if s.text { // quotes are none for whoever reads this text again
		var out strings.Builder
		w := csv.NewWriter(&out)
		w.Comma = rune(s.comma)
		_ = w.Write(strings.Split(text, comma))
		w.Flush()
		text = strings.TrimSuffix(out.String(), "\n")
	}
	if certain && count >= columns {
		return text + comma
	}
	return text + "\n" + strings.Repeat(comma, columns)
}

// decodeLines returns lines as UTF-8.
func (t *table) decodeLines(raw []byte) string {
	var out strings.Builder
	n := t.line - int64(bytes.Count(raw, []byte{'\n'}))
	for line := range bytes.Lines(raw) {
		out.WriteString(t.decode(string(line), n))
		n++
	}
	return out.String()
}

// decode returns a text of a row as UTF-8. If it is not valid UTF-8, it is decoded as Windows-1252, even if others are
// UTF-8, since shops merge files from several programs.
func (t *table) decode(text string, line int64) string {
	if !utf8.ValidString(text) {
		t.foreign = cmp.Or(t.foreign, line)
		text, _ = charmap.Windows1252.NewDecoder().String(text) // every byte is a character
	}
	if strings.IndexByte(text, 0) >= 0 {
		text = strings.ReplaceAll(text, "\x00", "")
	}
	return text
}
