package layout

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// drivers are the libraries of drivers, that of files in S3, and those of tools for assistants.
const drivers = "github.com/modelcontextprotocol/go-sdk github.com/google/jsonschema-go modernc.org/sqlite " +
	"github.com/jackc/pgx/v5 go.etcd.io/bbolt github.com/minio/minio-go/v7"

// The go command gives the go.sum of a program the modules that the tests need of each package that the program links.
func TestNoDriverIsNeededToTestWhatAProgramLinks(t *testing.T) {
	all := map[string]listed{}
	for _, p := range packages(t) {
		all[p.ImportPath] = p
	}
	for _, p := range all {
		if p.DepOnly || p.private() || below(p.dir(), "examples storage/storetest") {
			continue
		}
		for _, name := range append(slices.Clone(p.Deps), p.ImportPath) {
			linked, ok := all[name]
			if !ok || linked.DepOnly {
				continue
			}
			for _, imported := range slices.Concat(linked.TestImports, linked.XTestImports) {
				needed := append(slices.Clone(all[imported].Deps), imported)
				driver := slices.IndexFunc(needed, func(name string) bool {
					return below(name, drivers) && !slices.Contains(p.Deps, name)
				})
				if driver >= 0 {
					t.Errorf("a program with %s has %s in its go.sum, since the tests of %s import %s", p.dir(),
						needed[driver], linked.dir(), imported)
				}
			}
		}
	}
}

// A program that embeds apps, with a store in memory, has no driver in its go.sum.
func TestAnEmbedderHasNoDriverInItsGoSum(t *testing.T) {
	here, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	said(t, "git", "ls-files") // looks at all files, which the result depends on
	dir := t.TempDir()
	for name, content := range map[string]string{
		"go.mod": "module example.test/embedder\n\ngo 1.26.0\n\nrequire " + module + " v0.0.0\n\nreplace " + module +
			" => " + here + "\n",
		"main.go": "package main\n\nimport (\n\t_ \"" + module + "/appsvc\"\n\t_ \"" + module +
			"/adapters/httpapi\"\n" +
			"\t_ \"" + module + "/storage/memory\"\n)\n\nfunc main() {}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tidy := exec.Command("go", "mod", "tidy")
	tidy.Dir = dir
	tidy.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off", "GOSUMDB=off")
	if out, err := tidy.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", tidy, err, out)
	}
	sum, err := os.ReadFile(filepath.Join(dir, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(sum), "github.com/tidwall/btree ") {
		t.Errorf("the go.sum lacks the library of the store in memory:\n%s", sum)
	}
	for line := range strings.Lines(string(sum)) {
		if name, _, _ := strings.Cut(line, " "); below(name, drivers+" modernc.org github.com/jackc") {
			t.Errorf("the go.sum has %s", name)
		}
	}
}
