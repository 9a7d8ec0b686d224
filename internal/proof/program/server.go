package program

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Server is a running server: a child process that says "serving URL" when it is ready.
type Server struct {
	URL            string
	cmd            *exec.Cmd
	stdout, stderr buffer
	ended          chan struct{}
	watch          io.Closer // see outlive
}

// buffer is a bytes.Buffer for two goroutines.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// StartServers fills servers with processes of one command line, which start at the same time. If one of them does not
// serve, it kills the others.
func StartServers(servers []*Server, name string, args ...string) error {
	var group sync.WaitGroup
	failed := make([]error, len(servers))
	for i := range servers {
		group.Go(func() { servers[i], failed[i] = StartServer(nil, name, args...) })
	}
	group.Wait()
	err := errors.Join(failed...)
	if err != nil {
		for i, s := range servers {
			if failed[i] == nil {
				s.Kill()
			}
		}
	}
	return err
}

// StartServer runs a command line with env added to a bare environment, and waits until it serves.
func StartServer(env []string, name string, args ...string) (*Server, error) {
	const patience = 2 * time.Minute
	s := &Server{cmd: exec.Command(name, args...), ended: make(chan struct{})}
	s.cmd.Env, s.cmd.Stderr = env, &s.stderr
	if s.cmd.Env == nil {
		s.cmd.Env = []string{}
	}
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	if err := s.outlive(); err != nil {
		_ = s.cmd.Process.Kill() // nobody waits for it yet
		return nil, errors.Join(err, s.cmd.Wait())
	}
	ready := make(chan string, 1)
	go func() {
		defer close(s.ended)
		for in := bufio.NewScanner(stdout); in.Scan(); {
			_, _ = fmt.Fprintln(&s.stdout, in.Text())
			if url, ok := strings.CutPrefix(in.Text(), "serving "); ok {
				ready <- url
			}
		}
		_ = s.watch.Close() // before Wait, after which another process may get the number
		_ = s.cmd.Wait()    // its error is only the signal that has killed the process
	}()
	select {
	case s.URL = <-ready:
		return s, nil
	case <-s.ended:
		return nil, fmt.Errorf("the server has ended before it served: %s", s.stderr.String())
	case <-time.After(patience):
		s.Kill()
		return nil, fmt.Errorf("the server does not serve after %s: %s", patience, s.stderr.String())
	}
}

// outlive starts a shell that kills the server when this process ends. The shell is told to leave if the server ends
// before.
func (s *Server) outlive() error {
	const wait = `read -r word; [ "$word" = leave ] || kill -9 "$1"`
	shell := exec.Command("sh", "-c", wait, "sh", strconv.Itoa(s.Pid()))
	shell.SysProcAttr = apart()
	in, err := shell.StdinPipe()
	if err != nil {
		return err
	}
	s.watch = leave{in, shell}
	return shell.Start()
}

// leave tells the shell of outlive to leave.
type leave struct {
	in    io.WriteCloser
	shell *exec.Cmd
}

func (l leave) Close() error {
	_, err := io.WriteString(l.in, "leave\n")
	return errors.Join(err, l.in.Close(), l.shell.Wait())
}

// Output returns what the process has written to its standard output.
func (s *Server) Output() string { return s.stdout.String() }

// Kill ends the process with SIGKILL and waits for its end.
func (s *Server) Kill() {
	_ = s.cmd.Process.Kill() // fails if the process has ended by itself
	<-s.ended
}

// Pid returns the number of the process.
func (s *Server) Pid() int { return s.cmd.Process.Pid }

// Signal sends the process a signal.
func (s *Server) Signal(signal os.Signal) error { return s.cmd.Process.Signal(signal) }

// Wait waits for the end of the process, for most at most, and returns its exit status, or -1 if a signal has ended it.
func (s *Server) Wait(most time.Duration) (status int, err error) {
	select {
	case <-s.ended:
		return s.cmd.ProcessState.ExitCode(), nil
	case <-time.After(most):
		return 0, fmt.Errorf("the server still runs after %s", most)
	}
}

// Log returns what the process has written to its standard error.
func (s *Server) Log() string { return s.stderr.String() }
