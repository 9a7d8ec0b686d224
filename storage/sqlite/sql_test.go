package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	driver "modernc.org/sqlite"

	"github.com/vitrine-go/vitrine/internal/proof"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// ownTables are tables of a program: jobs of pages, which exist when the update commits.
func ownTables(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS page (slug TEXT PRIMARY KEY, title TEXT NOT NULL);
		CREATE TABLE IF NOT EXISTS job (id INTEGER PRIMARY KEY,
			page TEXT NOT NULL REFERENCES page DEFERRABLE INITIALLY DEFERRED)`)
	return err
}

func openOwn(t *testing.T) *DB {
	t.Helper()
	return openTest(t, &Options{Busy: time.Minute, Migrate: ownTables})
}

// content returns the entries of the space "a", the pages and the jobs.
func content(t *testing.T, db *DB) string {
	t.Helper()
	all := ""
	err := db.Update(ctx, "read", storage.UpdateOptions{Large: true}, func(tx storage.Tx) error {
		for e, err := range tx.Scan(ctx, storage.Prefix("a ")) {
			if err != nil {
				return err
			}
			all += e.Key[2:] + "=" + string(e.Value) + " "
		}
		own, err := SQL(tx)
		if err != nil {
			return err
		}
		var rows string
		err = own.QueryRowContext(ctx, `SELECT coalesce((SELECT group_concat(slug || ':' || title, ' ') FROM
			(SELECT * FROM page ORDER BY slug)), '') || ' ' || (SELECT count(*) FROM job)`).Scan(&rows)
		all += rows
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// step does one thing to a program's tables in an update, which also writes an entry before and after it.
func step(db *DB, do func(tx storage.Tx, own *sql.Tx) error) error {
	return db.Update(ctx, "a", storage.UpdateOptions{}, func(tx storage.Tx) error {
		if err := tx.Put(ctx, storage.Entry{Key: "a before", Value: []byte("1")}); err != nil {
			return err
		}
		own, err := SQL(storage.Sub(tx, "a sub/"))
		if err == nil {
			err = do(tx, own)
		}
		return errors.Join(err, tx.Put(ctx, storage.Entry{Key: "a after", Value: []byte("1")}))
	})
}

func run(own *sql.Tx, query string, args ...any) error {
	_, err := own.ExecContext(ctx, query, args...)
	return err
}

func TestSQLIsCommittedWithTheUpdateOrNotAtAll(t *testing.T) {
	const page, job = "INSERT INTO page VALUES ($1, $2)", "INSERT INTO job (page) VALUES ($1)"
	const committed = "after=1 before=1 "
	failed := errors.New("failed")
	for name, c := range map[string]struct {
		do   func(tx storage.Tx, own *sql.Tx) error
		want string // the content, or the error
	}{
		"a page and its job": {func(_ storage.Tx, own *sql.Tx) error {
			return errors.Join(run(own, page, "x", "X"), run(own, job, "x"))
		}, committed + "x:X 1"},
		"the job before its page": {func(_ storage.Tx, own *sql.Tx) error {
			return errors.Join(run(own, job, "x"), run(own, page, "x", "X"))
		}, committed + "x:X 1"},
		"a job without a page": {func(_ storage.Tx, own *sql.Tx) error { return run(own, job, "none") },
			"nothing was committed"},
		"a page twice": {func(_ storage.Tx, own *sql.Tx) error {
			return errors.Join(run(own, page, "x", "X"), run(own, page, "x", "X"))
		}, "UNIQUE constraint failed: page.slug"},
		"an error of the function": {func(_ storage.Tx, own *sql.Tx) error {
			return errors.Join(run(own, page, "x", "X"), failed)
		}, "failed"},
		"a part that is undone": {func(tx storage.Tx, own *sql.Tx) error {
			return errors.Join(run(own, page, "x", "X"), run(own, "SAVEPOINT part"), run(own, page, "y", "Y"),
				tx.Put(ctx, storage.Entry{Key: "a undone", Value: []byte("1")}), tx.Delete(ctx, "a before"),
				run(own, "ROLLBACK TO part"))
		}, committed + "x:X 0"},
		"an entry that is undone": {func(tx storage.Tx, own *sql.Tx) error {
			return errors.Join(run(own, "SAVEPOINT part"), tx.Put(ctx, storage.Entry{Key: "a undone"}),
				run(own, "ROLLBACK TO part"))
		}, committed + " 0"},
		"a statement that failed alone": {func(_ storage.Tx, own *sql.Tx) error {
			if err := run(own, page, "x", nil); err == nil {
				return errors.New("a page without a title is taken")
			}
			return run(own, page, "x", "X")
		}, committed + "x:X 0"},
		"a query whose rows are open": {func(_ storage.Tx, own *sql.Tx) error {
			_, err := own.QueryContext(ctx, "SELECT 1 UNION SELECT 2")
			return err
		}, "left the rows of a query open"},
		"a loop that writes": {func(tx storage.Tx, own *sql.Tx) error {
			rows, err := own.QueryContext(ctx, "INSERT INTO page VALUES ('x', 'X'), ('y', 'Y') RETURNING slug")
			if err != nil {
				return err
			}
			defer rows.Close()
			for slug := ""; rows.Next(); {
				if err := rows.Scan(&slug); err != nil {
					return err
				}
				if err := errors.Join(run(own, job, slug), tx.Put(ctx, storage.Entry{Key: "a " + slug})); err != nil {
					return err
				}
			}
			return rows.Err()
		}, committed + "x= y= x:X y:Y 2"},
		"COMMIT in SQL": {func(_ storage.Tx, own *sql.Tx) error {
			run(own, page, "x", "X")
			run(own, "COMMIT")
			return run(own, page, "y", "Y")
		}, "has ended the transaction"},
		"ROLLBACK in SQL": {func(_ storage.Tx, own *sql.Tx) error {
			return errors.Join(run(own, page, "x", "X"), run(own, "ROLLBACK"))
		}, "has ended the transaction"},
		"Commit": {func(_ storage.Tx, own *sql.Tx) error { return own.Commit() }, "the update ends the transaction"},
		"Rollback": {func(_ storage.Tx, own *sql.Tx) error {
			return own.Rollback()
		}, "the update ends the transaction"},
		"entries in SQL": {func(_ storage.Tx, own *sql.Tx) error {
			run(own, "DELETE FROM entry")
			return nil
		}, "what belongs to the store"},
		"a large value in SQL": {func(_ storage.Tx, own *sql.Tx) error {
			return own.QueryRowContext(ctx, "INSERT INTO large (value) VALUES (x'00') RETURNING id").Scan(new(int))
		}, "what belongs to the store"},
		"the number of the format in SQL": {func(_ storage.Tx, own *sql.Tx) error {
			return run(own, "PRAGMA user_version = 3")
		}, "what belongs to the store"},
		"a trigger on a table of the store": {func(_ storage.Tx, own *sql.Tx) error {
			return run(own, "CREATE TRIGGER mine AFTER INSERT ON entry BEGIN DELETE FROM large; END")
		}, "what belongs to the store"},
		"a temporary trigger on a table of the store": {func(_ storage.Tx, own *sql.Tx) error {
			return run(own, "CREATE TEMP TRIGGER mine BEFORE INSERT ON entry BEGIN SELECT RAISE (IGNORE); END")
		}, "what belongs to the store"},
		"a large value beside SQL": {func(tx storage.Tx, own *sql.Tx) error {
			large := []byte(strings.Repeat("x", 2*mostSmall))
			return errors.Join(run(own, page, "x", "X"), tx.Put(ctx, storage.Entry{Key: "a large", Value: large}),
				tx.Delete(ctx, "a large"), run(own, "CREATE TABLE entry_of_mine AS SELECT * FROM page"))
		}, committed + "x:X 0"},
		"an interrupted statement": {func(_ storage.Tx, own *sql.Tx) error {
			short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
			defer cancel()
			_, err := own.ExecContext(short, `INSERT INTO page WITH RECURSIVE n (n) AS
				(SELECT 1 UNION ALL SELECT n + 1 FROM n) SELECT n, n FROM n`)
			if !errors.Is(err, context.DeadlineExceeded) {
				return fmt.Errorf("the statement was not interrupted: %w", err)
			}
			return nil
		}, "nothing was committed: context deadline exceeded"},
		"a panic with open rows": {func(_ storage.Tx, own *sql.Tx) error {
			if _, err := own.QueryContext(ctx, "INSERT INTO page VALUES ('x', 'X') RETURNING slug"); err != nil {
				return err
			}
			panic("panicked")
		}, "panicked"},
	} {
		t.Run(name, func(t *testing.T) {
			db := openOwn(t)
			var kept *sql.Tx
			err := func() (err error) {
				defer func() {
					if p := recover(); p != nil {
						err = errors.New(p.(string))
					}
				}()
				return step(db, func(tx storage.Tx, own *sql.Tx) error { kept = own; return c.do(tx, own) })
			}()
			if errors.Is(err, storage.ErrUnknown) {
				t.Errorf("the outcome is unknown: %v", err)
			}
			want := c.want
			if err != nil {
				if !strings.Contains(err.Error(), c.want) {
					t.Errorf("%v, want %q", err, c.want)
				}
				want = " 0"
			}
			if got := content(t, db); got != want {
				t.Errorf("the store has %q, want %q (%v)", got, want, err)
			}
			if err := run(kept, page, "late", "late"); err == nil {
				t.Error("the Tx is usable when its function has returned")
			}
		})
	}
}

// The driver's error of a statement can be found.
func TestErrorsOfSQL(t *testing.T) {
	err := step(openOwn(t), func(_ storage.Tx, own *sql.Tx) error { return run(own, "INSERT INTO none VALUES (1)") })
	if _, told := errors.AsType[*driver.Error](err); !told {
		t.Errorf("%v is not SQLite's", err)
	}
	for want, err := range map[string]error{
		"*memory.tx": memory.New().Update(ctx, "a", storage.UpdateOptions{}, func(tx storage.Tx) error {
			_, err := SQL(tx)
			return err
		}),
		"its function returns nil": step(openOwn(t), func(_ storage.Tx, own *sql.Tx) error { return own.Commit() }),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// Updates that wait while one of them asks for SQL are committed once each. That one is called again, alone, and takes
// none of them along if its commit fails.
func TestSQLTakesNothingFromASharedCommit(t *testing.T) {
	for n := range 10 {
		asking, page := n/2, []string{"p", "none"}[n%2]
		synctest.Test(t, func(t *testing.T) {
			db := openOwn(t)
			before := db.Stats()
			var all sync.WaitGroup
			start, calls := make(chan struct{}), make([]int, 5)
			for i := range calls {
				all.Go(func() {
					err := db.Update(ctx, "a", storage.UpdateOptions{}, func(tx storage.Tx) error {
						<-start // holds up the first one, until the others wait for it
						calls[i]++
						values, err := tx.Get(ctx, "a n")
						if err != nil {
							return err
						}
						if err := tx.Put(ctx, storage.Entry{Key: "a n", Value: append(values[0], 'x')}); err != nil {
							return err
						}
						if i != asking {
							return nil
						}
						own, err := SQL(tx)
						if err != nil {
							return errors.New("some other error") // the driver calls again all the same
						}
						return run(own, "INSERT INTO page VALUES ('p', 'P'); INSERT INTO job (page) VALUES ($1)", page)
					})
					if broken := i == asking && page == "none"; (err != nil) != broken {
						t.Error(i, err)
					}
				})
				synctest.Wait()
			}
			close(start)
			all.Wait()
			after := db.Stats()
			want, updates := "n=xxxxx p:P 1", uint64(5)
			if page == "none" {
				want, updates = "n=xxxx  0", 4
			}
			if got := content(t, db); got != want {
				t.Errorf("the store has %q, want %q", got, want)
			}
			for i, n := range calls {
				if want := 1; n != want && !(i == asking && i > 0 && n == 2) {
					t.Errorf("update %d was called %d times", i, n)
				}
			}
			if n := after.Updates - before.Updates; after.Commits-before.Commits > 2 || n != updates {
				t.Errorf("%d updates took %d commits", n, after.Commits-before.Commits)
			}
		})
	}
}

func TestMigrateLeavesTheStoreAlone(t *testing.T) {
	for _, query := range []string{
		"CREATE TABLE vitrine_mine (x)", "CREATE INDEX Vitrine_i ON page (title)", "DROP TABLE large",
		"CREATE TEMP TABLE entry (x)", "CREATE TEMP TRIGGER mine AFTER INSERT ON entry BEGIN SELECT 1; END",
		"CREATE INDEX mine ON entry (value)", "ALTER TABLE entry ADD COLUMN x", "PRAGMA user_version = 3",
		"CREATE TRIGGER mine AFTER INSERT ON entry BEGIN DELETE FROM large; END", "COMMIT",
		"INSERT INTO job (page) VALUES ('none')", "INSERT INTO entry VALUES ('a', 1)",
	} {
		path := filepath.Join(t.TempDir(), "vitrine.db")
		db, err := Open(path, &Options{Migrate: func(ctx context.Context, tx *sql.Tx) error {
			return errors.Join(ownTables(ctx, tx), run(tx, query))
		}})
		if err == nil {
			db.Close()
			t.Errorf("%s is taken", query)
		}
		// Nothing of it is there, and the store opens.
		if db, err = Open(path, &Options{Existing: true}); err != nil {
			t.Fatalf("after %s: %v", query, err)
		}
		if names, err := db.OwnTables(ctx); err != nil || len(names) > 0 {
			t.Errorf("after %s there are %q, %v", query, names, err)
		}
		db.Close()
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none.db"), &Options{Existing: true}); !errors.Is(err,
		fs.ErrNotExist) {
		t.Errorf("an absent file with Existing: %v", err)
	}
}

// A migration replaces a table that others refer to, which SQLite allows without foreign keys alone.
func TestMigrateReplacesATableWithReferences(t *testing.T) {
	db := openOwn(t)
	if err := step(db, func(_ storage.Tx, own *sql.Tx) error {
		return run(own, "INSERT INTO page VALUES ('x', 'X'); INSERT INTO job (page) VALUES ('x')")
	}); err != nil {
		t.Fatal(err)
	}
	again := openAt(t, db.store.path, &Options{Migrate: func(ctx context.Context, tx *sql.Tx) error {
		return run(tx, `CREATE TABLE next (slug TEXT PRIMARY KEY, title TEXT NOT NULL, lang TEXT);
			INSERT INTO next SELECT *, 'en' FROM page; DROP TABLE page; ALTER TABLE next RENAME TO page`)
	}})
	if got := content(t, again); got != "after=1 before=1 x:X 1" {
		t.Errorf("the store has %q", got)
	}
	if names, err := db.OwnTables(ctx); fmt.Sprint(names) != "[job page]" {
		t.Errorf("OwnTables returns %q, %v", names, err)
	}
	copied := filepath.Join(t.TempDir(), "copy.db")
	if err := db.Backup(ctx, copied); err != nil {
		t.Fatal(err)
	}
	if got := content(t, openAt(t, copied, nil)); got != "after=1 before=1 x:X 1" {
		t.Errorf("the copy has %q", got)
	}
}

// A process that is killed between its SQL and its entries leaves both or none.
func TestSQLOfAKilledProcess(t *testing.T) {
	count := func(db *DB) (entries, jobs int) {
		err := db.Update(ctx, "a", storage.UpdateOptions{Large: true}, func(tx storage.Tx) error {
			entries = 0
			for _, err := range tx.Scan(ctx, storage.Prefix("a n/")) {
				if err != nil {
					return err
				}
				entries++
			}
			own, err := SQL(tx)
			if err != nil {
				return err
			}
			return own.QueryRowContext(ctx, "SELECT count(*) FROM job").Scan(&jobs)
		})
		if err != nil {
			t.Fatal(err)
		}
		return entries, jobs
	}
	if path := proof.ChildState(); path != "" {
		db := openAt(t, path, &Options{Migrate: ownTables})
		for n := 0; ; n++ {
			err := db.Update(ctx, "a", storage.UpdateOptions{}, func(tx storage.Tx) error {
				own, err := SQL(tx)
				if err != nil {
					return err
				}
				return errors.Join(
					run(own, "INSERT OR IGNORE INTO page VALUES ('x', 'X'); INSERT INTO job (page) VALUES ('x')"),
					tx.Put(ctx, storage.Entry{Key: fmt.Sprintf("a n/%d %d", os.Getpid(), n)}))
			})
			if err != nil {
				t.Fatal(err)
			}
			if n == 10 {
				fmt.Fprintln(os.Stderr, "begun")
			}
		}
	}
	path := filepath.Join(t.TempDir(), "vitrine.db")
	for range 5 {
		_, kill := proof.StartChild(t, path)
		time.Sleep(time.Duration(time.Now().UnixNano()%7) * time.Millisecond)
		kill()
		db := openAt(t, path, nil)
		if entries, jobs := count(db); entries != jobs || entries < 11 {
			t.Errorf("there are %d entries and %d jobs", entries, jobs)
		}
	}
}
