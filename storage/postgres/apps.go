package postgres

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/vitrine-go/vitrine/appsvc"
)

// Apps returns the store's apps, tags and components.
func (db *DB) Apps() appsvc.Store { return appStore{db} }

type appStore struct{ db *DB }

var (
	appErrors = sentinels{appsvc.ErrBusy, appsvc.ErrFull, appsvc.ErrUnknown}
	errEnded  = errors.New("postgres: a Reader and its iterators end with the function they were given to")
	errMoved  = errors.New("postgres: the store has changed since the first read; the function is called again")
)

// View reads the first thing without a transaction, since most functions ask for nothing else. When
// something else is read, in one, the first is held against what is there then; if it has changed fn
// is called again.
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

// Update runs fn in a transaction that locks what it reads.
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

// appReader is the reading half.
type appReader struct {
	db    *DB
	c     *conn
	apps  map[string]*appRow // that were read, and are as they were: the snapshot's, or locked; nil = not there
	locks map[string]bool    // tables and claims; nil in a View

	announced announcedComponents // what an Update has read ahead
	member    *member             // of a group of updates; nil outside of one

	alone bool       // the next read may be done before the transaction begins
	first *statement // the one that was, which finds
	found [][]any    // this
	moved bool       // it does not any more
	ended bool
}

func (r *appReader) check(ctx context.Context) error {
	if r.ended {
		return errEnded
	}
	return ctx.Err()
}

// conn returns the connection, for a statement that belongs to the transaction.
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

// same fails when what was read first has changed.
func (r *appReader) same(now *rows) error {
	if !sameRows(r.found, now.values) {
		r.moved = true
		return errMoved
	}
	return nil
}

func sameRows(a, b [][]any) bool {
	return slices.EqualFunc(a, b, func(a, b []any) bool { return reflect.DeepEqual(a, b) })
}

// read runs a query with few rows, on its own if it is the first. When another one follows, its rows
// are held against those of again, which may tell less, as what it found tells by mark.
func (r *appReader) read(ctx context.Context, query statement, again *statement, mark func(*rows) [][]any) *rows {
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

// lockTable locks a table, once, in an Update.
func (r *appReader) lockTable(table, mode string) {
	if r.locks != nil && !r.locks[table+mode] {
		r.locks[table+mode] = true
		r.c.later("LOCK TABLE " + table + " IN " + mode + " MODE")
	}
}

const (
	toRead  = "SHARE"               // nobody else writes
	toWrite = "SHARE ROW EXCLUSIVE" // nor reads in an Update
)

// claim locks what is not there, once, in an Update.
func (r *appReader) claim(what string, key ...string) {
	name := fmt.Sprintf("%s%q", what, key)
	if r.locks != nil && !r.locks[name] {
		r.locks[name] = true
		r.c.claim(what, key...)
	}
}
