package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math/bits"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/vitrine-go/vitrine/storage"
)

// DB is a store in an open file. Other processes may open the same file. A View is one read transaction, on one of a
// pool of connections, unless all that it reads was read since the last commit. All updates run on one connection, one
// after the other, and those that wait at the same time share a commit.
type DB struct {
	storage.Store // returned by storage.Checked
	store         *store
}

// store is the driver below the checks.
type store struct {
	storage.Bells
	path    string
	writer  *writer
	readers *pool
	recent  *recent // nil if it can keep nothing
	log     *checkpointer
	eraser  *eraser
	// reading is true if updates return an error. If immutable is set too, the store is a file without a log: immutable
	// describes the file at the time of Open, and writer and log are nil.
	reading   bool
	immutable fs.FileInfo
	// eraseWait is how long an update that erases waits for readers of the log: eraseWait, except in tests.
	eraseWait time.Duration
}

// pollEvery is how often the store looks for commits of other processes, while somebody waits for one.
const pollEvery = 100 * time.Millisecond

// Options changes how a store is opened. Zero values are the defaults.
type Options struct {
	// Busy is the longest time to wait for a lock of another process. 0 or less = 5 seconds.
	Busy time.Duration
	// ReadOnly opens an existing store for Views alone: an update returns an error. The file, its directory and the
	// disk may be read-only, and other processes may use the store, as far as this one is allowed to read their log.
	// Open and View return ErrUnreadable where commits would be missed.
	ReadOnly bool
	// If Existing is true and there is no file, Open returns an error that wraps fs.ErrNotExist instead of building
	// one.
	Existing bool
	// Migrate, if it is not nil, makes and changes tables of the program's own, which SQL then uses. Open calls it in a
	// transaction, each time and also for a new file: let it look in a table of its own what is to be done. Foreign
	// keys are checked when it returns. Open returns its error, and one if it takes or changes a name of the store:
	// entry, large, kv, or one that begins with vitrine_. A store that is opened with ReadOnly has no migration.
	Migrate func(ctx context.Context, tx *sql.Tx) error
}

// Open opens the store in the file at path, and builds it if there is no file. It returns an error that says why if the
// file is empty, damaged, read-only, of another format, or not a store of this package. A file with tables of the
// program's own is not a store. It returns an error that wraps storage.ErrFull if the disk has no room for the log.
func Open(path string, opts *Options) (*DB, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.Busy <= 0 {
		o.Busy = 5 * time.Second
	}
	s, err := open(path, o)
	if isFull(err) {
		err = fmt.Errorf("%w: a store needs some room on its disk to be opened: %w", storage.ErrFull, err)
	}
	if err != nil {
		return nil, fmt.Errorf("sqlite: %w", err)
	}
	return &DB{storage.Checked(s), s}, nil
}

// open resolves the path, builds the file if there is none, inspects it, and opens the connections. It inspects the
// file first, since the writer's connection changes it when it sets the mode of the journal.
func open(path string, o Options) (*store, error) {
	path, err := realPath(path)
	if err != nil {
		return nil, err
	}
	if !o.ReadOnly && !o.Existing {
		if err := putWhole(path, makeEmpty); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("build %s: %w", path, err)
		}
	}
	for {
		before, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		s, err := inspectAndStart(path, before, o)
		after, statErr := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if statErr == nil && os.SameFile(before, after) {
			if o.Migrate == nil || o.ReadOnly {
				return s, nil
			}
			if err := migrate(path, busyPragma(o.Busy), o.Migrate); err != nil {
				return nil, errors.Join(fmt.Errorf("migrate %s: %w", path, err), s.Close())
			}
			return s, nil
		}
		// Restore has replaced the file while this process waited for its lock. No store that is open can be replaced.
		if err := s.Close(); err != nil {
			return nil, err
		}
	}
}

// inspectAndStart opens the connections to the file at path, which is the given one.
func inspectAndStart(path string, file fs.FileInfo, o Options) (*store, error) {
	err := inspect(path, o.Busy, o.ReadOnly)
	if o.ReadOnly && isUnwritable(err) && hasLog(path) {
		return nil, fmt.Errorf("%w: SQLite cannot read the log of %s here: as a user who may, copy %s and %s-wal "+
			"together into a "+
			"directory that can be written, and name that copy: %w", ErrUnreadable, path, path, path, err)
	}
	if err != nil {
		return nil, err
	}
	s, err := start(path, file, o.Busy)
	switch {
	case err == nil:
		s.reading = o.ReadOnly
		return s, nil
	case o.ReadOnly && (isUnwritable(err) || isFull(err)) && !hasLog(path):
		return startImmutable(path, file), nil
	case isUnwritable(err):
		return nil, withRights(path, fmt.Errorf("open %s: a store and its directory must be writable, and not "+
			"read-only: %w", path, err))
	}
	return nil, fmt.Errorf("open %s: %w", path, err)
}

// startImmutable opens a store that is a file without a log, which nobody changes.
func startImmutable(path string, file fs.FileInfo) *store {
	readers := newPool(func() (*conn, error) { return dialImmutable(path) })
	return &store{path: path, reading: true, immutable: file, readers: readers}
}

// start opens the writer's connection to the file at path, which is the given one and a store already.
func start(path string, file fs.FileInfo, busy time.Duration) (_ *store, err error) {
	wait := busyPragma(busy)
	// With secure_delete, SQLite overwrites with zeros what an update deletes or replaces.
	c, err := dial(path, "mode=rw", wait, "synchronous=FULL", "fullfsync=1", "checkpoint_fullfsync=1",
		"secure_delete=ON", "trusted_schema=0", "foreign_keys=ON",
		"temp_store=MEMORY", "cache_size=-16384", fmt.Sprintf("journal_size_limit=%d", logKept), "wal_autocheckpoint=0")
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.close())
		}
	}()
	if err := errors.Join(c.wal(), c.checkMarks(path)); err != nil { // which may have changed since inspect
		return nil, err
	}
	if err := c.script("PRAGMA busy_timeout=0"); err != nil { // from here on the writer waits itself
		return nil, err
	}
	page, err := c.value("PRAGMA page_size")
	if err != nil {
		return nil, err
	}
	s := &store{path: path, eraseWait: eraseWait, recent: newRecent(path)}
	s.eraser = newEraser(s.erase)
	s.writer = newWriter(c, busy, &s.Bells)
	s.writer.path, s.writer.file = path, file
	s.readers = newPool(func() (*conn, error) {
		if err := moved(path, file); err != nil {
			return nil, err
		}
		return dial(path, "mode=rw", wait, "query_only=1", "trusted_schema=0", "temp_store=MEMORY", readerCache())
	})
	s.log = &checkpointer{path: path, w: s.writer, readers: s.readers, page: page, closing: make(chan struct{})}
	s.writer.committed = s.log.committed
	return s, nil
}

// Moved returns an ErrBusy if the file was removed or replaced since it was opened. Updates then return it, too, since
// what they commit would be in no file that the next process opens. Reads go on where a connection is open already. It
// is for a program's health check.
func (db *DB) Moved() error {
	if db.store.writer == nil {
		return nil
	}
	return moved(db.store.path, db.store.writer.file)
}

func moved(path string, opened fs.FileInfo) error {
	now, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(now, opened) {
		return movedError{path}
	}
	return nil
}

// movedError says that the file at path was removed or replaced. It is an ErrBusy, since a retry succeeds when the file
// is back.
type movedError struct{ path string }

func (e movedError) Error() string {
	return e.path + " was removed or replaced while it was open, and a change would be lost with it: put it back; if " +
		"it is deleted, only the programs that have it open still have its content: save that before they stop"
}

func (e movedError) Is(target error) bool { return target == storage.ErrBusy }

// busyPragma returns the setting that makes SQLite itself wait this long for a lock of another process.
func busyPragma(d time.Duration) string {
	return "busy_timeout=" + strconv.FormatInt(d.Milliseconds(), 10)
}

func (s *store) View(_ context.Context, fn func(storage.Reader) error) error {
	r := &reader{pool: s.readers, recent: s.recent}
	err := s.view(r, fn)
	if r.moved {
		err = s.view(&reader{pool: s.readers}, fn)
	}
	if s.immutable != nil {
		err = errors.Join(err, unchanged(s.path, s.immutable))
	}
	return err
}

func (s *store) view(r *reader, fn func(storage.Reader) error) error {
	defer r.end()
	return wrap(fn(r))
}

// errReading is the error of updates of a store that was opened with Options.ReadOnly.
var errReading = errors.New("sqlite: the store was opened for reading alone")

// Update ignores Exclusive: SQLite lets one process write at a time, and the writer runs one update at a time.
func (s *store) Update(ctx context.Context, space string, o storage.UpdateOptions, fn func(storage.Tx) error) error {
	if s.reading {
		return errReading
	}
	call := func(t *tx) error { return t.call(fn) }
	err := s.writer.update(ctx, space, o.Large, call)
	if err == errAlone {
		err = s.writer.update(ctx, space, true, call)
	}
	if err == nil && o.Erase {
		err = s.eraser.wait(ctx)
	}
	return wrap(err)
}

// Changed notices commits of this process at once, and polls for those of others.
func (s *store) Changed(prefix string) <-chan struct{} {
	c := s.Bells.Changed(prefix)
	if s.immutable != nil {
		return c
	}
	s.Watch(pollEvery, s.writer.lookForOthers)
	return c
}

// Close closes the file. An error of Close does not concern committed data, which is on the disk already.
func (s *store) Close() error {
	s.Bells.Close()
	if s.immutable != nil {
		return s.readers.close()
	}
	s.eraser.runs.Wait()
	s.writer.givenUp.Wait()
	// The connection that is closed last copies the log into the file and removes it. That is the writer's, whose
	// settings make the copy durable before the log is removed.
	err := errors.Join(s.readers.close(), s.log.close(), s.writer.c.close())
	s.recent.close()
	return err
}

// Stats are figures of an open store, for metrics. The counters begin with Open.
type Stats struct {
	Updates uint64 // updates that were committed
	Commits uint64 // commits that they shared, each with one sync of the disk
	// how many of them had 1 update, 2, 3 to 4, 5 to 8 and so on, and at last more than 128
	Batches [BatchSizes]uint64
	// of the write-ahead log after the last commit of this process, since it restarted last; the file may be longer
	LogBytes    int64
	Checkpoints uint64 // how often the log was copied into the file
	Readers     int    // connections of Views that are open; each has two descriptors
	ReadersBusy int    // how many of these have a View
	ReadersMost int    // how many may be open; more Views wait
}

// BatchSizes is the number of buckets of Stats.Batches. Bucket i counts commits of at most 1<<i updates that are more
// than those of bucket i-1; the last one has no bound.
const BatchSizes = 9

// counters are the counters of Stats.
type counters struct {
	updates, commits, checkpoints atomic.Uint64
	batches                       [BatchSizes]atomic.Uint64
}

// commit counts a commit of so many updates.
func (c *counters) commit(updates uint64) {
	c.commits.Add(1)
	c.updates.Add(updates)
	c.batches[min(bits.Len64(updates-1), BatchSizes-1)].Add(1)
}

// Stats returns the figures of this moment.
func (db *DB) Stats() Stats {
	if db.store.immutable != nil {
		return Stats{}
	}
	n := &db.store.writer.counters
	s := Stats{
		Updates: n.updates.Load(), Commits: n.commits.Load(), Checkpoints: n.checkpoints.Load(),
		LogBytes: db.store.log.size(), ReadersMost: mostReaders(),
	}
	s.Readers, s.ReadersBusy, _ = db.store.readers.count()
	for i := range s.Batches {
		s.Batches[i] = n.batches[i].Load()
	}
	return s
}
