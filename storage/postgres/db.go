package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/vitrine-go/vitrine/storage/internal/history"
)

// DB is an open store. It may be used by many goroutines, and the same database by many DBs of as
// many processes.
type DB struct {
	pool  *pgxpool.Pool
	codec *history.Codec
	busy  time.Duration
	few   int // fewApps, but in tests
	// builder is who builds the store, "" when it is whole.
	builder string

	mu     sync.Mutex
	closed bool
	users  sync.WaitGroup // views and updates that run
}

// Options changes how a store is opened. Zero values are the defaults.
type Options struct {
	// Connections bounds how many connections are open at the same time. 0 = as the address says
	// in pool_max_conns, else 16.
	Connections int
	// Busy is how long to wait for a connection, for a lock that another transaction holds, and for
	// a server that is not there to come back. 0 = 5 seconds.
	Busy time.Duration
	// Existing has Open refuse a database that holds no store yet, with ErrAbsent, instead of building
	// one there.
	Existing bool
}

// orDefault returns the options with the defaults in them.
func (o *Options) orDefault() Options {
	var all Options
	if o != nil {
		all = *o
	}
	if all.Busy <= 0 {
		all.Busy = 5 * time.Second
	}
	return all
}

// oldest is the oldest release that has all that the statements need: incremental sorting.
const oldest = 130000

// Open opens the store in the database at address, a postgres:// URL or a list of key=value pairs,
// and builds it when the database is empty. The tables are in the first schema of the search path
// (search_path= in the address). A database that holds something else, a store of a newer release, or
// one whose Build did not come to its end is refused with an error that says so.
func Open(ctx context.Context, address string, opts *Options) (*DB, error) {
	db, err := open(ctx, address, opts.orDefault())
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	return db, nil
}

func open(ctx context.Context, address string, o Options) (*DB, error) {
	db, err := connect(ctx, address, o)
	if err != nil {
		return nil, err
	}
	err = db.pool.AcquireFunc(ctx, func(c *pgxpool.Conn) error { return migrate(ctx, c.Conn(), o.Existing) })
	if err != nil {
		db.pool.Close()
		return nil, err
	}
	return db, nil
}

// connect returns connections to a database, whatever is in it.
func connect(ctx context.Context, address string, o Options) (*DB, error) {
	config, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, err
	}
	switch {
	case o.Connections > 0:
		config.MaxConns = int32(o.Connections)
	case !strings.Contains(address, "pool_max_conns"):
		config.MaxConns = 16
	}
	config.AfterConnect = func(ctx context.Context, c *pgx.Conn) error { return prepare(ctx, c, o.Busy) }
	config.ConnConfig.OnNotice = noteWarning
	codec, err := history.New()
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	return &DB{pool: pool, codec: codec, busy: o.Busy, few: fewApps}, nil
}

// prepare sets up a new connection. An acknowledged write must be durable, here and on standbys that
// commits are to wait for, so a server that is set to acknowledge before is overruled; one that is set
// to wait for more is not. The keepalives free the locks of a client whose machine has gone.
func prepare(ctx context.Context, c *pgx.Conn, busy time.Duration) error {
	const sql = `SELECT current_setting('server_version_num')::int8, set_config('lock_timeout', $1, false),
		set_config('synchronous_commit', CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, false),
		set_config('tcp_keepalives_idle', '30', false), set_config('tcp_keepalives_interval', '10', false), set_config('tcp_keepalives_count', '3', false)`
	var release int64
	var set [5]string
	err := c.QueryRow(ctx, sql, pgx.QueryExecModeExec, strconv.FormatInt(busy.Milliseconds(), 10)).
		Scan(&release, &set[0], &set[1], &set[2], &set[3], &set[4])
	if err != nil && c.IsClosed() {
		err = fmt.Errorf("%w: %w", errLost, err)
	}
	if err == nil && release < oldest {
		err = fmt.Errorf("PostgreSQL %d is too old: %d or newer is needed", release/10000, oldest/10000)
	}
	return err
}

// enter counts a user of the connections in, unless the store is closed. Pair it with users.Done.
func (db *DB) enter() error {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.closed {
		return errClosed
	}
	db.users.Add(1)
	return nil
}

// Ping reports whether the store answers.
func (db *DB) Ping(ctx context.Context) error {
	return db.view(ctx, func(c *conn) error { return c.query(ctx, "SELECT 1").err })
}

// Close waits for the views and updates that run and closes the connections. After it, everything
// is refused; closing again does nothing. It returns nil.
func (db *DB) Close() error {
	db.mu.Lock()
	if db.closed {
		db.mu.Unlock()
		return nil
	}
	db.closed = true
	db.mu.Unlock()
	db.users.Wait()
	db.pool.Close()
	return nil
}

var errClosed = errors.New("postgres: the store is closed")
