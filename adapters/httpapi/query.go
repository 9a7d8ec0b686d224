package httpapi

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// query is the parameters of a request's URL.
type query struct {
	values url.Values
	broken []string // names of what could not be decoded, which values hold as ""; "" where the name could not
}

func parseQuery(raw string) query {
	if raw == "" {
		return query{}
	}
	values, err := url.ParseQuery(raw)
	if err == nil {
		return query{values: values}
	}
	return parseBrokenQuery(raw)
}

// parseBrokenQuery keeps apart what of a query can be decoded and what cannot.
func parseBrokenQuery(raw string) query {
	q := query{values: url.Values{}}
	for pair := range strings.SplitSeq(raw, "&") {
		good, err := url.ParseQuery(pair)
		for name, values := range good {
			q.values[name] = append(q.values[name], values...)
		}
		if err == nil {
			continue
		}
		name, _, _ := strings.Cut(pair, "=")
		if name, err = url.QueryUnescape(name); err == nil {
			q.values[name] = append(q.values[name], "")
		}
		q.broken = append(q.broken, name)
	}
	return q
}

func (q query) has(name string) bool     { return q.values.Has(name) }
func (q query) all(name string) []string { return q.values[name] }

// check refuses a known parameter that cannot be decoded or is no text and, where the endpoint
// writes, also what it does not know. The sentence of the decoder is not repeated, as it may hold
// a part of the token.
func (q query) check(rt *route) error {
	for _, name := range q.broken {
		if slices.Contains(rt.query, name) {
			return refuse(http.StatusBadRequest, "%s: cannot be decoded: want it escaped", name)
		}
		if rt.writes() {
			return refuse(http.StatusBadRequest, "the query of the URL is malformed: want name=value pairs, escaped, joined by &")
		}
	}
	for name, values := range q.values {
		known := slices.Contains(rt.query, name)
		if rt.writes() && !known && name != tokenParameter {
			return refuse(http.StatusBadRequest, "%s: unknown query parameter", name)
		}
		for _, v := range values {
			if known && !utf8.ValidString(v) {
				return refuse(http.StatusBadRequest, "%s: not valid UTF-8", name)
			}
		}
	}
	return nil
}

// one returns the value of a parameter that is given once at most.
func (q query) one(name string) (string, error) {
	switch values := q.values[name]; len(values) {
	case 0:
		return "", nil
	case 1:
		return values[0], nil
	}
	return "", refuse(http.StatusBadRequest, "%s: given more than once", name)
}

// noLimit is what no page may have as its limit.
const noLimit = -1

// limit returns the parameter limit, 0 when it is not given, and noLimit for what is no decimal number
// from 1 on. Which are allowed is the domain's to know, and to say.
func (q query) limit() (int, error) {
	s, err := q.one("limit")
	if err != nil || !q.has("limit") {
		return 0, err
	}
	n, err := strconv.ParseUint(s, 10, 31)
	if err != nil || n == 0 || s[0] == '0' || s[0] == '+' {
		return noLimit, nil
	}
	return int(n), nil
}

// flag returns a parameter that is true or false, false when it is not given.
func (q query) flag(name string) (bool, error) {
	s, err := q.one(name)
	if err != nil || !q.has(name) {
		return false, err
	}
	if s != "true" && s != "false" {
		return false, refuse(http.StatusBadRequest, "%s: %q is neither true nor false", name, s)
	}
	return s == "true", nil
}
