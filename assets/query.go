package assets

import (
	"cmp"
	"slices"
)

// Index is all that an asset is found by. Terms are opaque to a driver: non-empty strings of valid
// UTF-8 without U+0000, at most MaxTerm bytes, sorted, each once.
type Index struct {
	Terms      []string
	Attributes []Attribute // sorted by key and value, each once
}

// MaxTerm is the length of the longest term, in bytes.
const MaxTerm = 256

// AnyOf is a set of terms. It matches an asset that has at least one of them.
type AnyOf []string

// AssetQuery asks for assets by their terms. Match and Compare are its meaning.
type AssetQuery struct {
	All       []AnyOf // each must match; none: every asset does
	After     int64   // only ordinals above this; 0 = no bound
	Before    int64   // only ordinals below this; 0 = no bound
	Ascending bool    // oldest first; else newest first
	Limit     int     // at most so many; 0 = all
}

// Match reports whether the asset with this ordinal and these terms, sorted, is among those asked
// for, the limit aside.
func (q AssetQuery) Match(ordinal int64, terms []string) bool {
	if ordinal <= q.After || q.Before != 0 && ordinal >= q.Before {
		return false
	}
	for _, set := range q.All {
		if !slices.ContainsFunc(set, func(t string) bool { _, ok := slices.BinarySearch(terms, t); return ok }) {
			return false
		}
	}
	return true
}

// Compare is negative when the asset with ordinal a comes before the one with ordinal b.
func (q AssetQuery) Compare(a, b int64) int {
	if q.Ascending {
		return cmp.Compare(a, b)
	}
	return cmp.Compare(b, a)
}
