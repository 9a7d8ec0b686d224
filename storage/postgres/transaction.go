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
	// An update locks what it reads, so that what it read is current when it commits; see claim.go.
	// Each of its statements sees what was committed before it, so also what it waited for.
	beginUpdate = "BEGIN ISOLATION LEVEL READ COMMITTED"

	commitWait   = 30 * time.Second // for the answer to a COMMIT
	rollbackWait = 5 * time.Second
	connectWait  = 30 * time.Second // for a new connection, at least; see acquire
)

// view runs fn in one snapshot that holds every update acknowledged before. When the connection is
// lost fn runs again.
func (db *DB) view(ctx context.Context, fn func(*conn) error) error {
	return db.again(ctx, func() error {
		return db.attempt(ctx, beginView, fn, nothing)
	})
}

// viewOnce is view for a function that may run only once. The snapshot is there before it runs.
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

// update runs fn in a transaction and commits it. fn runs again after a deadlock, and when the
// connection is lost before the commit. When it is lost while the server commits the error is
// errUnknown, and nothing is repeated.
//
// Updates leave some connections to the views, which wait for no lock.
func (db *DB) update(ctx context.Context, fn func(*conn) error) error {
	if err := db.writers.enter(ctx, db.busy); err != nil {
		return err
	}
	defer db.writers.leave()
	defer db.changed.committed()
	return db.again(ctx, func() error { return db.attempt(ctx, beginUpdate, fn, (*conn).commit) })
}

// nothing is how a view ends.
func nothing(*conn) error { return nil }

// attempt runs fn in one transaction, which end ends if fn returns nil.
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
	c.from, c.raw, c.ahead, c.opens = pooled, pooled.Conn(), append(opening, c.ahead...), len(opening)
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

// commit ends the transaction. It goes on when the caller's context ends, since it is too late to
// stop it.
func (c *conn) commit() error {
	if c.idle() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), commitWait)
	defer cancel()
	if !c.begun() { // what opens the transaction may refuse it, so it is read before a COMMIT is sent
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

// warning is where a connection has the last warning of the server.
const warning = "warning"

// noteWarning keeps a warning for the commit that may be under way. A server whose wait for its
// standbys is cancelled, by an administrator, says that the commit is done and warns that it may not be
// on them.
func noteWarning(c *pgconn.PgConn, n *pgconn.Notice) {
	if n.SeverityUnlocalized == "WARNING" {
		c.CustomData()[warning] = n.Message + ": " + n.Detail
	}
}

// poolerLost is the class of errors with which a pooler says that it has lost the server. It does not know either whether
// the COMMIT has arrived.
const poolerLost = "08"

// outcome says what err, met after a COMMIT was sent, tells of it: the server refused it, or never
// got it, or nobody knows.
func (c *conn) outcome(err error, atCommit bool) error {
	var told *pgconn.PgError
	switch {
	case err == nil:
		return nil
	case pgconn.SafeToRetry(err) || c.onStandby(err):
		return fmt.Errorf("%w: %w", errLost, err)
	case errors.As(err, &told) && !(atCommit && fatal(told)) && code(err)[:2] != poolerLost:
		return err
	case !c.raw.IsClosed() && told == nil: // an answer came that is no error of the server
		return err
	}
	return fmt.Errorf("%w: %w", errUnknown, err)
}

// leave ends the transaction on a connection, if one is open still, and gives it back. Nobody waits
// for that, since nothing depends on it.
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
		raw.Exec(ctx, "ROLLBACK") // when it fails the connection is of no more use, and closed
	}()
}

// again runs do, and runs it again while its error says that it may work then.
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
