package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
	"github.com/vitrine-go/vitrine/storage/postgres"
	"github.com/vitrine-go/vitrine/storage/sqlite"
)

// inMemory is the value of -db for a store in memory.
const inMemory = "memory:"

// dbUsage says what -db wants.
const dbUsage = "`store`: the path of a SQLite file, " + inMemory + ", or a postgres:// URL, without its password: " +
	"others see a command line, and not PGPASSWORD or the file of PGPASSFILE"

// dbFlag adds -db to the flags of a command.
func dbFlag(f *flag.FlagSet) *string { return f.String("db", "vitrine.db", dbUsage) }

// inPostgres reports whether -db names a PostgreSQL database. Its URL may contain a password, so it must not be
// printed; see shown.
func inPostgres(db string) bool {
	return strings.HasPrefix(db, "postgres://") || strings.HasPrefix(db, "postgresql://")
}

// shown returns the name of the store for a log: without the user, the password and the parameters of a URL.
func shown(db string) string {
	if !inPostgres(db) {
		return db
	}
	u, err := url.Parse(db)
	if err != nil {
		return "postgres://"
	}
	return "postgres://" + u.Host + u.Path
}

// withoutPassword returns the value of -db without the passwords of a URL, and whether it had one. pgx reads a password
// that is missing in a URL from PGPASSWORD or the file of PGPASSFILE, as all programs of PostgreSQL do.
func withoutPassword(db string) (string, bool) {
	if !inPostgres(db) {
		return db, false
	}
	u, err := url.Parse(db)
	if err != nil {
		return shown(db), true
	}
	_, secret := u.User.Password()
	if secret {
		u.User = url.User(u.User.Username())
	}
	if query := u.Query(); query.Has("password") || query.Has("sslpassword") {
		secret = true
		query.Del("password")
		query.Del("sslpassword")
		u.RawQuery = query.Encode()
	}
	return u.String(), secret
}

// inFile reports whether -db names a SQLite file.
func inFile(db string) bool { return db != inMemory && !inPostgres(db) }

// absent reports whether -db names a SQLite file that does not exist.
func absent(db string) bool {
	_, err := os.Stat(db)
	return inFile(db) && errors.Is(err, fs.ErrNotExist)
}

// openStore opens the store, and builds it if it does not exist. A SQLite store that it builds gets its name only after
// built has returned nil. serve uses it, and openToFill. They have called checkDB.
func openStore(ctx context.Context, db string, built func() error) (storage.Store, error) {
	switch {
	case db == inMemory:
		return memory.New(), nil
	case inPostgres(db):
		s, err := postgres.Open(ctx, db, &postgres.Options{Existing: true})
		if !errors.Is(err, postgres.ErrAbsent) {
			return s, err
		}
		if s, err = postgres.Open(ctx, db, nil); err != nil {
			return nil, err
		}
		return s, built()
	}
	if absent(db) {
		err := sqlite.Build(db, func(*sqlite.DB) error { return built() })
		if err != nil && !errors.Is(err, fs.ErrExist) { // another process may have been faster
			return nil, err
		}
	}
	return sqlite.Open(db, nil)
}

// errNoStore is the error of a command that needs an existing store and finds none.
var errNoStore = errors.New("there is no store")

// noStore returns errNoStore for a store that does not exist, with what to do.
func noStore(db string) error {
	_, copied, err := lastCopy(db)
	if err != nil {
		return fmt.Errorf("%w at %s: name the store with -db, or start serve first, which builds one; if it was "+
			"deleted, a server that still answers has it: save it before that stops", errNoStore, db)
	}
	return fmt.Errorf("%w at %s, but there was one, since %s is there: put the store back, or a copy in its place "+
		"(%s); a server that still answers has the deleted file, so save that before it stops; only for a new, empty "+
		"store move %[3]s away", errNoStore, db, copyNote(db), restoring(db, copied))
}

// restoring returns the command line that puts a copy in the place of a store.
func restoring(db, copied string) string {
	return fmt.Sprintf("vitrine restore -db %s %s", quoted(db), quoted(copied))
}

// withCopy adds to an error that says that a store is damaged how a copy is put in its place.
func withCopy(db string, err error) error {
	if !sqlite.IsDamaged(err) {
		return err
	}
	_, copied, none := lastCopy(db)
	if none != nil {
		copied = "COPY"
	}
	return fmt.Errorf("%w: to put the newest copy in its place, and the damaged file aside, stop the server, and: %s",
		err, restoring(db, copied))
}

// checkLost returns an error if a store was lost: it does not exist, and the note of its newest copy does. A key file
// alone says nothing, since it may have been put there for a first start.
func checkLost(db string) error {
	if _, _, err := lastCopy(db); err != nil || !absent(db) {
		return nil
	}
	return noStore(db)
}

// openThere opens an existing store, with these options if it is a SQLite file. It returns errNoStore if there is none.
func openThere(ctx context.Context, db string, file *sqlite.Options) (storage.Store, error) {
	if err := checkReached(db); err != nil {
		return nil, err
	}
	if absent(db) {
		return nil, noStore(db)
	}
	if inFile(db) {
		return sqlite.Open(db, file)
	}
	s, err := postgres.Open(ctx, db, &postgres.Options{Existing: true})
	if errors.Is(err, postgres.ErrAbsent) {
		return nil, noStore(shown(db))
	}
	return s, err
}

// inStore calls fn with an existing store, and closes it.
func inStore(ctx context.Context, db string, fn func(storage.Store) error) error {
	s, err := openThere(ctx, db, nil)
	if err == nil {
		err = errors.Join(fn(s), s.Close())
	}
	return withCopy(db, err)
}

// openToRead opens an existing store for a command that does not change it. The store may be read-only.
func openToRead(ctx context.Context, db string) (storage.Store, error) {
	return openThere(ctx, db, &sqlite.Options{ReadOnly: true})
}

// readStore is inStore for a command that does not change the store.
func readStore(ctx context.Context, db string, fn func(storage.Store) error) error {
	s, err := openToRead(ctx, db)
	if err == nil {
		err = errors.Join(fn(s), s.Close())
	}
	if errors.Is(err, sqlite.ErrUnreadable) {
		err = exitError{err, exitUnable}
	}
	return withCopy(db, err)
}

// openToCompare opens a store for a command that does not change it. If there is no store, it returns an empty one.
func openToCompare(ctx context.Context, db string) (storage.Store, error) {
	s, err := openToRead(ctx, db)
	if errors.Is(err, errNoStore) {
		return memory.New(), nil
	}
	return s, err
}

// openToFill opens a store for a command that adds data, and builds it, with its key, if it does not exist. As in a
// server, files are refused while the disk is nearly full.
func (p *program) openToFill(ctx context.Context, db string) (storage.Store, error) {
	if err := checkReached(db); err != nil {
		return nil, err
	}
	keyFile := p.getenv(variable("key-file"))
	if err := checkLost(db); err != nil {
		return nil, err
	}
	s, err := openStore(ctx, db, p.keyMaker(db, keyFile, ""))
	if err != nil {
		return nil, withCopy(db, err)
	}
	return newRoomy(s, db), nil
}

// checkReached is checkDB for commands that open a store and are not serve. It also rejects memory:, since only the
// process that serves such a store can reach it.
func checkReached(db string) error {
	if db == inMemory {
		return usageError{errors.New("-db " + inMemory + " is a store inside the process that serves it: no other " +
			"command can reach it")}
	}
	return checkDB(db)
}

// checkKind returns an error for a value of -db that names a store of no kind which this program has.
func checkKind(db string) error {
	const want = "want the path of a SQLite file, " + inMemory + " or a postgres:// URL"
	switch scheme, _, isURL := strings.Cut(db, "://"); {
	case db == "":
		return usageError{errors.New("-db: must not be empty: " + want)}
	case inFile(db) && isURL && !strings.ContainsRune(scheme, filepath.Separator):
		return usageError{fmt.Errorf("-db: a store is not kept at %s:// addresses: %s", scheme, want)}
	}
	return nil
}

// checkDB returns an error for a value of -db that names no store which this program could open or build. It opens
// nothing.
func checkDB(db string) error {
	if err := checkKind(db); err != nil || !inFile(db) {
		return err
	}
	if _, err := os.Stat(filepath.Dir(db)); err != nil {
		if !filepath.IsAbs(db) {
			err = fmt.Errorf("%w: name the store by its whole path", err)
		}
		return exitError{fmt.Errorf("-db %s: its directory: %w", db, err), exitUsage}
	}
	return nil
}

// checkOutput returns an error if the file that a flag names belongs to the store of -db: the store itself, a file that
// SQLite keeps beside it, or its key. It prevents a command from overwriting a store with its output.
func checkOutput(db, flag, name string) error {
	if name == "" || !inFile(db) {
		return nil
	}
	paths := []string{db}
	if real, err := filepath.EvalSymlinks(db); err == nil {
		paths = append(paths, real) // SQLite keeps its files beside it
	}
	for _, path := range paths {
		for _, part := range []struct{ suffix, is string }{
			{"", "the store"},
			{"-wal", "the write-ahead log"},
			{"-shm", "the index of the write-ahead log"},
			{".key", "the key file"},
		} {
			if sameFile(path+part.suffix, name) {
				return usageError{fmt.Errorf("%s names %s of -db: name another file", flag, part.is)}
			}
		}
	}
	return nil
}

// sameFile reports whether two names are of one file, or are the same name of a file that does not exist yet.
func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	if other, none := os.Stat(b); err == nil && none == nil {
		return os.SameFile(one, other)
	}
	a, _ = filepath.Abs(a)
	b, _ = filepath.Abs(b)
	return a == b
}
