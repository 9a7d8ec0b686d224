package appsvc

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
)

// Tag is a named pointer to a version of an app; it can be moved (contract, section 2.4).
type Tag struct {
	AppID      string
	Name       string
	AppVersion Version
}

var tagName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$`)

// TagPage is a list of tags. Apps holds the version that each tag points to, in the same order,
// when it was asked for.
type TagPage struct {
	Tags []Tag
	Apps []App
	More bool // tags remain beyond a full page
}

// ListTags asks for the tags of an app, by name.
type ListTags struct {
	AppID string
	After string // only names after this one
	Limit int    // 1 to 500; 0 = all
	Embed bool   // with the versions they point to
}

// Tags returns a page of the tags of an app (contract, endpoint 8). It ends before the limit when
// it has reached 16 MiB. ErrInvalid, ErrNotFound.
func (s *Service) Tags(ctx context.Context, by Caller, in ListTags) (TagPage, error) {
	limit, err := s.limits.pageLimit(in.Limit, 0)
	if err != nil {
		return TagPage{}, err
	}
	q := TagQuery{AppID: in.AppID, After: in.After}
	if limit > 0 {
		q.Limit = limit + 1
	}
	var out TagPage
	err = s.store.View(ctx, func(r Reader) (err error) {
		if _, err := usable(ctx, r, by, in.AppID); err != nil {
			return err
		}
		out, err = s.tagPage(ctx, r, q, limit, in.Embed)
		return err
	})
	return out, err
}

func (s *Service) tagPage(ctx context.Context, r Reader, q TagQuery, limit int, embed bool) (TagPage, error) {
	page := newPage[Tag](limit, s.limits.PageBytes)
	var apps []App
	for tag, err := range r.Tags(ctx, q) {
		if err != nil {
			return TagPage{}, err
		}
		var app App
		if embed {
			if app, err = r.App(ctx, tag.AppID, tag.AppVersion); err != nil {
				return TagPage{}, err
			}
		}
		if !page.add(tag, len(tag.Name)+100+len(app.Body)) {
			break
		}
		if embed {
			apps = append(apps, app)
		}
	}
	return TagPage{page.items, apps, page.more}, nil
}

// Tag returns one tag of an app, alone on its page (contract, endpoint 9). ErrNotFound.
func (s *Service) Tag(ctx context.Context, by Caller, appID, name string, embed bool) (TagPage, error) {
	var out TagPage
	err := s.store.View(ctx, func(r Reader) (err error) {
		if _, err := usable(ctx, r, by, appID); err != nil {
			return err
		}
		if !tagName.MatchString(name) {
			return noTag(appID, name)
		}
		out, err = s.tagPage(ctx, r, TagQuery{AppID: appID, Name: name}, 1, embed)
		if err == nil && len(out.Tags) == 0 {
			return noTag(appID, name)
		}
		return err
	})
	return out, err
}

func noTag(appID, name string) error {
	return fmt.Errorf("%w: tag %q of app %q", ErrNotFound, name, appID)
}

// TaggedApp returns the version of an app that a tag points to (contract, endpoint 12). ErrNotFound.
func (s *Service) TaggedApp(ctx context.Context, by Caller, appID, name string) (App, error) {
	page, err := s.Tag(ctx, by, appID, name, true)
	if err != nil {
		return App{}, err
	}
	return page.Apps[0], nil
}

// PutTag says where a tag is to point.
type PutTag struct {
	AppID          string
	Name           string  // [A-Za-z0-9_][A-Za-z0-9._-]{0,127}
	Version        Version // Latest is allowed
	Embed          bool    // answer with the version too
	IdempotencyKey string  // "" = none
}

// PutTag creates a tag or moves it (contract, endpoint 10). ErrInvalid for a name that no tag can
// have, ErrNotFound for an unknown app or version.
func (s *Service) PutTag(ctx context.Context, by Caller, in PutTag) (TagPage, error) {
	if !tagName.MatchString(in.Name) {
		return TagPage{}, fmt.Errorf("%w: tag: %q: want a letter, digit or underscore, then up to 127 of these, dots and hyphens", ErrInvalid, in.Name)
	}
	once, err := newOnce(by, in.IdempotencyKey, "put tag", in)
	if err != nil {
		return TagPage{}, err
	}
	var tag Tag
	var app App
	prepare := func() (err error) {
		app, err = s.Version(ctx, by, in.AppID, in.Version)
		return err
	}
	repeated, err := s.write(ctx, once, &tag, prepare, func(tx Tx) error {
		head, err := usable(ctx, tx, by, in.AppID)
		if err != nil {
			return err
		}
		if in.Version == Latest && app.Version != head.Version { // the app has moved on since it was read
			if app, err = tx.App(ctx, in.AppID, Latest); err != nil {
				return err
			}
		}
		tag = Tag{in.AppID, in.Name, app.Version}
		return tx.SetTag(ctx, tag)
	})
	if err == nil && repeated {
		app, err = s.Version(ctx, by, tag.AppID, tag.AppVersion)
	}
	if err != nil {
		return TagPage{}, err
	}
	out := TagPage{Tags: []Tag{tag}}
	if in.Embed {
		out.Apps = []App{app}
	}
	return out, nil
}

// DeleteTag removes a tag (contract, endpoint 11). ErrNotFound.
func (s *Service) DeleteTag(ctx context.Context, by Caller, appID, name, idempotencyKey string) error {
	once, err := newOnce(by, idempotencyKey, "delete tag", []string{appID, name})
	if err != nil {
		return err
	}
	_, err = s.write(ctx, once, &struct{}{}, nil, func(tx Tx) error {
		if _, err := usable(ctx, tx, by, appID); err != nil {
			return err
		}
		err := tx.DeleteTag(ctx, appID, name)
		if errors.Is(err, ErrNotFound) {
			return noTag(appID, name)
		}
		return err
	})
	return err
}

// TagsNamed returns the tag of one name of each of the apps, in their order. Apps without it, and
// apps that the caller may not use, are left out (contract, endpoint 13). ErrInvalid for no app or
// more than 100, ErrNotFound for a name that no tag can have.
func (s *Service) TagsNamed(ctx context.Context, by Caller, name string, appIDs []string) ([]Tag, error) {
	if len(appIDs) == 0 || len(appIDs) > s.limits.AppIDs {
		return nil, fmt.Errorf("%w: appId: given %d times, want 1 to %d", ErrInvalid, len(appIDs), s.limits.AppIDs)
	}
	if !tagName.MatchString(name) {
		return nil, fmt.Errorf("%w: no tag can be named %q", ErrNotFound, name)
	}
	var tags []Tag
	err := s.store.View(ctx, func(r Reader) error {
		tags = nil
		for i, id := range appIDs {
			if slices.Contains(appIDs[:i], id) {
				continue
			}
			if _, err := usable(ctx, r, by, id); errors.Is(err, ErrNotFound) {
				continue
			} else if err != nil {
				return err
			}
			for tag, err := range r.Tags(ctx, TagQuery{AppID: id, Name: name}) {
				if err != nil {
					return err
				}
				tags = append(tags, tag)
			}
		}
		return nil
	})
	return tags, err
}
