//go:build proof

package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/internal/cluster"
)

var ctx = context.Background()

// openTest opens a store in a schema of its own.
func openTest(tb testing.TB, o *Options) *DB {
	tb.Helper()
	return openAt(tb, cluster.Schema(tb), o)
}

func openAt(tb testing.TB, address string, o *Options) *DB {
	tb.Helper()
	db, err := Open(ctx, address, o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { db.Close() })
	return db
}

// script runs SQL in the store's database.
func (db *DB) script(tb testing.TB, sql string) {
	tb.Helper()
	if _, err := db.pool.Exec(ctx, sql); err != nil {
		tb.Fatal(err)
	}
}

func TestParallelOpensOfOneEmptyDatabase(t *testing.T) {
	address := cluster.Database(t)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			db, err := Open(ctx, address, nil)
			if err != nil {
				t.Error(err)
				return
			}
			if err := db.Ping(ctx); err != nil {
				t.Error(err)
			}
			db.Close()
		})
	}
	group.Wait()
	steps, err := migrations()
	if err != nil {
		t.Fatal(err)
	}
	db := openAt(t, address, nil)
	if r := db.pool.QueryRow(ctx, "SELECT count(*) = $1 AND max(number) = $2 FROM vitrine_schema", len(steps), steps[len(steps)-1].Number); r != nil {
		var each bool
		if err := r.Scan(&each); err != nil || !each {
			t.Errorf("each step is taken once: %t, %v", each, err)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	for name, c := range map[string]struct{ before, search, want string }{
		"a database of somebody else":        {"CREATE TABLE theirs (n int)", "", `"theirs"`},
		"a store of a newer release":         {"CREATE TABLE vitrine_schema (number int8, name text); INSERT INTO vitrine_schema VALUES (9999, 'later')", "", "newer"},
		"another's table by the same name":   {"CREATE TABLE vitrine_schema (n int)", "", "number"},
		"a schema that is not there":         {"", "&search_path=nowhere", "search_path"},
		"a database that is not there":       {"", "&dbname=nowhere", "nowhere"},
		"an address that is none":            {"", "&pool_max_conns=x", "pool_max_conns"},
		"a setting that the server does not": {"", "&no_such_setting=1", "no_such_setting"},
	} {
		t.Run(name, func(t *testing.T) {
			address := cluster.Database(t)
			db, err := Open(ctx, address+"&search_path=first", nil)
			if err == nil {
				db.Close()
				t.Fatal("opened in a schema that is not there")
			}
			plain, err := Open(ctx, address, nil) // to run the script with
			if err != nil {
				t.Fatal(err)
			}
			plain.script(t, "DROP SCHEMA public CASCADE; CREATE SCHEMA public; "+c.before)
			tables := plain.tables(t)
			plain.Close()
			db, err = Open(ctx, address+c.search, nil)
			if err == nil {
				db.Close()
				t.Fatal("it was opened")
			}
			if !strings.HasPrefix(err.Error(), "postgres: ") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error does not say %q: %v", c.want, err)
			}
			if c.before != "" {
				pool := openPool(t, address)
				if left := (&DB{pool: pool}).tables(t); left != tables {
					t.Errorf("tables before: %s; after: %s", tables, left)
				}
			}
		})
	}
}

func TestStoresInTwoSchemasOfOneDatabase(t *testing.T) {
	address := cluster.Database(t)
	pool := openPool(t, address)
	if _, err := pool.Exec(ctx, "CREATE SCHEMA one; CREATE SCHEMA two; CREATE TABLE public.theirs (n int)"); err != nil {
		t.Fatal(err)
	}
	one, two := openAt(t, address+"&search_path=one", nil), openAt(t, address+"&search_path=two", nil)
	one.script(t, "INSERT INTO tag VALUES ('app', 'tag', 1)")
	err := two.view(ctx, func(c *conn) error {
		r := c.query(ctx, "SELECT count(*) FROM tag")
		if r.next() && r.int(0) != 0 {
			return fmt.Errorf("%d tags", r.int(0))
		}
		return r.err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestUpdateCommitsAllOrNothing(t *testing.T) {
	db := openTest(t, nil)
	db.script(t, "CREATE TABLE n (n int8 PRIMARY KEY)")
	insert := func(n int) func(c *conn) error {
		return func(c *conn) error {
			c.later("INSERT INTO n VALUES ($1)", n)
			_, err := c.exec(ctx, "INSERT INTO n VALUES ($1)", n+1)
			return err
		}
	}
	own := errors.New("own")
	for name, test := range map[string]struct {
		fn    func(c *conn) error
		want  error
		panic bool
	}{
		"an error of fn":            {fn: func(c *conn) error { return errors.Join(insert(10)(c), own) }, want: own},
		"a statement's error":       {fn: func(c *conn) error { return errors.Join(insert(20)(c), insert(20)(c)) }},
		"one that fn keeps silent":  {fn: func(c *conn) error { insert(30)(c); insert(30)(c); return nil }},
		"an error only at commit":   {fn: func(c *conn) error { insert(40)(c); c.later("INSERT INTO n VALUES (40)"); return nil }},
		"a panic":                   {fn: func(c *conn) error { insert(50)(c); panic(own) }, panic: true},
		"a statement that is wrong": {fn: func(c *conn) error { insert(60)(c); c.later("NONSENSE"); return nil }},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if got := recover(); (got != nil) != test.panic {
					t.Errorf("panic %v", got)
				}
				if got := db.numbers(t); got != "" {
					t.Errorf("kept: %s", got)
				}
			}()
			if err := db.update(ctx, test.fn); err == nil || test.want != nil && !errors.Is(err, test.want) {
				t.Errorf("error %v, want %v", err, test.want)
			}
		})
	}
	if err := db.update(ctx, insert(1)); err != nil || db.numbers(t) != "1,2" {
		t.Errorf("%v; kept: %s", err, db.numbers(t))
	}
	if err := db.update(ctx, func(c *conn) error { c.later("INSERT INTO n VALUES (3)"); return nil }); err != nil || db.numbers(t) != "1,2,3" {
		t.Errorf("what waits for the commit: %v; kept: %s", err, db.numbers(t))
	}
}

func TestViewIsOneSnapshotAndWritesNothing(t *testing.T) {
	db := openTest(t, nil)
	db.script(t, "CREATE TABLE n (n int8 PRIMARY KEY)")
	for name, view := range map[string]func(context.Context, func(*conn) error) error{"view": db.view, "viewOnce": db.viewOnce} {
		count := func(c *conn) (n int64) {
			r := c.query(ctx, "SELECT count(*) FROM n")
			r.next()
			return r.int(0)
		}
		err := view(ctx, func(c *conn) error {
			before := count(c)
			db.script(t, "INSERT INTO n SELECT coalesce(max(n), 0) + 1 FROM n")
			if after := count(c); after != before {
				return fmt.Errorf("%d rows, then %d", before, after)
			}
			return nil
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		err = view(ctx, func(c *conn) error { _, err := c.exec(ctx, "INSERT INTO n VALUES (99)"); return err })
		if code(err) != "25006" {
			t.Errorf("%s: a write ended with %v", name, err)
		}
		err = view(ctx, func(c *conn) error { return errClosed })
		if err != errClosed {
			t.Errorf("%s: fn's error came out as %v", name, err)
		}
	}
}

// A walk yields all of the rows that were there when it began, whatever is read and written between.
func TestWalk(t *testing.T) {
	db := openTest(t, nil)
	db.script(t, "CREATE TABLE n (n int8 PRIMARY KEY); INSERT INTO n SELECT generate_series(1, 20)")
	for _, portion := range []int{1, 7, 10, 20, 100} {
		err := db.update(ctx, func(c *conn) error {
			outer := c.walk(ctx, portion, "SELECT n FROM n WHERE n <= $1 ORDER BY n", 20)
			defer outer.close()
			want := int64(1)
			for ; outer.next(); want++ {
				if outer.int(0) != want {
					return fmt.Errorf("row %d, want %d", outer.int(0), want)
				}
				inner := c.walk(ctx, portion, "SELECT n FROM n WHERE n < $1 ORDER BY n", want)
				inner.next()
				inner.close()
				if inner.err != nil {
					return inner.err
				}
				if _, err := c.exec(ctx, "DELETE FROM n WHERE n = $1", 20+want); err != nil {
					return err
				}
				c.later("INSERT INTO n VALUES ($1)", 20+want)
			}
			if outer.err == nil && want != 21 {
				return fmt.Errorf("portion %d: %d rows", portion, want-1)
			}
			return outer.err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// Updates that lock the same two rows in turn run again until both are kept.
func TestUpdatesRunAgainAfterADeadlock(t *testing.T) {
	db := openTest(t, nil)
	db.script(t, "CREATE TABLE n (n int8 PRIMARY KEY, v int8); INSERT INTO n VALUES (1, 0), (2, 0)")
	met := make(chan bool, 2)
	var runs atomic.Int64
	var group sync.WaitGroup
	for _, order := range [][2]int{{1, 2}, {2, 1}} {
		group.Go(func() {
			first := true
			err := db.update(ctx, func(c *conn) error {
				runs.Add(1)
				_, err := c.exec(ctx, "UPDATE n SET v = v + 1 WHERE n = $1", order[0])
				if first {
					met <- true
					for len(met) < 2 {
						time.Sleep(time.Millisecond)
					}
				}
				first = false
				if err == nil {
					_, err = c.exec(ctx, "UPDATE n SET v = v + 1 WHERE n = $1", order[1])
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if runs.Load() < 3 {
		t.Errorf("%d runs: there was no deadlock to test with", runs.Load())
	}
	if r := db.pool.QueryRow(ctx, "SELECT min(v) = 2 AND max(v) = 2 FROM n"); r != nil {
		var both bool
		if err := r.Scan(&both); err != nil || !both {
			t.Errorf("both updates are kept once: %t, %v", both, err)
		}
	}
}

func TestALockTimeoutIsErrBusy(t *testing.T) {
	db := openTest(t, &Options{Busy: time.Minute})
	own := sentinels{busy: errors.New("busy"), full: errors.New("full"), unknown: errors.New("unknown")}
	err := db.update(ctx, func(c *conn) error {
		c.claim("thing", "key")
		if err := c.query(ctx, "SELECT 1").err; err != nil {
			return err
		}
		db.busy = 50 * time.Millisecond
		inner := db.update(ctx, func(c *conn) error {
			c.claim("thing", "key")
			return c.query(ctx, "SELECT 1").err
		})
		if err := own.wrap(inner); !errors.Is(err, own.busy) {
			t.Errorf("error %v", err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestNoFreeConnectionIsErrBusy(t *testing.T) {
	db := openTest(t, &Options{Busy: time.Minute, Connections: 1})
	err := db.view(ctx, func(c *conn) error {
		if err := c.query(ctx, "SELECT 1").err; err != nil {
			return err
		}
		db.busy = 50 * time.Millisecond
		return db.Ping(ctx)
	})
	if !isBusy(err) {
		t.Errorf("error %v", err)
	}
}

func TestClosedStoreRefuses(t *testing.T) {
	db := openTest(t, nil)
	for range 2 {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := db.Ping(ctx); err != errClosed {
		t.Errorf("Ping: %v", err)
	}
	if err := db.update(ctx, func(*conn) error { return nil }); err != errClosed {
		t.Errorf("update: %v", err)
	}
}

func TestAWeakSynchronousCommitIsOverruled(t *testing.T) {
	for set, want := range map[string]string{"off": "on", "local": "on", "remote_write": "on", "remote_apply": "remote_apply", "on": "on"} {
		address := cluster.Database(t)
		pool := openPool(t, address)
		name := pool.Config().ConnConfig.Database
		if _, err := pool.Exec(ctx, "ALTER DATABASE "+name+" SET synchronous_commit = "+set); err != nil {
			t.Fatal(err)
		}
		var got string
		if err := openAt(t, address, nil).pool.QueryRow(ctx, "SHOW synchronous_commit").Scan(&got); err != nil || got != want {
			t.Errorf("%s became %s, want %s; %v", set, got, want, err)
		}
	}
}
