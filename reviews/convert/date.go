package convert

import (
	"strconv"
	"strings"
	"time"
)

// order says what the numbers of a date are if the year is not the first one.
type order uint8

const (
	dayFirst order = iota
	monthFirst
)

// separators are what stands between the numbers of a date. Each has an order of its own.
const separators = "/.-"

// decideDates sets the order of each separator: as named says, or by the dates in the sample, in which a number above 12 is a day.
func (t *table) decideDates(p *plan, named string) {
	t.orders = [len(separators)]order{monthFirst, dayFirst, dayFirst}
	var days, months [len(separators)]int // dates in which the first number is a day, and those in which it is a month
	for _, cells := range t.sample {
		if p.created < 0 || p.created >= len(cells) {
			continue
		}
		word, _, _ := strings.Cut(strings.TrimSpace(cells[p.created]), " ")
		s := strings.IndexAny(word, separators)
		if s < 0 {
			continue
		}
		parts := strings.Split(word, word[s:s+1])
		if len(parts) != 3 || len(parts[0]) > 2 {
			continue
		}
		i := strings.IndexByte(separators, word[s])
		first, _ := strconv.Atoi(parts[0])
		second, _ := strconv.Atoi(parts[1])
		switch {
		case first > 12 && second <= 12:
			days[i]++
		case second > 12 && first <= 12:
			months[i]++
		}
	}
	for i := range t.orders {
		switch {
		case named == "dmy", named == "" && days[i] > months[i]:
			t.orders[i] = dayFirst
		case named == "mdy", named == "" && months[i] > days[i]:
			t.orders[i] = monthFirst
		}
	}
}

// dates says what order the dates of the sample have, as Request.Dates does; "" if they have no such numbers.
func (t *table) dates(p *plan) string {
	for _, cells := range t.sample {
		if p.created < 0 || p.created >= len(cells) {
			continue
		}
		word, _, _ := strings.Cut(strings.TrimSpace(cells[p.created]), " ")
		if i := strings.IndexAny(word, separators); i > 0 && i < 3 && word[0] <= '9' {
			if t.orders[strings.IndexByte(separators, word[i])] == monthFirst {
				return "mdy"
			}
			return "dmy"
		}
	}
	return ""
}

// dateReason is why a row is rejected whose date cannot be read.
const dateReason = "the date is not readable: want one such as 2019-04-03 or 2019-04-03T14:05:00Z"

// date returns a date as the import format has it, in UTC, or why it cannot be read. A date without a time is its midnight.
func date(text string, orders [len(separators)]order) (created, reason string) {
	var d dateParts
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		switch {
		case len(text) == len("1554300300"):
			return formatted(time.Unix(n, 0))
		case len(text) == len("1554300300000"):
			return formatted(time.UnixMilli(n))
		case len(text) == len("20190403"):
			d = dateParts{year: int(n / 10000), month: int(n / 100 % 100), day: int(n % 100), numbers: true}
			return d.date()
		}
		return "", dateReason
	}
	// 2019-04-03T14:05:00 has a T between digits, and a comma and a bracket only separate words.
	if i := strings.IndexByte(text, 'T'); i > 0 && i+1 < len(text) && digit(text[i-1]) && digit(text[i+1]) {
		text = text[:i] + " " + text[i+1:]
	}
	text, _, _ = strings.Cut(text, "(")
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ' ' || r == ',' || r == '\u00a0' || r == '\u202f' }) {
		if !d.read(word, orders) {
			return "", dateReason
		}
	}
	return d.date()
}

// digit returns whether c is a digit.
func digit(c byte) bool { return '0' <= c && c <= '9' }

// dateParts are what was read of a date.
type dateParts struct {
	year, month, day, hour, minute, second, nano int
	zone                                         int // seconds ahead of UTC
	numbers, timed, zoned, afternoon, forenoon   bool
}

// date returns the date, if it is whole and real.
func (d *dateParts) date() (created, reason string) {
	if d.afternoon || d.forenoon {
		if d.hour < 1 || d.hour > 12 {
			return "", dateReason
		}
		d.hour %= 12
		if d.afternoon {
			d.hour += 12
		}
	}
	at := time.Date(d.year, time.Month(d.month), d.day, d.hour, d.minute, d.second, d.nano, time.UTC)
	switch {
	case d.year < 1 || d.month < 1 || d.day < 1:
		return "", dateReason
	case d.month > 12 || at.Day() != d.day || at.Month() != time.Month(d.month) || d.hour > 23 || d.minute > 59 || d.second > 59:
		return "", "there is no such date or time: the month, the day or the hour is too high; if days and months are confused, say which is first"
	}
	return formatted(at.Add(-time.Duration(d.zone) * time.Second))
}

// formatted returns a time as the import format has it.
func formatted(at time.Time) (created, reason string) {
	at = at.UTC()
	if at.Year() < 1 || at.Year() > 9999 {
		return "", "the year is from 1 to 9999"
	}
	if at.Nanosecond() == 0 { // the only case that files have many of
		year, month, day := at.Date()
		hour, minute, second := at.Clock()
		out := []byte("0000-00-00T00:00:00Z")
		for _, n := range [...]struct{ end, value int }{{4, year}, {7, int(month)}, {10, day}, {13, hour}, {16, minute}, {19, second}} {
			for i := n.end - 1; n.value > 0; i-- {
				out[i] += byte(n.value % 10)
				n.value /= 10
			}
		}
		return string(out), ""
	}
	return at.Format("2006-01-02T15:04:05.999Z"), ""
}

// read reads one word of a date, and returns whether it can be part of one.
func (d *dateParts) read(word string, orders [len(separators)]order) bool {
	switch {
	case strings.IndexByte(word, ':') > 0:
		return d.readTime(word)
	case d.timed && (word[0] == '+' || word[0] == '-'):
		return d.readZone(word)
	case digit(word[0]):
		end := 0
		for end < len(word) && digit(word[end]) {
			end++
		}
		if end == len(word) {
			return d.readNumber(word)
		}
		if i := strings.IndexByte(separators, word[end]); i >= 0 && end+1 < len(word) {
			return d.readNumbers(strings.FieldsFunc(word, func(r rune) bool { return r == rune(word[end]) }), orders[i])
		}
		switch strings.ToLower(word[end:]) { // of a day; "4pm" is a time
		case "st", "nd", "rd", "th", ".", "º", "er":
			return d.readNumber(word[:end])
		case "am", "pm":
			d.hour, _ = strconv.Atoi(word[:end])
			d.timed = true
			return d.read(word[end:], orders)
		}
		return false
	}
	return d.readWord(strings.ToLower(strings.Trim(word, ".")))
}

// readNumber reads a day or a year that stands alone.
func (d *dateParts) readNumber(word string) bool {
	n, _ := strconv.Atoi(word)
	switch {
	case len(word) == 4 && d.year == 0:
		d.year = n
	case len(word) <= 2 && d.day == 0:
		d.day = n
	default:
		return false
	}
	return true
}

// readNumbers reads a date of three numbers, or of a day, the name of a month and a year.
func (d *dateParts) readNumbers(parts []string, o order) bool {
	if len(parts) != 3 || d.year != 0 || d.day != 0 {
		return false
	}
	if month := monthOf(strings.ToLower(parts[1])); month > 0 { // 03-Apr-2019
		d.month, parts[1] = month, strconv.Itoa(month)
		o = dayFirst
	}
	var n [3]int
	for i, p := range parts {
		var err error
		if n[i], err = strconv.Atoi(p); err != nil || len(p) > 4 || n[i] < 0 {
			return false
		}
	}
	if len(parts[0]) == 4 {
		d.year, d.month, d.day = n[0], n[1], n[2]
		return true
	}
	d.day, d.month, d.year = n[0], n[1], n[2]
	if o == monthFirst {
		d.day, d.month = n[1], n[0]
	}
	switch {
	case len(parts[2]) == 2 && d.year < 70:
		d.year += 2000
	case len(parts[2]) == 2:
		d.year += 1900
	}
	return len(parts[2]) == 2 || len(parts[2]) == 4
}

// readTime reads hours, minutes and perhaps seconds, with a zone or a word for the half of the day behind them.
func (d *dateParts) readTime(word string) bool {
	end := 0
	for end < len(word) && (digit(word[end]) || word[end] == ':' || word[end] == '.') {
		end++
	}
	clock, rest := word[:end], word[end:]
	parts := strings.Split(clock, ":")
	if d.timed || len(parts) < 2 || len(parts) > 3 {
		return false
	}
	d.timed = true
	if len(parts) == 3 {
		var fraction string
		parts[2], fraction, _ = strings.Cut(parts[2], ".")
		d.nano, _ = strconv.Atoi((fraction + "000000000")[:9])
		d.second, _ = strconv.Atoi(parts[2])
	}
	var wrong, bad error
	d.hour, wrong = strconv.Atoi(parts[0])
	d.minute, bad = strconv.Atoi(parts[1])
	switch {
	case wrong != nil || bad != nil:
		return false
	case rest == "":
		return true
	case rest[0] == '+' || rest[0] == '-':
		return d.readZone(rest)
	}
	return d.readWord(strings.ToLower(rest))
}

// readZone reads a zone such as +0200 or +02:00.
func (d *dateParts) readZone(word string) bool {
	digits := strings.ReplaceAll(word[1:], ":", "")
	n, err := strconv.Atoi(digits)
	if err != nil || d.zoned || len(digits) != 4 && len(digits) != 2 || !digit(digits[0]) {
		return false
	}
	if len(digits) == 2 {
		n *= 100
	}
	d.zone, d.zoned = (n/100*60+n%100)*60, true
	if word[0] == '-' {
		d.zone = -d.zone
	}
	return true
}

// readWord reads the name of a month, a half of the day, a zone, or a word that says nothing.
func (d *dateParts) readWord(word string) bool {
	if month := monthOf(word); month > 0 && d.month == 0 {
		d.month = month
		return true
	}
	switch word {
	case "am", "a.m", "pm", "p.m":
		d.forenoon, d.afternoon = word[0] == 'a', word[0] == 'p'
		return d.timed
	case "z", "utc", "gmt", "at", "um", "à", "de", "uhr", "mon", "monday", "tue", "tues", "tuesday", "wed", "wednesday", "thu", "thurs", "thursday",
		"fri", "friday", "sat", "saturday", "sun", "sunday":
		return true
	}
	if zone, ok := strings.CutPrefix(word, "gmt"); ok && (zone[0] == '+' || zone[0] == '-') { // JavaScript writes GMT+0200
		return d.readZone(zone)
	}
	return false
}

// months are the beginnings of names of months in English, German, French, Spanish, Italian and Dutch, as far as they differ.
var months = [12][]string{{"jan", "ene", "gen"}, {"feb", "fév", "fev"}, {"mar", "mär", "maa", "mrz"}, {"apr", "avr", "abr"}, {"may", "mai", "mei", "mag"}, {"jun", "juin", "giu"},
	{"jul", "juil", "lug"}, {"aug", "aoû", "aou", "ago"}, {"sep", "set"}, {"oct", "okt", "ott"}, {"nov"}, {"dec", "dez", "déc", "dic"}}

// monthOf returns the number of a month by its name, 0 for any other word.
func monthOf(word string) int {
	for i, names := range months {
		for _, name := range names {
			if strings.HasPrefix(word, name) && len(word) <= len("septiembre") {
				return i + 1
			}
		}
	}
	return 0
}
