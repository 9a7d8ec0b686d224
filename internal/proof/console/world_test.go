//go:build proof

package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/internal/proof/program"
	"github.com/vitrine-go/vitrine/internal/proof/webdriver"
)

const (
	module     = "../../.."
	signingKey = "a key for this test, and for nothing more"
	network    = "urn:vitrine:example.test"
)

// The people of the tests.
var (
	ann  = httpapi.Principal{URN: network + ":user=ann", Moderates: []string{network}, Components: true}
	bob  = httpapi.Principal{URN: network + ":user=bob", Moderates: []string{network}}
	cleo = httpapi.Principal{URN: network + ":user=cleo", Reads: []string{network}}
)

// build makes the program once for all tests.
var build = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "vitrine")
	if err != nil {
		return "", err
	}
	return program.Build{Module: module, Package: "./examples/vitrine"}.Run(dir)
})

func TestMain(m *testing.M) {
	status := m.Run()
	if binary, err := build(); err == nil {
		_ = os.RemoveAll(filepath.Dir(binary))
	}
	os.Exit(status)
}

// world is a running program on a store in memory.
type world struct {
	t   *testing.T
	url string
}

// newWorld starts the program with these further arguments. The test runs beside others that have a world.
func newWorld(t *testing.T, args ...string) *world {
	t.Helper()
	if testing.Short() {
		t.Skip("the page is tried in a browser without -short")
	}
	t.Parallel() // each test has its own server and browsers
	binary, err := build()
	if err != nil {
		t.Fatal(err)
	}
	server, err := program.StartServer([]string{"VITRINE_KEY=" + signingKey}, binary, append([]string{"serve", "-addr", "127.0.0.1:0", "-db", "memory:"}, args...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Kill)
	return &world{t, server.URL}
}

// token signs a token that is good for an hour.
func (w *world) token(by httpapi.Principal) string {
	w.t.Helper()
	return w.tokenUntil(by, time.Now().Add(time.Hour))
}

func (w *world) tokenUntil(by httpapi.Principal, expires time.Time) string {
	w.t.Helper()
	tokens, err := httpapi.NewTokens([]byte(signingKey), nil)
	if err != nil {
		w.t.Fatal(err)
	}
	text, err := tokens.Sign(by, expires)
	if err != nil {
		w.t.Fatal(err)
	}
	return text
}

// component creates a component with this schema.
func (w *world) component(name, version, schema string) {
	w.t.Helper()
	manifest := fmt.Sprintf(`{"name":%q,"version":%q,"main":"https://cdn.example.test/x.js","configSchema":%s}`, name, version, schema)
	w.request(ann, "POST", "/components", manifest)
}

// newApp creates an app of elements that are given as JSON and returns its id.
func (w *world) newApp(title string, elements ...string) string {
	w.t.Helper()
	quoted, _ := json.Marshal(title)
	var made struct{ ID string }
	answer := w.request(ann, "POST", "/apps", fmt.Sprintf(`{"title":%s,"groups":[%q],"elements":[%s]}`, quoted, network+":site=blog", strings.Join(elements, ",")))
	if err := json.Unmarshal(answer, &made); err != nil {
		w.t.Fatal(err)
	}
	return made.ID
}

// app is an app as it is stored.
type app struct {
	Title, Version string
	Elements       []struct {
		Component struct{ Name, Version string }
		Config    json.RawMessage
	}
}

// latest reads an app.
func (w *world) latest(id string) app {
	w.t.Helper()
	var answer struct{ Apps []app }
	if err := json.Unmarshal(w.request(ann, "GET", "/apps/"+id, ""), &answer); err != nil {
		w.t.Fatal(err)
	}
	return answer.Apps[0]
}

// stored waits until the configs of an app's elements are these, as compact JSON each.
func (w *world) stored(id string, configs ...string) app {
	w.t.Helper()
	want := strings.Join(configs, "\n")
	var have string
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		latest := w.latest(id)
		var all []string
		for _, e := range latest.Elements {
			var b bytes.Buffer
			if err := json.Compact(&b, e.Config); err != nil {
				w.t.Fatal(err)
			}
			all = append(all, b.String())
		}
		if have = strings.Join(all, "\n"); have == want {
			return latest
		}
	}
	w.t.Fatalf("the app has the configs\n%s\nwant\n%s", have, want)
	return app{}
}

// request sends a request that succeeds, and returns its answer.
func (w *world) request(by httpapi.Principal, method, path, body string) []byte {
	w.t.Helper()
	status, text := w.ask(by, method, path, body)
	if status >= 300 {
		w.t.Fatalf("%s %s: %d %s", method, path, status, text)
	}
	return text
}

// ask sends a request and returns its status and its answer.
func (w *world) ask(by httpapi.Principal, method, path, body string) (int, []byte) {
	w.t.Helper()
	r, err := http.NewRequest(method, w.url+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+w.token(by))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return answer.StatusCode, text
}

// person is somebody with a browser.
type person struct {
	*webdriver.Browser
	w *world
}

// signIn opens a view in a new browser for somebody.
func (w *world) signIn(by httpapi.Principal, view string) *person {
	w.t.Helper()
	p := &person{webdriver.New(w.t), w}
	p.Resize(1280, 900)
	p.Prelude(`performance.setResourceTimingBufferSize(100000)`)
	p.Prelude(`addEventListener("securitypolicyviolation", (event) => (window.refusedByPolicy ??= event.violatedDirective + " " + event.blockedURI))`)
	// Notes that the page shows for 6 seconds stay for a minute, so that a busy machine does not miss them.
	p.Prelude(`const later = window.setTimeout; window.setTimeout = (f, ms, ...args) => later(f, ms === 6000 ? 60_000 : ms, ...args)`)
	w.t.Cleanup(p.keepsToItself)
	p.Open(w.url + "/#token=" + w.token(by))
	p.See(`//table | //*[contains(@class, "empty")]`)
	if view != "" {
		p.view(view)
	}
	return p
}

// keepsToItself fails if the page has sent a request to another origin, but for images, which people switch on, or one
// with a token in its address.
func (p *person) keepsToItself() {
	if p.T.Failed() {
		return
	}
	var elsewhere []string
	p.Run(&elsewhere, `async () => performance.getEntriesByType("resource").map((x) => (x.initiatorType === "img" ? "" : x.name))
		.filter((name) => name !== "" && new URL(name).origin !== location.origin || name.includes("eyJ"))`)
	if len(elsewhere) > 0 {
		p.T.Errorf("the page has sent requests to %q", elsewhere)
	}
}

// view goes to a view by its address.
func (p *person) view(hash string) {
	p.T.Helper()
	p.Run(new(any), `async (hash) => { location.hash = hash; }`, "#"+hash)
}

// field is the XPath of the control with this label.
func field(label string) string {
	return fmt.Sprintf(`//label[starts-with(normalize-space(), %q)]/ancestor::div[contains(@class, "field")][1]//*[self::input or self::select or self::textarea]`, label)
}

// named is the XPath of the button with this name.
func named(name string) string {
	return fmt.Sprintf(`//button[normalize-space()=%q or @aria-label=%q]`, name, name)
}

// saved waits until the designer says that everything is saved.
func (p *person) saved(version int) {
	p.T.Helper()
	p.See(fmt.Sprintf(`//*[contains(@class, "saving") and contains(., "Saved as version %d")]`, version))
}

// kept waits until the designer says that everything is saved but so many elements, which are kept in the browser.
func (p *person) kept(elements int) {
	p.T.Helper()
	p.See(fmt.Sprintf(`//*[contains(@class, "saving") and contains(., "Saved as version") and contains(., ", %d element") and contains(., "kept in this browser")]`, elements))
}

// tools returns a folder with the page's files, the tools of testdata, and openapi.d.ts.
func tools(t *testing.T) string {
	t.Helper()
	webdriver.Tool(t, "node")
	npm := webdriver.Tool(t, "npm")
	dir := t.TempDir()
	for _, err := range []error{os.CopyFS(dir, os.DirFS("testdata")), os.CopyFS(filepath.Join(dir, "static"), os.DirFS(module+"/adapters/console/static"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if out, err := run(dir, npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline"); err != nil {
		webdriver.Missing(t, "the tools do not come from npm: %v\n%s", err, out)
	}
	return dir
}

func run(dir, name string, args ...string) ([]byte, error) {
	command := exec.Command(name, args...)
	command.Dir = dir
	return command.CombinedOutput()
}
