package appsvc

import (
	"context"
	"slices"
)

// Restore says which version of which app to bring back.
type Restore struct {
	AppID          string
	Version        Version // Latest is allowed
	IdempotencyKey string  // "" = none
}

// Restore stores an older version of an app, or the latest again, as a new highest one. What was
// stored is copied; no config is validated again, and tags do not move. ErrNotFound, and
// ErrForbidden where it would add a group that the caller does not moderate (contract, endpoint 7).
func (s *Service) Restore(ctx context.Context, by Caller, in Restore) (App, error) {
	once, err := newOnce(by, in.IdempotencyKey, "restore", in)
	if err != nil {
		return App{}, err
	}
	var old App
	var d draft
	take := func(app App, err error) error {
		if err != nil {
			return err
		}
		old = app
		d, err = old.Body.draft()
		return err
	}
	prepare := func() error { return take(s.Version(ctx, by, in.AppID, in.Version)) }
	return s.writeVersion(ctx, once, prepare, func(tx Tx) (App, error) {
		head, err := usable(ctx, tx, by, in.AppID)
		if err != nil {
			return App{}, err
		}
		if in.Version == Latest && old.Version != head.Version { // the app has moved on since it was read
			if err := take(tx.App(ctx, in.AppID, Latest)); err != nil {
				return App{}, err
			}
		}
		if err := by.mayCreateIn(added(head.Groups, d.groups)); err != nil {
			return App{}, err
		}
		return s.addVersion(ctx, tx, s.next(head, by), d, s.limits.AppBytes)
	})
}

// added returns the groups that are new.
func added(before, after []string) []string {
	return slices.DeleteFunc(slices.Clone(after), func(g string) bool { return slices.Contains(before, g) })
}
