package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	responseWait = 30 * time.Second // for the response to reads, and to a COMMIT
	rollbackWait = 5 * time.Second  // for the response to a ROLLBACK; then the connection is closed
	connectWait  = 30 * time.Second // for a new connection, or longer if Options.Busy is
)

// stmt is a statement with its arguments.
type stmt struct {
	sql  string
	args []any
	take func(pgx.Rows) error // reads and closes the rows; nil if they are not needed
}

// session is one transaction, or a query outside of one. It takes a connection when it sends its first statement. One
// goroutine uses it at a time.
type session struct {
	s      *store
	begin  []stmt        // the statements that begin it; they are sent with the first others
	conn   *pgxpool.Conn // nil until then
	writes bool
	dirty  bool  // it has written
	err    error // the first one: PostgreSQL rejects all later statements, so none is sent
}

// send sends statements in one round trip, and reads their rows. It waits for responseWait at most.
func (se *session) send(ctx context.Context, list ...stmt) error {
	return se.within(ctx, se.s.responseWait, list...)
}

// within is send with another limit of time.
func (se *session) within(ctx context.Context, limit time.Duration, list ...stmt) error {
	short, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := se.sendAll(short, list)
	if err != nil && short.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("%w: the server did not answer within %s: %v", errBusy, limit, err)
		se.err = err
	}
	return err
}

func (se *session) sendAll(ctx context.Context, list []stmt) error {
	if se.err != nil {
		return se.err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if se.conn == nil {
		if se.conn, se.err = se.s.acquire(ctx); se.err != nil {
			return se.err
		}
		list = append(se.begin[:len(se.begin):len(se.begin)], list...)
	}
	var err error
	if len(list) == 1 {
		var rows pgx.Rows
		if rows, err = se.conn.Query(ctx, se.s.sql(list[0].sql), list[0].args...); err == nil {
			err = list[0].read(rows)
		}
	} else {
		_, err = receive(se.batch(ctx, list), list)
	}
	return se.note(ctx, err)
}

func (se *session) batch(ctx context.Context, list []stmt) pgx.BatchResults {
	var batch pgx.Batch
	for _, st := range list {
		batch.Queue(se.s.sql(st.sql), st.args...)
	}
	return se.conn.SendBatch(ctx, &batch)
}

// receive reads the results of statements. If one has failed, at is its index.
func receive(sent pgx.BatchResults, list []stmt) (at int, err error) {
	for at = range list {
		var rows pgx.Rows
		if rows, err = sent.Query(); err == nil {
			err = list[at].read(rows)
		}
		if err != nil {
			break
		}
	}
	if closed := sent.Close(); err == nil {
		err = closed
	}
	return at, err
}

func (st stmt) read(rows pgx.Rows) error {
	if st.take != nil {
		return st.take(rows)
	}
	rows.Close()
	return rows.Err()
}

// note keeps the first error. It wraps it with the error of ctx if that is done, and with errLost if the connection was
// lost or leads to a standby. It closes a connection that leads to a standby, since the next one may lead to a primary.
func (se *session) note(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		err = fmt.Errorf("%w: %w", ctx.Err(), err)
	case se.writes && code(err) == readOnly:
		se.conn.Conn().Close(context.Background())
		fallthrough
	case se.conn.Conn().IsClosed():
		err = lost(err)
	}
	se.err = err
	return err
}

// result returns the error of a transaction whose function has returned err. That is err, with two exceptions: if the
// function has returned nil although a statement failed, it is the error of the statement; and an error after which the
// transaction may be run again is returned even if the function has returned another one.
func (se *session) result(err error) error {
	if err == nil || repeatable(se.err) {
		return se.err
	}
	return err
}

// commit sends writes and a COMMIT, calls sent, and waits for the response. It takes no context, since a COMMIT that
// was sent cannot be stopped.
func (se *session) commit(writes []stmt, sent func()) error {
	ctx, cancel := context.WithTimeout(context.Background(), se.s.responseWait)
	defer cancel()
	// the statements that begin the transaction may fail, so their results are read before the COMMIT is sent
	if se.conn == nil {
		if err := se.send(ctx); err != nil {
			return err
		}
	}
	tag := ""
	list := append(writes, stmt{sql: "COMMIT", take: func(rows pgx.Rows) error {
		rows.Close()
		tag = rows.CommandTag().String()
		return rows.Err()
	}})
	noted := se.conn.Conn().PgConn().CustomData()
	delete(noted, warning)
	batch := se.batch(ctx, list)
	sent()
	at, err := receive(batch, list)
	if err == nil && tag != "COMMIT" {
		err = fmt.Errorf("the response to COMMIT was %s: nothing was committed", tag)
	}
	// The server has committed, and warns that a standby may not have it; see noteWarning.
	if told, warned := noted[warning]; err == nil && warned {
		err = fmt.Errorf("%w: %s", errUnknown, told)
	} else {
		err = outcome(err, at == len(list)-1, se.conn.Conn().IsClosed())
	}
	se.err = err
	return err
}

// warning is the key of the last warning of the server in a connection's custom data.
const warning = "warning"

// noteWarning stores a warning of the server with the connection, where commit looks for it. If an administrator
// cancels the wait for synchronous standbys, the server says that the commit is done, and warns that the standbys may
// not have it.
func noteWarning(c *pgconn.PgConn, n *pgconn.Notice) {
	if n.SeverityUnlocalized == "WARNING" {
		c.CustomData()[warning] = n.Message + ": " + n.Detail
	}
}

// end returns the connection to the pool. If its transaction is still open, a goroutine rolls it back first, so that
// the caller need not wait for that.
func (se *session) end() {
	c := se.conn
	if c == nil {
		return
	}
	if se.conn = nil; c.Conn().IsClosed() || c.Conn().PgConn().TxStatus() == 'I' {
		c.Release()
		return
	}
	go func() {
		defer c.Release()
		ctx, cancel := context.WithTimeout(context.Background(), rollbackWait)
		defer cancel()
		c.Exec(ctx, "ROLLBACK") // if it fails, the pool closes the connection
	}()
}

// acquire acquires a connection of the pool. It waits for Options.Busy at most.
func (s *store) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	within, cancel := context.WithTimeout(ctx, s.busy)
	defer cancel()
	c, err := s.pool.Acquire(within)
	connecting := (*pgconn.ConnectError)(nil)
	switch {
	case err == nil:
		return c, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case within.Err() != nil || errors.Is(err, context.DeadlineExceeded):
		return nil, fmt.Errorf("%w: no connection was available within %s: %v", errBusy, s.busy, tell(err))
	case errors.As(err, &connecting) && code(err) == "00000":
		return nil, lost(err)
	}
	return nil, tell(err)
}
