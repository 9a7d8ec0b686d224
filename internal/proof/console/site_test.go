//go:build proof

package console

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/internal/proof/program"
)

// The example of a static site is set up in a clean folder, refuses a misspelt field, is built, and shows everything
// without scripts. With scripts its pages come alive, and follow the tag. A webhook builds it again.
func TestSite(t *testing.T) {
	port, err := program.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	hooks := filepath.Join(t.TempDir(), "webhooks.json")
	const guide = "examples/site/README.md"
	file := strings.NewReplacer("https://build.example/hook", "http://127.0.0.1:"+port+"/", "whsec_…", secret,
		`"30s"`, `"1s"`).Replace(blockOf(t, guide, "json"))
	if err := os.WriteFile(hooks, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, "-webhooks", hooks, "-webhooks-allow", "127.0.0.0/8", "-languages", "en,de")
	npm, node := tool(t, "npm"), tool(t, "node")
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(module+"/examples/site")); err != nil {
		t.Fatal(err)
	}
	if out, err := run(dir, npm, "install", "--no-audit", "--no-fund", "--ignore-scripts",
		"--prefer-offline"); err != nil {
		missing(t, "the tools of the site do not come from npm: %v\n%s", err, out)
	}
	pages := newOrigin(t, http.HandlerFunc(func(a http.ResponseWriter, r *http.Request) {
		path, plain := strings.CutPrefix(r.URL.Path, "/plain/")
		if plain {
			a.Header().Set("Content-Security-Policy", "script-src 'none'")
		}
		a.Header().Set("Access-Control-Allow-Origin", "*")
		http.ServeFile(a, r, filepath.Join(dir, "dist", filepath.Clean("/"+path)))
	}))
	var manifest map[string]any
	article := filepath.Join(dir, "components", "article.json")
	text, err := os.ReadFile(article)
	if err == nil {
		err = json.Unmarshal(text, &manifest)
	}
	if err != nil {
		t.Fatal(err)
	}
	manifest["main"] = pages.url + "/components/article.js"
	text, _ = json.Marshal(manifest)
	if err := os.WriteFile(article, text, 0o600); err != nil {
		t.Fatal(err)
	}
	environment := append(os.Environ(), "SERVER="+w.url, "TOKEN="+w.token(ann))
	commands := strings.Split(strings.TrimSpace(regexp.MustCompile(`\w+=\S*… `).ReplaceAllString(
		blockOf(t, guide, "sh"), "")), "\n")
	follow := func(commands ...string) {
		t.Helper()
		for _, line := range commands {
			command := exec.Command("sh", "-ec", line)
			command.Dir, command.Env = dir, environment
			if out, err := command.CombinedOutput(); err != nil || strings.Contains(string(out), `"error":`) {
				t.Fatalf("%s: %v\n%s", line, err, out)
			}
		}
	}
	follow(commands[1]) // the component; npm install is done
	const config = `{"slug":"winter-tea","heading":"Tea <i>",` +
		`"text":{"lang:en":"It is hot.","lang:de":"Er ist heiß."},"more":"It was cold.",` +
		`"picture":{"src":"https://p.example.test/x/file/1/tea.png?v=1","alt":"A cup",` +
		`"width":1600,"height":900}}`
	app := w.newApp("Winter & tea", `{"component":{"name":"article","version":"1.0.0"},"config":`+config+`}`)
	w.request(ann, "PUT", "/apps/"+app+"/tags/production", `{"appVersion":"0"}`)
	w.newApp("A draft")
	var key struct{ Key string }
	if err := json.Unmarshal(w.request(ann, "POST", "/x/keys/", `{"name":"build","kind":"public","list":true,`+
		`"reads":["`+network+`"],"tags":["production"]}`), &key); err != nil {
		t.Fatal(err)
	}
	environment = append(environment, "KEY="+key.Key)
	follow(commands[2:]...)
	script := func(name string) (string, error) {
		command := exec.Command(npm, "run", "--silent", name)
		command.Dir, command.Env = dir, environment
		out, err := command.CombinedOutput()
		return string(out), err
	}
	source := filepath.Join(dir, "components", "article.js")
	right, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{strings.Replace(string(right), "config: { heading,", "config: { heding,", 1),
		string(right)} {
		if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := script("check"); (err == nil) != (text == string(right)) ||
			err != nil && !strings.Contains(out, "'heding' does not exist on type 'Config'") {
			t.Errorf("check: %v\n%s", err, out)
		}
	}

	axe := axeCore(t)
	b := newBrowser(t)
	p := &person{b, w}
	b.Open(pages.url + "/plain/")
	const texts = `(want) => document.querySelector("main").innerText.replace(/\s+/g, " ").startsWith(want)`
	b.Until(texts, "All pages de Winter & tea 20")
	p.look(axe)
	b.Click(`//a[contains(., "Winter")]`)
	b.Until(texts, "Winter & tea de Tea <i> It is hot. It was cold.")
	p.look(axe)
	b.Click(`//a[@lang="de"]`)
	b.Until(texts, "Winter & tea en Tea <i> Er ist heiß. It was cold.")
	p.look(axe)
	b.Click(`//a[@lang="en"]`)
	var image string
	b.Run(&image, `() => ["width", "height", "srcset"].map((a) => `+
		`document.querySelector("img").getAttribute(a)).join(" ")`)
	if !strings.HasPrefix(image, "1600 900 https://p.example.test/x/file/1/tea.png?v=1&w=320 320w, ") {
		t.Errorf("the picture is %q", image)
	}
	b.Open(pages.url + "/de/winter-tea.html")
	b.Click(named("Weiterlesen"))
	b.Until(`() => document.querySelector("[data-key]").innerText.includes("Er ist heiß.")`)
	b.Open(pages.url + "/winter-tea.html")
	b.Click(named("Read more"))
	b.Until(`() => !document.querySelector("button") &&
		document.querySelector("[data-key]").innerText.includes("cold")`)
	p.look(axe)

	// The preview of the console has the style sheet of the site.
	editor := w.signIn(ann, "/apps/"+app)
	editor.Click(named("Show the preview"))
	editor.shows("Tea <i> It is hot. Read more")
	width := ""
	for end := time.Now().Add(20 * time.Second); width != "704px"; time.Sleep(20 * time.Millisecond) {
		if editor.frame(&width, `() => getComputedStyle(document.body).maxWidth`); time.Now().After(end) {
			t.Fatalf("the body of the preview is %s wide at most", width)
		}
	}
	editor.picture("preview-with-style")

	// A tag moves: the open page follows, and the webhook has the pages built again.
	hook := exec.Command(node, "hook.js")
	hook.Dir, hook.Env = dir, append(environment, "SECRET="+secret, "PORT="+port)
	hook.Stdout, hook.Stderr = os.Stderr, os.Stderr
	if err := hook.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = hook.Process.Kill(); _ = hook.Wait() })
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		answer, err := http.Post("http://127.0.0.1:"+port, "application/json", strings.NewReader(`{}`))
		if err == nil {
			_ = answer.Body.Close()
			if answer.StatusCode != 401 {
				t.Errorf("a message without a signature is %d", answer.StatusCode)
			}
			break
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
	w.request(ann, "PATCH", "/apps/"+app, `[{"op":"test","path":"/apps/0/version","value":"0"},`+
		`{"op":"replace","path":"/apps/0/elements/0/config/text/lang:en","value":"It is cooler now."}]`)
	w.request(ann, "PUT", "/apps/"+app+"/tags/production", `{"appVersion":"1"}`)
	b.Until(texts, "Winter & tea de Tea <i> It is cooler now.")
	built := filepath.Join(dir, "dist", "winter-tea.html")
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		if text, _ := os.ReadFile(built); strings.Contains(string(text), "cooler") {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the site was not built again")
		}
	}
}
