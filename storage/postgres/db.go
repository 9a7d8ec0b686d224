package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/vitrine-go/vitrine/storage"
)

// DB is an open store. It may be used by many goroutines, and many processes may open the same database.
type DB struct {
	storage.Store
	s *store
}

// store is the driver below storage.Checked.
type store struct {
	pool         *pgxpool.Pool
	busy         time.Duration
	responseWait time.Duration
	// the connections lead to a pooler, or are shared with the program: each transaction makes its settings
	pooled   bool
	keepPool bool              // closing the store leaves the pool open
	tables   *strings.Replacer // see sql
	schema   string            // with the pool of the program: where the tables are; else ""
	// The names and values of the settings that each transaction makes behind a pooler.
	names, values []string
	// builder is the name of the Build that is filling the store, "" for a store that is complete.
	builder string

	writers chan struct{} // has a token for each update, or group of them, that has a connection or waits for one
	alone   sync.Mutex    // locked by an exclusive update
	gets    gets
	bells   storage.Bells

	updates, commits, reads, queries atomic.Uint64

	mu      sync.Mutex
	lanes   lanes
	seen    map[string]int64 // the numbers of the spaces at the last look
	closing context.Context
	close   context.CancelFunc
}

// Options changes how a store is opened. The zero value has the defaults.
type Options struct {
	// Connections is how many connections may be open at the same time. 0 = pool_max_conns of the address, or 16
	// without that.
	Connections int
	// Busy is how long to wait for a connection, for a lock of another transaction, and for a server that is down to
	// start again. 0 or less = 5 seconds.
	Busy time.Duration
	// If Existing is true and the database has no store, Open returns ErrAbsent instead of creating one there.
	Existing bool
	// Tracer is told of every query, if it is not nil. The pool that New takes has a tracer of its own.
	Tracer pgx.QueryTracer
	// Schema is where New puts the tables, and creates it if it is absent; "" = vitrine. Open takes the schema of the
	// address.
	Schema string
	// Migrate, if it is not nil, makes and changes tables of the program's own, which SQL then uses. Open and New call
	// it in a transaction, each time, and one process at a time: let it look in a table of its own what is to be done.
	// Names are those of the search path: of the address, and of the pool that New takes. Open and New return its
	// error, and one if it takes or changes a name that begins with vitrine_.
	Migrate func(ctx context.Context, tx pgx.Tx) error
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

// Open opens the store in the database at address, a postgres:// URL or a list of key=value pairs, and creates its
// tables if the database is empty. They are in the first schema of the search path (search_path= in the address). It
// returns an error if the database contains other tables, a store of an older or newer release, or a store whose Build
// did not finish. With Options.Existing it returns ErrAbsent if there is no store.
func Open(ctx context.Context, address string, opts *Options) (*DB, error) {
	o := opts.orDefault()
	s, err := connect(ctx, address, o)
	if err == nil {
		if err = s.create(ctx, o.Existing); err == nil {
			err = s.migrate(ctx, o.Migrate)
		}
		if err != nil {
			s.pool.Close()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", tell(err))
	}
	return &DB{storage.Checked(s), s}, nil
}

// New opens the store in the database of a pool that the program has, with its tracer and its limit of connections. It
// creates the tables in Options.Schema if they do not exist; the program may have tables of its own in other schemas.
// Of the options it uses Busy, Existing, Schema and Migrate. Closing the store leaves the pool open. Its errors are
// those of Open. New panics if the pool is nil.
//
// Each transaction makes its settings itself, and leaves the connections as they were. A transaction of the program
// that stays open delays neither the store nor its feeds.
func New(ctx context.Context, pool *pgxpool.Pool, opts *Options) (*DB, error) {
	if pool == nil {
		panic("postgres.New: the pool is nil, and must not be")
	}
	o, most := opts.orDefault(), pool.Config().MaxConns
	s := newStore(o, most)
	s.pool, s.keepPool, s.pooled = pool, true, true
	all, schema := settings(o.Busy), cmp.Or(o.Schema, "vitrine")
	name := pgx.Identifier{schema}.Sanitize()
	s.names, s.values = lists(all)
	s.schema = name
	s.tables = strings.NewReplacer("vitrine_record", name+".vitrine_record", "vitrine_space", name+".vitrine_space",
		"vitrine_format", name+".vitrine_format")
	release := 0
	err := pool.QueryRow(ctx, "SELECT current_setting('server_version_num')::int").Scan(&release)
	if err == nil && release < oldest {
		err = tooOld(release)
	}
	if err == nil {
		var there bool
		err = pool.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1)", schema).Scan(&there)
		switch {
		case err != nil || there:
		case o.Existing:
			err = ErrAbsent
		default:
			_, err = pool.Exec(ctx, "CREATE SCHEMA IF NOT EXISTS "+name)
		}
	}
	if err == nil {
		err = s.create(ctx, o.Existing)
	}
	if err == nil {
		err = s.migrate(ctx, o.Migrate)
	}
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", tell(err))
	}
	return &DB{storage.Checked(s), s}, nil
}

// newStore returns a store that has no pool yet.
func newStore(o Options, most int32) *store {
	s := &store{busy: o.Busy, responseWait: responseWait, lanes: lanes{},
		writers: make(chan struct{}, most-reserve(most))}
	s.closing, s.close = context.WithCancel(context.Background())
	return s
}

// connect returns a store whose connections work, without looking at the content of the database. If the first
// connection turns out to lead to a pooler, it starts again with connections made for a pooler.
func connect(ctx context.Context, address string, o Options) (*store, error) {
	s, err := connectBy(ctx, address, o, false)
	if needsPooling(err) {
		return connectBy(ctx, address, o, true)
	}
	return s, err
}

func connectBy(ctx context.Context, address string, o Options, pooled bool) (*store, error) {
	config, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, fmt.Errorf("%w: in a user and a password, characters such as / ? # @ : %% are percent-encoded "+
			"(%%2F)", err)
	}
	switch {
	case o.Connections > 0:
		config.MaxConns = int32(o.Connections)
	case !strings.Contains(address, "pool_max_conns"):
		config.MaxConns = 16
	}
	s := newStore(o, config.MaxConns)
	if o.Tracer != nil {
		config.ConnConfig.Tracer = o.Tracer
	}
	if pooled {
		s.behindPooler(config, address)
	}
	config.PingTimeout = o.Busy
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = max(o.Busy, connectWait)
	}
	config.AfterConnect = s.prepare
	config.ConnConfig.OnNotice = noteWarning
	if s.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, err
	}
	if err := s.pool.Ping(ctx); err != nil {
		s.pool.Close()
		return nil, err
	}
	return s, nil
}

// reserve returns how many of the connections are reserved for Views, so that reads go on while all updates wait for a
// lock.
func reserve(connections int32) int32 {
	if connections < 2 {
		return 0
	}
	return max(1, connections/8)
}

// ask runs a query, in a transaction behind a pooler.
func (s *store) ask(ctx context.Context, st stmt) error {
	se := session{s: s}
	defer se.end()
	if !s.pooled {
		return se.send(ctx, st)
	}
	se.begin = s.opening(beginView)
	return se.send(ctx, st, stmt{sql: "COMMIT"})
}

// Ping runs a query on the server and returns its error. It is for health checks.
func (db *DB) Ping(ctx context.Context) error {
	return db.View(ctx, func(r storage.Reader) error {
		_, err := r.Get(ctx, "ping ")
		return err
	})
}

// Close closes the connections. storage.Checked calls it when no other call runs.
func (s *store) Close() error {
	s.close()
	s.bells.Close()
	if !s.keepPool {
		s.pool.Close()
	}
	return nil
}

// Stats are figures of an open store, for metrics. The counters begin with Open.
type Stats struct {
	Connections int           // open connections
	Busy        int           // open connections that a View or an update uses
	Most        int           // how many connections may be open
	Taken       uint64        // how often a connection was taken
	Waits       uint64        // how often no connection was free
	Waited      time.Duration // sum of the times until one was free
	Updates     uint64        // updates that were begun, including those that failed
	Commits     uint64        // commits, which updates share
	Gets        uint64        // Views that began with a Get
	Queries     uint64        // queries for these Gets, which share them
}

// Stats returns the figures of this moment.
func (db *DB) Stats() Stats {
	p := db.s.pool.Stat()
	return Stats{Connections: int(p.TotalConns()), Busy: int(p.AcquiredConns()), Most: int(p.MaxConns()),
		Taken: uint64(p.AcquireCount()), Waits: uint64(p.EmptyAcquireCount()), Waited: p.EmptyAcquireWaitTime(),
		Updates: db.s.updates.Load(), Commits: db.s.commits.Load(), Gets: db.s.reads.Load(),
		Queries: db.s.queries.Load()}
}

var errNewer = errors.New("the store was changed by a newer release, which is needed to write it")

// inTx runs fn in a transaction that is neither a View nor an update, and commits it if fn returns nil. Names without a
// schema are those of the store.
func (s *store) inTx(ctx context.Context, fn func(pgx.Tx) error) error {
	return s.transact(ctx, func(tx pgx.Tx) error {
		if s.schema != "" {
			if _, err := tx.Exec(ctx, "SELECT set_config('search_path', $1, true)", s.schema); err != nil {
				return err
			}
		}
		return fn(tx)
	})
}

// transact is inTx with the search path of the program.
func (s *store) transact(ctx context.Context, fn func(pgx.Tx) error) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		for _, st := range s.opening("")[1:] {
			if _, err := tx.Exec(ctx, st.sql, st.args...); err != nil {
				return err
			}
		}
		return fn(tx)
	})
}
