package layout

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
)

// dependencies is every module that this one requires itself, and what for. A new one has a reason
// that is worth its upkeep to everybody who embeds this module.
var dependencies = map[string]string{
	"github.com/anishathalye/porcupine":                        "tests: whether a history is linearizable",
	"github.com/evanphx/json-patch/v5":                         "appsvc: JSON Patch, behind a strict decoder and a budget",
	"github.com/go-json-experiment/json":                       "JSON tokens: no duplicate names, no bad UTF-8, offsets and pointers",
	"github.com/golang-jwt/jwt/v5":                             "adapters/httpapi: signed tokens, with no further dependency",
	"github.com/google/uuid":                                   "ids of apps and components",
	"github.com/jackc/pgx/v5":                                  "storage/postgres: PostgreSQL",
	"github.com/julienschmidt/httprouter":                      "adapters/httpapi: paths with a double slash, which http.ServeMux redirects",
	"github.com/klauspost/compress":                            "storage/internal/history: zstd; adapters/httpapi: gzip at twice the speed of the standard library's",
	"github.com/prometheus/client_golang":                      "examples/vitrine: metrics",
	"github.com/qri-io/jsonschema":                             "adapters/qrischema: another JSON Schema engine",
	"github.com/santhosh-tekuri/jsonschema/v6":                 "appsvc: JSON Schema, the engine that passes the public suite",
	"github.com/schollz/progressbar/v3":                        "examples/vitrine: a progress bar on a terminal",
	"github.com/standard-webhooks/standard-webhooks/libraries": "tests: receivers verify webhooks with it",
	"github.com/tdewolff/minify/v2":                            "adapters/console: scripts and style sheets in 0.55x of their bytes",
	"golang.org/x/mod":                                         "appsvc: which version of a component is the latest",
	"golang.org/x/net":                                         "assets: text of HTML",
	"golang.org/x/term":                                        "examples/vitrine: whether there is a terminal",
	"golang.org/x/text":                                        "assets: folding of letters and accents",
	"modernc.org/libc":                                         "storage/sqlite: must be the version that modernc.org/sqlite was made with",
	"modernc.org/sqlite":                                       "storage/sqlite: SQLite without cgo",
}

func TestEveryDependencyHasAReason(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	file, err := modfile.Parse("go.mod", text, nil)
	if err != nil {
		t.Fatal(err)
	}
	required := map[string]bool{}
	for _, r := range file.Require {
		required[r.Mod.Path] = true
		if !r.Indirect && dependencies[r.Mod.Path] == "" {
			t.Errorf("go.mod requires %s: the list of dependencies gives no reason for it", r.Mod.Path)
		}
	}
	for name := range dependencies {
		if !required[name] {
			t.Errorf("%s is in the list of dependencies and not in go.mod", name)
		}
	}
	for _, r := range file.Replace {
		t.Errorf("go.mod replaces %s, which an embedder's does not", r.Old.Path)
	}
}

// goList asks the go command about packages of this module that are no tests, and all they need.
func goList(t *testing.T, system, format string, packages ...string) []string {
	t.Helper()
	return goListCgo(t, "1", system, format, packages...)
}

// goListCgo is goList with or without a C compiler.
func goListCgo(t *testing.T, cgo, system, format string, packages ...string) []string {
	t.Helper()
	command := exec.Command("go", append([]string{"list", "-deps", "-f", format}, packages...)...)
	command.Dir = root
	command.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED="+cgo)
	out, err := command.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// optional is the packages that use a C compiler on a system where one is there, and do without it elsewhere.
var optional = map[string]string{
	"darwin github.com/prometheus/client_golang/prometheus": "examples/vitrine: how much memory the process has on macOS",
}

func TestNoDependencyUsesCgo(t *testing.T) {
	for _, system := range []string{"linux", "darwin", "windows"} {
		packages := goList(t, system, "{{if .Module}}{{.ImportPath}}{{range .CgoFiles}} {{.}}{{end}}{{end}}", "./...")
		if len(packages) < 50 {
			t.Errorf("%s: only %d packages are listed: this shows nothing", system, len(packages))
		}
		for _, line := range packages {
			if name, files, found := strings.Cut(line, " "); found && optional[system+" "+name] == "" {
				t.Errorf("%s: %s needs a C compiler for %s", system, name, files)
			}
		}
	}
}

func TestOptionalCgoIsOptional(t *testing.T) {
	for place, why := range optional {
		system, name, _ := strings.Cut(place, " ")
		files := goListCgo(t, "0", system, "{{.ImportPath}} {{len .GoFiles}} {{len .CgoFiles}}", name)
		last := strings.Fields(files[len(files)-1])
		if len(last) != 3 || last[0] != name || last[1] == "0" || last[2] != "0" {
			t.Errorf("%s (%s): without cgo it is %v", place, why, last)
		}
	}
}

// A program that embeds a domain and serves no HTTP links no server and no TLS.
func TestNoDomainNeedsHTTP(t *testing.T) {
	for _, domain := range []string{"appsvc", "assets", "reviews"} {
		needed := goList(t, "linux", "{{.ImportPath}}", "./"+domain)
		if !slices.Contains(needed, module+"/internal/urn") {
			t.Errorf("%s: the list of what it needs lacks internal/urn: this shows nothing", domain)
		}
		for _, name := range needed {
			if below(name, "net/http", "crypto/tls") {
				t.Errorf("%s needs %s, directly or through what it imports", domain, name)
			}
		}
	}
}

// licence is the name of a module's own licence. What a module says of the licences of others is not
// looked at: those that are used are listed themselves.
var licence = regexp.MustCompile(`(?i)^(licen[cs]e|copying)(\.(md|txt))?$`)

// permissive is the words by which licences are known that ask for no more than to be named.
var permissive = regexp.MustCompile(`Permission is hereby granted, free of charge` + // MIT
	`|Redistribution and use in source and binary forms` + // BSD
	`|Permission to use, copy, modify, and(/or)? distribute` + // ISC
	`|Apache License\s+Version 2\.0`)

var restrictive = regexp.MustCompile(`(?i)general public license|mozilla public license|server side public|business source|commons clause`)

func TestEveryLicenceIsPermissive(t *testing.T) {
	seen := map[string]bool{}
	for _, line := range goList(t, "linux", "{{with .Module}}{{.Path}} {{.Dir}}{{end}}", "./...") {
		name, dir, found := strings.Cut(line, " ")
		if !found || seen[name] {
			continue
		}
		seen[name] = true
		files, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		allowed := false
		for _, file := range files {
			if file.IsDir() || !licence.MatchString(file.Name()) {
				continue
			}
			text, err := os.ReadFile(filepath.Join(dir, file.Name()))
			if err != nil {
				t.Fatal(err)
			}
			allowed = allowed || permissive.Match(text)
			if found := restrictive.Find(text); found != nil {
				t.Errorf("%s: %s speaks of the %s", name, file.Name(), found)
			}
		}
		if !allowed {
			t.Errorf("%s has no licence that is known to be permissive", name)
		}
	}
	if len(seen) < 10 {
		t.Errorf("only %d modules are listed: this shows nothing", len(seen))
	}
}
