package appsvc

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/vitrine-go/vitrine"
)

// addVersion stores the draft as a version of an app, and records the change. It is the last step of CreateApp, Patch
// and Restore, which have checked the rights of the caller and the draft. They fill the type of c and
// what the request says. next describes the new version: its number follows that of the latest one, and is 0 for a new
// app. addVersion returns ErrTooLarge if the JSON of the app has more than most bytes, and the error of Options.Check
// if that rejects the change. In both cases the transaction is rolled back.
func (s *Session) addVersion(ctx context.Context, tx *writer, c Change, next App, d draft, most int) (App, error) {
	last, err := tx.latest(ctx, next.ID)
	if err != nil && !errors.Is(err, vitrine.ErrNotFound) {
		return App{}, err
	}
	if next.Version != last.Version.Next() {
		return App{}, fmt.Errorf("version %s of app %q: want the one after the latest", next.Version, next.ID)
	}
	d.elements = slices.Clone(d.elements) // the caller may call again
	d.giveKeys(next.Version)
	h, body := d.head(next), d.body(next.Owner)
	app := h.whole(body)
	if err := app.checkSize(most); err != nil {
		return App{}, err
	}
	c.AppID, c.Before, c.After, c.Old, c.New = next.ID, last.head.App, h.App, last.Body, body
	c.From, c.To = last.Version, next.Version
	kept := h.record()
	stored, tail, err := tx.PutVersion(ctx, last.head.record(), last.Body, last.tail, &kept, body)
	if err == nil {
		err = tx.speaks(ctx, next.ID, "", last.Body, body)
	}
	if err != nil {
		return App{}, err
	}
	h.lists, h.large = kept.Lists, kept.Large
	tx.tx.Committed(func() { tx.s.keep(keptVersion{App: app, head: h, stored: stored, tail: tail}) })
	if c.Type == AppRestored {
		if err := tx.AddRestoration(ctx, next.ID, next.Version, c.Restored); err != nil {
			return App{}, err
		}
	}
	if c.Note != "" {
		if err := tx.AddNote(ctx, next.ID, next.Version, c.Note); err != nil {
			return App{}, err
		}
	}
	return app, s.commitChange(ctx, tx, c)
}

// nextVersion describes the version after h. Its time is never before that of h, even if the clock was set back, so
// that no version looks older than the one before it.
func (s *Session) nextVersion(h appHead) App {
	a := h.whole(nil)
	a.Version = a.Version.Next()
	a.UpdatedAt = max(s.service.millis(), h.UpdatedAt)
	a.UpdatedBy, a.agent = s.by.URN, s.by.Agent
	return a
}
