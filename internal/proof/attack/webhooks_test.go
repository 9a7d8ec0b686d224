//go:build proof

package attack

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// hookCanary is in every secret and in every URL of the webhooks.
const hookCanary = "hook-canary-71d0"

// webhookFile writes a file of webhooks: their URLs by name.
func webhookFile(t *testing.T, urls map[string]string) string {
	t.Helper()
	type hook struct {
		Name   string `json:"name"`
		URL    string `json:"url"`
		Secret string `json:"secret"`
	}
	var hooks []hook
	for name, url := range urls {
		hooks = append(hooks, hook{name, url + "/" + hookCanary, "whsec_" + base64.StdEncoding.EncodeToString([]byte(hookCanary+hookCanary))})
	}
	text, err := json.Marshal(hooks)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "hooks.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// on returns a server on an address of this machine.
func on(t *testing.T, address string, fn http.HandlerFunc) *httptest.Server {
	t.Helper()
	l, err := net.Listen("tcp", address+":0")
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(fn)
	_ = s.Listener.Close()
	s.Listener = l
	s.Start()
	t.Cleanup(s.CloseClientConnections) // some never end
	return s
}

// TestWebhooks has receivers that mean harm beside one that is well. Webhooks that lead to this machine, by
// address or by name, and redirects to it reach nobody.
func TestWebhooks(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs several addresses of this machine")
	}
	var inside, redirected, started, endless atomic.Int64
	delivered := make(chan string, 100)
	victim := on(t, "127.0.0.1", func(http.ResponseWriter, *http.Request) { inside.Add(1) })
	_, port, _ := net.SplitHostPort(victim.Listener.Addr().String())
	var hostile *httptest.Server
	hostile = on(t, "127.0.0.2", func(w http.ResponseWriter, r *http.Request) {
		switch name := strings.Split(r.URL.Path, "/")[1]; name {
		case "well":
			delivered <- r.Header.Get("webhook-id")
		case "redirect":
			http.Redirect(w, r, hostile.URL+"/elsewhere", http.StatusTemporaryRedirect)
		case "within":
			http.Redirect(w, r, victim.URL, http.StatusFound)
		case "elsewhere":
			redirected.Add(1)
		case "endless":
			started.Add(1)
			_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(time.Minute))
			for chunk := make([]byte, 64<<10); ; {
				n, err := w.Write(chunk)
				if endless.Add(int64(n)); err != nil {
					return
				}
			}
		case "header":
			w.Header().Set("X-Long", strings.Repeat(hookCanary, 100_000))
		case "repeats":
			w.Header().Set("Location", string(rune(0x7f))+hookCanary)
			w.WriteHeader(http.StatusFound)
		default:
			t.Errorf("a request for %s", r.URL.Path)
		}
	})
	urls := map[string]string{}
	for i, host := range []string{"127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "[::]", "127.1", "2130706433", "0x7f.1", "127.0.0.1.", "[::127.0.0.1]", "[64:ff9b::7f00:1]"} {
		urls[fmt.Sprint("inside", i)] = "http://" + host + ":" + port
	}
	for _, name := range []string{"well", "redirect", "within", "endless", "header", "repeats"} {
		urls[name] = hostile.URL + "/" + name
	}
	urls["tls"] = strings.Replace(hostile.URL, "http:", "https:", 1)
	s := start(t, "-webhooks", webhookFile(t, urls), "-webhooks-allow", "127.0.0.2/32")
	s.component("any", "{}").want(201)
	s.app("any", `{}`)
	ids := map[string]bool{}
	for range 2 {
		select {
		case id := <-delivered:
			ids[id] = true
		case <-time.After(time.Minute):
			t.Fatalf("the receiver that is well got %d deliveries: %s", len(ids), s.Log())
		}
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		missing := ""
		for name := range urls {
			if name != "well" && name != "endless" && !strings.Contains(s.Log(), "webhook="+name+" ") {
				missing = name
			}
		}
		if missing == "" && started.Load() == 2 { // it accepts both changes, one after the other
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%d endless answers; nothing is logged of the webhook %s: %s", started.Load(), missing, s.Log())
		}
	}
	healthy := s.get("/healthz")
	s.Kill()
	if healthy.status != 200 || inside.Load() != 0 || redirected.Load() != 0 || len(ids) != 2 {
		t.Errorf("healthz %d; %d requests inside, %d redirected, ids %v", healthy.status, inside.Load(), redirected.Load(), ids)
	}
	if n := endless.Load(); n > 64<<20 { // what is on the way in the buffers of the system
		t.Errorf("%d bytes of an endless answer were taken", n)
	}
	key := base64.StdEncoding.EncodeToString([]byte(hookCanary + hookCanary))
	for _, secret := range []string{hookCanary, key[:20], fmt.Sprintf("%x", hookCanary)} {
		if at := strings.Index(s.Log(), secret); at >= 0 {
			t.Errorf("the log holds %s: %s", secret, s.Log()[max(0, at-200):at+20])
		}
		if names := append(holding(t, s.dir, secret), holding(t, s.temp, secret)...); len(names) > 0 {
			t.Errorf("%s is in the files %v", secret, names)
		}
	}
}
