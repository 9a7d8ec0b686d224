// Package jsonpointer writes and reads the tokens of JSON pointers (RFC 6901).
package jsonpointer

import (
	"math"
	"strconv"
	"strings"
)

var (
	escape   = strings.NewReplacer("~", "~0", "/", "~1")
	unescape = strings.NewReplacer("~1", "/", "~0", "~")
)

// Escape returns the name of a member as a token of a pointer: "a/b" as "a~1b".
func Escape(name string) string { return escape.Replace(name) }

// Index returns the index of an array that a token is: decimal digits without leading zeros (RFC 6901, section 4). It
// returns -1 for any other token, such as "-", which stands for the place after the last item.
func Index(token string) int {
	if token == "" || strings.Trim(token, "0123456789") != "" || token[0] == '0' && token != "0" {
		return -1
	}
	i, err := strconv.Atoi(token)
	if err != nil {
		return math.MaxInt
	}
	return i
}

// Unescape returns the name that a token stands for. It is the inverse of Escape.
func Unescape(token string) string {
	if strings.IndexByte(token, '~') < 0 {
		return token // as most are; Replace would copy it
	}
	return unescape.Replace(token)
}

// Valid reports whether s is a JSON pointer: tokens, each behind a slash, with no escapes but ~0 and ~1.
func Valid(s string) bool {
	for rest := s; ; {
		_, behind, found := strings.Cut(rest, "~")
		if !found {
			return s == "" || s[0] == '/'
		}
		if behind == "" || behind[0] != '0' && behind[0] != '1' {
			return false
		}
		rest = behind
	}
}

// Lookup returns the value at a pointer in a decoded document, and false if there is none.
func Lookup(v any, pointer string) (any, bool) {
	for _, token := range strings.Split(pointer, "/")[1:] {
		switch parent := v.(type) {
		case map[string]any:
			member, ok := parent[Unescape(token)]
			if !ok {
				return nil, false
			}
			v = member
		case []any:
			i := Index(token)
			if i < 0 || i >= len(parent) {
				return nil, false
			}
			v = parent[i]
		default:
			return nil, false
		}
	}
	return v, true
}
