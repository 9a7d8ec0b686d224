//go:build proof

package soak

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/internal/proof/program"
)

const (
	network = "urn:vitrine:example.test"
	library = "/services/frontline/api/v4/assetManager//example.test/assetLibrary/example.test"
	// patience is for what must happen, on a machine that is busy.
	patience = 2 * time.Minute
)

// world is the server and its clients.
type world struct {
	t *testing.T
	*program.Server
	binary, dir string
	client      *http.Client

	mu     sync.Mutex
	tokens *httpapi.Tokens // signs with the first key of the file
	done   map[string]int  // how often each kind of load was there
	apps   []app
}

// app is an app that one client changes.
type app struct {
	id      string
	version int
}

func newWorld(t *testing.T, binary string) *world {
	t.Helper()
	w := &world{t: t, binary: binary, dir: t.TempDir(), done: map[string]int{}}
	w.client = &http.Client{Timeout: patience, Transport: &http.Transport{MaxIdleConnsPerHost: 100}}
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
	}))
	t.Cleanup(receiver.Close)
	w.write("hooks.json",
		fmt.Sprintf(`[{"name":"all","url":%q,"secret":"whsec_%s"}]`, receiver.URL, strings.Repeat("QUFB", 8)))
	w.setKeys(key(0))
	var err error
	w.Server, err = program.StartServer([]string{"TMPDIR=" + t.TempDir()}, binary, "serve", "-addr", "127.0.0.1:0",
		"-db", w.db(), "-key-file", w.path("keys"),
		"-metrics-addr", "127.0.0.1:0", "-webhooks", w.path("hooks.json"), "-webhooks-allow", "127.0.0.0/8",
		"-keep-changes", "5m", "-protect-tags", "production", "-max-files", "1000GB")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Kill)
	return w
}

func (w *world) path(name string) string { return filepath.Join(w.dir, name) }

func (w *world) db() string { return w.path("soak.db") }

// write replaces a file in one step.
func (w *world) write(name, text string) {
	w.t.Helper()
	err := os.WriteFile(w.path(name+".new"), []byte(text), 0o600)
	if err == nil {
		err = os.Rename(w.path(name+".new"), w.path(name))
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// key is the key of a round.
func key(round int) string { return fmt.Sprintf("a key for this test, number %06d", round) }

// setKeys writes the file of keys. From now on clients sign with the first.
func (w *world) setKeys(keys ...string) {
	w.t.Helper()
	w.write("keys", strings.Join(keys, "\n")+"\n")
	tokens, err := httpapi.NewTokens([]byte(keys[0]), nil)
	if err != nil {
		w.t.Fatal(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tokens = tokens
}

// rotate has the server sign off one key and take up the next, in the order that fails no request: the new key is
// added, used, and then the old one is removed.
func (w *world) rotate(round int) {
	before, after := key(round), key(round+1)
	w.setKeys(before, after)
	w.hangup()
	w.setKeys(after, before)
	w.hangup()
}

// hangup sends SIGHUP and waits until the keys were read again.
func (w *world) hangup() {
	const says = "the keys were read again"
	before := strings.Count(w.Log(), says)
	if err := w.Signal(syscall.SIGHUP); err != nil {
		w.t.Error(err)
		return
	}
	for end := time.Now().Add(patience); strings.Count(w.Log(), says) == before; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			w.t.Error("the keys are not read again after SIGHUP")
			return
		}
	}
}

// token signs a token of a user.
func (w *world) token(user string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	token, err := w.tokens.Sign(
		httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=" + user, Moderates: []string{network},
			Components: true}}, time.Now().Add(time.Hour))
	if err != nil {
		w.t.Error(err)
	}
	return token
}

// send sends a request, and returns the body of the response, which must have the status. It repeats a request that
// is answered with 503 and Retry-After, for two minutes at most.
func (w *world) send(method, path, body string, status int, headers ...string) string {
	for end := time.Now().Add(patience); ; time.Sleep(time.Second) {
		r, err := http.NewRequest(method, w.URL+path, strings.NewReader(body))
		if err != nil {
			w.t.Error(err)
			return ""
		}
		r.Header.Set("Authorization", "Bearer "+w.token("editor"))
		r.Header.Set("Content-Type", "application/json")
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		answer, err := w.client.Do(r)
		if err != nil {
			w.t.Errorf("%s %s: %v", method, path, err)
			return ""
		}
		text, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if answer.StatusCode == http.StatusServiceUnavailable && answer.Header.Get("Retry-After") != "" &&
			time.Now().Before(end) {
			continue
		}
		if err != nil || answer.StatusCode != status {
			w.t.Errorf("%s %s: %d, want %d; %v: %.300s", method, path, answer.StatusCode, status, err, text)
		}
		return string(text)
	}
}

func (w *world) get(path string, status int) string { return w.send("GET", path, "", status) }

// read reads a response into v.
func (w *world) read(text string, v any) {
	if err := json.NewDecoder(bytes.NewReader([]byte(text))).Decode(v); err != nil {
		w.t.Errorf("%v in %.300q", err, text)
	}
}

// figures reads the metrics.
func (w *world) figures() map[string]float64 {
	have, err := w.Metrics()
	if err != nil {
		w.t.Error(err)
	}
	return have
}

// until waits until the metrics are as they should be.
func (w *world) until(what string, holds func(map[string]float64) bool) map[string]float64 {
	w.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		have := w.figures()
		if holds(have) || w.t.Failed() {
			return have
		}
		if time.Now().After(end) {
			w.t.Fatalf("it is not so that %s: %v", what, have)
		}
	}
}

// stop stops the server, which must end well.
func (w *world) stop() {
	if err := w.Signal(syscall.SIGTERM); err != nil {
		w.t.Error(err)
	}
	if status, err := w.Wait(patience); err != nil || status != 0 {
		w.t.Errorf("the server ends with %d, %v", status, err)
	}
}
