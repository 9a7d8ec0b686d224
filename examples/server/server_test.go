package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// binary is the program under test, built once.
var binary string

func TestMain(m *testing.M) {
	if kind := os.Getenv(benchVariable); kind != "" {
		fmt.Fprintln(os.Stderr, benchServe(kind))
		os.Exit(1)
	}
	dir, err := os.MkdirTemp("", "vitrine-server-test-")
	if err != nil {
		panic(err)
	}
	binary = filepath.Join(dir, "server")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building the server: %v\n%s", err, out)
		os.Exit(1)
	}
	status := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(status)
}

// outcome is a finished run of the program.
type outcome struct {
	status         int
	stdout, stderr string
}

// run runs the program in a directory to its end; env is added to a clean environment.
func run(t *testing.T, dir string, env []string, args ...string) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Dir, cmd.Env = dir, append([]string{"PATH=" + os.Getenv("PATH")}, env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return outcome{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// server is a running serve.
type server struct {
	t      *testing.T
	cmd    *exec.Cmd
	url    string
	lines  chan string
	stderr bytes.Buffer
	ended  chan error
}

var readyLine = regexp.MustCompile(`^serving (http://127\.0\.0\.1:\d+)$`)

// start runs serve on a port of its own and waits until it says where it is.
func start(t *testing.T, dir string, env []string, args ...string) *server {
	t.Helper()
	s := &server{t: t, lines: make(chan string, 100), ended: make(chan error, 1)}
	s.cmd = exec.Command(binary, append([]string{"serve", "-addr", "127.0.0.1:0"}, args...)...)
	s.cmd.Dir, s.cmd.Env = dir, append([]string{"PATH=" + os.Getenv("PATH")}, env...)
	s.cmd.Stderr = &s.stderr
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(s.lines)
		for in := bufio.NewScanner(stdout); in.Scan(); {
			s.lines <- in.Text()
		}
		s.ended <- s.cmd.Wait()
	}()
	t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	ready := readyLine.FindStringSubmatch(s.line())
	if ready == nil {
		t.Fatalf("the first line on stdout is not the URL; stderr: %s", s.stderr.String())
	}
	s.url = ready[1]
	return s
}

// line returns the next line of stdout.
func (s *server) line() string {
	s.t.Helper()
	select {
	case line := <-s.lines:
		return line
	case <-time.After(20 * time.Second):
		s.t.Fatal("nothing on stdout")
	}
	return ""
}

// stop sends a signal and waits for a clean end.
func (s *server) stop(signal os.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(signal); err != nil {
		s.t.Fatal(err)
	}
	select {
	case err := <-s.ended:
		if err != nil {
			s.t.Fatalf("ended with %v: %s", err, s.stderr.String())
		}
	case <-time.After(20 * time.Second):
		s.t.Fatal("the server did not stop")
	}
}

// do sends a request and checks the status of the answer.
func (s *server) do(token, method, path, body string, status int) string {
	s.t.Helper()
	r, err := http.NewRequest(method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "svctoken "+token)
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	if answer.StatusCode != status {
		s.t.Fatalf("%s %s: %d, want %d: %s", method, path, answer.StatusCode, status, text)
	}
	return string(text)
}

var editor = []string{"-urn", "urn:vitrine:example.test:user=editor", "-moderates", "urn:vitrine:example.test", "-components"}

// newToken runs the command token for the editor.
func newToken(t *testing.T, dir string, env []string, more ...string) string {
	t.Helper()
	out := run(t, dir, env, append(append([]string{"token"}, editor...), more...)...)
	if out.status != 0 || strings.Count(out.stdout, "\n") != 1 {
		t.Fatalf("token: %+v", out)
	}
	return strings.TrimSpace(out.stdout)
}

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

func TestSigningKeys(t *testing.T) {
	t.Run("the file is made once, for its owner only", func(t *testing.T) {
		dir := t.TempDir()
		var made sync.WaitGroup
		for range 8 {
			made.Go(func() { newToken(t, dir, nil, "-db", "v.db") })
		}
		made.Wait()
		first, err := os.ReadFile(filepath.Join(dir, "v.db.key"))
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(filepath.Join(dir, "v.db.key"))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("mode %v, %v", info.Mode(), err)
		}
		files, err := os.ReadDir(dir)
		if err != nil || len(files) != 1 {
			t.Errorf("left beside the key: %v, %v", files, err)
		}
		token := newToken(t, dir, nil, "-db", "v.db")
		if second, _ := os.ReadFile(filepath.Join(dir, "v.db.key")); !bytes.Equal(first, second) {
			t.Error("the key changed")
		}
		s := start(t, dir, nil, "-db", "v.db")
		s.do(token, "GET", "/apps/", "", 200)
	})
	t.Run("a variable or a file may hold it", func(t *testing.T) {
		dir := t.TempDir()
		variable := []string{"VITRINE_KEY=0123456789abcdef0123456789abcdef"}
		if err := os.WriteFile(filepath.Join(dir, "k"), []byte("0123456789abcdef0123456789abcdef\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		s := start(t, dir, variable, "-db", "memory:")
		s.do(newToken(t, dir, variable), "GET", "/apps/", "", 200)
		s.do(newToken(t, dir, nil, "-key-file", "k", "-db", "memory:"), "GET", "/apps/", "", 200)
		s.do(newToken(t, dir, nil, "-db", "v.db"), "GET", "/apps/", "", 401)
		other := []string{"VITRINE_KEY=another key, that the file goes before"}
		s.do(newToken(t, dir, other, "-key-file", "k"), "GET", "/apps/", "", 200)
	})
	t.Run("it must be there and long enough", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "empty"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			env  []string
			args []string
			word string
		}{
			{nil, []string{"-db", "memory:"}, "-key-file"}, {nil, []string{"-key-file", "empty"}, "empty"},
			{[]string{"VITRINE_KEY=short"}, nil, "too short"}, {nil, []string{"-key-file", "no/such/dir"}, "no/such/dir"},
		} {
			out := run(t, dir, c.env, append(append([]string{"token"}, editor...), c.args...)...)
			if out.status != 1 || out.stdout != "" || !strings.Contains(out.stderr, c.word) {
				t.Errorf("%v %v: %+v", c.env, c.args, out)
			}
		}
	})
}

func TestTokensExpire(t *testing.T) {
	dir := t.TempDir()
	s := start(t, dir, nil, "-db", "v.db")
	s.do(newToken(t, dir, nil, "-db", "v.db", "-ttl", "-1s"), "GET", "/apps/", "", 401)
	s.do(newToken(t, dir, nil, "-db", "v.db", "-ttl", "1m"), "GET", "/apps/", "", 200)
	s.do("", "GET", "/healthz", "", 200)
}

func TestCommandLinesThatMakeNoSense(t *testing.T) {
	dir := t.TempDir()
	for _, args := range [][]string{
		{"spam"}, {"-spam"}, {"serve", "-spam"}, {"serve", "now"}, {"-base-path", "/a//b", "-db", "memory:"}, {"-base-url", "x", "-db", "memory:"},
		{"token"}, {"token", "-urn", "bob"}, {"token", "-urn", "urn:vitrine:x:user=y", "-ttl", "soon"}, {"token", "-urn", "urn:vitrine:x:user=y", "more"},
		{"backup"}, {"backup", "a", "b"}, {"healthz", "x"}, {"-db", ""},
	} {
		out := run(t, dir, nil, args...)
		if out.status != 2 || out.stdout != "" || !strings.Contains(out.stderr, "usage:") {
			t.Errorf("%v: %+v", args, out)
		}
	}
	for _, args := range [][]string{{"-h"}, {"help"}, {"serve", "-help"}, {"token", "--help"}} {
		if out := run(t, dir, nil, args...); out.status != 0 || !strings.Contains(out.stdout, "server backup") {
			t.Errorf("%v: %+v", args, out)
		}
	}
	for _, args := range [][]string{
		{"-db", "postgres://localhost/vitrine"}, {"token", "-urn", "urn:vitrine:x:user=y", "-db", "postgres://localhost/vitrine"},
		{"backup", "-db", "postgres://localhost/vitrine", "out"},
	} {
		if out := run(t, dir, nil, args...); out.status != 1 || !strings.Contains(out.stderr, "no PostgreSQL driver") {
			t.Errorf("%v: %+v", args, out)
		}
	}
	for _, args := range [][]string{{"backup", "-db", "none.db", "out"}, {"backup", "-db", "memory:", "out"}} {
		if out := run(t, dir, nil, args...); out.status != 1 || out.stderr == "" {
			t.Errorf("%v: %+v", args, out)
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
