package convert

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// dateReader reads dates. It first tries the layout of the previous date, which most dates of a file share.
type dateReader struct {
	layouts []string // of days, for time.Parse
	// "dmy" or "mdy" if the dates in the column have shown it, for all separators alike; otherwise ""
	order     string
	proof     string // a date that has shown this order
	ambiguous string // a date that may have the day or the month first; "" if the order is known
	// the separators of dates whose order is supposed, since neither the request nor a date in the column has shown it
	undecided string
	refuted   string // a note about a date that has shown later that this was wrong
	last      string // the layout of the previous date

	zone     *time.Location // of times that name none; nil = UTC, which nobody has said
	zoneless string         // the first of them, without zone
}

// numbers matches the first two numbers of a date that does not begin with the year, and the separator.
var numbers = regexp.MustCompile(`^\s*(\d{1,2})([-/.])(\d{1,2})[-/.]\d`)

// newDateReader returns a reader of the dates in a column. For each separator, it decides whether the day or the month
// comes first: as order says, "dmy" or "mdy"; or, if order is "", by the dates in the column, in which a number above
// 12 must be a day.
func newDateReader(column []string, order string) *dateReader {
	// by separator: the number of dates with the day first, minus those with the month first
	balance, examples := map[string]int{}, map[string]string{}
	proofs := map[string]string{} // by order and separator
	for _, text := range column {
		found := numbers.FindStringSubmatch(text)
		if found == nil {
			continue
		}
		switch left, right := above12(found[1]), above12(found[3]); {
		case left && !right:
			balance[found[2]]++
			proofs["dmy"+found[2]] = text
		case right && !left:
			balance[found[2]]--
			proofs["mdy"+found[2]] = text
		case found[1] != found[3]:
			examples[found[2]] = cmp.Or(examples[found[2]], text)
		}
	}
	d := &dateReader{layouts: append([]string{"2006-1-2", "2006/1/2", "2006.1.2", "20060102"}, wordDates...)}
	several := false
	for _, s := range []string{"/", ".", "-"} {
		named, layout := cmp.Or(order, "mdy"), "1/2/"
		if order == "" && (balance[s] > 0 || balance[s] == 0 && s != "/") {
			named = "dmy"
		}
		if named == "dmy" {
			layout = "2/1/"
		}
		switch {
		case order != "":
		case balance[s] == 0:
			d.ambiguous = cmp.Or(d.ambiguous, examples[s])
			d.undecided += s
		default:
			several = several || d.order != "" && d.order != named
			d.order, d.proof = named, proofs[named+s]
		}
		layout = strings.ReplaceAll(layout, "/", s)
		d.layouts = append(d.layouts, layout+"2006", layout+"06")
	}
	if several || d.ambiguous != "" {
		d.order = ""
	}
	return d
}

// example returns the ambiguous date, and the day and month that it is taken for.
func (d *dateReader) example() (text, as string) {
	created, _ := d.read(d.ambiguous)
	at, _ := time.Parse(time.RFC3339, created)
	return d.ambiguous, at.Format("2 January")
}

// refute looks whether a date that could not be read shows that the order of the others was supposed wrongly.
func (d *dateReader) refute(text string, line int64) {
	found := numbers.FindStringSubmatch(text)
	if found == nil || d.refuted != "" || !strings.Contains(d.undecided, found[2]) ||
		above12(found[1]) == above12(found[3]) {
		return
	}
	first, supposed, order := "month", "day", "mdy"
	if above12(found[1]) {
		first, supposed, order = "day", "month", "dmy"
	}
	if (supposed == "month") == (found[2] == "/") {
		d.refuted = fmt.Sprintf("dates: %s in line %d shows that the %s is first, and other dates were read with "+
			"the %s first: convert the whole table again with dates=%s", text, line, first, supposed, order)
	}
}

// above12 returns whether a number cannot be a month.
func above12(number string) bool {
	n, _ := strconv.Atoi(number)
	return n > 12
}

// isoLayouts are the layouts of whole dates in ISO 8601, clocks are the layouts of times in other dates, and
// offsets those of time zones after them.
var (
	isoLayouts = []string{time.RFC3339, "2006-01-02T15:04:05"}
	clocks     = []string{" 15:4:5", " 15:4", " 3:4:5PM", " 3:4PM", " 3:4:5 PM", " 3:4 PM", " 3PM"}
	offsets    = []string{"", "Z07:00", "-0700", "-07", " Z07:00", " -0700", " -07"}
)

// dateReason is the reason for rejecting a row whose date cannot be read.
const dateReason = "the date is not readable: want one such as 2019-04-03 or 2019-04-03T14:05:00Z"

// read returns a date in the import format, in UTC, or why it cannot be read. A date without a time means midnight.
func (d *dateReader) read(text string) (created, reason string) {
	if text == "" {
		return "", "the date is empty"
	}
	if on := strings.LastIndex(text, " on "); on >= 0 { // Reviewed in Italy on 3 June 2023
		text = text[on+len(" on "):]
	}
	whole := text
	if d.zone == nil {
		text = strings.TrimSuffix(text, " UTC")
	}
	parse := func(layout, text string) (time.Time, error) {
		if d.zone == nil || strings.IndexByte(layout, ':') < 0 {
			return time.Parse(layout, text)
		}
		return time.ParseInLocation(layout, text, d.zone)
	}
	found := func(at time.Time) (string, string) {
		if d.zone == nil && d.zoneless == "" && len(text) == len(whole) && strings.Contains(d.last, ":") &&
			!strings.Contains(d.last, "07") {
			d.zoneless = text
		}
		return formatted(at)
	}
	if at, err := parse(d.last, text); err == nil && d.last != "" {
		return found(at)
	}
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case serial.MatchString(text):
		return "", "this is a number and no date: in a spreadsheet, format the column as a date and save it again"
	case err != nil || len(text) == len("20190403"):
	case len(text) == len("1554300300"):
		return formatted(time.Unix(n, 0))
	case len(text) == len("1554300300000"):
		return formatted(time.UnixMilli(n))
	}
	reason = dateReason
	var at time.Time
	fits := func(layout, text string) bool {
		at, err = parse(layout, text)
		if err != nil && strings.HasSuffix(err.Error(), "out of range") && separators(layout) == separators(text) {
			reason = "there is no such date or time: the month, the day or the hour is 0 or too high; if days and " +
				"months are confused, say which is first"
		}
		if err == nil {
			d.last = layout
		}
		return err == nil
	}
	for _, layout := range isoLayouts {
		if fits(layout, text) {
			return found(at)
		}
	}
	day, clock, strange := simplified(text)
	if strange != "" {
		return "", fmt.Sprintf("what %q says is not known: if it is a time zone, write its offset, as in "+
			"2019-04-03T14:05:00+02:00", strange)
	}
	for _, layout := range d.layouts {
		if !fits(layout, day) {
			continue
		}
		if clock == "" {
			return found(at)
		}
		for _, c := range clocks {
			for _, offset := range offsets {
				if fits(layout+c+offset, day+clock) {
					return found(at)
				}
			}
		}
	}
	return "", reason
}

// serial matches what spreadsheets keep in place of a date: days, and the time as their fraction.
var serial = regexp.MustCompile(`^\d{5}([.,]\d+)?$`)

// readable returns a date in the import format, or the text as it is.
func (d *dateReader) readable(text string) string {
	if created, reason := d.read(text); reason == "" {
		return created
	}
	return text
}

// formatted returns a time in the import format.
func formatted(at time.Time) (created, reason string) {
	at = at.UTC()
	if at.Year() < 1 || at.Year() > 9999 {
		return "", "the year is from 1 to 9999"
	}
	return at.Truncate(time.Millisecond).Format(time.RFC3339Nano), ""
}

var (
	joined  = regexp.MustCompile(`(\d)T(\d)`)                   // 2019-04-03T14:05
	named   = regexp.MustCompile(`(\d)[-/.](\pL+)\.?[-/.](\d)`) // 03-Apr-2019
	ordinal = regexp.MustCompile(`^(\d+)(ST|ND|RD|TH|ER|º)$`)   // 3rd
	plain   = strings.NewReplacer(",", " ", "\u00a0", " ", "\u202f", " ", "A.M", "AM", "P.M", "PM")
	offset  = regexp.MustCompile(`[+-]\d\d:?\d\d\s*$`)
	silent  = setOf("AT UM À DE UHR MON MONDAY TUE TUES TUESDAY WED WEDNESDAY THU THURS THURSDAY FRI FRIDAY SAT " +
		"SATURDAY SUN SUNDAY MO DI MI DO FR SA SO MONTAG DIENSTAG MITTWOCH DONNERSTAG FREITAG SAMSTAG SONNTAG")
	zones = map[string]string{"Z": "+0000", "UTC": "+0000", "GMT": "+0000", "CET": "+0100", "MEZ": "+0100",
		"CEST": "+0200", "MESZ": "+0200"}
)

// separators returns what stands between the numbers and words of a date.
func separators(text string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("-/.: ", r) {
			return r
		}
		return -1
	}, text)
}

// simplified returns the day and the time of a date in the form of the layouts: in capitals, with names of months in
// English, and without filler words. A time begins with a space. strange is a word behind a time that is not known.
func simplified(text string) (day, clock, strange string) {
	text, name, _ := strings.Cut(text, "(")
	if strings.Contains(text, ":") && !offset.MatchString(text) { // JavaScript repeats the zone there
		text += " " + strings.TrimSuffix(name, ")")
	}
	text = joined.ReplaceAllString(text, "$1 $2")
	text = named.ReplaceAllString(text, "$1 $2 $3")
	zone := ""
	for word := range strings.FieldsSeq(plain.Replace(strings.ToUpper(text))) {
		word = strings.TrimSuffix(word, ".")
		sign := strings.TrimPrefix(strings.TrimPrefix(word, "GMT"), "UTC") // JavaScript writes GMT+0200
		half := strings.HasSuffix(word, "AM") || strings.HasSuffix(word, "PM")
		month := monthOf(word)
		switch {
		case silent[word]:
		case zones[word] != "":
			zone = cmp.Or(zone, " "+zones[word])
		case month != "":
			day += " " + month
		case digit(word[0]) && (strings.Contains(word, ":") || half):
			bare, utc := strings.CutSuffix(word, "Z")
			if clock += " " + bare; utc {
				zone = " +0000"
			}
		case clock != "" && half:
			clock += " " + word
		case clock != "" && sign != "" && strings.Contains("+-", sign[:1]):
			if zone = " " + sign; len(sign) == len("+2") {
				zone = " " + sign[:1] + "0" + sign[1:]
			}
		case clock != "" && !digit(word[0]) && word != "-":
			strange = cmp.Or(strange, word)
		default:
			day += " " + ordinal.ReplaceAllString(word, "$1")
		}
	}
	if clock == "" { // a day has none
		zone = ""
	}
	return strings.TrimPrefix(day, " "), clock + zone, strange
}

// digit returns whether c is a digit.
func digit(c byte) bool { return '0' <= c && c <= '9' }

// months are the first letters of names of months in English, German, French, Spanish, Italian and Dutch, where they
// differ from English.
var months = [12]string{"JAN ENE GEN", "FEB FÉV FEV", "MAR MÄR MAA MRZ", "APR AVR ABR", "MAY MAI MEI MAG",
	"JUN JUIN GIU",
	"JUL JUIL LUG", "AUG AOÛ AOU AGO", "SEP SET", "OCT OKT OTT", "NOV", "DEC DEZ DÉC DIC"}

// monthOf returns the name of a month as layouts have it, or "" if the word is not a month.
func monthOf(word string) string {
	for i, names := range months {
		for name := range strings.FieldsSeq(names) {
			if strings.HasPrefix(word, name) && len(word) <= len("septiembre") {
				return time.Month(i + 1).String()[:3]
			}
		}
	}
	return ""
}
