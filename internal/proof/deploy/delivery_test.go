//go:build proof && linux

package deploy_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
)

// delivery is the path of an app with the tag production, and a key for pages.
func delivery(t *testing.T, app string) string {
	t.Helper()
	tokens, err := httpapi.NewTokens([]byte(key), nil)
	if err != nil {
		t.Fatal(err)
	}
	page, err := tokens.Sign(httpapi.Principal{Caller: vitrine.Caller{URN: "urn:vitrine:example.test:user=page",
		Reads: []string{"urn:vitrine:example.test"}, TagsOnly: true, Tags: []string{"production"}}},
		time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	return "/x/public/production?app=" + app + "&key=" + page
}

// ask sends a request as a browser does, to the site or to another name.
func (p *proxy) ask(t *testing.T, path string, headers ...string) answer {
	t.Helper()
	return send(t, p.dial(t), request{"GET", path, headers, ""})
}

// nginx keeps what pages get, for as long as Vitrine says, for each name and each form apart, and nothing else.
func TestNginxKeepsDeliveries(t *testing.T) {
	t.Parallel()
	s := newServer(t, "-public-cache", "2s")
	app, _ := s.fill(t)
	path := delivery(t, app)
	p := kinds[0].before(t, s.address)
	want := func(path, status string, headers ...string) answer {
		t.Helper()
		a := p.ask(t, path, headers...)
		if got := a.header.Get("X-Cache-Status"); got != status || a.status != 200 {
			t.Errorf("%.80s %q: %d %s, want %s\n%s", path, headers, a.status, got, status, a.body)
		}
		return a
	}
	first := want(path, "MISS")
	second := want(path, "HIT", "Cookie: a=b", "Origin: https://shop.test")
	if first.body != second.body || !strings.Contains(second.body, `"version":"0"`) ||
		second.header.Get("Etag") != first.header.Get("Etag") ||
		second.header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("%v\n%v", first, second)
	}
	zipped := want(path, "MISS", "Accept-Encoding: gzip")
	if again := want(path, "HIT", "Accept-Encoding: gzip"); again.body != zipped.body {
		t.Error("the second visitor gets another form")
	}
	if a := p.ask(t, path, "If-None-Match: "+first.header.Get("Etag")); a.status != 304 ||
		a.header.Get("X-Cache-Status") != "HIT" {
		t.Errorf("asked again: %d %v", a.status, a.header)
	}
	// A name that an attacker chooses is seen by nobody else.
	conn := p.dial(t)
	if a := send(t, conn, request{"GET", path, []string{"X-Forwarded-Host: evil.test"}, ""}); strings.Contains(a.body,
		"evil") {
		t.Error(a.body)
	}
	for range 2 { // errors are not kept
		if a := p.ask(t, path+"x"); a.status != 401 || a.header.Get("X-Cache-Status") != "MISS" {
			t.Errorf("a wrong key: %d %v", a.status, a.header)
		}
	}
	if strings.Contains(p.logged(t), path[len(path)-40:]) {
		t.Error("the log has the key")
	}
	// A tag that moves is seen when the time is over.
	s.do(t, "PATCH", "/apps/"+app,
		`[{"op":"test","path":"/apps/0/version","value":"0"},{"op":"replace","path":"/apps/0/title","value":"New"}]`,
		200)
	s.do(t, "PUT", "/apps/"+app+"/tags/production", `{"appVersion":"1"}`, 201)
	begun := time.Now()
	for !strings.Contains(p.ask(t, path).body, `"version":"1"`) {
		if time.Since(begun) > 10*time.Second {
			t.Fatal("the moved tag is not seen")
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Logf("a moved tag was seen after %v", time.Since(begun))
}

// While Vitrine fails, hangs or is away, pages get what it answered last, and the script that shows it, for as long as
// the file says.
func TestNginxAnswersWithoutVitrine(t *testing.T) {
	t.Parallel()
	var fails atomic.Value
	fails.Store("")
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch fails.Load() {
		case "503":
			w.WriteHeader(503)
		case "hangs":
			<-r.Context().Done()
		default:
			age := map[string]string{"/x/public/production": "max-age=0, s-maxage=1",
				"/x/vitrine.js": "max-age=1"}[r.URL.Path]
			w.Header().Set("Cache-Control", "public, "+age)
		}
	}))
	p := kinds[0].before(t, backend.Listener.Addr().String(), "stale-if-error=60", "stale-if-error=20",
		"proxy_read_timeout 10s", "proxy_read_timeout 1s")
	paths := []string{"/x/vitrine.js", "/x/public/production"}
	for _, path := range paths {
		if a := p.ask(t, path); a.status != 200 {
			t.Fatal(a)
		}
	}
	begun := time.Now()
	time.Sleep(2 * time.Second)
	stale := func(how string) {
		t.Helper()
		for _, path := range paths {
			if a := p.ask(t, path); a.status != 200 || a.header.Get("X-Cache-Status") != "STALE" {
				t.Errorf("%s while the service %s: %d %v", path, how, a.status, a.header)
			}
		}
	}
	for _, how := range []string{"503", "hangs"} {
		fails.Store(how)
		stale(how)
	}
	backend.CloseClientConnections()
	backend.Close()
	stale("is away")
	time.Sleep(time.Until(begun.Add(22 * time.Second)))
	if a := p.ask(t, "/x/public/production"); a.status != 502 {
		t.Errorf("after that time: %d %v", a.status, a.header)
	}
	paths = paths[:1]
	stale("is away for longer")
}

// vitrine-purge deletes what has changed from the cache of nginx at once.
func TestPurge(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"curl", "sed", "grep", "find", "xargs"} {
		tool(t, name)
	}
	s := newServer(t, "-public-cache", "1h")
	app, other := s.fill(t)
	s.do(t, "PUT", "/apps/"+other+"/tags/production", `{"appVersion":"0"}`, 201)
	p := kinds[0].before(t, s.address)
	purge := exec.Command("sh", filepath.Join(root, "examples", "deploy", "vitrine-purge"), s.URL,
		filepath.Join(p.dir, "cache"))
	purge.Env = append(purge.Environ(), "TOKEN="+s.token)
	purge.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := purge.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-purge.Process.Pid, syscall.SIGKILL) // with its curl
		_ = purge.Wait()
	})
	path, both := delivery(t, app), delivery(t, other+"&app="+app)
	kept := func(path, status string) string {
		t.Helper()
		var a answer
		for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			if a = p.ask(t, path); a.header.Get("X-Cache-Status") == status {
				return a.body
			}
		}
		t.Fatalf("%d %v, want %s", a.status, a.header, status)
		return ""
	}
	var made struct{ Key string }
	if err := json.Unmarshal([]byte(s.do(t, "POST", "/x/keys/", `{"name":"build","kind":"public","list":true,`+
		`"reads":["urn:vitrine:example.test"],"tags":["production"]}`, 201).body), &made); err != nil {
		t.Fatal(err)
	}
	alone, list := delivery(t, other), "/x/public/production?key="+made.Key
	for _, path := range []string{path, both, alone, list} {
		kept(path, "HIT")
	}
	time.Sleep(2 * time.Second) // it follows
	for _, path := range []string{path, both, alone, list} {
		kept(path, "HIT")
	}
	begun := time.Now()
	s.do(t, "DELETE", "/apps/"+app+"/tags/production", "", 204)
	if body := kept(path, "MISS"); !strings.Contains(body, "not_found") {
		t.Error(body)
	}
	t.Logf("purged after %v", time.Since(begun))
	if body := kept(list, "MISS"); strings.Contains(body, app) || !strings.Contains(body, other) {
		t.Error(body)
	}
	if body := kept(both, "MISS"); !strings.Contains(body, "not_found") {
		t.Error(body)
	}
	if a := p.ask(t, alone); a.header.Get("X-Cache-Status") != "HIT" {
		t.Errorf("another app: %v", a.header)
	}
}

// Caddy keeps nothing as it comes. It hands over what other caches need.
func TestCaddyHandsOverDeliveries(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	app, _ := s.fill(t)
	path := delivery(t, app)
	p := kinds[1].before(t, s.address)
	want := s.direct(t, request{"GET", path, nil, ""})
	a := p.ask(t, path)
	if diff := a.differs(want); diff != "" || a.header.Get("Cache-Control") != "public, max-age=0, s-maxage=30" ||
		a.header.Get("Cache-Tag") != "app-"+app {
		t.Errorf("%s %v", diff, a.header)
	}
	if a := p.ask(t, path, "If-None-Match: "+a.header.Get("Etag")); a.status != 304 {
		t.Errorf("asked again: %d", a.status)
	}
}
