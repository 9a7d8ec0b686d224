package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// hookKey signs the deliveries of these tests; canary is a part of what must not be shown.
const hookKey = "a canary of 32 bytes, not shown."

var hookSecret = "whsec_" + base64.StdEncoding.EncodeToString([]byte(hookKey))

// posted is a delivery that a receiver got and found to be signed.
type posted struct {
	path, id, kind, app, tag string
}

// receiver returns a server that verifies what it gets, and where that goes.
func receiver(t *testing.T) (*httptest.Server, chan posted) {
	got := make(chan posted, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		id := r.Header.Get("webhook-id")
		mac := hmac.New(sha256.New, []byte(hookKey))
		fmt.Fprintf(mac, "%s.%s.%s", id, r.Header.Get("webhook-timestamp"), body)
		if want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)); r.Header.Get("webhook-signature") != want {
			t.Errorf("%s: %v is not signed", body, r.Header)
		}
		var in struct {
			Type string
			Data struct{ App, Tag string }
		}
		if err := json.Unmarshal(body, &in); err != nil {
			t.Error(err)
		}
		got <- posted{r.URL.Path, id, in.Type, in.Data.App, in.Data.Tag}
	}))
	t.Cleanup(server.Close)
	return server, got
}

func next(t *testing.T, got chan posted) posted {
	t.Helper()
	select {
	case p := <-got:
		return p
	case <-time.After(time.Minute):
		t.Fatal("nothing was delivered")
	}
	return posted{}
}

func hook(name, url, more string) string {
	return fmt.Sprintf(`{"name":%q,"url":%q,"secret":%q%s}`, name, url, hookSecret, more)
}

func writeHooks(t *testing.T, dir string, mode os.FileMode, hooks ...string) {
	t.Helper()
	file := filepath.Join(dir, "hooks.json")
	if err := os.WriteFile(file, []byte("["+strings.Join(hooks, ",")+"]"), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file, mode); err != nil {
		t.Fatal(err)
	}
}

// create creates an app and returns its id.
func (s *testServer) create(token string) string {
	s.t.Helper()
	var app struct{ ID string }
	if err := json.Unmarshal([]byte(s.do(token, "POST", "/apps/", oneApp, 201)), &app); err != nil {
		s.t.Fatal(err)
	}
	return app.ID
}

func TestChangesArePostedToWebhooks(t *testing.T) {
	dir := t.TempDir()
	to, got := receiver(t)
	writeHooks(t, dir, 0o600, hook("all", to.URL+"/all", ""))
	args := []string{"-db", "v.db", "-webhooks", "hooks.json", "-webhooks-allow", "127.0.0.0/8"}
	s := start(t, dir, nil, args...)
	token := newToken(t, dir, nil, "-db", "v.db")
	app := s.create(token)
	if p := next(t, got); p.path != "/all" || p.kind != "app.created" || p.app != app || p.id == "" {
		t.Errorf("%+v", p)
	}
	writeHooks(t, dir, 0o600, hook("all", "ftp://canary/", ""))
	s.hangup("the webhooks stay as they were")
	s.logs("-webhooks hooks.json: /0/url")
	s.do(token, "PUT", "/apps/"+app+"/tags/production", `{"appVersion":"0"}`, 201)
	if p := next(t, got); p.path != "/all" || p.kind != "tag.set" {
		t.Errorf("%+v", p)
	}
	writeHooks(t, dir, 0o644, hook("tags", to.URL+"/tags", `,"types":["tag.deleted"]`),
		hook("refused", "http://[::1]:1/canary", ""))
	s.hangup("the webhooks were read again")
	s.logs("has mode 0644")
	s.do(token, "PUT", "/apps/"+app+"/tags/beta", `{"appVersion":"0"}`, 201)
	s.do(token, "DELETE", "/apps/"+app+"/tags/production", "", 204)
	if p := next(t, got); p.path != "/tags" || p.kind != "tag.deleted" || p.tag != "production" {
		t.Errorf("%+v", p)
	}
	s.logs("vitrine serve -webhooks-allow") // ::1 is not allowed
	s.stop()
	writeHooks(t, dir, 0o600, hook("all", to.URL+"/all", ""))
	again := start(t, dir, nil, args...)
	for _, want := range []string{"tag.set", "tag.deleted"} { // what came while the webhook was not in the file
		if p := next(t, got); p.path != "/all" || p.kind != want {
			t.Errorf("%+v, want %s", p, want)
		}
	}
	again.stop()
	for _, log := range []string{s.stderr.String(), again.stderr.String()} {
		if strings.Contains(log, "canary") || strings.Contains(log, hookSecret[6:]) {
			t.Errorf("the log holds a URL or a secret: %s", log)
		}
	}
}

func TestWebhooksThatCannotBeUsed(t *testing.T) {
	dir := t.TempDir()
	serve := []string{"-db", "v.db", "-addr", "127.0.0.1:0", "-webhooks", "hooks.json"}
	for name, c := range map[string]struct {
		hooks []string
		args  []string
		says  string
	}{
		"a file that is not there": {args: []string{"-webhooks", "none.json"}, says: "none.json"},
		"an unknown member": {hooks: []string{hook("a", "https://canary/", `,"secretes":1`)},
			says: `/0/secretes: unknown member`},
		"a bad secret": {
			hooks: []string{strings.ReplaceAll(hook("a", "https://canary/", ""), "whsec_", "canary")},
			says:  "/0/secret"},
		"a network that is none": {args: []string{"-webhooks-allow", "10.0.0.1"}, says: "-webhooks-allow"},
	} {
		writeHooks(t, dir, 0o600, c.hooks...)
		out := run(t, dir, nil, append(serve, c.args...)...)
		if out.status != 2 || out.stdout != "" || !strings.Contains(out.stderr, c.says) ||
			!strings.Contains(out.stderr, "-webhooks") ||
			strings.Contains(out.stderr, "canary") || strings.Contains(out.stderr, hookSecret[6:]) {
			t.Errorf("%s: %+v", name, out)
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("left behind: %v, %v", files, err)
	}
}
