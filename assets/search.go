package assets

import (
	"context"
	"iter"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/index"
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
	page.Facets, err = req.facets(facets, found)
	return page, err
}

// found returns the assets that match the query and were added within the times of the search, or nil if all do.
func (req *request) found(q index.Query, in SearchRequest) (*index.Set, error) {
	after, before, err := req.addedBetween(in.AddedFrom, in.AddedBefore)
	if err != nil {
		return nil, err
	}
	if len(q.All)+len(q.Prefixes) == 0 {
		if after == 0 && before == 0 {
			return nil, nil
		}
		q.All = [][]string{{everyAsset}}
	}
	found, err := req.index.Find(req.ctx, q)
	if err != nil {
		return nil, err
	}
	return found.Between(after, before), nil
}
