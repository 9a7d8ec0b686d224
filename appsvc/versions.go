package appsvc

import (
	"bytes"
	"context"
	"fmt"
	"iter"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc/internal/records"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/history"
	"github.com/vitrine-go/vitrine/internal/urn"
)

func noApp(id string) error { return fmt.Errorf("%w: app %q", vitrine.ErrNotFound, id) }

// keptVersion is a version of an app in the cache.
type keptVersion struct {
	App
	// These are only set for a version that was the latest one: its head, as it is stored too, and the tail of the
	// history before it.
	head   appHead
	stored []byte
	tail   []byte
}

// headOf returns a stored head in the form of this package, and record does the reverse.
func headOf(h records.Head) appHead {
	a := App{ID: h.ID, Version: vitrine.NewVersion(h.Version), Owner: h.Owner, CreatedAt: h.CreatedAt,
		UpdatedAt: h.UpdatedAt, Title: h.Title, Groups: h.Groups,
		Components: namesOf(h.Components), DeletedAt: h.DeletedAt, DeletedBy: h.DeletedBy}
	a.UpdatedBy, a.agent = urn.Split(h.UpdatedBy)
	return appHead{a, h.Components, h.Lists, h.Large}
}

func (h appHead) record() records.Head {
	return records.Head{ID: h.ID, Version: h.Version.Number(), Title: h.Title, CreatedAt: h.CreatedAt,
		UpdatedAt: h.UpdatedAt, UpdatedBy: urn.Author(h.UpdatedBy, h.agent), Owner: h.Owner, Groups: h.Groups,
		Components: h.uses,
		Lists:      h.lists, Large: h.large, DeletedAt: h.DeletedAt, DeletedBy: h.DeletedBy}
}

// keep puts a version into the cache, where it never changes. It also stores the latest version there under a name of
// its own.
func (s *store) keep(v keptVersion) {
	s.versions.Put(versionName{v.ID, v.Version.Number()}, keptVersion{App: v.App}, 500+len(v.Body))
	if v.stored != nil {
		s.versions.Put(versionName{v.ID, ofLatest}, v, 500+len(v.Body)+len(v.stored)+len(v.tail))
	}
}

// ofLatest is used as the number of the version that was the latest one when it was put into the cache.
const ofLatest = -1

// latestKeys returns the keys that latest reads first: of the head of an app and, unless cached, of the body of its
// latest version. cached says that the cache has a version that was the latest one; there may be a later one.
func (r *reader) latestKeys(app string, cached bool) []string {
	if cached {
		return []string{records.Key(r.headKind, app)}
	}
	return []string{records.Key(r.headKind, app), records.BodyKey(app)}
}

// head returns the head of an app, or ErrNotFound if there is no such app.
func (r *reader) head(ctx context.Context, app string) (appHead, error) {
	stored, err := r.Value(ctx, records.Key(r.headKind, app))
	if err != nil {
		return appHead{}, err
	}
	return r.s.decodeHead(app, stored)
}

// decodeHead returns the head of an app whose stored form is given, or ErrNotFound if that is nil.
func (s *store) decodeHead(app string, stored []byte) (appHead, error) {
	if v, found := s.versions.Get(versionName{app, ofLatest}); found && bytes.Equal(v.stored, stored) {
		return v.head, nil
	}
	if stored == nil {
		return appHead{}, noApp(app)
	}
	h, err := records.DecodeHead(app, stored)
	return headOf(h), err
}

// latest returns the latest version of an app, or ErrNotFound if there is no such app.
func (r *reader) latest(ctx context.Context, app string) (v keptVersion, err error) {
	kept, found := r.s.versions.Get(versionName{app, ofLatest})
	values, err := r.Get(ctx, r.latestKeys(app, found)...)
	if err != nil || found && bytes.Equal(kept.stored, values[0]) {
		return kept, err
	}
	v.stored = values[0]
	if v.head, err = r.s.decodeHead(app, v.stored); err != nil {
		return v, err
	}
	if len(values) == 1 { // another version is in the cache
		value, err := r.Value(ctx, records.BodyKey(app))
		if err != nil {
			return v, err
		}
		values = append(values, value)
	}
	body, tail, err := r.Body(ctx, app, v.head.large, values[1])
	if v.App, v.tail = v.head.whole(body), tail; err == nil && r.tx == nil {
		r.s.keep(v)
	}
	return v, err
}

// version returns a version of an app whose head is h, or ErrNotFound if the app has no such version.
func (r *reader) version(ctx context.Context, h appHead, v vitrine.Version) (App, error) {
	if v == vitrine.Latest {
		v = h.Version
	}
	if v.IsZero() || v.Compare(h.Version) > 0 {
		return App{}, fault.NotFound("app %q has no version %q", h.ID, v)
	}
	if kept, found := r.s.versions.Get(versionName{h.ID, v.Number()}); found {
		return kept.App, nil
	}
	last, err := r.latest(ctx, h.ID)
	if err != nil || v == last.Version {
		return last.App, err
	}
	old, err := history.Read(last.tail, r.HistoryRows(ctx, h.ID, v.Number()), v.Number())
	if err != nil {
		return App{}, fmt.Errorf("version %s of app %q: %w", v, h.ID, err)
	}
	out := last.head.older(old)
	if r.tx == nil {
		r.s.keep(keptVersion{App: out})
	}
	return out, nil
}

// older returns an older version of the app with this head.
func (h appHead) older(v history.Version) App {
	a := h.App.with(v.Body)
	a.Version, a.UpdatedAt = vitrine.NewVersion(v.Number), v.UpdatedAt
	a.UpdatedBy, a.agent = urn.Split(v.UpdatedBy)
	return a
}

// versionsBelow yields up to limit versions of an app before the version before, newest first. If before has no number,
// it begins with the latest one. If there is no such app, it yields nothing.
func (r *reader) versionsBelow(
	ctx context.Context, app string, before vitrine.Version, limit int,
) iter.Seq2[App, error] {
	return func(yield func(App, error) bool) {
		last, err := r.latest(ctx, app)
		if err != nil {
			if err = ignore(err, vitrine.ErrNotFound); err != nil {
				yield(App{}, err)
			}
			return
		}
		next := last.Version.Number()
		if n := before.Number(); n >= 0 {
			next = min(next, n-1)
		}
		if next == last.Version.Number() {
			if !yield(last.App, nil) {
				return
			}
			next, limit = next-1, limit-1
		}
		for next >= 0 && limit > 0 {
			const most, bytes = 64, 1 << 20 // at a time
			list, err := history.List(last.tail, r.HistoryRows(ctx, app, next), next, min(most, limit), bytes)
			if err != nil {
				yield(App{}, fmt.Errorf("versions of app %q: %w", app, err))
				return
			}
			for _, v := range list {
				if !yield(last.head.older(v), nil) {
					return
				}
			}
			next, limit = next-int64(len(list)), limit-len(list)
		}
	}
}
