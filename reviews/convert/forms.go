package convert

import (
	"regexp"
	"strings"
	"unicode"
)

// form is what the cells of a column look like.
type form uint8

const (
	anyForm form = iota
	numberForm
	idForm // an identifier that has digits and perhaps letters
	dateForm
	addressForm // of mail or the Web
)

var (
	numeric = regexp.MustCompile(`^[+-]?\d+([.,]\d+)?$`)
	worded  = regexp.MustCompile(`^[\pL., ]{0,30}\d{1,2}[\pL., -]{3,30}\d\d|^[\pL., ]{3,30}\d{1,2}[, ]+\d{4}`)
	dated   = regexp.MustCompile(`^\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}`)
)

// formOf returns the form of a cell.
func formOf(cell string) form {
	cell = strings.TrimSpace(cell)
	one := strings.IndexFunc(cell, unicode.IsSpace) < 0
	switch {
	case len(cell) > 255 || !strings.ContainsAny(cell, "0123456789@:"):
		return anyForm
	case numeric.MatchString(cell):
		return numberForm
	case dated.MatchString(cell):
		return dateForm
	case one && (strings.Contains(cell, "@") || strings.Contains(cell, "://")):
		return addressForm
	case one && strings.ContainsAny(cell, "0123456789"):
		return idForm
	case worded.MatchString(cell):
		if _, reason := (&dateReader{layouts: wordDates}).read(cell); reason == "" {
			return dateForm
		}
	}
	return anyForm
}

// wordDates are the layouts of dates with the name of a month.
var wordDates = []string{"2 Jan 2006", "Jan 2 2006", "2 Jan 06"}

// formsOf returns the form that more than half of the cells of each column have, or anyForm. Empty cells do not count.
func formsOf(rows [][]string, columns int) []form {
	forms, counts := make([]form, columns), make([][addressForm + 1]int, columns)
	filled := make([]int, columns)
	for _, cells := range rows {
		for i, cell := range cells[:min(len(cells), columns)] {
			if cell != "" {
				filled[i]++
				counts[i][formOf(cell)]++
			}
		}
	}
	for i, n := range counts {
		n[idForm] += n[numberForm] // a number is an identifier, too
		for _, f := range []form{numberForm, dateForm, addressForm, idForm} {
			if forms[i] == anyForm && 2*n[f] > filled[i] {
				forms[i] = f
			}
		}
	}
	return forms
}

// looksLikeRow reports whether the cells of a line have the forms of their columns: more of them than not. It is true
// if no column has a form.
func looksLikeRow(cells []string, forms []form) bool {
	fit, formed := 0, false
	for i, want := range forms {
		if want == anyForm {
			continue
		}
		formed = true
		switch have := formOf(cells[i]); {
		case strings.TrimSpace(cells[i]) == "":
		case have == want, have == numberForm && want == idForm:
			fit++
		case want != idForm: // identifiers are of many forms
			fit--
		}
	}
	return fit > 0 || !formed
}

// shifted returns the number of a cell, from 1, that seems to go on in the next one: with a separator between them, all
// cells have the forms of their columns, and without one they do not. There is an empty cell at the end of such a row,
// which has taken the last cell. It returns 0 for other rows.
func (t *table) shifted(cells []string) int {
	columns := len(t.header) - t.extra
	if t.forms == nil || t.blank == t.usual || len(cells) < columns {
		return 0
	}
	fits := func(cell string, column int) bool {
		want := t.forms[column]
		if want == anyForm || want == idForm || strings.TrimSpace(cell) == "" {
			return true
		}
		return formOf(cell) == want
	}
	last := columns - 1 // the first of the cells at the end that would all fit one column before
	for ; last > 0 && fits(cells[last], last-1); last-- {
	}
	for i, cell := range cells[:columns] {
		if fits(cell, i) {
			continue
		}
		for at := min(i, columns-2); at >= max(last-1, 0); at-- {
			if fits(cells[at]+string(t.scan.comma)+cells[at+1], at) {
				return at + 1
			}
		}
		return 0
	}
	return 0
}
