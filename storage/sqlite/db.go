package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/vitrine-go/vitrine/internal/history"
)

// DB is an open store. Apps, Assets, Reviews and Webhooks return the stores of the domains, which all use this one
// file. A DB may be used by many goroutines, and other processes may open the same file.
//
// Reads run on a pool of connections, each in a snapshot of its own. All writes run on one connection, one after the
// other, and those that wait at the same time share a commit.
type DB struct {
	path    string
	readers *pool
	writer  *writer
	watch   *watch
	cache   *cache
	results *cache // of searches for assets: cachedSet and cachedCounts
	edits   *cache // the changes since those sets, each an edit
	codec   *history.Codec
	few     int // fewApps, except in tests
	// scrubWait is how long Scrub waits for readers of the log: scrubWait, except in tests.
	scrubWait time.Duration
	log       *checkpointer
	changed   changed

	mu     sync.Mutex
	closed bool
	users  sync.WaitGroup // running views, updates and backups
}

// Options changes how a store is opened. Zero values are the defaults.
type Options struct {
	// Cache bounds the memory for cached data, in bytes. One half is for rows, the other for searches of
	// assets. 0 = 64 MiB, negative = no cache.
	Cache int
	// Busy is the longest time to wait for a lock of another process. 0 or less = 5 seconds.
	Busy time.Duration
	// Migrated is called with the name of each step that has brought a file with an older schema forward. It may be nil.
	Migrated func(step string)
}

// Open opens the store in the file at path, and builds it if there is no file. It returns an error that says
// why if the file is empty, damaged, read-only, of a newer schema, or not a store of this package. A file with
// tables of the program's own is not a store.
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

// open resolves the path, builds the file if there is none, checks what the file is, and starts to serve it. inspect
// comes first, since the writer's connection changes the file when it sets its mode and migrates.
func open(path string, o Options) (*DB, error) {
	// SQLite derives the name of the log from the path, so all processes must use the same path.
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

// start opens the writer's connection, brings the schema up to date and begins to serve. The file is a store already.
func start(path string, o Options) (_ *DB, err error) {
	busy := busyPragma(o.Busy)
	c, err := dial(path, "mode=rw", busy, "synchronous=FULL", "fullfsync=1", "checkpoint_fullfsync=1", "foreign_keys=1", "trusted_schema=0",
		"temp_store=MEMORY", "cache_size=-16384", fmt.Sprintf("journal_size_limit=%d", logKept), "wal_autocheckpoint=0")
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.close())
		}
	}()
	c.migrated = o.Migrated
	if err := c.ready(path); err != nil {
		return nil, err
	}
	if err := c.script("PRAGMA busy_timeout=0"); err != nil { // from here on the writer waits itself
		return nil, err
	}
	schema, err := newest()
	if err != nil {
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
		path: path, watch: w, cache: cache, codec: codec, few: fewApps, scrubWait: scrubWait, writer: newWriter(c, cache, o.Busy, schema),
		results: newTimelessCache(o.Cache / 8 * 3), edits: newTimelessCache(o.Cache / 8),
	}
	page, err := c.value("PRAGMA page_size")
	if err != nil {
		return nil, errors.Join(err, w.close())
	}
	db.log = &checkpointer{db: db, page: page, closing: make(chan struct{})}
	db.writer.committed, db.writer.bell = db.log.committed, &db.changed.bell
	db.readers = newPool(func() (*conn, error) {
		return dial(path, "mode=rw", busy, "query_only=1", "trusted_schema=0", "temp_store=MEMORY", readerCache())
	})
	return db, nil
}

// busyPragma returns the setting that makes SQLite itself wait this long for a lock of another process.
func busyPragma(d time.Duration) string {
	return "busy_timeout=" + strconv.FormatInt(d.Milliseconds(), 10)
}

// ready checks what the package relies on: the release of SQLite, its settings, and the marks of the file. Then it
// migrates the schema.
func (c *conn) ready(path string) error {
	if err := c.checkLibrary(); err != nil {
		return err
	}
	if err := c.wal(); err != nil {
		return err
	}
	if level, err := c.value("PRAGMA synchronous"); err != nil || level != 2 {
		return cmp.Or(err, fmt.Errorf("PRAGMA synchronous is %d after it was set to FULL (2)", level))
	}
	if on, err := c.value("PRAGMA foreign_keys"); err != nil || on != 1 {
		return cmp.Or(err, fmt.Errorf("PRAGMA foreign_keys is %d after it was set to 1", on))
	}
	if err := c.checkMarks(path); err != nil { // the file may have changed since inspect
		return err
	}
	return c.migrate()
}

// checkLibrary returns an error for a release of SQLite that can lose committed data when it resets the log.
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

// atLeast reports whether a version such as "3.51.3" is at least the wanted one. A part that is missing or no number
// counts as 0.
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

// Ping reads from the file and returns the error of that. It is for health checks: if it fails, Views fail too. It
// waits for a free connection until ctx is done.
func (db *DB) Ping(ctx context.Context) error {
	return db.view(ctx, func(c *conn) error {
		_, err := c.value("SELECT count(*) FROM sqlite_schema")
		return err
	})
}

// Close waits for running views, updates and backups and closes the file. Those who wait for changes are woken. Calls after
// it return an error that wraps vitrine.ErrClosed; a second Close does nothing and returns nil. An error of Close does not
// concern committed data, which is on the disk already.
func (db *DB) Close() error {
	db.mu.Lock()
	if db.closed {
		db.mu.Unlock()
		return nil
	}
	db.closed = true
	db.mu.Unlock()
	close(db.log.closing)
	db.users.Wait()
	// The last connection that is closed copies the log into the file and removes it. The writer's is the last: its settings
	// make the copy durable before the log is removed.
	return errors.Join(db.readers.close(), db.log.close(), db.watch.close(), db.writer.c.close())
}
