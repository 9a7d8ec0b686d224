package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

const oneApp = `{"title":"One","groups":["urn:vitrine:example.test:site=1"]}`

func TestServeTokenBackup(t *testing.T) {
	dir := t.TempDir()
	s := start(t, dir, nil, "-db", "v.db")
	token := newToken(t, dir, nil, "-db", "v.db")
	var made struct{ ID, URL string }
	if err := json.Unmarshal([]byte(s.do(token, "POST", "/apps/", oneApp, 201)), &made); err != nil || made.URL != s.url+"/apps/"+made.ID {
		t.Fatalf("%+v, %v", made, err)
	}
	if out := run(t, dir, nil, "healthz", "-addr", strings.TrimPrefix(s.url, "http://")); out.status != 0 {
		t.Errorf("healthz: %+v", out)
	}

	busy, stopWriting := context.WithCancel(t.Context())
	var writing sync.WaitGroup
	writing.Go(func() {
		for busy.Err() == nil {
			s.do(token, "POST", "/apps/", oneApp, 201)
		}
	})
	if out := run(t, dir, nil, "backup", "-db", "v.db", "copy.db"); out.status != 0 {
		t.Errorf("backup: %+v", out)
	}
	stopWriting()
	writing.Wait()
	if _, err := os.Stat(filepath.Join(dir, "copy.db.key")); err == nil {
		t.Error("the backup holds the key")
	}
	s.stop(syscall.SIGTERM)
	if out := run(t, dir, nil, "healthz", "-addr", strings.TrimPrefix(s.url, "http://")); out.status != 1 {
		t.Errorf("healthz of a stopped server: %+v", out)
	}

	again := start(t, dir, nil, "-db", "v.db")
	again.do(token, "GET", "/apps/"+made.ID, "", 200)
	again.stop(syscall.SIGINT)
	restored := start(t, dir, nil, "-db", "copy.db", "-key-file", "v.db.key")
	restored.do(token, "GET", "/apps/"+made.ID, "", 200)
	restored.stop(syscall.SIGTERM)
}

func TestTheReadyLineHoldsTheBasePath(t *testing.T) {
	for path, want := range map[string]string{"/": "", "/app-service/v4": "/app-service/v4", "v4/": "/v4"} {
		s := start(t, t.TempDir(), nil, "-db", "memory:", "-base-path", path)
		if s.base != s.url+want {
			t.Errorf("-base-path %s: serving %s", path, s.base)
		}
		s.do("", "GET", want+"/openapi.json", "", 200)
		s.do("", "GET", "/healthz", "", 200)
	}
}

func TestDemoLinesWorkAsTheyStand(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed")
	}
	for _, args := range [][]string{{"-db", "memory:"}, {"-db", "demo.db"}, {"-db", "other.db", "-base-path", "/app-service/v4"}} {
		dir := t.TempDir()
		for round := range 2 { // the second time the file is not empty any more
			s := start(t, dir, nil, append([]string{"-demo"}, args...)...)
			var lines []string
			for len(lines) < 3 {
				if line := s.line(); strings.HasPrefix(line, "curl ") {
					lines = append(lines, line)
				}
			}
			for _, line := range lines {
				out, err := exec.Command("sh", "-c", line+" -sS --fail-with-body").CombinedOutput()
				if err != nil || !json.Valid(out) {
					t.Errorf("round %d: %s: %v: %s", round, line, err, out)
				}
			}
			s.stop(syscall.SIGTERM)
			if added := !strings.Contains(s.stderr.String(), "not empty"); added != (round == 0 || args[1] == "memory:") {
				t.Errorf("%v, round %d: sample data added: %v", args, round, added)
			}
		}
	}
}

func TestCommandLinesThatMakeNoSense(t *testing.T) {
	dir := t.TempDir()
	for _, args := range [][]string{
		{"spam"}, {"-spam"}, {"serve", "-spam"}, {"serve", "now"}, {"-base-path", "/a//b", "-db", "memory:"}, {"-base-url", "x", "-db", "memory:"},
		{"token"}, {"token", "-urn", "bob"}, {"token", "-urn", "urn:vitrine:x:user=y", "-ttl", "soon"}, {"token", "-urn", "urn:vitrine:x:user=y", "more"},
		{"backup"}, {"backup", "a", "b"}, {"healthz", "x"}, {"-db", ""}, {"healthz", "-addr", "http://127.0.0.1:8080"}, {"healthz", "-addr", "8080"}, {"version", "x"},
		{"token", "-urn", "urn:vitrine:x:user=y", "-ttl", "0"}, {"token", "-urn", "urn:vitrine:x:user=y", "-ttl", "-1s"}, {"reviews"}, {"reviews", "spam"},
	} {
		out := run(t, dir, nil, args...)
		if out.status != 2 || out.stdout != "" || !strings.Contains(out.stderr, "usage:") {
			t.Errorf("%v: %+v", args, out)
		}
	}
	for _, c := range []struct {
		args []string
		says string
		of   int // commands in the usage
	}{
		{[]string{"-base-path", "/a//b", "-db", "memory:", "-addr", "127.0.0.1:0"}, "-base-path", 1},
		{[]string{"-base-url", "x", "-db", "memory:", "-addr", "127.0.0.1:0"}, "-base-url", 1},
		{[]string{"reviews", "check", "-spam"}, "-spam", 1}, {[]string{"reviews"}, "want check", 3}, {[]string{"spam"}, "spam", len(commands())},
	} {
		out := run(t, dir, nil, c.args...)
		lines := strings.Split(strings.TrimSpace(out.stderr), "\n")
		if last := lines[len(lines)-1]; !strings.HasPrefix(last, "server: ") || !strings.Contains(last, c.says) || strings.Contains(last, "httpapi") ||
			strings.Count(out.stderr, "\n  server ")+strings.Count(out.stderr, "\n  [") != c.of && c.of != len(commands()) {
			t.Errorf("%v: %+v", c.args, out)
		}
	}
	for _, args := range [][]string{{"version"}, {"-version"}, {"--version"}} {
		if out := run(t, dir, nil, args...); out.status != 0 || out.stderr != "" || !strings.HasPrefix(out.stdout, "server") || !strings.Contains(out.stdout, "go1.") {
			t.Errorf("%v: %+v", args, out)
		}
	}
	for _, args := range [][]string{{"-h"}, {"help"}, {"-help"}, {"--help"}} {
		if out := run(t, dir, nil, args...); out.status != 0 || out.stderr != "" || !strings.Contains(out.stdout, "server backup") {
			t.Errorf("%v: %+v", args, out)
		}
	}
	for _, args := range [][]string{{"backup", "-db", "none.db", "out"}, {"backup", "-db", "memory:", "out"}} {
		if out := run(t, dir, nil, args...); out.status != 1 || out.stderr == "" {
			t.Errorf("%v: %+v", args, out)
		}
	}
	for _, db := range []string{"no/such/x.db", "mysql://localhost/vitrine", "sqlite://x.db"} {
		for _, args := range [][]string{{"serve", "-addr", "127.0.0.1:0"}, append([]string{"token"}, editor...), {"reviews", "export"}} {
			out := run(t, dir, nil, append(args, "-db", db)...)
			if out.status == 0 || out.stdout != "" || !strings.Contains(out.stderr, "-db") || strings.Contains(out.stderr, "key") {
				t.Errorf("%v: %+v", args, out)
			}
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 0 {
		t.Errorf("left behind: %v, %v", files, err)
	}
}

func TestFilesThatAreNoStoreAreLeftAlone(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{"empty.db": "", "text.db": "not a database at all", "head.db": "SQLite format 3\x00"} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		if out := run(t, dir, nil, "-addr", "127.0.0.1:0", "-db", name); out.status != 1 || out.stdout != "" || !strings.Contains(out.stderr, name) {
			t.Errorf("%s: %+v", name, out)
		}
		if out := run(t, dir, nil, append([]string{"token", "-db", name}, editor...)...); out.status != 1 || out.stdout != "" || !strings.Contains(out.stderr, name) {
			t.Errorf("token for %s: %+v", name, out)
		}
		if _, err := os.Stat(file + ".key"); err == nil {
			t.Errorf("%s has a key", name)
		}
		if now, err := os.ReadFile(file); err != nil || string(now) != content {
			t.Errorf("%s changed to %q, %v", name, now, err)
		}
	}
}

// TestStoppingUnderLoad stops the server while clients write: every request that is answered is
// answered in full, and what was acknowledged is there afterwards.
func TestStoppingUnderLoad(t *testing.T) {
	dir := t.TempDir()
	s := start(t, dir, nil, "-db", "v.db")
	token := newToken(t, dir, nil, "-db", "v.db")
	var acknowledged atomic.Int64
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			own := &http.Client{Transport: &http.Transport{}}
			for {
				r, err := http.NewRequest("POST", s.url+"/apps/", strings.NewReader(oneApp))
				if err != nil {
					t.Error(err)
					return
				}
				r.Header.Set("Authorization", "svctoken "+token)
				r.Header.Set("Content-Type", "application/json")
				answer, err := own.Do(r)
				if err != nil {
					return // the server does not listen any more
				}
				text, err := io.ReadAll(answer.Body)
				answer.Body.Close()
				if err != nil || answer.StatusCode != 201 || !json.Valid(text) {
					t.Errorf("answered %d %q, %v", answer.StatusCode, text, err)
					return
				}
				acknowledged.Add(1)
			}
		})
	}
	for acknowledged.Load() < 100 {
		time.Sleep(time.Millisecond)
	}
	s.stop(syscall.SIGTERM)
	clients.Wait()
	again := start(t, dir, nil, "-db", "v.db")
	stored := int64(0)
	for path := "/apps/?limit=500"; path != ""; {
		r, err := http.NewRequest("GET", again.url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "svctoken "+token)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		var page struct{ Apps []json.RawMessage }
		if err := json.NewDecoder(answer.Body).Decode(&page); err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		stored += int64(len(page.Apps))
		link, _, _ := strings.Cut(strings.TrimPrefix(answer.Header.Get("Link"), "<"), ">")
		path = strings.TrimPrefix(link, again.url)
	}
	if stored < acknowledged.Load() {
		t.Errorf("%d acknowledged, %d stored", acknowledged.Load(), stored)
	}
}

func TestSlowClientsAreClosed(t *testing.T) {
	if testing.Short() {
		t.Skip("takes 10 seconds")
	}
	t.Parallel()
	s := start(t, t.TempDir(), nil, "-db", "memory:")
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: "); err != nil {
		t.Fatal(err)
	}
	_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.ReadAll(conn); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("headers may take longer than 20 seconds")
	}
}

// An address that cannot be had is found out before anything is made.
func TestAnAddressThatIsTakenBuildsNoStore(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	dir := t.TempDir()
	if out := run(t, dir, nil, "-addr", taken.Addr().String(), "-db", "v.db"); out.status != 1 || out.stdout != "" || !strings.Contains(out.stderr, "-addr") {
		t.Errorf("%+v", out)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 0 {
		t.Errorf("left behind: %v, %v", files, err)
	}
}
