package console

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
	"strings"
	"testing"
	"time"
)

// Browser is a session of headless Chromium, driven over the WebDriver protocol of the W3C.
type Browser struct {
	T       *testing.T
	address string // of the session
}

// keeper runs chromedriver and ends it when its input ends. When that comes without a line
// before it, the test has died and left the browser behind, which is then ended first.
const keeper = `"$0" --port=0 & exec >&-; read browser; read end || kill $browser; kill $!; wait`

// client has a limit above those of the session, so that the driver's own word comes first.
var client = &http.Client{Timeout: 5 * time.Minute}

// newBrowser starts a browser that ends with the test.
func newBrowser(t *testing.T) *Browser {
	t.Helper()
	chromium := tool(t, "chromium", "chromium-browser", "google-chrome")
	driver, in, port := startDriver(t)
	for i := 0; i < 5 && port == ""; i++ {
		driver, in, port = startDriver(t)
	}
	if port == "" {
		t.Fatal("chromedriver is not ready")
	}
	profile, err := os.MkdirTemp("", "chromium")
	if err != nil {
		t.Fatal(err)
	}
	b := &Browser{T: t}
	t.Cleanup(func() {
		_ = b.send("DELETE", "", nil, nil) // it comes back when the browser has ended
		_, _ = io.WriteString(in, "\nend\n")
		_ = in.Close()
		_ = driver.Wait()
		b.remove(profile)
	})
	b.address = "http://127.0.0.1:" + port + "/session"
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
	t.Skipf("%s: nothing is tried in a browser", what)
}

var ready = regexp.MustCompile(`started successfully on port (\d+)`)

// startDriver starts chromedriver and returns the port that it listens on, "" if it does not: the port that it chooses
// by itself may be taken.
func startDriver(t *testing.T) (driver *exec.Cmd, in io.WriteCloser, port string) {
	t.Helper()
	driver = exec.Command(tool(t, "sh"), "-c", keeper, tool(t, "chromedriver"))
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
	listens := make(chan string, 1)
	go func() {
		defer close(listens)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if found := ready.FindStringSubmatch(lines.Text()); found != nil {
				listens <- found[1]
			}
		}
	}()
	select {
	case port = <-listens:
	case <-time.After(time.Minute):
	}
	if port == "" {
		_ = in.Close()
		go func() { _ = driver.Wait() }()
	}
	return driver, in, port
}

// begin starts the session and returns the browser's process id.
func (b *Browser) begin(chromium, profile string) int {
	b.T.Helper()
	options := map[string]any{"binary": chromium, "args": []string{
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--user-data-dir=" + profile,
	}}
	limits := map[string]int{"script": 120_000, "pageLoad": 120_000} // milliseconds: generous, for a busy machine
	var began struct {
		SessionID    string
		Capabilities struct {
			Process int `json:"goog:processID"`
		}
	}
	command := map[string]any{"capabilities": map[string]any{
		"alwaysMatch": map[string]any{"goog:chromeOptions": options, "timeouts": limits},
	}}
	// The driver gives a browser a minute to start, which is not always enough on a busy machine.
	err := b.send("POST", "", command, &began)
	for range 2 {
		if err != nil {
			err = b.send("POST", "", command, &began)
		}
	}
	if err != nil {
		b.T.Fatalf("no browser starts: %v", err)
	}
	b.address += "/" + began.SessionID
	return began.Capabilities.Process
}

// send sends a command and decodes what it gives into value.
func (b *Browser) send(method, path string, command, value any) error {
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

func (b *Browser) must(method, path string, command, value any) {
	b.T.Helper()
	if err := b.send(method, path, command, value); err != nil {
		b.T.Fatalf("%s %s: %v", method, path, err)
	}
}

// Open goes to a page.
func (b *Browser) Open(address string) {
	b.T.Helper()
	b.must("POST", "/url", map[string]any{"url": address}, nil)
}

// Enter makes run work in the n-th frame of the page, or with nil in the page itself.
func (b *Browser) Enter(n any) {
	b.T.Helper()
	b.must("POST", "/frame", map[string]any{"id": n}, nil)
}

// Run calls an asynchronous function of the page, or one that is given as a source, and decodes
// what it returns into value. Both ways it travels as JSON text, which chromedriver leaves alone.
func (b *Browser) Run(value any, function string, args ...any) {
	b.T.Helper()
	text, err := json.Marshal(append([]any{}, args...))
	if err != nil {
		b.T.Fatal(err)
	}
	script := `const [args, done] = arguments;
		Promise.resolve().then(() => (` + function + `)(...JSON.parse(args)))
		.then((value) => done({ value: JSON.stringify(value) ?? "null" }))
		.catch((e) => done({ failed: String(e?.stack ?? e) }));`
	var returned struct{ Value, Failed string }
	b.must("POST", "/execute/async", map[string]any{"script": script, "args": []string{string(text)}}, &returned)
	if returned.Failed != "" {
		b.T.Fatalf("%s: %s", function, returned.Failed)
	}
	if err := json.Unmarshal([]byte(returned.Value), value); err != nil {
		b.T.Fatalf("%s: %v: %s", function, err, returned.Value)
	}
}

// remove takes away the browser's directory, which its last helpers may still write to.
func (b *Browser) remove(profile string) {
	var err error
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if err = os.RemoveAll(profile); err == nil {
			return
		}
	}
	b.T.Errorf("the browser still writes: %v", err)
}

// For returns the same browser for a part of the test.
func (b *Browser) For(t *testing.T) *Browser { return &Browser{t, b.address} }

// Resize makes the page this large, in CSS pixels.
func (b *Browser) Resize(width, height int) {
	b.T.Helper()
	b.command("Emulation.setDeviceMetricsOverride",
		map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false})
}

// Prelude runs a script in every page that is opened from now on, before the scripts of the page.
func (b *Browser) Prelude(script string) {
	b.T.Helper()
	b.command("Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": script})
}

// Scheme makes the system's colors "light" or "dark".
func (b *Browser) Scheme(name string) {
	b.T.Helper()
	b.command("Emulation.setEmulatedMedia",
		map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": name}}})
}

// Offline takes the network away from the page, or gives it back.
func (b *Browser) Offline(offline bool) {
	b.T.Helper()
	b.command("Network.enable", map[string]any{})
	b.command("Network.emulateNetworkConditions",
		map[string]any{"offline": offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1})
}

// Throttle lets the page send so many bytes a second, -1 = as many as it can.
func (b *Browser) Throttle(upload int) {
	b.T.Helper()
	b.command("Network.enable", map[string]any{})
	b.command("Network.emulateNetworkConditions",
		map[string]any{"offline": false, "latency": 0, "downloadThroughput": -1, "uploadThroughput": upload})
}

// ForgetCookies deletes the cookies of the page's site.
func (b *Browser) ForgetCookies() {
	b.T.Helper()
	b.must("DELETE", "/cookie", nil, nil)
}

// command sends a command of Chromium's own protocol.
func (b *Browser) command(name string, params map[string]any) {
	b.T.Helper()
	b.must("POST", "/goog/cdp/execute", map[string]any{"cmd": name, "params": params}, nil)
}

// Picture returns what the window shows, as PNG.
func (b *Browser) Picture() []byte {
	b.T.Helper()
	var picture []byte // base64 in JSON
	b.must("GET", "/screenshot", nil, &picture)
	return picture
}

// elementKey is the name of the member that holds an element's reference.
const elementKey = "element-6066-11e4-a52e-4f735466cecf"

// element waits until an XPath expression finds an element that is shown, and returns its reference.
func (b *Browser) element(xpath string) string {
	b.T.Helper()
	script := `const [xpath, done] = arguments;
		const look = () => {
			const found = document.evaluate(xpath, document, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE, null);
			for (let i = 0; i < found.snapshotLength; i++) {
				const element = found.snapshotItem(i);
				// The options of a select are shown when it is; a file is given to a field that nobody sees.
				if (element.type === "file" || (element.closest("select") ?? element).checkVisibility())
					return done(element);
			}
			setTimeout(look, 20);
		};
		look();`
	var found map[string]string
	if err := b.send("POST", "/execute/async", map[string]any{"script": script, "args": []string{xpath}},
		&found); err != nil {
		b.T.Fatalf("nothing like %s is shown: %v\n%s", xpath, err, b.Text())
	}
	return found[elementKey]
}

// Text returns what the page shows as text.
func (b *Browser) Text() string {
	var text string
	b.Run(&text, `async () => document.body.innerText`)
	return text
}

// Click clicks on the element that an XPath expression finds, once it is shown.
func (b *Browser) Click(xpath string) {
	b.T.Helper()
	b.act(xpath, func(id string) error { return b.send("POST", "/element/"+id+"/click", map[string]any{}, nil) })
}

// Type types text into an element, behind what is in it, or gives a file to a field of files.
func (b *Browser) Type(xpath, text string) {
	b.T.Helper()
	b.act(xpath, func(id string) error {
		if inserted, err := b.insert(id, text, false); inserted || err != nil {
			return err
		}
		return b.send("POST", "/element/"+id+"/value", map[string]any{"text": text}, nil)
	})
}

// insert types text as one event, as an input method does, so that no page sees half of it, however slow the machine
// is. It reports false for what only keys can do: a text with keys of the constants below, and a field of files.
func (b *Browser) insert(id, text string, replace bool) (bool, error) {
	if strings.ContainsFunc(text, func(r rune) bool { return r >= '\ue000' && r < '\ue100' }) {
		return false, nil
	}
	const script = `const [element, text, replace] = arguments;
		if (element.type === "file") return false;
		element.focus();
		if (document.activeElement !== element) throw new Error("not interactable");
		if (replace) element.select();
		else getSelection().modify("move", "forward", "documentboundary");
		document.execCommand("insertText", false, text);
		return true;`
	var inserted bool
	args := []any{map[string]string{elementKey: id}, text, replace}
	err := b.send("POST", "/execute/sync", map[string]any{"script": script, "args": args}, &inserted)
	return inserted, err
}

// act does something with the element that an XPath expression finds, once it is shown. A page may show it anew, or
// something above it for a moment, just then: so it is tried again, as a person would.
func (b *Browser) act(xpath string, do func(id string) error) {
	b.T.Helper()
	var err error
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		id := b.element(xpath)
		if err = do(id); err == nil {
			return
		}
		if strings.Contains(err.Error(), "click intercepted") { // what stays at the edge of the window may lie over it
			script := map[string]any{"script": "arguments[0].scrollIntoView({ block: 'nearest' })",
				"args": []any{map[string]string{elementKey: id}}}
			_ = b.send("POST", "/execute/sync", script, nil) // if it is gone, the next try finds another one
		}
		if !regexp.MustCompile(`stale element|click intercepted|not interactable`).MatchString(err.Error()) {
			break
		}
	}
	b.T.Fatalf("%s: %v\n%s", xpath, err, b.Text())
}

// Retype types text into an element in place of what is in it.
func (b *Browser) Retype(xpath, text string) {
	b.T.Helper()
	b.act(xpath, func(id string) error {
		if inserted, err := b.insert(id, text, true); inserted || err != nil {
			return err
		}
		selecting := map[string]any{"script": "arguments[0].focus(); arguments[0].select()",
			"args": []any{map[string]string{elementKey: id}}}
		if err := b.send("POST", "/execute/sync", selecting, nil); err != nil {
			return err
		}
		return b.send("POST", "/element/"+id+"/value", map[string]any{"text": keyDelete + text}, nil)
	})
}

// Keys that Type and Press take in texts.
const (
	keyNull    = "\ue000" // lets all modifiers go
	keyTab     = "\ue004"
	keyEnter   = "\ue007"
	keyShift   = "\ue008"
	keyControl = "\ue009"
	keyAlt     = "\ue00a"
	keyEscape  = "\ue00c"
	keyEnd     = "\ue010"
	keyHome    = "\ue011"
	keyLeft    = "\ue012"
	keyUp      = "\ue013"
	keyRight   = "\ue014"
	keyDown    = "\ue015"
	keyDelete  = "\ue017"
	keyF2      = "\ue032"
	keyF10     = "\ue03a"
)

// Press presses the keys of text one after the other, as on a keyboard: what has the focus gets them, whatever that is
// when the key goes down. keyShift, keyControl and keyAlt are held down until keyNull or the end of text.
func (b *Browser) Press(text string) {
	b.T.Helper()
	var actions, held []map[string]any
	up := func(key string) map[string]any { return map[string]any{"type": "keyUp", "value": key} }
	release := func() {
		actions, held = append(actions, held...), nil
	}
	for _, r := range text {
		key := string(r)
		if key == keyNull {
			release()
			continue
		}
		actions = append(actions, map[string]any{"type": "keyDown", "value": key})
		if key == keyShift || key == keyControl || key == keyAlt {
			held = append(held, up(key))
		} else {
			actions = append(actions, up(key))
		}
	}
	release()
	b.must("POST", "/actions",
		map[string]any{"actions": []map[string]any{{"type": "key", "id": "keyboard", "actions": actions}}}, nil)
}

// Drag drags an element with the mouse over others, each of which may be shown only then, and drops it on the last.
func (b *Browser) Drag(from string, over ...string) {
	b.T.Helper()
	// at moves to the middle of an element, or y below it. The place is looked up first. So the mouse arrives also if
	// the page shows the element anew meanwhile, as long as that does not move it.
	at := func(xpath string, y int) map[string]any {
		b.T.Helper()
		const script = `const { x, y, width, height } = arguments[0].getBoundingClientRect();
			return { x: Math.round(x + width / 2), y: Math.round(y + height / 2) };`
		var middle struct{ X, Y int }
		b.act(xpath, func(id string) error {
			return b.send("POST", "/execute/sync",
				map[string]any{"script": script, "args": []any{map[string]string{elementKey: id}}}, &middle)
		})
		return map[string]any{"type": "pointerMove", "duration": 50, "x": middle.X, "y": middle.Y + y,
			"origin": "viewport"}
	}
	mouse := func(actions ...map[string]any) {
		b.T.Helper()
		b.must("POST", "/actions",
			map[string]any{"actions": []map[string]any{{"type": "pointer", "id": "mouse", "actions": actions}}}, nil)
	}
	mouse(at(from, 0), map[string]any{"type": "pointerDown", "button": 0}, at(from, 8))
	for _, to := range over {
		mouse(at(to, 4), at(to, 0))
	}
	mouse(map[string]any{"type": "pointerUp", "button": 0})
}

// See waits until an XPath expression finds an element that is shown.
func (b *Browser) See(xpath string) {
	b.T.Helper()
	b.element(xpath)
}

// Until waits until a function of the page returns a true value.
func (b *Browser) Until(function string, args ...any) {
	b.T.Helper()
	var ended bool
	b.Run(&ended,
		`async (...args) => { while (!await (`+function+
			`)(...args)) await new Promise((r) => setTimeout(r, 20)); return true; }`, args...)
}
