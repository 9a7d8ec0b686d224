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
