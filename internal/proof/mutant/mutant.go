// Package mutant shows that tests detect errors. It builds a program from code with faults in it, which are all
// disabled, and runs the tests with one fault enabled at a time. It does not change the source itself.
package mutant

import (
	"fmt"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine/internal/proof/program"
)

// Variable is the environment variable that says which mutants of a program are awake; see Awake.
const Variable = "VITRINE_MUTANT"

// Mutant is a fault in real lines of the source.
type Mutant struct {
	Name  string         // without a semicolon
	By    string         // the tests that must find it, in the words of Hunt.Command
	Edits []program.Edit // the fault: MUTANT in New stands for whether it is awake
}

// New returns a mutant of one edit.
func New(name, by, file, old, new string) Mutant {
	return Mutant{name, by, []program.Edit{{File: file, Old: old, New: new}}}
}

// Awake is the entry of a program's environment with which the named mutants are awake, and no others.
func Awake(names ...string) string { return Variable + "=" + strings.Join(names, ";") }

// wake is added to each package with a mutant in it.
const wake = `package %s

import (
	"os"
	"slices"
	"strings"
)

var theAwake = strings.Split(os.Getenv(%q), ";")

func mutant(name string) bool { return slices.Contains(theAwake, name) }
`

// Into adds mutants to what is built. They follow the edits that are there. Code that b itself brings
// into a package of theirs may call mutant(name) too.
func Into(b program.Build, mutants []Mutant) (program.Build, error) {
	added := map[string]string{}
	maps.Copy(added, b.Added)
	b.Added, b.Edits = added, slices.Clone(b.Edits)
	for _, m := range mutants {
		for _, e := range m.Edits {
			e.New = strings.ReplaceAll(e.New, "MUTANT", fmt.Sprintf("mutant(%q)", m.Name))
			b.Edits = append(b.Edits, e)
			beside := path.Join(path.Dir(e.File), "mutant.go")
			if added[beside] != "" {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(b.Module, e.File), nil, parser.PackageClauseOnly)
			if err != nil {
				return b, fmt.Errorf("mutant %q: %w", m.Name, err)
			}
			added[beside] = fmt.Sprintf(wake, file.Name.Name, Variable)
		}
	}
	return b, nil
}
