package assets

import (
	"github.com/vitrine-go/vitrine/internal/index"
	"github.com/vitrine-go/vitrine/internal/memlimit"
	"github.com/vitrine-go/vitrine/internal/paging"
)

// SearchPage is a page of a search. Unlike from a Page, a reader can go on from it in both
// directions.
type SearchPage struct {
	Assets []Asset `json:"assets"`           // in the order of the search
	Paging Paging  `json:"paging"`           // how to go on, and how many assets there are
	Facets Facets  `json:"facets,omitempty"` // those that the request asks for, each once, in the order of the request
}

// Paging has the cursors of the pages beside a page, and the total of the search. Next always leads
// to newer assets and Prev to older ones, whatever the order of the search. To read a search in its
// own order, use SearchRequest.Following and From.
//
// A page that is not empty has both cursors even if nothing is there yet: new assets may be added
// later.
type Paging struct {
	Prev    string `json:"prev,omitempty"` // goes into SearchRequest.Until, for what is older than the page; "" on an empty page
	HasPrev bool   `json:"hasPrev"`        // the search finds something older
	Next    string `json:"next,omitempty"` // goes into SearchRequest.Since, for what is newer than the page; "" on an empty page
	HasNext bool   `json:"hasNext"`        // the search finds something newer
	Total   int64  `json:"total"`          // the number of assets that the search finds, on all pages
}

// AppendJSON appends the page as it is over HTTP. The member totalItems has the total again, and an
// empty cursor is left out.
func (p SearchPage) AppendJSON(b []byte) []byte {
	b = appendAssets(append(b, `{"assets":[`...), p.Assets)
	b = appendJSON(append(b, `],"paging":`...), struct {
		Paging
		TotalItems int64 `json:"totalItems"`
	}{p.Paging, p.Paging.Total})
	if p.Facets != nil {
		b = p.Facets.AppendJSON(append(b, `,"facets":`...))
	}
	return append(b, '}')
}

// MarshalJSON gives the same bytes as AppendJSON.
func (p SearchPage) MarshalJSON() ([]byte, error) { return p.AppendJSON(nil), nil }

// Following returns the cursor of the page that follows p in the order of the search, for From. It
// returns "" if p is the last page. p is a page that the search has found.
func (in SearchRequest) Following(p SearchPage) string {
	switch {
	case in.ascending() && p.Paging.HasNext:
		return p.Paging.Next
	case !in.ascending() && p.Paging.HasPrev:
		return p.Paging.Prev
	}
	return ""
}

// page returns the page of the found assets that are in the range at, without total and facets. It
// ends at the limit of the range, or earlier when it has reached Limits.PageBytes.
func (req *request) page(found *index.Set, at pageRange) (SearchPage, error) {
	var p SearchPage
	var first, last int64
	more := false
	room := paging.NewRoom(at.limit, req.limits.PageBytes)
	at.limit++ // one more than the page may have tells whether the search goes on
	for r, err := range req.assetsIn(found, at) {
		if err != nil {
			return SearchPage{}, err
		}
		// The page is full, and this asset shows that the search goes on.
		if more = room.Full(); more {
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
		room.Add(a.size())
		p.Assets = append(p.Assets, a)
	}
	// The page itself tells whether the search goes on after it. Whether it has anything before the
	// page takes another look.
	behind, err := req.behind(found, at, first)
	if at.ascending {
		p.Paging.HasNext, p.Paging.HasPrev = more, behind
	} else {
		p.Paging.HasPrev, p.Paging.HasNext = more, behind
	}
	// The cursors are those of the oldest and the newest asset of the page, whatever its order.
	if first != 0 {
		p.Paging.Prev = req.seal.encrypt(sealedCursor, min(first, last))
		p.Paging.Next = req.seal.encrypt(sealedCursor, max(first, last))
	}
	return p, err
}

// behind reports whether the search finds an asset that comes before the page in its order. first
// is the ordinal of the page's first asset. It is 0 if the page is empty; then the asset of the
// cursor and all before it count.
func (req *request) behind(found *index.Set, at pageRange, first int64) (bool, error) {
	// One asset on the other side of the page's beginning is enough, in the opposite order.
	back := pageRange{ascending: !at.ascending, limit: 1}
	switch {
	case at.after == 0 && at.before == 0:
		return false, nil // without a cursor, the page is the first of the search
	case at.ascending && first != 0:
		back.before = first
	case at.ascending:
		back.before = at.after + 1 // with the asset of the cursor, which is not on the page
	case first != 0:
		back.after = first
	default:
		back.after = at.before - 1
	}
	for _, err := range req.assetsIn(found, back) {
		return err == nil, err
	}
	return false, nil
}
