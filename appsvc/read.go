package appsvc

import (
	"context"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/fault"
)

// App returns the latest version of an app. Like every method that takes the id of an app, it returns
// ErrNotFound if there is no such app, or if the caller neither owns it nor moderates or reads one of its groups. Both
// errors are equal, so nobody learns which ids exist.
func (s *Session) App(ctx context.Context, id string) (App, error) {
	return s.Version(ctx, id, vitrine.Latest)
}

// Version returns a version of an app; Latest stands for the highest. The groups of the latest version decide who may
// read any of them: whoever may not read the app now may not read its past either. It returns ErrNotFound if the app
// has no such version, and ErrInvalid for the zero Version.
func (s *Session) Version(ctx context.Context, id string, v vitrine.Version) (App, error) {
	s = s.calls("Version")
	return s.versionFor(ctx, false, id, v, "")
}

// versionFor returns a version of an app, if the caller may read the app, or with change may change it. Restore and
// PutTag read the version that they need with it. Head and version come from one snapshot. The right is checked before
// the version is looked for, so that a caller without it does not learn which versions exist. The errors come in this
// order: those of Caller.CheckUnrestricted, ErrInvalid for the zero Version, those of the right, and ErrNotFound for a
// version that the app does not have, with this pointer.
func (s *Session) versionFor(
	ctx context.Context, change bool, id string, v vitrine.Version, pointer string,
) (app App, err error) {
	if err := s.check(); err != nil {
		return App{}, err
	}
	if v.IsZero() {
		return App{}, errNoVersion()
	}
	if err := s.checkLanguage(); err != nil {
		return App{}, err
	}
	err = s.service.store.view(ctx, func(r *reader) error {
		if v == vitrine.Latest {
			last, err := r.latest(ctx, id)
			if err = authorize(s.by, last.head, err, change); err != nil {
				return err
			}
			app = last.App
		} else {
			h, err := r.head(ctx, id)
			if err = authorize(s.by, h, err, change); err != nil {
				return err
			}
			if app, err = r.version(ctx, h, v); err != nil {
				return fault.At(pointer, err)
			}
		}
		if change {
			return nil
		}
		app, err = s.answered(ctx, r, app)
		return err
	})
	if err != nil {
		return App{}, err
	}
	return app, nil
}

// errNoVersion is the error of a request with the zero Version, which means that the caller forgot to name one.
func errNoVersion() error {
	return fault.Invalid("/appVersion", "a version is missing: name one, or ask for the latest")
}
