package httpapi

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/isotime"
)

// query is the decoded parameters of a request's URL. Its methods read one parameter each, in the type that it must
// have, and note a 400 that names the parameter for any other value; the first of these is err. A parameter that is not
// given is the zero value. Only check finds parameters that cannot be decoded; before it, such a parameter reads as "".
type query struct {
	url.Values
	broken []string // names of parameters that could not be decoded, whose value in Values is ""; "" for a broken name
	err    error
}

// invalid notes a 400 for a parameter, unless there is one before it.
func (q *query) invalid(name, format string, args ...any) {
	if q.err == nil {
		q.err = fault.Invalid(name, format, args...)
	}
}

// parseQuery decodes a query and never fails: check decides whether it matters that a parameter cannot be decoded. Such
// a parameter counts as given, with the value "", so that a broken token in a query makes the request one with a token.
func parseQuery(raw string) (q query) {
	if raw == "" {
		return q
	}
	var err error
	if q.Values, err = url.ParseQuery(raw); err == nil {
		return q
	}
	for pair := range strings.SplitSeq(raw, "&") {
		if _, err := url.ParseQuery(pair); err == nil {
			continue
		}
		name, _, _ := strings.Cut(pair, "=")
		if name, err = url.QueryUnescape(name); err == nil {
			q.Values[name] = append(q.Values[name], "")
		}
		q.broken = append(q.broken, name)
	}
	return q
}

// check returns a 400 for a known parameter that cannot be decoded or is not UTF-8 and, unless the endpoint is lenient,
// for an unknown parameter. It does not repeat the sentence of the decoder, which may contain a part of the token, nor
// the value of an unknown parameter, which may be a token under a wrong name.
func (q query) check(rt *route) error {
	for _, name := range q.broken {
		if slices.Contains(rt.query, name) {
			return fault.Invalid(name, "cannot be decoded: want it escaped")
		}
		if !rt.is(lenient) {
			return errorf(http.StatusBadRequest,
				"the query of the URL is malformed: want name=value pairs, escaped, joined by &")
		}
	}
	for name, values := range q.Values {
		known := slices.Contains(rt.query, name)
		if !rt.is(lenient) && !known && (name != tokenParameter || rt.is(public)) {
			// not of package fault, for which a name with a slash at its beginning would be a pointer
			return &httpError{status: http.StatusBadRequest, details: details{Parameter: name},
				Text: name + ": unknown query parameter"}
		}
		for _, v := range values {
			if known && !utf8.ValidString(v) {
				return fault.Invalid(name, "not valid UTF-8")
			}
		}
	}
	return nil
}

// text returns the value of a parameter that is given once at most. A repeated one is rejected: programs disagree about
// whether the first or the last value counts.
func (q *query) text(name string) string {
	switch values := q.Values[name]; len(values) {
	case 0:
		return ""
	case 1:
		return values[0]
	}
	q.invalid(name, "given more than once")
	return ""
}

// filled returns a parameter that is not empty if it is given; says is the sentence for one that is. An empty value
// would be no condition, and is most likely a mistake.
func (q *query) filled(name, says string) string {
	s := q.text(name)
	if s == "" && q.Has(name) {
		q.invalid(name, "%s", says)
	}
	return s
}

// cursor returns a parameter that is an opaque cursor. An empty value is an error: a program that has lost its cursor
// would start from the beginning again without noticing. The service rejects a cursor that it has not given.
func (q *query) cursor(name string) string { return q.filled(name, `"" is not a cursor of this list`) }

// cursors returns the parameters since and until.
func (q *query) cursors() (since, until string) {
	const says = "is empty: want a cursor, or none"
	since = q.filled("since", says)
	return since, q.filled("until", says)
}

// noLimit is a number that every domain rejects.
const noLimit = -1

// count returns a parameter that is a decimal number of 1 or more. It returns 0 if the parameter is not given, and
// noLimit for anything else, so that the domain rejects it and names the numbers that it allows.
func (q *query) count(name string) int {
	s := q.text(name)
	if !q.Has(name) {
		return 0
	}
	n, err := strconv.ParseUint(s, 10, 31)
	if err != nil || n == 0 || s[0] == '0' || s[0] == '+' {
		return noLimit
	}
	return int(n)
}

// flag returns a parameter that is true or false, false when it is not given. Nothing else is accepted, neither 1 nor
// an empty value.
func (q *query) flag(name string) bool {
	s := q.text(name)
	if q.Has(name) && s != "true" && s != "false" {
		q.invalid(name, "%q is neither true nor false", s)
	}
	return s == "true"
}

// before returns the version that the parameter before names, the zero Version when it is not given. Versions are
// numbers, so a version serves as the cursor of a list; it need not exist.
func (q *query) before() vitrine.Version {
	s := q.text("before")
	if !q.Has("before") {
		return vitrine.Version{}
	}
	v, err := vitrine.ParseVersion(s)
	if err != nil {
		q.invalid("before", "%q is not a version: want a decimal number of at most 63 bits, without leading zeros", s)
	}
	return v
}

// time returns a parameter that is a time in ISO 8601, the zero time when it is not given. Without a zone it is in UTC,
// and a date alone is its midnight.
func (q *query) time(name string) time.Time {
	s := q.text(name)
	if !q.Has(name) {
		return time.Time{}
	}
	t, err := isotime.Parse(s)
	if err != nil {
		q.invalid(name, "%q is no time: %s, with + escaped as %%2B", s, err)
	}
	return t
}

// integer returns a parameter that is a whole number of 64 bits, nil when it is not given. Only one spelling of each
// number is accepted: no plus sign and no leading zeros.
func (q *query) integer(name string) *int64 {
	s := q.text(name)
	if !q.Has(name) {
		return nil
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || strconv.FormatInt(n, 10) != s {
		q.invalid(name, "%q is not an integer of 64 bits", s)
	}
	return &n
}

// list returns the items of a parameter that may be repeated and may have items joined by commas, nil when there are
// none. Empty items are left out. An item cannot have a comma.
func (q query) list(name string) []string {
	var out []string
	for _, value := range q.Values[name] {
		for item := range strings.SplitSeq(value, ",") {
			if item != "" {
				out = append(out, item)
			}
		}
	}
	return out
}

// items returns the items of a value of a parameter, which are joined by commas. An item may be a JSON string, which
// may have commas. What begins with a quote and is none is taken as it is.
func (q *query) items(name, value string) (out []string) {
	for more := true; more; {
		item := ""
		d := jsontext.NewDecoder(strings.NewReader(value))
		token, err := d.ReadToken()
		rest := value[d.InputOffset():]
		if err == nil && token.Kind() == '"' && (rest == "" || rest[0] == ',') {
			item = token.String()
			value, more = strings.CutPrefix(rest, ",")
		} else {
			item, value, more = strings.Cut(value, ",")
		}
		out = append(out, item)
	}
	return out
}

// names returns the items of a parameter that may be repeated, nil when it is not given. Empty items are left out.
func (q *query) names(name string) (out []string) {
	if !q.Has(name) {
		return nil
	}
	out = []string{}
	for _, value := range q.Values[name] {
		for _, item := range q.items(name, value) {
			if item != "" {
				out = append(out, item)
			}
		}
	}
	return out
}
