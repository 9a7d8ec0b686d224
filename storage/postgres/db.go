package postgres

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/history"
	"github.com/vitrine-go/vitrine/storage/internal/migration"
)

// DB is an open store. Apps, Assets, Reviews and Webhooks return the stores of the domains, which share its
// connections. A DB may be used by many goroutines, and many processes may open the same database.
type DB struct {
	pool  *pgxpool.Pool
	codec *history.Codec
	busy  time.Duration
	few   int // fewApps, except in tests

	steps  []migration.Step // of the schema
	schema int64            // the number of the last of them

	pooled bool // the connections lead to a pooler
	// Statements are prepared, once for each connection: the default, but not behind a pooler; the address may say otherwise.
	prepares       bool
	params, values []string // of the session, which each transaction sets behind a pooler

	slots        queue               // views and updates that have a connection, or take one
	waits        atomic.Uint64       // how often all slots were taken
	waited       atomic.Int64        // nanoseconds
	released     atomic.Int64        // when a connection was given back last, in nanoseconds since opened
	writers      queue               // updates that have a connection, or wait for one
	libraries    queues              // updates of each library
	groups       lineup[*member]     // updates of apps that share a transaction
	reads        lineup[*sharedRead] // Views of apps that share a query
	sharedWaits  atomic.Uint64       // how often a View has waited for such a query
	sharedWaited atomic.Int64        // nanoseconds
	readWait     time.Duration       // readWait, but in tests

	// builder is the name of the Build that is filling the store, "" for a store that is complete.
	builder string

	changed changed
	closing chan struct{} // closed when the store is

	mu     sync.Mutex
	closed bool
	users  sync.WaitGroup // views and updates that run
}

// Options changes how a store is opened. The zero value has the defaults.
type Options struct {
	// Connections bounds how many connections are open at the same time. 0 = as the address says
	// in pool_max_conns, else 16.
	Connections int
	// Busy is how long to wait for a connection, for a lock that another transaction has, and for a
	// server that is down to come back. 0 or less = 5 seconds.
	Busy time.Duration
	// If Existing is true and the database has no store, Open returns ErrAbsent instead of building
	// one there.
	Existing bool
	// Migrated is called with the name of each step that has brought a store with an older schema forward. It may be nil.
	Migrated func(step string)
}

// orDefault returns a copy of the options with defaults in place of zero values. o may be nil.
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

// oldest is the oldest version of PostgreSQL that can run all statements, as server_version_num writes it: 13, which
// has incremental sorting.
const oldest = 130000

// Open opens the store in the database at address, a postgres:// URL or a list of key=value pairs, and builds it if
// the database is empty. The tables are in the first schema of the search path (search_path= in the address). It
// returns an error that says what is wrong if the database has something else in it, a store of a newer release, or a
// store whose Build did not finish. With Options.Existing it returns ErrAbsent if there is no store.
func Open(ctx context.Context, address string, opts *Options) (*DB, error) {
	db, err := open(ctx, address, opts.orDefault())
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	return db, nil
}

// open connects, brings the schema up to date, and mends the feeds of a store that was restored from a dump.
func open(ctx context.Context, address string, o Options) (*DB, error) {
	db, err := connect(ctx, address, o)
	if err != nil {
		return nil, err
	}
	err = db.pool.AcquireFunc(ctx, func(c *pgxpool.Conn) error {
		if err := db.migrate(ctx, c.Conn(), o); err != nil {
			return err
		}
		return db.inTx(ctx, c.Conn(), func(tx pgx.Tx) error { return mendFeed(ctx, tx) })
	})
	if err != nil {
		db.pool.Close()
		return nil, err
	}
	return db, nil
}

// connect returns a DB whose connections work, whatever is in the database. If the first connection turns out to lead
// to a pooler, it starts again with connections made for a pooler.
func connect(ctx context.Context, address string, o Options) (*DB, error) {
	db, err := connectBy(ctx, address, o, false)
	if needsPooling(err) {
		return connectBy(ctx, address, o, true)
	}
	return db, err
}

// connectBy makes the connection pool and tries one connection. pooled says that the address leads to a pooler.
func connectBy(ctx context.Context, address string, o Options, pooled bool) (*DB, error) {
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
	codec, err := history.New()
	if err != nil {
		return nil, err
	}
	steps, err := migrations()
	if err != nil {
		return nil, err
	}
	db := &DB{
		codec: codec, busy: o.Busy, few: fewApps, readWait: readWait, steps: steps, schema: steps[len(steps)-1].Number,
		slots:   make(queue, config.MaxConns),
		writers: make(queue, config.MaxConns-reserve(config.MaxConns)),
		changed: changed{soon: make(chan struct{}, 1)}, closing: make(chan struct{}),
	}
	if pooled {
		db.behindPooler(config, address)
	}
	db.prepares = config.ConnConfig.DefaultQueryExecMode == pgx.QueryExecModeCacheStatement
	config.PingTimeout = o.Busy
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = max(o.Busy, connectWait)
	}
	config.AfterConnect = db.prepare
	config.ConnConfig.OnNotice = noteWarning
	if db.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, err
	}
	if err := db.pool.Ping(ctx); err != nil {
		db.pool.Close()
		return nil, err
	}
	return db, nil
}

// reserve returns how many of the connections updates leave to Views, so that reads go on while all updates wait for a
// lock.
func reserve(connections int32) int32 {
	if connections < 2 {
		return 0
	}
	return max(1, connections/8)
}

// enter counts a user of the connections, so that Close waits for it. The user must call users.Done later. It returns
// errClosed if the store is closed.
func (db *DB) enter() error {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.closed {
		return errClosed
	}
	db.users.Add(1)
	return nil
}

// Ping runs a query on the server and returns its error. It is for health checks.
func (db *DB) Ping(ctx context.Context) error {
	return db.view(ctx, func(c *conn) error { return c.query(ctx, "SELECT 1").err })
}

// Close waits for running views and updates and closes the connections. Those who wait for changes are woken. Calls after
// it return an error that wraps vitrine.ErrClosed, and so does a view or an update that would have to begin its transaction
// again. A second Close does nothing. Close returns nil.
func (db *DB) Close() error {
	db.mu.Lock()
	if db.closed {
		db.mu.Unlock()
		return nil
	}
	db.closed = true
	db.mu.Unlock()
	close(db.closing)
	db.users.Wait()
	db.pool.Close()
	return nil
}

var errClosed = fmt.Errorf("postgres: %w", vitrine.ErrClosed)
