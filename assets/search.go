package assets

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/vitrine-go/vitrine/internal/paging"
)

// Search returns a page of the assets that match the request and that the caller sees, with their total and the facets that the
// request asks for. All of it is counted among the assets that the caller sees, so the numbers reveal nothing about others.
//
// It returns ErrInvalid if a field exceeds its limit or a cursor is not of this library, ErrNotFound if the caller does not
// see a folder of the request, and ErrBusy if the search takes longer than Limits.SearchTime.
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
			if err = s.renew(limited, lib, old); err == nil {
				continue
			}
		}
		if err != nil && limited.Err() != nil && ctx.Err() == nil {
			err = newError(ErrBusy, CodeUnavailable, "", "the search takes longer than %s: try again, or narrow it down", s.limits.SearchTime)
		}
		return out, err
	}
}

// AllAssets yields the assets that a search finds, beginning with the page that the request asks for, towards newer assets if
// the search is ascending and towards older ones otherwise. It yields every asset once, even while others are added. It
// yields an error once, as its last pair.
func (s *Service) AllAssets(ctx context.Context, by Caller, lib Library, in SearchRequest) iter.Seq2[Asset, error] {
	in.Facets = nil // they would be counted for each page
	return paging.All("", func(cursor string) ([]Asset, string, error) {
		page, err := s.Search(ctx, by, lib, in.From(cursor))
		return page.Assets, in.Following(page), err
	})
}

func (req *request) search(in SearchRequest) (SearchPage, error) {
	list, prefixes, err := in.check(req.limits)
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
	q, err := req.conditions(in, list, prefixes)
	if err != nil {
		return SearchPage{}, err
	}
	if in.Query != "" && len(list)+len(prefixes) == 0 { // the text has no word, so no asset matches
		return SearchPage{Facets: facets.empty()}, nil
	}
	if err := req.checkTerms(in, list, prefixes); err != nil {
		return SearchPage{}, err
	}
	if q.After, q.Before, err = req.addedBetween(in.AddedFrom, in.AddedBefore); err != nil {
		return SearchPage{}, err
	}
	page, err := req.page(q, cursor)
	if err != nil {
		return SearchPage{}, err
	}
	if page.Paging.Total, err = req.total(q); err != nil {
		return SearchPage{}, err
	}
	page.Facets, err = req.facets(facets, q)
	return page, err
}

// conditions returns a query for the assets that the search asks for, without its times and cursors. Unless the search
// names a folder, a last set of terms restricts it to folders that the caller sees: those of folderTree, or all. That set is
// left out for a caller who sees every folder.
func (req *request) conditions(in SearchRequest, list, prefixes []string) (q AssetQuery, err error) {
	var all []AnyOf
	for _, w := range list {
		all = append(all, AnyOf{wordTerm(w)})
	}
	for _, p := range prefixes {
		q.Prefixes = append(q.Prefixes, AnyOf{prefixTerm(p)})
	}
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
		all = append(all, req.seenBelow(n))
	}
	if in.Folder == "" && in.FolderTree == "" {
		all = append(all, req.visible(req.tree)...)
	}
	q.All = all
	return q, nil
}

// total counts what q finds.
func (req *request) total(q AssetQuery) (int64, error) {
	if len(q.All) == 0 && len(q.Prefixes) == 0 && q.After == 0 && q.Before == 0 {
		return req.state.Count, nil
	}
	return req.r.Count(req.ctx, q)
}

// addedBetween returns bounds of the assets that were added from the time from on and before the time to: their ordinals are above
// after and below before. 0 means no bound.
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

// lastAddedBefore returns the highest ordinal of the assets added before the time t. Times never decrease along the ordinals, so
// the ordinal can be searched for. The steps alternate between halving the range and interpolation, which
// takes few reads when assets are added at a steady pace.
func (req *request) lastAddedBefore(t time.Time) (int64, error) {
	at := t.UnixMilli()
	if t.Truncate(time.Millisecond).Before(t) {
		at++ // the times of assets are whole milliseconds
	}
	low, high := int64(0), req.state.Last // the ordinal is one from low to high
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
		next, nextAt := int64(0), int64(0)
		for r, err := range req.r.Assets(req.ctx, AssetQuery{After: middle, Ascending: true, Limit: 1}) {
			if err != nil {
				return 0, err
			}
			next, nextAt = r.Ordinal, r.CreatedAt
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
