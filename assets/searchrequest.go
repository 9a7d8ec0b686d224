package assets

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// SearchRequest says which assets to find. An asset must satisfy all fields that are set. The zero
// value finds every asset that the caller sees, and returns a page of the newest ones.
type SearchRequest struct {
	// Query is a text whose words must all be in the asset's text or in its author's names, in any
	// order. A word that ends in * stands for every word that begins so, "words in quotes" are a phrase, and -word and -"some words"
	// must not be there. Case, diacritics and HTML do not matter. "" = any text.
	Query string
	// In says where Query looks: text (the text and the author's names), attachments (their titles), attributes (their values). nil = text.
	In []string
	// Typos also finds words that are one edit away from one of Query, from 4 letters on, and two edits from 8 on: a letter more, less or
	// other, or two neighbours swapped. The first letter must be right. Phrases, exclusions and words with * have no typos.
	Typos bool

	Folder     string // id of a folder that the asset must be in; "" = any
	FolderTree string // id of a folder: the asset must be in it, or in one below it that the caller sees; "" = any

	Generator  string            // id of the service that the asset comes from; "" = any
	ForeignID  string            // id of the content in that service, which Generator names; "" = any
	Via        *int64            // how the asset was added; nil = any
	Rights     *int64            // status of the rights request; nil = any
	Tags       []string          // the asset must have all of them
	Attributes []AttributeFilter // the asset must satisfy all of them

	CreatedFrom   time.Time // first published at this time or later: see Asset.CreatedAt; zero = at any time; over HTTP the parameter from
	CreatedBefore time.Time // first published earlier than this; zero = at any time; over HTTP the parameter to

	// Facets names the fields whose values are to be counted: generator, tags, via, rights, folder,
	// attribute (its values are the keys of attributes), or attribute:<key>.
	Facets []string

	Limit int    // assets of a page; 0 = 50, or Limits.Page if that is lower
	Since string // Paging.Next of another SearchPage: only newer assets, oldest first
	Until string // Paging.Prev of another SearchPage: only older assets, newest first
	Sort  Sort   // "" = ByAdded, or that of the cursor
	Order Order  // "" = Ascending with Since, else Descending; any other order with a cursor is ErrInvalid
}

// ascending reports whether the search lists older assets before newer ones.
func (in SearchRequest) ascending() bool { return in.Order == Ascending || in.Since != "" }

// From returns the search for the page at a cursor, which is the result of Following for the page
// before. With the cursor "" it returns in unchanged, so the same loop reads the first page and all
// others.
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

// Sort is the order of the results of a search.
type Sort string

// What a search can be sorted by. Assets with the same createdAt are in the order of adding.
const (
	ByAdded   Sort = "added"     // the order in which assets were added
	ByCreated Sort = "createdAt" // Asset.CreatedAt
)

// Order is the direction of the order of a search.
type Order string

// The orders of a search.
const (
	Ascending  Order = "asc"  // oldest first
	Descending Order = "desc" // newest first
)

// check returns ErrInvalid if a field of the search is malformed or exceeds its limit. Otherwise it returns the parsed text
// of the search.
func (in SearchRequest) check(lim Limits) (queryText, error) {
	if err := in.checkFields(lim); err != nil {
		return queryText{}, err
	}
	text := parseQuery(in.Query)
	return text, text.check(lim)
}

// sources returns where the text is searched, each once.
func (in SearchRequest) sources() (out []int) {
	for i, name := range sources {
		if slices.Contains(in.In, name) || in.In == nil && i == inText {
			out = append(out, i)
		}
	}
	return out
}

// checkFields returns ErrInvalid if a field is malformed or exceeds its limit. Whatever must be
// parsed or looked up first is checked where that is done: the words of Query, the names of Facets,
// the folders and the cursors.
func (in SearchRequest) checkFields(lim Limits) error {
	switch {
	case in.Order != "" && in.Order != Ascending && in.Order != Descending:
		return invalid("order", "want asc or desc")
	case in.Sort != "" && in.Sort != ByAdded && in.Sort != ByCreated:
		return invalid("sort", "want added or createdAt")
	case in.ForeignID != "" && in.Generator == "":
		return invalid("foreignId", "needs generator, the service in which this is the id")
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
	case in.In != nil && len(in.In) == 0:
		return invalid("in", "is empty: want text, attachments or attributes")
	}
	for _, name := range in.In {
		if !slices.Contains(sources, name) {
			return invalid("in", "%q is not known: want text, attachments or attributes", name)
		}
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
	for field, at := range map[string]time.Time{"from": in.CreatedFrom, "to": in.CreatedBefore} {
		if year := at.UTC().Year(); year < 1 || year > 9999 {
			return invalid(field, "is in the year %d, want one from 1 to 9999", year)
		}
	}
	return cmp.Or(checkText("foreignId", in.ForeignID, lim.Text), checkText("generator", in.Generator, lim.Name))
}

// AttributeFilter asks for assets that have an attribute.
type AttributeFilter struct {
	Key   string  // without a colon, which separates it from the value over HTTP
	Value *string // nil = any
}

// Text returns the filter as it is over HTTP: key:value, or the key alone. It returns ErrInvalid if
// the key has a colon, since the text would be read as another key and value.
func (a AttributeFilter) Text() (string, error) {
	switch {
	case strings.Contains(a.Key, ":"):
		return "", invalid("attribute", "the key %q has a colon, which stands between key and value here", a.Key)
	case a.Value == nil:
		return a.Key, nil
	}
	return a.Key + ":" + *a.Value, nil
}

// check returns ErrInvalid if the key is empty, malformed or has a colon, or if the value is
// malformed.
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
