package main

import (
	"bufio"
	"bytes"
	"context"
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
	"runtime/pprof"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/appsvc"
)

// benchVariable makes the test binary such a server; its value says which.
const benchVariable = "VITRINE_BENCH_SERVER"

const benchClients = 32

// benchTarget is what a server of the benchmarks says of itself.
type benchTarget struct {
	Addr, Token string
	Latest      string   // path of an app of 5 KB
	Tagged      string   // path of the same by a tag
	Apps        []string // paths of apps to patch, one for each client
	Followers   []string // tokens of those who follow the feed of changes
	PID         int
}

// cpu returns how much of the processor the server has used, where the system tells; else the time that has passed.
func (t benchTarget) cpu() time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", t.PID))
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	if err != nil || len(fields) < 13 {
		return time.Since(benchBegan)
	}
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond
}

var benchBegan = time.Now()

// benchServe is the other process: the constant answer, or our handler over a store.
func benchServe(kind string) error {
	runtime.GOMAXPROCS(1)
	if name := os.Getenv("VITRINE_BENCH_PROFILE"); name != "" {
		f, err := os.Create(name + strings.NewReplacer("/", "_", " ", "_").Replace(kind))
		if err != nil {
			return err
		}
		_ = pprof.StartCPUProfile(f)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	target := benchTarget{Addr: l.Addr().String(), Token: "none", PID: os.Getpid()}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	var handler http.Handler
	recorded, bare := strings.CutPrefix(kind, bareKind)
	if bare {
		if handler, err = bareHandler(recorded, &target); err != nil {
			return err
		}
	} else if handler, err = newBenchHandler(kind, log, &target); err != nil {
		return err
	}
	if err := json.NewEncoder(os.Stdout).Encode(target); err != nil {
		return err
	}
	go func() { // ends with the benchmark, whatever becomes of that
		_, _ = io.Copy(io.Discard, os.Stdin)
		pprof.StopCPUProfile()
		os.Exit(0)
	}()
	if bare {
		return http.Serve(l, handler)
	}
	return newConnections(l, mostConnections).serve(newServer(handler, log))
}

// bareKind and the name of a file is a handler without anything else, on a server without anything else, which gives
// every request the response in the file.
const bareKind = "bare "

// recordedResponse is a response of another server.
type recordedResponse struct {
	Path   string
	Header http.Header
	Body   []byte
}

func bareHandler(name string, target *benchTarget) (http.Handler, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var r recordedResponse
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, err
	}
	target.Latest = r.Path
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		header := w.Header()
		for name, values := range r.Header {
			header[name] = values
		}
		_, _ = w.Write(r.Body)
	}), nil
}

// startBare starts a server of bareKind with what another server responds to a request for the latest version.
func startBare(b *testing.B, of benchTarget) benchTarget {
	b.Helper()
	r, err := http.NewRequest("GET", "http://"+of.Addr+of.Latest, nil)
	if err != nil {
		b.Fatal(err)
	}
	r.Header.Set("Authorization", "svctoken "+of.Token)
	answer, err := (&http.Transport{DisableCompression: true}).RoundTrip(r)
	if err != nil {
		b.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		b.Fatal(err)
	}
	text, err := json.Marshal(recordedResponse{of.Latest, answer.Header, body})
	if err != nil {
		b.Fatal(err)
	}
	file := filepath.Join(b.TempDir(), "response.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		b.Fatal(err)
	}
	return startBench(b, bareKind+file)
}

// Before the name of a store, these words say what is in it.
const (
	forFollowers = "followers " // an app for each follower
	besideOther  = "beside "    // what another process has put there
)

// newBenchHandler serves a store, which it fills if no other process does.
func newBenchHandler(kind string, log *slog.Logger, target *benchTarget) (http.Handler, error) {
	count := benchClients + 1
	db, many := strings.CutPrefix(kind, forFollowers)
	if many {
		count = benchFollowers
	}
	db, beside := strings.CutPrefix(db, besideOther)
	s, err := openStore(context.Background(), db, func() error { return nil })
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
	for i := range benchFollowers / 10 { // a caller may have 16 streams
		by := httpapi.Principal{Caller: vitrine.Caller{URN: fmt.Sprintf("%s:user=follower-%d", demoNetwork, i),
			Moderates: demoUser.Moderates}}
		token, err := tokens.Sign(by, time.Now().Add(time.Hour))
		if err != nil {
			return nil, err
		}
		target.Followers = append(target.Followers, token)
	}
	apps := appsvc.New(s, nil)
	if !beside {
		if err := fillBench(apps, count, target); err != nil {
			return nil, err
		}
	}
	streams := httpapi.NewStreams()
	streams.Began = streamBegan
	return httpapi.New(httpapi.Config{Apps: apps, Authenticate: tokens.Authenticate, Ready: newRoomy(s, inMemory).ready,
		Log:     log,
		Streams: streams})
}

// fillBench makes so many apps, each with a tag. The last one is read.
func fillBench(apps *appsvc.Service, count int, target *benchTarget) error {
	ctx, by := context.Background(), vitrine.Caller{URN: demoUser.URN, Moderates: demoUser.Moderates, Components: true}
	if _, err := apps.As(by).CreateComponent(ctx,
		appsvc.CreateComponentRequest{
			Manifest: strings.NewReader(`{"name": "@demo/analytics", "version": "0.4.2", "main": ` +
				`"https://cdn.demo.test/analytics-0.4.2.js", "configSchema": {}}`)}); err != nil {
		return err
	}
	for range count {
		app, err := apps.As(by).CreateApp(ctx, benchApp())
		if err != nil {
			return err
		}
		target.Latest = "/apps/" + app.ID
		target.Tagged = target.Latest + "/tagged/live"
		target.Apps = append(target.Apps, target.Latest)
		if _, err := apps.As(by).PutTag(ctx,
			appsvc.PutTagRequest{AppID: app.ID, Name: "live", Version: vitrine.NewVersion(0)}); err != nil {
			return err
		}
	}
	return nil
}

// benchApp is an app of about 5 KB as it is answered.
func benchApp() appsvc.CreateAppRequest {
	in := appsvc.CreateAppRequest{Title: "Benchmark", Groups: []string{demoNetwork + ":site=bench"}}
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
