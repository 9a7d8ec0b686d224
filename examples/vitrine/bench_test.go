package main

import (
	"bytes"
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	_ "modernc.org/sqlite"
)

// The benchmarks measure the server as a process of its own on one core, under a client that does little work itself.
// The server and what it is compared with take turns, so that on a busy machine the ratios are still right, though the
// figures are not. VITRINE_BENCH_PROFILE is the beginning of the names of files that get the processor profile of each
// server.
//
//	go test -run '^$' -bench . -benchtime 1x ./examples/vitrine

// reads returns how many requests of 32 clients at a path the server responds to in a second of its processor.
func reads(b *testing.B, t benchTarget, path string, during time.Duration) float64 {
	b.Helper()
	request := []byte("GET " + path + " HTTP/1.1\r\nHost: " + t.Addr + "\r\nAuthorization: svctoken " + t.Token +
		"\r\n\r\n")
	var n atomic.Int64
	var clients sync.WaitGroup
	begin, used := time.Now(), t.cpu()
	for range benchClients {
		c := dial(b, t.Addr)
		defer c.Close()
		clients.Go(func() {
			size, err := c.ask(request)
			for err == nil && time.Since(begin) < during {
				err = c.askAgain(request, size)
				n.Add(1)
			}
			if err != nil {
				b.Errorf("%s: %v", path, err)
			}
		})
	}
	clients.Wait()
	return float64(n.Load()) / (t.cpu() - used).Seconds()
}

// median returns the middle of some figures.
func median(all []float64) float64 {
	slices.Sort(all)
	return all[len(all)/2]
}

// inTurns measures each of several things a few times, one after the other, and returns the
// median figure of each, and the median of its ratio to the first.
func inTurns(rounds int, measure ...func() float64) (figures, ratios []float64) {
	all, relative := make([][]float64, len(measure)), make([][]float64, len(measure))
	for range rounds {
		for i, m := range measure {
			all[i] = append(all[i], m())
			last := len(all[i]) - 1
			relative[i] = append(relative[i], all[i][last]/all[0][last])
		}
	}
	for i := range measure {
		figures, ratios = append(figures, median(all[i])), append(ratios, median(relative[i]))
	}
	return figures, ratios
}

func report(b *testing.B, names []string, figures, ratios []float64) {
	b.ReportMetric(0, "ns/op")
	for i, name := range names {
		b.ReportMetric(figures[i], name+"/s")
		if i > 0 {
			b.ReportMetric(ratios[i], name+"-ratio")
		}
	}
}

// BenchmarkReads compares the latest and a tagged version of an app, with the token checked, with a bare handler that
// gives the same bytes and headers.
func BenchmarkReads(b *testing.B) {
	memory := startBench(b, inMemory)
	bare := startBare(b, memory)
	sqlite := startBench(b, filepath.Join(b.TempDir(), "bench.db"))
	at := func(t benchTarget, path string) func() float64 {
		return func() float64 { return reads(b, t, path, time.Second) }
	}
	figures, ratios := inTurns(5, at(bare, bare.Latest), at(memory, memory.Latest), at(memory, memory.Tagged),
		at(sqlite, sqlite.Latest), at(sqlite, sqlite.Tagged))
	report(b, []string{"bare", "memory-latest", "memory-tagged", "sqlite-latest", "sqlite-tagged"}, figures, ratios)
}

// patches returns how many patches a second some clients get acknowledged, each on apps of its own, in turns. versions
// is where the apps stand, and is moved on.
func patches(b *testing.B, t benchTarget, clients int, versions []int, during time.Duration) float64 {
	b.Helper()
	var n atomic.Int64
	var all sync.WaitGroup
	begin := time.Now()
	for i := range clients {
		c := dial(b, t.Addr)
		defer c.Close()
		all.Go(func() {
			for at := i; time.Since(begin) < during; {
				if err := c.patch(t, at, versions[at]); err != nil {
					b.Error(err)
					return
				}
				versions[at]++
				n.Add(1)
				if at += clients; at >= len(versions) {
					at = i
				}
			}
		})
	}
	all.Wait()
	return float64(n.Load()) / time.Since(begin).Seconds()
}

// patch makes another title of an app that has this version.
func (c *benchConn) patch(t benchTarget, app, version int) error {
	body := fmt.Sprintf(`[{"op":"test","path":"/apps/0/version","value":"%d"},{"op":"replace",`+
		`"path":"/apps/0/title","value":"Benchmark %d"}]`, version, version)
	_, err := c.ask(fmt.Appendf(nil,
		"PATCH %s HTTP/1.1\r\nHost: x\r\nAuthorization: svctoken %s\r\nContent-Type: "+
			"application/json\r\nContent-Length: %d\r\n\r\n%s",
		t.Apps[app], t.Token, len(body), body))
	return err
}

// rawDB is a SQLite file with one table of rows as long as what a patch adds.
func rawDB(b *testing.B) *sql.DB {
	b.Helper()
	db, err := sql.Open("sqlite",
		"file:"+filepath.Join(b.TempDir(), "raw.db")+
			"?_txlock=immediate&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("CREATE TABLE row (id INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT"); err != nil {
		b.Fatal(err)
	}
	return db
}

var rawRow = bytes.Repeat([]byte("x"), 100)

// inserts returns how many rows a second go in, each in a transaction of its own.
func inserts(b *testing.B, db *sql.DB, during time.Duration) float64 {
	b.Helper()
	n, begin := 0, time.Now()
	for ; time.Since(begin) < during; n++ {
		if err := insertAll(db, 1); err != nil {
			b.Fatal(err)
		}
	}
	return float64(n) / time.Since(begin).Seconds()
}

func insertAll(db *sql.DB, rows int) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	for range rows {
		if _, err := tx.Exec("INSERT INTO row (body) VALUES ($1)", rawRow); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// groupInserts is inserts for many clients whose waiting rows share a transaction.
func groupInserts(b *testing.B, db *sql.DB, clients int, during time.Duration) float64 {
	b.Helper()
	waiting := make(chan chan error, clients)
	var all sync.WaitGroup
	var n atomic.Int64
	begin := time.Now()
	for range clients {
		all.Go(func() {
			done := make(chan error)
			for time.Since(begin) < during {
				waiting <- done
				if err := <-done; err != nil {
					b.Error(err)
				}
				n.Add(1)
			}
		})
	}
	go func() { all.Wait(); close(waiting) }()
	for first := range waiting {
		group := []chan error{first}
		for more := true; more; {
			select {
			case next, ok := <-waiting:
				if more = ok; ok {
					group = append(group, next)
				}
			default:
				more = false
			}
		}
		err := insertAll(db, len(group))
		for _, done := range group {
			done <- err
		}
	}
	return float64(n.Load()) / time.Since(begin).Seconds()
}

// BenchmarkPatches compares durable patches of a title, over HTTP, with bare inserts into SQLite
// that are as durable: one client with single inserts, 32 with inserts that share commits.
func BenchmarkPatches(b *testing.B) {
	db := rawDB(b)
	sqlite := startBench(b, filepath.Join(b.TempDir(), "bench.db"))
	versions := make([]int, benchClients)
	b.Run("clients=1", func(b *testing.B) {
		figures, ratios := inTurns(5, func() float64 { return inserts(b, db, time.Second) },
			func() float64 { return patches(b, sqlite, 1, versions[:1], time.Second) })
		report(b, []string{"insert", "patch"}, figures, ratios)
	})
	b.Run("clients=32", func(b *testing.B) {
		figures, ratios := inTurns(5, func() float64 { return groupInserts(b, db, benchClients, time.Second) },
			func() float64 { return patches(b, sqlite, benchClients, versions, time.Second) })
		report(b, []string{"insert", "patch"}, figures, ratios)
	})
}
