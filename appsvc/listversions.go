package appsvc

import (
	"context"
	"iter"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/paging"
)

// ListVersionsRequest asks for versions of an app, newest first. ListVersionsRequest{AppID: id} is the newest page.
type ListVersionsRequest struct {
	AppID  string
	Before vitrine.Version // only lower ones; the zero Version or Latest = from the newest on
	After  string          // Next of the page before; "" = the first page
	Limit  int             // 1 to 500; 0 = 50
}

// Below returns the lower one of Before and After: the page has only versions below it. The cursor of this list is the
// number of the last version of a page, so both have the same meaning. It returns Before if After is "", and ErrInvalid
// if After is not a cursor of this list.
func (in ListVersionsRequest) Below() (vitrine.Version, error) {
	if in.After == "" {
		return in.Before, nil
	}
	last, err := vitrine.ParseVersion(in.After)
	if err != nil {
		return vitrine.Version{}, fault.Invalid("after", "not a cursor of this list")
	}
	if in.Before.Number() >= 0 && in.Before.Compare(last) < 0 {
		return in.Before, nil
	}
	return last, nil
}

// ListVersions returns a page of the versions of an app with their content, newest first; ListHistory returns what
// changed instead. A page also ends before the version that would bring it above Limits.PageBytes. Versions that are
// added between two pages do not appear, since the list leads to lower versions.
//
// It returns ErrNotFound as App does, and ErrInvalid if Limit is out of range or After is not a cursor of this list.
func (s *Session) ListVersions(ctx context.Context, in ListVersionsRequest) (vitrine.Page[App], error) {
	s = s.calls("ListVersions")
	return list(ctx, s, in.Limit, 50, func(r *reader, limit int) (page vitrine.Page[App], err error) {
		before, err := in.Below()
		if err == nil {
			_, err = readableHead(ctx, r, s.by, in.AppID)
		}
		if err != nil {
			return page, err
		}
		return fill(s.service, limit, r.versionsBelow(ctx, in.AppID, before, limit+1), App.size,
			func(last App) string { return last.Version.String() })
	})
}

// AllVersions yields the versions of an app, newest first, page by page. in.Limit is the size of a page. The first
// error is the last pair.
func (s *Session) AllVersions(ctx context.Context, in ListVersionsRequest) iter.Seq2[App, error] {
	return paging.All(&in.After, func() (vitrine.Page[App], error) { return s.ListVersions(ctx, in) })
}
