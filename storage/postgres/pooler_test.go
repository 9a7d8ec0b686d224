//go:build proof

package postgres

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/internal/cluster"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/storagetest"
)

// pooled returns what an address of the shared cluster becomes behind PgBouncer.
func pooled(t *testing.T) func(address string) string {
	t.Helper()
	c := cluster.Shared(t)
	dir := c.Pooler(t)
	return func(address string) string {
		return strings.Replace(address, c.URL("postgres"), c.URLBy(dir, "postgres"), 1)
	}
}

// All rules of the three domains hold behind a pooler, also in a schema that the address names.
func TestBehindAPooler(t *testing.T) {
	if testing.Short() {
		t.Skip("the same rules once more")
	}
	t.Parallel()
	behind := pooled(t)
	open := func(t *testing.T) *DB {
		// The pooler has eight connections for all of these tests: on a busy machine they wait for more than five seconds.
		db := openAt(t, behind(cluster.Schema(t)), &Options{Busy: 2 * time.Minute})
		if !db.pooled {
			t.Error("the pooler was not noticed")
		}
		return db
	}
	t.Run("apps", func(t *testing.T) {
		storagetest.Apps(t, func(t *testing.T) appsvc.Store { return open(t).Apps() })
	})
	t.Run("assets", func(t *testing.T) {
		storagetest.Assets(t, func(t *testing.T) assets.Store { return open(t).Assets() })
	})
	t.Run("reviews", func(t *testing.T) {
		storagetest.Reviews(t, func(t *testing.T) reviews.Store { return open(t).Reviews() })
	})
}

func TestBuildBehindAPooler(t *testing.T) {
	address := pooled(t)(cluster.Schema(t))
	err := Build(ctx, address, nil, func(db *DB) error {
		if err := Build(ctx, address, nil, func(*DB) error { return nil }); !errors.Is(err, errTaken) {
			t.Errorf("a second builder: %v", err)
		}
		return putTag(db, 1)
	})
	if err != nil {
		t.Fatal(err)
	}
	db := openAt(t, address, &Options{Existing: true})
	err = db.view(ctx, func(c *conn) error {
		if r := c.query(ctx, "SELECT version FROM tag"); !r.next() || r.int(0) != 1 {
			t.Errorf("what fill has written is not there: %v", r.err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// Behind a pooler each transaction has the settings of the store, and none of them stays on the
// connection, which another client gets next.
func TestSettingsBehindAPoolerAreThoseOfTheTransaction(t *testing.T) {
	address := pooled(t)(cluster.Schema(t))
	db := openAt(t, address, nil)
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			for name, in := range map[string]func(func(*conn) error) error{
				"view":   func(fn func(*conn) error) error { return db.view(ctx, fn) },
				"update": func(fn func(*conn) error) error { return db.update(ctx, fn) },
			} {
				if err := in(func(c *conn) error { checkSettings(t, c, name); return nil }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	for range 16 {
		var lock, idle string
		if err := db.pool.QueryRow(ctx, "SELECT current_setting('lock_timeout'), current_setting('idle_in_transaction_session_timeout')").Scan(&lock, &idle); err != nil || lock != "0" || idle != "0" {
			t.Errorf("a connection kept lock_timeout %s and idle_in_transaction_session_timeout %s: %v", lock, idle, err)
		}
	}
}

func checkSettings(t *testing.T, c *conn, in string) {
	want := map[string]string{"lock_timeout": "5s", "synchronous_commit": "on", "idle_in_transaction_session_timeout": "1h"}
	if in == "update" {
		want["idle_in_transaction_session_timeout"] = "1min"
	}
	for name, want := range want {
		r := c.query(ctx, "SELECT current_setting(convert_from($1, 'UTF8'))::bytea", name)
		if !r.next() || r.text(0) != want {
			t.Errorf("%s: %s, want %s; %v", in, name, want, r.err)
		}
	}
}

func TestTheSettingsOfADirectConnection(t *testing.T) {
	db := openTest(t, nil)
	if err := db.view(ctx, func(c *conn) error { checkSettings(t, c, "view"); return nil }); err != nil {
		t.Error(err)
	}
	if err := db.update(ctx, func(c *conn) error { checkSettings(t, c, "update"); return nil }); err != nil {
		t.Error(err)
	}
}
