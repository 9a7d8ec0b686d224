// Package lists is how drivers that keep rows keep lists of strings in them.
package lists

import (
	"slices"
	"strings"
)

// Join writes a NUL, which is in no string that passed the service, behind each string. It is nil for
// an empty list.
func Join(list []string) []byte {
	var out []byte
	for _, s := range list {
		out = append(append(out, s...), 0)
	}
	return out
}

// Split undoes Join.
func Split(b []byte) []string {
	if len(b) == 0 {
		return nil
	}
	return strings.Split(string(b[:len(b)-1]), "\x00")
}

// Unique returns the strings of list in byte order, each once.
func Unique(list []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(list)))
}

// Without returns what is in list and not in other.
func Without(list, other []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(other, s) })
}
