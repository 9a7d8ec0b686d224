package reviews

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"time"
	"unicode"
	"unicode/utf8"
)

// Some mistakes break no rule of a value, and yet show in the file as a whole: ratings that are stars, ids that are not encoded.
// For each of them a file has one warning at most, after all other problems: it is at the first value of its kind, or at line 1
// if it is about no single value. A lineChecker reports every such value, and the fileChecker keeps the first and counts the
// others, so that the warnings take no memory.

// fileWarnings is what a fileChecker knows of a file for these warnings.
type fileWarnings struct {
	ratings int64   // that have no error
	top     uint8   // the highest of them
	idText  oddness // rule id-text
	future  oddness // rule created-future
	email   oddness // rule email
}

// oddness is how often a rule about the whole file was met, and the first problem of the file with it.
type oddness struct {
	count int64
	first Problem
}

// note keeps a problem of a rule that gives one warning for the file. It returns false for any other problem.
func (w *fileWarnings) note(p Problem) bool {
	var o *oddness
	switch p.Rule {
	case rules[ruleIDText].ID:
		o = &w.idText
	case rules[ruleFuture].ID:
		o = &w.future
	case rules[ruleEmail].ID:
		o = &w.email
	default:
		return false
	}
	if o.count == 0 || p.Offset < o.first.Offset {
		o.first = p
	}
	o.count++
	return true
}

// The rule scale is broken if a file has at least fewRatings ratings and none of them is above maxStars: a scale of 1 to 10 at most.
const (
	fewRatings = 20
	maxStars   = 10
)

// list returns the warnings, in the order of the rules. start is the offset of the first line.
func (w *fileWarnings) list(start int64) (all []Problem) {
	if w.ratings >= fewRatings && w.top <= maxStars {
		all = append(all, ruleScale.problemAt(1, 1, start, fmt.Sprintf("none of the %d ratings of this file is above %d; "+
			"a rating is from 1 to 100: multiply stars from 1 to 5 by 20, and points from 1 to 10 by 10", w.ratings, w.top)))
	}
	for _, o := range []oddness{w.idText, w.future, w.email} {
		if o.count == 0 {
			continue
		}
		if o.count > 1 {
			o.first.Message += fmt.Sprintf("; this is the first of %d in the file", o.count)
		}
		all = append(all, o.first)
	}
	return all
}

// aboutFile returns whether a rule gives one warning for the whole file.
func aboutFile(rule string) bool {
	for _, r := range rules[ruleScale:] {
		if r.ID == rule {
			return true
		}
	}
	return false
}

// isText returns whether the id of a collection, in which base64Fault has found nothing wrong, decodes to printable UTF-8.
func isText(id []byte) bool {
	encoding := base64.RawStdEncoding
	if bytes.ContainsAny(id, "-_") {
		encoding = base64.RawURLEncoding
	}
	var text [maxCollectionID]byte
	n, err := encoding.Decode(text[:], bytes.TrimRight(id, "="))
	if err != nil || !utf8.Valid(text[:n]) {
		return false
	}
	return bytes.IndexFunc(text[:n], func(r rune) bool { return !unicode.IsGraphic(r) }) < 0
}

// maxEmail is how many bytes an email address may have: 64 before the @ and 255 after it (RFC 5321).
const maxEmail = 64 + 1 + 255

// isEmail returns whether text looks like an email address: one @ with something on both sides, a domain without empty labels,
// and no characters that separate addresses or names from them. Letters of any script are allowed.
func isEmail(text []byte) bool {
	local, domain, found := bytes.Cut(text, []byte("@"))
	return found && len(text) <= maxEmail && len(local) > 0 && len(domain) > 0 && !bytes.ContainsAny(text, "<>()[]\\,;:\"\x7f") &&
		bytes.IndexFunc(text, func(r rune) bool { return r <= ' ' || unicode.IsSpace(r) }) < 0 && bytes.IndexByte(domain, '@') < 0 &&
		domain[0] != '.' && domain[len(domain)-1] != '.' && !bytes.Contains(domain, []byte(".."))
}

// maxAhead is how far in the future a time may be. A local time that is written without its zone is up to 14 hours ahead of UTC.
const maxAhead = 14 * time.Hour

// horizon is the latest time that a review may have been written at. The zero horizon allows every time.
type horizon struct {
	micros int64  // as in Review.Time
	past   string // a time without its zone that is not after this text is not after the horizon, whatever its zone is
}

// newHorizon returns the horizon of a file that is read now.
func newHorizon(now time.Time) horizon {
	latest := now.Add(maxAhead)
	return horizon{latest.UnixMicro(), latest.UTC().AddDate(0, 0, -1).Format("2006-01-02T15:04:05")} // an offset is below 24 hours
}

// before returns whether a time, in which timestampFault has found nothing wrong, is after the horizon. Nearly all times are so
// long ago that comparing their texts shows that they are not.
func (h horizon) before(text []byte) bool {
	return string(text[:len(h.past)]) > h.past && instant(text) > h.micros
}
