//go:build proof

package readme

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/internal/cluster"
	"github.com/vitrine-go/vitrine/internal/proof/program"
)

// second is where the server on PostgreSQL of a guide stands.
const second = "127.0.0.1:8081"

// database is the variable that names a PostgreSQL database in a guide.
const database = "DATABASE_URL"

// The guide of embedders gives the lines that open other stores. Put into the program of the README in place of the
// memory store, with their imports, they make programs that build; the one with a file prints the same.
func TestStoresDifferInOneLine(t *testing.T) {
	const line, imported = "db := memory.New()", `"github.com/vitrine-go/vitrine/storage/memory"`
	all := blocks(t, "README.md")
	at := slices.IndexFunc(all, func(b block) bool { return strings.Contains(b.text, line) })
	if at < 0 || !strings.Contains(all[at].text, imported) {
		t.Fatalf("the README has no program with the line %q", line)
	}
	module, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	opened := map[string]bool{}
	for _, m := range regexp.MustCompile("`(db, err := (\\w+)\\.Open\\([^`]*\\))`").FindAllStringSubmatch(read(t,
		"examples/embed/README.md"), -1) {
		open, driver := m[1], m[2]
		opened[driver] = true
		dir := t.TempDir()
		program := strings.Replace(all[at].text, line, open+"\n\tif err != nil {\n\t\tpanic(err)\n\t}", 1)
		program = strings.Replace(program, imported, strings.ReplaceAll(imported, "memory", driver), 1)
		file, binary := filepath.Join(dir, "main.go"), filepath.Join(dir, "program")
		if err := os.WriteFile(file, []byte(program), 0o600); err != nil {
			t.Fatal(err)
		}
		build := exec.Command("go", "build", "-o", binary, file)
		build.Dir = module
		if out, err := build.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", open, err, out)
			continue
		}
		if driver != "sqlite" {
			continue // it needs a server
		}
		run := exec.Command(binary)
		run.Dir = dir
		if out, err := run.CombinedOutput(); err != nil || string(out) != all[at+1].text {
			t.Errorf("%s: the program prints\n%s\nwant\n%s (%v)", open, out, all[at+1].text, err)
		}
	}
	if !opened["sqlite"] || !opened["postgres"] {
		t.Errorf("the guide opens %v, want sqlite and postgres", opened)
	}
}

// The commands of each guide run in their order. The server is built once instead of by every go run. Without
// PostgreSQL the blocks that need it are left out.
func TestCommands(t *testing.T) {
	for _, tool := range []string{"bash", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			if os.Getenv("VITRINE_CI") != "" {
				t.Fatal(err)
			}
			t.Skipf("needs %s: %v", tool, err)
		}
	}
	server := filepath.Join(t.TempDir(), "server")
	build := exec.Command("go", "build", "-o", server, "./examples/vitrine")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	url := ""
	if cluster.Programs() != "" || os.Getenv("VITRINE_CI") != "" {
		url = cluster.Database(t)
	}
	for _, guide := range guides {
		t.Run(guide, func(t *testing.T) { session(t, guide, server, url) })
	}
}

// session runs the sh blocks, in their order, with the programs that ask the server between them. The
// server stands on a free port and works in a folder of its own; tests and benchmarks are not run. Blocks
// that need a database are left out where url is empty.
func session(t *testing.T, guide, server, url string) {
	dir := t.TempDir()
	addr, other := freeAddress(t), freeAddress(t)
	examples, err := filepath.Abs(filepath.Join(root, "examples"))
	if err = errors.Join(err, os.Symlink(examples, filepath.Join(dir, "examples"))); err != nil {
		t.Fatal(err)
	}
	pictures := filepath.Join("adapters", "console", "pictures") // which a block uploads
	if err := os.CopyFS(filepath.Join(dir, pictures), os.DirFS(filepath.Join(root, pictures))); err != nil {
		t.Fatal(err)
	}
	script := []string{"set -euo pipefail", `trap 'kill $(jobs -p) 2>/dev/null || true' EXIT`,
		`curl() { command curl --fail-with-body "$@"; }`}
	all := blocks(t, guide)
	for i, b := range all {
		switch {
		case b.lang == "sh" && url == "" && strings.Contains(b.text, database):
		case b.lang == "sh":
			for line := range strings.Lines(strings.ReplaceAll(b.text, "\\\n", "")) {
				line = strings.ReplaceAll(strings.ReplaceAll(line, second, other), address, addr)
				script = append(script, command(strings.TrimSpace(line), server, addr)...)
			}
			if i+1 < len(all) && all[i+1].lang == "json" && all[i+1].text[0] == '{' {
				script = append(script, answers(t, dir, script[len(script)-1], all[i+1].text))
			}
		case b.lang == "go" && strings.Contains(b.text, address):
			if i+1 == len(all) || all[i+1].lang != "text" {
				t.Fatalf("program %d is not followed by a text block with what it prints", i)
			}
			script = append(script, goProgram(t, dir, strings.ReplaceAll(b.text, address, addr), all[i+1].text)...)
		}
	}
	run := exec.Command("bash", "-c", strings.Join(script, "\n"))
	run.Dir, run.Env = dir, append(os.Environ(), database+"="+url)
	if out, err := run.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s\nof the script\n%s", err, out, strings.Join(script, "\n"))
	}
}

// goProgram returns the lines of the shell that run a Go program of a document and compare its output with the block
// that follows it. The program gets the token of the session in TOKEN.
func goProgram(t *testing.T, dir, text, prints string) []string {
	module, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	file, want := filepath.Join(dir, "main.go"), filepath.Join(dir, "want.txt")
	for name, content := range map[string]string{file: text, want: prints} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return []string{"echo '$ go run main.go'",
		fmt.Sprintf("(cd %q && TOKEN=$TOKEN go run %q) | diff - %q", module, file, want)}
}

// answers turns the last line of a block into what the test runs: it prints the JSON of the next block, but for
// white space.
func answers(t *testing.T, dir, line, prints string) string {
	want, err := os.CreateTemp(dir, "want*.json")
	if err != nil {
		t.Fatal(err)
	}
	_, err = want.WriteString(strings.NewReplacer("\": ", "\":", ", ", ",", "\n", "", "  ", "").Replace(prints))
	if err := errors.Join(err, want.Close()); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s | diff - %q", line, want.Name())
}

// command turns a line of a guide into what the test runs.
func command(line, server, addr string) []string {
	if line == "" || strings.HasPrefix(line, "#") || strings.Contains(line, "go test") {
		return nil
	}
	line = strings.ReplaceAll(line, "go run ./examples/vitrine", server)
	say := fmt.Sprintf("echo '$ %s'", strings.ReplaceAll(line, "'", `'\''`))
	if regexp.MustCompile(`^` + regexp.QuoteMeta(server) + `( serve)?( -|$)`).MatchString(line) {
		line = strings.TrimRight(line, " &")
		if _, at, named := strings.Cut(line, " -addr "); named {
			addr, _, _ = strings.Cut(at, " ")
		} else {
			line += " -addr " + addr
		}
		return []string{say, line + " &",
			fmt.Sprintf("for i in $(seq 100); do %s healthz -addr %s >/dev/null 2>&1 && break; sleep 0.1; done", server,
				addr)}
	}
	return []string{say, line}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	port, err := program.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	return "127.0.0.1:" + port
}
