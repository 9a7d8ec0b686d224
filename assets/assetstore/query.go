package assetstore

import (
	"cmp"
	"slices"
	"strings"
)

// Index has the index entries of an asset. A query finds the asset by them; they cannot be read
// back.
//
// A term is a string that the Service derives from the asset, such as one for each word and one for
// each folder. A driver does not interpret terms: it compares them byte by byte, for equality and
// by prefix.
type Index struct {
	Terms      []string    // non-empty, valid UTF-8 without U+0000, at most MaxTerm bytes; sorted in byte order, each once
	Attributes []Attribute // what Reader.Values lists; sorted by key and value in byte order, each once
	// Words, if not 0, says that assets.IndexOf makes these entries of the record, with this limit of searched words. So a driver need
	// not store them to know them again.
	Words int
}

// MaxTerm is the length of the longest term, in bytes.
const MaxTerm = 256

// AnyOf is a set of terms. It matches an asset that has at least one of them, so an empty set
// matches none.
type AnyOf []string

// AssetQuery asks for assets by their terms and ordinals. A driver returns the assets for which
// Match is true, in the order of Compare, and at most Limit of them. Match and Compare define what
// a query means: a driver may answer it in any way that has the same result.
//
// An example: the assets with the word "launch" in folder 1 or 2 that also have a word beginning
// with "berl", newest first:
//
//	AssetQuery{All: []AnyOf{{"wlaunch"}, {"f1", "f2"}}, Prefixes: []AnyOf{{"wberl"}}}
type AssetQuery struct {
	All       []AnyOf // the asset must match each of these sets; an empty list matches every asset
	Prefixes  []AnyOf // for each of these sets, the asset must have a term that begins with a member; no member is empty
	After     int64   // only ordinals above this; 0 = no bound
	Before    int64   // only ordinals below this; 0 = no bound
	Ascending bool    // oldest first; else newest first
	Limit     int     // at most so many; 0 = all
}

// Match reports whether an asset with this ordinal and these terms, which are sorted in byte order,
// matches q. It ignores q.Limit.
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

// TermCount is a term, and the number of assets that have it among those that a query matches.
type TermCount struct {
	Term  string
	Count int64
}

// Compare is negative when a comes before b among the most frequent terms: it has more assets, or
// as many and is less in byte order.
func (a TermCount) Compare(b TermCount) int {
	return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Term, b.Term))
}
