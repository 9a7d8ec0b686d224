package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/vitrine-go/vitrine/storage/internal/migration"
)

var (
	errLost    = errors.New("the connection to the server was lost, or there was none")
	errBusy    = errors.New("timed out")
	errUnknown = errors.New("the connection, or the wait for a standby, was lost during the commit: it may or may not have been done")
)

// sentinels are the errors of one domain that stand for failures of the server.
type sentinels struct{ busy, full, unknown error }

// wrap wraps err with the domain's sentinel for its kind: unknown for errUnknown, full if the server has run out of disk or
// memory, and busy if isBusy is true for err. Other errors, such as those of fn, stay as they are.
func (s sentinels) wrap(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errUnknown):
		return fmt.Errorf("%w: %w", s.unknown, err)
	case code(err)[:2] == "53" && code(err) != "53300":
		return fmt.Errorf("%w: %w", s.full, err)
	case isBusy(err):
		return fmt.Errorf("%w: %w", s.busy, err)
	}
	return err
}

// code returns the SQLSTATE of err, or "00000" if it has none.
func code(err error) string {
	if e := (*pgconn.PgError)(nil); errors.As(err, &e) && len(e.Code) == 5 {
		return e.Code
	}
	return "00000"
}

// fatal reports whether the server has ended the session with this error.
func fatal(e *pgconn.PgError) bool {
	return e.SeverityUnlocalized == "FATAL" || e.SeverityUnlocalized == "PANIC"
}

// repeatable reports whether nothing was committed and the same transaction may succeed if it is run again.
func repeatable(err error) bool {
	if err == nil || errors.Is(err, errUnknown) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	switch code(err) {
	case "40001", "40P01", // serialization failure, deadlock
		"57P01", "57P02", "57P03", "53300": // the server stops, starts, or has too many connections
		return true
	}
	return errors.Is(err, errLost)
}

// isBusy reports whether nothing was committed, and the same call may succeed later: a connection or a lock was not free in
// time, the server was not there, or a newer release has migrated the store. In the last case it succeeds when this process has been
// replaced by one of the newer release.
func isBusy(err error) bool {
	switch code(err) {
	case "55P03", "57014": // lock_timeout, statement_timeout
		return true
	}
	return repeatable(err) || errors.Is(err, errBusy) || errors.Is(err, migration.ErrNewer)
}

// acquire takes a connection out of the pool, and a slot with it. It waits for both, for Options.Busy each at most, and then
// returns an error that wraps errBusy. The caller calls release later.
func (db *DB) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	select {
	case db.slots <- struct{}{}:
	default:
		if err := db.waitForSlot(ctx); err != nil {
			return nil, err
		}
	}
	c, err := db.connection(ctx)
	if err != nil {
		<-db.slots
	}
	return c, err
}

// freshFor is how long a connection that was given back is certain to be handed out without a ping. The pool hands out the
// connection that was used last, and pings it first if it was idle for a second.
const freshFor = 500 * time.Millisecond

// opened is when the program began; times since then are monotonic.
var opened = time.Now()

// connection is acquire for a caller that has a slot. It sets a deadline, except if a connection was given back just before: then
// there is nothing to wait for. A timer for each read took 2.4 of the 12 microseconds that a read computes here.
func (db *DB) connection(ctx context.Context) (*pgxpool.Conn, error) {
	within := ctx
	if db.pool.Stat().IdleConns() == 0 || time.Since(opened)-time.Duration(db.released.Load()) > freshFor {
		var cancel func()
		within, cancel = context.WithTimeout(ctx, db.busy)
		defer cancel()
	}
	c, err := db.pool.Acquire(within)
	connecting := (*pgconn.ConnectError)(nil)
	switch {
	case err == nil:
		return c, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case within.Err() != nil || errors.Is(err, context.DeadlineExceeded):
		return nil, fmt.Errorf("%w: no connection was available within %s: %w", errBusy, db.busy, err)
	case errors.As(err, &connecting) && code(err) == "00000":
		return nil, fmt.Errorf("%w: %w", errLost, err)
	}
	return nil, err
}

// waitForSlot takes a slot when one is given back. It waits for Options.Busy at most.
func (db *DB) waitForSlot(ctx context.Context) error {
	begun := time.Now()
	patience := time.NewTimer(db.busy)
	defer patience.Stop()
	select {
	case db.slots <- struct{}{}:
		db.waits.Add(1)
		db.waited.Add(int64(time.Since(begun)))
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-patience.C:
		return fmt.Errorf("%w: no connection was available within %s: all are taken", errBusy, db.busy)
	}
}

// release gives back what acquire took.
func (db *DB) release(c *pgxpool.Conn) {
	c.Release() // closes it instead, when a transaction is open on it
	db.released.Store(int64(time.Since(opened)))
	<-db.slots
}
