package assetstore

import (
	"cmp"
	"slices"
	"strings"
)

// Index has the index entries of an asset. A driver does not interpret terms. They are non-empty strings of valid UTF-8
// without U+0000, of at most MaxTerm bytes, sorted in byte order, each once.
type Index struct {
	Terms      []string
	Attributes []Attribute // sorted by key and value, each once
}

// MaxTerm is the length of the longest term, in bytes.
const MaxTerm = 256

// AnyOf is a set of terms. It matches an asset that has at least one of them.
type AnyOf []string

// AssetQuery asks for assets by their terms. A driver returns the assets for which Match is true, in the order of Compare.
type AssetQuery struct {
	All       []AnyOf // the asset must match each of them; an empty list matches every asset
	Prefixes  []AnyOf // of each, an asset must have a term that begins with a member; no member is empty
	After     int64   // only ordinals above this; 0 = no bound
	Before    int64   // only ordinals below this; 0 = no bound
	Ascending bool    // oldest first; else newest first
	Limit     int     // at most so many; 0 = all
}

// Match reports whether an asset with this ordinal and these terms, which are sorted, matches q. It ignores q.Limit.
func (q AssetQuery) Match(ordinal int64, terms []string) bool {
	if ordinal <= q.After || q.Before != 0 && ordinal >= q.Before {
		return false
	}
	for _, set := range q.All {
		if !slices.ContainsFunc(set, func(t string) bool { _, ok := slices.BinarySearch(terms, t); return ok }) {
			return false
		}
	}
	for _, set := range q.Prefixes {
		begins := func(prefix string) bool {
			i, _ := slices.BinarySearch(terms, prefix)
			return i < len(terms) && strings.HasPrefix(terms[i], prefix)
		}
		if !slices.ContainsFunc(set, begins) {
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

// TermCount is a term and how many of the assets that a query matches have it.
type TermCount struct {
	Term  string
	Count int64
}

// Compare is negative when a comes before b among the most frequent terms: it has more assets, or as many and
// is less in byte order.
func (a TermCount) Compare(b TermCount) int {
	return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Term, b.Term))
}
