//go:build proof

package generated

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
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

// What each of the generated clients has in the end.
const want = `{"title":"Winter","version":"1","config":{"question":"Cocoa?","size":3},"stale":[409,"stale_version",` +
	`"1"],"main":"https://cdn.example.test/poll.js"}`

// One round trip with each client: a component, an app, a patch, a tag, a version with defaults, a stale
// patch, and a manifest whose name has a slash.
func TestGeneratedClientsMakeARoundTrip(t *testing.T) {
	if testing.Short() {
		t.Skip("clients are generated without -short")
	}
	binary, err := program.Build{Module: module, Package: "./examples/vitrine"}.Run(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Run("oapi-codegen", func(t *testing.T) { roundTripInGo(t, serve(t, binary)) })
	tools := npm(t)
	compile := []string{"tsc", "--strict", "--noUncheckedIndexedAccess", "--skipLibCheck", "--target", "es2022",
		"--lib", "es2022,dom,dom.iterable"}
	for _, c := range []struct {
		name, dir string
		generate  []string
		compile   []string
	}{
		{"openapi-typescript", "fetch", []string{"openapi-typescript", "openapi.json", "-o", "api.d.ts"},
			[]string{"--module", "nodenext", "main.ts"}},
		// What it writes imports modules without their extension, as a bundler finds them.
		{"hey-api", "hey", []string{"openapi-ts", "-i", "openapi.json", "-o", "api"},
			[]string{"--module", "esnext", "--moduleResolution", "bundler", "--noEmit", "main.ts"}},
		{"orval", "orval", []string{"orval", "--config", "orval.config.cjs"},
			[]string{"--module", "nodenext", "main.ts"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := serve(t, binary)
			dir := filepath.Join(tools, c.dir)
			write(t, dir, "openapi.json", get(t, server.URL+"/openapi.json"))
			write(t, dir, "orval.config.cjs", fmt.Appendf(nil,
				`module.exports = {api: {input: "openapi.json", output: {target: "api.ts", client: "fetch", `+
					`baseUrl: %q}}};`, server.URL))
			tool(t, tools, dir, c.generate...)
			tool(t, tools, dir, append(compile, c.compile...)...)
			main := "main.js"
			if c.name == "hey-api" {
				tool(t, tools, dir, "esbuild", "main.ts", "--bundle", "--format=esm", "--outfile="+main,
					"--log-level=error")
			}
			out, err := run(dir, "node", main, server.URL, token(t))
			if err != nil {
				t.Fatalf("%v\n%s\n%s", err, out, server.Log())
			}
			if have := compact(t, out); have != want {
				t.Errorf("the client has\n%s\nwant\n%s", have, want)
			}
		})
	}
	t.Run("redocly", func(t *testing.T) {
		tool(t, tools, filepath.Join(tools, "fetch"), "redocly", "lint", "--max-problems=20", "openapi.json")
	})
	t.Run("spectral", func(t *testing.T) {
		write(t, tools, "spectral.yaml", []byte("extends: spectral:oas\n"))
		tool(t, tools, filepath.Join(tools, "fetch"), "spectral", "lint", "--fail-severity=error", "--ruleset",
			filepath.Join(tools, "spectral.yaml"), "openapi.json")
	})
}

// npm returns a directory with a program for each generator, and with all tools.
func npm(t *testing.T) string {
	t.Helper()
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			skip(t, "needs %s: %v", tool, err)
		}
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata")); err != nil {
		t.Fatal(err)
	}
	if out, err := run(dir, "npm", "install", "--no-audit", "--no-fund", "--ignore-scripts",
		"--prefer-offline"); err != nil {
		skip(t, "the generators cannot be installed: %v\n%s", err, out)
	}
	return dir
}

// tool runs a command of the installed packages.
func tool(t *testing.T, tools, dir string, command ...string) {
	t.Helper()
	if out, err := run(dir, filepath.Join(tools, "node_modules", ".bin", command[0]), command[1:]...); err != nil {
		t.Fatalf("%s: %v\n%s", command[0], err, out)
	}
}

// oapiCodegen is the generator for Go.
const oapiCodegen = "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2"

func roundTripInGo(t *testing.T, server *program.Server) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "go"))); err != nil {
		t.Fatal(err)
	}
	if out, err := run(dir, "go", "mod", "download"); err != nil {
		skip(t, "what the client needs cannot be downloaded: %v\n%s", err, out)
	}
	t.Setenv("GOBIN", dir)
	if out, err := run(dir, "go", "install", oapiCodegen); err != nil {
		skip(t, "the generator cannot be installed: %v\n%s", err, out)
	}
	write(t, dir, "openapi.json", get(t, server.URL+"/openapi.json"))
	for _, command := range [][]string{
		{filepath.Join(dir, "oapi-codegen"), "-package", "main", "-o", "api.gen.go", "openapi.json"},
		{"go", "build", "-o", "generated", "."},
	} {
		if out, err := run(dir, command[0], command[1:]...); err != nil {
			t.Fatalf("%s: %v\n%s", command[0], err, out)
		}
	}
	out, err := run(dir, filepath.Join(dir, "generated"), server.URL, token(t))
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, server.Log())
	}
	if have := compact(t, out); have != want {
		t.Errorf("the client has\n%s\nwant\n%s", have, want)
	}
}

func write(t *testing.T, dir, name string, text []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// serve starts the program on a store in memory.
func serve(t *testing.T, binary string) *program.Server {
	t.Helper()
	server, err := program.StartServer([]string{"VITRINE_KEY=" + signingKey}, binary, "serve", "-addr", "127.0.0.1:0",
		"-db", "memory:")
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
	by := httpapi.Principal{Caller: vitrine.Caller{URN: "urn:vitrine:example.test:user=editor",
		Moderates: []string{"urn:vitrine:example.test"}, Components: true}}
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
	command.Env = append(os.Environ(), "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true")
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
