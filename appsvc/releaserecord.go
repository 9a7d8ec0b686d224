package appsvc

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc/internal/records"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/feed"
	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/storage"
)

// release is a Release with its other stored fields.
type release struct {
	Release
	releaseRest
}

type releaseRest struct {
	Number    int64            // its position in lists
	Authors   []string         // URNs of those who made or changed it
	Key       string           `json:",omitempty"` // Caller.Key of who made it
	FailedAt  int64            `json:",omitempty"` // when it got its Conflicts; 0 in records from before
	Approvers []vitrine.Caller // those of Release.Approvals, with their rights at that time
	// who has set Release.At or, if the end is to come, who has run the release, with the rights at that time
	Scheduler *vitrine.Caller      `json:",omitempty"`
	Apps      map[string]ownership // the apps of its moves, as of its last change
}

// storedRelease is the record of a release.
type storedRelease struct {
	Release Release
	Rest    releaseRest
}

// ownership decides who may read an app.
type ownership struct {
	Owner  string
	Groups []string
}

// due returns when the schedule runs the release or ends it, 0 if it does neither.
func (r release) due() int64 {
	switch {
	case r.State == ReleaseScheduled:
		return r.At
	case r.State == ReleaseDone && r.Scheduler != nil:
		return r.Until
	}
	return 0
}

// lists returns the lists that the release is in.
func (r release) lists() records.ReleaseLists {
	return records.ReleaseLists{ID: r.ID, Number: r.Number, State: string(r.State),
		Apps: slices.Collect(maps.Keys(r.Apps)), Due: r.due(), Ends: r.State == ReleaseDone}
}

// putRelease stores a release in place of its earlier form, with the next version, and returns its entry for the feed.
func (s *Session) putRelease(ctx context.Context, tx *writer, was release, rel *release) (e feed.Entry, err error) {
	if rel.Number == 0 {
		if rel.Number, err = tx.GiveNumber(ctx); err != nil {
			return e, err
		}
	} else {
		rel.Version, rel.UpdatedAt = was.Version.Next(), max(s.service.millis(), was.UpdatedAt)
	}
	rel.Apps = map[string]ownership{}
	for _, m := range rel.Moves {
		if h, err := tx.head(ctx, m.AppID); err == nil {
			rel.Apps[m.AppID] = ownership{h.Owner, h.Groups}
		} else if ignore(err, vitrine.ErrNotFound) != nil {
			return e, err
		} else if o, known := was.Apps[m.AppID]; known {
			rel.Apps[m.AppID] = o
		}
	}
	return releaseEntry(s.by, was, *rel),
		tx.PutRelease(ctx, was.lists(), rel.lists(), storedRelease{rel.Release, rel.releaseRest})
}

// storedRelease returns a stored release, or ErrNotFound if none has this id.
func (r *reader) storedRelease(ctx context.Context, id string) (rel release, err error) {
	key := records.Key(records.ReleaseKind, id)
	value, err := r.Value(ctx, key)
	if err != nil {
		return rel, err
	}
	return decodeRelease(storage.Entry{Key: key, Value: value})
}

// decodeRelease decodes the record of a release. It returns ErrNotFound for a nil value.
func decodeRelease(e storage.Entry) (rel release, err error) {
	if e.Value == nil {
		// the same sentence as for a hidden release, so that the two cannot be told apart
		return rel, fault.NotFound("no release has this id")
	}
	var stored storedRelease
	err = keyval.Decode(e, &stored)
	return release{stored.Release, stored.Rest}, err
}

// releaseFor returns a release if the caller may read every app of it, and otherwise ErrNotFound.
func (r *reader) releaseFor(ctx context.Context, by vitrine.Caller, id string) (release, error) {
	rel, err := r.storedRelease(ctx, id)
	if err != nil {
		return rel, err
	}
	v := viewer{r: r, by: by, heads: map[string]appHead{}}
	if sees, err := v.seesRelease(ctx, rel); err != nil {
		return rel, err
	} else if !sees {
		return decodeRelease(storage.Entry{})
	}
	return rel, nil
}

// seesRelease reports whether the caller may read every app of a release. For an app that was deleted, its last stored
// ownership counts.
func (v *viewer) seesRelease(ctx context.Context, rel release) (bool, error) {
	var ahead []string
	for app := range rel.Apps {
		if _, known := v.heads[app]; !known {
			ahead = append(ahead, records.HeadKey(app))
		}
	}
	if err := v.r.Ahead(ctx, ahead...); err != nil {
		return false, err
	}
	for app, was := range rel.Apps {
		h, err := v.head(ctx, app)
		if err != nil {
			return false, err
		}
		if h.ID == "" {
			h = appHead{App: App{Owner: was.Owner, Groups: was.Groups}}
		}
		if !mayRead(v.by, h) {
			return false, nil
		}
	}
	return true, nil
}

// shown returns a release as responses have it.
func (r *reader) shown(ctx context.Context, rel release) (Release, error) {
	rules, err := r.tagRules(ctx)
	rel.Release.Needs, rel.Release.Independent = rel.needs(rules), rel.independent(rules)
	return rel.Release, err
}

// scheduled returns ErrConflict with CodeWrongState if the app is in a release that is to be run or ended at a time.
func (r *reader) scheduled(ctx context.Context, h appHead) error {
	id, err := r.ScheduledRelease(ctx, h.ID)
	if err != nil || id == "" {
		return err
	}
	return fault.Conflict(vitrine.CodeWrongState, h.Version,
		"the release %q moves a tag of the app at a time to come: cancel it first", id)
}

// checkReleases checks releases and the lists that contain them.
func (a *audit) checkReleases() {
	a.each(records.ReleaseKind, 1, "", func(name []string, e storage.Entry) error {
		rel, err := decodeRelease(e)
		switch {
		case err != nil:
			return err
		case rel.ID != name[0]:
			return fmt.Errorf("has the id %q", rel.ID)
		case !slices.Contains(releaseStates, rel.State):
			return fmt.Errorf("there is no state %q", rel.State)
		case len(rel.Approvals) != len(rel.Approvers) || (rel.due() != 0) != (rel.Scheduler != nil):
			return fmt.Errorf("approvals or the schedule lack who made them")
		}
		if err := a.checkNumber(e.Key, rel.Number); err != nil {
			return err
		}
		a.checkIndex(rel.lists().Index())
		return nil
	})
}
