package sqlite

import (
	"context"
	"iter"
	"math"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/internal/stream"
)

// TagMoves yields moves of a tag, newest first. They are stored by the id of the app and not by its key, so they need no look at
// the app.
func (r *appReader) TagMoves(ctx context.Context, q appsvc.TagMoveQuery) iter.Seq2[appsvc.TagMoveRecord, error] {
	return stream.Limited(ctx, r.check, q.Limit, func(out func(appsvc.TagMoveRecord) bool) error { return r.tagMoves(ctx, q, out) })
}

func (r *appReader) tagMoves(ctx context.Context, q appsvc.TagMoveQuery, out func(appsvc.TagMoveRecord) bool) error {
	c, err := r.conn(ctx)
	if err != nil {
		return err
	}
	before := int64(math.MaxInt64)
	if q.Before != 0 {
		before = q.Before
	}
	rows := c.query(`SELECT number, at, caller, source, target FROM tag_move
		WHERE app = $1 AND name = $2 AND number < $3 ORDER BY number DESC`, q.AppID, q.Name, before)
	defer rows.close()
	for rows.next() {
		move := appsvc.TagMove{At: rows.int(1), By: rows.text(2), From: versionOrNone(rows.int(3)), To: versionOrNone(rows.int(4))}
		if !out(appsvc.TagMoveRecord{AppID: q.AppID, Name: q.Name, Number: rows.int(0), TagMove: move}) {
			break
		}
	}
	return rows.err
}

// versionOrNone returns the version with this number, and the zero Version for -1, its Number.
func versionOrNone(number int64) vitrine.Version {
	if number < 0 {
		return vitrine.Version{}
	}
	return vitrine.NewVersion(number)
}

// TagNames yields the names of tags that have moves, sorted, also of tags that were deleted. Each name has exactly one move with
// the number 1, and a partial index has only those.
func (r *appReader) TagNames(ctx context.Context, appID string) iter.Seq2[string, error] {
	return stream.Limited(ctx, r.check, 0, func(out func(string) bool) error { return r.tagNames(ctx, appID, out) })
}

func (r *appReader) tagNames(ctx context.Context, appID string, out func(string) bool) error {
	c, err := r.conn(ctx)
	if err != nil {
		return err
	}
	rows := c.query("SELECT name FROM tag_move WHERE app = $1 AND number = 1 ORDER BY name", appID)
	defer rows.close()
	for rows.next() && out(rows.text(0)) {
	}
	return rows.err
}

// AddTagMove adds a move.
func (t *appTx) AddTagMove(ctx context.Context, m appsvc.TagMoveRecord) error {
	if err := t.check(ctx); err != nil {
		return err
	}
	_, err := t.c.exec("INSERT INTO tag_move (app, name, number, at, caller, source, target) VALUES ($1, $2, $3, $4, $5, $6, $7)",
		m.AppID, m.Name, m.Number, m.At, m.By, m.From.Number(), m.To.Number())
	return err
}
