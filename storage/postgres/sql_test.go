//go:build proof

package postgres

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/vitrine-go/vitrine/internal/cluster"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

func ownTables(ctx context.Context, tx pgx.Tx) error {
	_, err := tx.Exec(ctx, `CREATE TABLE IF NOT EXISTS page (slug text PRIMARY KEY, title text NOT NULL);
		CREATE TABLE IF NOT EXISTS job (id bigserial PRIMARY KEY,
			page text NOT NULL REFERENCES page DEFERRABLE INITIALLY DEFERRED)`)
	return err
}

// content returns the entries of the space "a", the pages, and how many jobs there are.
func content(t *testing.T, db *DB) string {
	t.Helper()
	all := ""
	err := db.Update(ctx, "read", storage.UpdateOptions{Large: true}, func(tx storage.Tx) error {
		all = ""
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
		err = own.QueryRow(ctx, `SELECT coalesce(string_agg(slug || ':' || title, ' ' ORDER BY slug), '') || ' ' ||
			(SELECT count(*) FROM job) FROM page`).Scan(&rows)
		all += rows
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func run(own pgx.Tx, sql string, args ...any) error {
	_, err := own.Exec(ctx, sql, args...)
	return err
}

func TestSQLIsCommittedWithTheUpdateOrNotAtAll(t *testing.T) {
	const page, job = "INSERT INTO page VALUES ($1, $2)", "INSERT INTO job (page) VALUES ($1)"
	const committed = "after=1 before=1 "
	var called atomic.Int64
	for name, c := range map[string]struct {
		do   func(tx storage.Tx, own pgx.Tx) error
		want string // the content, or the error
	}{
		"a page and its job": {func(_ storage.Tx, own pgx.Tx) error {
			return errors.Join(run(own, page, "x", "X"), run(own, job, "x"))
		}, committed + "x:X 1"},
		"the job before its page": {func(_ storage.Tx, own pgx.Tx) error {
			return errors.Join(run(own, job, "x"), run(own, page, "x", "X"))
		}, committed + "x:X 1"},
		"a job without a page": {func(_ storage.Tx, own pgx.Tx) error {
			return run(own, job, "none")
		}, "job_page_fkey"},
		"a page twice": {func(_ storage.Tx, own pgx.Tx) error {
			return errors.Join(run(own, page, "x", "X"), run(own, page, "x", "X"))
		}, "page_pkey"},
		"a part that is undone": {func(tx storage.Tx, own pgx.Tx) error {
			part, err := own.Begin(ctx)
			if err != nil {
				return err
			}
			return errors.Join(run(part, page, "y", "Y"), tx.Put(ctx, storage.Entry{Key: "a undone"}),
				tx.DeleteRange(ctx, storage.Prefix("a before")), part.Rollback(ctx), run(own, page, "x", "X"))
		}, committed + "x:X 0"},
		"a statement that failed alone": {func(_ storage.Tx, own pgx.Tx) error {
			if err := pgx.BeginFunc(ctx, own, func(part pgx.Tx) error {
				return run(part, page, "x", nil)
			}); err == nil {
				return errors.New("a page without a title is taken")
			}
			return run(own, page, "x", "X")
		}, committed + "x:X 0"},
		"a failed statement that is not undone": {func(_ storage.Tx, own pgx.Tx) error {
			_ = run(own, page, "x", nil)
			return nil
		}, "a statement of the update's SQL has failed"},
		"a failed statement, and a write of the store": {func(tx storage.Tx, own pgx.Tx) error {
			_ = run(own, page, "x", nil)
			return tx.Put(ctx, storage.Entry{Key: "a late"})
		}, "a statement of the update's SQL has failed"},
		"rows that are open": {func(_ storage.Tx, own pgx.Tx) error {
			_, err := own.Query(ctx, "SELECT generate_series(1, 9)")
			return err
		}, "has left rows open"},
		"ROLLBACK in SQL": {func(tx storage.Tx, own pgx.Tx) error {
			return errors.Join(run(own, "ROLLBACK"), tx.Put(ctx, storage.Entry{Key: "a late"}))
		}, "has ended the transaction"},
		"ROLLBACK at the end": {func(_ storage.Tx, own pgx.Tx) error { return run(own, "ROLLBACK") },
			"has ended the transaction"},
		"Commit": {func(_ storage.Tx, own pgx.Tx) error {
			return own.Commit(ctx)
		}, "the update ends the transaction"},
		"Rollback": {func(_ storage.Tx, own pgx.Tx) error {
			return own.Rollback(ctx)
		}, "the update ends the transaction"},
		"a panic with open rows": {func(_ storage.Tx, own pgx.Tx) error {
			_, _ = own.Query(ctx, "INSERT INTO page VALUES ('x', 'X') RETURNING slug")
			panic("panicked")
		}, "panicked"},
		"a connection that is lost": {func(_ storage.Tx, own pgx.Tx) error {
			if called.Add(1) == 1 {
				return run(own, "SELECT pg_terminate_backend(pg_backend_pid())")
			}
			return run(own, page, "x", "X")
		}, committed + "x:X 0"},
		"a query that takes too long": {func(_ storage.Tx, own pgx.Tx) error {
			short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
			defer cancel()
			_, err := own.Exec(short, "SELECT pg_sleep(60)")
			return err
		}, "context deadline exceeded"},
	} {
		t.Run(name, func(t *testing.T) {
			db := openTest(t, &Options{Migrate: ownTables})
			var kept, part pgx.Tx
			err := func() (err error) {
				defer func() {
					if p := recover(); p != nil {
						err = errors.New(p.(string))
					}
				}()
				return db.Update(ctx, "a", storage.UpdateOptions{}, func(tx storage.Tx) error {
					if err := tx.Put(ctx, storage.Entry{Key: "a before", Value: []byte("1")}); err != nil {
						return err
					}
					own, err := SQL(storage.Sub(tx, "a sub/"))
					if err == nil {
						kept = own
						part, err = own.Begin(ctx)
					}
					if err == nil {
						err = errors.Join(part.Commit(ctx),
							tx.Put(ctx, storage.Entry{Key: "a after", Value: []byte("1")}))
					}
					if err != nil {
						return err
					}
					return c.do(tx, own)
				})
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
			if got := content(t, db.DB); got != want {
				t.Errorf("the store has %q, want %q (%v)", got, want, err)
			}
			if err := run(kept, page, "late", "late"); err == nil {
				t.Error("the transaction is usable when its function has returned")
			}
		})
	}
	err := memory.New().Update(ctx, "a", storage.UpdateOptions{}, func(tx storage.Tx) error {
		_, err := SQL(tx)
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "*memory.tx") {
		t.Errorf("on another store: %v", err)
	}
}

// Updates of one group are committed once each. The one that asks for SQL is called again, alone.
func TestSQLTakesNothingFromAGroup(t *testing.T) {
	db := openTest(t, &Options{Migrate: ownTables})
	fns := slices.Repeat([]func(storage.Tx) error{increment}, 5)
	fns[2] = func(tx storage.Tx) error {
		if err := increment(tx); err != nil {
			return err
		}
		own, err := SQL(tx)
		if err != nil {
			return errors.New("some other error") // the driver calls again all the same
		}
		return run(own, "INSERT INTO page VALUES ('p', 'P')")
	}
	for _, err := range together(t, db, fns...) {
		if err != nil {
			t.Error(err)
		}
	}
	want := "log/000= log/001= log/002= log/003= log/004= n=5 p:P 0"
	if got := content(t, db.DB); got != want {
		t.Errorf("the store has %q, want %q", got, want)
	}
}

// The SQL of a program with a pool finds its tables by the search path of the pool, and is planned as the pool's.
func TestSQLHasTheSettingsOfTheProgram(t *testing.T) {
	config, err := pgxpool.ParseConfig(cluster.Schema(t))
	if err != nil {
		t.Fatal(err)
	}
	config.AfterConnect = func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, "SET application_name = 'mine'")
		return err
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	db, err := New(ctx, pool, &Options{Schema: t.Name(), Migrate: ownTables})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	defer pool.Exec(ctx, "DROP SCHEMA "+pgx.Identifier{t.Name()}.Sanitize()+" CASCADE")
	got := []string{}
	err = db.Update(ctx, "a", storage.UpdateOptions{}, func(tx storage.Tx) error {
		own, err := SQL(tx)
		if err != nil {
			return err
		}
		rows, err := own.Query(ctx, `SELECT current_setting(name) FROM unnest(ARRAY['enable_seqscan', 'plan_cache_mode',
			'application_name', 'synchronous_commit']) AS s (name)`)
		if err == nil {
			got, err = pgx.CollectRows(rows, pgx.RowTo[string])
		}
		return errors.Join(err, run(own, "INSERT INTO page VALUES ('x', 'X')"),
			tx.Put(ctx, storage.Entry{Key: "a 1"}))
	})
	if want := []string{"on", "auto", "mine", "on"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("the settings are %q, want %q (%v)", got, want, err)
	}
	var title string
	if err := pool.QueryRow(ctx, "SELECT title FROM page").Scan(&title); err != nil || title != "X" {
		t.Errorf("the pool reads %q, %v", title, err)
	}
	if got := content(t, db); got != "1= x:X 0" {
		t.Errorf("the store has %q", got)
	}
}

func TestMigrateLeavesTheStoreAlone(t *testing.T) {
	for _, query := range []string{
		"CREATE TABLE vitrine_mine (x int)", "DROP TABLE vitrine_space", "ALTER TABLE vitrine_record ADD COLUMN x int",
		"CREATE INDEX mine ON vitrine_record (value)", "INSERT INTO job (page) VALUES ('none')",
		"CREATE TABLE mine (key bytea REFERENCES vitrine_record)",
	} {
		address := cluster.Schema(t)
		migrate := func(ctx context.Context, tx pgx.Tx) error {
			return errors.Join(ownTables(ctx, tx), run(tx, query))
		}
		if db, err := Open(ctx, address, &Options{Migrate: migrate}); err == nil {
			db.Close()
			t.Errorf("%s is taken", query)
		}
		if names, err := openAt(t, address, &Options{Existing: true}).OwnTables(ctx); err != nil || len(names) > 0 {
			t.Errorf("after %s there are %q, %v", query, names, err)
		}
	}
	db := openTest(t, &Options{Migrate: ownTables})
	if names, err := db.OwnTables(ctx); err != nil || !slices.Equal(names, []string{"job", "page"}) {
		t.Errorf("OwnTables returns %q, %v", names, err)
	}
}

// Two updates whose SQL locks each other's rows are both done in the end.
func TestSQLInADeadlock(t *testing.T) {
	db := openTest(t, &Options{Migrate: ownTables})
	err := db.Update(ctx, "c", storage.UpdateOptions{}, func(tx storage.Tx) error {
		own, err := SQL(tx)
		if err != nil {
			return err
		}
		return run(own, "INSERT INTO page VALUES ('x', ''), ('y', '')")
	})
	if err != nil {
		t.Fatal(err)
	}
	both := make(chan struct{}, 2)
	errs := make(chan error)
	for space, slugs := range map[string][]string{"a": {"x", "y"}, "b": {"y", "x"}} {
		go func() {
			first := true
			errs <- db.Update(ctx, space, storage.UpdateOptions{}, func(tx storage.Tx) error {
				own, err := SQL(tx)
				for i, slug := range slugs {
					if err == nil {
						err = run(own, "UPDATE page SET title = title || $1 WHERE slug = $2", space, slug)
					}
					if i == 0 && first { // until both have a lock
						first = false
						both <- struct{}{}
						for len(both) < 2 {
							time.Sleep(time.Millisecond)
						}
					}
				}
				if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code != "40P01" {
					t.Error(err)
				}
				return err
			})
		}()
	}
	for range 2 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if got := content(t, db.DB); got != " x:ab y:ab 0" && got != "x:ab y:ab 0" && got != "x:ba y:ba 0" {
		t.Errorf("the store has %q", got)
	}
}
