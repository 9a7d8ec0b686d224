package appsvc

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/feed"
	rec "github.com/vitrine-go/vitrine/internal/record"
	"github.com/vitrine-go/vitrine/storage"
)

// release is a Release with its other stored fields.
type release struct {
	Release
	releaseRest
}

type releaseRest struct {
	Number    int64                // its position in lists
	Authors   []string             // URNs of those who made or changed it
	Approvers []vitrine.Caller     // those of Release.Approvals, with their rights at that time
	Scheduler *vitrine.Caller      `json:",omitempty"` // who has set Release.At, with the rights at that time
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

// The lists of releases, as parts of keys of listedKind.
const (
	allReleases   = "all"
	releasesIn    = "state" // a state
	releasesOf    = "app"   // an app
	releasesDueOf = "due"   // an app, of those that are scheduled
)

// listedIn returns the lists that a release is in. A release that is not stored is in none.
func (r release) listedIn() (keys []string) {
	if r.Number == 0 {
		return nil
	}
	add := func(list, of string) { keys = append(keys, keyOf(listedKind, list, of, rec.Number(r.Number))) }
	add(allReleases, "")
	add(releasesIn, string(r.State))
	for app := range r.Apps {
		if add(releasesOf, app); r.State == ReleaseScheduled {
			add(releasesDueOf, app)
		}
	}
	if r.State == ReleaseScheduled {
		keys = append(keys, dueKey(r.At, r.ID))
	}
	return keys
}

func dueKey(at int64, id string) string { return keyOf(dueKind, rec.Number(at), id) }

// putRelease stores a release in place of its earlier form, with the next version, and returns its entry for the feed.
func (s *Session) putRelease(ctx context.Context, tx *writer, was release, rel *release) (e feed.Entry, err error) {
	if rel.Number == 0 {
		if rel.Number, err = tx.giveNumber(ctx); err != nil {
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
	value, err := json.Marshal(storedRelease{rel.Release, rel.releaseRest})
	if err != nil {
		return e, err
	}
	puts, before := []storage.Entry{{Key: keyOf(releaseKind, rel.ID), Value: value}}, was.listedIn()
	for _, key := range rel.listedIn() {
		if i := slices.Index(before, key); i >= 0 {
			before = slices.Delete(before, i, i+1)
		} else {
			puts = append(puts, storage.Entry{Key: key, Value: []byte(rel.ID)})
		}
	}
	if err := tx.tx.Delete(ctx, before...); err != nil {
		return e, err
	}
	return releaseEntry(s.by, *rel), tx.tx.Put(ctx, puts...)
}

// storedRelease returns a stored release, or ErrNotFound if none has this id.
func (r *reader) storedRelease(ctx context.Context, id string) (rel release, err error) {
	key := keyOf(releaseKind, id)
	value, err := r.value(ctx, key)
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
	if err := json.Unmarshal(e.Value, &stored); err != nil {
		return rel, damaged(e.Key, err)
	}
	return release{stored.Release, stored.Rest}, nil
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
			ahead = append(ahead, keyOf(headKind, app))
		}
	}
	if err := v.r.r.Ahead(ctx, ahead...); err != nil {
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

// releases yields releases of a state or an app, newest first, with numbers below before; 0 means no limit. With both,
// it yields those of the app.
func (r *reader) releases(
	ctx context.Context, state ReleaseState, app string, before int64, expect int,
) iter.Seq2[release, error] {
	in := under(listedKind, allReleases, "")
	switch {
	case app != "":
		in = under(listedKind, releasesOf, app)
	case state != "":
		in = under(listedKind, releasesIn, string(state))
	}
	in.Reverse, in.Expect = true, expect+1
	if before > 0 {
		in.To = in.From + rec.Number(before)
	}
	ids := rec.Map(r.r.Scan(ctx, in), func(e storage.Entry) (string, error) {
		return keyOf(releaseKind, string(e.Value)), nil
	})
	return rec.Map(rec.Load(ctx, r.r, ids, min(expect+1, atOnce)), decodeRelease)
}

// scheduled returns ErrConflict with CodeWrongState if the app is in a release that is scheduled.
func (r *reader) scheduled(ctx context.Context, h appHead) error {
	in := under(listedKind, releasesDueOf, h.ID)
	in.Limit = 1
	for e, err := range r.r.Scan(ctx, in) {
		if err != nil {
			return err
		}
		return fault.Conflict(vitrine.CodeWrongState, h.Version,
			"the release %q is scheduled and moves a tag of the app: cancel it first", e.Value)
	}
	return nil
}

// dueReleases returns the ids of up to limit releases whose time is at or before now.
func (r *reader) dueReleases(ctx context.Context, now int64, limit int) (ids []string, err error) {
	in := under(dueKind)
	in.To, in.Limit = under(dueKind, rec.Number(now)).To, limit
	for e, err := range r.r.Scan(ctx, in) {
		if err != nil {
			return nil, err
		}
		ids = append(ids, string(e.Value))
	}
	return ids, nil
}

// checkReleases checks releases and the lists that contain them.
func (a *audit) checkReleases() {
	a.each(releaseKind, 1, "", func(name []string, e storage.Entry) error {
		rel, err := decodeRelease(e)
		switch {
		case err != nil:
			return err
		case rel.ID != name[0]:
			return fmt.Errorf("has the id %q", rel.ID)
		case !slices.Contains(releaseStates, rel.State):
			return fmt.Errorf("there is no state %q", rel.State)
		case len(rel.Approvals) != len(rel.Approvers) || (rel.State == ReleaseScheduled) != (rel.Scheduler != nil):
			return fmt.Errorf("approvals or the schedule lack who made them")
		}
		if err := a.checkNumber(e.Key, rel.Number); err != nil {
			return err
		}
		keys := rel.listedIn()
		for i, v := range a.get(keys...) {
			kind, _, _ := strings.Cut(strings.TrimPrefix(keys[i], appSpace+" "), "/")
			if a.follow[kind+"/"]++; string(v) != rel.ID {
				a.fault(keys[i], "is missing, or names another release than %q", rel.ID)
			}
		}
		return nil
	})
}
