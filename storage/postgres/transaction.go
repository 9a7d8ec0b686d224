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
	// A view is one snapshot.
	beginView = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
	// An update locks what it reads, so that it is still current at the commit; see claim.go. Each statement sees what was
	// committed before it began, so also what the transaction has waited for.
	beginUpdate = "BEGIN ISOLATION LEVEL READ COMMITTED"

	commitWait   = 30 * time.Second // for the answer to a COMMIT
	rollbackWait = 5 * time.Second
	connectWait  = 30 * time.Second // for a new connection, or longer if Options.Busy is
)

// view runs fn in one snapshot, which holds every update that was acknowledged before. If the connection is lost, fn runs again.
func (db *DB) view(ctx context.Context, fn func(*conn) error) error {
	return db.again(ctx, func() error {
		return db.attempt(ctx, beginView, fn, nothing)
	})
}

// viewOnce is view for a function that may run only once. It retries until it has a snapshot, and then runs fn.
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
		if err := db.attempt(ctx, beginView, once, nothing); !ran {
			return err
		}
		return nil
	})
	if ran {
		return result
	}
	return err
}

// update runs fn in a transaction and commits it. fn runs again after a deadlock, and if the connection is lost before the
// commit. If the connection is lost during the commit, update returns errUnknown and repeats nothing.
//
// Updates leave some connections to views, which wait for no lock.
func (db *DB) update(ctx context.Context, fn func(*conn) error) error {
	if err := db.writers.enter(ctx, db.busy); err != nil {
		return err
	}
	defer db.writers.leave()
	defer db.changed.committed()
	return db.again(ctx, func() error { return db.attempt(ctx, beginUpdate, fn, (*conn).commit) })
}

// nothing ends a view: there is nothing to commit.
func nothing(*conn) error { return nil }

// attempt runs fn in one transaction, once. If fn returns nil, it calls end.
func (db *DB) attempt(ctx context.Context, begin string, fn func(*conn) error, end func(*conn) error) error {
	c := new(conn)
	if err := db.connect(ctx, c, begin); err != nil {
		return err
	}
	defer db.leave(c) // whether fn fails, panics or ends its goroutine
	if err := c.result(fn(c)); err != nil {
		return err
	}
	return end(c)
}

// connect gives c a connection of the pool. The statement begin and what belongs to it go out before all that waits.
func (db *DB) connect(ctx context.Context, c *conn, begin string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := db.enter(); err != nil {
		return err
	}
	pooled, err := db.acquire(ctx)
	if err != nil {
		db.users.Done()
		return err
	}
	opening := db.opening(begin)
	c.from, c.raw, c.ahead, c.begins = pooled, pooled.Conn(), append(opening, c.ahead...), len(opening)
	c.writes, c.pooled = begin == beginUpdate, db.pooled
	return nil
}

// result returns the error of a function that has used c and returned err. An error of the connection counts, whatever the
// function has made of it.
func (c *conn) result(err error) error {
	if err == nil || repeatable(c.broken) {
		return c.broken
	}
	return err
}

// commit sends the statements in ahead and the COMMIT, and waits for the answer. It has no context of the caller, since a
// COMMIT that was sent cannot be stopped.
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
		err = fmt.Errorf("the answer to COMMIT was %s: nothing was kept", tag)
	}
	if told, warned := noted[warning]; err == nil && warned {
		return fmt.Errorf("%w: %s", errUnknown, told)
	}
	return c.outcome(err, true)
}

// warning is the key of a connection's custom data that holds the last warning of the server.
const warning = "warning"

// noteWarning keeps a warning of the server for the commit that may be under way. If an administrator cancels the wait for
// synchronous standbys, the server says that the commit is done, and warns that the standbys may not have it.
func noteWarning(c *pgconn.PgConn, n *pgconn.Notice) {
	if n.SeverityUnlocalized == "WARNING" {
		c.CustomData()[warning] = n.Message + ": " + n.Detail
	}
}

// poolerLost is the class of errors with which a pooler says that it has lost the server. It does not know either whether
// the COMMIT has arrived.
const poolerLost = "08"

// outcome wraps an error that came after the COMMIT was sent: with errLost if the server never got the COMMIT, with
// errUnknown if nobody knows whether it did, and not at all if the server has refused it.
func (c *conn) outcome(err error, atCommit bool) error {
	var told *pgconn.PgError
	switch {
	case err == nil:
		return nil
	case pgconn.SafeToRetry(err) || c.onStandby(err):
		return fmt.Errorf("%w: %w", errLost, err)
	case errors.As(err, &told) && !(atCommit && fatal(told)) && code(err)[:2] != poolerLost:
		return err
	case !c.raw.IsClosed() && told == nil: // the server has answered, and the answer is no error of its own
		return err
	}
	return fmt.Errorf("%w: %w", errUnknown, err)
}

// leave gives the connection back. If its transaction is still open, a goroutine rolls it back first; nobody waits for that.
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

// again runs do, and repeats it for at most Options.Busy while it returns an error after which it may succeed.
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
