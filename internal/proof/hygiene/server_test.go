//go:build proof && linux

package hygiene

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/internal/proof/program"
)

const (
	urn        = "urn:vitrine:hygiene.test"
	signingKey = "a key for this test, nothing more"
	patience   = 6 * second // longer than any limit of the shortened server, with a busy machine
)

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "vitrine-hygiene-")
	if err != nil {
		panic(err)
	}
	buildDir = dir
	_ = flag.Set("test.parallel", "16") // scenarios wait more than they work
	status := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(status)
}

// server is the server under test.
type server struct {
	*program.Server
	token string
	http  *http.Client // one request a connection
}

// start starts a server on a store of its own. descriptors is how many the system lets it have, 0 for as many as there
// are.
func start(t *testing.T, build func() (string, error), descriptors int) *server {
	t.Helper()
	binary, err := build()
	if err != nil {
		t.Fatal(err)
	}
	env := []string{"VITRINE_KEY=" + signingKey, fmt.Sprintf("GORACE=exitcode=%d", program.RaceStatus)}
	args := []string{binary, "serve", "-addr", "127.0.0.1:0", "-metrics-addr", "127.0.0.1:0", "-db",
		filepath.Join(t.TempDir(), "hygiene.db"), "-access-log"}
	if descriptors > 0 {
		args = append([]string{"/bin/sh", "-c", fmt.Sprintf(`ulimit -n %d; exec "$0" "$@"`, descriptors)}, args...)
	}
	up, err := program.StartServer(env, args[0], args[1:]...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(up.Kill)
	tokens, err := httpapi.NewTokens([]byte(signingKey), nil)
	if err != nil {
		t.Fatal(err)
	}
	token, err := tokens.Sign(
		httpapi.Principal{Caller: vitrine.Caller{URN: urn + ":user=editor", Moderates: []string{urn},
			Components: true}}, time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	return &server{Server: up, token: token,
		http: &http.Client{Timeout: 2 * patience, Transport: &http.Transport{DisableKeepAlives: true}}}
}

func (s *server) addr() string { return strings.TrimPrefix(s.URL, "http://") }

// do sends a request on a connection of its own and returns the body of the answer, which must have
// the status want and be whole.
func (s *server) do(method, path, body string, want int) (text []byte, err error) {
	r, err := http.NewRequest(method, s.URL+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "svctoken "+s.token)
	r.Header.Set("Content-Type", "application/json")
	answer, err := s.http.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if text, err = io.ReadAll(answer.Body); err != nil {
		return nil, fmt.Errorf("%s %s: the answer is cut off: %w", method, path, err)
	}
	if answer.StatusCode != want {
		return nil, fmt.Errorf("%s %s: status %d, want %d: %.300s", method, path, answer.StatusCode, want, text)
	}
	return text, nil
}

const oneApp = `{"title":"One","groups":["` + urn + `:site=1"]}`

// alive makes a change and reads it, each with a bounded patience.
func (s *server) alive() error {
	for _, r := range []struct {
		method, path, body string
		want               int
	}{{"POST", "/apps/", oneApp, 201}, {"GET", "/apps/?limit=1", "", 200}} {
		begin := time.Now()
		if _, err := s.do(r.method, r.path, r.body, r.want); err != nil {
			return fmt.Errorf("an ordinary request: %w", err)
		}
		if took := time.Since(begin); took > patience {
			return fmt.Errorf("an ordinary request took %s", took)
		}
	}
	return nil
}

// holds is what a process holds.
type holds struct{ goroutines, sockets, files int }

// probe asks the process what it holds.
func (s *server) probe() (h holds, err error) {
	metrics, err := s.Metrics()
	if err != nil {
		return h, err
	}
	h.goroutines = int(metrics["go_goroutines"])
	h.sockets, h.files, err = s.descriptors()
	return h, err
}

// descriptors counts the sockets that the process has, and what else.
func (s *server) descriptors() (sockets, files int, err error) {
	dir := fmt.Sprintf("/proc/%d/fd/", s.Pid())
	all, err := os.ReadDir(dir)
	for _, one := range all {
		if target, err := os.Readlink(dir + one.Name()); err == nil && strings.HasPrefix(target, "socket:") {
			sockets++
		} else {
			files++
		}
	}
	return sockets, files, err
}

// returned waits until the process holds no more than it did. The store keeps two files open for each
// of at most 64 readers.
func (s *server) returned(to holds) error {
	const files = 150
	var now holds
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		var err error
		if now, err = s.probe(); err != nil {
			return err
		}
		if now.goroutines <= to.goroutines && now.sockets <= to.sockets && now.files <= files {
			return nil
		}
	}
	return fmt.Errorf("%d goroutines, %d sockets and %d files are left, there were %d, %d and %d",
		now.goroutines, now.sockets, now.files, to.goroutines, to.sockets, to.files)
}

// said is the end of the log.
func (s *server) said() string {
	log := s.Log()
	return log[max(0, len(log)-2000):]
}

// errUnsound is what no busy machine brings about.
var errUnsound = errors.New("the server is not sound")

// sound is what must hold of every log: nothing was found by the race detector or ended a goroutine,
// and no token was written.
func (s *server) sound() error {
	log := s.Log()
	for _, bad := range []string{"WARNING: DATA RACE", "fatal error", "http: panic serving", s.token,
		s.token[len(s.token)/2:]} {
		if at := strings.Index(log, bad); at >= 0 {
			return fmt.Errorf("%w: the log says %.2000s", errUnsound, log[at:])
		}
	}
	return nil
}
