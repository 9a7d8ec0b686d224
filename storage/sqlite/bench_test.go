//go:build unix

package sqlite

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/vitrine-go/vitrine/storage"
)

// The benchmarks do what a patch of an app does to a store: a View of two entries, and an update that reads them and
// the counter of a log again, replaces all three, adds an entry to the log, and moves an empty entry. Values have 300
// bytes, 5 KB, and a few bytes. The floor of 32 updates is the statements that they need, in one transaction.

const benchApps = 2000

var benchText = func() []byte {
	text := make([]byte, 1<<20)
	for i := range text {
		text[i] = byte('a' + rand.N(26))
	}
	return text
}()

// benchBody returns 4.5 to 5.5 KB.
func benchBody() []byte {
	from := rand.IntN(len(benchText) - 6000)
	return slices.Clone(benchText[from : from+4500+rand.IntN(1000)])
}

func benchKey(kind string, app int) string {
	return fmt.Sprintf("apps %s/6e3baa24-a371-4a10-a655-%012d", kind, app)
}

func benchStore(b *testing.B) *DB {
	db := openAt(b, filepath.Join(b.TempDir(), "vitrine.db"), nil)
	for from := 0; from < benchApps; from += 100 {
		err := db.Update(ctx, "apps", storage.UpdateOptions{Large: true}, func(t storage.Tx) error {
			for app := from; app < from+100; app++ {
				if err := t.Put(ctx, storage.Entry{Key: benchKey("head", app), Value: benchBody()[:300]},
					storage.Entry{Key: benchKey("body", app), Value: benchBody()},
					storage.Entry{Key: benchKey("updated/0", app)}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	return db
}

// processor reports the processor time of one of b.N since it was called.
func processor(b *testing.B) func() {
	var from, to syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &from)
	b.ResetTimer()
	return func() {
		syscall.Getrusage(syscall.RUSAGE_SELF, &to)
		used := to.Utime.Nano() + to.Stime.Nano() - from.Utime.Nano() - from.Stime.Nano()
		b.ReportMetric(float64(used)/1e3/float64(b.N), "cpu-µs/op")
	}
}

func together(b *testing.B, clients int, do func(client int) error) {
	var left atomic.Int64
	left.Store(int64(b.N))
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			for left.Add(-1) >= 0 {
				if err := do(i); err != nil {
					b.Error(err)
				}
			}
		})
	}
	all.Wait()
}

func benchView(db *DB, app int) error {
	return db.View(ctx, func(r storage.Reader) error {
		_, err := r.Get(ctx, benchKey("head", app), benchKey("body", app))
		return err
	})
}

func benchUpdate(db *DB, app int, head, body []byte) error {
	return db.Update(ctx, "apps", storage.UpdateOptions{}, func(t storage.Tx) error {
		values, err := t.Get(ctx, "apps feed", benchKey("head", app), benchKey("body", app))
		if err != nil {
			return err
		}
		n := 0
		fmt.Sscan(string(values[0]), &n)
		if err := t.Delete(ctx, benchKey(fmt.Sprintf("updated/%d", values[1][0]), app)); err != nil {
			return err
		}
		head[0] = byte(n)
		return t.Put(ctx, storage.Entry{Key: benchKey("head", app), Value: head},
			storage.Entry{Key: benchKey("body", app), Value: body},
			storage.Entry{Key: benchKey(fmt.Sprintf("updated/%d", head[0]), app)},
			storage.Entry{Key: fmt.Sprintf("apps log/%09d", n), Value: body[:60]},
			storage.Entry{Key: "apps feed", Value: fmt.Append(nil, n+1)})
	})
}

func benchExec(b *testing.B, c *conn, sql string, args ...any) {
	if _, err := c.exec(sql, args...); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkStore(b *testing.B) {
	for _, clients := range []int{1, 32} {
		b.Run(fmt.Sprintf("patch-%d", clients), func(b *testing.B) {
			db := benchStore(b)
			defer processor(b)()
			together(b, clients, func(client int) error {
				app := client * (benchApps / clients)
				if err := benchView(db, app); err != nil {
					return err
				}
				return benchUpdate(db, app, benchBody()[:300], benchBody())
			})
		})
		b.Run(fmt.Sprintf("update-%d", clients), func(b *testing.B) {
			db := benchStore(b)
			defer processor(b)()
			together(b, clients, func(client int) error {
				return benchUpdate(db, client*(benchApps/clients), benchBody()[:300], benchBody())
			})
		})
		b.Run(fmt.Sprintf("view-%d", clients), func(b *testing.B) {
			db := benchStore(b)
			defer processor(b)()
			together(b, clients, func(int) error { return benchView(db, rand.IntN(benchApps)) })
		})
	}
	b.Run("floor-32", func(b *testing.B) {
		c := benchStore(b).store.writer.c
		defer processor(b)()
		for n := 0; n < b.N; n++ {
			if n%32 == 0 {
				benchExec(b, c, "BEGIN IMMEDIATE")
			}
			app := n % 32 * (benchApps / 32)
			r := c.query(getStatements[2], benchKey("head", app), benchKey("body", app))
			if !r.next() {
				b.Fatal(r.err)
			}
			old := r.blob(0)[0]
			r.close()
			body := benchBody()
			benchExec(b, c, "DELETE FROM entry WHERE key = $1", benchKey(fmt.Sprintf("updated/%d", old), app))
			benchExec(b, c, "UPDATE large SET value = $2 WHERE id = (SELECT value FROM entry WHERE key = $1)",
				benchKey("body", app), body)
			body[0] = byte(n)
			benchExec(b, c, putStatements[3], benchKey("head", app), body[:300],
				benchKey(fmt.Sprintf("updated/%d", body[0]), app), []byte{},
				fmt.Sprintf("apps log/%09d", n), body[:60])
			if n%32 == 31 || n == b.N-1 {
				benchExec(b, c, putStatements[1], "apps feed", fmt.Append(nil, n))
				benchExec(b, c, "COMMIT")
			}
		}
	})
	b.Run("import", func(b *testing.B) {
		db := benchStore(b)
		text := benchBody()
		defer processor(b)()
		for n := 0; n < b.N; {
			err := db.Update(ctx, "reviews/n", storage.UpdateOptions{}, func(t storage.Tx) error {
				var puts []storage.Entry
				for range 100 {
					id := rand.Uint64()
					puts = append(puts,
						storage.Entry{Key: fmt.Sprintf("reviews/n review/%08d r%016x", n/100, id),
							Value: text[:400+id%300]},
						storage.Entry{Key: fmt.Sprintf("reviews/n id/%016x", id), Value: text[:8]},
						storage.Entry{Key: fmt.Sprintf("reviews/n time/%08d %016x", n, id)},
						storage.Entry{Key: fmt.Sprintf("reviews/n mail/%d %016x", id%100, id)})
					n++
				}
				return t.Put(ctx, puts...)
			})
			if err != nil {
				b.Fatal(err)
			}
		}
	})
}
