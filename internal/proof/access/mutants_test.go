//go:build proof

package access

import (
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/internal/proof/mutant"
	"github.com/vitrine-go/vitrine/internal/proof/program"
)

// Which tests look for a mutant: those of the rows that match, or one of the others.
const (
	unseen = "TestWhatIsHiddenLeavesNoTrace"
	gains  = "TestNobodyGainsARight"
)

// mutants are faults, one for each kind of rule. MUTANT stands for whether it is the one.
var mutants = []mutant.Mutant{
	mutant.New("a URN contains what it is the start of", "GET /apps/", "internal/urn/urn.go",
		`return found && outer != "" && (rest == "" || rest[0] == ':')`, `return found && outer != "" && (rest == "" || rest[0] == ':' || MUTANT)`),
	mutant.New("what is hidden reads otherwise than what is absent", "GET /apps/", "appsvc/access.go",
		"if errors.Is(err, ErrNotFound) || err == nil && !by.mayRead(h) {",
		"if MUTANT && err == nil && !by.mayRead(h) { return Head{}, notFound(\"no app of yours has this id\") }\n\tif errors.Is(err, ErrNotFound) || err == nil && !by.mayRead(h) {"),
	mutant.New("a patch may add any group", "PATCH", "appsvc/protectedtags.go",
		"if err := by.mayRegroup(at, h, groups); err != nil {", "if err := by.mayRegroup(at, h, groups); err != nil && !(MUTANT && at != \"\") {"),
	mutant.New("who adds a group may take another away", "taking site 2 away", "appsvc/access.go",
		"if c.URN != h.Owner && !c.moderates(g) {", "if c.URN != h.Owner && !c.moderates(g) && !MUTANT {"),
	mutant.New("a protected tag is the owner's too", "a protected one", "appsvc/protectedtags.go",
		"if s.protected(name) && !by.moderatesAll(h) {", "if s.protected(name) && !by.moderatesAll(h) && !(MUTANT && by.URN == h.Owner) {"),
	mutant.New("deleting its folder publishes an asset", "GET .*asset/", "assets/access.go",
		"return m.moderator || len(folders) == 0 || slices.ContainsFunc(folders, func(id string) bool {\n\t\tn := t.nodes[id]\n\t\treturn n != nil && m.sees(n)",
		"return m.moderator || len(folders) == 0 || slices.ContainsFunc(folders, func(id string) bool {\n\t\tn := t.nodes[id]\n\t\treturn n != nil && (m.sees(n) || MUTANT && !n.live())"),
	mutant.New("the total counts what is hidden", unseen, "assets/search.go",
		"total, err := req.total(q)", "counted := q\n\tif n := len(q.All); MUTANT && (in.FolderTree != \"\" || in.Folder == \"\" && req.visible(req.tree) != nil) { counted.All = q.All[:n-1] }\n\ttotal, err := req.total(counted)"),
	mutant.New("what is seen is assigned", gains, "assets/assignassets.go", "case !req.editsAsset(req.tree, r.Folders):", "case !req.editsAsset(req.tree, r.Folders) && !MUTANT:"),
	mutant.New("everybody imports reviews", "reviews", "reviews/access.go", "if !slices.Contains(by.Moderates, whole) {", "if !slices.Contains(by.Moderates, whole) && !MUTANT {"),
	mutant.New("a token needs no signature", "GET /apps/", "adapters/httpapi/jwt.go", "t.keyOf); err != nil {", "t.keyOf); err != nil && !MUTANT {"),
}

// TestMutants runs the tests against each mutant, and without one.
func TestMutants(t *testing.T) {
	h := mutant.Hunt{
		Program:  program.Build{Module: "../../..", Package: "./internal/proof/access", Test: true},
		Mutants:  mutants,
		Controls: []string{gains, "GET /apps/ "},
		Command: func(binary string, m mutant.Mutant) []string {
			if strings.HasPrefix(m.By, "Test") {
				return []string{binary, "-test.run=^" + m.By + "$", "-test.failfast"}
			}
			return []string{binary, "-test.run=^TestEveryCell$", "-rows", m.By}
		},
	}
	h.Run(t)
}
