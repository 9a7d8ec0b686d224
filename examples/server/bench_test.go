package main

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/julienschmidt/httprouter"
	_ "modernc.org/sqlite"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/appsvc"
)

// The benchmarks measure the server as a process of its own on one core, under a client that
// does next to nothing, beside what it is compared with, in turns: on a busy machine the ratios
// hold though the figures do not.
//
//	go test -run '^$' -bench . -benchtime 1x ./examples/server

// benchVariable makes the test binary such a server; its value says which.
const benchVariable = "VITRINE_BENCH_SERVER"

const benchClients = 32

// benchTarget is what a server of the benchmarks says of itself.
type benchTarget struct {
	Addr, Token string
	Latest      string   // path of an app of 5 KB
	Tagged      string   // path of the same by a tag
	Apps        []string // paths of apps to patch, one for each client
}

// benchServe is the other process: the constant answer, or our handler over a store.
func benchServe(kind string) error {
	runtime.GOMAXPROCS(1)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	target := benchTarget{Addr: l.Addr().String(), Token: "none", Latest: "/apps/constant"}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	var handler http.Handler
	if kind == "constant" {
		handler = constantHandler()
	} else if handler, err = benchHandler(kind, log, &target); err != nil {
		return err
	}
	if err := json.NewEncoder(os.Stdout).Encode(target); err != nil {
		return err
	}
	go func() { // ends with the benchmark, whatever becomes of that
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	return newServer(handler, log).Serve(pieceListener{l})
}

func constantHandler() http.Handler {
	router := httprouter.New()
	answer := []byte(`{"apps":[{"id":"constant","version":"0"}]}`)
	router.GET("/apps/:id", func(w http.ResponseWriter, _ *http.Request, _ httprouter.Params) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.Header().Set("Content-Length", strconv.Itoa(len(answer)))
		_, _ = w.Write(answer)
	})
	return router
}

func benchHandler(db string, log *slog.Logger, target *benchTarget) (http.Handler, error) {
	s, err := openStore(db)
	if err != nil {
		return nil, err
	}
	tokens, err := httpapi.NewTokens(newKey(), nil)
	if err != nil {
		return nil, err
	}
	if target.Token, err = tokens.Sign(demoUser, time.Now().Add(time.Hour)); err != nil {
		return nil, err
	}
	apps := appsvc.New(s.apps, nil)
	ctx, by := context.Background(), appsvc.Caller{URN: demoUser.URN, Moderates: demoUser.Moderates, ManageComponents: true}
	if _, err := fillApps(ctx, apps, by); err != nil {
		return nil, err
	}
	for range benchClients + 1 {
		app, err := apps.CreateApp(ctx, by, benchApp())
		if err != nil {
			return nil, err
		}
		target.Latest = "/apps/" + app.ID
		target.Tagged = target.Latest + "/tagged/live"
		target.Apps = append(target.Apps, target.Latest)
		if _, err := apps.PutTag(ctx, by, appsvc.PutTag{AppID: app.ID, Name: "live"}); err != nil {
			return nil, err
		}
	}
	return httpapi.New(httpapi.Config{Apps: apps, Authenticate: tokens.Authenticate, Ready: s.ping, Log: log})
}

// benchApp is an app of about 5 KB as it is answered.
func benchApp() appsvc.NewApp {
	in := appsvc.NewApp{Title: "Benchmark", Groups: []string{demoNetwork + ":site=bench"}}
	for i := range 9 {
		config := fmt.Sprintf(`{"property":"element %d","text":%q}`, i, strings.Repeat("lorem ipsum ", 27))
		in.Elements = append(in.Elements, appsvc.NewElement{
			Component: appsvc.ComponentRef{Name: "@demo/analytics", Version: "0.4.2"}, Config: []byte(config)})
	}
	return in
}

// startBench starts a server of the benchmarks.
func startBench(b *testing.B, kind string) benchTarget {
	b.Helper()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env, cmd.Stderr = append(os.Environ(), benchVariable+"="+kind), os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { stdin.Close(); _ = cmd.Wait() })
	var target benchTarget
	if err := json.NewDecoder(stdout).Decode(&target); err != nil {
		b.Fatalf("%s: %v", kind, err)
	}
	return target
}

// benchConn is a connection that asks with prepared bytes.
type benchConn struct {
	net.Conn
	in *bufio.Reader
}

func dial(b *testing.B, addr string) *benchConn {
	b.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		b.Fatal(err)
	}
	return &benchConn{conn, bufio.NewReaderSize(conn, 32<<10)}
}

// ask sends a request, checks for status 200 and returns the number of bytes of the answer.
func (c *benchConn) ask(request []byte) (int, error) {
	if _, err := c.Write(request); err != nil {
		return 0, err
	}
	size, length := 0, 0
	for {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		if size == 0 && !bytes.HasPrefix(line, []byte("HTTP/1.1 200 ")) {
			return 0, fmt.Errorf("answered %s", line)
		}
		size += len(line)
		if n, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
			length, _ = strconv.Atoi(string(bytes.TrimSpace(n)))
		}
		if len(line) == 2 {
			break
		}
	}
	_, err := c.in.Discard(length)
	return size + length, err
}

// askAgain sends the same request and reads an answer of the same size, without looking at it.
func (c *benchConn) askAgain(request []byte, size int) error {
	if _, err := c.Write(request); err != nil {
		return err
	}
	_, err := c.in.Discard(size)
	return err
}

// reads returns how many requests a second 32 clients get answered at a path.
func reads(b *testing.B, t benchTarget, path string, during time.Duration) float64 {
	b.Helper()
	request := []byte("GET " + path + " HTTP/1.1\r\nHost: " + t.Addr + "\r\nAuthorization: svctoken " + t.Token + "\r\n\r\n")
	var n atomic.Int64
	var clients sync.WaitGroup
	begin := time.Now()
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
	return float64(n.Load()) / time.Since(begin).Seconds()
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

// BenchmarkReads compares the latest and a tagged version of an app, with the token checked,
// with a constant answer of httprouter.
func BenchmarkReads(b *testing.B) {
	constant, memory := startBench(b, "constant"), startBench(b, inMemory)
	sqlite := startBench(b, filepath.Join(b.TempDir(), "bench.db"))
	at := func(t benchTarget, path string) func() float64 {
		return func() float64 { return reads(b, t, path, time.Second) }
	}
	figures, ratios := inTurns(5, at(constant, constant.Latest), at(memory, memory.Latest), at(memory, memory.Tagged),
		at(sqlite, sqlite.Latest), at(sqlite, sqlite.Tagged))
	report(b, []string{"constant", "memory-latest", "memory-tagged", "sqlite-latest", "sqlite-tagged"}, figures, ratios)
}

// patches returns how many patches a second some clients get acknowledged, each on its own app.
// versions is where they stand, and is moved on.
func patches(b *testing.B, t benchTarget, clients int, versions []int, during time.Duration) float64 {
	b.Helper()
	var n atomic.Int64
	var all sync.WaitGroup
	begin := time.Now()
	for i := range clients {
		c := dial(b, t.Addr)
		defer c.Close()
		all.Go(func() {
			for time.Since(begin) < during {
				body := fmt.Sprintf(`[{"op":"test","path":"/apps/0/version","value":"%d"},{"op":"replace","path":"/apps/0/title","value":"Benchmark %d"}]`, versions[i], versions[i])
				_, err := c.ask(fmt.Appendf(nil, "PATCH %s HTTP/1.1\r\nHost: x\r\nAuthorization: svctoken %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
					t.Apps[i], t.Token, len(body), body))
				if err != nil {
					b.Error(err)
					return
				}
				versions[i]++
				n.Add(1)
			}
		})
	}
	all.Wait()
	return float64(n.Load()) / time.Since(begin).Seconds()
}

// rawDB is a SQLite file with one table of rows as long as what a patch adds.
func rawDB(b *testing.B) *sql.DB {
	b.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(b.TempDir(), "raw.db")+"?_txlock=immediate&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
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
			func() float64 { return patches(b, sqlite, 1, versions, time.Second) })
		report(b, []string{"insert", "patch"}, figures, ratios)
	})
	b.Run("clients=32", func(b *testing.B) {
		figures, ratios := inTurns(5, func() float64 { return groupInserts(b, db, benchClients, time.Second) },
			func() float64 { return patches(b, sqlite, benchClients, versions, time.Second) })
		report(b, []string{"insert", "patch"}, figures, ratios)
	})
}
