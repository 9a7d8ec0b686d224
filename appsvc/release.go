package appsvc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/feed"
	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/internal/paging"
)

// A release is a list of moves of tags that are made together: all at one moment, or none. It is a record of its own.
// It can be changed until it is run, by hand (RunRelease) or at a time (RunDue). The files are these:
//
//	release.go          the type Release; creating, changing, cancelling and listing releases
//	releaseapproval.go  whose approvals count
//	releaserun.go       running, undoing, the schedule, and a preview of an app
//	releaserecord.go    its record
//
// Versions never change, and each move names where the tag must point before it. So a release runs exactly what was
// approved. If a tag has been moved in the meantime, no tag is moved, and the release is open again with the conflict.

// ReleaseState is the state of a release.
type ReleaseState string

// The states of releases.
const (
	ReleaseOpen      ReleaseState = "open"      // it can be changed, approved and run
	ReleaseScheduled ReleaseState = "scheduled" // as ReleaseOpen, and it is run at its time
	ReleaseDone      ReleaseState = "done"      // all its moves were made
	ReleaseCancelled ReleaseState = "cancelled" // it will not be run; with a RanAt it was run and undone
)

var releaseStates = []ReleaseState{ReleaseOpen, ReleaseScheduled, ReleaseDone, ReleaseCancelled}

// The limits of releases.
const (
	mostMoves       = 200
	mostReleaseNote = 4096                // characters
	farthestRelease = 90 * 24 * time.Hour // of a schedule, from now on, and of its end, from its time on
)

// Release is a list of moves of tags that are made together. In JSON it is
//
//	{"id", "version", "name", "note", "state", "at", "until", "moves": [{"app", "tag", "from", "to"}], "by": {"urn"},
//	 "agent", "createdAt", "updatedAt", "approvals": [{"by": {"urn"}, "at"}], "needs", "independent",
//	 "mayApprove", "ranAt", "conflicts": [{"app", "tag", "pointsTo", "error", "reason"}]}
//
// with times in milliseconds since the epoch, null where there is none, and null for NoTag in a move. The members
// independent and mayApprove are there only if they are true, and agent only if an agent made the release.
//
// # Releases
//
// A [Release] is a list of up to 200 moves of tags that are made together: all at one moment, or none. CreateRelease
// stores it, UpdateRelease changes it, and RunRelease carries it out. Each move names where the tag must point before.
// If one tag points elsewhere, or another rule rejects a move, no tag is moved; the release is open then, and its
// Conflicts name all of these moves. UndoRelease rolls back all moves of a release. TaggedAppIn shows an app as it
// would be after the release. A request that changes, approves or runs a release names the version of it that the
// caller has seen.
//
// With a time, a release is scheduled. Service.RunDue runs each due release once, in whichever process: a program calls
// it every second. The rights of the person who set the time are stored, and checked at that time on the apps as they
// are then; Options.Rights returns the rights that the person has then. A release that is more than a day late is not
// run.
//
// A scheduled release may have an end, Until. RunDue then undoes all its moves once, as UndoRelease does, with the
// rights that whoever has run the release has at that time. If a move cannot be undone, none is: the release stays
// done, and its Conflicts have the reasons. CancelRelease and UndoRelease call off an end that is to come. Until it has
// come, the apps of the release cannot be deleted. At the same time, ends come before releases that begin.
//
// A rule of a tag may require approvals (SetTagRules). Only a release moves such a tag, and RunRelease needs that many
// approvals. An approval counts if its person could run the release, has neither made nor changed it, was not invited
// or given rights by somebody who has, directly or through others, and is not a program. If the rule is Independent,
// nobody counts either who gave rights to somebody who has made or changed it, and of people who gave each other rights
// one counts. A change of moves removes all approvals.
//
// Whoever may make people can be two of them: one invites two, one of these makes the release, and the other one
// approves it. So let only those make people whom you would let release alone.
type Release struct {
	ID        string          `json:"id"`
	Version   vitrine.Version `json:"version"` // counts its changes, from 0 on
	Name      string          `json:"name"`
	Note      string          `json:"note"`
	State     ReleaseState    `json:"state"`
	At        int64           `json:"at"`    // when it is run; 0 = no time is set
	Until     int64           `json:"until"` // when its moves are, or were, undone by the schedule; 0 = never
	Moves     []ReleaseMove   `json:"moves"`
	By        string          `json:"by"`             // URN of the user who made it
	Agent     string          `json:"agent,omitzero"` // the name of the user's API key, if an agent made it; "" = none
	CreatedAt int64           `json:"createdAt"`
	UpdatedAt int64           `json:"updatedAt"`
	Approvals []Approval      `json:"approvals"`
	// the number of approvals that it needs, by the present rules of its tags
	Needs     int                `json:"needs"`
	RanAt     int64              `json:"ranAt"`     // when its moves were made; 0 = not yet
	Ask       []string           `json:"ask"`       // URNs of people who are asked to approve it
	Conflicts []vitrine.Conflict `json:"conflicts"` // why the last attempt to run it, or to end it, made no move

	// Independent is TagRule.Independent: whether an approval of somebody who gave rights to an author does not count.
	Independent bool `json:"independent,omitzero"`
	// MayApprove is whether the release needs approvals, and the caller can add one that counts. Only the method
	// Release sets it.
	MayApprove bool `json:"mayApprove,omitzero"`
}

// ReleaseMove is the move of a tag. To is PointsTo a version, or NoTag to delete the tag. From is where the tag must
// point before. In a request a zero From means where it points now; a Release has none. In JSON both are a version or
// null, and in a request from may be left out.
type ReleaseMove struct {
	AppID string   `json:"app"`
	Tag   string   `json:"tag"`
	From  TagGuard `json:"from,omitzero"`
	To    TagGuard `json:"to,omitzero"`
}

// Approval says who has approved a release, and when.
type Approval struct {
	By string `json:"by"` // URN
	At int64  `json:"at"`
}

// MarshalJSON writes the members that the comment of Release lists; the lists are never null.
func (r Release) MarshalJSON() ([]byte, error) {
	type members Release
	return json.Marshal(struct {
		members
		By    user   `json:"by"`
		At    *int64 `json:"at"`
		Until *int64 `json:"until"`
		RanAt *int64 `json:"ranAt"`
	}{members(r), user{r.By}, orNull(r.At), orNull(r.Until), orNull(r.RanAt)})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (r *Release) UnmarshalJSON(text []byte) error {
	type members Release
	return json.Unmarshal(text, (*members)(r), usersAsURNs)
}

// MarshalJSON writes {"by":{"urn"},"at"}.
func (a Approval) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		By user  `json:"by"`
		At int64 `json:"at"`
	}{user{a.By}, a.At})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (a *Approval) UnmarshalJSON(text []byte) error {
	type members Approval
	return json.Unmarshal(text, (*members)(a), usersAsURNs)
}

// CreateReleaseRequest is a new release.
type CreateReleaseRequest struct {
	Name           string        // up to 128 characters
	Note           string        // up to 4,096 characters
	Moves          []ReleaseMove // 1 to 200, each tag of an app once
	At             int64         // when it is run, within 90 days, in milliseconds since the epoch; 0 = no time is set
	Until          int64         `json:",omitempty"` // when it ends: after At, within 90 days of it; 0 = never
	Ask            []string      `json:",omitempty"` // URNs of up to 20 people who could approve it; see Approvers
	IdempotencyKey string        // "" = none
}

// CreateRelease stores a release. It moves nothing.
//
// It returns ErrInvalid if a text, a list or a time is out of range, if a tag is moved twice, or if a move leads to
// where it begins. If the caller could not make some move by PutTag or DeleteTag, apart from missing approvals, it
// returns their error for the first such move: ErrNotFound or ErrForbidden. It returns ErrUnprocessable if somebody in
// Ask is not known or could not approve the release.
func (s *Session) CreateRelease(ctx context.Context, in CreateReleaseRequest) (Release, error) {
	s = s.calls("CreateRelease")
	if err := s.check(); err != nil {
		return Release{}, err
	}
	if err := s.maySchedule(in.At | in.Until); err != nil {
		return Release{}, err
	}
	if err := s.service.checkRelease(in.Name, in.Note, in.Moves, in.At, 0, in.Until); err != nil {
		return Release{}, err
	}
	write, err := newIdempotentWrite(s.by, in.IdempotencyKey, "create release", in)
	if err != nil {
		return Release{}, err
	}
	write.may = func(ctx context.Context, r *reader) error {
		return r.mayMoveAll(ctx, s.by, in.Moves, "/moves", false)
	}
	var kept struct{ ID string }
	var out Release
	var prepare func() error
	if len(in.Ask) > 0 {
		prepare = func() error {
			if err := s.service.store.view(ctx, func(r *reader) error { return write.may(ctx, r) }); err != nil {
				return err
			}
			return s.checkAsk(ctx, release{Release: Release{State: ReleaseOpen, Moves: in.Moves},
				releaseRest: releaseRest{Authors: []string{s.by.URN}}}, in.Ask, nil)
		}
	}
	repeated, err := s.service.write(ctx, write, &kept, prepare, func(tx *writer) error {
		moves, err := tx.resolve(ctx, s.by, in.Moves)
		if err != nil {
			return err
		}
		id, err := s.service.newID()
		if err != nil {
			return err
		}
		now := s.service.millis()
		rel := release{Release: Release{ID: id, Version: vitrine.NewVersion(0), Name: in.Name, Note: in.Note,
			Moves: moves, Ask: in.Ask, By: s.by.URN, Agent: s.by.Agent, CreatedAt: now, UpdatedAt: now},
			releaseRest: releaseRest{Authors: []string{s.by.URN}, Key: s.by.Key}}
		rel.schedule(s.by, in.At, in.Until)
		kept.ID = rel.ID
		out, err = s.storeRelease(ctx, tx, release{}, rel)
		return err
	})
	if err == nil && repeated {
		return s.Release(ctx, kept.ID)
	}
	return out, err
}

// maySchedule returns ErrForbidden for an agent that sets a time.
func (s *Session) maySchedule(at int64) error {
	if at != 0 {
		return s.by.CheckMethod("")
	}
	return nil
}

// schedule sets the times of a release and the state that follows from them. The rights of the caller are stored for
// the run.
func (r *release) schedule(by vitrine.Caller, at, until int64) {
	if r.At, r.Until, r.State, r.Scheduler = at, until, ReleaseOpen, nil; at != 0 {
		r.State, r.Scheduler = ReleaseScheduled, &by
	}
}

// checkRelease returns ErrInvalid if a limit of releases is exceeded. was is the stored time: a time equal to it may be
// over.
func (s *Service) checkRelease(name, note string, moves []ReleaseMove, at, was, until int64) error {
	if err := cmp.Or(checkText("/name", name, s.limits.Name), checkText("/note", note, mostReleaseNote)); err != nil {
		return err
	}
	if len(moves) == 0 || len(moves) > mostMoves {
		return fault.Invalid("/moves", "there are %d, want 1 to %d", len(moves), mostMoves)
	}
	seen := map[[2]string]bool{}
	for i, m := range moves {
		at := fmt.Sprintf("/moves/%d", i)
		switch name := [2]string{m.AppID, m.Tag}; {
		case m.AppID == "":
			return fault.Invalid(at+"/app", "missing: want the id of an app")
		case !tagName.MatchString(m.Tag):
			return badTagName(at+"/tag", m.Tag)
		case m.To.IsZero() || m.To.check() != nil:
			return fault.Invalid(at+"/to", "want a version, or null (NoTag) to take the tag away")
		case m.From.check() != nil:
			return fault.Invalid(at+"/from", "want a version, or null if the tag must not be there")
		case seen[name]:
			return fault.Invalid(at, "the tag %q of app %q is there twice: want one move", m.Tag, m.AppID)
		default:
			seen[name] = true
		}
	}
	now := s.made().now()
	if at != 0 && at != was && (at <= now.UnixMilli() || at > now.Add(farthestRelease).UnixMilli()) {
		return fault.Invalid("/at", "want a time to come within 90 days, in milliseconds since 1970, or null")
	}
	if until != 0 && (at == 0 || until <= at || until > time.UnixMilli(at).Add(farthestRelease).UnixMilli()) {
		return fault.Invalid("/until",
			"want a time after at and within 90 days of it, in milliseconds since 1970, or null")
	}
	return nil
}

// resolve returns the moves of a request, with each absent From set to where the tag points now. It returns the errors
// of mayMoveAll, ErrNotFound if an app does not have a version, and ErrInvalid for a move to where it begins.
func (r *reader) resolve(ctx context.Context, by vitrine.Caller, in []ReleaseMove) ([]ReleaseMove, error) {
	moves := slices.Clone(in)
	if err := r.mayMoveAll(ctx, by, moves, "/moves", false); err != nil {
		return nil, err
	}
	for i := range moves {
		m := &moves[i]
		h, err := r.head(ctx, m.AppID)
		if err != nil {
			return nil, err
		}
		if m.To.at.Compare(h.Version) > 0 {
			return nil, fault.At(fmt.Sprintf("/moves/%d/to", i), fault.NotFound(
				"app %q has no version %q", m.AppID, m.To.at))
		}
		if m.From.IsZero() {
			at, err := r.PointsTo(ctx, m.AppID, m.Tag)
			if err != nil {
				return nil, err
			}
			m.From = TagGuard{true, at}
		}
		if m.From == m.To {
			return nil, fault.Invalid(fmt.Sprintf("/moves/%d/to", i),
				"the tag %q of app %q would stay where it is: want another version than from, or leave the move out",
				m.Tag, m.AppID)
		}
	}
	return moves, nil
}

// UpdateReleaseRequest is the new content of a release.
type UpdateReleaseRequest struct {
	ID      string          `json:"-"`
	Version vitrine.Version `json:"version,omitzero"` // the version that the caller has seen
	Name    string          `json:"name"`
	Note    string          `json:"note"`
	Moves   []ReleaseMove   `json:"moves"`
	At      int64           `json:"at,omitzero"`    // 0 removes the time
	Until   int64           `json:"until,omitzero"` // when it ends; 0 = never
	Ask     []string        `json:"ask,omitzero"`   // URNs of people who are asked to approve it; see Approvers
}

// UpdateRelease changes a release that is open or scheduled. A change of moves removes all approvals, and a change of
// more than the time removes that of the caller, who cannot approve it any more. With a time the release is scheduled,
// with the rights of this caller, which are checked again when it runs.
//
// It returns the errors of CreateRelease, ErrForbidden also if the caller could not make a present move of the release,
// ErrNotFound unless the caller may read every app of the release, and ErrConflict: CodeStaleVersion if it has another
// version, CodeWrongState if it was run or cancelled.
func (s *Session) UpdateRelease(ctx context.Context, in UpdateReleaseRequest) (Release, error) {
	s = s.calls("UpdateRelease")
	if err := s.maySchedule(in.At | in.Until); err != nil {
		return Release{}, err
	}
	if err := s.checkNewAsk(ctx, in); err != nil {
		return Release{}, err
	}
	return s.changeRelease(ctx, in.ID, in.Version, func(tx *writer, rel *release) error {
		if err := s.service.checkRelease(in.Name, in.Note, in.Moves, in.At, rel.At, in.Until); err != nil {
			return err
		}
		moves, err := tx.resolve(ctx, s.by, in.Moves)
		if err != nil {
			return err
		}
		rel.rewrite(s.by.URN, in, moves)
		rel.Name, rel.Note, rel.Moves, rel.Ask, rel.Conflicts = in.Name, in.Note, moves, in.Ask, nil
		rel.schedule(s.by, in.At, in.Until)
		return nil
	})
}

// rewrite takes back the approvals that do not count after a change of the release by a user, and makes the user one of
// its authors, unless only times and people to ask change.
func (r *release) rewrite(user string, in UpdateReleaseRequest, moves []ReleaseMove) {
	same := slices.Equal(moves, r.Moves)
	if !same {
		r.Approvals, r.Approvers = nil, nil
	}
	if (!same || in.Name != r.Name || in.Note != r.Note) && !slices.Contains(r.Authors, user) {
		r.Authors = append(r.Authors, user)
		r.withdraw(user)
	}
	r.Moves = moves
}

// checkNewAsk returns an error unless the people whom a changed release asks could approve it then.
func (s *Session) checkNewAsk(ctx context.Context, in UpdateReleaseRequest) error {
	if len(in.Ask) == 0 {
		return s.check()
	}
	rel, err := view(ctx, s, func(r *reader) (release, error) {
		rel, err := r.releaseToChange(ctx, s.by, in.ID, in.Version, ReleaseOpen, ReleaseScheduled)
		if err != nil {
			return rel, err
		}
		rel.Authors = slices.Clip(rel.Authors)
		moves, err := r.resolve(ctx, s.by, in.Moves)
		rel.rewrite(s.by.URN, in, moves)
		return rel, err
	})
	if err != nil {
		return err
	}
	return s.checkAsk(ctx, rel, in.Ask, rel.Ask)
}

// CancelRelease cancels a release that is open or scheduled. Of one that is done it calls off the end that is to come,
// and the release stays done. Like every method that takes seen, the version of the release that the caller has seen,
// it changes no other version. It returns the errors of UpdateRelease.
func (s *Session) CancelRelease(ctx context.Context, id string, seen vitrine.Version) (Release, error) {
	return s.changeRelease(ctx, id, seen, func(_ *writer, rel *release) error {
		switch {
		case rel.State != ReleaseDone:
			rel.schedule(s.by, 0, 0)
			rel.State = ReleaseCancelled
		case rel.due() == 0:
			return rel.is(seen, ReleaseOpen, ReleaseScheduled)
		}
		rel.Until, rel.Scheduler = 0, nil
		return nil
	}, ReleaseDone)
}

// changeRelease changes a release that is open, scheduled, or in a state of also, for a caller who may make all its
// moves.
func (s *Session) changeRelease(
	ctx context.Context, id string, seen vitrine.Version, change func(*writer, *release) error, also ...ReleaseState,
) (Release, error) {
	return update(ctx, s, func(tx *writer) (Release, error) {
		was, err := tx.releaseToChange(ctx, s.by, id, seen,
			append([]ReleaseState{ReleaseOpen, ReleaseScheduled}, also...)...)
		if err != nil {
			return Release{}, err
		}
		rel := was
		rel.Authors = slices.Clip(was.Authors)
		if err := change(tx, &rel); errors.Is(err, errUnchanged) {
			return tx.shown(ctx, was)
		} else if err != nil {
			return Release{}, err
		}
		return s.storeRelease(ctx, tx, was, rel)
	})
}

// errUnchanged ends a change of a release that has nothing to change.
var errUnchanged = errors.New("nothing changes")

// releaseToChange returns a release in one of some states. It returns ErrNotFound if the caller may not see it,
// ErrForbidden if the caller could not make all its moves, or is an agent whose key has not made it or for which it has
// a time, and ErrConflict if its version or its state is another one.
func (r *reader) releaseToChange(
	ctx context.Context, by vitrine.Caller, id string, seen vitrine.Version, states ...ReleaseState,
) (release, error) {
	rel, err := r.releaseFor(ctx, by, id)
	if err == nil && (rel.At != 0 || rel.Key != by.Key) {
		err = by.CheckMethod("")
	}
	if err == nil {
		err = r.mayMoveAll(ctx, by, rel.Moves, "", true)
	}
	if err == nil {
		err = rel.is(seen, states...)
	}
	return rel, err
}

// is returns ErrConflict unless the release has this version and one of these states, and ErrInvalid for the zero
// Version.
func (r release) is(v vitrine.Version, states ...ReleaseState) error {
	switch {
	case v.IsZero() || v == vitrine.Latest:
		return fault.Invalid("/version", "missing: want the version of the release that you have seen")
	case v != r.Version:
		return fault.Conflict(vitrine.CodeStaleVersion, r.Version,
			"the release is at version %q, and not at version %q: look at it again", r.Version, v)
	case !slices.Contains(states, r.State):
		return fault.Conflict(vitrine.CodeWrongState, r.Version,
			"the release is %s: want one that is %s", r.State, states[0])
	}
	return nil
}

// storeRelease stores a release in place of its earlier form, with the next version, and adds some entries and the
// entry of the release to the feed.
func (s *Session) storeRelease(
	ctx context.Context, tx *writer, was, rel release, entries ...feed.Entry,
) (Release, error) {
	entry, err := s.putRelease(ctx, tx, was, &rel)
	if err == nil {
		err = s.service.store.feeds.Add(ctx, tx.tx, s.service.store.feed, s.service.millis(), append(entries, entry)...)
	}
	if err != nil {
		return Release{}, err
	}
	return tx.shown(ctx, rel)
}

// Release returns a release. It returns ErrNotFound unless the caller may read every app of it.
func (s *Session) Release(ctx context.Context, id string) (Release, error) {
	s = s.calls("Release")
	var rel release
	out, err := view(ctx, s, func(r *reader) (out Release, err error) {
		if rel, err = r.releaseFor(ctx, s.by, id); err != nil {
			return out, err
		}
		return r.shown(ctx, rel)
	})
	if err != nil || out.Needs == 0 {
		return out, err
	}
	could, err := s.service.couldApprove(ctx, rel, map[string]vitrine.Caller{s.by.URN: s.by})
	if err != nil {
		return Release{}, err
	}
	out.MayApprove = could[s.by.URN]
	return out, nil
}

// ListReleasesRequest asks for releases, newest first.
type ListReleasesRequest struct {
	State ReleaseState // "" = any
	AppID string       // only those that move a tag of this app; "" = any
	After string       // Next of the page before; "" = the first page
	Limit int          // 1 to 500; 0 = 50
}

// maxScanned is the maximum number of releases that a page of ListReleases reads, whether or not the caller sees them.
const maxScanned = 1000

// ListReleases returns a page of the releases that the caller may see, newest first. A page reads at most 1,000
// releases, so it may be empty although Next is set. It returns ErrInvalid if State is unknown, if Limit is out of
// range, or if After is not a cursor of this list.
func (s *Session) ListReleases(ctx context.Context, in ListReleasesRequest) (vitrine.Page[Release], error) {
	s = s.calls("ListReleases")
	return list(ctx, s, in.Limit, 50, func(r *reader, limit int) (page vitrine.Page[Release], err error) {
		if in.State != "" && !slices.Contains(releaseStates, in.State) {
			return page, fault.Invalid("state", "there is no state %q: want one of %q", in.State, releaseStates)
		}
		name := "releases " + string(in.State) + " " + in.AppID
		before, err := numberIn(name, "after", in.After)
		if err != nil {
			return page, err
		}
		v := viewer{r: r, by: s.by, heads: map[string]appHead{}}
		looked, room := 0, paging.NewRoom(limit, s.service.limits.PageBytes)
		for rel, err := range keyval.Map(r.Releases(ctx, string(in.State), in.AppID, before, limit), decodeRelease) {
			if err != nil {
				return page, err
			}
			if looked++; room.Full() || looked > maxScanned {
				page.Next = cursor(name, rel.Number+1, "")
				break
			}
			sees, err := v.seesRelease(ctx, rel)
			if err != nil {
				return page, err
			}
			if sees && (in.State == "" || rel.State == in.State) {
				shown, err := r.shown(ctx, rel)
				if err != nil {
					return page, err
				}
				if !room.Takes(shown.size()) {
					page.Next = cursor(name, rel.Number+1, "")
					break
				}
				page.Items = append(page.Items, shown)
			}
		}
		return page, nil
	})
}

// size is about the number of bytes of a release in JSON.
func (r Release) size() int {
	n := 500 + len(r.Name) + len(r.Note)
	for _, user := range r.Ask {
		n += 3 + len(user)
	}
	for _, m := range r.Moves {
		n += 80 + len(m.AppID) + len(m.Tag)
	}
	for _, a := range r.Approvals {
		n += 60 + len(a.By)
	}
	for _, c := range r.Conflicts {
		n += 90 + len(c.App) + len(c.Tag) + len(c.Reason)
	}
	return n
}

// AllReleases yields the releases that the caller may see, newest first, page by page. The first error is the last
// pair.
func (s *Session) AllReleases(ctx context.Context, in ListReleasesRequest) iter.Seq2[Release, error] {
	return paging.All(&in.After, func() (vitrine.Page[Release], error) { return s.ListReleases(ctx, in) })
}
