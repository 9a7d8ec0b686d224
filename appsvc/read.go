package appsvc

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// App returns the latest version of an app (contract, endpoint 3). ErrNotFound when there is no
// such app, or the caller neither owns it nor moderates one of its groups; so do all methods that
// take an app's id.
func (s *Service) App(ctx context.Context, by Caller, id string) (App, error) {
	return s.Version(ctx, by, id, Latest)
}

// Version returns a version of an app (contract, endpoint 6). Who may read it is decided by the
// groups that the latest version has. ErrNotFound.
func (s *Service) Version(ctx context.Context, by Caller, id string, v Version) (App, error) {
	var app App
	err := s.store.View(ctx, func(r Reader) error {
		if _, err := usable(ctx, r, by, id); err != nil {
			return err
		}
		var err error
		app, err = findVersion(ctx, r, id, v)
		return err
	})
	return app, err
}

func findVersion(ctx context.Context, r Reader, id string, v Version) (App, error) {
	app, err := r.App(ctx, id, v)
	if errors.Is(err, ErrNotFound) {
		return App{}, fmt.Errorf("%w: version %q of app %q", ErrNotFound, v, id)
	}
	return app, err
}

// ListVersions asks for versions of an app, newest first.
type ListVersions struct {
	AppID  string
	Before Version // only lower ones; Latest = from the newest on
	Limit  int     // 1 to 500; 0 = 50
}

// Versions returns a page of versions of an app and whether older ones remain (contract,
// endpoint 5). ErrInvalid, ErrNotFound.
func (s *Service) Versions(ctx context.Context, by Caller, in ListVersions) (apps []App, more bool, err error) {
	limit, err := s.limits.pageLimit(in.Limit, 50)
	if err != nil {
		return nil, false, err
	}
	err = s.store.View(ctx, func(r Reader) error {
		if _, err := usable(ctx, r, by, in.AppID); err != nil {
			return err
		}
		page := newPage[App](limit, s.limits.PageBytes)
		for app, err := range r.Versions(ctx, VersionQuery{AppID: in.AppID, Before: in.Before, Limit: limit + 1}) {
			if err != nil {
				return err
			}
			if !page.add(app, len(app.Body)) {
				break
			}
		}
		apps, more = page.items, page.more
		return nil
	})
	return apps, more, err
}

// ListApps asks for apps, each as its latest version.
type ListApps struct {
	Sort           Sort   // "" = CreatedDescending
	UsingComponent string // name of a component that powers an element; "" = any
	Limit          int    // 1 to 500; 0 = 100
	After          string // what an earlier page gave as next; "" = from the start
}

// Apps returns a page of the apps that the caller may use, and where the next one starts: "" when
// there is none (contract, endpoint 1). ErrInvalid.
func (s *Service) Apps(ctx context.Context, by Caller, in ListApps) (apps []App, next string, err error) {
	limit, err := s.limits.pageLimit(in.Limit, 100)
	if err != nil {
		return nil, "", err
	}
	q := AppQuery{Owner: by.URN, Groups: by.Moderates, Component: in.UsingComponent, Sort: in.Sort, Limit: limit + 1}
	if q.Sort == "" {
		q.Sort = CreatedDescending
	}
	if !slices.Contains(sorts, q.Sort) {
		return nil, "", fmt.Errorf("%w: sort: %q: want createdAt, -createdAt, updatedAt or -updatedAt", ErrInvalid, in.Sort)
	}
	if in.After != "" {
		after, err := parseCursor(in.After, q.Sort)
		if err != nil {
			return nil, "", err
		}
		q.After = &after
	}
	err = s.store.View(ctx, func(r Reader) error {
		page := newPage[App](limit, s.limits.PageBytes)
		for app, err := range r.Apps(ctx, q) {
			if err != nil {
				return err
			}
			if !page.add(app, len(app.Body)) {
				break
			}
		}
		apps, next = page.items, ""
		if page.more {
			next = q.Position(Head{Meta: apps[len(apps)-1].Meta}).cursor(q.Sort)
		}
		return nil
	})
	return apps, next, err
}
