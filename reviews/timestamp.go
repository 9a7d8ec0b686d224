package reviews

import (
	"strconv"
	"time"
)

// maxTimestamp is how many bytes a time may have. Only its fraction can be long. The limit is far above any real time.
const maxTimestamp = 64 << 10

// rightTime ends the messages about the form of a time.
const rightTime = "a time is written 2019-04-03T00:00:00Z, with a fraction of a second, or ±hh:mm for Z, if wanted"

// timestampFault returns what is wrong with a time; "" for nothing. It applies the whole rule timestamp:
//
//	YYYY-MM-DDThh:mm:ss[.fff…][Z|±hh:mm]
//
// This is the form of ISO 8601 that RFC 3339 gives, with these differences: the zone may be absent, which means UTC; T and Z are
// capital letters; the second 60 and the year 0000 do not exist. The date exists in the Gregorian calendar. The fraction may have
// any number of digits, up to maxTimestamp. time.Parse is not used, since it takes other forms too, such as hours of one digit.
//
//	2019-04-03T00:00:00                  accepted; UTC
//	2019-04-03T00:00:00.5+05:45          accepted
//	2019-04-03 00:00:00                  no time: the T is missing
//	2019-02-29T00:00:00Z                 no such day
//	2019-04-03T00:00:00.Z                a dot without digits is no fraction
func timestampFault(text []byte) string {
	// First the form up to the seconds, then the numbers, and then what follows.
	const form = "0000-00-00T00:00:00"
	if len(text) < len(form) || !hasForm(text[:len(form)], form) {
		return "this is no time; " + rightTime
	}
	year, month, day := number(text[0:4]), number(text[5:7]), number(text[8:10])
	switch {
	case year == 0:
		return "the year is from 0001 to 9999"
	case month < 1 || month > 12:
		return "there is no such month; months go from 01 to 12"
	case day < 1 || day > daysIn(year, month):
		return "there is no such day; this month has " + strconv.Itoa(daysIn(year, month)) + " days"
	case number(text[11:13]) > 23:
		return "hours go from 00 to 23"
	case number(text[14:16]) > 59:
		return "minutes go from 00 to 59"
	case number(text[17:19]) > 59:
		return "seconds go from 00 to 59"
	}
	return zoneFault(afterFraction(text[len(form):]))
}

// instant returns a time in microseconds since 1970 UTC, as Review.Time has it. It orders the reviews of a list; the text of the
// time is stored beside it, in the review. What is finer than a microsecond is cut off. A time without a zone is UTC. For
// example, 1970-01-01T01:00:00.5+01:00 is 500,000. text must be a time in which timestampFault has found nothing wrong.
func instant(text []byte) int64 {
	const form = "0000-00-00T00:00:00"
	at := time.Date(number(text[0:4]), time.Month(number(text[5:7])), number(text[8:10]), number(text[11:13]), number(text[14:16]), number(text[17:19]), 0, time.UTC)
	rest := text[len(form):]
	zone := afterFraction(rest)
	// The first six digits of the fraction, which begins with its dot at rest[0].
	micros := int64(0)
	for i, unit := 1, int64(100_000); i < len(rest)-len(zone) && unit > 0; i, unit = i+1, unit/10 {
		micros += int64(rest[i]-'0') * unit
	}
	// The zone says how far the clock is ahead of UTC, so it is subtracted. Z is no offset.
	seconds := at.Unix()
	if len(zone) > 1 {
		offset := int64(number(zone[1:3])*3600 + number(zone[4:6])*60)
		if zone[0] == '+' {
			offset = -offset
		}
		seconds += offset
	}
	return seconds*1_000_000 + micros
}

// afterFraction returns text without the fraction that it begins with. A dot without digits is no fraction, so it is left to
// zoneFault, which refuses it.
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

// zoneFault returns what is wrong with the zone, which follows the fraction; "" for nothing. The zone is Z, ±hh:mm below 24
// hours, or absent for UTC.
func zoneFault(text []byte) string {
	const form = "+00:00"
	switch {
	case len(text) == 0 || string(text) == "Z":
		return ""
	case text[0] != '+' && text[0] != '-' || !hasForm(text[1:], form[1:]):
		return "after the seconds come a fraction, if any, and then Z, ±hh:mm or nothing; " + rightTime
	case number(text[1:3]) > 23 || number(text[4:6]) > 59:
		return "an offset is below 24 hours, and its minutes go to 59: +02:00"
	}
	return ""
}

// hasForm returns whether text is form with any digit for each 0. Digits are those of ASCII.
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

// number returns the value of digits, which hasForm has found to be digits.
func number(digits []byte) (n int) {
	for _, c := range digits {
		n = n*10 + int(c-'0')
	}
	return n
}

// daysIn returns how many days a month has in the Gregorian calendar.
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
