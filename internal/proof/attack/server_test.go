//go:build proof

package attack

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/internal/proof/program"
)

var megabytes = flag.Int("megabytes", 16, "size of the longest upload, unpacked")

const (
	signingKey = "a key for this test, nothing more"
	network    = "urn:vitrine:example.test"
	library    = "/services/frontline/api/v4/assetManager//example.test/assetLibrary/example.test"
)

var editor = httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=editor", Moderates: []string{network},
	Components: true}}

// build makes the example server once, in a directory that TestMain removes.
var build = sync.OnceValues(func() (string, error) {
	return program.Build{Module: "../../..", Package: "./examples/vitrine"}.Run(scratch)
})

var scratch string

func TestMain(m *testing.M) {
	flag.Parse()
	var err error
	if scratch, err = os.MkdirTemp("", "attack"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	status := m.Run()
	_ = os.RemoveAll(scratch)
	os.Exit(status)
}

// server is the example server in a process of its own, on a store of its own.
type server struct {
	t testing.TB
	*program.Server
	dir, temp string // where the store is, and where its temporary files are
	tokens    *httpapi.Tokens
	token     string // of the editor
	client    *http.Client
}

// start starts the server, with more arguments if they are given.
func start(t testing.TB, more ...string) *server {
	t.Helper()
	binary, err := build()
	if err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, dir: t.TempDir(), temp: t.TempDir()}
	env := []string{"VITRINE_KEY=" + signingKey, "TMPDIR=" + s.temp}
	args := append([]string{"serve", "-addr", "127.0.0.1:0", "-db", filepath.Join(s.dir, "attack.db"), "-access-log"},
		more...)
	s.Server, err = program.StartServer(env, binary, args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Kill)
	if s.tokens, err = httpapi.NewTokens([]byte(signingKey), nil); err != nil {
		t.Fatal(err)
	}
	s.token = s.sign(editor)
	s.client = &http.Client{Timeout: 5 * time.Minute, Transport: &http.Transport{DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return s
}

func (s *server) sign(p httpapi.Principal) string {
	s.t.Helper()
	token, err := s.tokens.Sign(p, time.Now().Add(time.Hour))
	if err != nil {
		s.t.Fatal(err)
	}
	return token
}

// reply is an answer, read to its end. Status 0: the connection was closed without one.
type reply struct {
	t      testing.TB
	what   string
	status int
	header http.Header
	body   string
}

// change is made to a request before it is sent.
type change func(*http.Request)

func header(name, value string) change { return func(r *http.Request) { r.Header.Set(name, value) } }

func (s *server) get(path string, changes ...change) reply {
	return s.send("GET", path, nil, changes...)
}

func (s *server) post(path, body string, changes ...change) reply {
	return s.send("POST", path, strings.NewReader(body), changes...)
}

// send sends a request as the editor.
func (s *server) send(method, path string, body io.Reader, changes ...change) reply {
	s.t.Helper()
	r, err := http.NewRequest(method, s.URL+path, body)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "svctoken "+s.token)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, c := range changes {
		c(r)
	}
	out := reply{t: s.t, what: method + " " + path[:min(len(path), 100)]}
	answer, err := s.client.Do(r)
	if err != nil {
		out.body = err.Error()
		return out
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		s.t.Fatalf("%s: %v", out.what, err)
	}
	out.status, out.header, out.body = answer.StatusCode, answer.Header, string(text)
	return out
}

// want checks the status.
func (r reply) want(status int) reply {
	r.t.Helper()
	if r.status != status {
		r.t.Fatalf("%s: status %d, want %d: %.300s", r.what, r.status, status, r.body)
	}
	return r
}

func (r reply) read(v any) {
	r.t.Helper()
	if err := json.Unmarshal([]byte(r.body), v); err != nil {
		r.t.Fatalf("%s: %v in %.300q", r.what, err, r.body)
	}
}

// component makes a component known, and reports the status.
func (s *server) component(name, schema string) reply {
	return s.post("/components/",
		fmt.Sprintf(`{"name":%q,"version":"1.0.0","main":"https://x.example/a.js","configSchema":%s}`, name, schema))
}

// app makes an app of elements of one component.
func (s *server) app(component string, configs ...string) reply {
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"title":"x","groups":[%q],"elements":[`, network)
	for i, c := range configs {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"component":{"name":%q,"version":"1.0.0"},"config":%s}`, component, c)
	}
	return s.post("/apps/", b.String()+"]}")
}

func (s *server) newApp(component string, configs ...string) string {
	s.t.Helper()
	var out struct{ ID string }
	s.app(component, configs...).want(201).read(&out)
	return out.ID
}

// patch sends a patch of version 0 of an app with these operations.
func (s *server) patch(id, ops string) reply {
	return s.send("PATCH", "/apps/"+id,
		strings.NewReader(`[{"op":"test","path":"/apps/0/version","value":"0"},`+ops+`]`))
}
