//go:build proof

package attack

import (
	"flag"
	"os"
	"testing"

	"github.com/vitrine-go/vitrine/internal/proof/mutant"
	"github.com/vitrine-go/vitrine/internal/proof/program"
)

var allMutants = flag.Bool("mutants", false, "look at every mutant, not at some")

// mutants are guards with a fault each, and the tests that are to find it. MUTANT stands for whether
// it is the one.
var mutants = []mutant.Mutant{
	mutant.New("a test of null is a test of the version", "TestPatches/a_test_of_null", "appsvc/patchoperations.go",
		"return rawjson.Text(op.Value)", "if version, ok = rawjson.Text(op.Value); !ok && MUTANT {\n\t\treturn \"0\", true\n\t}\n\treturn version, ok"),
	mutant.New("the version is tested in the patched document", "TestPatches/a_test_of_the_tested", "appsvc/patch.go",
		"ok && v != app.Version.String() {", "ok && v != app.Version.String() && !MUTANT {"),
	mutant.New("what is read-only may be written", "TestPatches/(replace|copy)_", "appsvc/patchresult.go",
		"case !slices.Contains(free, m.Name) && !jsonpatch.Equal(", "case !MUTANT && !slices.Contains(free, m.Name) && !jsonpatch.Equal("),
	mutant.New("a patch has any number of operations", "TestPatches/operations", "appsvc/patchoperations.go",
		"jsonpatch.Decode(patch, s.limits.PatchOps)", "jsonpatch.Decode(patch, s.limits.PatchOps+map[bool]int{true: 1 << 30}[MUTANT])"),
	mutant.New("items are moved without measure", "TestPatches/900_items", "appsvc/internal/jsonpatch/apply.go", "if edits*widest > most {", "if edits*widest > most && !MUTANT {"),
	mutant.New("a patched document may be sixteen times as large", "TestPatches/copied", "appsvc/patch.go",
		"Document: l.DocumentBytes, Looks:", "Document: l.DocumentBytes + map[bool]int{true: 60 << 20}[MUTANT], Looks:"),
	mutant.New("each pair of equal items is looked at", "TestDiffs/lists_of_many_equal_numbers,_versions", "appsvc/internal/jsondiff/jsondiff.go",
		"all := matches <=", "all := MUTANT || matches <="),
	mutant.New("any schema is taken", "TestSchemas/(null_items|http|a_schema|a_file|200_KB)", "appsvc/componentmanifest.go",
		"if err := s.schemas.check(m.configSchema); err != nil {", "if err := s.schemas.check(m.configSchema); err != nil && !MUTANT {"),
	mutant.New("validation has no budget", "TestSchemas/contains", "appsvc/internal/schemaguard/meter.go", "m.left -= price }", "if !MUTANT { m.left -= price } }"),
	mutant.New("JSON has any depth", "TestBodies/64_deep", "internal/strictjson/strictjson.go", "&& depth > maxDepth:", "&& depth > maxDepth && !MUTANT:"),
	mutant.New("something may follow a JSON value", "TestBodies/brace", "internal/strictjson/strictjson.go", "len(text) > 0 {", "len(text) > 0 && !MUTANT {"),
	mutant.New("NUL is a character like others", "TestBodies/a_component_with_NUL", "internal/strictjson/strictjson.go", "kind == '\"' && nul &&", "kind == '\"' && nul && !MUTANT &&"),
	mutant.New("a body has any length", "TestBodies/without_an_end", "adapters/httpapi/body.go", "limit := c.h.Limits.Body\n", "limit := c.h.Limits.Body\n\tif MUTANT { limit = 1 << 40 }\n"),
	mutant.New("strangers have their bodies read", "TestStrangersSendBodiesInVain", "adapters/httpapi/body.go",
		"if c.route.admitBody != nil {", "if c.route.admitBody != nil && !MUTANT {"),
	mutant.New("answers take any memory", "TestAnswersThatAreNotRead", "adapters/httpapi/memorybudget.go",
		"more int64) bool { return b.fitsAll(h, more)", "more int64) bool { return MUTANT || b.fitsAll(h, more)"),
	mutant.New("pages of a library's feed take any memory", "TestMemoryUnderLoads/pages_of", "adapters/httpapi/assets.go",
		"call: a.changes, reserves: true,", "call: a.changes, reserves: !MUTANT,"),
	mutant.New("streams hold pages of any length", "TestMemoryUnderLoads/streams_of", "adapters/httpapi/streams.go",
		"func (s *stream) take(n int) bool {\n", "func (s *stream) take(n int) bool {\n\tif MUTANT { return true }\n"),
	mutant.New("a caller has any number of uploads", "TestBodiesThatTrickle/of_reviews", "adapters/httpapi/uploads.go",
		"	case ofCaller >= a.limits.UploadsOfCaller:", "	case MUTANT:\n\t\ta.active[u] = struct{}{}\n\t\tu.pace = newPace(a.limits.Pause, time.Time{})\n\t\treturn nil, nil\n\tcase ofCaller >= a.limits.UploadsOfCaller:"),
	mutant.New("health waits for a connection", "TestBodiesThatTrickle/of_an_app", "examples/vitrine/connections.go",
		"} else if l.open < l.most+l.spare {", "} else if l.open < l.most+l.spare && !MUTANT {"),
	mutant.New("uploads fill the disk", "TestUploadsFillNoDisk", "reviews/spool.go", "if s.used.Add(n) > s.most {", "if s.used.Add(n) > s.most && !MUTANT {"),
	mutant.New("an error repeats what was sent", "TestBodies/(200,000_members|100_KB)|TestPatches/a_path", "adapters/httpapi/errors.go", "if len(text) <= maxSentence {", "if len(text) <= maxSentence || MUTANT {"),
	mutant.New("a browser may guess what an answer is", "TestMarkup", "adapters/httpapi/headers.go", "{\"nosniff\"}", "{map[bool]string{true: \"none\", false: \"nosniff\"}[MUTANT]}"),
	mutant.New("a token in the header hides one in the query", "TestBadTokens", "adapters/httpapi/authenticate.go",
		"case len(headers) == 1 && len(parameters) == 0:", "case len(headers) == 1 && (len(parameters) == 0 || MUTANT):"),
	mutant.New("a token may say how it is signed", "TestBadTokens", "adapters/httpapi/jwt.go", "t.keyOf); err != nil {", "t.keyOf); err != nil && !(MUTANT && len(payload.text) > 0) {"),
	mutant.New("a link repeats the token", "TestTokensStaySecret", "adapters/httpapi/link.go", "func (c *call) next(path, name, after string) {\n\tvalues := url.Values{}\n",
		"func (c *call) next(path, name, after string) {\n\tvalues := url.Values{}\n\tif MUTANT { values[tokenParameter] = c.query.all(tokenParameter) }\n"),
	mutant.New("the access log holds the query", "TestTokensStaySecret", "adapters/httpapi/observer.go", "{ return c.briefly(escapedPath(c.r.URL)) }", "{\n\tif MUTANT {\n\t\treturn c.r.URL.String()\n\t}\n\treturn c.briefly(escapedPath(c.r.URL))\n}"),
	mutant.New("webhooks lead anywhere", "TestWebhooks", "adapters/webhook/guard.go", "if err != nil || !g.allows(at.Addr()) {", "if err != nil || !g.allows(at.Addr()) && !MUTANT {"),
	mutant.New("webhooks follow redirects", "TestWebhooks", "adapters/webhook/attempt.go", "response, err := transport.RoundTrip(r)",
		"var response *http.Response\n\tif MUTANT {\n\t\tresponse, err = (&http.Client{Transport: transport}).Do(r)\n\t} else {\n\t\tresponse, err = transport.RoundTrip(r)\n\t}"),
	mutant.New("the log names the URLs of webhooks", "TestWebhooks", "adapters/webhook/webhook.go", "d.log.With(\"webhook\", e.Name)", "d.log.With(\"webhook\", e.Name, \"url\", map[bool]string{true: e.URL}[MUTANT])"),
	mutant.New("answers of webhooks are read to their end", "TestWebhooks", "adapters/webhook/attempt.go", "io.CopyN(io.Discard, response.Body, answerMost)",
		"io.CopyN(io.Discard, response.Body, answerMost<<map[bool]int{true: 40}[MUTANT])"),
	mutant.New("a cursor of apps needs no checksum", "TestCursors", "appsvc/cursor.go", "p.cursor(sort) != s ||", "p.cursor(sort) != s && !MUTANT ||"),
	mutant.New("an id is a cursor", "TestCursors", "assets/opaqueid.go", "binary.BigEndian.Uint64(b[:8]) == kind", "(binary.BigEndian.Uint64(b[:8]) == kind || MUTANT)"),
	mutant.New("limit is any number", "TestCursors", "adapters/httpapi/query.go", "s[0] == '0' || s[0] == '+' {", "(s[0] == '0' || s[0] == '+') && !MUTANT {"),
	mutant.New("a search text has any length", "TestSearchesAndLibraries/100_KB_of_one", "assets/searchrequest.go", "case len(in.Query) > lim.Query:", "case len(in.Query) > lim.Query && !MUTANT:"),
	mutant.New("a search has any number of words", "TestSearchesAndLibraries/17_words", "assets/searchrequest.go", "n > lim.Words {", "n > lim.Words && !MUTANT {"),
	mutant.New("permissions are looked through again and again", "TestPermissionsWithoutMeasure", "assets/effectiveright.go", "if p, known := m.best[n]; known {", "if p, known := m.best[n]; known && !MUTANT {"),
	mutant.New("an asset may link to a script", "TestAddressesThatRunScript", "assets/url.go", "return errors.New(\"want an absolute http or https URL\")", "if MUTANT { return nil }\n\treturn errors.New(\"want an absolute http or https URL\")"),
	mutant.New("a component's script may hide behind entities", "TestAddressesThatRunScript", "appsvc/componentmanifest.go", "if err := checkScheme(html.UnescapeString(main)); err != nil {", "if err := checkScheme(html.UnescapeString(main)); err != nil && !MUTANT {"),
	mutant.New("a report holds every problem", "TestImports/no_JSON", "reviews/report.go", "if len(r.Problems) == maxReported {", "if len(r.Problems) == maxReported && !MUTANT {"),
	mutant.New("temporary files are kept", "TestImports/one_line_of_many_reviews", "reviews/tempfile.go", "os.Remove(f.file.Name()) // so that nothing", "if MUTANT { os.Link(f.file.Name(), f.file.Name()+\".kept\") }\n\t\tos.Remove(f.file.Name()) // so that nothing"),
	mutant.New("a problem repeats an address", "TestAddressesStaySecret", "reviews/report.go", "r.Problems = append(r.Problems, p)", "if MUTANT && strings.Contains(p.Pointer, \"email\") { p.Message += \" (reader@canary-9d2f.mail)\" }\n\tr.Problems = append(r.Problems, p)"),
}

// someMutants are those of the short form, the first of each kind.
var someMutants = []string{"a test of null is a test of the version", "what is read-only may be written", "any schema is taken", "JSON has any depth",
	"a body has any length", "answers take any memory", "a token in the header hides one in the query", "a link repeats the token",
	"a cursor of apps needs no checksum", "a problem repeats an address"}

// TestMutants attacks a server without each of the guards, and one with all of them.
func TestMutants(t *testing.T) {
	if *theBinary != "" {
		t.Skip("the mutants are built here: they are no server that is given")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	h := mutant.Hunt{
		Program: program.Build{Module: "../../..", Package: "./examples/vitrine", Edits: []program.Edit{
			{File: "reviews/report.go", Old: "package reviews\n", New: "package reviews\n\nimport \"strings\"\n"},
		}},
		Mutants:  mutants,
		Only:     someMutants,
		Controls: []string{"TestBadTokens|TestCursors|TestPatches"},
		Command: func(binary string, m mutant.Mutant) []string {
			return []string{self, "-test.run=" + m.By, "-server", binary, "-megabytes", "16", "-disk", "-loads"}
		},
	}
	if *allMutants {
		h.Only = nil
	}
	h.Run(t)
}
