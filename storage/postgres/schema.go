package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/vitrine-go/vitrine/storage"
)

// formatNumber is the number of the format of the tables. A release with another format writes its number in an
// exclusive transaction, and every update reads the number.
const formatNumber = 3

// tables creates the tables. Values above 2 KB are stored in TOAST, so that the rows stay small, and most updates stay
// within the page of their row. Each new value of a key leaves a dead row, which autovacuum shall remove early.
const tables = `
	CREATE TABLE vitrine_format (number int8 NOT NULL, building text NOT NULL);
	CREATE TABLE vitrine_space (name bytea PRIMARY KEY, number int8 NOT NULL)
		WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.2);
	CREATE TABLE vitrine_record (key bytea PRIMARY KEY, value bytea NOT NULL) WITH (fillfactor = 80,
		autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0,
		toast.autovacuum_vacuum_scale_factor = 0.05, toast.autovacuum_vacuum_threshold = 1000,
		toast.autovacuum_vacuum_cost_delay = 0);
	ALTER TABLE vitrine_record ALTER key SET STORAGE PLAIN, ALTER value SET STORAGE EXTERNAL;`

const dropTables = "DROP TABLE IF EXISTS vitrine_format, vitrine_space, vitrine_record"

var (
	// ErrExists means that the database or schema has a store already.
	ErrExists = errors.New("there is a store already")
	// ErrAbsent means that the database or schema has no store.
	ErrAbsent = errors.New("there is no store")

	errUnfinished = errors.New("the store is unfinished: it is still being built, or its build was stopped; build " +
		"it again, which removes what is left")
	errTaken = errors.New("another process is building a store there")
	errOld   = errors.New("the database has the tables of v0.1.0: write an archive with v0.1.0 " +
		"(vitrine export -db STORE >FILE), and make a store of it in an empty database, or an empty schema, " +
		"with v0.2.0 (vitrine import -db STORE FILE), which this release opens")
)

// format is the row of vitrine_format.
type format struct {
	number   int64
	building string // the name of the Build that fills the store, "" if it is complete
}

// usable returns an error if this release cannot use the store. builder is the name of a Build that fills the store, ""
// for any other user of it.
func (f format) usable(builder string) error {
	switch {
	case f.number > formatNumber:
		return fmt.Errorf("%w: it has format %d, and this release knows %d", errNewer, f.number, formatNumber)
	case f.number < formatNumber:
		return errors.New("the store has a format that this release does not know")
	case f.building == builder:
		return nil
	case builder == "":
		return errUnfinished
	}
	return errTaken
}

// create opens the store in the database, and creates it if there is none and existing is false.
func (s *store) create(ctx context.Context, existing bool) error {
	f, err := s.find(ctx)
	if errors.Is(err, ErrAbsent) && !existing {
		err = s.inTx(ctx, func(tx pgx.Tx) error {
			if f, err = find(ctx, tx); !errors.Is(err, ErrAbsent) {
				return err
			}
			f.number = formatNumber
			return createTables(ctx, tx, "")
		})
	}
	if err != nil {
		return err
	}
	return f.usable("")
}

func (s *store) find(ctx context.Context) (f format, err error) {
	err = s.inTx(ctx, func(tx pgx.Tx) error {
		f, err = look(ctx, tx)
		return err
	})
	return f, err
}

// find is look for a transaction that creates or drops tables. It takes a lock so that other such transactions wait; a
// standby rejects that.
func find(ctx context.Context, tx pgx.Tx) (f format, err error) {
	if _, err := tx.Exec(ctx, lockSchema); err != nil {
		return f, err
	}
	return look(ctx, tx)
}

const lockSchema = "SELECT set_config('lock_timeout', '0', true), pg_advisory_xact_lock(7669874531026945)"

// look returns the format of the store in the first schema of the search path. It returns ErrAbsent if the schema has
// no tables, and an error that says what is wrong if it has others.
func look(ctx context.Context, tx pgx.Tx) (f format, err error) {
	var schema *string
	var here, old bool
	var others int
	var one string
	// Tables of extensions do not count.
	const sql = `SELECT current_schema()::text, coalesce(bool_or(relname = 'vitrine_format'), false),
		coalesce(bool_or(relname = 'vitrine_schema'), false),
		count(*), coalesce(min(relname)::text, '') FROM pg_class c
		WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())
			AND relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
		AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = c.oid AND deptype = 'e')`
	err = tx.QueryRow(ctx, sql).Scan(&schema, &here, &old, &others, &one)
	switch {
	case err != nil:
		return f, err
	case schema == nil:
		return f, errors.New("the search path names no schema that is there: create it, or name another one " +
			"(search_path=… in the address, Options.Schema for New)")
	case here:
		err = tx.QueryRow(ctx, "SELECT number, building FROM vitrine_format").Scan(&f.number, &f.building)
		return f, err
	case old:
		return f, errOld
	case others > 0:
		more := ""
		if others > 1 {
			more = fmt.Sprintf(" and %d more", others-1)
		}
		return f, fmt.Errorf("the schema %q is no store of ours and not empty: it holds %q%s; "+
			"name an empty database, or an empty schema (search_path=… in the address, Options.Schema for New)",
			*schema, one, more)
	}
	return f, ErrAbsent
}

func createTables(ctx context.Context, tx pgx.Tx, builder string) error {
	if _, err := tx.Exec(ctx, tables); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, "INSERT INTO vitrine_format VALUES ($1, $2)", formatNumber, builder)
	return err
}

// undoWait limits the time in which a Build that has failed removes the store.
const undoWait = 30 * time.Second

// Build creates a store in an empty database or schema and calls fill with it. Until Build has returned nil, the store
// is marked as unfinished, and Open refuses it. If fill fails, Build removes the store. If it cannot, or if the process
// is killed, the unfinished store stays, and the next Build removes it and begins anew. A Build that still runs then
// fails.
//
// It returns ErrExists if there is a store already.
func Build(ctx context.Context, address string, opts *Options, fill func(*DB) error) error {
	if err := build(ctx, address, opts.orDefault(), fill); err != nil {
		return fmt.Errorf("postgres: build: %w", tell(err))
	}
	return nil
}

func build(ctx context.Context, address string, o Options, fill func(*DB) error) error {
	s, err := connect(ctx, address, o)
	if err != nil {
		return err
	}
	defer s.pool.Close()
	s.keepPool = true // when db is closed
	s.builder = rand.Text()
	if err := s.inTx(ctx, func(tx pgx.Tx) error { return begin(ctx, tx, s.builder) }); err != nil {
		return err
	}
	db := &DB{storage.Checked(s), s}
	filled := fill(db)
	finish := func(ctx context.Context, sql string) error {
		return s.inTx(ctx, func(tx pgx.Tx) error {
			f, err := find(ctx, tx)
			if err == nil {
				err = f.usable(s.builder)
			}
			if err == nil {
				_, err = tx.Exec(ctx, sql)
			}
			return err
		})
	}
	if err := db.Close(); err != nil || filled != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoWait)
		defer cancel()
		undone := finish(ctx, dropTables)
		if undone != nil {
			undone = fmt.Errorf("the unfinished store could not be removed; the next build removes it: %w", undone)
		}
		return errors.Join(filled, err, undone)
	}
	if err := finish(ctx, "UPDATE vitrine_format SET building = ''"); err != nil {
		return fmt.Errorf("the store is complete, but its mark as unfinished may not have been removed: open it, "+
			"and build it again if that is refused: %w", err)
	}
	return nil
}

// begin creates the tables of a store that is marked as unfinished. If there is another unfinished store, it removes
// that first.
func begin(ctx context.Context, tx pgx.Tx, builder string) error {
	f, err := find(ctx, tx)
	switch {
	case err == nil && f.building == "":
		return fmt.Errorf("the database is not empty: %w: name an empty one, or an empty schema in the address "+
			"(search_path=…)", ErrExists)
	case err == nil:
		if _, err := tx.Exec(ctx, dropTables); err != nil {
			return err
		}
	case !errors.Is(err, ErrAbsent):
		return err
	}
	return createTables(ctx, tx, builder)
}
