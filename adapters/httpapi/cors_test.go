package httpapi_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
)

func TestCORSPageIsStaticAndItsPolicyStrict(t *testing.T) {
	w := newWorld(t)
	r := w.send("GET", "/cors.html", "").want(200)
	if other := w.send("GET", "/cors.html?xdm_e=https://x.test&xdm_c=<script>", "").want(200); other.body != r.body {
		t.Error("the page depends on its query")
	}
	if r.header.Get("Content-Type") != "text/html; charset=utf-8" || r.header.Get("X-Frame-Options") != "" {
		t.Errorf("%v", r.header)
	}
	script := regexp.MustCompile(`(?s)<script>(.*?)</script>`).FindAllStringSubmatch(r.body, -1)
	if len(script) != 1 {
		t.Fatalf("%d scripts", len(script))
	}
	sum := sha256.Sum256([]byte(script[0][1]))
	want := "default-src 'none'; script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; connect-src 'self'; base-uri 'none'; form-action 'none'"
	if got := r.header.Get("Content-Security-Policy"); got != want {
		t.Errorf("policy %q, want %q", got, want)
	}
	for _, word := range []string{"innerHTML", "document.write", "eval(", "localStorage", "document.cookie", "src="} {
		if strings.Contains(r.body, word) {
			t.Errorf("the page holds %s", word)
		}
	}
}

// chromium returns a browser, or ends the test; where VITRINE_CI is 1 there must be one.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("VITRINE_CI") == "1" {
		t.Fatal("no Chromium in PATH, and VITRINE_CI=1 says that there is one")
	}
	t.Skip("no Chromium in PATH: cors.html is not tried in a browser")
	return ""
}

// browse opens a page and returns what it posts to /results of its server.
func browse(t *testing.T, page http.Handler, path string) string {
	t.Helper()
	browser := chromium(t)
	results := make(chan string, 1)
	mux := http.NewServeMux()
	mux.Handle("/", page)
	mux.HandleFunc("POST /results", func(_ http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		results <- string(text)
	})
	s := httptest.NewServer(mux)
	defer s.Close()
	cmd := exec.Command(browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
		"--remote-debugging-port=0", "--user-data-dir="+t.TempDir(), s.URL+path)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Signal(os.Interrupt) // it ends its helpers and leaves its directory alone
		stopped := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		stopped.Stop()
	}()
	select {
	case text := <-results:
		return text
	case <-time.After(60 * time.Second):
		t.Fatal("the page posted nothing within a minute")
	}
	return ""
}

// rpc is an answer of the proxy.
type rpc struct {
	ID      int    `json:"id"`
	Version string `json:"jsonrpc"`
	Result  *struct {
		Data    string            `json:"data"`
		Status  int               `json:"status"`
		Headers map[string]string `json:"headers"`
	} `json:"result"`
	Error *struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	} `json:"error"`
}

// echoAPI puts paths below the base path that show what reaches the server.
// A request that the page must not make is counted.
func echoAPI(api http.Handler, unwanted *atomic.Int64) http.Handler {
	mux := func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v4/echo", "/echo":
			if r.URL.RawQuery == "unwanted" {
				unwanted.Add(1)
			}
			body, _ := io.ReadAll(r.Body)
			fmt.Fprintf(w, "%s|%s|%s|%s|%s|%s", r.Method, r.URL.RawQuery, body, r.Header.Get("Content-Type"), r.Header.Get("Cookie"), r.Header.Get("Referer"))
		case "/v4/slow":
			select {
			case <-r.Context().Done():
			case <-time.After(3 * time.Second):
			}
		case "/v4/redirect":
			http.Redirect(w, r, "/v4/echo", http.StatusFound)
		default:
			api.ServeHTTP(w, r)
		}
	}
	return http.HandlerFunc(mux)
}

func TestCORSPageInABrowser(t *testing.T) {
	chromium(t)
	w := newWorld(t, func(c *httpapi.Config) { c.BasePath = "/v4" })
	var unwanted atomic.Int64
	api := httptest.NewServer(echoAPI(w.handler, &unwanted))
	defer api.Close()
	w.url = api.URL
	made := w.as(editor, "POST", "/v4/apps/", `{"title":"framed","groups":["urn:vitrine:example.test"]}`).want(201)
	var app struct{ ID string }
	made.read(&app)
	page := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		http.SetCookie(rw, &http.Cookie{Name: "secret", Value: "1"}) // cookies do not know ports
		http.ServeFile(rw, r, "testdata/cors_parent.html")
	})
	text := browse(t, page, "/?"+url.Values{"token": {w.token(editor)}, "app": {app.ID}, "api": {api.URL}}.Encode())
	var all map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &all); err != nil || all["failed"] != nil {
		t.Fatalf("%v: %s", err, text)
	}
	is := func(name, want string) {
		t.Helper()
		if string(all[name]) != want {
			t.Errorf("%s: %s, want %s", name, all[name], want)
		}
	}
	is("ready", "true")
	is("inHash", "true")
	is("unheard", "[]")
	is("origins", fmt.Sprintf("[%q]", api.URL))
	if n := unwanted.Load(); n > 0 {
		t.Errorf("framed by others, the page made %d requests", n)
	}
	checkAnswers(t, all)
	var silent map[string][]any
	if err := json.Unmarshal(all["silent"], &silent); err != nil || len(silent) != 8 {
		t.Fatalf("%v: %s", err, all["silent"])
	}
	for name, heard := range silent {
		if len(heard) > 0 {
			t.Errorf("framed by %s the page says %v", name, heard)
		}
	}
}

func checkAnswers(t *testing.T, all map[string]json.RawMessage) {
	t.Helper()
	answer := func(name string) (r rpc) {
		t.Helper()
		if err := json.Unmarshal(all[name], &r); err != nil || r.Version != "2.0" || (r.Result == nil) == (r.Error == nil) {
			t.Fatalf("%s: %v: %s", name, err, all[name])
		}
		return r
	}
	for _, name := range []string{"get", "relative", "absolute"} {
		r := answer(name).Result
		if r == nil || r.Status != 200 || !strings.Contains(r.Data, `"title":"framed"`) || r.Headers["etag"] == "" {
			t.Errorf("%s: %s", name, all[name])
		}
	}
	if r := answer("post").Result; r == nil || r.Status != 201 || r.Headers["location"] == "" {
		t.Errorf("post: %s", all["post"])
	}
	if e := answer("notFound").Error; e == nil || e.Code != -32099 || e.Message != "INVALID_STATUS_CODE" ||
		!strings.HasPrefix(string(e.Data), `{"status":404,"data":"{\"error\":`) {
		t.Errorf("notFound: %s", all["notFound"])
	}
	if e := answer("assets").Error; e == nil || e.Message != "INVALID_STATUS_CODE" {
		t.Errorf("assets: %s", all["assets"])
	}
	if e := answer("unknown").Error; e == nil || e.Code != -32601 {
		t.Errorf("unknown: %s", all["unknown"])
	}
	if e := answer("timeout").Error; e == nil || e.Code != -32099 || !strings.Contains(e.Message, "timeout") {
		t.Errorf("timeout: %s", all["timeout"])
	}
	for name, want := range map[string]string{
		"timeoutZero": "PUT||as it is|text/x||", "timeoutNegative": "PUT||as it is|text/x||",
		"timeoutText": "PUT||as it is|text/x||", "timeoutNull": "PUT||as it is|text/x||",
		"echoForm":   "POST||a=1%202&%C3%A9%26=%3D|application/x-www-form-urlencoded||",
		"echoQuery":  "GET|x=1&a=1%202&b=%26||||",
		"echoText":   "PUT||as it is|text/x||",
		"echoDelete": "DELETE|||||",
	} {
		if r := answer(name).Result; r == nil || r.Data != want {
			t.Errorf("%s: %s, want %s", name, all[name], want)
		}
	}
	refused := map[string]rpc{"redirect": answer("redirect")}
	if err := json.Unmarshal(all["disallowed"], &refused); err != nil || len(refused) < 36 {
		t.Fatalf("%v: %s", err, all["disallowed"])
	}
	for config, r := range refused {
		if r.Error == nil || r.Error.Code != -32099 || r.Error.Message != "DISALLOWED_REQUEST" {
			t.Errorf("%s: %+v %+v", config, r.Result, r.Error)
		}
	}
}
