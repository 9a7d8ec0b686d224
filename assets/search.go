package assets

import (
	"fmt"
	"unicode/utf8"
)

// Search says which assets to find (contract, section 4.2, A1). The zero value finds the newest ones.
type Search struct {
	Query      string   // every word must be in the text or the author's names; "" = any
	Folder     string   // id of a folder that must hold the asset; "" = any
	FolderTree string   // likewise, or one below it that the caller sees
	Generator  string   // id of the originating service; "" = any
	Via        *int64   // how it was added; nil = any
	Rights     *int64   // status of the rights request; nil = any
	Tags       []string // all must be among its safe_tags
	Limit      int      // 0 = 50
	Since      string   // Paging.Next of another page: what is newer, oldest first
	Until      string   // Paging.Prev of another page: what is older, newest first
	Order      Order    // "" = as Since and Until say, newest first without them
}

// Order is the order of a search.
type Order string

// The orders of a search: by the time of adding.
const (
	Ascending  Order = "asc"
	Descending Order = "desc"
)

// Page is a page of a search.
type Page struct {
	Assets []Asset
	Paging Paging
}

// Paging says where a page stands (contract, section 2.11).
type Paging struct {
	Prev    string // for Search.Until: what is older than the page; "" on an empty page
	HasPrev bool   // whether there is something
	Next    string // for Search.Since: what is newer than the page; "" on an empty page
	HasNext bool
	Total   int64 // all that the search finds, on whatever page
}

// AppendJSON appends the page as it is answered.
func (p Page) AppendJSON(b []byte) []byte {
	b = append(b, `{"assets":[`...)
	for i, a := range p.Assets {
		b = a.AppendJSON(appendComma(b, i))
	}
	b = append(b, `],"paging":{`...)
	if p.Paging.Prev != "" {
		b = append(appendString(append(b, `"prev":`...), p.Paging.Prev), ',')
	}
	b = append(appendBool(append(b, `"hasPrev":`...), p.Paging.HasPrev), ',')
	if p.Paging.Next != "" {
		b = append(appendString(append(b, `"next":`...), p.Paging.Next), ',')
	}
	b = appendBool(append(b, `"hasNext":`...), p.Paging.HasNext)
	return fmt.Appendf(b, `,"total":%d,"totalItems":%[1]d}}`, p.Paging.Total)
}

// MarshalJSON gives the same bytes as AppendJSON.
func (p Page) MarshalJSON() ([]byte, error) { return p.AppendJSON(nil), nil }

// check reports what is wrong with the search in itself, and returns the words of its text.
func (in Search) check(lim Limits) ([]string, error) {
	switch {
	case in.Order != "" && in.Order != Ascending && in.Order != Descending:
		return nil, invalidAt("order", "want asc or desc")
	case in.Since != "" && in.Until != "":
		return nil, invalidAt("since", "goes not with until: one cursor at a time")
	case in.Since != "" && in.Order == Descending:
		return nil, invalidAt("since", "leads to newer assets, oldest first, against order desc")
	case in.Until != "" && in.Order == Ascending:
		return nil, invalidAt("until", "leads to older assets, newest first, against order asc")
	case len(in.Tags) > lim.Tags:
		return nil, invalidAt("tags", "has %d tags, at most %d are allowed", len(in.Tags), lim.Tags)
	case len(in.Query) > lim.Query:
		return nil, invalidAt("query", "has %d bytes, at most %d are allowed", len(in.Query), lim.Query)
	case !utf8.ValidString(in.Query):
		return nil, invalidAt("query", "must be UTF-8")
	}
	for _, tag := range in.Tags {
		if err := checkText("tags", tag, lim.Name); err != nil {
			return nil, err
		}
	}
	if err := checkText("generator", in.Generator, lim.Name); err != nil {
		return nil, err
	}
	list := words(in.Query)
	if len(list) > lim.Words {
		return nil, invalidAt("query", "has %d words, at most %d are allowed", len(list), lim.Words)
	}
	return list, nil
}
