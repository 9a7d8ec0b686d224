package sqlite

import (
	"context"
	"errors"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
)

// Apps returns the store's apps, tags and components.
func (db *DB) Apps() appsvc.Store { return appStore{db} }

type appStore struct{ db *DB }

var appErrors = sentinels{vitrine.ErrBusy, vitrine.ErrFull, vitrine.ErrUnknown}

var (
	errEnded = errors.New("sqlite: a Reader and its iterators end with the function they were given to")
	errMoved = errors.New("sqlite: the store has changed since the first read; the function is called again")
)

// View serves the reads of fn from the cache without a transaction, as long as everything is cached. At the first
// read that is not, it takes a snapshot. If the state has changed since fn began, that read fails, and View calls fn
// again with a snapshot of the new state. If the cache has another state than the store, View takes the snapshot first.
func (s appStore) View(ctx context.Context, fn func(appsvc.Reader) error) error {
	return appErrors.wrap(s.view(ctx, fn))
}

func (s appStore) view(ctx context.Context, fn func(appsvc.Reader) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.db.enter(); err != nil {
		return err
	}
	defer s.db.users.Done()
	if at, ok := s.db.cache.state(); ok {
		r := &appReader{db: s.db, at: at}
		if err := r.call(fn); !r.moved {
			return err
		}
	}
	c, err := s.db.begin(ctx)
	if err != nil {
		return err
	}
	return (&appReader{db: s.db, at: c.at, c: c}).call(fn)
}

// Update runs fn as an update of the writer, at most once.
func (s appStore) Update(ctx context.Context, fn func(appsvc.Tx) error) error {
	err := s.db.update(ctx, func(c *conn) error {
		t := &appTx{appReader{db: s.db, at: c.at, c: c, writes: true}}
		defer func() { t.ended = true }()
		return fn(t)
	})
	return appErrors.wrap(err)
}

// appReader is an appsvc.Reader. Slices that the caller may change are copies of those in the cache.
type appReader struct {
	db    *DB
	at    stamp // the state that is read; in an update, the state before it
	c     *conn // nil as long as every read came from the cache
	moved bool  // the state has changed, so no snapshot of it could be taken
	// writes is true within an update. An update may read its own writes, which may be rolled back. So its reads do
	// not go into the cache.
	writes bool
	ended  bool
}

// call calls fn with the reader, and gives the snapshot back when fn has returned.
func (r *appReader) call(fn func(appsvc.Reader) error) error {
	defer func() {
		r.ended = true
		if r.c != nil {
			r.db.end(r.c)
		}
	}()
	return fn(r)
}

// conn returns a connection with a snapshot of the state. It returns errMoved if the state has changed.
func (r *appReader) conn(ctx context.Context) (*conn, error) {
	if err := r.check(ctx); err != nil {
		return nil, err
	}
	if r.c == nil {
		c, err := r.db.begin(ctx)
		if err != nil {
			return nil, err
		}
		if c.at != r.at {
			r.moved = true
			r.db.end(c)
			return nil, errMoved
		}
		r.c = c
	}
	return r.c, nil
}

// check returns errEnded after the function that was given the reader has returned, and the error of ctx if ctx is done.
func (r *appReader) check(ctx context.Context) error {
	if r.ended {
		return errEnded
	}
	return ctx.Err()
}

// read returns the value of key from the cache. If the cache does not have it, load reads it from a snapshot, and returns how
// many bytes it takes in the cache.
func read[T any](ctx context.Context, r *appReader, key any, load func(*conn) (T, int, error)) (T, error) {
	var none T
	if err := r.check(ctx); err != nil {
		return none, err
	}
	if v, found := r.cached(key); found {
		return v.(T), nil
	}
	c, err := r.conn(ctx)
	if err != nil {
		return none, err
	}
	v, size, err := load(c)
	if err != nil {
		return none, err
	}
	r.keep(key, v, size)
	return v, nil
}

// cached looks a value up: in an update first among the values that this update and those before it in the same transaction
// have written, and then in the cache for the state that is read.
func (r *appReader) cached(key any) (value any, found bool) {
	if r.c != nil {
		if v, written := r.c.written(key); written {
			return v, v != nil
		}
	}
	return r.db.cache.get(key, r.at)
}

// keep puts a value that was read into the cache, except in an update.
func (r *appReader) keep(key, value any, size int) {
	if !r.writes {
		r.db.cache.put(r.at, effect{key, value, size})
	}
}
