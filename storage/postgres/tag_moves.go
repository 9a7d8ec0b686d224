package postgres

import (
	"context"
	"iter"
	"math"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/internal/stream"
)

// TagMoves yields moves of a tag, newest first. In an Update it first locks the app, even if there is no app with this
// id, so that no other update adds a move before the commit.
func (r *appReader) TagMoves(ctx context.Context, q appsvc.TagMoveQuery) iter.Seq2[appsvc.TagMoveRecord, error] {
	return stream.Limited(ctx, r.check, q.Limit, func(out func(appsvc.TagMoveRecord) bool) error { return r.tagMoves(ctx, q, out) })
}

// tagMoves reads the moves in batches, so that a list that is left early costs one round trip.
func (r *appReader) tagMoves(ctx context.Context, q appsvc.TagMoveQuery, out func(appsvc.TagMoveRecord) bool) error {
	if err := r.lockApp(ctx, q.AppID); err != nil {
		return err
	}
	c, err := r.conn(ctx)
	if err != nil {
		return err
	}
	before, portion := int64(math.MaxInt64), 256
	if q.Before != 0 {
		before = q.Before
	}
	if q.Limit > 0 {
		portion = min(q.Limit, portion)
	}
	for {
		found := c.query(ctx, `SELECT number, at, caller, source, target FROM tag_move
			WHERE app = $1 AND name = $2 AND number < $3 ORDER BY number DESC LIMIT $4`, q.AppID, q.Name, before, portion)
		count := len(found.values)
		for found.next() {
			before = found.int(0)
			move := appsvc.TagMove{At: found.int(1), By: found.text(2), From: versionOrNone(found.int(3)), To: versionOrNone(found.int(4))}
			if !out(appsvc.TagMoveRecord{AppID: q.AppID, Name: q.Name, Number: before, TagMove: move}) {
				return nil
			}
		}
		if found.err != nil || count < portion {
			return found.err
		}
	}
}

// versionOrNone returns the version with this number, and the zero Version for -1, its Number.
func versionOrNone(number int64) vitrine.Version {
	if number < 0 {
		return vitrine.Version{}
	}
	return vitrine.NewVersion(number)
}

// TagNames yields the names of tags that have moves, sorted, also of tags that were deleted. Each name has exactly one move with
// the number 1, and the partial index tag_name has only those.
func (r *appReader) TagNames(ctx context.Context, appID string) iter.Seq2[string, error] {
	return stream.Limited(ctx, r.check, 0, func(out func(string) bool) error { return r.tagNames(ctx, appID, out) })
}

func (r *appReader) tagNames(ctx context.Context, appID string, out func(string) bool) error {
	if err := r.lockApp(ctx, appID); err != nil {
		return err
	}
	c, err := r.conn(ctx)
	if err != nil {
		return err
	}
	found := c.walk(ctx, 1024, "SELECT name FROM tag_move WHERE app = $1 AND number = 1 ORDER BY name", appID)
	defer found.close()
	for found.next() && out(found.text(0)) {
	}
	return found.err
}

// AddTagMove adds a move of a tag. It locks the app first, so the moves of a tag are numbered without gaps. The row is sent with
// the commit.
func (t *appTx) AddTagMove(ctx context.Context, m appsvc.TagMoveRecord) error {
	if err := t.lockApp(ctx, m.AppID); err != nil {
		return err
	}
	t.c.later("INSERT INTO tag_move (app, name, number, at, caller, source, target) VALUES ($1, $2, $3, $4, $5, $6, $7)",
		m.AppID, m.Name, m.Number, m.At, m.By, m.From.Number(), m.To.Number())
	return nil
}
