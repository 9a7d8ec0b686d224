package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/vitrine-go/vitrine/appsvc"
)

// Apps returns the store's apps, tags and components.
func (db *DB) Apps() appsvc.Store { return appStore{db} }

type appStore struct{ db *DB }

var (
	appErrors = sentinels{appsvc.ErrBusy, appsvc.ErrFull, appsvc.ErrUnknown}
	errEnded  = errors.New("postgres: a Reader and its iterators end with the function they were given to")
	errMoved  = errors.New("postgres: the app has changed since the first read; the function is called again")
)

// View reads the first app without a transaction, since most functions ask for nothing else. When
// the next thing is read in one, it is held against what was read first; if that has changed fn is
// called again.
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
	err := s.db.update(ctx, func(c *conn) error {
		t := &appTx{appReader{db: s.db, c: c, apps: map[string]*appRow{}, locks: map[string]bool{}}}
		defer func() { t.ended = true }()
		return fn(t)
	})
	return appErrors.wrap(err)
}

// appReader is the reading half.
type appReader struct {
	db    *DB
	c     *conn
	apps  map[string]*appRow // that were read, and are as they were: the snapshot's, or locked; nil = not there
	locks map[string]bool    // tables and gates; nil in a View

	alone bool    // the next app may be read before the transaction begins
	first *string // the app that was
	moved bool    // it has changed since then
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
		id := *r.first
		r.first = nil
		r.c.also(func(now *rows) error { return r.same(r.apps[id], now) }, "SELECT version FROM app WHERE id = $1", id)
	}
	return r.c, nil
}

// same fails when an app is not as it was read. Its version tells: nothing of a version changes.
func (r *appReader) same(before *appRow, now *rows) error {
	if now.next() != (before != nil) || before != nil && now.int(0) != int64(before.Version) {
		r.moved = true
		return errMoved
	}
	return nil
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

// lockGate locks what is not there, once, in an Update.
func (r *appReader) lockGate(what string, key ...string) {
	name := fmt.Sprintf("%s%q", what, key)
	if r.locks != nil && !r.locks[name] {
		r.locks[name] = true
		r.c.gate(what, key...)
	}
}

// limited returns a yield that asks for no more once limit values are out (0 = no limit), and that
// ends with an error when the context or the transaction has ended.
func limited[T any](ctx context.Context, r *appReader, limit int, yield func(T, error) bool) func(T) bool {
	count := 0
	return func(v T) bool {
		if err := r.check(ctx); err != nil {
			var none T
			yield(none, err)
			return false
		}
		count++
		return yield(v, nil) && count != limit
	}
}
