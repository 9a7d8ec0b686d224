package appsvc

import (
	"context"
	"iter"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/paging"
)

// ListVersionsRequest asks for versions of an app, newest first. ListVersionsRequest{AppID: id} is the newest page.
type ListVersionsRequest struct {
	AppID  string
	Before vitrine.Version // only lower ones; the zero Version or Latest = from the newest on
	After  string          // Next of the page before; "" = the first page
	Limit  int             // 1 to 500; 0 = 50
}

// Below returns the lower one of Before and After: the page has only versions below it. The cursor of this list is the number
// of the last version of a page, so both mean the same. It returns Before if After is "", and ErrInvalid if After is not a cursor
// of this list.
func (in ListVersionsRequest) Below() (vitrine.Version, error) {
	if in.After == "" {
		return in.Before, nil
	}
	last, err := vitrine.ParseVersion(in.After)
	if err != nil {
		return vitrine.Version{}, invalidParameter("after", "not a cursor of this list")
	}
	if in.Before.Number() >= 0 && in.Before.Compare(last) < 0 {
		return in.Before, nil
	}
	return last, nil
}

// ListVersions returns a page of the versions of an app with their content, newest first; ListHistory returns what changed
// instead. A page also ends when its bodies have reached Limits.PageBytes. Versions that are added between two pages do not
// appear, since the list leads to lower versions.
//
// It returns ErrNotFound as App does, and ErrInvalid if Limit is out of range or After is not a cursor of this list.
func (s *Service) ListVersions(ctx context.Context, by vitrine.Caller, in ListVersionsRequest) (vitrine.Page[App], error) {
	if err := by.CheckUnrestricted(); err != nil {
		return vitrine.Page[App]{}, err
	}
	limit, err := s.limits.pageLimit(in.Limit, 50)
	if err != nil {
		return vitrine.Page[App]{}, err
	}
	before, err := in.Below()
	if err != nil {
		return vitrine.Page[App]{}, err
	}
	var out vitrine.Page[App]
	err = s.store.view(ctx, func(r *reader) error {
		if _, err := readableHead(ctx, r, by, in.AppID); err != nil {
			return err
		}
		page := newPageBuilder[App](ctx, limit, s.limits.PageBytes)
		for app, err := range r.versionsBelow(ctx, in.AppID, before, limit+1) {
			if err != nil {
				return err
			}
			if ok, err := page.add(app, len(app.Body)); err != nil {
				return err
			} else if !ok {
				break
			}
		}
		out = page.page(func(last App) string { return last.Version.String() })
		return nil
	})
	return out, err
}

// AllVersions yields the versions of an app, newest first, page by page. in.Limit is how many are read at a time. It ends
// with the first error, which comes in the last pair.
func (s *Service) AllVersions(ctx context.Context, by vitrine.Caller, in ListVersionsRequest) iter.Seq2[App, error] {
	return paging.All(in.After, func(after string) ([]App, string, error) {
		in.After = after
		page, err := s.ListVersions(ctx, by, in)
		return page.Items, page.Next, err
	})
}
