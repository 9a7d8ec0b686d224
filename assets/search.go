package assets

import (
	"context"
	"errors"
	"iter"
	"time"

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
// caller does not see a folder of the request; and ErrBusy if the search takes longer than
// Limits.SearchTime.
func (s *Service) Search(ctx context.Context, by Caller, lib Library, in SearchRequest) (SearchPage, error) {
	limited, cancel := context.WithTimeout(ctx, s.limits.SearchTime)
	defer cancel()
	for {
		var out SearchPage
		err := s.view(limited, by, lib, func(req *request) error {
			page, err := req.search(in)
			out = page
			return err
		})
		if old, ok := errors.AsType[oldTerms](err); ok {
			// The index has entries of an earlier release: write them anew, and search again.
			if err = s.renewTerms(limited, lib, old); err == nil {
				continue
			}
		}
		if err != nil && limited.Err() != nil && ctx.Err() == nil { // SearchTime is over, and the caller still waits
			err = newError(ErrBusy, CodeUnavailable, "", "the search takes longer than %s: try again, or narrow it down", s.limits.SearchTime)
		}
		return out, err
	}
}

// AllAssets yields the assets that a search finds, beginning with the page that the request asks
// for. It goes on towards newer assets if the search is ascending and towards older ones otherwise.
// It reads a page at a time, and yields every asset once, even while others are added. It does not
// count facets. It yields an error once, as its last pair.
func (s *Service) AllAssets(ctx context.Context, by Caller, lib Library, in SearchRequest) iter.Seq2[Asset, error] {
	in.Facets = nil // they would be counted for each page, and nobody would see them
	return paging.All("", func(cursor string) ([]Asset, string, error) {
		page, err := s.Search(ctx, by, lib, in.From(cursor))
		return page.Assets, in.Following(page), err
	})
}

// search carries out a search on the snapshot of the request:
//
//  1. check the request and split its text into words;
//  2. turn it into a query: a list of sets of terms, which are entries of the search index. An asset
//     must have at least one term of each set. One of the sets is what the caller may see,
//     unless the caller sees every folder;
//  3. add AddedFrom and AddedBefore to the query, as bounds of ordinals: the ordinal of an asset is
//     its number in the order of adding;
//  4. count all assets that the query finds, read a page of them, and count the facets.
//
// It returns oldTerms if some assets still have terms of an earlier release, so that the query
// could miss them.
func (req *request) search(in SearchRequest) (SearchPage, error) {
	// 1. Check all of the request, before anything is searched.
	whole, prefixes, err := in.check(req.limits)
	if err != nil {
		return SearchPage{}, err
	}
	facets, err := facetsOf(in.Facets, req.limits)
	if err != nil {
		return SearchPage{}, err
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
	if err := req.checkTerms(in, whole, prefixes); err != nil {
		return SearchPage{}, err
	}
	// 3. The bounds of time.
	if q.After, q.Before, err = req.addedBetween(in.AddedFrom, in.AddedBefore); err != nil {
		return SearchPage{}, err
	}
	// 4. The total, the page and the facets.
	total, err := req.total(q) // before the page: a store may take the page from what it has found for the total
	if err != nil {
		return SearchPage{}, err
	}
	page, err := req.page(q, cursor)
	if err != nil {
		return SearchPage{}, err
	}
	page.Paging.Total = total
	page.Facets, err = req.facets(facets, q)
	return page, err
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
func (req *request) conditions(in SearchRequest, whole, prefixes []string) (q AssetQuery, err error) {
	var all []AnyOf
	// The text: each word in full, or as the beginning of a word.
	for _, w := range whole {
		all = append(all, AnyOf{wordTerm(w)})
	}
	for _, p := range prefixes {
		q.Prefixes = append(q.Prefixes, AnyOf{prefixTerm(p)})
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
		all = append(all, AnyOf{term(kindTag, tag)})
	}
	if in.Generator != "" {
		all = append(all, AnyOf{term(kindGenerator, in.Generator)})
	}
	if in.Via != nil {
		all = append(all, AnyOf{integerTerm(kindVia, *in.Via)})
	}
	if in.Rights != nil {
		all = append(all, AnyOf{integerTerm(kindRights, *in.Rights)})
	}
	// The folders, which also say what the caller may see.
	if in.Folder != "" {
		n, err := req.folderSeen("folder", in.Folder)
		if err != nil {
			return q, err
		}
		all = append(all, AnyOf{term(kindFolder, n.ID)})
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

// total returns how many assets q finds. The number of all assets of a library is part of its
// State, so it is not counted.
func (req *request) total(q AssetQuery) (int64, error) {
	if len(q.All) == 0 && len(q.Prefixes) == 0 && q.After == 0 && q.Before == 0 {
		return req.state.Count, nil
	}
	return req.r.Count(req.ctx, q)
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
// searched for, with one read of an asset for each step. The steps alternate between interpolation,
// which takes few reads when assets are added at a steady pace, and halving the range, which bounds
// the number of reads when they are not.
func (req *request) lastAddedBefore(t time.Time) (int64, error) {
	at := t.UnixMilli()
	if t.Truncate(time.Millisecond).Before(t) {
		at++ // the times of assets are whole milliseconds
	}
	// The result is an ordinal from low to high. lowAt and highAt are about when the assets with
	// these ordinals were added, for the interpolation.
	low, high := int64(0), req.state.Last
	if at > req.state.At {
		return high, nil
	}
	lowAt, highAt := int64(0), req.state.At
	for step := 0; low < high; step++ {
		middle := low + (high-low)/2
		switch {
		case step == 0:
			middle = low // the first asset tells when the library begins
		case step%2 == 1 && lowAt < highAt:
			middle = low + int64(float64(high-low)*(float64(at-lowAt)/float64(highAt-lowAt)))
			middle = min(max(middle, low), high-1)
		}
		// If the first asset above the middle was added before t, the result is above the middle.
		// There may be no such asset, since assets are removed.
		next, nextAt := int64(0), int64(0)
		for first, err := range req.r.Assets(req.ctx, AssetQuery{After: middle, Ascending: true, Limit: 1}) {
			if err != nil {
				return 0, err
			}
			next, nextAt = first.Ordinal, first.CreatedAt
		}
		if next == 0 || nextAt >= at {
			high, highAt = middle, max(nextAt, lowAt)
			if next == 0 {
				highAt = req.state.At
			}
		} else {
			low, lowAt = next, nextAt
		}
	}
	return low, nil
}
