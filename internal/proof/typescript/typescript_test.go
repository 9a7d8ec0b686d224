package typescript

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/internal/proof/program"
)

const (
	module     = "../../.."
	signingKey = "a key for this test, nothing more"
)

// skip leaves the test out where a tool is missing, but not where everything must run.
func skip(t *testing.T, format string, args ...any) {
	t.Helper()
	if os.Getenv("VITRINE_CI") != "" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

func TestAGeneratedClientCreatesPatchesAndTags(t *testing.T) {
	if testing.Short() {
		t.Skip("the client is generated without -short")
	}
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			skip(t, "needs %s: %v", tool, err)
		}
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata")); err != nil {
		t.Fatal(err)
	}
	if out, err := run(dir, "npm", "install", "--no-audit", "--no-fund", "--ignore-scripts"); err != nil {
		skip(t, "the generator cannot be installed: %v\n%s", err, out)
	}
	server := serve(t)
	if err := os.WriteFile(filepath.Join(dir, "openapi.json"), get(t, server.URL+"/openapi.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{
		{"node_modules/.bin/openapi-typescript", "openapi.json", "-o", "api.d.ts"},
		{"node_modules/.bin/tsc", "--strict", "--noUncheckedIndexedAccess", "--target", "es2022", "--module", "nodenext", "--lib", "es2022,dom", "main.ts"},
	} {
		if out, err := run(dir, command[0], command[1:]...); err != nil {
			t.Fatalf("%s: %v\n%s", command[0], err, out)
		}
	}
	out, err := run(dir, "node", "main.js", server.URL, token(t))
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, server.Log())
	}
	const want = `{"title":"Winter","version":"1","config":{"question":"Cocoa?"},` +
		`"stale":[409,"the patch is for version \"0\", but the app is at version \"1\""],` +
		`"component":"@scope/poll","found":[1,"Winter"]}`
	if have := compact(t, out); have != want {
		t.Errorf("the client has\n%s\nwant\n%s", have, want)
	}
}

// serve starts the program on a store in memory.
func serve(t *testing.T) *program.Server {
	t.Helper()
	binary, err := program.Build{Module: module, Package: "./examples/server"}.Run(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	server, err := program.StartServer([]string{"VITRINE_KEY=" + signingKey}, binary, "serve", "-addr", "127.0.0.1:0", "-db", "memory:")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Kill)
	return server
}

func token(t *testing.T) string {
	t.Helper()
	tokens, err := httpapi.NewTokens([]byte(signingKey), nil)
	if err != nil {
		t.Fatal(err)
	}
	by := httpapi.Principal{URN: "urn:vitrine:example.test:user=editor", Moderates: []string{"urn:vitrine:example.test"}, Components: true}
	text, err := tokens.Sign(by, time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func get(t *testing.T, url string) []byte {
	t.Helper()
	answer, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", url, answer.Status, err)
	}
	return text
}

// run runs a command in a directory and returns what it says.
func run(dir, name string, args ...string) ([]byte, error) {
	command := exec.Command(name, args...)
	command.Dir = dir
	return command.CombinedOutput()
}

func compact(t *testing.T, text []byte) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, text); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return b.String()
}
