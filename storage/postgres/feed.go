package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/jackc/pgx/v5"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/feed"
	"github.com/vitrine-go/vitrine/storage/internal/lists"
	"github.com/vitrine-go/vitrine/storage/internal/stream"
)

// Updates commit in parallel, so a number from a sequence becomes visible later than higher ones, and a reader that goes
// on after the highest number that it has seen would step over it. A position is therefore a pair. Its round is the
// transaction id of the update, or the highest round that is visible when the entry is written, whichever is higher. Its
// number comes from a sequence. A reader gets only entries of rounds below the xmin of its snapshot, the lowest transaction
// id that was in progress.
//
//   - No entry is missed. An update that was in progress at the snapshot, or begins later, has a transaction id of at
//     least xmin, and so has its round. All entries below xmin are there already.
//   - The changes of one app are in the order of their commits. An update writes its entry when it holds the lock of
//     the app, so it sees the entry of the update that held the lock before. Its round is not below that one's, and its
//     number is above. Its transaction id alone would not do: an update that claims a key first has its id
//     before it waits for the lock.
//
// Nothing is locked for it, so updates of different apps still commit together. A transaction of somebody else that stays
// open delays the feed, as long as it has a transaction id, and changes nothing else.

const (
	xmin = "pg_snapshot_xmin(pg_current_snapshot())::text::int8"
	xmax = "pg_snapshot_xmax(pg_current_snapshot())::text::int8"
)

const (
	feedState = `SELECT key, identity, removed_round, removed_number, coalesce(round, removed_round), coalesce(number, removed_number)
		FROM feed LEFT JOIN (SELECT round, number FROM app_change WHERE round < ` + xmin + ` ORDER BY round DESC, number DESC LIMIT 1) AS last ON true`
	feedEntries = `SELECT round, number, at, names, data FROM app_change
		WHERE (round, number) > ($1, $2) AND (round, number) > (SELECT removed_round, removed_number FROM feed) AND round < ` + xmin + `
		ORDER BY round, number LIMIT $3`
	addEntry = `INSERT INTO app_change (round, number, at, names, data)
		SELECT greatest(pg_current_xact_id()::text::int8, (SELECT max(round) FROM app_change)), nextval('app_change_number'), $1, $2, $3`
	// Most versions are written together with their entry: two statements take more time.
	updateAppAndAddEntry = "WITH put AS (" + updateApp + `) INSERT INTO app_change (round, number, at, names, data)
		SELECT greatest(pg_current_xact_id()::text::int8, (SELECT max(round) FROM app_change)), nextval('app_change_number'), $9, $10, $11`
	// One update removes entries at a time. The others do not wait for it, and remove none.
	removeEntries = `WITH turn AS (SELECT FROM feed FOR UPDATE SKIP LOCKED),
		first AS (SELECT round, number, at FROM app_change WHERE round < ` + xmin + ` AND EXISTS (SELECT FROM turn)
			ORDER BY round, number LIMIT $2),
		old AS (SELECT round, number, bool_and(at <= $1) OVER (ORDER BY round, number) AS past FROM first),
		gone AS (DELETE FROM app_change c USING old WHERE past AND c.round = old.round AND c.number = old.number
			RETURNING c.round, c.number),
		last AS (SELECT round, number FROM gone ORDER BY round DESC, number DESC LIMIT 1)
		UPDATE feed SET removed_round = round, removed_number = number FROM last`
)

// Feed returns the state of the feed.
func (r *appReader) Feed(ctx context.Context) (appsvc.FeedState, error) {
	c, err := r.conn(ctx)
	if err != nil {
		return appsvc.FeedState{}, err
	}
	found := c.query(ctx, feedState)
	if !found.next() {
		return appsvc.FeedState{}, errors.Join(found.err, errNoFeed)
	}
	return feedStateOf(found), nil
}

// feedStateOf reads a row of key, identity, and the positions that were removed and that are the last.
func feedStateOf(r *rows) feed.State {
	return feed.State{
		Key: r.blob(0), Identity: r.blob(1),
		Removed: feed.Position{Round: r.int(2), Number: r.int(3)}, Last: feed.Position{Round: r.int(4), Number: r.int(5)},
	}
}

var errNoFeed = errors.New("the feed of changes has lost its key")

// Entries yields the entries after a position. It ends before the first entry that another update could still add an entry in
// front of.
func (r *appReader) Entries(ctx context.Context, after appsvc.FeedPosition, limit int) iter.Seq2[appsvc.FeedEntry, error] {
	return stream.Limited(ctx, r.check, limit, func(out func(appsvc.FeedEntry) bool) error {
		return entriesIn(after, limit, out, func(after feed.Position, portion int) *rows {
			c, err := r.conn(ctx)
			if err != nil {
				return &rows{err: err}
			}
			return c.query(ctx, feedEntries, after.Round, after.Number, portion)
		})
	})
}

// entriesIn yields entries that find returns in portions.
func entriesIn(after feed.Position, limit int, out func(feed.Entry) bool, find func(after feed.Position, portion int) *rows) error {
	for left := limit; ; {
		portion := min(left, 256)
		found := find(after, portion)
		count := len(found.values)
		for found.next() {
			e := entryOf(found)
			after = e.Position
			if !out(e) {
				return nil
			}
		}
		left -= count
		if found.err != nil || count < portion || left == 0 {
			return found.err
		}
	}
}

// entryOf reads a row of round, number, at, names and data.
func entryOf(r *rows) feed.Entry {
	return feed.Entry{
		Position: feed.Position{Round: r.int(0), Number: r.int(1)}, At: r.int(2), Names: lists.Split(r.blob(3)), Data: r.blob(4),
	}
}

// AddEntry adds an entry to the feed.
func (t *appTx) AddEntry(ctx context.Context, e appsvc.FeedEntry) error {
	if err := t.check(ctx); err != nil {
		return err
	}
	names, data := joinList(e.Names), orEmpty(bytes.Clone(e.Data))
	if last := len(t.c.ahead) - 1; last >= 0 && t.c.ahead[last].sql == updateApp {
		t.c.ahead[last] = newStatement(updateAppAndAddEntry, append(t.c.ahead[last].args, e.At, names, data))
		return nil
	}
	t.c.later(addEntry, e.At, names, data)
	return nil
}

// RemoveEntries removes the oldest entries.
func (t *appTx) RemoveEntries(ctx context.Context, before int64, limit int) error {
	if err := t.check(ctx); err != nil {
		return err
	}
	t.c.later(removeEntries, before, limit)
	return nil
}

// ResetFeed gives the feeds of changes another identity, which makes all earlier cursors invalid. Call it after a store was
// restored from a backup, or has lost commits in a failover.
func (db *DB) ResetFeed(ctx context.Context) error {
	err := db.update(ctx, func(c *conn) error {
		c.later("UPDATE feed SET identity = uuid_send(gen_random_uuid())")
		return c.query(ctx, "SELECT").err
	})
	if err != nil {
		return fmt.Errorf("postgres: reset the feed of changes: %w", err)
	}
	return nil
}

// mendFeed mends the feeds of a store that was dumped and restored on a server with lower transaction ids: their entries would
// not be readable for a long time. It orders them by their numbers alone, and gives the feeds another identity.
func mendFeed(ctx context.Context, tx pgx.Tx) error {
	const look = "SELECT (EXISTS (SELECT FROM app_change WHERE round >= " + xmax + ") OR EXISTS (SELECT FROM asset_change WHERE round >= " + xmax + `))
		AND NOT pg_is_in_recovery()`
	const mend = `UPDATE app_change SET round = 0;
		UPDATE asset_change SET round = 0;
		UPDATE library SET removed_round = 0;
		UPDATE feed SET removed_round = 0, identity = uuid_send(gen_random_uuid())`
	var ahead bool
	if err := tx.QueryRow(ctx, look).Scan(&ahead); err != nil || !ahead {
		return err
	}
	// An update that does not wait would take over a round that is too high.
	if _, err := tx.Exec(ctx, "LOCK TABLE app_change, asset_change IN SHARE ROW EXCLUSIVE MODE"); err != nil {
		return err
	}
	if err := tx.QueryRow(ctx, look).Scan(&ahead); err != nil || !ahead {
		return err
	}
	_, err := tx.Exec(ctx, mend)
	return err
}
