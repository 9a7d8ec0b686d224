package assets

import "context"

// Search finds assets that the caller sees (A1). ErrInvalid for a search out of its limits and for a
// cursor that is not of this library; ErrNotFound for a folder the caller does not see.
func (s *Service) Search(ctx context.Context, by Caller, lib Library, in Search) (Page, error) {
	var out Page
	err := s.view(ctx, by, lib, func(ss *session) error {
		page, err := ss.search(in)
		out = page
		return err
	})
	return out, err
}

func (ss *session) search(in Search) (Page, error) {
	list, err := in.check(ss.limits)
	if err != nil {
		return Page{}, err
	}
	q, err := ss.place(in)
	if err != nil {
		return Page{}, err
	}
	if q.All, err = ss.conditions(in, list); err != nil {
		return Page{}, err
	}
	if in.Query != "" && len(list) == 0 {
		return Page{}, nil // no letter or digit: nothing has it
	}
	page, err := ss.page(q)
	if err != nil {
		return Page{}, err
	}
	page.Paging.Total, err = ss.total(q.All)
	return page, err
}

// place returns a query for the part of the library's order that the search asks for.
func (ss *session) place(in Search) (AssetQuery, error) {
	limit, err := ss.pageLimit(in.Limit)
	q := AssetQuery{Ascending: in.Order == Ascending || in.Since != "", Limit: limit}
	if err != nil {
		return q, err
	}
	for _, c := range []struct {
		field, cursor string
		bound         *int64
	}{{"since", in.Since, &q.After}, {"until", in.Until, &q.Before}} {
		if c.cursor == "" {
			continue
		}
		ordinal, ok := ss.seal.open(sealedCursor, c.cursor)
		if !ok {
			return q, invalidAt(c.field, "is not a cursor of this library")
		}
		*c.bound = ordinal
	}
	return q, nil
}

// conditions returns the sets of terms that the search asks for. The last is one of folders: those of
// folderTree, or those the caller sees. What is in one folder that the caller sees needs no more.
func (ss *session) conditions(in Search, list []string) (all []AnyOf, err error) {
	for _, t := range wordTerms(list) {
		all = append(all, AnyOf{t})
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
		n, err := ss.folderSeen("folder", in.Folder)
		if err != nil {
			return nil, err
		}
		all = append(all, AnyOf{term(kindFolder, n.ID)})
	}
	if in.FolderTree != "" {
		n, err := ss.folderSeen("folderTree", in.FolderTree)
		if err != nil {
			return nil, err
		}
		return append(all, ss.seenBelow(n)), nil
	}
	if in.Folder != "" {
		return all, nil
	}
	return append(all, ss.visible(ss.tree)...), nil
}

// page fills a page and says what is on both sides of it.
func (ss *session) page(q AssetQuery) (Page, error) {
	var p Page
	var first, last int64
	size, more := 0, false
	limit := q.Limit
	q.Limit++
	for r, err := range ss.r.Assets(ss.ctx, q) {
		if err != nil {
			return Page{}, err
		}
		if more = len(p.Assets) == limit || len(p.Assets) > 0 && size >= ss.limits.PageBytes; more {
			break
		}
		if last = r.Ordinal; first == 0 {
			first = r.Ordinal
		}
		a := ss.asset(r)
		size += a.size()
		p.Assets = append(p.Assets, a)
	}
	behind, err := ss.behind(q, first)
	if q.Ascending {
		p.Paging.HasNext, p.Paging.HasPrev = more, behind
	} else {
		p.Paging.HasPrev, p.Paging.HasNext = more, behind
	}
	if first != 0 {
		p.Paging.Prev = ss.seal.close(sealedCursor, min(first, last))
		p.Paging.Next = ss.seal.close(sealedCursor, max(first, last))
	}
	return p, err
}

// behind reports whether the search finds something on the side that a page with this first asset
// comes from; 0 is an empty page, which has its cursor's own asset on that side.
func (ss *session) behind(q AssetQuery, first int64) (bool, error) {
	back := AssetQuery{All: q.All, Ascending: !q.Ascending, Limit: 1}
	switch {
	case q.After == 0 && q.Before == 0:
		return false, nil // from the end of the library
	case q.Ascending && first != 0:
		back.Before = first
	case q.Ascending:
		back.Before = q.After + 1
	case first != 0:
		back.After = first
	default:
		back.After = q.Before - 1
	}
	for _, err := range ss.r.Assets(ss.ctx, back) {
		return err == nil, err
	}
	return false, nil
}

// total counts what all the sets match.
func (ss *session) total(all []AnyOf) (int64, error) {
	if len(all) == 0 {
		return ss.state.Count, nil
	}
	return ss.r.Count(ss.ctx, AssetQuery{All: all})
}
