package appsvc

import (
	"cmp"
	"context"
	"errors"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc/internal/jsontree"
	"github.com/vitrine-go/vitrine/appsvc/internal/records"
)

// TaggedApp returns the version of an app that a tag points to. This is how apps are delivered: it is the one method
// that a caller with TagsOnly may call. Such a caller gets the app without its owner, its editor and its groups, and
// ErrForbidden for a tag that is not among its Tags. Tag and version come from one snapshot, so a move of the tag is
// seen as a whole or not at all. TaggedApp returns ErrNotFound as App does, or if the app has no tag of this name.
func (s *Session) TaggedApp(ctx context.Context, appID, name string) (app App, err error) {
	if err := cmp.Or(s.by.CheckMethod("appsvc.TaggedApp"), s.checkLanguage()); err != nil {
		return App{}, err
	}
	err = s.service.store.view(ctx, func(r *reader) error {
		if err := r.Ahead(ctx, records.HeadKey(appID), records.TagKey(appID, name)); err != nil {
			return err
		}
		h, at, err := s.tagged(ctx, r, appID, name)
		if err == nil {
			app, err = r.version(ctx, h, at)
		}
		if err := cmp.Or(err, s.mayTake(len(app.Body))); err != nil {
			return err
		}
		app, err = s.answered(ctx, r, app)
		return err
	})
	if err != nil {
		return App{}, err
	}
	if s.by.TagsOnly {
		return app.withoutPeople()
	}
	return app, nil
}

// tagged returns the head of an app and the version that a tag points to. It checks in this order: whether the caller
// may read the app (ErrNotFound), whether it may read this tag (ErrForbidden), and whether the app has the tag
// (ErrNotFound). So a caller who is restricted to some tags does not learn which other tags the app has.
func (s *Session) tagged(
	ctx context.Context, r *reader, appID, name string,
) (h appHead, at vitrine.Version, err error) {
	if h, err = readableHead(ctx, r, s.by, appID); err != nil {
		return h, at, err
	}
	if err = s.mayReadTag(name); err != nil {
		return h, at, err
	}
	if at, err = r.PointsTo(ctx, appID, name); err == nil && at.IsZero() {
		err = noTag(appID, name)
	}
	return h, at, err
}

// withoutPeople returns the app without its owner, its editor and its groups, as callers with TagsOnly read it: a
// public page does not reveal who works on it. The elements are copied unchanged. The JSON has the same members as that
// of any app: owner and updatedBy are null, and groups is empty. The result is not a version of the store.
func (a App) withoutPeople() (App, error) {
	// The elements are at the end of a body, so the rest of the body from there can be appended as a whole.
	title, elements := jsontree.Member(a.Body, "title"), jsontree.Lookup(a.Body, "elements")
	if title == nil || elements == nil {
		return App{}, errors.New("stored body: no title or no elements")
	}
	body := append(make(Body, 0, len(a.Body)), `{"title":`...)
	body = append(append(body, title...), `,"owner":null,"groups":[],"elements":`...)
	a.Body = append(body, elements...)
	a.Owner, a.UpdatedBy, a.Groups = "", "", nil
	return a, nil
}
