package reviews

// maxTimestamp is the longest time that is looked at, in bytes: a fraction may be long.
const maxTimestamp = 64 << 10

// timestampFault says what is wrong with a time, "" if nothing is. The form is
// YYYY-MM-DDThh:mm:ss[.fff…][Z|±hh:mm] (contract, section 4.3).
func timestampFault(text []byte) string {
	const form = "0000-00-00T00:00:00"
	if len(text) < len(form) || !hasForm(text[:len(form)], form) {
		return "a time is written YYYY-MM-DDThh:mm:ss, with a fraction, Z or ±hh:mm if wanted"
	}
	year, month, day := number(text[0:4]), number(text[5:7]), number(text[8:10])
	switch {
	case year == 0:
		return "the year is from 0001 to 9999"
	case month < 1 || month > 12:
		return "there is no such month"
	case day < 1 || day > daysIn(year, month):
		return "there is no such day in this month"
	case number(text[11:13]) > 23:
		return "hours go from 00 to 23"
	case number(text[14:16]) > 59:
		return "minutes go from 00 to 59"
	case number(text[17:19]) > 59:
		return "seconds go from 00 to 59"
	}
	return zoneFault(afterFraction(text[len(form):]))
}

// afterFraction cuts a dot with digits off; a dot without any stays.
func afterFraction(text []byte) []byte {
	if len(text) < 2 || text[0] != '.' {
		return text
	}
	n := 1
	for n < len(text) && '0' <= text[n] && text[n] <= '9' {
		n++
	}
	if n == 1 {
		return text
	}
	return text[n:]
}

func zoneFault(text []byte) string {
	const form = "+00:00"
	switch {
	case len(text) == 0 || string(text) == "Z":
		return ""
	case text[0] != '+' && text[0] != '-' || !hasForm(text[1:], form[1:]):
		return "after the seconds come a fraction, and then Z, ±hh:mm or nothing"
	case number(text[1:3]) > 23 || number(text[4:6]) > 59:
		return "an offset is below 24 hours, its minutes go to 59"
	}
	return ""
}

// hasForm says whether text has a digit where form has 0, and else the same.
func hasForm(text []byte, form string) bool {
	if len(text) != len(form) {
		return false
	}
	for i, c := range text {
		if form[i] == '0' {
			if c < '0' || c > '9' {
				return false
			}
		} else if c != form[i] {
			return false
		}
	}
	return true
}

func number(digits []byte) (n int) {
	for _, c := range digits {
		n = n*10 + int(c-'0')
	}
	return n
}

func daysIn(year, month int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}
