package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// programVariable makes the test binary the program itself, which gets the arguments and environment of a process of
// its own.
const programVariable = "TEST_RUNS_THE_PROGRAM"

func TestMain(m *testing.M) {
	if kind := os.Getenv(benchVariable); kind != "" {
		fmt.Fprintln(os.Stderr, benchServe(kind))
		os.Exit(1)
	}
	if os.Getenv(programVariable) != "" {
		main()
	}
	os.Exit(m.Run())
}

// outcome is a finished run of the program.
type outcome struct {
	status         int
	stdout, stderr string
}

// entering is held while a test changes its working directory.
var entering sync.Mutex

// enter makes dir the working directory until the test ends. The directory is that of the whole process, so no test
// that enters one may run in parallel with others.
func enter(t *testing.T, dir string) {
	t.Helper()
	entering.Lock()
	defer entering.Unlock()
	if now, err := os.Getwd(); err != nil {
		t.Fatal(err)
	} else if now != dir {
		t.Chdir(dir)
	}
}

// newProgram returns the program as a process with env as its whole environment would have it.
func newProgram(env []string, stdin string, stdout, stderr io.Writer) *program {
	return &program{stdin: strings.NewReader(stdin), stdout: stdout, stderr: stderr, environ: env,
		getenv: func(name string) string {
			for _, setting := range slices.Backward(env) {
				if set, value, _ := strings.Cut(setting, "="); set == name {
					return value
				}
			}
			return ""
		}}
}

// run runs a command line in a directory to its end, in the process of the test.
func run(t *testing.T, dir string, env []string, args ...string) outcome {
	t.Helper()
	return runWith(t, dir, env, "", args...)
}

// runWith does so with text on standard input.
func runWith(t *testing.T, dir string, env []string, stdin string, args ...string) outcome {
	t.Helper()
	enter(t, dir)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var stdout, stderr bytes.Buffer
	status := newProgram(env, stdin, &stdout, &stderr).run(ctx, args)
	return outcome{status, stdout.String(), stderr.String()}
}

// testServer is a serve that runs in the process of the test.
type testServer struct {
	t         *testing.T
	url       string // of its root
	base      string // of its base path, as it says
	lines     chan string
	stderr    output
	interrupt context.CancelFunc
	ended     chan int // gets the exit status
}

// output is what a running program has written so far.
type output struct {
	mu    sync.Mutex
	text  bytes.Buffer
	wrote chan struct{} // closed by the next Write; nil if nobody waits for it
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.wrote != nil {
		close(o.wrote)
		o.wrote = nil
	}
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// next returns what is written so far, and a channel that is closed when more is written.
func (o *output) next() (string, <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.wrote == nil {
		o.wrote = make(chan struct{})
	}
	return o.text.String(), o.wrote
}

var readyLine = regexp.MustCompile(`^serving (http://localhost:\d+|https://127\.0\.0\.1:\d+)(/\S+)?$`)

// start runs serve on a port of its own and waits until it says where it is. It stops when the test ends, if not
// before.
func start(t *testing.T, dir string, env []string, args ...string) *testServer {
	t.Helper()
	enter(t, dir)
	ctx, interrupt := context.WithCancel(context.WithoutCancel(t.Context()))
	s := &testServer{t: t, lines: make(chan string, 100), interrupt: interrupt, ended: make(chan int, 1)}
	stdout, stdoutEnd := io.Pipe()
	go func() {
		defer close(s.lines)
		for in := bufio.NewScanner(stdout); in.Scan(); {
			s.lines <- in.Text()
		}
	}()
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		s.ended <- newProgram(env, "", stdoutEnd, &s.stderr).run(ctx,
			append([]string{"serve", "-addr", "127.0.0.1:0"}, args...))
		stdoutEnd.Close()
	}()
	t.Cleanup(func() {
		interrupt()
		<-stopped
	})
	ready := readyLine.FindStringSubmatch(s.line())
	if ready == nil {
		t.Fatalf("the first line on stdout is not the URL; stderr: %s", s.stderr.String())
	}
	s.url, s.base = ready[1], ready[1]+ready[2]
	return s
}

// line returns the next line of stdout.
func (s *testServer) line() string {
	s.t.Helper()
	select {
	case line := <-s.lines:
		return line
	case <-time.After(time.Minute):
		s.t.Fatal("nothing on stdout")
	}
	return ""
}

// stop interrupts the server and waits for a clean end.
func (s *testServer) stop() {
	s.t.Helper()
	s.interrupt()
	select {
	case status := <-s.ended:
		if status != 0 {
			s.t.Fatalf("ended with %d: %s", status, s.stderr.String())
		}
	case <-time.After(time.Minute):
		s.t.Fatal("the server did not stop")
	}
}

// logsAgain waits until the log has said something more often than before.
func (s *testServer) logsAgain(says string, before int) {
	s.t.Helper()
	end := time.After(time.Minute)
	for {
		log, more := s.stderr.next()
		if strings.Count(log, says) > before {
			return
		}
		select {
		case <-more:
		case <-end:
			s.t.Fatalf("%q was not logged: %s", says, log)
		}
	}
}

// logs waits until the log says something.
func (s *testServer) logs(says string) {
	s.t.Helper()
	s.logsAgain(says, 0)
}

// hangup sends SIGHUP to the process, and waits until the log says something once more.
func (s *testServer) hangup(says string) {
	s.t.Helper()
	before := strings.Count(s.stderr.String(), says)
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Signal(syscall.SIGHUP)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.logsAgain(says, before)
}

// do sends a request and checks the status of the answer.
func (s *testServer) do(token, method, path, body string, status int) string {
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

var editor = []string{"-urn", "urn:vitrine:example.test:user=editor", "-moderates", "urn:vitrine:example.test",
	"-components"}

// newToken runs the command token for the editor.
func newToken(t *testing.T, dir string, env []string, more ...string) string {
	t.Helper()
	out := run(t, dir, env, append(append([]string{"token"}, editor...), more...)...)
	if out.status != 0 || strings.Count(out.stdout, "\n") != 1 {
		t.Fatalf("token: %+v", out)
	}
	return strings.TrimSpace(out.stdout)
}
