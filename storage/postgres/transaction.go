package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// All statements of a view see one snapshot.
	beginView = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
	// An update locks what it reads, so that nobody else changes it before the commit; see claim.go. In READ COMMITTED each
	// statement has a snapshot of its own. So a statement that follows a wait for a lock sees what the other transaction has
	// committed.
	beginUpdate = "BEGIN ISOLATION LEVEL READ COMMITTED"

	commitWait   = 30 * time.Second // for the answer to a COMMIT
	rollbackWait = 5 * time.Second  // for the answer to a ROLLBACK; then the connection is closed
	connectWait  = 30 * time.Second // for a new connection, or longer if Options.Busy is
)

// view runs fn in one snapshot, which has every update that was acknowledged before. If the connection is lost, or the server
// stops or starts, fn runs again, for at most Options.Busy.
func (db *DB) view(ctx context.Context, fn func(*conn) error) error {
	return db.again(ctx, func() error {
		return db.attempt(ctx, beginView, fn, endView)
	})
}

// viewOnce is like view, but runs fn at most once, for instance because fn passes rows on to a caller as it reads them. It
// retries until it has a snapshot, for at most Options.Busy, and then runs fn.
func (db *DB) viewOnce(ctx context.Context, fn func(*conn) error) error {
	ran := false
	var result error
	once := func(c *conn) error {
		if err := c.query(ctx, "SELECT 1").err; err != nil {
			return err
		}
		ran = true
		result = fn(c)
		return result
	}
	err := db.again(ctx, func() error {
		if err := db.attempt(ctx, beginView, once, endView); !ran {
			return err
		}
		return nil
	})
	if ran {
		return result
	}
	return err
}

// update runs fn in a transaction and commits it. For at most Options.Busy, fn runs again after a deadlock, and if the
// connection is lost or the server stops before the commit. If it is not known whether the commit was done, update returns
// errUnknown and repeats nothing. If fn returns an error, the transaction is rolled back.
//
// Updates may wait for locks, so they leave some connections to views, which wait for none.
func (db *DB) update(ctx context.Context, fn func(*conn) error) error {
	if err := db.writers.enter(ctx, db.busy, "other updates"); err != nil {
		return err
	}
	defer db.writers.leave()
	defer db.changed.committed()
	return db.again(ctx, func() error { return db.attempt(ctx, beginUpdate, fn, (*conn).commit) })
}

// endView ends a view. There is nothing to commit, and leave rolls the transaction back.
func endView(*conn) error { return nil }

// attempt runs fn once, in one transaction, which the statement begin begins. If fn returns nil and no statement has failed, it
// calls end, which commits an update. A transaction that runs no statement takes no connection.
func (db *DB) attempt(ctx context.Context, begin string, fn func(*conn) error, end func(*conn) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := db.enter(); err != nil {
		return err
	}
	defer db.users.Done()
	c := db.newConn(ctx, begin)
	defer db.leave(c) // whether fn fails, panics or ends its goroutine
	if err := c.result(fn(c)); err != nil {
		return err
	}
	return end(c)
}

// newConn returns a conn for a transaction that the statement begin begins. Its first statement takes a connection of the pool,
// and waits for one until ctx is done. The caller has called enter, and calls leave afterwards.
func (db *DB) newConn(ctx context.Context, begin string) *conn {
	c := &conn{writes: begin == beginUpdate, pooled: db.pooled, prepares: db.prepares}
	c.connect = func() error { return db.connect(ctx, c, begin) }
	return c
}

// connect gives c a connection of the pool. It sends nothing: the statements that begin the transaction go out with the first
// statement of c, before those that c.ahead has already. The caller calls leave afterwards, unless connect returns an error.
func (db *DB) connect(ctx context.Context, c *conn, begin string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	pooled, err := db.acquire(ctx)
	if err != nil {
		return err
	}
	db.users.Add(1) // until leave has given the connection back
	opening := db.opening(begin)
	c.from, c.raw, c.ahead, c.begins = pooled, pooled.Conn(), append(opening, c.ahead...), len(opening)
	return nil
}

// result returns the error of a transaction whose function has used c and returned err. That is err, with two exceptions: if
// the function has returned nil although a statement failed, it is the error of the statement; and an error after which the
// transaction may be run again is returned even if the function has returned another one.
func (c *conn) result(err error) error {
	if err == nil || repeatable(c.broken) {
		return c.broken
	}
	return err
}

// commit sends the statements in ahead and the COMMIT, and waits for the answer. If the transaction has run no statement, it
// sends nothing. It has no context of the caller, since a COMMIT that was sent cannot be stopped.
func (c *conn) commit() error {
	if c.idle() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), commitWait)
	defer cancel()
	if !c.begun() { // the statements that begin the transaction may refuse it, so their results are read before the COMMIT is sent
		if err := c.query(ctx, "SELECT").err; err != nil {
			return err
		}
	}
	c.dropClaims()
	sent := c.send(ctx, statement{sql: "COMMIT"})
	waiting := c.ahead
	c.ahead = nil
	noted := c.raw.PgConn().CustomData()
	delete(noted, warning)
	for _, s := range waiting {
		if err := s.receive(sent); err != nil {
			sent.Close()
			return c.outcome(err, false)
		}
	}
	tag, err := sent.Exec()
	if closed := sent.Close(); err == nil {
		err = closed
	}
	if err == nil && tag.String() != "COMMIT" {
		err = fmt.Errorf("the answer to COMMIT was %s: nothing was committed", tag)
	}
	// The server has committed, and warns that a standby may not have it; see noteWarning.
	if told, warned := noted[warning]; err == nil && warned {
		return fmt.Errorf("%w: %s", errUnknown, told)
	}
	return c.outcome(err, true)
}

// warning is the key of a connection's custom data that holds the last warning of the server.
const warning = "warning"

// noteWarning stores a warning of the server with the connection, where commit looks for it. If an administrator cancels the
// wait for synchronous standbys, the server says that the commit is done, and warns that the standbys may not have it.
func noteWarning(c *pgconn.PgConn, n *pgconn.Notice) {
	if n.SeverityUnlocalized == "WARNING" {
		c.CustomData()[warning] = n.Message + ": " + n.Detail
	}
}

// poolerLost is the class of the SQLSTATE with which a pooler says that it has lost the connection to the server. The pooler
// does not know either whether the server has got the COMMIT.
const poolerLost = "08"

// outcome wraps an error that came after the COMMIT was sent:
//
//   - with errLost, so that the update runs again, if the server never got the COMMIT or is a standby, which writes nothing;
//   - not at all if the server has answered and has not committed;
//   - with errUnknown if nobody knows whether the server has committed.
//
// atCommit says that the error is the answer to the COMMIT, and not to a statement that was sent before it. After a fatal error
// at the COMMIT the commit may have been done.
func (c *conn) outcome(err error, atCommit bool) error {
	var told *pgconn.PgError
	switch {
	case err == nil:
		return nil
	case pgconn.SafeToRetry(err) || c.onStandby(err):
		return fmt.Errorf("%w: %w", errLost, err)
	case errors.As(err, &told) && !(atCommit && fatal(told)) && code(err)[:2] != poolerLost:
		return err
	case !c.raw.IsClosed() && told == nil: // the server has answered; the error was made here, as for a ROLLBACK in answer to COMMIT
		return err
	}
	return fmt.Errorf("%w: %w", errUnknown, err)
}

// leave gives the connection of c back to the pool, if c has one. If its transaction is still open, a goroutine rolls it back
// first, so that the caller need not wait for that.
func (db *DB) leave(c *conn) {
	raw, pooled := c.raw, c.from
	if raw == nil {
		return
	}
	back := func() {
		db.release(pooled)
		db.users.Done()
	}
	if raw.IsClosed() || raw.PgConn().TxStatus() == 'I' {
		back()
		return
	}
	go func() {
		defer back()
		ctx, cancel := context.WithTimeout(context.Background(), rollbackWait)
		defer cancel()
		raw.Exec(ctx, "ROLLBACK") // if it fails, the pool closes the connection
	}()
}

// again runs do, and repeats it for at most Options.Busy while it returns an error that is repeatable. Between two runs it waits
// for a random time of about a millisecond at first, and about 100 at last.
func (db *DB) again(ctx context.Context, do func() error) error {
	begun := time.Now()
	for wait := time.Millisecond; ; wait = min(2*wait, 100*time.Millisecond) {
		err := do()
		if !repeatable(err) || time.Since(begun) > db.busy {
			return err
		}
		select {
		case <-time.After(wait/2 + rand.N(wait)):
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		}
	}
}
