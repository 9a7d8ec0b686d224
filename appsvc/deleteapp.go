package appsvc

import (
	"context"
	"fmt"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc/internal/records"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/storage"
)

// The head of a deleted app is at another key, deleted/, and the app is in lists of deleted apps. All its other records
// stay, so it can be restored completely; a method that asks for the head of an app finds none. Erasing removes all
// records.

// DeleteApp deletes an app: from then on it does not exist for anybody, with its versions and its tags. UndeleteApp
// restores it unchanged. The caller must own it or moderate one of its groups.
//
// It returns ErrNotFound if there is no such app or the caller may not read it, ErrForbidden if the caller may only
// read it or Options.Check rejects the change, and ErrConflict with CodeWrongState if the app has a protected tag, or
// is in a release that is to run or to end at a time.
func (s *Session) DeleteApp(ctx context.Context, id string) error {
	if err := s.check(); err != nil {
		return err
	}
	return s.service.store.update(ctx, func(tx *writer) error {
		head, err := usableHead(ctx, tx.reader, s.by, id)
		if err != nil {
			return err
		}
		if tag, err := tx.protectedTag(ctx, id); err != nil {
			return err
		} else if tag != "" {
			return fault.Conflict(vitrine.CodeWrongState, head.Version,
				"the app has the protected tag %q: delete the tag first", tag)
		}
		if err := tx.scheduled(ctx, head); err != nil {
			return err
		}
		last, err := tx.latest(ctx, id)
		if err != nil {
			return err
		}
		deleted := head
		deleted.DeletedAt, deleted.DeletedBy = max(s.service.millis(), 1), s.by.URN
		if err := tx.ReplaceHead(ctx, head.record(), deleted.record()); err != nil {
			return err
		}
		return s.commitChange(ctx, tx, Change{Type: AppDeleted, AppID: id, Before: head.App, Old: last.Body})
	})
}

// deletedHead returns the head of a deleted app that the caller could change. It returns ErrConflict with
// CodeWrongState if the app is not deleted and the caller may change it, and otherwise ErrNotFound, or ErrForbidden if
// the caller may only read it.
func deletedHead(ctx context.Context, r *reader, by vitrine.Caller, id string) (appHead, error) {
	stored, err := r.Value(ctx, records.Key(records.DeletedKind, id))
	if err != nil {
		return appHead{}, err
	}
	if stored == nil {
		head, err := usableHead(ctx, r, by, id)
		if err == nil {
			err = fault.Conflict(vitrine.CodeWrongState, head.Version, "the app is not deleted")
		}
		return head, err
	}
	h, err := records.DecodeHead(id, stored)
	head := headOf(h)
	if err == nil && !mayUse(by, head) {
		err = fault.NotFound("no app has this id")
	}
	return head, err
}

// UndeleteApp brings a deleted app back, with all its versions and tags, and returns its latest version. The caller
// must own it or moderate one of its groups.
//
// It returns ErrNotFound if no app has this id, deleted or not, or if the caller may not change it. It returns
// ErrConflict with CodeWrongState if the app is not deleted.
func (s *Session) UndeleteApp(ctx context.Context, id string) (App, error) {
	return update(ctx, s, func(tx *writer) (App, error) {
		deleted, err := deletedHead(ctx, tx.reader, s.by, id)
		if err != nil {
			return App{}, err
		}
		head := deleted
		head.DeletedAt, head.DeletedBy = 0, ""
		if err := tx.ReplaceHead(ctx, deleted.record(), head.record()); err != nil {
			return App{}, err
		}
		last, err := tx.latest(ctx, id)
		if err != nil {
			return App{}, err
		}
		return last.App, s.commitChange(ctx, tx, Change{Type: AppUndeleted, AppID: id, After: head.App, New: last.Body})
	})
}

// EraseApp permanently removes a deleted app, with all its versions, their notes, its tags and their moves. In the
// feed, the ids of the app and of those who changed it stay until their entries are removed. On SQLite no file of the
// store contains any of it when EraseApp returns. The caller must moderate every group of the app.
//
// It returns ErrNotFound and ErrConflict as UndeleteApp does, ErrForbidden if the caller does not moderate every group,
// and ErrBusy if the app is erased but readers of a file keep copies of it in the log, which the next erasure removes.
func (s *Session) EraseApp(ctx context.Context, id string) error {
	if err := s.check(); err != nil {
		return err
	}
	err := s.erase(ctx, id, func(tx *writer) (appHead, error) {
		head, err := deletedHead(ctx, tx.reader, s.by, id)
		if err == nil && !moderatesAll(s.by, head) {
			err = fault.Forbidden("only a moderator of every group of the app may erase it")
		}
		return head, err
	})
	if err != nil {
		return err
	}
	return s.service.scrub(ctx)
}

// EraseDeleted erases the apps that were deleted longer ago than Options.KeepDeleted, and returns how many. The
// embedding program calls it from time to time; it does nothing if KeepDeleted is 0. Options.Check gets each erasure as
// a change of the zero Caller. An app that it rejects stays, the others are erased, and the error names it.
func (s *Service) EraseDeleted(ctx context.Context) (erased int, err error) {
	if s.made().keepDeleted <= 0 {
		return 0, nil
	}
	before := s.millis() - s.keepDeleted.Milliseconds()
	var due []string
	err = s.store.view(ctx, func(r *reader) error {
		due = nil
		for h, err := range r.DeletedApps(ctx) {
			if err != nil {
				return err
			}
			if h.DeletedAt <= before {
				due = append(due, h.ID)
			}
		}
		return nil
	})
	for _, id := range due {
		wrong := s.As(vitrine.Caller{}).erase(ctx, id, func(tx *writer) (appHead, error) {
			head, err := tx.ofDeleted().head(ctx, id)
			if err == nil && head.DeletedAt > before {
				err = noApp(id) // it was restored and deleted again
			}
			return head, err
		})
		if wrong = ignore(wrong, vitrine.ErrNotFound); wrong != nil {
			err = fmt.Errorf("erase app %q: %w", id, wrong)
			continue
		}
		erased++
	}
	if erased > 0 && err == nil {
		err = s.scrub(ctx)
	}
	return erased, err
}

// erase removes all records of a deleted app.
func (s *Session) erase(ctx context.Context, id string, may func(*writer) (appHead, error)) error {
	return s.service.store.updateAs(ctx, storage.UpdateOptions{Large: true}, func(tx *writer) error {
		head, err := may(tx)
		if err != nil {
			return err
		}
		last, err := tx.ofDeleted().latest(ctx, id)
		if err != nil {
			return err
		}
		if err := tx.speaks(ctx, id, "", last.Body, nil); err != nil {
			return err
		}
		var published []records.Published
		tags, err := tx.tagsOf(ctx, []appHead{head})
		for _, tag := range tags[id] {
			var p records.Published
			var body Body
			if err == nil {
				p, body, err = tx.ofDeleted().publishes(ctx, head, tag.Name, tag.AppVersion, 0)
			}
			if err == nil {
				err = tx.speaks(ctx, id, tag.Name, body, nil)
			}
			published = append(published, p)
		}
		if err == nil {
			err = tx.Erase(ctx, head.record(), published)
		}
		if err != nil {
			return err
		}
		return s.commitChange(ctx, tx, Change{Type: AppErased, AppID: id, Before: head.App})
	})
}

// scrub removes copies of deleted records from the files of the store.
func (s *Service) scrub(ctx context.Context) error {
	return s.store.updateAs(ctx, storage.UpdateOptions{Erase: true}, func(tx *writer) error {
		return tx.s.feed.Remove(ctx, tx.tx, 0, 1)
	})
}
