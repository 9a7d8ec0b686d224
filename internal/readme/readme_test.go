// Package readme holds the READMEs to what they say: every block of code in them is run, and every link leads to a file
// that exists. The page of the README is opened in a browser by internal/proof/browser.
package readme

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/adapters/webhook"
	"github.com/vitrine-go/vitrine/internal/cluster"
	"github.com/vitrine-go/vitrine/internal/proof"
	"github.com/vitrine-go/vitrine/internal/proof/program"
)

const root = "../.."

// figures are the files whose figures come with the tests and benchmarks that measure them. Their blocks hold nothing else.
var figures = []string{"storage/README.md", "internal/proof/README.md", "reviews/README.md"}

// block is a fenced block of a README: its language and its text.
type block struct{ lang, text string }

func blocks(t *testing.T) []block {
	all := blocksOf(t, "README.md")
	if len(all) < 3 {
		t.Fatalf("found %d blocks in the README, want more", len(all))
	}
	return all
}

func blocksOf(t *testing.T, file string) (all []block) {
	for _, m := range regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$").FindAllStringSubmatch(read(t, file), -1) {
		all = append(all, block{m[1], m[2]})
	}
	return all
}

func read(t *testing.T, file string) string {
	data, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Where the servers of the README stand, the second on PostgreSQL. A program that asks the first is a part
// of the session.
const (
	address = "127.0.0.1:8080"
	second  = "127.0.0.1:8081"
)

// database is the variable that names a PostgreSQL database in the README.
const database = "DATABASE_URL"

// Nothing in the README is only read: each block is of a language that a test runs. JSON is what the commands before it
// print, or a file of webhooks.
func TestEveryBlockIsRun(t *testing.T) {
	all := blocks(t)
	for i, b := range all {
		switch b.lang {
		case "go", "sh", "text", "html":
		case "json":
			if i > 0 && all[i-1].lang == "sh" {
				continue
			}
			if endpoints, err := webhook.Parse([]byte(b.text)); err != nil || len(endpoints) == 0 {
				t.Errorf("block %d is no file of webhooks, and no commands stand before it: %v\n%s", i, err, b.text)
			}
		default:
			t.Errorf("block %d is of the language %q, which no test runs:\n%s", i, b.lang, b.text)
		}
	}
}

// A block of Go is a program; the text block behind it is what it prints.
func TestPrograms(t *testing.T) {
	needGo(t)
	all := blocks(t)
	programs := 0
	for i, b := range all {
		if b.lang != "go" || strings.Contains(b.text, address) {
			continue
		}
		programs++
		file := filepath.Join(t.TempDir(), "main.go")
		if err := os.WriteFile(file, []byte(b.text), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("go", "run", file)
		cmd.Dir = root
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("program %d: %v\n%s", i, err, out)
		}
		if i+1 == len(all) || all[i+1].lang != "text" {
			t.Errorf("program %d is not followed by a text block with what it prints", i)
		} else if want := all[i+1].text; string(out) != want {
			t.Errorf("program %d prints\n%s\nwant\n%s", i, out, want)
		}
	}
	if programs == 0 {
		t.Error("the README has no program")
	}
}

// The README gives the lines that open other stores. Put into its first program in place of the memory
// store, with their imports, they make programs that build; the one with a file prints the same.
func TestStoresDifferInOneLine(t *testing.T) {
	needGo(t)
	const line, imported = "db := memory.New()", `"github.com/vitrine-go/vitrine/storage/memory"`
	all := blocks(t)
	at := slices.IndexFunc(all, func(b block) bool { return strings.Contains(b.text, line) })
	if at < 0 || !strings.Contains(all[at].text, imported) {
		t.Fatalf("the README has no program with the line %q", line)
	}
	module, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	opened := map[string]bool{}
	for _, m := range regexp.MustCompile("`(db, err := (\\w+)\\.Open\\([^`]*\\))`").FindAllStringSubmatch(read(t, "README.md"), -1) {
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
		t.Errorf("the README opens %v, want sqlite and postgres", opened)
	}
}

// needGo leaves out what go run and go build take long for, and what other processes do, which the race
// detector does not watch.
func needGo(t *testing.T) {
	if proof.Short() {
		t.Skip("the programs and commands are run without -short")
	}
}

// The server is built once instead of by every go run.
func TestCommands(t *testing.T) {
	needGo(t)
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
	t.Run("without a database", func(t *testing.T) { session(t, server, "") })
	t.Run("with PostgreSQL", func(t *testing.T) { session(t, server, cluster.Database(t)) })
}

// session runs the sh blocks, in their order, with the programs that ask the server between them. The
// server stands on a free port and works in a folder of its own; tests and benchmarks are not run. Blocks
// that need a database are left out where url is empty.
func session(t *testing.T, server, url string) {
	dir := t.TempDir()
	addr, other := freeAddress(t), freeAddress(t)
	script := []string{"set -euo pipefail", `trap 'kill $(jobs -p) 2>/dev/null || true' EXIT`, `curl() { command curl --fail-with-body "$@"; }`}
	all := blocks(t)
	for i, b := range all {
		switch {
		case b.lang == "sh" && url == "" && strings.Contains(b.text, database):
		case b.lang == "sh":
			for line := range strings.Lines(b.text) {
				line = strings.ReplaceAll(strings.ReplaceAll(line, second, other), address, addr)
				script = append(script, command(strings.TrimSpace(line), server, addr)...)
			}
			if i+1 < len(all) && all[i+1].lang == "json" {
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

// goProgram turns a program that asks the server into what the test runs: with the TOKEN of the session in
// its environment it prints what the next block has.
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
	return []string{"echo '$ go run main.go'", fmt.Sprintf("(cd %q && TOKEN=$TOKEN go run %q) | diff - %q", module, file, want)}
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

// command turns a line of the README into what the test runs.
func command(line, server, addr string) []string {
	if line == "" || strings.HasPrefix(line, "#") || isTest(line) {
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
			fmt.Sprintf("for i in $(seq 100); do %s healthz -addr %s >/dev/null 2>&1 && break; sleep 0.1; done", server, addr)}
	}
	return []string{say, line}
}

func isTest(line string) bool {
	return strings.HasPrefix(line, "go test") || strings.Contains(line, " go test")
}

// The tests and benchmarks that the figures come from exist, and so do their flags.
func TestFiguresHaveTheirCommands(t *testing.T) {
	for _, file := range figures {
		for _, b := range blocksOf(t, file) {
			for line := range strings.Lines(b.text) {
				if line = strings.TrimSpace(line); b.lang != "sh" || !strings.HasPrefix(line, "go test ") {
					t.Errorf("%s: %q is no command that runs tests", file, line)
				} else if err := lookUp(t, line); err != nil {
					t.Errorf("%s: %s: %v", file, line, err)
				}
			}
		}
	}
}

func TestACommandThatWouldRunNothingIsFound(t *testing.T) {
	for _, line := range []string{
		"go test",
		"go test -tags proof ./internal/proof/none",
		"go test ./internal/readme -run NoSuchTest",
		"go test ./internal/readme -run TestLinks -bench NoSuchBenchmark",
		"go test ./internal/readme -args -nosuchflag 1",
		"go test -tags proof ./internal/readme ./internal/proof/kill -args -kills 1",
		"go test ./internal/proof/kill -v -timeout 0 -args -kills 1",
	} {
		if lookUp(t, line) == nil {
			t.Errorf("%s would run nothing, and is not found", line)
		}
	}
	if err := lookUp(t, "go test -tags proof ./internal/proof/kill -v -timeout 0 -args -kills 1"); err != nil {
		t.Error(err)
	}
}

var (
	test      = regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	benchmark = regexp.MustCompile(`(?m)^func (Benchmark\w+)\(`)
)

// lookUp returns an error unless a go test line would run something: each package has tests and the flags of the line, and
// one has the test or the benchmark that the line names. It reads the sources, since building the tests takes long and go
// vet does it anyway.
func lookUp(t *testing.T, line string) error {
	wanted, name := test, ""
	var all, flags []string
	line, tagged := strings.CutPrefix(line, "go test -tags proof ")
	words := strings.Fields(line)
	for i, word := range words {
		switch {
		case word == "./...": // which has some of everything
			return nil
		case word == "-bench":
			wanted, name = benchmark, strings.Trim(words[i+1], "'")
		case word == "-run" && wanted == test:
			name = strings.Trim(words[i+1], "'")
		case strings.HasPrefix(word, "./"):
			files, err := testFiles(word, tagged)
			if err != nil {
				return err
			}
			all = append(all, strings.Join(files, "\n"))
		case strings.HasPrefix(word, "-") && !slices.Contains([]string{"-run", "-benchtime", "-v", "-timeout", "-args"}, word):
			flags = append(flags, word[1:])
		}
	}
	named, err := regexp.Compile(strings.Split(name, "/")[0])
	if err != nil {
		return err
	}
	for _, f := range flags {
		for _, text := range all {
			if !regexp.MustCompile(`flag\.\w+\("` + f + `"`).MatchString(text) {
				return fmt.Errorf("a package has no flag %s", f)
			}
		}
	}
	for _, text := range all {
		if slices.ContainsFunc(wanted.FindAllStringSubmatch(text, -1), func(m []string) bool { return named.MatchString(m[1]) }) {
			return nil
		}
	}
	return fmt.Errorf("no test or benchmark has the name %q", name)
}

// testFiles returns the texts of the files of tests in a directory, with or without those that have the build tag proof.
func testFiles(dir string, tagged bool) (texts []string, err error) {
	names, err := filepath.Glob(filepath.Join(root, dir, "*_test.go"))
	for _, name := range names {
		text, failed := os.ReadFile(name)
		if err = errors.Join(err, failed); tagged || !strings.HasPrefix(string(text), "//go:build proof") {
			texts = append(texts, string(text))
		}
	}
	if err == nil && len(texts) == 0 {
		err = fmt.Errorf("%s has no tests", dir)
	}
	return texts, err
}

// documents lists the Markdown files of the module.
func documents(t *testing.T) (names []string) {
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && (name[0] == '.' || entry.Name() == "node_modules"):
			return fs.SkipDir
		case strings.HasSuffix(name, ".md"):
			names = append(names, name)
		}
		return nil
	})
	if err != nil || len(names) < 5 {
		t.Fatalf("found the documents %q, %v", names, err)
	}
	return names
}

// A document with blocks is one that a test knows: this one, or internal/proof/deploy and internal/proof/cluster for the deployment.
func TestEveryDocumentWithCodeIsRun(t *testing.T) {
	known := append([]string{"README.md", "examples/deploy/README.md", "examples/deploy/postgres/README.md"}, figures...)
	for _, name := range documents(t) {
		if strings.Contains(read(t, name), "\n```") && !slices.Contains(known, name) {
			t.Errorf("%s has blocks of code that no test runs", name)
		}
	}
}

// A link is to a page elsewhere, to a heading of the same document, or to a file or directory that exists.
func TestLinks(t *testing.T) {
	for _, name := range documents(t) {
		for _, link := range links(read(t, name)) {
			if err := broken(name, link); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	for _, link := range []string{"none.md", "storage/none", "#no-such-heading", "storage/README.md#no-such-heading"} {
		if broken("README.md", link) == nil {
			t.Errorf("the link %s is broken, and is not found", link)
		}
	}
}

// links returns the targets of the links and the pictures of a document.
func links(text string) (targets []string) {
	text = regexp.MustCompile("(?ms)^```.*?^```$").ReplaceAllString(text, "")
	for _, m := range regexp.MustCompile(`\]\(([^)\s]+)\)|src="([^"]+)"`).FindAllStringSubmatch(text, -1) {
		targets = append(targets, m[1]+m[2])
	}
	return targets
}

// broken returns an error if a link of a document leads nowhere in the module.
func broken(document, link string) error {
	if strings.HasPrefix(link, "https://") || strings.HasPrefix(link, "http://") {
		return nil
	}
	file, heading, _ := strings.Cut(link, "#")
	path := filepath.Join(root, filepath.Dir(document), filepath.FromSlash(file))
	if file == "" {
		path = filepath.Join(root, document)
	}
	if _, err := os.Stat(path); err != nil || heading == "" {
		return err
	}
	text, err := os.ReadFile(path)
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(string(text), -1) {
		if anchor(m[1]) == heading {
			return nil
		}
	}
	return errors.Join(err, fmt.Errorf("%s has no heading for %s", path, link))
}

// anchor is what a heading is called in a link.
func anchor(heading string) string {
	return regexp.MustCompile(`[^\w\s-]`).ReplaceAllString(strings.ReplaceAll(strings.ToLower(heading), " ", "-"), "")
}

func freeAddress(t *testing.T) string {
	t.Helper()
	port, err := program.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	return "127.0.0.1:" + port
}
