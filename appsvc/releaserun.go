package appsvc

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/feed"
	rec "github.com/vitrine-go/vitrine/internal/record"
	"github.com/vitrine-go/vitrine/storage"
)

// A run is prepared in a View, which finds the last moves of the tags and asks for the rights of people, and then carried out in one Update.
// The Update tests the state and the version of the release. So of several processes that run it, one does.

// missedAfter is how late a scheduled release may be run.
const missedAfter = 24 * time.Hour

// RunRelease makes all moves of a release that is open or scheduled, at one moment. If one of them cannot be made, none is: the release is
// open then, its Conflicts say why, and the error has CodeConflicts and the same list.
//
// The other errors are those of UpdateRelease, and ErrConflict with CodeNeedsApproval if fewer people than needed have approved it, as far as
// their approvals still count.
func (s *Service) RunRelease(ctx context.Context, by vitrine.Caller, in ReleaseRequest) (Release, error) {
	if err := by.CheckUnrestricted(); err != nil {
		return Release{}, err
	}
	return s.run(ctx, in.ID, &by, func(ctx context.Context, r *reader) (release, error) { return r.releaseToChange(ctx, by, in) })
}

// UndoRelease rolls all moves of a release back that is done, in one transaction. It needs no approvals. The release is cancelled then, and
// keeps its RanAt. The errors are those of RunRelease; a tag that was moved since is a conflict.
func (s *Service) UndoRelease(ctx context.Context, by vitrine.Caller, in ReleaseRequest) (out Release, err error) {
	if err := by.CheckUnrestricted(); err != nil {
		return out, err
	}
	err = s.store.update(ctx, func(tx *writer) error {
		was, err := tx.releaseFor(ctx, by, in.ID)
		if err == nil {
			err = tx.mayMoveAll(ctx, by, was.Moves, "", true)
		}
		if err == nil {
			err = was.is(in.Version, ReleaseDone)
		}
		if err != nil {
			return err
		}
		rel := was
		rel.State = ReleaseCancelled
		out, err = s.carryOut(ctx, tx, by, was, rel, nil)
		return err
	})
	return out, err
}

// RunDue runs the releases whose time has come, each once, whichever processes call it. A program calls it every second from one loop. A
// release that cannot be run, or whose time was over for more than a day, is open then, and its Conflicts say why. The error is that of
// the store or of Options.Rights; a later call tries again.
func (s *Service) RunDue(ctx context.Context) error {
	const atOnce = 100
	for {
		var ids []string
		err := s.store.view(ctx, func(r *reader) (err error) {
			ids, err = r.dueReleases(ctx, s.millis(), atOnce)
			return err
		})
		if err != nil {
			return err
		}
		var failed error
		for _, id := range ids {
			failed = errors.Join(failed, s.runDue(ctx, id))
		}
		if failed != nil || len(ids) < atOnce {
			return failed
		}
	}
}

// runDue runs a release whose time has come.
func (s *Service) runDue(ctx context.Context, id string) error {
	_, err := s.run(ctx, id, nil, func(ctx context.Context, r *reader) (release, error) {
		rel, err := r.storedRelease(ctx, id)
		if err == nil && (rel.State != ReleaseScheduled || rel.At > s.millis()) {
			err = errUnchanged // another process was faster, or it was changed
		}
		return rel, err
	})
	if e, ok := errors.AsType[*vitrine.Error](err); ok && e.Code == vitrine.CodeConflicts {
		return nil
	}
	return ignore(err, errUnchanged)
}

// run runs a release that read returns, or its error: for a caller who may run it, or with nil for who has scheduled it.
func (s *Service) run(ctx context.Context, id string, by *vitrine.Caller, read func(context.Context, *reader) (release, error)) (out Release, err error) {
	var seen release
	var known lastMoves
	err = s.store.view(ctx, func(r *reader) (err error) {
		if seen, err = read(ctx, r); err == nil {
			known, err = s.prepareRun(ctx, r, seen)
		}
		return err
	})
	if err != nil {
		return out, err
	}
	people, err := s.approvers(ctx, seen)
	if err != nil {
		return out, err
	}
	due := by == nil
	var scheduler person
	if due {
		by = seen.Scheduler
		if scheduler, err = s.person(ctx, *by); err != nil {
			return out, err
		}
	}
	err = s.store.update(ctx, func(tx *writer) error {
		rel, err := read(ctx, tx.reader)
		if err != nil {
			return err
		}
		if rel.Version != seen.Version {
			return errUnchanged
		}
		if due {
			if s.millis()-rel.At >= missedAfter.Milliseconds() {
				return conflicting(rel.Version, vitrine.Conflict{Code: vitrine.ConflictMissed, Reason: "its time was over for more than a day when a process came to run it"})
			}
			if err := scheduler.mayMoveAll(ctx, tx.reader, rel.Moves); err != nil {
				return asConflict(rel.Version, err)
			}
		}
		rules, err := tx.tagRules(ctx)
		if err != nil {
			return err
		}
		n, err := rel.approved(ctx, tx.reader, people)
		if err != nil {
			return err
		}
		if needs := rel.needs(rules); n < needs {
			err := conflict(vitrine.CodeNeedsApproval, rel.Version, "the release needs %d approvals and has %d that count", needs, n)
			if due {
				return asConflict(rel.Version, err)
			}
			return err
		}
		done := rel
		done.State = ReleaseDone
		out, err = s.carryOut(ctx, tx, *by, rel, done, known)
		return err
	})
	if e, ok := errors.AsType[*vitrine.Error](err); ok && e.Code == vitrine.CodeConflicts {
		refused := *e
		if refused.Version, err = s.reopen(ctx, *by, id, seen.Version, e.Conflicts); err == nil {
			err = &refused
		}
	}
	return out, err
}

// conflicting is the error of a release that cannot be run.
func conflicting(v vitrine.Version, list ...vitrine.Conflict) error {
	err := conflict(vitrine.CodeConflicts, v, "the release cannot be run, and no tag was moved: %s", list[0].Reason)
	err.Conflicts = list
	return err
}

// asConflict returns a refusal as a conflict of the release as a whole. Errors of the store are returned unchanged.
func asConflict(v vitrine.Version, err error) error {
	if e, refused := errors.AsType[*vitrine.Error](err); refused {
		return conflicting(v, vitrine.Conflict{Code: e.Code, Reason: e.Error()})
	}
	return err
}

// reopen stores why a release of this version could not be run, and returns the version that it has then. A release that was changed
// meanwhile is left as it is.
func (s *Service) reopen(ctx context.Context, by vitrine.Caller, id string, seen vitrine.Version, list []vitrine.Conflict) (v vitrine.Version, err error) {
	err = s.store.update(ctx, func(tx *writer) error {
		was, err := tx.storedRelease(ctx, id)
		if v = was.Version; err != nil || was.Version != seen {
			return err
		}
		rel := was
		rel.schedule(by, 0)
		rel.Conflicts = list
		out, err := s.storeRelease(ctx, tx, by, was, rel)
		v = out.Version
		return err
	})
	return v, err
}

// lastMoves are the numbers of the last moves of tags, by app and name, as a View has found them.
type lastMoves map[[2]string]int64

// prepareRun reads what a run needs that takes time: the last moves of the tags, in one trip, and for Options.Check the versions.
func (s *Service) prepareRun(ctx context.Context, r *reader, rel release) (lastMoves, error) {
	known := lastMoves{}
	var ranges []storage.Range
	for _, m := range rel.Moves {
		known[[2]string{m.AppID, m.Tag}] = 0
		in := under(moveKind, m.AppID, m.Tag)
		in.Reverse, in.Limit, in.Expect = true, 1, 1
		ranges = append(ranges, in)
	}
	for e, err := range r.r.Scan(ctx, ranges...) {
		if err != nil {
			return nil, err
		}
		name := partsOf(e.Key, moveKind)
		n, err := rec.ParseNumber(name[2])
		if err != nil {
			return nil, damaged(e.Key, err)
		}
		known[[2]string{name[0], name[1]}] = n
	}
	if s.check == nil {
		return known, nil
	}
	for _, m := range rel.Moves {
		if m.To.IsZero() {
			continue
		}
		h, err := r.head(ctx, m.AppID)
		if err == nil {
			_, err = r.version(ctx, h, m.To) // which stays in the cache
		}
		if ignore(err, vitrine.ErrNotFound) != nil {
			return nil, err
		}
	}
	return known, nil
}

// ahead reads in one trip what carryOut reads for the moves of a release.
func (known lastMoves) ahead(ctx context.Context, r *reader, by vitrine.Caller, moves []ReleaseMove) error {
	keys := r.s.feed.Keys(by.URN)
	for _, m := range moves {
		keys = append(keys, keyOf(headKind, m.AppID), keyOf(tagKind, m.AppID, m.Tag))
		keys = append(keys, r.s.feed.Keys(m.AppID)[1:]...)
		if n, found := known[[2]string{m.AppID, m.Tag}]; found {
			keys = append(keys, moveKey(m.AppID, m.Tag, n), moveKey(m.AppID, m.Tag, n+1))
		}
	}
	return r.r.Ahead(ctx, keys...)
}

// last returns the last move of a tag: the one that is known to be the last, unless there is one after it now.
func (known lastMoves) last(ctx context.Context, r *reader, app, name string) (numberedMove, error) {
	n, found := known[[2]string{app, name}]
	if found {
		values, err := r.r.Get(ctx, moveKey(app, name, n), moveKey(app, name, n+1))
		if err != nil {
			return numberedMove{}, err
		}
		if values[1] == nil && n == 0 {
			return numberedMove{}, nil
		}
		if values[1] == nil && values[0] != nil {
			m, err := r.storedMove(ctx, app, name, n)
			return numberedMove{n, m.move()}, err
		}
	}
	return r.lastMove(ctx, app, name)
}

// plannedMove is a move of a release that can be made, as far as the tag is where it should be.
type plannedMove struct {
	head Head
	tag  string
	last numberedMove
	move TagMove
}

// plan returns the moves of a release, or with undo the roll backs of them, and the conflicts of those that cannot be made. A move that
// leads to where the tag is already is left out.
func (known lastMoves) plan(ctx context.Context, r *reader, rel release, undo bool) (plan []plannedMove, conflicts []vitrine.Conflict, err error) {
	for _, m := range rel.Moves {
		at, err := r.pointsTo(ctx, m.AppID, m.Tag)
		if err != nil {
			return nil, nil, err
		}
		refuse := func(code, format string, args ...any) {
			conflicts = append(conflicts, vitrine.Conflict{App: m.AppID, Tag: m.Tag, PointsTo: at, Code: code, Reason: fmt.Sprintf(format, args...)})
		}
		h, err := usableOrGone(ctx, r, m.AppID)
		if err != nil {
			return nil, nil, err
		}
		if h.ID == "" {
			refuse(vitrine.CodeNotFound, "the app %q is not there any more", m.AppID)
			continue
		}
		from := m.From
		if undo {
			from = m.To
		}
		if at != from {
			refuse(vitrine.CodeMoved, "the tag %q of app %q points to version %q, and not to version %q", m.Tag, m.AppID, at, from)
			continue
		}
		if m.From == m.To {
			continue
		}
		p := plannedMove{head: h, tag: m.Tag, move: TagMove{From: m.From, To: m.To, Release: rel.ID}}
		if undo {
			p.move, err = r.rollback(ctx, h, m.Tag, rel.ID)
		}
		if e, refused := errors.AsType[*vitrine.Error](err); refused {
			refuse(e.Code, "%s", e.Reason)
			continue
		}
		if err == nil {
			p.last, err = known.last(ctx, r, m.AppID, m.Tag)
		}
		if err != nil {
			return nil, nil, err
		}
		plan = append(plan, p)
	}
	return plan, conflicts, nil
}

// usableOrGone returns the head of an app, the zero Head if it is not there.
func usableOrGone(ctx context.Context, r *reader, id string) (Head, error) {
	h, err := r.head(ctx, id)
	return h, ignore(err, vitrine.ErrNotFound)
}

// carryOut makes the moves of a release that is done then, or rolls those of one back that is cancelled then, and stores it in the place of
// what it was. It returns ErrConflict with CodeConflicts, and what it has written is to be rolled back, if one of them cannot be made.
func (s *Service) carryOut(ctx context.Context, tx *writer, by vitrine.Caller, was, rel release, known lastMoves) (Release, error) {
	if err := known.ahead(ctx, tx.reader, by, rel.Moves); err != nil {
		return Release{}, err
	}
	plan, conflicts, err := known.plan(ctx, tx.reader, rel, rel.State == ReleaseCancelled)
	if err != nil {
		return Release{}, err
	}
	if len(conflicts) > 0 {
		return Release{}, conflicting(was.Version, conflicts...)
	}
	at := max(s.millis(), was.UpdatedAt)
	for _, p := range plan {
		at = max(at, p.last.At)
	}
	entries := make([]feed.Entry, 0, len(plan)+1)
	for _, p := range plan {
		var body Body
		if s.check != nil && !p.move.To.IsZero() {
			app, err := tx.version(ctx, p.head, p.move.To)
			if err != nil {
				return Release{}, err
			}
			body = app.Body
		}
		p.move.At = at
		c, err := s.placeTag(ctx, tx, by, p.head, p.tag, p.move, p.last, body)
		if err == nil {
			err = s.allowed(ctx, tx, by, c)
		}
		if e, refused := errors.AsType[*vitrine.Error](err); refused {
			conflicts = append(conflicts, vitrine.Conflict{App: p.head.ID, Tag: p.tag, PointsTo: p.move.From, Code: e.Code, Reason: e.Error()})
		} else if err != nil {
			return Release{}, err
		}
		entries = append(entries, feedEntry(by, c, at))
	}
	if len(conflicts) > 0 {
		return Release{}, conflicting(was.Version, conflicts...)
	}
	rel.Scheduler, rel.Conflicts = nil, nil
	if rel.State == ReleaseDone {
		rel.RanAt = at
	}
	entry, err := s.putRelease(ctx, tx, by, was, &rel)
	if err == nil {
		err = s.publish(ctx, tx, append(entries, entry)...)
	}
	if err != nil {
		return Release{}, err
	}
	return tx.shown(ctx, rel)
}

// TaggedAppIn returns what TaggedApp would return if a release had run: the version to which it moves the tag, and where the tag points now
// if the release does not move it, or is done. It is not for callers with TagsOnly.
//
// It returns ErrNotFound as TaggedApp and Release do, and ErrConflict for a release that is cancelled (CodeWrongState), or of which some move
// could not be made (CodeConflicts). Approvals are not looked at.
func (s *Service) TaggedAppIn(ctx context.Context, by vitrine.Caller, appID, name, releaseID string) (app App, err error) {
	if err := by.CheckUnrestricted(); err != nil {
		return app, err
	}
	err = s.store.view(ctx, func(r *reader) error {
		h, err := readableHead(ctx, r, by, appID)
		if err != nil {
			return err
		}
		rel, err := r.releaseFor(ctx, by, releaseID)
		if err != nil {
			return err
		}
		at, err := r.pointsTo(ctx, appID, name)
		if err != nil {
			return err
		}
		switch rel.State {
		case ReleaseCancelled:
			return conflict(vitrine.CodeWrongState, h.Version, "the release is cancelled")
		case ReleaseOpen, ReleaseScheduled:
			if _, conflicts, err := (lastMoves{}).plan(ctx, r, rel, false); err != nil {
				return err
			} else if len(conflicts) > 0 {
				return conflicting(h.Version, conflicts...)
			}
			for _, m := range rel.Moves {
				if m.AppID == appID && m.Tag == name {
					at = m.To
				}
			}
		}
		if at.IsZero() {
			return noTag(appID, name)
		}
		app, err = r.version(ctx, h, at)
		return err
	})
	return app, err
}
