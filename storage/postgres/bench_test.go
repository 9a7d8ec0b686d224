//go:build proof

package postgres

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/vitrine-go/vitrine/internal/cluster"
	"github.com/vitrine-go/vitrine/storage"
)

// BenchmarkUpdate changes 1,000 entries of 5 KB as a patch does: it reads one and a counter, and writes both and an
// entry of a log. The floor is a raw UPDATE of one row of 5 KB. Commits wait for the disk.
func BenchmarkUpdate(b *testing.B) {
	const keys = 1000
	c := cluster.New(b, &cluster.Options{Fsync: true})
	db := openAt(b, c.URL("postgres"), &Options{Connections: 34})
	body := make([]byte, 5000)
	for i := range body {
		body[i] = byte(rand.N(256))
	}
	for i := range keys {
		err := db.Update(ctx, "a", storage.UpdateOptions{}, func(t storage.Tx) error {
			return t.Put(ctx, storage.Entry{Key: fmt.Sprintf("a head/%04d", i), Value: body})
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	const floor = `CREATE TABLE floor (key bytea PRIMARY KEY, value bytea); ALTER TABLE floor ALTER value SET STORAGE EXTERNAL;
		INSERT INTO floor SELECT key, value FROM vitrine_record`
	if _, err := db.s.pool.Exec(ctx, floor); err != nil {
		b.Fatal(err)
	}
	update := func(hot int) func() error {
		return func() error {
			key := fmt.Sprintf("a head/%04d", rand.N(hot))
			return db.Update(ctx, "a", storage.UpdateOptions{}, func(t storage.Tx) error {
				values, err := t.Get(ctx, key, "a n")
				if err != nil {
					return err
				}
				n := 0
				fmt.Sscan(string(values[1]), &n)
				return t.Put(ctx, storage.Entry{Key: key, Value: values[0]},
					storage.Entry{Key: "a n", Value: fmt.Append(nil, n+1)},
					storage.Entry{Key: fmt.Sprintf("a log/%09d", n), Value: body[:60]})
			})
		}
	}
	get := func() error {
		return db.View(ctx, func(r storage.Reader) error {
			_, err := r.Get(ctx, fmt.Sprintf("a head/%04d", rand.N(keys)))
			return err
		})
	}
	raw := func() error {
		_, err := db.s.pool.Exec(ctx, "UPDATE floor SET value = $2 WHERE key = $1",
			fmt.Appendf(nil, "a head/%04d", rand.N(keys)), body)
		return err
	}
	for _, m := range []struct {
		name    string
		clients int
		do      func() error
	}{
		{"raw/32", 32, raw}, {"any/32", 32, update(keys)}, {"hot/32", 32, update(1)},
		{"raw/1", 1, raw}, {"any/1", 1, update(keys)}, {"get/32", 32, get}, {"get/1", 1, get},
	} {
		b.Run(m.name, func(b *testing.B) {
			used := [2]float64{self(), c.Processor().Seconds()}
			var left atomic.Int64
			left.Store(int64(b.N))
			var all sync.WaitGroup
			for range m.clients {
				all.Go(func() {
					for left.Add(-1) >= 0 {
						if err := m.do(); err != nil {
							b.Error(err)
						}
					}
				})
			}
			all.Wait()
			now := [2]float64{self(), c.Processor().Seconds()}
			b.ReportMetric((now[0]-used[0])*1e6/float64(b.N), "client-µs/op")
			b.ReportMetric((now[1]-used[1])*1e6/float64(b.N), "server-µs/op")
		})
	}
}

// self returns the processor time in seconds that this process has used.
func self() float64 {
	var used syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return float64(used.Utime.Nano()+used.Stime.Nano()) / 1e9
}
