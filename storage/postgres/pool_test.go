//go:build proof

package postgres

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/cluster"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/storetest"
)

// counted is a tracer that counts queries.
type counted struct{ n atomic.Int64 }

func (c *counted) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	c.n.Add(1)
	return ctx
}
func (c *counted) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// ownPool is a pool of the program, in a schema with a table of its own.
func ownPool(t testing.TB, address string, tracer pgx.QueryTracer) *pgxpool.Pool {
	t.Helper()
	config, err := pgxpool.ParseConfig(address)
	if err != nil {
		t.Fatal(err)
	}
	config.ConnConfig.Tracer = tracer
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err == nil {
		_, err = pool.Exec(ctx, "CREATE TABLE IF NOT EXISTS orders (id int)")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

func openIn(t testing.TB, pool *pgxpool.Pool, schema string) storage.Store {
	t.Helper()
	db, err := New(ctx, pool, &Options{Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return opened{db, schema}
}

func TestStoreInAPoolOfTheProgram(t *testing.T) {
	pool := ownPool(t, cluster.Schema(t), nil)
	n := 0
	storetest.Run(t, storetest.Driver{
		Open: func(t testing.TB) storage.Store {
			n++
			schema := "own_" + time.Now().Format("150405") + string(rune('a'+n%26)) + string(rune('a'+n/26))
			t.Cleanup(func() { _, _ = pool.Exec(ctx, "DROP SCHEMA "+schema+" CASCADE") })
			return openIn(t, pool, schema)
		},
		Again: func(t testing.TB, closed storage.Store) storage.Store {
			return openIn(t, pool, closed.(opened).address)
		},
		Beside: func(t testing.TB, open storage.Store) storage.Store { return openIn(t, pool, open.(opened).address) },
	})
}

// The program's tracer sees the queries, its tables and the settings of its connections stay as they are, and a
// transaction that it leaves open stops no feed.
func TestAnAbsentSchemaIsAnAbsentStore(t *testing.T) {
	pool := ownPool(t, cluster.Schema(t), nil)
	if _, err := New(ctx, pool, &Options{Schema: "own_absent", Existing: true}); !errors.Is(err, ErrAbsent) {
		t.Errorf("New in an absent schema: %v, want ErrAbsent", err)
	}
	var there bool
	if err := pool.QueryRow(ctx,
		"SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = 'own_absent')").Scan(&there); err != nil || there {
		t.Errorf("the schema is there: %t, %v", there, err)
	}
}

func TestAPoolOfTheProgram(t *testing.T) {
	tracer := new(counted)
	pool := ownPool(t, cluster.Schema(t), tracer)
	t.Cleanup(func() { _, _ = pool.Exec(ctx, "DROP SCHEMA own_feed CASCADE") })
	db := openIn(t, pool, "own_feed")
	long, err := pool.Begin(ctx)
	if err == nil {
		_, err = long.Exec(ctx, "INSERT INTO orders VALUES (1)")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer long.Rollback(ctx)
	apps := appsvc.New(db, nil)
	by := vitrine.Caller{URN: "urn:vitrine:example.test:user=me", Moderates: []string{"urn:vitrine:example.test"}}
	follow, stop := context.WithTimeout(ctx, 10*time.Second)
	defer stop()
	before := tracer.n.Load()
	for i := range 3 {
		if _, err := apps.As(by).CreateApp(ctx, appsvc.CreateAppRequest{Title: "x", Groups: by.Moderates}); err != nil {
			t.Fatal(i, err)
		}
	}
	n := 0
	for _, err := range apps.As(by).Follow(follow, appsvc.ChangesRequest{}) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n == 3 {
			break
		}
	}
	if tracer.n.Load() == before {
		t.Error("the tracer of the pool saw no query")
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	var path, seqscan string
	if err := pool.QueryRow(ctx, "SELECT current_setting('search_path'), current_setting('enable_seqscan')").Scan(&path,
		&seqscan); err != nil || seqscan != "on" {
		t.Errorf("after Close: search_path %s, enable_seqscan %s, %v", path, seqscan, err)
	}
}
