package assets

import (
	"context"
	"iter"
	"slices"
)

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
	all, folders, err := ss.conditions(in, list)
	if err != nil {
		return Page{}, err
	}
	if in.Query != "" && len(list) == 0 {
		return Page{}, nil // no letter or digit: nothing has it
	}
	q.All = all
	page, err := ss.page(q, folders)
	if err != nil {
		return Page{}, err
	}
	if folders != nil {
		all = append(all, folders.terms())
	}
	page.Paging.Total, err = ss.total(all)
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

// conditions returns the sets of terms that the search asks for, and the folders it is narrowed to:
// those of folderTree, or those the caller sees; nil where it is not. What is in one folder that the
// caller sees needs no narrowing.
func (ss *session) conditions(in Search, list []string) (all []AnyOf, folders *folderSet, err error) {
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
			return nil, nil, err
		}
		all = append(all, AnyOf{term(kindFolder, n.ID)})
	}
	if in.FolderTree != "" {
		n, err := ss.folderSeen("folderTree", in.FolderTree)
		if err != nil {
			return nil, nil, err
		}
		return all, ss.seenBelow(n), nil
	}
	if in.Folder != "" {
		return all, nil, nil
	}
	return all, ss.visible(ss.tree), nil
}

// manyFolders is from how many folders on the index is asked for their union only when it is needed:
// it has to go through a list for each of them. When they are a good part of all, most pages are full
// before that.
const manyFolders = 12

// found yields what the search finds in these folders, in order.
func (ss *session) found(q AssetQuery, folders *folderSet) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		if folders != nil && len(folders.ids) >= max(manyFolders, len(ss.tree.nodes)/4) {
			done, last := ss.sift(q, folders, yield)
			if done {
				return
			}
			if q.Ascending {
				q.After = last
			} else {
				q.Before = last
			}
		}
		if folders != nil {
			q.All = append(slices.Clip(q.All), folders.terms())
		}
		for r, err := range ss.r.Assets(ss.ctx, q) {
			if !yield(r, err) {
				return
			}
		}
	}
}

// sift goes through the first of what is found in any folder, and yields what is in these. It is done
// when there is no more, or nobody wants more; else it says how far it came.
func (ss *session) sift(q AssetQuery, folders *folderSet, yield func(Record, error) bool) (done bool, last int64) {
	q.Limit *= 4
	left := q.Limit
	for r, err := range ss.r.Assets(ss.ctx, q) {
		if (err != nil || folders.holds(r.Folders)) && !yield(r, err) || err != nil {
			return true, 0
		}
		left--
		last = r.Ordinal
	}
	return left > 0, last
}

// page fills a page and says what is on both sides of it.
func (ss *session) page(q AssetQuery, folders *folderSet) (Page, error) {
	var p Page
	var first, last int64
	size, more := 0, false
	limit := q.Limit
	q.Limit++
	for r, err := range ss.found(q, folders) {
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
	behind, err := ss.behind(q, folders, first)
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
func (ss *session) behind(q AssetQuery, folders *folderSet, first int64) (bool, error) {
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
	for _, err := range ss.found(back, folders) {
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
