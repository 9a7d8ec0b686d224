package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
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
	binary = filepath.Join(dir, "vitrine")
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
	return runWith(t, dir, env, "", args...)
}

// runWith does so with text on standard input.
func runWith(t *testing.T, dir string, env []string, stdin string, args ...string) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Dir, cmd.Env = dir, append([]string{"PATH=" + os.Getenv("PATH")}, env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &stdout, &stderr
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
	url    string // of its root
	base   string // of its base path, as it says
	lines  chan string
	stderr output
	ended  chan error
}

// output is what a running program has written so far.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

var readyLine = regexp.MustCompile(`^serving (https?://127\.0\.0\.1:\d+)(/\S+)?$`)

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
	s.url, s.base = ready[1], ready[1]+ready[2]
	return s
}

// line returns the next line of stdout.
func (s *server) line() string {
	s.t.Helper()
	select {
	case line := <-s.lines:
		return line
	case <-time.After(time.Minute):
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
	case <-time.After(time.Minute):
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
