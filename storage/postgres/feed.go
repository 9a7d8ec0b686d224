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

// Updates commit in parallel. A number from a sequence may therefore become visible after a higher one, and a reader that goes
// on after the highest number that it has seen would miss it. So a position is a pair of a round and a number. The number
// comes from a sequence. The round is the transaction id of the update, or the highest round that is visible when the entry
// is written, whichever is higher. A reader gets only entries whose round is below the xmin of its snapshot, the lowest
// transaction id that was in progress.
//
//   - No entry is missed. An update that was in progress at the snapshot, or that begins later, has a transaction id of at
//     least xmin, so its round is at least xmin too. All entries with a lower round are visible already.
//   - The changes of one app are in the order of their commits. An update writes its entry when it holds the lock of the
//     app, so it sees the entry of the update that held the lock before. Its round is at least as high as the round of that
//     entry, and its number is higher. The transaction id alone could be lower: an update that claims a key gets its id
//     before it waits for the lock.
//
// Nothing is locked for this, so updates of different apps still commit in parallel. A transaction that has a transaction id
// delays the feed as long as it is open, even if it has nothing to do with the store. It delays nothing else.

// xmin and xmax are SQL for bounds of the statement's snapshot: every transaction with an id below xmin has ended, and none with
// an id of xmax or above had begun.
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

// Entries yields the entries after a position. It stops before the first entry that could still get another entry in front of
// it.
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

// entriesIn yields at most limit entries after a position. find reads up to portion entries after a position; entriesIn
// calls it until there are no more, or until limit were yielded.
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

// AddEntry adds an entry to the feed. If the statement that waits to be sent is the one that stores a version, the two
// become one statement.
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

// RemoveEntries removes the oldest entries, unless another update is removing entries at the moment. The statement is sent with
// the commit.
func (t *appTx) RemoveEntries(ctx context.Context, before int64, limit int) error {
	if err := t.check(ctx); err != nil {
		return err
	}
	t.c.later(removeEntries, before, limit)
	return nil
}

// ResetFeed gives the feeds of changes of apps and assets another identity, which makes all earlier cursors invalid. Call it
// after a store was restored from a backup, or has lost commits in a failover.
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

// mendFeed mends the feeds of a store that was dumped and restored on a server with lower transaction ids. The rounds
// of its entries are above all transaction ids of the new server, so nobody could read them for a long time. It sets
// all rounds to 0, so that the entries are ordered by their numbers alone, and gives the feeds another identity.
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
	// Without the lock an update could see a round that is too high, and give it to its own entry.
	if _, err := tx.Exec(ctx, "LOCK TABLE app_change, asset_change IN SHARE ROW EXCLUSIVE MODE"); err != nil {
		return err
	}
	if err := tx.QueryRow(ctx, look).Scan(&ahead); err != nil || !ahead {
		return err
	}
	_, err := tx.Exec(ctx, mend)
	return err
}
