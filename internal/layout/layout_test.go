package layout

import (
	"bytes"
	"cmp"
	"encoding/json"
	"go/scanner"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
)

const (
	module = "github.com/vitrine-go/vitrine"
	root   = "../.." // of the module, from this directory
)

// row says what the packages at and below a directory import besides the standard library and one another. Lists have
// spaces between their paths; a path stands for everything at and below it, or with /. for itself alone, and one of
// this module is relative to it.
type row struct {
	dir   string // a deeper directory goes before the one that it is in
	may   string
	tests string // what tests may import in addition
	never string // the exact packages that must not be linked, whatever imports them
}

// A program links no server and no TLS because of a domain, and nothing of one domain because of another one.
const (
	noHTTP   = "net/http crypto/tls"
	appsOnly = "net/http " + module + "/assets " + module + "/reviews " + module +
		"/adapters/httpapi golang.org/x/net/html"
	domains = "appsvc assets reviews"
)

var table = []row{
	// The words that all share know no domain. Everything but the contract of storage may use them.
	{module, "internal/agent internal/lease internal/urn storage/.", "storage/memory", noHTTP},

	// What is kept of apps, and how, knows no rule of them.
	{"appsvc/internal/records", "internal storage/. github.com/go-json-experiment/json golang.org/x/text", "",
		appsOnly + " crypto/tls"},
	// A domain knows no other domain, no driver and no adapter, only libraries that carry out one of its rules.
	{"appsvc", "internal storage/. github.com/santhosh-tekuri/jsonschema/v6 github.com/dlclark/regexp2 " +
		"github.com/go-json-experiment/json github.com/google/uuid golang.org/x/mod/semver golang.org/x/text",
		"storage/memory", appsOnly + " crypto/tls"},
	// It gets bytes and gives bytes.
	{"assets/internal/media", "internal/fault golang.org/x/image", "", noHTTP},
	{"assets/filestest", "assets", "", ""},
	{"assets", "internal storage/. github.com/go-json-experiment/json github.com/google/uuid " +
		"golang.org/x/net/html golang.org/x/net/idna golang.org/x/text golang.org/x/sync", "storage/memory", noHTTP},
	// What turns tables into the import format is apart, so that whoever only imports does not link it.
	{"reviews/convert",
		"reviews internal github.com/go-json-experiment/json github.com/gogs/chardet golang.org/x/net/html " +
			"golang.org/x/text",
		"", noHTTP},
	// What reads the import format knows no store.
	{"reviews/internal/format", "internal github.com/go-json-experiment/json", "", noHTTP},
	{"reviews", "internal storage/. github.com/go-json-experiment/json", "storage/memory golang.org/x/net/html",
		noHTTP},

	// A driver knows the domains whose stores it keeps and its own library, and no other driver.
	{"storage/internal", domains + " internal github.com/klauspost/compress", "storage", ""},
	{"storage/memory", "storage/. github.com/tidwall/btree", "storage/storetest", noHTTP},
	{"storage/sqlite", "storage/. modernc.org/sqlite modernc.org/libc",
		domains + " storage/storetest storage/memory internal/proof",
		noHTTP},
	{"storage/postgres", "storage/. github.com/jackc/pgx/v5",
		domains + " storage/storetest internal/cluster storage/memory adapters/httpapi", "net/http"},
	{"storage/archive", "storage/.", "storage/memory", noHTTP},
	// The contract of a store that is bytes alone, and its suite.
	{"storage/.", "", "storage/memory", noHTTP},
	{"storage/storetest", "storage/.", "storage/memory go.etcd.io/bbolt", ""},

	// An adapter knows the domains and never a driver: the program that embeds it chooses one.
	{"adapters/qrischema", "appsvc internal github.com/qri-io/jsonschema", "storage/memory", ""},
	{"adapters/console", "internal", "", ""},
	{"adapters/s3files", "assets storage/. github.com/minio/minio-go/v7",
		"storage/memory github.com/johannesboyne/gofakes3", ""},
	{"adapters/mcp", "appsvc assets reviews adapters/httpapi internal github.com/modelcontextprotocol/go-sdk " +
		"github.com/google/jsonschema-go github.com/go-json-experiment/json", "storage/memory reviews", ""},
	{"adapters/signin",
		"appsvc adapters/httpapi internal storage/. github.com/go-webauthn/webauthn github.com/coreos/go-oidc/v3 " +
			"golang.org/x/oauth2 github.com/google/uuid",
		"assets storage/memory github.com/descope/virtualwebauthn github.com/golang-jwt/jwt/v5", ""},
	{"adapters/smtp", "adapters/signin golang.org/x/net/idna", "appsvc storage/memory internal/proof", ""},
	{"adapters",
		domains + " internal storage/. github.com/julienschmidt/httprouter github.com/golang-jwt/jwt/v5 " +
			"github.com/go-json-experiment/json github.com/klauspost/compress/gzip golang.org/x/sync/singleflight",
		"storage/memory github.com/santhosh-tekuri/jsonschema/v6", ""},

	// What domains share knows none of them. Proofs know what they prove, and nothing but tests imports them.
	{"internal/webfile", "internal/drain internal/negotiate github.com/tdewolff/minify/v2", "", ""},
	{"internal/mounts", "", domains + " storage adapters github.com/go-chi/chi/v5", ""},
	{"internal/agent", "", module + "/.", noHTTP},
	// Webhooks deliver under a lease, and followers follow under one.
	{"internal/lease", "internal/keyval storage/.", "storage/memory internal/proof", noHTTP + " " + module},
	{"internal/cluster", "internal/proof github.com/jackc/pgx/v5", "", ""},
	{"internal", "storage/. github.com/go-json-experiment/json github.com/klauspost/compress",
		domains + " storage adapters examples/components", ""},

	// A program puts everything together.
	{"examples/components", "", "appsvc storage/memory", ""},
	{"examples/vitrine",
		domains + " internal storage adapters examples/components github.com/schollz/progressbar/v3 " +
			"golang.org/x/term golang.org/x/text github.com/prometheus/client_golang",
		"github.com/julienschmidt/httprouter github.com/golang-jwt/jwt/v5 modernc.org/sqlite " +
			"github.com/descope/virtualwebauthn github.com/johannesboyne/gofakes3", ""},
	// What a program links for OpenTelemetry is up to it.
	{"examples/otel", domains + " storage adapters go.opentelemetry.io/otel", "", ""},
	{"examples", domains + " internal storage adapters", "", ""},
}

// listed is what the go command says of a package.
type listed struct {
	ImportPath                                         string
	DepOnly                                            bool // it is not of this module
	Module                                             *struct{ Path, Dir string }
	Imports, TestImports, XTestImports, Deps, CgoFiles []string
}

// dir is the directory of the package in this module; the path of the module for its root.
func (p listed) dir() string { return strings.TrimPrefix(p.ImportPath, module+"/") }

// private reports whether programs outside this module cannot import the package.
func (p listed) private() bool { return slices.Contains(strings.Split(p.dir(), "/"), "internal") }

// packages are the packages of this module, with their proofs, and all that they need.
func packages(t *testing.T) (all []listed) {
	t.Helper()
	for decoder := json.NewDecoder(
		strings.NewReader(said(t, "go", "list", "-deps", "-tags=proof", "-json", "./..."))); decoder.More(); {
		var p listed
		if err := decoder.Decode(&p); err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}

// said is what a command prints. The test looks at all files itself, since what a command has read does not count when
// the go command decides whether the result of a test is still good.
func said(t *testing.T, name string, args ...string) string {
	t.Helper()
	if err := filepath.WalkDir(root, func(_ string, _ fs.DirEntry, err error) error { return err }); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(name, args...)
	command.Dir = root
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%v: %v", command, err)
	}
	return string(out)
}

// below reports whether p is one of the paths of a list, or below one.
func below(p, list string) bool {
	return slices.ContainsFunc(strings.Fields(list), func(dir string) bool {
		return p == strings.TrimSuffix(dir, "/.") || strings.HasPrefix(p, dir+"/")
	})
}

// foreign reports whether p is neither of this module nor of the standard library, whose paths begin with no domain
// name.
func foreign(p string) bool {
	first, _, _ := strings.Cut(p, "/")
	return strings.Contains(first, ".") && !below(p, module)
}

func TestPackagesImportOnlyWhatTheyMay(t *testing.T) {
	all := packages(t)
	imported := map[string]bool{} // by this module, in other files than tests
	for _, p := range all {
		for _, name := range p.Imports {
			imported[name] = imported[name] || !p.DepOnly
		}
	}
	fits := make([]bool, len(table))
	for _, p := range all {
		if p.DepOnly {
			continue
		}
		at := slices.IndexFunc(table, func(r row) bool { return below(p.dir(), r.dir) })
		if at < 0 {
			t.Errorf("%s: no row of the table says what it may import", p.dir())
			continue
		}
		r := table[at]
		fits[at] = true
		refuse := func(imports []string, may string) {
			for _, name := range imports {
				within, own := strings.CutPrefix(name, module+"/")
				if (own || foreign(name)) && !below(within, r.dir+" "+may) {
					t.Errorf("%s imports %s; the row of %s allows %s", p.dir(), within, r.dir, may)
				}
			}
		}
		refuse(p.Imports, r.may)
		// The go command gives the go.sum of a program what the tests of the packages import that it imports.
		tests := slices.Concat(p.TestImports, p.XTestImports)
		if p.private() {
			tests = slices.DeleteFunc(tests, func(name string) bool {
				return foreign(name) && (imported[name] || !imported[p.ImportPath])
			})
		}
		refuse(tests, r.may+" "+r.tests)
		for _, name := range strings.Fields(r.never) {
			if name != p.ImportPath && slices.Contains(p.Deps, name) {
				t.Errorf("%s links %s", p.dir(), name)
			}
		}
		// A template looks up methods by their names. A program with one keeps all exported methods of all types, which
		// nobody calls.
		if slices.Contains(p.Deps, "text/template") && !below(p.dir(), "internal/proof") {
			t.Errorf("%s links text/template, which makes every program with it a sixth larger", p.dir())
		}
		if len(p.CgoFiles) > 0 {
			t.Errorf("%s needs a C compiler", p.dir())
		}
		// A flag of a package is one of every program and test that imports it.
		if slices.Contains(p.Imports, "flag") && !p.private() && !below(p.dir(), "examples") {
			t.Errorf("%s imports flag: only programs and tests have flags", p.dir())
		}
	}
	for i, r := range table {
		if !fits[i] {
			t.Errorf("no package needs the row of %s: an earlier one fits, or there is none", r.dir)
		}
	}
}

// TestImporters prints with -v who imports whom, tests left out. What only this module can import is imported by
// something.
func TestImporters(t *testing.T) {
	all := packages(t)
	importers, needed := map[string][]string{}, map[string]bool{}
	for _, p := range all {
		if p.DepOnly {
			continue
		}
		for _, name := range p.Imports {
			importers[name] = append(importers[name], p.dir())
		}
		for _, name := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			needed[name] = true
		}
	}
	for _, p := range all {
		if p.DepOnly || len(p.Imports) == 0 { // the package is of another module, or has tests alone
			continue
		}
		t.Logf("%-32s is imported by  %s", p.dir(), cmp.Or(strings.Join(importers[p.ImportPath], ", "), "none"))
		if p.private() && !needed[p.ImportPath] {
			t.Errorf("%s is imported by no package and no test", p.dir())
		}
	}
}

// Each module is worth its upkeep to everybody who embeds this one: a comment in go.mod says why.
func TestEveryDependencyHasAReason(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	file, err := modfile.Parse("go.mod", text, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range file.Require {
		if len(r.Syntax.Suffix) == 0 {
			t.Errorf("go.mod gives no reason for %s", r.Mod.Path)
		}
	}
	if len(file.Replace) > 0 {
		t.Error("go.mod replaces modules, which that of an embedding program does not")
	}
}

func TestEveryLicenceIsPermissive(t *testing.T) {
	dirs := map[string]string{}
	for _, p := range packages(t) {
		if p.Module != nil {
			dirs[p.Module.Path] = p.Module.Dir
		}
	}
	// The words of MIT, BSD, ISC and Apache, and those of licences that ask for more than to be named.
	permissive := regexp.MustCompile(`Permission is hereby granted, free of charge|Redistribution and use in source ` +
		`and binary forms` +
		`|Permission to use, copy, modify, and(/or)? distribute|Apache License\s+Version 2\.0`)
	restrictive := regexp.MustCompile(`(?i)general public license|mozilla public license|server side ` +
		`public|business source|commons clause`)
	// A module may have the licences of code that it has taken over, too, in files with longer names.
	own := regexp.MustCompile(`(?i)^(licen[cs]e|copying)(\.(md|txt))?$`)
	for _, name := range slices.Sorted(maps.Keys(dirs)) {
		files, err := os.ReadDir(dirs[name])
		if err != nil {
			t.Fatal(err)
		}
		var terms bytes.Buffer
		for _, file := range files {
			if own.MatchString(file.Name()) {
				text, err := os.ReadFile(filepath.Join(dirs[name], file.Name()))
				if err != nil {
					t.Fatal(err)
				}
				terms.Write(text)
			}
		}
		if !permissive.Match(terms.Bytes()) || restrictive.Match(terms.Bytes()) {
			t.Errorf("%s has no licence that is known to be permissive", name)
		}
	}
}

// tokens returns how many tokens a file of Go has, without comments.
func tokens(text []byte) (n int) {
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile("", -1, len(text)), text, nil, 0)
	for {
		switch _, tok, literal := s.Scan(); {
		case tok == token.EOF:
			return n
		case tok != token.SEMICOLON || literal != "\n":
			n++
		}
	}
}

func TestFilesAreWhereAndWhatTheyShouldBe(t *testing.T) {
	const top = "appsvc assets reviews storage adapters examples internal vitrine.go go.mod go.sum README.md LICENSE " +
		"CHANGELOG.md .ci .github .gitignore .prettierrc"
	const most = 8000 // tokens; a file of Go is best below 3,500
	// /home/nonroot is in the container of examples/deploy.
	machine := regexp.MustCompile(`(?m)(^|[\s"'(=` + "`" + `])(/(root|work|Users)/|/home/[^n]|[A-Z]:\\Users)\S*`)
	for name := range strings.Lines(said(t, "git", "ls-files")) {
		name = strings.TrimSpace(name)
		if !below(name, top) {
			t.Errorf("%s: the top level holds %s", name, top)
		}
		text, err := os.ReadFile(filepath.Join(root, name))
		source := strings.HasSuffix(name, ".go")
		if err != nil || !source && !strings.HasSuffix(name, ".md") { // a file may be deleted and not yet committed
			continue
		}
		if n := tokens(text); source && n > most {
			t.Errorf("%s has %d tokens, more than %d", name, n, most)
		}
		if found := machine.Find(text); found != nil {
			t.Errorf("%s names a place on one machine: %q", name, found)
		}
	}
}
