package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// small is a program that uses one service on one driver: what it links must not grow by what belongs to the
// other services.
type small struct {
	service, driver string
	modules         []string // that it may take beside those that every program with the service has
}

// ofApps is every module that a program with apps alone needs.
var ofApps = []string{"github.com/evanphx/json-patch/v5", "github.com/go-json-experiment/json", "github.com/google/uuid",
	"github.com/santhosh-tekuri/jsonschema/v6", "golang.org/x/mod", "golang.org/x/text"}

// foreign is every package that a program with apps alone has no use for: the other services' rules, with
// their parsers, and HTTP.
var foreign = []string{module + "/assets", module + "/reviews", module + "/adapters/httpapi", "golang.org/x/net/html", "net/http"}

var programs = []small{
	{service: "appsvc", driver: "memory"},
	{service: "appsvc", driver: "sqlite", modules: []string{"github.com/dustin/go-humanize", "github.com/klauspost/compress",
		"github.com/remyoudompheng/bigfft", "golang.org/x/sys", "modernc.org/libc", "modernc.org/mathutil", "modernc.org/memory", "modernc.org/sqlite"}},
	{service: "appsvc", driver: "postgres", modules: []string{"github.com/jackc/pgpassfile", "github.com/jackc/pgservicefile", "github.com/jackc/pgx/v5",
		"github.com/jackc/puddle/v2", "github.com/klauspost/compress", "golang.org/x/sync"}},
}

func TestProgramsWithOneServiceStaySmall(t *testing.T) {
	for _, p := range programs {
		t.Run(p.service+" on "+p.driver, func(t *testing.T) {
			packages, modules := links(t, p)
			for _, name := range foreign {
				if slices.Contains(packages, name) {
					t.Errorf("it links %s", name)
				}
			}
			for _, name := range modules {
				if name != module && !slices.Contains(ofApps, name) && !slices.Contains(p.modules, name) {
					t.Errorf("it links the module %s", name)
				}
			}
			for _, name := range slices.Concat(ofApps, p.modules) {
				if !slices.Contains(modules, name) {
					t.Errorf("it does not link the module %s: the list is out of date", name)
				}
			}
		})
	}
}

// links returns the packages and the modules that a program is made of.
func links(t *testing.T, p small) (packages, modules []string) {
	text := "package main\n\nimport (\n\t_ \"" + module + "/" + p.service + "\"\n\t_ \"" + module + "/storage/" + p.driver + "\"\n)\n\nfunc main() {}\n"
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.Command("go", "list", "-deps", "-f", "{{.ImportPath}} {{with .Module}}{{.Path}}{{end}}", file)
	command.Dir = root
	out, err := command.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for line := range strings.Lines(string(out)) {
		name, of, _ := strings.Cut(strings.TrimSpace(line), " ")
		packages = append(packages, name)
		if of != "" && !slices.Contains(modules, of) {
			modules = append(modules, of)
		}
	}
	if !slices.Contains(packages, module+"/"+p.service) {
		t.Fatalf("the program does not link %s: this shows nothing", p.service)
	}
	return packages, modules
}

// A flag of a package is one of every program and test that imports it.
func TestNoPackageForOthersRegistersFlags(t *testing.T) {
	for _, s := range sources(t) {
		if !s.test() && !s.hidden() && !below(s.dir(), "examples") && slices.Contains(s.imports, "flag") {
			t.Errorf("%s imports flag: only programs and tests have flags", s.path)
		}
	}
}

// The suites of drivers test drivers: a service is tested by its domain's tests, and on every store by
// internal/proof/services.
func TestSuitesOfDriversUseNoService(t *testing.T) {
	for _, s := range sources(t) {
		if s.dir() == "storage/storagetest" && (slices.Contains(s.imports, module+"/assets") || slices.Contains(s.imports, module+"/reviews")) {
			t.Errorf("%s imports a service: a driver needs assetstore and reviewstore alone", s.path)
		}
	}
}

// What drivers implement is declared apart from what users call, and doc.go of appsvc says what it is.
func TestTheContractOfDriversStandsApart(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "appsvc/doc.go"))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, name := range []string{"store.go", "storequery.go"} {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, "appsvc", name), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for declared, object := range file.Scope.Objects {
			if object.Kind != ast.Typ || declared == "Sort" { // callers choose an order too
				continue
			}
			found++
			if !strings.Contains(string(text), declared) {
				t.Errorf("appsvc/%s declares %s, which doc.go does not name as the drivers'", name, declared)
			}
		}
	}
	if found < 8 {
		t.Errorf("only %d types are the drivers': this shows nothing", found)
	}
}
