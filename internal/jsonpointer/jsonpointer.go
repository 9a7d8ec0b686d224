// Package jsonpointer writes and reads the tokens of JSON pointers (RFC 6901).
package jsonpointer

import (
	"strconv"
	"strings"
)

var (
	escape   = strings.NewReplacer("~", "~0", "/", "~1")
	unescape = strings.NewReplacer("~1", "/", "~0", "~")
)

// Escape returns the name of a member as a token of a pointer: "a/b" as "a~1b".
func Escape(name string) string { return escape.Replace(name) }

// IsIndex reports whether a token is an index of an array: decimal digits without leading zeros (RFC 6901, section 4). The
// token "-", which stands for the place after the last item, is not an index.
func IsIndex(token string) bool {
	return token != "" && strings.Trim(token, "0123456789") == "" && (token == "0" || token[0] != '0')
}

// Unescape returns the name that a token stands for. It is the inverse of Escape.
func Unescape(token string) string {
	if strings.IndexByte(token, '~') < 0 {
		return token // as most are; Replace would copy it
	}
	return unescape.Replace(token)
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
			i, err := strconv.Atoi(token)
			if err != nil || i >= len(parent) || !IsIndex(token) {
				return nil, false
			}
			v = parent[i]
		default:
			return nil, false
		}
	}
	return v, true
}
