package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/vitrine-go/vitrine/storage/internal/history"
)

// DB is an open store. It may be used by many goroutines.
type DB struct {
	path    string
	readers *pool
	writer  *writer
	watch   *watch
	cache   *cache
	held    *cache // of sets of assets
	edits   *cache // of what made them out of date
	codec   *history.Codec
	few     int // fewApps, but in tests

	mu     sync.Mutex
	closed bool
	users  sync.WaitGroup // views, updates and backups that run
}

// Options changes how a store is opened. Zero values are the defaults.
type Options struct {
	// Cache bounds the memory for what is often read, in bytes: one half is for rows, the other for
	// searching assets. 0 = 64 MiB, negative = none.
	Cache int
	// Busy is how long to wait for a lock that another process holds. 0 = 5 seconds.
	Busy time.Duration
}

// Open opens the store in the file at path and builds it when nothing is there. A file that is
// empty, foreign, damaged, read-only or newer is refused with an error that says so.
func Open(path string, opts *Options) (*DB, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.Cache == 0 {
		o.Cache = 64 << 20
	}
	if o.Busy <= 0 {
		o.Busy = 5 * time.Second
	}
	db, err := open(path, o)
	if err != nil {
		return nil, fmt.Errorf("sqlite: %w", err)
	}
	return db, nil
}

func open(path string, o Options) (*DB, error) {
	// SQLite names its log after the file, so all processes must come by the same name.
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	switch there, err := exists(path); {
	case err != nil:
		return nil, err
	case !there:
		if err := create(path); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("build %s: %w", path, err)
		}
	}
	if err := inspect(path, o.Busy); err != nil {
		return nil, err
	}
	db, err := start(path, o)
	if isUnwritable(err) {
		return nil, fmt.Errorf("open %s: a store and its directory must be writable, and not read-only: %w", path, err)
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return db, nil
}

// start opens the writer's connection, brings the schema up to date and begins to serve.
func start(path string, o Options) (_ *DB, err error) {
	busy := busyPragma(o.Busy)
	c, err := dial(path, "mode=rw", busy, "synchronous=FULL", "fullfsync=1", "checkpoint_fullfsync=1", "foreign_keys=1", "trusted_schema=0",
		"temp_store=MEMORY", "cache_size=-16384", "journal_size_limit=67108864")
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.close())
		}
	}()
	if err := c.ready(path); err != nil {
		return nil, err
	}
	if err := c.script("PRAGMA busy_timeout=0"); err != nil { // from here on the writer waits itself
		return nil, err
	}
	codec, err := history.New()
	if err != nil {
		return nil, err
	}
	w, err := newWatch(path, o.Busy)
	if err != nil {
		return nil, err
	}
	cache := newCache(o.Cache/2, w.now)
	db := &DB{
		path: path, watch: w, cache: cache, codec: codec, few: fewApps, writer: newWriter(c, cache, o.Busy),
		held: newTimelessCache(o.Cache / 8 * 3), edits: newTimelessCache(o.Cache / 8),
	}
	db.readers = newPool(func() (*conn, error) {
		return dial(path, "mode=rw", busy, "query_only=1", "trusted_schema=0", "temp_store=MEMORY")
	})
	return db, nil
}

func busyPragma(d time.Duration) string {
	return "busy_timeout=" + strconv.FormatInt(d.Milliseconds(), 10)
}

// ready holds everything the package relies on against the truth.
func (c *conn) ready(path string) error {
	if err := c.checkLibrary(); err != nil {
		return err
	}
	if err := c.wal(); err != nil {
		return err
	}
	if level, err := c.value("PRAGMA synchronous"); err != nil || level != 2 {
		return fmt.Errorf("synchronous is %d after asking for FULL (2): %w", level, err)
	}
	if on, err := c.value("PRAGMA foreign_keys"); err != nil || on != 1 {
		return fmt.Errorf("foreign_keys is %d after asking for 1: %w", on, err)
	}
	if err := c.checkMarks(path); err != nil { // what inspect saw may have changed, or stood in the log
		return err
	}
	return c.migrate()
}

// checkLibrary refuses releases of SQLite that can lose committed data when the log is reset.
func (c *conn) checkLibrary() error {
	r := c.query("SELECT sqlite_version()")
	defer r.close()
	if !r.next() {
		return r.err
	}
	if have := r.text(0); !atLeast(have, 3, 51, 3) {
		return fmt.Errorf("SQLite %s resets its log unsafely: 3.51.3 or newer is needed", have)
	}
	return nil
}

func atLeast(version string, want ...int) bool {
	parts := strings.Split(version, ".")
	for i, w := range want {
		n := 0
		if i < len(parts) {
			n, _ = strconv.Atoi(parts[i])
		}
		if n != w {
			return n > w
		}
	}
	return true
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
	return db.view(ctx, func(c *conn) error {
		_, err := c.value("SELECT count(*) FROM sqlite_schema")
		return err
	})
}

// Close waits for the views and updates that run and closes the file. After it, everything is
// refused; closing again does nothing.
func (db *DB) Close() error {
	db.mu.Lock()
	if db.closed {
		db.mu.Unlock()
		return nil
	}
	db.closed = true
	db.mu.Unlock()
	db.users.Wait()
	return errors.Join(db.readers.close(), db.watch.close(), db.writer.c.close()) // the last one tidies up, as the writer is set to
}
