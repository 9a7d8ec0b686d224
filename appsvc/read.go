package appsvc

import (
	"context"

	"github.com/vitrine-go/vitrine"
)

// App returns the latest version of an app. See Session.App.
func (s *Service) App(ctx context.Context, by vitrine.Caller, id string) (App, error) {
	return s.Version(ctx, by, id, vitrine.Latest)
}

// Version returns a version of an app. See Session.Version.
func (s *Service) Version(ctx context.Context, by vitrine.Caller, id string, v vitrine.Version) (App, error) {
	return s.versionFor(ctx, by, false, id, v, "")
}

// versionFor returns a version of an app, if the caller may read the app, or with change may change it. Restore and
// PutTag read the version that they need with it. Head and version come from one snapshot. The right is checked before
// the version is looked for, so that a caller without it does not learn which versions exist. The errors come in this
// order: those of Caller.check, ErrInvalid for the zero Version, those of the right, and ErrNotFound for a version that
// the app does not have, with this pointer.
func (s *Service) versionFor(
	ctx context.Context, by vitrine.Caller, change bool, id string, v vitrine.Version, pointer string,
) (app App, err error) {
	if err := by.CheckUnrestricted(); err != nil {
		return App{}, err
	}
	if v.IsZero() {
		return App{}, errNoVersion()
	}
	err = s.store.view(ctx, func(r *reader) error {
		if v == vitrine.Latest {
			last, err := r.latest(ctx, id)
			app = last.App
			return authorize(by, last.head, err, change)
		}
		h, err := r.head(ctx, id)
		if err = authorize(by, h, err, change); err != nil {
			return err
		}
		if app, err = r.version(ctx, h, v); err != nil {
			err = below(pointer, err)
		}
		return err
	})
	if err != nil {
		return App{}, err
	}
	return app, nil
}

// errNoVersion is the error of a request with the zero Version, which means that the caller forgot to name one.
func errNoVersion() error {
	return invalid("/appVersion", "a version is missing: name one, or ask for the latest")
}
