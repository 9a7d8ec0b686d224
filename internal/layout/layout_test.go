package layout

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/vitrine-go/vitrine"

// root is the directory of the module, from that of this package.
const root = "../.."

// row says what the packages at and below a directory may import beside the standard library and
// one another. Paths within the module are relative to it. A row for a deeper directory goes first.
type row struct {
	dir   string
	may   []string // at and below these paths
	tests []string // in tests also these
	why   string
}

var table = []row{
	{
		dir: "appsvc",
		may: []string{"internal", "github.com/evanphx/json-patch/v5", "github.com/santhosh-tekuri/jsonschema/v6", "github.com/go-json-experiment/json",
			"github.com/google/uuid", "golang.org/x/mod/semver", "golang.org/x/text"},
		tests: []string{"storage/memory"},
		why:   "a domain knows no other domain, no driver and no adapter, only libraries that carry out one of its rules",
	}, {
		dir:   "assets",
		may:   []string{"internal", "github.com/go-json-experiment/json", "github.com/google/uuid", "golang.org/x/net/html", "golang.org/x/text"},
		tests: []string{"storage/memory"},
		why:   "a domain knows no other domain, no driver and no adapter, only libraries that carry out one of its rules",
	}, {
		dir:   "reviews",
		may:   []string{"internal", "github.com/go-json-experiment/json"},
		tests: []string{"storage/memory", "golang.org/x/net/html"},
		why:   "a domain knows no other domain, no driver and no adapter, only libraries that carry out one of its rules",
	}, {
		dir:   "storage/internal",
		may:   []string{"appsvc", "assets", "reviews", "internal", "github.com/klauspost/compress"},
		tests: []string{"storage"},
		why:   "what drivers share knows no driver",
	}, {
		dir:   "storage/memory",
		may:   []string{"appsvc", "assets", "reviews", "adapters/webhook/webhookstore", "internal", "storage/internal"},
		tests: []string{"storage/storagetest"},
		why:   "a driver knows the domains whose stores it keeps, and no other driver",
	}, {
		dir:   "storage/sqlite",
		may:   []string{"appsvc", "assets", "reviews", "adapters/webhook/webhookstore", "internal", "storage/internal", "modernc.org/sqlite", "modernc.org/libc"},
		tests: []string{"storage/storagetest", "storage/memory"},
		why:   "a driver knows the domains whose stores it keeps and its own driver library, and no other driver",
	}, {
		dir:   "storage/postgres",
		may:   []string{"appsvc", "assets", "reviews", "adapters/webhook/webhookstore", "internal", "storage/internal", "github.com/jackc/pgx/v5"},
		tests: []string{"storage/storagetest", "storage/memory"},
		why:   "a driver knows the domains whose stores it keeps and its own driver library, and no other driver",
	}, {
		dir:   "storage/archive",
		may:   []string{"appsvc", "assets", "reviews", "internal", "github.com/go-json-experiment/json"},
		tests: []string{"storage"},
		why:   "an archive knows the domains' stores and no driver",
	}, {
		dir:   "storage/storagetest",
		may:   []string{"appsvc", "assets", "reviews", "adapters/webhook/webhookstore"},
		tests: []string{"storage/memory"},
		why:   "drivers outside this module use the suite, so it needs nothing but the domains",
	}, {
		dir:   "adapters/qrischema",
		may:   []string{"appsvc", "internal", "github.com/qri-io/jsonschema"},
		tests: []string{"storage/memory"},
		why:   "an adapter knows what it adapts and the domain it serves",
	}, {
		dir: "adapters/console",
		may: []string{"internal/drain", "github.com/tdewolff/minify/v2"},
		why: "the console is files for a browser, which speaks to the API over HTTP",
	}, {
		dir: "adapters",
		may: []string{"appsvc", "assets", "reviews", "internal", "github.com/julienschmidt/httprouter", "github.com/golang-jwt/jwt/v5",
			"github.com/go-json-experiment/json", "github.com/klauspost/compress/gzip"},
		tests: []string{"storage"},
		why:   "an adapter knows the domains and never a driver: its embedder chooses one",
	}, {
		dir: "internal/cluster",
		may: []string{"github.com/jackc/pgx/v5"},
		why: "it starts PostgreSQL for tests of any package, and knows none of them",
	}, {
		dir:   "internal/proof/upgrade",
		may:   []string{"appsvc", "assets", "reviews", "adapters/httpapi", "storage/archive"},
		tests: []string{"storage", "internal", "modernc.org/sqlite"},
		why:   "proofs open stores of earlier releases and read them through the services; no part of the service uses it",
	}, {
		dir:   "internal/proof/services",
		may:   []string{"assets", "reviews"},
		tests: []string{"storage/memory"},
		why:   "it drives services on any store; tests of domains and of drivers call it, and no part of the service uses it",
	}, {
		dir: "internal/proof/replay",
		may: []string{"appsvc", "assets"},
		why: "proofs follow the feeds of changes with it; no part of the service uses it",
	}, {
		dir: "internal/proof/appmodel",
		may: []string{"github.com/anishathalye/porcupine"},
		why: "tests of histories judge them with it; no part of the service uses it",
	}, {
		dir: "internal/proof/openapi",
		may: []string{"internal/jsonpointer", "github.com/santhosh-tekuri/jsonschema/v6"},
		why: "it judges by schemas, with the engine that the module has anyway",
	}, {
		dir:   "internal",
		may:   []string{"github.com/go-json-experiment/json"},
		tests: []string{"appsvc", "assets", "reviews", "storage", "adapters"},
		why:   "what domains share knows none of them",
	}, {
		dir: "examples/vitrine",
		may: []string{"appsvc", "assets", "reviews", "internal", "storage", "adapters", "github.com/schollz/progressbar/v3", "golang.org/x/term",
			"github.com/mattn/go-isatty", "github.com/prometheus/client_golang"},
		// What benchmarks hold the program against; nobody imports a program and its tests.
		tests: []string{"github.com/julienschmidt/httprouter", "github.com/golang-jwt/jwt/v5", "modernc.org/sqlite"},
		why:   "the program puts everything together, with libraries for its command line and its metrics",
	}, {
		dir: "examples",
		may: []string{"appsvc", "assets", "reviews", "internal", "storage", "adapters"},
		why: "an embedding program needs nothing else",
	},
}

// source is a Go file: its path within the module, and what it imports.
type source struct {
	path    string
	imports []string
}

func (s source) dir() string  { return path.Dir(s.path) }
func (s source) test() bool   { return strings.HasSuffix(s.path, "_test.go") }
func (s source) hidden() bool { return slices.Contains(strings.Split(s.dir(), "/"), "internal") }

// sources reads every Go file of the module itself, rather than asking the go command, so that a
// change to any of them is seen as an input of this test.
func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := entry.Name()
		if entry.IsDir() && name != root && (base == "testdata" || base[0] == '.' || base[0] == '_') {
			return fs.SkipDir
		}
		if entry.IsDir() || !strings.HasSuffix(base, ".go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		within, err := filepath.Rel(root, name)
		s := source{path: filepath.ToSlash(within)}
		for _, spec := range file.Imports {
			imported, _ := strconv.Unquote(spec.Path.Value)
			s.imports = append(s.imports, imported)
		}
		all = append(all, s)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// below reports whether one of the directories is p or holds it.
func below(p string, dirs ...string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return p == dir || strings.HasPrefix(p, dir+"/") })
}

// standard reports whether p is of the standard library: its first element is no domain name.
func standard(p string) bool {
	first, _, _ := strings.Cut(p, "/")
	return !strings.Contains(first, ".")
}

func TestPackagesImportOnlyWhatTheyMay(t *testing.T) {
	for _, s := range sources(t) {
		at := slices.IndexFunc(table, func(r row) bool { return below(s.dir(), r.dir) })
		if at < 0 {
			t.Errorf("%s: no row of the table says what it may import", s.path)
			continue
		}
		for _, imported := range s.imports {
			if broken := table[at].refuses(s, imported); broken != "" {
				t.Errorf("%s imports %s: %s", s.path, imported, broken)
			}
		}
	}
}

// refuses says why s may not import a package, or nothing.
func (r row) refuses(s source, imported string) string {
	within, own := strings.CutPrefix(imported, module+"/")
	switch {
	case standard(imported) || own && below(within, r.dir):
		return ""
	case below(within, r.may...) && reachable(within, own):
		return ""
	case s.test() && below(within, r.tests...):
		return ""
	case s.test() && !own && s.hidden():
		return "" // a test library of an internal package leaks into no embedder's go.sum
	case s.test() && !own:
		return "third-party test libraries belong into packages below an internal directory"
	}
	return r.why
}

// reachable is false for what another directory keeps to itself: only the internal directories at
// the top and of the storage are shared.
func reachable(within string, own bool) bool {
	return !own || !strings.Contains(within, "/internal/") || below(within, "internal", "storage/internal")
}

// The go command gives an embedder's go.sum what the tests of the packages it imports import. So a
// library that only tests use belongs into packages that nothing imports.
func TestTestLibrariesDoNotLeak(t *testing.T) {
	all := sources(t)
	used := map[string]bool{} // by something that is no test
	for _, s := range all {
		for _, p := range s.imports {
			used[p] = used[p] || !s.test()
		}
	}
	for _, s := range all {
		for _, p := range s.imports {
			if !used[p] && !standard(p) && !below(p, module) && used[module+"/"+s.dir()] {
				t.Errorf("%s imports %s: a library that only tests use belongs into a package that no other imports", s.path, p)
			}
		}
	}
}

func TestTheTableNamesEachPackageOnce(t *testing.T) {
	for i, r := range table {
		for _, earlier := range table[:i] {
			if below(r.dir, earlier.dir) {
				t.Errorf("the row of %s is never reached: %s comes first", r.dir, earlier.dir)
			}
		}
	}
}

func TestTheTableRefuses(t *testing.T) {
	for _, test := range []struct {
		path, imported string
		refused        bool
	}{
		{"appsvc/app.go", module + "/assets", true},
		{"appsvc/app.go", module + "/storage/memory", true},
		{"appsvc/app.go", module + "/internal/urn", false},
		{"appsvc/app.go", module + "/internals", true},
		{"appsvc/app.go", "net/http", false},
		{"appsvc/app.go", "github.com/julienschmidt/httprouter", true},
		{"appsvc/app_test.go", module + "/storage/memory", false},
		{"appsvc/app_test.go", "github.com/anishathalye/porcupine", true},
		{"appsvc/internal/x/x.go", module + "/internal/strictjson", false},
		{"appsvc/internal/x/x_test.go", "github.com/anishathalye/porcupine", false},
		{"appsvc/internal/x/x.go", "github.com/anishathalye/porcupine", true},
		{"assets/a.go", module + "/appsvc", true},
		{"reviews/r.go", module + "/assets", true},
		{"storage/memory/apps.go", module + "/storage/sqlite", true},
		{"storage/memory/apps.go", module + "/storage/internal/history", false},
		{"storage/memory/apps.go", module + "/appsvc/internal/jsonpatch", true},
		{"storage/storagetest/apps.go", module + "/storage/memory", true},
		{"adapters/httpapi/apps.go", module + "/storage/memory", true},
		{"adapters/httpapi/apps_test.go", module + "/storage/memory", false},
		{"adapters/qrischema/q.go", "github.com/julienschmidt/httprouter", true},
		{"internal/urn/urn.go", module + "/appsvc", true},
		{"examples/vitrine/main.go", module + "/storage/sqlite", false},
		{"examples/vitrine/main.go", "example.test/framework", true},
	} {
		s := source{path: test.path}
		at := slices.IndexFunc(table, func(r row) bool { return below(s.dir(), r.dir) })
		if got := table[at].refuses(s, test.imported); (got != "") != test.refused {
			t.Errorf("%s imports %s: refused because of %q, want refused: %t", test.path, test.imported, got, test.refused)
		}
	}
}

func TestNothingUsesCgo(t *testing.T) {
	for _, s := range sources(t) {
		if slices.Contains(s.imports, "C") {
			t.Errorf("%s imports C: the module builds without a C compiler", s.path)
		}
	}
}

func TestTheTopLevelHoldsOnlyWhatTheLayoutHas(t *testing.T) {
	allowed := []string{"appsvc", "assets", "reviews", "storage", "adapters", "examples", "internal",
		"go.mod", "go.sum", "README.md", "LICENSE", "CHANGELOG.md"}
	for _, name := range tracked(t) {
		top, _, _ := strings.Cut(name, "/")
		if !slices.Contains(allowed, top) && top[0] != '.' {
			t.Errorf("%s: the top level holds %v and hidden files", top, allowed)
		}
	}
}

func TestNoFileNamesAPlaceOnSomeonesMachine(t *testing.T) {
	place := regexp.MustCompile(`(?m)(^|[\s"'(=` + "`" + `])(/(home|root|work|Users)/|[A-Z]:\\Users)[^\s"]*`)
	const image = "/home/nonroot" // the place in every container of examples/deploy
	for _, name := range tracked(t) {
		if path.Ext(name) != ".go" && path.Ext(name) != ".md" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil && !os.IsNotExist(err) { // what is tracked may be deleted and not yet committed
			t.Fatal(err)
		}
		for _, found := range place.FindAll(text, -1) {
			if !strings.Contains(string(found), image) {
				t.Errorf("%s: %q is a place on one machine", name, strings.TrimSpace(string(found)))
			}
		}
	}
}

// tracked lists the files of the module: those that git knows, so that a data file beside them does
// no harm, or all of them where there is no repository.
func tracked(t *testing.T) []string {
	t.Helper()
	command := exec.Command("git", "ls-files", "-z")
	command.Dir = root
	if out, err := command.Output(); err == nil && len(out) > 0 {
		return strings.Split(strings.TrimRight(string(out), "\x00"), "\x00")
	}
	var all []string
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			all = append(all, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
