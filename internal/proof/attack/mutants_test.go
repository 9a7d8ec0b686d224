package attack

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/internal/proof/program"
)

var allMutants = flag.Bool("mutants", false, "look at every mutant, not at some")

// mutants are guards with a fault each, and the tests that are to find it. MUTANT stands for whether
// it is the one. The first of each kind are looked at in the short form too.
var mutants = []struct {
	name, where string
	short       bool
	file        string
	old, new    string
}{
	{"a test of null is a test of the version", "TestPatches/a_test_of_null", true, "appsvc/patch.go",
		"if !ok {\n\t\treturn \"\", false", "if !ok {\n\t\treturn \"0\", MUTANT && op.Op == \"test\" && *op.Path == versionPath"},
	{"the version is tested in the patched document", "TestPatches/a_test_of_the_tested", false, "appsvc/patch.go",
		"ok && v != app.Version.String() {", "ok && v != app.Version.String() && !MUTANT {"},
	{"what is read-only may be written", "TestPatches/(replace|copy)_", true, "appsvc/patch.go",
		"case !slices.Contains(free, m.Name) && !jsonpatch.Equal(", "case !MUTANT && !slices.Contains(free, m.Name) && !jsonpatch.Equal("},
	{"a patch has any number of operations", "TestPatches/operations", false, "appsvc/patch.go",
		"jsonpatch.Decode(patch, s.limits.PatchOps)", "jsonpatch.Decode(patch, s.limits.PatchOps+map[bool]int{true: 1 << 30}[MUTANT])"},
	{"items are moved without measure", "TestPatches/900_items", false, "appsvc/internal/jsonpatch/apply.go", "if edits*widest > most {", "if edits*widest > most && !MUTANT {"},
	{"a patched document may be sixteen times as large", "TestPatches/copied", false, "appsvc/patch.go",
		"Document: s.limits.DocumentBytes, Looks:", "Document: s.limits.DocumentBytes + map[bool]int{true: 60 << 20}[MUTANT], Looks:"},
	{"any schema is taken", "TestSchemas/(null_items|http|a_schema|a_file|200_KB)", true, "appsvc/component.go",
		"if err := s.schemas.check(m.ConfigSchema); err != nil {", "if err := s.schemas.check(m.ConfigSchema); err != nil && !MUTANT {"},
	{"validation has no budget", "TestSchemas/contains", false, "appsvc/internal/schemaguard/meter.go", "m.left -= price }", "if !MUTANT { m.left -= price } }"},
	{"JSON has any depth", "TestBodies/64_deep", true, "internal/strictjson/strictjson.go", "&& depth > maxDepth:", "&& depth > maxDepth && !MUTANT:"},
	{"something may follow a JSON value", "TestBodies/brace", false, "internal/strictjson/strictjson.go", "len(text) > 0 {", "len(text) > 0 && !MUTANT {"},
	{"NUL is a character like others", "TestBodies/a_component_with_NUL", false, "internal/strictjson/strictjson.go", "kind == '\"' && nul &&", "kind == '\"' && nul && !MUTANT &&"},
	{"a body has any length", "TestBodies/without_an_end", true, "adapters/httpapi/body.go", "limit := c.h.Limits.Body\n", "limit := c.h.Limits.Body\n\tif MUTANT { limit = 1 << 40 }\n"},
	{"an error repeats what was sent", "TestBodies/(200,000_members|100_KB)|TestPatches/a_path", false, "adapters/httpapi/errors.go", "if len(text) <= maxSentence {", "if len(text) <= maxSentence || MUTANT {"},
	{"a browser may guess what an answer is", "TestMarkup", false, "adapters/httpapi/answer.go", "{\"nosniff\"}", "{map[bool]string{true: \"none\", false: \"nosniff\"}[MUTANT]}"},
	{"a token in the header hides one in the query", "TestBadTokens", true, "adapters/httpapi/authenticate.go",
		"case len(headers) == 1 && len(parameters) == 0:", "case len(headers) == 1 && (len(parameters) == 0 || MUTANT):"},
	{"a token may say how it is signed", "TestBadTokens", false, "adapters/httpapi/token.go", "if err != nil {\n\t\treturn Principal{}, fmt.Errorf(\"httpapi: token: %w\", err)", "if err != nil && !(MUTANT && c.URN != \"\") {\n\t\treturn Principal{}, fmt.Errorf(\"httpapi: token: %w\", err)"},
	{"a link repeats the token", "TestTokensStaySecret", true, "adapters/httpapi/url.go", "values := url.Values{}\n", "values := url.Values{}\n\tif MUTANT { values[tokenParameter] = c.query.all(tokenParameter) }\n"},
	{"the access log holds the query", "TestTokensStaySecret", false, "adapters/httpapi/observer.go", "path := escapedPath(c.r.URL)\n", "path := escapedPath(c.r.URL)\n\tif MUTANT { path = c.r.URL.String() }\n"},
	{"a cursor of apps needs no checksum", "TestCursors", true, "appsvc/page.go", "p.cursor(sort) != s ||", "p.cursor(sort) != s && !MUTANT ||"},
	{"an id is a cursor", "TestCursors", false, "assets/library.go", "binary.BigEndian.Uint64(b[:8]) == kind", "(binary.BigEndian.Uint64(b[:8]) == kind || MUTANT)"},
	{"limit is any number", "TestCursors", false, "adapters/httpapi/query.go", "s[0] == '0' || s[0] == '+' {", "(s[0] == '0' || s[0] == '+') && !MUTANT {"},
	{"a search text has any length", "TestSearchesAndLibraries/100_KB_of_one", false, "assets/search.go", "case len(in.Query) > lim.Query:", "case len(in.Query) > lim.Query && !MUTANT:"},
	{"a search has any number of words", "TestSearchesAndLibraries/17_words", false, "assets/search.go", "if len(list) > lim.Words {", "if len(list) > lim.Words && !MUTANT {"},
	{"permissions are looked through again and again", "TestPermissionsWithoutMeasure", false, "assets/access.go", "if p, known := m.best[n]; known {", "if p, known := m.best[n]; known && !MUTANT {"},
	{"an asset may link to a script", "TestAddressesThatRunScript", false, "assets/url.go", "return errors.New(\"want an absolute http or https URL\")", "if MUTANT { return nil }\n\treturn errors.New(\"want an absolute http or https URL\")"},
	{"a component's script may hide behind entities", "TestAddressesThatRunScript", false, "appsvc/component.go", "if err := checkScheme(html.UnescapeString(main)); err != nil {", "if err := checkScheme(html.UnescapeString(main)); err != nil && !MUTANT {"},
	{"a report holds every problem", "TestImports/no_JSON", false, "reviews/report.go", "if len(r.Problems) == maxReported {", "if len(r.Problems) == maxReported && !MUTANT {"},
	{"temporary files are kept", "TestImports/one_line_of_many_reviews", false, "reviews/spool.go", "os.Remove(s.file.Name()) // so that nothing", "if MUTANT { os.Link(s.file.Name(), s.file.Name()+\".kept\") }\n\t\tos.Remove(s.file.Name()) // so that nothing"},
	{"a problem repeats an address", "TestAddressesStaySecret", true, "reviews/report.go", "r.Problems = append(r.Problems, p)", "if MUTANT && strings.Contains(p.Pointer, \"email\") { p.Message += \" (reader@canary-9d2f.mail)\" }\n\tr.Problems = append(r.Problems, p)"},
}

// buildMutants builds the server with every fault in it, all asleep.
func buildMutants(t *testing.T) string {
	t.Helper()
	b := program.Build{Module: "../../..", Package: "./examples/server", Added: map[string]string{}}
	for _, m := range mutants {
		dir := path.Dir(m.file)
		b.Added[dir+"/mutant.go"] = "package " + path.Base(dir) + "\n\nimport \"os\"\n\nvar theMutant = os.Getenv(\"" + mutantVariable + "\")\n\nfunc mutant(name string) bool { return theMutant == name }\n"
		b.Edits = append(b.Edits, program.Edit{File: m.file, Old: m.old, New: strings.ReplaceAll(m.new, "MUTANT", fmt.Sprintf("mutant(%q)", m.name))})
	}
	b.Edits = append(b.Edits, program.Edit{File: "reviews/report.go", Old: "package reviews\n", New: "package reviews\n\nimport \"strings\"\n"})
	binary, err := b.Run(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return binary
}

// TestMutants attacks a server without each of the guards, and one with all of them.
func TestMutants(t *testing.T) {
	if testing.Short() || *theBinary != "" {
		t.Skip("the mutants are looked at without -short")
	}
	binary := buildMutants(t)
	looked, caught := 0, 0
	for _, m := range mutants {
		if !m.short && !*allMutants {
			continue
		}
		looked++
		t.Run(m.name, func(t *testing.T) {
			said, err := attackMutant(t, binary, m.name, m.where)
			switch {
			case err == nil:
				t.Errorf("%s does not catch it:\n%s", m.where, said)
			case !strings.Contains(said, "--- FAIL: Test") || strings.Contains(said, "panic: "):
				t.Errorf("it ends the tests in another way: %v\n%s", err, said)
			default:
				caught++
			}
		})
	}
	if said, err := attackMutant(t, binary, "none", "TestBadTokens|TestCursors|TestPatches"); err != nil {
		t.Errorf("without a mutant: %v\n%s", err, said)
	}
	t.Logf("%d of %d mutants looked at, %d caught", looked, len(mutants), caught)
}

// attackMutant runs tests of this package against a server with faults, of which one is awake.
func attackMutant(t *testing.T, binary, name, where string) (said string, err error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, self, "-test.run="+where, "-server", binary, "-megabytes", "16")
	command.Env = append(os.Environ(), mutantVariable+"="+name)
	command.WaitDelay = 5 * time.Second // its server may outlive it
	out, err := command.CombinedOutput()
	if ctx.Err() != nil {
		err = errors.Join(err, errors.New("it does not end"))
	}
	return string(out), err
}
