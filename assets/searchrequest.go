package assets

import (
	"strings"
	"time"
	"unicode/utf8"
)

// SearchRequest says which assets to find. The zero value finds the newest ones.
type SearchRequest struct {
	Query       string            // every word, or one that begins so if it ends in *, must be in the text or the author's names; "" = any
	Folder      string            // id of a folder that must hold the asset; "" = any
	FolderTree  string            // likewise, or one below it that the caller sees
	Generator   string            // id of the originating service; "" = any
	Via         *int64            // how it was added; nil = any
	Rights      *int64            // status of the rights request; nil = any
	Tags        []string          // all must be among its safe_tags
	Attributes  []AttributeFilter // all must be among its attributes
	AddedFrom   time.Time         // added then or later; zero = at any time; over HTTP from
	AddedBefore time.Time         // added earlier; zero = at any time; over HTTP to
	Facets      []string          // of which fields to count the values: generator, tags, via, rights, folder, attribute, attribute:<key>
	Limit       int               // 0 = 50
	Since       string            // Paging.Next of another SearchPage: what is newer, oldest first
	Until       string            // Paging.Prev of another SearchPage: what is older, newest first
	Order       Order             // "" = as Since and Until say, newest first without them
}

// AttributeFilter asks for an attribute.
type AttributeFilter struct {
	Key   string
	Value *string // nil = any
}

// ascending reports whether the search lists older assets before newer ones.
func (in SearchRequest) ascending() bool { return in.Order == Ascending || in.Since != "" }

// From returns the search that continues at a cursor from Following. With the cursor "" it returns in unchanged.
func (in SearchRequest) From(cursor string) SearchRequest {
	switch {
	case cursor == "":
	case in.ascending():
		in.Since = cursor
	default:
		in.Until = cursor
	}
	return in
}

// Order is the order of a search.
type Order string

// The orders of a search: by the time of adding.
const (
	Ascending  Order = "asc"
	Descending Order = "desc"
)

// check returns ErrInvalid if a field of the search is malformed or exceeds its limit. Otherwise it returns the words of the
// search text, and the prefixes of words.
func (in SearchRequest) check(lim Limits) (list, prefixes []string, err error) {
	if err := in.checkFields(lim); err != nil {
		return nil, nil, err
	}
	list, prefixes = queryWords(in.Query)
	if n := len(list) + len(prefixes); n > lim.Words {
		return nil, nil, invalid("query", "has %d words, at most %d are allowed", n, lim.Words)
	}
	for _, p := range prefixes {
		if err := checkPrefix(p); err != nil {
			return nil, nil, err
		}
	}
	return list, prefixes, nil
}

// checkFields checks everything except the words of the text.
func (in SearchRequest) checkFields(lim Limits) error {
	switch {
	case in.Order != "" && in.Order != Ascending && in.Order != Descending:
		return invalid("order", "want asc or desc")
	case in.Since != "" && in.Until != "":
		return invalid("since", "want one cursor at a time, since or until")
	case in.Since != "" && in.Order == Descending:
		return invalid("since", "leads to newer assets, oldest first, against order desc")
	case in.Until != "" && in.Order == Ascending:
		return invalid("until", "leads to older assets, newest first, against order asc")
	case len(in.Tags) > lim.SearchTags:
		return invalid("tags", "has %d tags, at most %d are allowed", len(in.Tags), lim.SearchTags)
	case len(in.Attributes) > lim.SearchAttributes:
		return invalid("attribute", "is given %d times, at most %d are allowed", len(in.Attributes), lim.SearchAttributes)
	case len(in.Facets) > lim.Facets:
		return invalid("facets", "has %d facets, at most %d are allowed", len(in.Facets), lim.Facets)
	case len(in.Query) > lim.Query:
		return invalid("query", "has %d bytes, at most %d are allowed", len(in.Query), lim.Query)
	case !utf8.ValidString(in.Query):
		return invalid("query", "must be UTF-8")
	}
	for _, tag := range in.Tags {
		if err := checkText("tags", tag, lim.Name); err != nil {
			return err
		}
	}
	for _, a := range in.Attributes {
		if err := a.check(lim); err != nil {
			return err
		}
	}
	for field, at := range map[string]time.Time{"from": in.AddedFrom, "to": in.AddedBefore} {
		if year := at.UTC().Year(); year < 1 || year > 9999 {
			return invalid(field, "is in the year %d, want one from 1 to 9999", year)
		}
	}
	return checkText("generator", in.Generator, lim.Name)
}

// Text returns the filter as it is over HTTP: key:value, or the key alone. It returns ErrInvalid if the key has a colon.
func (a AttributeFilter) Text() (string, error) {
	switch {
	case strings.Contains(a.Key, ":"):
		return "", invalid("attribute", "the key %q has a colon, which stands between key and value here", a.Key)
	case a.Value == nil:
		return a.Key, nil
	}
	return a.Key + ":" + *a.Value, nil
}

func (a AttributeFilter) check(lim Limits) error {
	if a.Key == "" {
		return invalid("attribute", "has an empty key: want key:value, or key alone for any value")
	}
	if _, err := a.Text(); err != nil {
		return err
	}
	if err := checkName("attribute", a.Key, lim.Name); err != nil || a.Value == nil {
		return err
	}
	return checkText("attribute", *a.Value, lim.Text)
}
