package sqlite

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

	"github.com/vitrine-go/vitrine/appsvc"
)

// benchApp is an app of about size bytes.
func benchApp(id string, v, size int) (appsvc.Head, appsvc.Body) {
	h := appsvc.Head{
		Meta: appsvc.Meta{
			ID: id, Version: appsvc.NewVersion(v), Owner: "urn:vitrine:example.test:user=owner",
			CreatedAt: 1_700_000_000_000, UpdatedAt: 1_700_000_000_000 + 2000*int64(v), UpdatedBy: "urn:vitrine:example.test:user=editor",
		},
		Groups:     []string{"urn:vitrine:example.test:site=1"},
		Components: []string{"card"},
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var body strings.Builder
	body.WriteString(`{"title":"t","owner":{"urn":"urn:vitrine:example.test:user=owner"},"groups":["urn:vitrine:example.test:site=1"],"elements":[`)
	for i := 0; body.Len() < size-200; i++ {
		if i > 0 {
			body.WriteByte(',')
		}
		fmt.Fprintf(&body, `{"id":"%d","component":{"name":"card","version":"1.0.%d"},"config":{"title":"%x","color":"#%06x","width":%d}}`,
			i, i%7, rng.Uint64(), rng.IntN(1<<24), rng.IntN(4000))
	}
	fmt.Fprintf(&body, `,{"id":"last","component":{"name":"card","version":"1.0.0"},"config":{"text":"%x"}}]}`, rng.Uint64())
	return h, appsvc.Body(body.String())
}

// autosave changes one field of a body: eight hexadecimal digits in its middle.
func autosave(body appsvc.Body, v int) appsvc.Body {
	next := bytes.Clone(body)
	at := bytes.Index(next[len(next)/2:], []byte(`"title":"`)) + len(next)/2 + len(`"title":"`)
	copy(next[at:], fmt.Sprintf("%08x", rand.New(rand.NewPCG(uint64(v), 7)).Uint32()))
	return next
}

func addApp(tb testing.TB, s appsvc.Store, h appsvc.Head, body appsvc.Body) {
	tb.Helper()
	ctx := context.Background()
	if err := s.Update(ctx, func(t appsvc.Tx) error { return t.AddVersion(ctx, h, body) }); err != nil {
		tb.Fatal(err)
	}
}

func BenchmarkLatest(b *testing.B) {
	ctx := context.Background()
	look := func(r appsvc.Reader) error {
		_, err := r.Head(ctx, "app-77")
		if err == nil {
			_, err = r.App(ctx, "app-77", appsvc.Latest)
		}
		return err
	}
	for _, mode := range []struct {
		name  string
		cache int
	}{{"cached", 0}, {"uncached", -1}} {
		db := openTest(b, &Options{Cache: mode.cache})
		s := db.Apps()
		for i := range 1000 {
			h, body := benchApp(fmt.Sprintf("app-%d", i), 0, 5<<10)
			addApp(b, s, h, body)
		}
		b.Run(mode.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := s.View(ctx, look); err != nil {
					b.Fatal(err)
				}
			}
		})
		if mode.cache == 0 {
			b.Run("cached parallel", func(b *testing.B) {
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						s.View(ctx, look)
					}
				})
			})
			continue
		}
		b.Run("raw", func(b *testing.B) {
			b.ReportAllocs()
			c, err := db.readers.get(ctx)
			if err != nil {
				b.Fatal(err)
			}
			defer db.readers.put(c, true)
			for b.Loop() {
				r := c.query("SELECT version, body FROM app WHERE id = $1", "app-77")
				r.next()
				r.close()
			}
		})
	}
}

// BenchmarkAppend compares appending a version with writing the same rows in the plainest way: one
// transaction for each, or, at 32 writers, one for all that wait.
func BenchmarkAppend(b *testing.B) {
	const writers = 32
	ctx := context.Background()
	for _, n := range []int{1, writers} {
		b.Run(fmt.Sprintf("store/%d", n), func(b *testing.B) {
			db := openAt(b, filepath.Join(b.TempDir(), "vitrine.db"), nil)
			s := db.Apps()
			bodies := make([]appsvc.Body, n)
			for i := range n {
				h, body := benchApp(fmt.Sprintf("app-%d", i), 0, 5<<10)
				bodies[i] = body
				addApp(b, s, h, body)
			}
			before := db.watch.now()
			defer func() {
				after := db.watch.now()
				b.ReportMetric(float64(b.N)/float64(after.commits()-before.commits()), "writes/commit")
			}()
			spread(b, n, func(i, k int) error {
				h, _ := benchApp(fmt.Sprintf("app-%d", i), k+1, 0)
				return s.Update(ctx, func(t appsvc.Tx) error {
					if _, err := t.Head(ctx, h.ID); err != nil {
						return err
					}
					return t.AddVersion(ctx, h, autosave(bodies[i], k+1))
				})
			})
		})
		b.Run(fmt.Sprintf("raw/%d", n), func(b *testing.B) {
			db := openAt(b, filepath.Join(b.TempDir(), "vitrine.db"), nil)
			_, body := benchApp("x", 0, 5<<10)
			c := db.writer.c
			if err := c.script("CREATE TABLE raw (key INTEGER PRIMARY KEY, body BLOB)"); err != nil {
				b.Fatal(err)
			}
			b.ResetTimer()
			for i := 0; i < b.N; {
				c.exec("BEGIN IMMEDIATE")
				for range min(n, b.N-i) {
					if _, err := c.insert("INSERT INTO raw (body) VALUES ($1)", []byte(body)); err != nil {
						b.Fatal(err)
					}
					i++
				}
				if _, err := c.exec("COMMIT"); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "writes/s")
		})
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
			for k := 0; left.Add(-1) >= 0; k++ {
				if err := do(i, k); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	for range n {
		if err := <-done; err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "writes/s")
}

// BenchmarkGrowth reports how much the file grows with a version, and what an old one costs.
func BenchmarkGrowth(b *testing.B) {
	ctx := context.Background()
	for _, size := range []int{5 << 10, 50 << 10} {
		b.Run(fmt.Sprintf("%dKB", size>>10), func(b *testing.B) {
			const versions = 10_000
			path := filepath.Join(b.TempDir(), "vitrine.db")
			db, err := Open(path, &Options{Cache: -1})
			if err != nil {
				b.Fatal(err)
			}
			if err := db.writer.c.script("PRAGMA synchronous=OFF"); err != nil {
				b.Fatal(err)
			}
			s := db.Apps()
			h, body := benchApp("app", 0, size)
			addApp(b, s, h, body)
			before := fileSize(b, db)
			for v := range versions {
				h, _ := benchApp("app", v+1, 0)
				addApp(b, s, h, autosave(body, v))
			}
			grown := fileSize(b, db) - before
			b.ResetTimer()
			for b.Loop() {
				v := appsvc.NewVersion(rand.IntN(versions))
				if err := s.View(ctx, func(r appsvc.Reader) error { _, err := r.App(ctx, "app", v); return err }); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(grown)/versions, "B/version")
			if err := db.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

func fileSize(tb testing.TB, db *DB) int64 {
	tb.Helper()
	if err := db.writer.c.script("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		tb.Fatal(err)
	}
	info, err := os.Stat(db.path)
	if err != nil {
		tb.Fatal(err)
	}
	return info.Size()
}
