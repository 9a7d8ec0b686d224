// Package lists has the lists of strings that the drivers store: groups, components, folders and names. Join and Split
// turn a list into one column and back; Unique and Without compute which rows of an index on single strings to add and
// to remove.
package lists

import (
	"slices"
	"strings"
)

// Join returns the strings with a NUL after each, so that an empty string in the list is not lost. No string may have a
// NUL; the services refuse such strings. It returns nil for an empty list.
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

// Without returns the strings of list that are not in other.
func Without(list, other []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(other, s) })
}
