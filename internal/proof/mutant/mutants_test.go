//go:build proof

package mutant

import (
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var run = flag.Bool("mutants", false, "break each rule and run the tests that must fail then")

const root = "../../.." // of the module

// mutant gives one condition in the source a constant value. It is the smallest condition in the function in which all
// the names stand. Conditions are what an if or a case asks, the operands of && and ||, and results that are not calls.
// In "if s; c", the names in s count as names in c.
type mutant struct {
	rule     string // that is broken
	dir      string // of the package, whose tests must fail
	function string // with the type of its receiver: Service.Patch
	names    string // with spaces
	value    bool
}

var mutants = []mutant{
	{"an app is for its owner", "appsvc", "mayUse", "Owner", true},
	{"a delivery token reads its own tags", "appsvc", "Session.mayReadTag", "TagsOnly", false},
	{"an app is for those who read its groups", "appsvc", "mayRead", "reads", false},
	{"an app is hidden from others", "appsvc", "authorize", "mayRead", false},
	{"who reads does not write", "appsvc", "authorize", "mayUse", true},
	{"apps are created by moderators of all their groups", "appsvc", "mayCreateIn", "moderates", true},
	{"groups are taken away by their moderators", "appsvc", "Session.mayRegroup", "Owner", false},
	{"protected tags are moved by moderators", "appsvc", "TagRule.mayMove", "Protected", false},
	{"groups stay while a tag is protected", "appsvc", "reader.protectedTag", "Protected", false},
	{"components are managed by those who have the right", "appsvc", "mayManageComponents", "Components", false},
	{"the feed is for those who read the app", "appsvc", "viewer.sees", "mayRead", true},
	{"a network contains what begins with its URN", "internal/urn", "Contains", "found", true},

	{"an agent calls the methods of its list", "internal/agent", "May", "one method", true},
	{"an agent writes by the endpoints of its list", "adapters/httpapi", "handler.serve", "agents", false},
	{"an agent sets no time", "appsvc", "Session.maySchedule", "at", false},
	{"an agent changes its own releases", "appsvc", "reader.releaseToChange", "Key", false},
	{"an agent replaces no asset", "assets", "request.mayAdd", "Agent", false},
	{"a key of an agent is one", "adapters/signin", "Service.loadKey", "Agent", false},
	{"the address of an owner is the owner's", "adapters/signin", "Service.changePerson", "mayOwn", false},
	{"a mail tells what the person may know", "adapters/signin", "mailer.write", "waits sameNews", false},
	{"a mail asks whom the release asks", "adapters/signin", "mailer.write", "rel Ask", true},
	{"who wants no mails gets none", "adapters/signin", "person.getsMail", "NoMail", true},
	{"invitations by mail are counted", "adapters/signin", "Service.mailInvitation", "mostInvited", false},
	{"a key that reads does not comment", "appsvc", "commentableHead", "Key", false},
	{"a comment is resolved by who may change the app", "appsvc", "Session.UpdateComment", "mayUse", false},
	{"a comment is removed by its author", "appsvc", "Session.DeleteComment", "Owns", false},
	{"an inbox is for people", "appsvc", "Session.person", "Key", false},
	{"a link ends with its maker", "appsvc", "person.previews", "disabled", false},
	{"a link ends with its release", "appsvc", "person.previews", "ReleaseOpen ReleaseScheduled", false},
	{"a link ends with its time", "appsvc", "Service.Shown", "Expires", false},
	{"links are listed for who may change the app", "appsvc", "Session.ListPreviews", "usableHead", false},
	{"links are revoked by who may change the app", "appsvc", "Session.DeletePreview", "usableHead", false},
	{"who is asked could approve", "appsvc", "Session.checkAsk", "could urn", false},
	{"who is mentioned may read the app", "appsvc", "Session.changeComment", "mayRead", false},
	{"who is mentioned is of one's network", "appsvc", "Session.colleagues", "networkOf", false},

	{"a patch tests the version", "appsvc", "parsedPatch.checkVersion", "current", false},
	{"a patch is of the latest version", "appsvc", "Session.storePatch", "last head Version", false},
	{"a patch changes groups as its caller may", "appsvc", "Session.storePatch", "mayRegroup", false},
	{"a patch uses the components that it was validated with", "appsvc", "Session.storePatch", "checkUnchanged", false},
	{"texts have the languages of now", "appsvc", "writer.checkUnchanged", "Number", false},
	{"languages in use stay", "appsvc", "writer.unspoken", "used", true},
	{"a patch leaves what only the service writes", "appsvc", "sameMembers", "Equal", false},
	{"a repeat is answered with the rights of now", "appsvc", "idempotentWrite.replay", "may ctx", false},

	{"a library is for its network", "assets", "Session.authorize", "Contains network URN", false},
	{"an asset is for those who see a folder of it", "assets", "member.seesAsset", "folders len", true},
	{"a folder is opened by moderators alone", "assets", "request.updateFolder", "Open moderator", false},
	{"a folder that moves away keeps what closes it", "assets", "request.keepClosed", "ContainsFunc closing", true},
	{"the feed of a library is for moderators", "assets", "Session.Changes", "moderator", false},
	{"reviews are for moderators of their network", "reviews", "Session.mayUse", "Contains", false},

	{"a token is signed", "adapters/httpapi", "Tokens.Verify", "ParseWithClaims", false},
	{"a token ends", "adapters/httpapi", "readClaims", "Before Expires", false},
	{"a token begins", "adapters/httpapi", "readClaims", "Before from", false},
	{"a page of another site writes nothing", "adapters/httpapi", "handler.serve", "ambient", false},
	{"JSON has a depth", "internal/strictjson", "Check", "depth maxDepth", false},

	{"a version that was damaged is not returned", "internal/history", "replay", "have sum", false},
	{"a full disk is told", "storage/sqlite", "isFull", "SQLITE_FULL", false},
}

// place is a condition in a file.
type place struct {
	file       string
	begin, end int
}

// places are the conditions that a mutant may mean.
func (m mutant) places(t *testing.T) (found []place) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, m.dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil && nameOf(f) == m.function {
				for _, c := range smallest(conditions(f.Body), strings.Fields(m.names)) {
					found = append(found, place{name, set.Position(c.Pos()).Offset, set.Position(c.End()).Offset})
				}
			}
		}
	}
	return found
}

// nameOf is the name of a function with the type of its receiver.
func nameOf(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	of := f.Recv.List[0].Type
	if pointer, ok := of.(*ast.StarExpr); ok {
		of = pointer.X
	}
	return fmt.Sprintf("%s.%s", of, f.Name.Name)
}

// condition is an expression that is true or false, and the statement before it.
type condition struct {
	ast.Expr
	before ast.Node
}

func conditions(body ast.Node) (all []condition) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			all = append(all, condition{n.Cond, n.Init})
		case *ast.CaseClause:
			for _, e := range n.List {
				all = append(all, condition{e, nil})
			}
		case *ast.ReturnStmt:
			if len(n.Results) == 1 {
				if _, call := n.Results[0].(*ast.CallExpr); !call { // which gives an error in most functions
					all = append(all, condition{n.Results[0], nil})
				}
			}
		case *ast.BinaryExpr:
			if n.Op == token.LAND || n.Op == token.LOR {
				all = append(all, condition{n.X, nil}, condition{n.Y, nil})
			}
		}
		return true
	})
	return all
}

// smallest are those conditions with all the names that contain no other one.
func smallest(all []condition, names []string) []condition {
	all = slices.DeleteFunc(all, func(c condition) bool {
		left := slices.Clone(names)
		for _, n := range []ast.Node{c.Expr, c.before} {
			if n == nil {
				continue
			}
			ast.Inspect(n, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					left = slices.DeleteFunc(left, func(name string) bool { return name == id.Name })
				}
				return true
			})
		}
		return len(left) > 0
	})
	whole := slices.Clone(all)
	return slices.DeleteFunc(all, func(c condition) bool {
		return slices.ContainsFunc(whole, func(in condition) bool {
			return in != c && c.Pos() <= in.Pos() && in.End() <= c.End()
		})
	})
}

// Without the flag each rule is only found, so that a change of the source tells at once that the table must follow it.
func TestTheTestsFindEveryMutant(t *testing.T) {
	places := map[string]map[string]place{} // by package and rule
	for _, m := range mutants {
		found := m.places(t)
		if len(found) != 1 {
			t.Errorf("%s: %s in %s has %d conditions with %q, want one", m.rule, m.function, m.dir, len(found), m.names)
			continue
		}
		if places[m.dir] == nil {
			places[m.dir] = map[string]place{}
		}
		places[m.dir][m.rule] = found[0]
	}
	if !*run || t.Failed() {
		return
	}
	for _, dir := range slices.Sorted(maps.Keys(places)) {
		t.Run(dir, func(t *testing.T) {
			binary := build(t, dir, places[dir])
			for _, rule := range append(slices.Sorted(maps.Keys(places[dir])), "") {
				t.Run(rule, func(t *testing.T) { test(t, dir, binary, rule) })
			}
		})
	}
}

// test runs the tests of a package with one rule broken, or with none if rule is "", and then they must pass.
func test(t *testing.T, dir, binary, rule string) {
	command := exec.CommandContext(t.Context(), binary, "-test.short", "-test.failfast", "-test.timeout=5m")
	command.Dir, command.Env = filepath.Join(root, dir), append(os.Environ(), variable+"="+rule)
	out, err := command.CombinedOutput()
	_, finding, failed := strings.Cut(string(out), "--- FAIL: ")
	switch {
	case rule == "" && err == nil:
	case rule == "" || err != nil && !failed:
		t.Errorf("%v\n%s", err, out)
	case err == nil:
		t.Error("no test fails")
	default:
		t.Logf("found by %.200s", finding)
	}
}

const variable = "VITRINE_BROKEN_RULE"

// addition is a file of each package with a mutant.
const addition = `package %s

import "os"

func broken(rule string) bool { return os.Getenv(%q) == rule }
`

// build builds the tests of a package with all its mutants. The go command reads changed files in place of those of the
// source.
func build(t *testing.T, dir string, places map[string]place) (binary string) {
	t.Helper()
	temp := t.TempDir()
	inserts := map[string][]insert{}
	for _, m := range mutants {
		if p := places[m.rule]; m.dir == dir {
			after := fmt.Sprintf(") && !broken(%q))", m.rule)
			if m.value {
				after = fmt.Sprintf(") || broken(%q))", m.rule)
			}
			inserts[p.file] = append(inserts[p.file], insert{p.begin, "(("}, insert{p.end, after})
		}
	}
	replace := map[string]string{}
	add := func(name, text string) {
		name, err := filepath.Abs(name)
		if err != nil {
			t.Fatal(err)
		}
		replace[name] = filepath.Join(temp, filepath.Base(name))
		write(t, replace[name], text)
	}
	for file, list := range inserts {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(list, func(a, b insert) int { return b.at - a.at })
		for _, in := range list {
			text = slices.Insert(text, in.at, []byte(in.text)...)
		}
		add(file, string(text))
	}
	add(filepath.Join(root, dir, "brokenrule.go"), fmt.Sprintf(addition, filepath.Base(dir), variable))
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(temp, "overlay.json"), string(overlay))
	binary = filepath.Join(temp, "package.test")
	command := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", "-overlay",
		filepath.Join(temp, "overlay.json"), "-o", binary, "./"+dir)
	command.Dir = root
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return binary
}

// insert is a text that is put before a place of a file.
type insert struct {
	at   int
	text string
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
