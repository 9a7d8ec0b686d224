package postgres

import (
	"bytes"
	"context"
	"errors"
	"iter"

	"github.com/vitrine-go/vitrine/assets/assetstore"
	"github.com/vitrine-go/vitrine/internal/feed"
	"github.com/vitrine-go/vitrine/storage/internal/stream"
)

// The feed of a library has the same kind of positions as the feed of apps, for the reasons that feed.go states. Here the lock
// that orders the updates is that of the library's row.

const (
	libraryFeed = `SELECT feed.key, identity, coalesce(library.removed_round, 0), coalesce(library.removed_number, 0),
		coalesce(round, library.removed_round, 0), coalesce(number, library.removed_number, 0)
		FROM feed LEFT JOIN library ON library.key = $1 LEFT JOIN (SELECT round, number FROM asset_change
			WHERE library = $1 AND round < ` + xmin + ` ORDER BY round DESC, number DESC LIMIT 1) AS last ON true`
	libraryEntries = `SELECT round, number, at, names, data FROM asset_change
		WHERE library = $1 AND (round, number) > ($2, $3) AND round < ` + xmin + ` ORDER BY round, number LIMIT $4`
	addLibraryEntry = `INSERT INTO asset_change (library, round, number, at, names, data) SELECT $1,
		greatest(pg_current_xact_id()::text::int8, (SELECT max(round) FROM asset_change WHERE library = $1)), nextval('asset_change_number'), $2, $3, $4`
	removeLibraryEntries = `WITH first AS (SELECT round, number, at FROM asset_change WHERE library = $1 AND round < ` + xmin + `
			ORDER BY round, number LIMIT $3),
		old AS (SELECT round, number, bool_and(at <= $2) OVER (ORDER BY round, number) AS past FROM first),
		gone AS (DELETE FROM asset_change c USING old WHERE past AND c.library = $1 AND c.round = old.round AND c.number = old.number
			RETURNING c.round, c.number),
		last AS (SELECT round, number FROM gone ORDER BY round DESC, number DESC LIMIT 1)
		UPDATE library SET removed_round = round, removed_number = number FROM last WHERE key = $1`
)

// Changed returns a channel that is closed when the feed of some library may have new entries.
func (s assetStore) Changed() <-chan struct{} { return s.db.wait() }

// Feed returns the state of the library's feed.
func (r *assetReader) Feed(ctx context.Context) (assetstore.FeedState, error) {
	if err := r.check(ctx); err != nil {
		return assetstore.FeedState{}, err
	}
	found := r.c.query(ctx, libraryFeed, r.key)
	if !found.next() {
		return assetstore.FeedState{}, errors.Join(found.err, errNoFeed)
	}
	return feedStateOf(found), nil
}

// Entries yields the entries of the library after a position. It stops before the first entry that could still get another
// entry in front of it.
func (r *assetReader) Entries(ctx context.Context, after assetstore.FeedPosition, limit int) iter.Seq2[assetstore.FeedEntry, error] {
	return stream.Limited(ctx, r.check, limit, func(out func(assetstore.FeedEntry) bool) error {
		return entriesIn(after, limit, out, func(after feed.Position, portion int) *rows {
			if err := r.check(ctx); err != nil {
				return &rows{err: err}
			}
			return r.c.query(ctx, libraryEntries, r.key, after.Round, after.Number, portion)
		})
	})
}

// AddEntry adds an entry to the feed of the library. The row is sent with the commit.
func (t *assetTx) AddEntry(ctx context.Context, e assetstore.FeedEntry) error {
	if err := t.check(ctx); err != nil {
		return err
	}
	t.dirty = true
	t.c.later(addLibraryEntry, t.key, e.At, joinList(e.Names), orEmpty(bytes.Clone(e.Data)))
	return nil
}

// RemoveEntries removes the oldest entries of the library, and stores in the library's row which position was the last.
func (t *assetTx) RemoveEntries(ctx context.Context, before int64, limit int) error {
	if err := t.check(ctx); err != nil {
		return err
	}
	t.c.later(removeLibraryEntries, t.key, before, limit)
	return nil
}
