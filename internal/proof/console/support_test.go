//go:build proof

package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/internal/proof/program"
)

const module = "../../.."

// More people of the tests, and ann to the service.
var (
	caller = vitrine.Caller{URN: ann.URN, Moderates: ann.Moderates}
	bob    = httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=bob", Moderates: []string{network}}}
	cleo   = httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=cleo", Reads: []string{network}}}
)

// binaries is where the program is built.
var binaries string

// build makes the program once for all tests.
var build = sync.OnceValues(func() (string, error) {
	return program.Build{Module: module, Package: "./examples/vitrine"}.Run(binaries)
})

func TestMain(m *testing.M) {
	var err error
	if binaries, err = os.MkdirTemp("", "vitrine"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	status := m.Run()
	_ = os.RemoveAll(binaries)
	os.Exit(status)
}

// newWorld starts the program with these further arguments.
func newWorld(t *testing.T, args ...string) *world {
	t.Helper()
	begin(t)
	binary, err := build()
	if err != nil {
		t.Fatal(err)
	}
	server, err := program.StartServer([]string{"VITRINE_KEY=" + signingKey}, binary,
		append([]string{"serve", "-addr", "127.0.0.1:0", "-db", "memory:"}, args...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Kill)
	return &world{t, server.URL}
}

// newApp creates an app of elements that are given as JSON and returns its id.
func (w *world) newApp(title string, elements ...string) string {
	w.t.Helper()
	quoted, _ := json.Marshal(title)
	var made struct{ ID string }
	answer := w.request(ann, "POST", "/apps",
		fmt.Sprintf(`{"title":%s,"groups":[%q],"elements":[%s]}`, quoted, network+":site=blog",
			strings.Join(elements, ",")))
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
	var latest app
	w.until(want, func() (string, bool) {
		latest = w.latest(id)
		var all []string
		for _, e := range latest.Elements {
			var b bytes.Buffer
			if err := json.Compact(&b, e.Config); err != nil {
				w.t.Fatal(err)
			}
			all = append(all, b.String())
		}
		have := strings.Join(all, "\n")
		return have, have == want
	})
	return latest
}

// until waits until what an app has is what is wanted.
func (w *world) until(want string, look func() (have string, same bool)) {
	w.t.Helper()
	var have string
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		var same bool
		if have, same = look(); same {
			return
		}
	}
	w.t.Fatalf("the app has the configs\n%s\nwant\n%s", have, want)
}

// signIn opens a view in a new browser for somebody.
func (w *world) signIn(by httpapi.Principal, view string) *person {
	w.t.Helper()
	p := &person{newBrowser(w.t), w}
	p.Resize(1280, 900)
	p.Prelude(`performance.setResourceTimingBufferSize(100000)`)
	p.Prelude(`addEventListener("securitypolicyviolation", (event) => (window.refusedByPolicy ??= ` +
		`event.violatedDirective + " " + event.blockedURI))`)
	// Notes that the page shows for 6 seconds stay for a minute, so that a busy machine does not miss them.
	p.Prelude(`const later = window.setTimeout; window.setTimeout = (f, ms, ...args) => later(f, ms === 6000 ? ` +
		`60_000 : ms, ...args)`)
	w.t.Cleanup(p.keepsToItself)
	p.Open(w.url + "/#token=" + w.token(by))
	p.See(`//table | //*[contains(@class, "empty")]`)
	if view != "" {
		p.view(view)
	}
	return p
}

// view goes to a view by its address.
func (p *person) view(hash string) {
	p.T.Helper()
	p.Run(new(any), `async (hash) => { location.hash = hash; }`, "#"+hash)
}

// look is how somebody sees the page.
type look struct {
	width  int
	scheme string
}

// inLooks runs a test once for each of these.
func inLooks(t *testing.T, test func(*testing.T, look), looks ...look) {
	for _, l := range looks {
		t.Run(fmt.Sprintf("%d %s", l.width, l.scheme), func(t *testing.T) { test(t, l) })
	}
}

// fits fails if the page is wider than the window.
func (p *person) fits() {
	p.T.Helper()
	var wide []string
	p.Run(&wide, `async () => document.documentElement.scrollWidth <= document.documentElement.clientWidth ? []
		: [...document.querySelectorAll("main *")].filter((x) => x.getBoundingClientRect().right > innerWidth)
			.map((x) => x.outerHTML.slice(0, 100)).slice(0, 5)`)
	if len(wide) > 0 {
		p.T.Errorf("the page is wider than the window: %q", wide)
	}
}

// kept waits until the designer says that everything is saved but so many elements, which are kept in the browser.
func (p *person) kept(elements int) {
	p.T.Helper()
	p.See(fmt.Sprintf(`//*[contains(@class, "saving") and contains(., "Saved as version") and contains(., ", %d `+
		`element") and contains(., "not saved yet")]`, elements))
}

// tools returns a folder with the page's files, the tools of testdata, and openapi.d.ts.
func tools(t *testing.T) string {
	t.Helper()
	tool(t, "node")
	npm := tool(t, "npm")
	dir := t.TempDir()
	for _, err := range []error{os.CopyFS(dir, os.DirFS("testdata")),
		os.CopyFS(filepath.Join(dir, "static"), os.DirFS(module+"/adapters/console/static"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if out, err := run(dir, npm, "install", "--no-audit", "--no-fund", "--ignore-scripts",
		"--prefer-offline"); err != nil {
		missing(t, "the tools do not come from npm: %v\n%s", err, out)
	}
	return dir
}

func run(dir, name string, args ...string) ([]byte, error) {
	command := exec.Command(name, args...)
	command.Dir = dir
	return command.CombinedOutput()
}
