//go:build proof

package bench

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/cluster"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/postgres"
	"github.com/vitrine-go/vitrine/storage/sqlite"
)

// The engines side by side, each with commits that wait for the disk:
//
//	go test -tags proof ./storage/internal/bench -run '^$' -bench . -benchtime 2s

var (
	ctx = context.Background()
	me  = vitrine.Caller{URN: "urn:vitrine:example.test:user=me", Moderates: []string{"urn:vitrine:example.test"},
		Components: true}
)

// engine is a store with a way to know its size.
type engine struct {
	name  string
	store storage.Store
	size  func() int64 // bytes, after tidying up
}

// both opens both engines anew; the pool is another way to the second.
func both(b *testing.B) (*sqlite.DB, *postgres.DB, *pgxpool.Pool) {
	lite, err := sqlite.Open(filepath.Join(b.TempDir(), "vitrine.db"), nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { lite.Close() })
	address := durable(b).URL("postgres")
	post, err := postgres.Open(ctx, address, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { post.Close() })
	return lite, post, open(b, address)
}

// engines are both engines.
func engines(b *testing.B) []engine {
	lite, post, pool := both(b)
	return []engine{
		{"SQLite", lite, func() int64 {
			copied := filepath.Join(b.TempDir(), "copy.db")
			if err := lite.Backup(ctx, copied); err != nil {
				b.Fatal(err)
			}
			info, err := os.Stat(copied)
			if err != nil {
				b.Fatal(err)
			}
			return info.Size()
		}},
		{"PostgreSQL", post, func() (n int64) {
			if _, err := pool.Exec(ctx, "VACUUM FULL"); err != nil {
				b.Fatal(err)
			}
			const sum = "SELECT sum(pg_total_relation_size(oid))::int8 FROM pg_class WHERE relnamespace = " +
				"current_schema()::regnamespace AND relkind = 'r'"
			if err := pool.QueryRow(ctx, sum).Scan(&n); err != nil {
				b.Fatal(err)
			}
			return n
		}},
	}
}

// durable is a cluster whose commits wait for the disk, for all benchmarks of the process.
func durable(b *testing.B) *cluster.Cluster {
	return cluster.New(b, &cluster.Options{Fsync: true})
}

func open(b *testing.B, address string) *pgxpool.Pool {
	pool, err := pgxpool.New(ctx, address)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(pool.Close)
	return pool
}

// fill makes n apps of about size bytes and returns their ids.
func fill(b *testing.B, s *appsvc.Service, n, size int) []string {
	_, err := s.As(me).CreateComponent(ctx, appsvc.CreateComponentRequest{
		Manifest: strings.NewReader(`{"name":"card","version":"1.0.0","main":"https://example.test/card.js",` +
			`"configSchema":{"type":"object"}}`)})
	if err != nil {
		b.Fatal(err)
	}
	var ids []string
	for range n {
		in := appsvc.CreateAppRequest{Title: "t", Groups: []string{"urn:vitrine:example.test:site=1"}}
		for range size / 210 {
			in.Elements = append(in.Elements, appsvc.NewElement{
				Component: appsvc.ComponentRef{Name: "card", Version: "1.0.0"},
				Config:    fmt.Appendf(nil, `{"title":"%016x","color":"#%06x"}`, rand.Uint64(), rand.IntN(1<<24)),
			})
		}
		app, err := s.As(me).CreateApp(ctx, in)
		if err != nil {
			b.Fatal(err)
		}
		ids = append(ids, app.ID)
	}
	return ids
}

func BenchmarkRead(b *testing.B) {
	for _, e := range engines(b) {
		s := appsvc.New(e.store, nil)
		ids := fill(b, s, 100, 5<<10)
		app, err := s.As(me).App(ctx, ids[0])
		if err != nil {
			b.Fatal(err)
		}
		for _, n := range []int{1, 32} {
			b.Run(fmt.Sprintf("%s/latest/%d", e.name, n), func(b *testing.B) {
				b.ReportMetric(float64(len(app.Body)), "B/app")
				spread(b, n, func(i, k int) error {
					_, err := s.As(me).App(ctx, ids[(i+k)%len(ids)])
					return err
				})
			})
		}
	}
	pool := open(b, durable(b).URL("postgres"))
	raw(b, pool)
	for _, n := range []int{1, 32} {
		b.Run(fmt.Sprintf("PostgreSQL/raw/%d", n), func(b *testing.B) {
			spread(b, n, func(i, k int) error {
				var body []byte
				return pool.QueryRow(ctx, "SELECT body FROM raw WHERE id = $1", fmt.Sprint((i+k)%100)).Scan(&body)
			})
		})
	}
}

// raw makes the plainest table of documents, with a hundred of 5 KB.
func raw(b *testing.B, pool *pgxpool.Pool) []byte {
	body := make([]byte, 5<<10)
	for i := range body {
		body[i] = byte(rand.Uint32())
	}
	_, err := pool.Exec(ctx, "CREATE TABLE raw (id text PRIMARY KEY, body bytea)")
	if err == nil {
		_, err = pool.Exec(ctx, "INSERT INTO raw SELECT n::text, $1 FROM generate_series(0, 99) n", body)
	}
	if err != nil {
		b.Fatal(err)
	}
	return body
}

func BenchmarkPatch(b *testing.B) {
	for _, e := range engines(b) {
		s := appsvc.New(e.store, nil)
		ids := fill(b, s, 32, 5<<10)
		versions := make([]int, len(ids))
		for _, n := range []int{1, 32} {
			b.Run(fmt.Sprintf("%s/%d", e.name, n), func(b *testing.B) {
				spread(b, n, func(i, k int) error {
					_, err := s.As(me).Patch(ctx, ids[i], bytes.NewReader(patch(versions[i])))
					versions[i]++
					return err
				})
			})
		}
	}
	pool := open(b, durable(b).URL("postgres"))
	body := raw(b, pool)
	var id atomic.Int64
	for _, n := range []int{1, 32} {
		b.Run(fmt.Sprintf("PostgreSQL/raw insert/%d", n), func(b *testing.B) {
			spread(b, n, func(i, k int) error {
				_, err := pool.Exec(ctx, "INSERT INTO raw VALUES ($1, $2)", fmt.Sprint("n", id.Add(1)), body)
				return err
			})
		})
		b.Run(fmt.Sprintf("PostgreSQL/raw update/%d", n), func(b *testing.B) {
			spread(b, n, func(i, k int) error {
				_, err := pool.Exec(ctx, "UPDATE raw SET body = $2 WHERE id = $1", fmt.Sprint(i), body)
				return err
			})
		})
	}
}

// patch changes one field of an app's first element.
func patch(version int) []byte {
	return fmt.Appendf(nil,
		`[{"op":"test","path":"/apps/0/version","value":"%d"},{"op":"replace",`+
			`"path":"/apps/0/elements/3/config/title","value":"%08x"}]`,
		version, rand.Uint32())
}

// BenchmarkGrowth saves one field of an app again and again, and then reads old versions.
func BenchmarkGrowth(b *testing.B) {
	const saves = 10_000
	for _, size := range []int{5 << 10, 50 << 10} {
		for _, e := range engines(b) {
			s := appsvc.New(e.store, nil)
			id := fill(b, s, 1, size)[0]
			app, err := s.As(me).App(ctx, id)
			if err != nil {
				b.Fatal(err)
			}
			before := e.size()
			appendVersions(b, e.store, app, saves)
			grown := e.size() - before
			b.Run(fmt.Sprintf("%s/%dKB/old read", e.name, size>>10), func(b *testing.B) {
				for b.Loop() {
					if _, err := s.As(me).Version(ctx, id, vitrine.NewVersion(rand.IntN(saves))); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(grown)/saves, "B/version")
			})
		}
	}
}

// appendVersions patches an app every two seconds of a clock of its own. The feed of changes stays short, so that what
// the store grows by is the history.
func appendVersions(b *testing.B, s storage.Store, app appsvc.App, saves int) {
	now := time.UnixMilli(app.UpdatedAt)
	clock := func() time.Time { return now }
	patching := appsvc.New(s, &appsvc.Options{Now: clock, KeepChanges: time.Second})
	for n := range saves {
		now = now.Add(2 * time.Second)
		if _, err := patching.As(me).Patch(ctx, app.ID, bytes.NewReader(patch(n))); err != nil {
			b.Fatal(err)
		}
	}
}

// spread has n goroutines do b.N things; each counts its own from 0.
func spread(b *testing.B, n int, do func(i, k int) error) {
	var left atomic.Int64
	left.Store(int64(b.N))
	done := make(chan error, n)
	b.ResetTimer()
	for i := range n {
		go func() {
			var err error
			for k := 0; err == nil && left.Add(-1) >= 0; k++ {
				err = do(i, k)
			}
			done <- err
		}()
	}
	for range n {
		if err := <-done; err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "ops/s")
}
