package appsvc

import (
	"context"
	"errors"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/rule"
)

// RestoreRequest names the version of an app whose content to store again.
type RestoreRequest struct {
	AppID          string
	Version        vitrine.Version // Latest is allowed
	Note           string          // of the new version, up to 1,024 characters; "" = none
	IdempotencyKey string          // "" = none
}

// Restore stores the content of a version of an app as its new latest version: its title, groups and elements. It
// copies the stored content, with the manifests in the elements. It does not validate the configs again, since the
// components may be deleted, and it moves no tag. Restoring the latest version makes a new version too.
//
// Unlike a patch, a restore does not test the version: two concurrent restores are both stored, one after the other.
// The replaced content stays readable as a version.
//
// It returns:
//   - ErrNotFound if there is no such app or version; Pointer of the error says which of the two;
//   - ErrForbidden if the caller may only read the app, or may not add or remove the groups that differ from those of
//     the latest version, or if groups differ, the app has a protected tag, and the caller does not moderate every
//     group, or if Options.Check rejects the change;
//   - ErrTooLarge if the app would have more than Limits.AppBytes, by default 16 MiB;
//   - ErrInvalid for the zero Version, a note that is too long, or a malformed idempotency key;
//   - ErrUnprocessable if the idempotency key was used for another request.
func (s *Session) Restore(ctx context.Context, in RestoreRequest) (App, error) {
	s = s.calls("Restore")
	if err := s.check(); err != nil {
		return App{}, err
	}
	if err := checkNote("/note", in.Note); err != nil {
		return App{}, err
	}
	write, err := newIdempotentWrite(s.by, in.IdempotencyKey, "restore", struct {
		AppID          string
		Version        int64
		IdempotencyKey string
		Note           string `json:",omitempty"`
	}{in.AppID, in.Version.Number(), in.IdempotencyKey, in.Note})
	if err != nil {
		return App{}, err
	}
	var old App // the version whose content is stored again
	var d draft // its content
	// take sets both. It is called before the transaction, and again in it if Latest is another version then.
	take := func(app App, err error) error {
		if err != nil {
			return err
		}
		old = app
		d, err = old.Body.draft()
		return err
	}
	// The right is checked here to fail early, and again in the transaction, where it counts.
	prepare := func() error {
		if err := take(s.versionFor(ctx, true, in.AppID, in.Version, "/appVersion")); err != nil {
			return err
		}
		// for the new version and for the response, before anything is written
		return s.mayTake(2 * len(old.Body))
	}
	// A repeat returns its result only if the caller may still use the app.
	write.may = func(ctx context.Context, r *reader) error {
		_, err := usableHead(ctx, r, s.by, in.AppID)
		return err
	}
	restored, err := s.service.writeVersion(ctx, write, prepare, func(tx *writer) (App, error) {
		head, err := usableHead(ctx, tx.reader, s.by, in.AppID)
		if err != nil {
			return App{}, err
		}
		// the app has another version since it was read
		if in.Version == vitrine.Latest && old.Version != head.Version {
			last, err := tx.latest(ctx, in.AppID)
			if err := take(last.App, err); err != nil {
				return App{}, err
			}
		}
		if err := s.mayRegroup(ctx, tx.reader, "", head, d.groups); err != nil {
			return App{}, err
		}
		c := Change{Type: AppRestored, Restored: old.Version, Note: in.Note}
		return s.addVersion(ctx, tx, c, s.nextVersion(head), d, s.service.limits.AppBytes)
	})
	return restored, missing("/appId", err)
}

// missing adds the JSON pointer of the member of the request that names the app to an ErrNotFound that names no
// version. Other errors are returned unchanged, including an ErrNotFound of Options.Check.
func missing(app string, err error) error {
	if _, rejected := errors.AsType[*rule.Rejected](err); rejected {
		return err
	}
	if e, ok := errors.AsType[*vitrine.Error](err); ok && e.Kind == vitrine.ErrNotFound && e.Pointer == "" {
		return fault.At(app, err)
	}
	return err
}
