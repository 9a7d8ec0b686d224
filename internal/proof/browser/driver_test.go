package browser

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"testing"
	"time"
)

// browser is a session of Chromium, driven over the WebDriver protocol of the W3C.
type browser struct {
	t       *testing.T
	address string // of the session
}

// keeper runs chromedriver and ends it when its input ends. When that comes without a line
// before it, the test has died and left the browser behind, which is then ended first.
const keeper = `"$0" --port=0 & read browser; read end || kill $browser; kill $!; wait`

// client has a limit above those of the session, so that the driver's own word comes first.
var client = &http.Client{Timeout: 90 * time.Second}

// openBrowser starts a browser that ends with the test.
func openBrowser(t *testing.T) *browser {
	t.Helper()
	chromium := tool(t, "chromium", "chromium-browser", "google-chrome")
	driver := exec.Command(tool(t, "sh"), "-c", keeper, tool(t, "chromedriver"))
	in, err := driver.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := driver.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := driver.Start(); err != nil {
		t.Fatal(err)
	}
	profile, err := os.MkdirTemp("", "chromium")
	if err != nil {
		t.Fatal(err)
	}
	b := &browser{t: t}
	t.Cleanup(func() {
		_ = b.send("DELETE", "", nil, nil) // it comes back when the browser has ended
		_, _ = io.WriteString(in, "\nend\n")
		_ = in.Close()
		_ = driver.Wait()
		b.remove(profile)
	})
	b.address = "http://127.0.0.1:" + port(t, out) + "/session"
	_, _ = fmt.Fprintln(in, b.begin(chromium, profile))
	return b
}

// tool returns the first of the programs that is in PATH.
func tool(t *testing.T, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	missing(t, "%s is not in PATH", names[0])
	return ""
}

// missing ends a test that cannot run here, as a failure where everything must be there.
func missing(t *testing.T, format string, args ...any) {
	t.Helper()
	what := fmt.Sprintf(format, args...)
	if os.Getenv("VITRINE_CI") != "" {
		t.Fatalf("%s, and VITRINE_CI says that nothing is missing", what)
	}
	t.Skipf("%s: cors.html is not tried in a browser", what)
}

var ready = regexp.MustCompile(`started successfully on port (\d+)`)

// port returns the port that chromedriver says it listens on.
func port(t *testing.T, out io.Reader) string {
	t.Helper()
	var said string
	for lines := bufio.NewScanner(out); lines.Scan(); {
		said += lines.Text() + "\n"
		if found := ready.FindStringSubmatch(lines.Text()); found != nil {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return found[1]
		}
	}
	t.Fatalf("chromedriver is not ready: %s", said)
	return ""
}

// begin starts the session and returns the browser's process id.
func (b *browser) begin(chromium, profile string) int {
	b.t.Helper()
	options := map[string]any{"binary": chromium, "args": []string{
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--user-data-dir=" + profile,
	}}
	limits := map[string]int{"script": 45_000, "pageLoad": 45_000} // milliseconds
	var began struct {
		SessionID    string
		Capabilities struct {
			Process int `json:"goog:processID"`
		}
	}
	b.must("POST", "", map[string]any{"capabilities": map[string]any{
		"alwaysMatch": map[string]any{"goog:chromeOptions": options, "timeouts": limits},
	}}, &began)
	b.address += "/" + began.SessionID
	return began.Capabilities.Process
}

// send sends a command and decodes what it gives into value.
func (b *browser) send(method, path string, command, value any) error {
	body, err := json.Marshal(command)
	if err != nil {
		return err
	}
	if command == nil {
		body = nil
	}
	r, err := http.NewRequest(method, b.address+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	answer, err := client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("chromedriver: %s", text)
	}
	return json.Unmarshal(text, &struct{ Value any }{value})
}

func (b *browser) must(method, path string, command, value any) {
	b.t.Helper()
	if err := b.send(method, path, command, value); err != nil {
		b.t.Fatalf("%s %s: %v", method, path, err)
	}
}

// open goes to a page.
func (b *browser) open(address string) {
	b.t.Helper()
	b.must("POST", "/url", map[string]any{"url": address}, nil)
}

// enter makes run work in the n-th frame of the page, or with nil in the page itself.
func (b *browser) enter(n any) {
	b.t.Helper()
	b.must("POST", "/frame", map[string]any{"id": n}, nil)
}

// run calls an asynchronous function of the page, or one that is given as a source, and decodes
// what it returns into value. Both ways it travels as JSON text, which chromedriver leaves alone.
func (b *browser) run(value any, function string, args ...any) {
	b.t.Helper()
	text, err := json.Marshal(append([]any{}, args...))
	if err != nil {
		b.t.Fatal(err)
	}
	script := `const [args, done] = arguments;
		Promise.resolve().then(() => (` + function + `)(...JSON.parse(args)))
		.then((value) => done({ value: JSON.stringify(value) ?? "null" })).catch((e) => done({ failed: String(e?.stack ?? e) }));`
	var returned struct{ Value, Failed string }
	b.must("POST", "/execute/async", map[string]any{"script": script, "args": []string{string(text)}}, &returned)
	if returned.Failed != "" {
		b.t.Fatalf("%s: %s", function, returned.Failed)
	}
	if err := json.Unmarshal([]byte(returned.Value), value); err != nil {
		b.t.Fatalf("%s: %v: %s", function, err, returned.Value)
	}
}

// remove takes away the browser's directory, which its last helpers may still write to.
func (b *browser) remove(profile string) {
	var err error
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if err = os.RemoveAll(profile); err == nil {
			return
		}
	}
	b.t.Errorf("the browser still writes: %v", err)
}
