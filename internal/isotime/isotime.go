// Package isotime reads times in ISO 8601, as people and programs write them.
package isotime

import (
	"errors"
	"regexp"
	"strings"
	"time"
)

// iso8601 is a date, or a date with a time of day, with or without a zone. time.Parse is more generous: it takes an
// hour of one digit, for instance.
var iso8601 = regexp.MustCompile(
	`^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d([.,]\d{1,9})?)?(Z|[+-]([01]\d|2[0-3]):?[0-5]\d)?)?$`)

var errNoTime = errors.New("want a real date in ISO 8601, such as 2024-02-29 or 2024-02-29T18:30:00Z")

// Parse returns a time in UTC. Without a zone it is in UTC, and a date alone is its midnight. T and Z may be small
// letters, and a zone may lack its colon: +0000. It returns an error for a text of another form, a date that does not
// exist, and a time before the year 1.
func Parse(s string) (time.Time, error) {
	s = strings.ToUpper(s)
	if iso8601.MatchString(s) {
		if zone := len(s) - len("+0000"); zone > len(time.DateOnly) && (s[zone] == '+' || s[zone] == '-') {
			s = s[:zone+3] + ":" + s[zone+3:]
		}
		for _, layout := range []string{
			"2006-01-02", "2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02T15:04Z07:00",
			"2006-01-02T15:04:05Z07:00",
		} {
			if t, err := time.Parse(layout, s); err == nil && t.UTC().Year() >= 1 {
				return t.UTC(), nil
			}
		}
	}
	return time.Time{}, errNoTime
}
