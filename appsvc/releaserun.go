package appsvc

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc/internal/records"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/feed"
	"github.com/vitrine-go/vitrine/internal/urn"
)

// A run, or the end of a release by its schedule, is prepared in a View, which finds the last moves of the tags and the
// present rights of people, and then carried out in one Update. The Update checks the state and the version of the
// release, so only one of several processes runs or ends it.

// missedAfter is the maximum delay of the schedule.
const missedAfter = 24 * time.Hour

// RunRelease makes all moves of a release that is open or scheduled, at one moment. If one of them cannot be made, none
// is: the release is open then, its Conflicts have the reasons, and the error has CodeConflicts and the same list.
//
// Otherwise it returns the errors of UpdateRelease, and ErrConflict with CodeNeedsApproval if fewer approvals than
// needed count. See TagRule.Independent for which count together.
func (s *Session) RunRelease(ctx context.Context, id string, seen vitrine.Version) (Release, error) {
	if err := s.check(); err != nil {
		return Release{}, err
	}
	return s.service.run(ctx, id, &s.by, func(ctx context.Context, r *reader) (release, error) {
		return r.releaseToChange(ctx, s.by, id, seen, ReleaseOpen, ReleaseScheduled)
	})
}

// UndoRelease rolls back all moves of a release that is done, in one transaction. It needs no approvals. The release is
// cancelled then, keeps its RanAt, and has no Until. It returns the errors of RunRelease; a tag that was moved since is
// a conflict.
func (s *Session) UndoRelease(ctx context.Context, id string, seen vitrine.Version) (Release, error) {
	return update(ctx, s, func(tx *writer) (Release, error) {
		was, err := tx.releaseToChange(ctx, s.by, id, seen, ReleaseDone)
		if err != nil {
			return Release{}, err
		}
		rel := was
		rel.State, rel.Until = ReleaseCancelled, 0
		return s.carryOut(ctx, tx, was, rel, nil)
	})
}

// RunDue runs the releases whose time has come, and undoes those whose end has come, each once, whichever processes
// call it. A program calls it every second from one loop. A release that cannot be run is open then, and one that
// cannot be undone stays done; its Conflicts have the reasons. More than a day late it is neither run nor undone, and
// it is not run after its end. RunDue returns the error of the store or of Options.Rights; a later call retries.
func (s *Service) RunDue(ctx context.Context) error {
	const atOnce = 100
	for {
		var ids []string
		err := s.made().store.view(ctx, func(r *reader) (err error) {
			ids, err = r.DueReleases(ctx, s.millis(), atOnce)
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

// runDue runs or ends a release whose time has come.
func (s *Service) runDue(ctx context.Context, id string) error {
	_, err := s.run(ctx, id, nil, func(ctx context.Context, r *reader) (release, error) {
		rel, err := r.storedRelease(ctx, id)
		if err == nil && (rel.due() == 0 || rel.due() > s.millis()) {
			err = errUnchanged // another process was faster, or it was changed
		}
		return rel, err
	})
	if e, ok := errors.AsType[*vitrine.Error](err); ok && e.Code == vitrine.CodeConflicts {
		return nil
	}
	return ignore(err, errUnchanged)
}

// run runs the release that read returns, or undoes it if it is done, or returns the error of read. by is the caller
// who does it, or nil to do it with the rights of whoever has scheduled or run the release.
func (s *Service) run(
	ctx context.Context, id string, by *vitrine.Caller, read func(context.Context, *reader) (release, error),
) (out Release, err error) {
	var seen release
	var known lastMoves
	err = s.store.view(ctx, func(r *reader) (err error) {
		if seen, err = read(ctx, r); err == nil {
			known, err = r.lastMoves(ctx, seen.Moves)
		}
		return err
	})
	if err != nil {
		return out, err
	}
	ends := seen.State == ReleaseDone
	var people []approver // an end needs none
	if !ends {
		people, err = s.approvers(ctx, seen.Authors, seen.Approvers...)
	}
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
		if due && s.millis()-rel.due() >= missedAfter.Milliseconds() {
			return missed(rel.Version, "its time was over for more than a day when a process came to it")
		}
		if !ends && rel.Until != 0 && s.millis() >= rel.Until {
			return missed(rel.Version, "its end had come before it was run")
		}
		if due {
			if err := scheduler.mayMoveAll(ctx, tx.reader, rel.Moves); err != nil {
				return asConflict(rel.Version, err)
			}
		}
		next := rel
		if next.State = ReleaseCancelled; ends {
			out, err = s.As(*by).carryOut(ctx, tx, rel, next, known)
			return err
		}
		rules, err := tx.tagRules(ctx)
		if err != nil {
			return err
		}
		n, err := rel.approved(ctx, tx.reader, people, rel.independent(rules))
		if err != nil {
			return err
		}
		if needs := rel.needs(rules); n < needs {
			format := "the release needs %s and has %d that count"
			if rel.independent(rules) && n < len(rel.Approvals) {
				format += ": they must be independent, and of people who gave each other rights one counts"
			}
			err := fault.Conflict(vitrine.CodeNeedsApproval, rel.Version, format, approvals(needs), n)
			if due {
				return asConflict(rel.Version, err)
			}
			return err
		}
		next.State = ReleaseDone
		out, err = s.As(*by).carryOut(ctx, tx, rel, next, known)
		return err
	})
	if e, ok := errors.AsType[*vitrine.Error](err); ok && e.Code == vitrine.CodeConflicts {
		rejected := *e
		if rejected.Version, err = s.As(*by).reject(ctx, id, seen.Version, e.Conflicts); err == nil {
			err = &rejected
		}
	}
	return out, err
}

// conflicting returns the error of a release that cannot be run.
func conflicting(v vitrine.Version, list ...vitrine.Conflict) error {
	err := fault.Conflict(vitrine.CodeConflicts, v,
		"the release cannot be run, and no tag was moved: %s", list[0].Reason)
	err.Conflicts = list
	return err
}

// missed returns the error of a release that the schedule is too late for.
func missed(v vitrine.Version, reason string) error {
	return conflicting(v, vitrine.Conflict{Code: vitrine.ConflictMissed, Reason: reason})
}

// asConflict returns the error of a rule as a conflict of the whole release. Errors of the store are returned
// unchanged.
func asConflict(v vitrine.Version, err error) error {
	if e, rejected := errors.AsType[*vitrine.Error](err); rejected {
		return conflicting(v, vitrine.Conflict{Code: e.Code, Reason: e.Error()})
	}
	return err
}

// reject stores why a release of this version could not be run or ended, and returns its new version. It has no time
// any more then. A release that was changed meanwhile stays as it is.
func (s *Session) reject(
	ctx context.Context, id string, seen vitrine.Version, list []vitrine.Conflict,
) (v vitrine.Version, err error) {
	err = s.service.store.update(ctx, func(tx *writer) error {
		was, err := tx.storedRelease(ctx, id)
		if v = was.Version; err != nil || was.Version != seen {
			return err
		}
		rel := was
		if rel.Scheduler = nil; was.State != ReleaseDone {
			rel.schedule(s.by, 0, 0)
		}
		rel.Conflicts, rel.FailedAt = list, max(s.service.millis(), rel.UpdatedAt)
		out, err := s.storeRelease(ctx, tx, was, rel)
		v = out.Version
		return err
	})
	return v, err
}

// plannedMove is a move that a release can make.
type plannedMove struct {
	head       appHead
	tag        string
	move, last records.Move
}

// lastMoves are the last moves of tags, by app and name, as a View has read them.
type lastMoves map[[2]string]records.Move

// lastMoves reads the last moves of the tags of some moves in one trip to the store.
func (r *reader) lastMoves(ctx context.Context, of []ReleaseMove) (lastMoves, error) {
	var tags [][2]string
	for _, m := range of {
		tags = append(tags, [2]string{m.AppID, m.Tag})
	}
	return r.LastMoves(ctx, tags)
}

// next returns the key of the move that would follow the last known move of a tag.
func (last lastMoves) next(app, tag string) string {
	return records.MoveKey(app, tag, last[[2]string{app, tag}].Number+1)
}

// now returns the last move of a tag: the known one, or a later one.
func (last lastMoves) now(ctx context.Context, r *reader, app, tag string) (records.Move, error) {
	next, err := r.Value(ctx, last.next(app, tag))
	if err != nil || next == nil {
		return last[[2]string{app, tag}], err
	}
	return r.LastMove(ctx, app, tag)
}

// plan returns the moves of a release, or with undo their rollbacks, and the conflicts of those that cannot be made. It
// leaves out moves to the version where the tag points already.
func (r *reader) plan(
	ctx context.Context, rel release, known lastMoves, undo bool,
) (plan []plannedMove, conflicts []vitrine.Conflict, err error) {
	for _, m := range rel.Moves {
		at, err := r.PointsTo(ctx, m.AppID, m.Tag)
		if err != nil {
			return nil, nil, err
		}
		reject := func(code, format string, args ...any) {
			conflicts = append(conflicts,
				vitrine.Conflict{App: m.AppID, Tag: m.Tag, PointsTo: at, Code: code,
					Reason: fmt.Sprintf(format, args...)})
		}
		h, err := r.head(ctx, m.AppID)
		if errors.Is(err, vitrine.ErrNotFound) {
			reject(vitrine.CodeNotFound, "the app %q is not there any more", m.AppID)
			continue
		} else if err != nil {
			return nil, nil, err
		}
		from := m.From.at
		if undo {
			from = m.To.at
		}
		if at != from {
			switch {
			case at.IsZero():
				reject(vitrine.CodeMoved, "the tag %q of app %q is not there, and should point to version %q", m.Tag,
					m.AppID, from)
			case from.IsZero():
				reject(vitrine.CodeMoved, "the tag %q of app %q points to version %q, and should not be there", m.Tag,
					m.AppID, at)
			default:
				reject(vitrine.CodeMoved, "the tag %q of app %q points to version %q, and not to version %q", m.Tag,
					m.AppID, at, from)
			}
			continue
		}
		if m.From == m.To {
			continue
		}
		p := plannedMove{head: h, tag: m.Tag,
			move: records.Move{From: m.From.at.Number(), To: m.To.at.Number(), Release: rel.ID}}
		if p.last, err = known.now(ctx, r, m.AppID, m.Tag); err == nil && undo {
			p.move, err = r.rollback(ctx, h, m.Tag, p.last, rel.ID)
		}
		if e, rejected := errors.AsType[*vitrine.Error](err); rejected {
			reject(e.Code, "%s", e.Reason)
			continue
		} else if err != nil {
			return nil, nil, err
		}
		plan = append(plan, p)
	}
	return plan, conflicts, nil
}

// carryOut makes the moves of rel if its state is ReleaseDone, or rolls them back if it is ReleaseCancelled, and stores
// rel in place of was. If one of them cannot be made, it returns ErrConflict with CodeConflicts, and the transaction
// must be rolled back.
func (s *Session) carryOut(ctx context.Context, tx *writer, was, rel release, known lastMoves) (Release, error) {
	ahead := tx.s.feed.Keys(urn.Author(s.by.URN, s.by.Agent))
	for _, m := range rel.Moves {
		ahead = append(ahead, records.HeadKey(m.AppID), records.TagKey(m.AppID, m.Tag), known.next(m.AppID, m.Tag))
		ahead = append(ahead, tx.s.feed.Keys(m.AppID)[1:]...)
	}
	if err := tx.Ahead(ctx, ahead...); err != nil {
		return Release{}, err
	}
	plan, conflicts, err := tx.plan(ctx, rel, known, rel.State == ReleaseCancelled)
	if err != nil {
		return Release{}, err
	}
	if len(conflicts) > 0 {
		return Release{}, conflicting(was.Version, conflicts...)
	}
	at := max(s.service.millis(), was.UpdatedAt)
	for _, p := range plan {
		at = max(at, p.last.At)
	}
	entries := make([]feed.Entry, 0, len(plan)+1)
	for _, p := range plan {
		p.move.At = at
		c, err := s.placeTag(ctx, tx, p.head, p.tag, p.move, p.last)
		if err == nil {
			err = s.allowed(ctx, tx, c)
		}
		if e, rejected := errors.AsType[*vitrine.Error](err); rejected {
			conflicts = append(conflicts,
				vitrine.Conflict{App: p.head.ID, Tag: p.tag, PointsTo: c.From, Code: e.Code, Reason: e.Error()})
		} else if err != nil {
			return Release{}, err
		}
		entries = append(entries, feedEntry(s.by, c))
	}
	if len(conflicts) > 0 {
		return Release{}, conflicting(was.Version, conflicts...)
	}
	rel.Scheduler, rel.Conflicts = nil, nil
	if rel.State == ReleaseDone {
		if rel.RanAt = at; rel.Until != 0 {
			rel.Scheduler = &s.by
		}
	}
	return s.storeRelease(ctx, tx, was, rel, entries...)
}

// TaggedAppIn returns what TaggedApp would return after a release had run: the version to which it moves the tag. If
// the release does not move the tag, or is done, that is the version where the tag points now. It is not for callers
// with TagsOnly.
//
// It returns ErrNotFound as TaggedApp and Release do, and ErrConflict if the release is cancelled (CodeWrongState), or
// if some move could not be made (CodeConflicts). Approvals are not checked.
func (s *Session) TaggedAppIn(ctx context.Context, appID, name, releaseID string) (App, error) {
	s = s.calls("TaggedAppIn")
	if err := s.checkLanguage(); err != nil {
		return App{}, err
	}
	return view(ctx, s, func(r *reader) (app App, err error) {
		h, err := readableHead(ctx, r, s.by, appID)
		if err != nil {
			return app, err
		}
		rel, err := r.releaseFor(ctx, s.by, releaseID)
		if err != nil {
			return app, err
		}
		at, err := r.PointsTo(ctx, appID, name)
		if err != nil {
			return app, err
		}
		switch rel.State {
		case ReleaseCancelled:
			return app, fault.Conflict(vitrine.CodeWrongState, h.Version, "the release is cancelled")
		case ReleaseOpen, ReleaseScheduled:
			if _, conflicts, err := r.plan(ctx, rel, nil, false); err != nil {
				return app, err
			} else if len(conflicts) > 0 {
				return app, conflicting(h.Version, conflicts...)
			}
			for _, m := range rel.Moves {
				if m.AppID == appID && m.Tag == name {
					at = m.To.at
				}
			}
		}
		if at.IsZero() {
			return app, noTag(appID, name)
		}
		if app, err = r.version(ctx, h, at); err == nil {
			app, err = s.answered(ctx, r, app)
		}
		return app, err
	})
}
