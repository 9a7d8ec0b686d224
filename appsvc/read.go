package appsvc

import (
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/vitrine-go/vitrine/internal/paging"
)

// Every method here reads in one View, so what it returns is of one snapshot. A list asks its store for one item more than a page
// has: the item shows that there is a next page, and is read again for that page.

// App returns the latest version of an app. Like every method that takes the id of an app, it returns
// ErrNotFound if there is no such app, or if the caller neither owns it nor moderates or reads one of its groups. Both
// errors are equal, so nobody learns which ids exist.
func (s *Service) App(ctx context.Context, by Caller, id string) (App, error) {
	return s.Version(ctx, by, id, Latest)
}

// Version returns a version of an app; Latest stands for the highest. The groups of the latest version decide who may read any
// of them: whoever may not read the app now may not read its past either. It returns ErrNotFound if the app has no such version,
// and ErrInvalid for the zero Version.
func (s *Service) Version(ctx context.Context, by Caller, id string, v Version) (App, error) {
	return s.versionFor(ctx, by, readableHead, id, v)
}

// right is readableHead or usableHead: it returns the head of an app if the caller has the right, else an error.
type right func(ctx context.Context, r Reader, by Caller, id string) (Head, error)

// versionFor returns a version of an app, if the caller has the right to the app. Restore and PutTag read the version
// that they need with it, and ask for the right to change the app. Head and version come from one snapshot. The right is checked
// before the version is looked for, so that a caller without it does not learn which versions exist. The errors come in this
// order: those of Caller.check, ErrInvalid for the zero Version, those of the right, and ErrNotFound for a version that the app
// does not have.
func (s *Service) versionFor(ctx context.Context, by Caller, may right, id string, v Version) (App, error) {
	if err := by.check(); err != nil {
		return App{}, err
	}
	var app App
	if v.IsZero() {
		return App{}, errNoVersion()
	}
	err := s.store.View(ctx, func(r Reader) error {
		if _, err := may(ctx, r, by, id); err != nil {
			return err
		}
		var err error
		app, err = findVersion(ctx, r, id, v)
		return err
	})
	return app, err
}

// errNoVersion is the error of a request with the zero Version, which means that the caller forgot to name one.
func errNoVersion() error {
	return invalid("/appVersion", "a version is missing: name one, or ask for the latest")
}

// findVersion reads a version of an app that the caller may read, so its ErrNotFound may name the version.
func findVersion(ctx context.Context, r Reader, id string, v Version) (App, error) {
	app, err := r.App(ctx, id, v)
	if errors.Is(err, ErrNotFound) {
		return App{}, notFound("app %q has no version %q", id, v)
	}
	return app, err
}

// ListVersionsRequest asks for versions of an app, newest first. ListVersionsRequest{AppID: id} is the newest page.
type ListVersionsRequest struct {
	AppID  string
	Before Version // only lower ones; the zero Version or Latest = from the newest on
	After  string  // Next of the page before; "" = the first page
	Limit  int     // 1 to 500; 0 = 50
}

// Below returns the lower one of Before and After: the page has only versions below it. The cursor of this list is the number
// of the last version of a page, so both mean the same. It returns Before if After is "", and ErrInvalid if After is not a cursor
// of this list.
func (in ListVersionsRequest) Below() (Version, error) {
	if in.After == "" {
		return in.Before, nil
	}
	last, err := ParseVersion(in.After)
	if err != nil {
		return Version{}, invalidParameter("after", "not a cursor of this list")
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
func (s *Service) ListVersions(ctx context.Context, by Caller, in ListVersionsRequest) (Page[App], error) {
	if err := by.check(); err != nil {
		return Page[App]{}, err
	}
	limit, err := s.limits.pageLimit(in.Limit, 50)
	if err != nil {
		return Page[App]{}, err
	}
	before, err := in.Below()
	if err != nil {
		return Page[App]{}, err
	}
	var out Page[App]
	err = s.store.View(ctx, func(r Reader) error {
		if _, err := readableHead(ctx, r, by, in.AppID); err != nil {
			return err
		}
		page := newPageBuilder[App](ctx, limit, s.limits.PageBytes)
		for app, err := range r.Versions(ctx, VersionQuery{AppID: in.AppID, Before: before, Limit: limit + 1}) {
			if err != nil {
				return err
			}
			if ok, err := page.add(app, len(app.Body)); err != nil {
				return err
			} else if !ok {
				break
			}
		}
		out = Page[App]{Items: page.items}
		if page.more {
			out.Next = page.items[len(page.items)-1].Version.String()
		}
		return nil
	})
	return out, err
}

// AllVersions yields the versions of an app, newest first, page by page. in.Limit is how many are read at a time. It ends
// with the first error, which comes in the last pair.
func (s *Service) AllVersions(ctx context.Context, by Caller, in ListVersionsRequest) iter.Seq2[App, error] {
	return paging.All(in.After, func(after string) ([]App, string, error) {
		in.After = after
		page, err := s.ListVersions(ctx, by, in)
		return page.Items, page.Next, err
	})
}

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
func (s *Service) ListApps(ctx context.Context, by Caller, in ListAppsRequest) (Page[App], error) {
	if err := by.check(); err != nil {
		return Page[App]{}, err
	}
	limit, err := s.limits.pageLimit(in.Limit, 100)
	if err != nil {
		return Page[App]{}, err
	}
	// What a store matches is the rule of Caller.mayRead, as a query: one of owner and groups must match.
	q := AppQuery{Owner: by.URN, Groups: slices.Concat(by.Moderates, by.Reads),
		Component: in.UsingComponent, Sort: in.Sort, Limit: limit + 1} // the last one shows that there are more
	if q.Sort == "" {
		q.Sort = CreatedDescending
	}
	if !slices.Contains(sorts, q.Sort) {
		return Page[App]{}, invalidParameter("sort", "%q: want createdAt, -createdAt, updatedAt or -updatedAt", in.Sort)
	}
	if in.After != "" {
		after, err := parseCursor(in.After, q.Sort)
		if err != nil {
			return Page[App]{}, err
		}
		q.After = &after
	}
	var out Page[App]
	err = s.store.View(ctx, func(r Reader) error {
		page := newPageBuilder[App](ctx, limit, s.limits.PageBytes)
		for app, err := range r.Apps(ctx, q) {
			if err != nil {
				return err
			}
			if ok, err := page.add(app, len(app.Body)); err != nil {
				return err
			} else if !ok {
				break
			}
		}
		out = Page[App]{Items: page.items}
		if page.more {
			out.Next = q.Position(Head{Meta: page.items[len(page.items)-1].Meta}).cursor(q.Sort)
		}
		return nil
	})
	return out, err
}

// AllApps yields the apps that the caller may read, from in.After on, page by page. in.Limit is how many are read at a
// time. It ends with the first error, which comes in the last pair.
func (s *Service) AllApps(ctx context.Context, by Caller, in ListAppsRequest) iter.Seq2[App, error] {
	return paging.All(in.After, func(after string) ([]App, string, error) {
		in.After = after
		page, err := s.ListApps(ctx, by, in)
		return page.Items, page.Next, err
	})
}
