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

	"github.com/vitrine-go/vitrine/storage"
)

// DB is a store in an open file. Other processes may open the same file. A View is one read transaction, on one of a pool of
// connections. All updates run on one connection, one after the other, and those that wait at the same time share a commit.
type DB struct {
	storage.Store // with the rules of the contract checked
	store         *store
}

// store is what is below the checks.
type store struct {
	storage.Bells
	path    string
	writer  *writer
	readers *pool
	log     *checkpointer
	// eraseWait is how long an update that erases waits for readers of the log: eraseWait, except in tests.
	eraseWait time.Duration

	mu      sync.Mutex
	closed  bool
	polling bool // a goroutine looks for commits of other processes
	polls   sync.WaitGroup
	closing chan struct{}
}

// Options changes how a store is opened. Zero values are the defaults.
type Options struct {
	// Busy is the longest time to wait for a lock of another process. 0 or less = 5 seconds.
	Busy time.Duration
}

// Open opens the store in the file at path, and builds it if there is no file. It returns an error that says
// why if the file is empty, damaged, read-only, of another format, or not a store of this package. A file with
// tables of the program's own is not a store.
func Open(path string, opts *Options) (*DB, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.Busy <= 0 {
		o.Busy = 5 * time.Second
	}
	s, err := open(path, o.Busy)
	if err != nil {
		return nil, fmt.Errorf("sqlite: %w", err)
	}
	return &DB{storage.Checked(s), s}, nil
}

// open resolves the path, builds the file if there is none, checks what the file is, and starts to serve it. inspect
// comes first, since the writer's connection changes the file when it sets its mode.
func open(path string, busy time.Duration) (*store, error) {
	// SQLite derives the name of the log from the path, so all processes must use the same path.
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if err := putWhole(path, makeEmpty); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("build %s: %w", path, err)
	}
	if err := inspect(path, busy); err != nil {
		return nil, err
	}
	s, err := start(path, busy)
	if isUnwritable(err) {
		return nil, fmt.Errorf("open %s: a store and its directory must be writable, and not read-only: %w", path, err)
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return s, nil
}

// start opens the writer's connection and begins to serve. The file is a store already.
func start(path string, busy time.Duration) (_ *store, err error) {
	wait := busyPragma(busy)
	// With secure_delete, SQLite overwrites with zeros what an update deletes or replaces.
	c, err := dial(path, "mode=rw", wait, "synchronous=FULL", "fullfsync=1", "checkpoint_fullfsync=1", "secure_delete=ON", "trusted_schema=0",
		"temp_store=MEMORY", "cache_size=-16384", fmt.Sprintf("journal_size_limit=%d", logKept), "wal_autocheckpoint=0")
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
	page, err := c.value("PRAGMA page_size")
	if err != nil {
		return nil, err
	}
	s := &store{path: path, eraseWait: eraseWait, closing: make(chan struct{})}
	s.writer = newWriter(c, busy, &s.Bells)
	s.readers = newPool(func() (*conn, error) {
		return dial(path, "mode=rw", wait, "query_only=1", "trusted_schema=0", "temp_store=MEMORY", readerCache())
	})
	s.log = &checkpointer{path: path, w: s.writer, readers: s.readers, page: page, closing: make(chan struct{})}
	s.writer.committed = s.log.committed
	return s, nil
}

// busyPragma returns the setting that makes SQLite itself wait this long for a lock of another process.
func busyPragma(d time.Duration) string {
	return "busy_timeout=" + strconv.FormatInt(d.Milliseconds(), 10)
}

// ready checks what the package relies on: the release of SQLite, its settings, and the marks of the file, which may have changed
// since inspect.
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
	return c.checkMarks(path)
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

func (s *store) View(_ context.Context, fn func(storage.Reader) error) error {
	r := &reader{pool: s.readers}
	defer r.end()
	return wrap(fn(r))
}

// Update needs to do nothing for an exclusive update: SQLite lets one process write at a time, and the writer runs one update at a
// time.
func (s *store) Update(ctx context.Context, space string, o storage.UpdateOptions, fn func(storage.Tx) error) error {
	err := s.writer.update(ctx, space, o.Large || o.Erase, func(t *tx) error { return fn(t) })
	if err == nil && o.Erase {
		err = s.erase(ctx)
	}
	return wrap(err)
}

// Close closes the file. An error of Close does not concern committed data, which is on the disk already.
func (s *store) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	close(s.closing)
	s.polls.Wait()
	s.Bells.Close()
	// The last connection that is closed copies the log into the file and removes it. The writer's is the last: its settings
	// make the copy durable before the log is removed.
	return errors.Join(s.readers.close(), s.log.close(), s.writer.c.close())
}
