package format

import (
	"strconv"
	"time"
)

// maxTimestamp is the maximum length of a time in bytes. Only its fraction can be long. The limit is far above any real
// time.
const maxTimestamp = 64 << 10

// rightTime ends the messages about the form of a time.
const rightTime = "a time is written 2019-04-03T00:00:00Z, with a fraction of a second, or ±hh:mm for Z, if wanted"

// ParseTime returns a time in microseconds since 1970 UTC, as Review.Time has it, or what is wrong with it. Finer
// fractions are truncated. For example, 1970-01-01T01:00:00.5+01:00 is 500,000. It applies the whole rule timestamp:
//
//	YYYY-MM-DDThh:mm:ss[.fff…][Z|±hh:mm]
//
// This is the format of RFC 3339, with these differences: the zone may be absent, which means UTC; T and Z are capital
// letters; the second 60 and the year 0000 are invalid. The date must exist in the Gregorian calendar. The fraction may
// have any number of digits, up to maxTimestamp. time.Parse is not used, since it accepts other forms too, such as
// hours of one digit.
//
//	2019-04-03T00:00:00                  accepted; UTC
//	2019-04-03T00:00:00.5+05:45          accepted
//	2019-04-03 00:00:00                  no time: the T is missing
//	2019-02-29T00:00:00Z                 no such day
//	2019-04-03T00:00:00.Z                a dot without digits is no fraction
func ParseTime(text []byte) (micros int64, fault string) {
	const form = "0000-00-00T00:00:00"
	switch {
	case len(text) > maxTimestamp:
		return 0, "the fraction of this time is longer than 65536 bytes; " + rightTime
	case len(text) < len(form) || !hasForm(text[:len(form)], form):
		return 0, "this is no time; " + rightTime
	}
	year, month, day, hour, minute, second := number(text[0:4]), number(text[5:7]), number(text[8:10]),
		number(text[11:13]), number(text[14:16]), number(text[17:19])
	at := time.Date(year, time.Month(month), day, hour, minute, second, 0, time.UTC)
	switch {
	case year == 0:
		return 0, "the year is from 0001 to 9999"
	case month < 1 || month > 12:
		return 0, "there is no such month; months go from 01 to 12"
	case hour > 23:
		return 0, "hours go from 00 to 23"
	case minute > 59:
		return 0, "minutes go from 00 to 59"
	case second > 59:
		return 0, "seconds go from 00 to 59"
	case at.Day() != day:
		return 0, "there is no such day; this month has " +
			strconv.Itoa(time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()) + " days"
	}
	// A dot without digits is left to the zone, and is invalid there.
	zone := text[len(form):]
	if len(zone) > 1 && zone[0] == '.' && '0' <= zone[1] && zone[1] <= '9' {
		unit := int64(100_000) // of the next digit, in microseconds
		for zone = zone[1:]; len(zone) > 0 && '0' <= zone[0] && zone[0] <= '9'; zone = zone[1:] {
			micros += int64(zone[0]-'0') * unit
			unit /= 10
		}
	}
	// The zone is the offset of the clock from UTC, so it is subtracted.
	switch {
	case len(zone) == 0 || string(zone) == "Z":
	case len(zone) != len("+00:00") || zone[0] != '+' && zone[0] != '-' || !hasForm(zone[1:], "00:00"):
		return 0, "after the seconds come a fraction, if any, and then Z, ±hh:mm or nothing; " + rightTime
	case number(zone[1:3]) > 23 || number(zone[4:6]) > 59:
		return 0, "an offset is below 24 hours, and its minutes go to 59: +02:00"
	default:
		offset := time.Duration(number(zone[1:3]))*time.Hour + time.Duration(number(zone[4:6]))*time.Minute
		if zone[0] == '+' {
			offset = -offset
		}
		at = at.Add(offset)
	}
	return at.UnixMicro() + micros, ""
}

// hasForm returns whether text matches form, where each 0 matches any digit. Both have the same length.
func hasForm(text []byte, form string) bool {
	for i, c := range text {
		if digit := '0' <= c && c <= '9'; digit != (form[i] == '0') || !digit && c != form[i] {
			return false
		}
	}
	return true
}

// number returns the value of a text of digits.
func number(digits []byte) (n int) {
	for _, c := range digits {
		n = n*10 + int(c-'0')
	}
	return n
}
