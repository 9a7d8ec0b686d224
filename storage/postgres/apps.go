package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
)

// Apps returns the store's apps, tags and components.
func (db *DB) Apps() appsvc.Store { return appStore{db} }

type appStore struct{ db *DB }

var (
	appErrors = sentinels{vitrine.ErrBusy, vitrine.ErrFull, vitrine.ErrUnknown}
	errEnded  = errors.New("postgres: a Reader and its iterators end with the function they were given to")
	errMoved  = errors.New("postgres: the app or component that was read first has changed; the function is called again")
)

// View runs the first statement without a transaction, since most functions read one thing only. If fn reads something else,
// a transaction begins, which first checks that the thing read before is the same in its snapshot. If it has changed, fn is
// called again in a transaction from the beginning.
func (s appStore) View(ctx context.Context, fn func(appsvc.Reader) error) error {
	moved := false
	view := func() error {
		return s.db.view(ctx, func(c *conn) error {
			r := &appReader{db: s.db, c: c, apps: map[string]*appRow{}, alone: !moved}
			defer func() { r.ended, moved = true, r.moved }()
			return fn(r)
		})
	}
	err := view()
	if moved {
		err = view()
	}
	return appErrors.wrap(err)
}

// Update runs fn in a transaction that locks what it reads and writes. If fn begins with Announce, it first tries to share a
// transaction with other updates; see group.go. fn may run several times.
func (s appStore) Update(ctx context.Context, fn func(appsvc.Tx) error) error {
	done, err := s.db.updateInGroup(ctx, fn)
	if !done {
		err = s.db.update(ctx, func(c *conn) error {
			t := &appTx{appReader{db: s.db, c: c, apps: map[string]*appRow{}, locks: map[string]bool{}}}
			defer func() { t.ended = true }()
			return fn(t)
		})
	}
	return appErrors.wrap(err)
}

// appReader implements appsvc.Reader for Views and Updates. An Update locks all that it reads.
type appReader struct {
	db    *DB
	c     *conn
	apps  map[string]*appRow // those that were read, of the snapshot or locked; nil = there is no such app
	locks map[string]bool    // tables and claims; nil in a View

	announced announcedComponents // what an Update has read ahead
	member    *member             // of a group of updates; nil outside of one

	alone bool       // the next statement may run before the transaction begins
	first *statement // reads again what was read before the transaction began
	found []row      // the rows that first must find
	moved bool       // first has found other rows
	ended bool
}

// check returns errEnded after the function that was given the reader has returned, and the error of ctx if ctx is done.
func (r *appReader) check(ctx context.Context) error {
	if r.ended {
		return errEnded
	}
	return ctx.Err()
}

// conn returns the connection, for a statement that belongs to the transaction. If something was read before the transaction
// began, it is read again in front of that statement; see same.
func (r *appReader) conn(ctx context.Context) (*conn, error) {
	if err := r.check(ctx); err != nil {
		return nil, err
	}
	r.alone = false
	if r.first != nil {
		r.c.also(r.same, r.first.sql, r.first.args...)
		r.first = nil
	}
	return r.c, nil
}

// same returns errMoved if the rows are not those that were read before the transaction began. Then View calls fn again.
func (r *appReader) same(now *rows) error {
	if !sameRows(r.found, now.values) {
		r.moved = true
		return errMoved
	}
	return nil
}

func sameRows(a, b []row) bool {
	return slices.EqualFunc(a, b, func(a, b row) bool { return slices.EqualFunc(a, b, bytes.Equal) })
}

// read runs a query that finds few rows. The first query of a View runs before a transaction begins, and if no other follows,
// none begins. If another one follows, the transaction begins with again, a cheaper query that shows whether the rows have
// changed: it must find the rows that mark makes of those that were read.
func (r *appReader) read(ctx context.Context, query statement, again *statement, mark func(*rows) []row) *rows {
	if err := r.check(ctx); err != nil {
		return &rows{err: err}
	}
	if r.alone {
		if found, ok := r.c.alone(ctx, query.sql, query.args...); ok {
			r.alone, r.first, r.found = false, again, mark(found)
			return found
		}
	}
	c, err := r.conn(ctx)
	if err != nil {
		return &rows{err: err}
	}
	return c.query(ctx, query.sql, query.args...)
}

// lockTable locks a table in an Update, once for each mode. The lock is taken with the next statement. In a View it does
// nothing.
func (r *appReader) lockTable(table, mode string) {
	if r.locks != nil && !r.locks[table+mode] {
		r.locks[table+mode] = true
		r.c.later("LOCK TABLE " + table + " IN " + mode + " MODE")
	}
}

const (
	toRead  = "SHARE"               // no other transaction writes the table
	toWrite = "SHARE ROW EXCLUSIVE" // no other transaction writes the table or locks it toRead
)

// claim locks a key that may have no row in an Update, once, with the next statement; see claim.go. In a View it does nothing.
func (r *appReader) claim(what string, key ...string) {
	name := fmt.Sprintf("%s%q", what, key)
	if r.locks != nil && !r.locks[name] {
		r.locks[name] = true
		r.c.claim(what, key...)
	}
}
