package appsvc

import (
	"context"
	"slices"
)

// addVersion stores the draft as a version of an app, and records the change. It is the last step of CreateApp, Patch
// and Restore, which have checked the rights of the caller and the draft. They fill the members of c that describe the
// app before the change; addVersion fills those after it. next describes the new version. It returns ErrTooLarge if the
// JSON of the app has more than most bytes, and the error of Options.Check if it rejects the change. In both cases the
// transaction is rolled back.
func (s *Session) addVersion(ctx context.Context, tx *writer, c Change, next App, d draft, most int) (App, error) {
	d.elements = slices.Clone(d.elements) // the caller may call again
	d.giveKeys(next.Version)
	body := d.body(next.Owner)
	h := d.head(next)
	app := h.whole(body)
	if err := app.checkSize(most); err != nil {
		return App{}, err
	}
	// The Change is complete before the write, so that commitChange has all of it. Patch has set its Old. Restore sets
	// Old only if there is an Options.Check, since nothing else reads it.
	c.AppID, c.After, c.New = next.ID, h.App, body
	c.From, c.To = c.Before.Version, next.Version
	if err := tx.putVersion(ctx, h, body); err != nil {
		return App{}, err
	}
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
	a := h.described()
	a.Version = a.Version.Next()
	a.UpdatedAt = max(s.service.millis(), h.UpdatedAt)
	a.UpdatedBy, a.agent = s.by.URN, s.by.Agent
	return a
}
