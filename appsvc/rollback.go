package appsvc

import (
	"context"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc/internal/records"
	"github.com/vitrine-go/vitrine/internal/fault"
)

// rollback returns the move that returns a tag of the app with this head to where it pointed before its last move that
// was not rolled back. last is its last move. If release is set, that must be a move of this release. It returns
// ErrNotFound if the tag never existed, and ErrConflict with CodeWrongState if there is no such move.
func (r *reader) rollback(
	ctx context.Context, h appHead, name string, last records.Move, release string,
) (m records.Move, err error) {
	if last.Number == 0 {
		at, err := r.PointsTo(ctx, h.ID, name)
		if err == nil && at.IsZero() {
			err = noTag(h.ID, name)
		}
		if err != nil {
			return m, err
		}
	}
	top := last.LastKept()
	if top == 0 {
		return m, fault.Conflict(vitrine.CodeWrongState, h.Version, "no move of the tag %q is left to roll back", name)
	}
	var undone, before records.Move
	for m, err := range r.Moves(ctx, h.ID, name, top+1, 2) {
		if err != nil {
			return m, err
		}
		if m.Number == top {
			undone = m
		} else {
			before = m
		}
	}
	if release != "" && undone.Release != release {
		return m, fault.Conflict(vitrine.CodeMoved, h.Version, "the tag %q was moved after this release", name)
	}
	return records.Move{From: last.To, To: undone.From, Rollback: true, Release: release, Top: before.LastKept()}, nil
}
