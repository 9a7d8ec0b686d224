package assets

import (
	"fmt"

	"github.com/vitrine-go/vitrine/internal/memlimit"
)

// SearchPage is a page of a search. A reader can go on from it in both directions, unlike from a Page.
type SearchPage struct {
	Assets []Asset `json:"assets"`
	Paging Paging  `json:"paging"`
	Facets Facets  `json:"facets,omitempty"` // those asked for, each once, in that order
}

// Paging has the cursors of the pages before and after a page, and the total of the search.
type Paging struct {
	Prev    string `json:"prev"`    // for SearchRequest.Until: what is older than the page; "" on an empty page
	HasPrev bool   `json:"hasPrev"` // whether the search finds something older
	Next    string `json:"next"`    // for SearchRequest.Since: what is newer than the page; "" on an empty page
	HasNext bool   `json:"hasNext"` // whether the search finds something newer
	Total   int64  `json:"total"`   // the number of assets that the search finds, on all pages
}

// AppendJSON appends the page as it is over HTTP.
func (p SearchPage) AppendJSON(b []byte) []byte {
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
	b = fmt.Appendf(b, `,"total":%d,"totalItems":%[1]d}`, p.Paging.Total)
	if p.Facets != nil {
		b = p.Facets.AppendJSON(append(b, `,"facets":`...))
	}
	return append(b, '}')
}

// MarshalJSON gives the same bytes as AppendJSON.
func (p SearchPage) MarshalJSON() ([]byte, error) { return p.AppendJSON(nil), nil }

// Following returns the cursor of the page that follows p in the order of the search. It returns "" if p is the last page.
func (in SearchRequest) Following(p SearchPage) string {
	switch {
	case in.ascending() && p.Paging.HasNext:
		return p.Paging.Next
	case !in.ascending() && p.Paging.HasPrev:
		return p.Paging.Prev
	}
	return ""
}

// pageRange is the range of a library's assets that a page is taken from, its order and its length.
type pageRange struct {
	after, before int64 // ordinals; 0 = no bound
	ascending     bool
	limit         int
}

// pageRange returns the range of assets that the search asks for with its cursors.
func (req *request) pageRange(in SearchRequest) (pageRange, error) {
	limit, err := req.pageLimit(in.Limit)
	c := pageRange{ascending: in.ascending(), limit: limit}
	if err != nil {
		return c, err
	}
	for _, p := range []struct {
		field, cursor string
		bound         *int64
	}{{"since", in.Since, &c.after}, {"until", in.Until, &c.before}} {
		if p.cursor == "" {
			continue
		}
		ordinal, ok := req.seal.decrypt(sealedCursor, p.cursor)
		if !ok {
			return c, invalid(p.field, "is not a cursor of this library")
		}
		*p.bound = ordinal
	}
	return c, nil
}

// of returns the query for the assets of the range that match q.
func (c pageRange) of(q AssetQuery) AssetQuery {
	q.Ascending, q.Limit = c.ascending, c.limit
	q.After = max(q.After, c.after)
	if c.before != 0 && (q.Before == 0 || c.before < q.Before) {
		q.Before = c.before
	}
	return q
}

// page returns a page of the assets that match q. Its Paging says whether there are older and newer ones.
func (req *request) page(q AssetQuery, at pageRange) (SearchPage, error) {
	var p SearchPage
	var first, last int64
	size, more := 0, false
	limit := at.limit
	at.limit++
	for r, err := range req.r.Assets(req.ctx, at.of(q)) {
		if err != nil {
			return SearchPage{}, err
		}
		if more = len(p.Assets) == limit || len(p.Assets) > 0 && size >= req.limits.PageBytes; more {
			break
		}
		last = r.Ordinal
		if first == 0 {
			first = r.Ordinal
		}
		a := req.asset(r)
		if err := memlimit.Reserve(req.ctx, a.size()); err != nil {
			return SearchPage{}, err
		}
		size += a.size()
		p.Assets = append(p.Assets, a)
	}
	behind, err := req.behind(q, at, first)
	if at.ascending {
		p.Paging.HasNext, p.Paging.HasPrev = more, behind
	} else {
		p.Paging.HasPrev, p.Paging.HasNext = more, behind
	}
	if first != 0 {
		p.Paging.Prev = req.seal.encrypt(sealedCursor, min(first, last))
		p.Paging.Next = req.seal.encrypt(sealedCursor, max(first, last))
	}
	return p, err
}

// behind reports whether the search finds an asset that comes before the page. first is the ordinal of the page's first
// asset. It is 0 if the page is empty; then the asset of the cursor and all before it count.
func (req *request) behind(q AssetQuery, at pageRange, first int64) (bool, error) {
	back := pageRange{ascending: !at.ascending, limit: 1}
	switch {
	case at.after == 0 && at.before == 0:
		return false, nil // from the end of the library
	case at.ascending && first != 0:
		back.before = first
	case at.ascending:
		back.before = at.after + 1
	case first != 0:
		back.after = first
	default:
		back.after = at.before - 1
	}
	for _, err := range req.r.Assets(req.ctx, back.of(q)) {
		return err == nil, err
	}
	return false, nil
}
