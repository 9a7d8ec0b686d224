package assets

import (
	"context"
	"iter"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/index"
	"github.com/vitrine-go/vitrine/internal/memlimit"
	"github.com/vitrine-go/vitrine/internal/paging"
)

// Search returns a page of the assets that match the request and that the caller sees, with the
// total of such assets and the facets that the request asks for. All numbers are exact, and count
// only assets that the caller sees, so they reveal nothing about others. The page, its total and
// its facets are of the same state of the library.
//
// An empty Query puts no condition on the text. A Query that is not empty but has no word, such as
// "*" or "<b>", finds nothing.
//
// Besides the errors that the comment of Service names for every method, it returns ErrInvalid if a
// field is malformed or exceeds its limit, or if a cursor is not of this library; ErrNotFound if the
// caller does not see a folder of the request; and ErrBusy if waiting for the store, or the search, takes longer than
// Limits.SearchTime. Reading the folders of the library, which many searches may wait for after a
// folder was changed, does not count.
func (s *Service) Search(ctx context.Context, by vitrine.Caller, lib Library, in SearchRequest) (SearchPage, error) {
	limited, cancel := context.WithCancel(ctx)
	defer cancel()
	clock := time.AfterFunc(s.limits.SearchTime, cancel)
	defer clock.Stop()
	var out SearchPage
	err := s.open(limited, by, lib, false, func(req *request) (err error) {
		clock.Stop() // and it begins anew when the request has the folders
		req.ctx = ctx
		if err := req.load(); err != nil {
			return err
		}
		clock.Reset(s.limits.SearchTime)
		req.ctx = limited
		out, err = req.search(in)
		return err
	})
	if err != nil && limited.Err() != nil && ctx.Err() == nil { // SearchTime is over, and the caller still waits
		err = newError(vitrine.ErrBusy, vitrine.CodeUnavailable, "", "the search takes longer than %s: try again, or narrow it down", s.limits.SearchTime)
	}
	return out, err
}

// AllAssets yields the assets that a search finds, beginning with the page that the request asks
// for. It goes on towards newer assets if the search is ascending and towards older ones otherwise.
// It reads a page at a time, and yields every asset once, even while others are added. It does not
// count facets. It yields an error once, as its last pair.
func (s *Service) AllAssets(ctx context.Context, by vitrine.Caller, lib Library, in SearchRequest) iter.Seq2[Asset, error] {
	in.Facets = nil // they would be counted for each page, and nobody would see them
	return paging.All("", func(cursor string) ([]Asset, string, error) {
		page, err := s.Search(ctx, by, lib, in.From(cursor))
		return page.Assets, in.Following(page), err
	})
}

// search carries out a search on the snapshot of the request:
//
//  1. check the fields and the cursor of the request, and split its text into words;
//  2. look up its folders and turn it into a query: a list of sets of terms, which are entries of
//     the search index. An asset must have at least one term of each set. One of the sets is what
//     the caller may see, unless the caller sees every folder or the request names a folder;
//  3. find what matches the query, within AddedFrom and AddedBefore as bounds of ordinals: the ordinal of
//     an asset is its number in the order of adding;
//  4. count it, read a page of it, and count the facets.
func (req *request) search(in SearchRequest) (SearchPage, error) {
	// 1. The fields and the cursor. The folders are looked up in step 2.
	whole, prefixes, err := in.check(req.limits)
	if err != nil {
		return SearchPage{}, err
	}
	var facets facetFields
	if len(in.Facets) > 0 {
		if facets, err = facetsOf(in.Facets, req.limits); err != nil {
			return SearchPage{}, err
		}
	}
	cursor, err := req.pageRange(in)
	if err != nil {
		return SearchPage{}, err
	}
	// 2. The query. A folder that the caller does not see is an error even if the text has no word.
	q, err := req.conditions(in, whole, prefixes)
	if err != nil {
		return SearchPage{}, err
	}
	if in.Query != "" && len(whole)+len(prefixes) == 0 { // the text has no word, so no asset matches
		return SearchPage{Facets: facets.empty()}, nil
	}
	// 3. What is found.
	found, err := req.found(q, in)
	if err != nil {
		return SearchPage{}, err
	}
	// 4. The page, the total and the facets.
	page, err := req.page(found, cursor)
	if err != nil {
		return SearchPage{}, err
	}
	page.Paging.Total = req.state.Count
	if found != nil {
		page.Paging.Total = int64(found.Count())
	}
	if len(facets) > 0 {
		page.Facets, err = req.facets(facets, found)
	}
	return page, err
}

// found returns the assets that match the query and were added within the times of the search, or nil if all do.
func (req *request) found(q index.Query, in SearchRequest) (*index.Set, error) {
	var after, before int64
	if !in.AddedFrom.IsZero() || !in.AddedBefore.IsZero() {
		var err error
		if after, before, err = req.addedBetween(in.AddedFrom, in.AddedBefore); err != nil {
			return nil, err
		}
	}
	if len(q.All)+len(q.Prefixes) == 0 {
		if after == 0 && before == 0 {
			return nil, nil
		}
		q.All = [][]string{{everyAsset}}
	}
	found, err := req.index.Find(req.ctx, q)
	if err != nil || after == 0 && before == 0 {
		return found, err
	}
	return found.Between(after, before), nil
}

// conditions returns the query for the assets that the search asks for and that the caller sees,
// without the bounds of its times and cursors. whole are the words of the search text that do not
// end in *. prefixes are those that do, without the *. It returns ErrNotFound if the caller does
// not see a folder that the search names.
//
// What the caller may see is at the end of q.All:
//
//   - with Folder, the term of that folder; with FolderTree, the terms of that folder and of the
//     folders below it that the caller sees. Assets in folders that the caller sees are visible, so
//     nothing else is needed;
//   - with neither of them, the terms of all folders that the caller sees and the term of the
//     assets in no folder; see visible. The set is left out for a caller who sees every folder.
func (req *request) conditions(in SearchRequest, whole, prefixes []string) (q index.Query, err error) {
	var all [][]string
	// The text: each word in full, or as the beginning of a word.
	for _, w := range whole {
		all = append(all, []string{wordTerm(w)})
	}
	for _, p := range prefixes {
		q.Prefixes = append(q.Prefixes, []string{prefixTerm(p)})
	}
	// The other fields. An asset must satisfy each of them.
	for _, a := range in.Attributes {
		if a.Value == nil {
			q.Prefixes = append(q.Prefixes, hasKey(a.Key))
		} else {
			all = append(all, hasAttribute(Attribute{Key: a.Key, Value: *a.Value}))
		}
	}
	for _, tag := range in.Tags {
		all = append(all, []string{term(kindTag, tag)})
	}
	if in.Generator != "" {
		all = append(all, []string{term(kindGenerator, in.Generator)})
	}
	if in.Via != nil {
		all = append(all, []string{integerTerm(kindVia, *in.Via)})
	}
	if in.Rights != nil {
		all = append(all, []string{integerTerm(kindRights, *in.Rights)})
	}
	// The folders, which also say what the caller may see.
	if in.Folder != "" {
		n, err := req.folderSeen("folder", in.Folder)
		if err != nil {
			return q, err
		}
		all = append(all, []string{term(kindFolder, n.ID)})
	}
	if in.FolderTree != "" {
		n, err := req.folderSeen("folderTree", in.FolderTree)
		if err != nil {
			return q, err
		}
		all = append(all, req.seenInTree(n))
	}
	if in.Folder == "" && in.FolderTree == "" {
		all = append(all, req.visible(req.tree)...)
	}
	q.All = all
	return q, nil
}

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
	var behind bool
	if at.after != 0 || at.before != 0 { // without a cursor, the page is the first of the search
		var err error
		if behind, err = req.behind(found, at, first); err != nil {
			return SearchPage{}, err
		}
	}
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
	return p, nil
}

// behind reports whether the search finds an asset that comes before the page in its order. first
// is the ordinal of the page's first asset. It is 0 if the page is empty; then the asset of the
// cursor and all before it count.
func (req *request) behind(found *index.Set, at pageRange, first int64) (bool, error) {
	// One asset on the other side of the page's beginning is enough, in the opposite order.
	back := pageRange{ascending: !at.ascending, limit: 1}
	switch {
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

// pageRange is the part of a library that a page is taken from. A cursor is the encrypted ordinal
// of an asset, so a page before or after it is a range of ordinals. It stays valid when the asset
// is removed.
type pageRange struct {
	after, before int64 // ordinals, exclusive; 0 = no bound
	ascending     bool
	limit         int // assets at most
}

// pageRange returns the range of assets that the search asks for with its cursors, its order and
// its limit. It returns ErrInvalid if a cursor is not of this library or the limit is out of range.
func (req *request) pageRange(in SearchRequest) (pageRange, error) {
	limit, err := req.pageLimit(in.Limit, 50)
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

// addedBetween returns bounds for the ordinals of the assets that were added at from or later, and
// before to. The ordinals are above after and below before. A zero time, and a bound of 0, mean no
// bound.
func (req *request) addedBetween(from, to time.Time) (after, before int64, err error) {
	if !from.IsZero() {
		if after, err = req.lastAddedBefore(from); err != nil {
			return 0, 0, err
		}
	}
	if !to.IsZero() {
		if before, err = req.lastAddedBefore(to); err != nil {
			return 0, 0, err
		}
		before++
	}
	return after, before, nil
}

// lastAddedBefore returns an ordinal that divides the assets of the library at the time t: those up
// to it were added before t, and those above it at t or later. It is 0 if none was added before t.
//
// There is no index by time. Times never decrease along the ordinals, so the ordinal can be
// searched for by halving, with one read of an asset for each step.
func (req *request) lastAddedBefore(t time.Time) (int64, error) {
	at := t.UnixMilli()
	if t.Truncate(time.Millisecond).Before(t) {
		at++ // the times of assets are whole milliseconds
	}
	low, high := int64(0), req.state.Last // the result is one of these or between them
	for low < high {
		middle, next := low+(high-low)/2, Record{}
		// If the first asset above the middle was added before t, the result is above the middle.
		// There may be no such asset, since assets are removed.
		for first, err := range req.assetsIn(nil, pageRange{after: middle, ascending: true, limit: 1}) {
			if err != nil {
				return 0, err
			}
			next = first
		}
		if next.Ordinal == 0 || next.CreatedAt >= at {
			high = middle
		} else {
			low = next.Ordinal
		}
	}
	return low, nil
}
