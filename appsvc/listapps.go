package appsvc

import (
	"context"
	"iter"
	"slices"

	"github.com/vitrine-go/vitrine"
)

// Sort is an order of apps. Apps of the same time are ordered by ascending ID, whatever the order.
type Sort string

// The orders in which apps can be listed.
const (
	CreatedAscending  Sort = "createdAt"
	CreatedDescending Sort = "-createdAt"
	UpdatedAscending  Sort = "updatedAt"
	UpdatedDescending Sort = "-updatedAt"
)

var sorts = []Sort{CreatedAscending, CreatedDescending, UpdatedAscending, UpdatedDescending}

// ListAppsRequest asks for apps, each as its latest version. The zero value asks for the first page of all apps that the
// caller may read, the one created last first.
type ListAppsRequest struct {
	Sort           Sort   // "" = CreatedDescending
	UsingComponent string // name of a component that powers an element; "" = any
	After          string // Next of the page before; "" = the first page
	Limit          int    // 1 to 500; 0 = 100
}

// ListApps returns a page of the apps that the caller may read, each as its latest version: those that it owns, and those that
// have one of the groups that it moderates or reads, or a site of such a network. Apps of the same time are in the order of
// their ids. A page also ends when its bodies have reached Limits.PageBytes.
//
// The cursor is a position in the order. So an app that is created or changed between two pages is met only if it comes after
// this position: with UpdatedAscending a change moves an app to the end, where a caller that reads on meets it again.
//
// It returns ErrInvalid if Sort is unknown, if Limit is out of range, or if After is not a cursor of this list in this order.
func (s *Service) ListApps(ctx context.Context, by vitrine.Caller, in ListAppsRequest) (vitrine.Page[App], error) {
	return list(ctx, s, by, in.Limit, 100, func(r *reader, limit int) (page vitrine.Page[App], err error) {
		q := appQuery{by: by, component: in.UsingComponent, sort: in.Sort, limit: limit + 1} // the last one shows that there are more
		if q.sort == "" {
			q.sort = CreatedDescending
		}
		if !slices.Contains(sorts, q.sort) {
			return page, invalidParameter("sort", "%q: want createdAt, -createdAt, updatedAt or -updatedAt", in.Sort)
		}
		if in.After != "" {
			time, id, ok := parseCursor(string(q.sort), in.After)
			if !ok {
				return page, invalidParameter("after", "not a cursor of this list in this order")
			}
			q.after = &appPosition{time, id}
		}
		return fill(ctx, s, limit, r.apps(ctx, q), App.size, func(last App) string {
			at := q.position(last.Meta)
			return cursor(string(q.sort), at.Time, at.ID)
		})
	})
}

// size is how many bytes of a page an app takes.
func (a App) size() int { return len(a.Body) }

// AllApps yields the apps that the caller may read, from in.After on, page by page. in.Limit is how many are read at a
// time. It ends with the first error, which comes in the last pair.
func (s *Service) AllApps(ctx context.Context, by vitrine.Caller, in ListAppsRequest) iter.Seq2[App, error] {
	return all(&in.After, func() (vitrine.Page[App], error) { return s.ListApps(ctx, by, in) })
}
