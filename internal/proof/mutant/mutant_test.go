//go:build proof

package mutant

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/internal/proof/program"
)

// module writes a module with tests that find some faults and not others.
func module(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":     "module example.test/sums\n\ngo 1.26\n",
		"sum/sum.go": "package sums\n\nfunc Sum(a, b int) int { return a + b }\n\nfunc Half(a int) int { return a / 2 }\n",
		"sum/sum_test.go": "package sums\n\nimport \"testing\"\n\n" +
			"func TestSum(t *testing.T) { if got := Sum(2, 2); got != 4 { t.Errorf(\"the sum is %d\", got) } }\n\n" +
			"func TestHalf(t *testing.T) { if got := Half(4); got != 2 { t.Errorf(\"the half is %d\", got) } }\n",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func hunt(t *testing.T, mutants ...Mutant) Hunt {
	return Hunt{
		Program: program.Build{Module: module(t), Package: "./sum", Test: true},
		Mutants: mutants,
		Command: func(binary string, m Mutant) []string { return []string{binary, "-test.run=^" + m.By + "$"} },
	}
}

var (
	wrong   = New("a sum is one too many", "TestSum", "sum/sum.go", "return a + b", "if MUTANT { a++ }\n\treturn a + b")
	unseen  = New("a sum is a product", "TestSum", "sum/sum.go", "func Sum(a, b int) int { ", "func Sum(a, b int) int {\n\tif MUTANT { return a * b }\n\t")
	ending  = New("a half of nothing", "TestHalf", "sum/sum.go", "return a / 2", "if MUTANT { a = a / (a - 4) }\n\treturn a / 2")
	misread = New("nobody looks", "TestHalves", "sum/sum.go", "func Half(a int) int { ", "func Half(a int) int {\n\tif MUTANT { return 0 }\n\t")
)

func TestAMutantIsFoundOrNot(t *testing.T) {
	h := hunt(t, wrong, unseen, ending, misread)
	binary, err := h.build(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		m           Mutant
		found, want string
	}{
		{wrong, "sum_test.go:5: the sum is 5", ""},
		{unseen, "", "TestSum does not catch it"},
		{ending, "", "it ends TestHalf in another way"},
		{misread, "", "no test is called so"},
	} {
		found, err := h.look(t.Context(), binary, test.m)
		if found != test.found || (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %q, %v, want %q, %q", test.m.Name, found, err, test.found, test.want)
		}
	}
	for by, passes := range map[string]bool{"TestSum": true, "TestHalf": true, "TestHalves": false} {
		if said, err := h.run(t.Context(), binary, Mutant{By: by}); (err == nil) != passes {
			t.Errorf("%s without a mutant: %v, want it to pass: %t\n%s", by, err, passes, said)
		}
	}
	// Two faults at a time are two faults.
	h.Command = func(binary string, _ Mutant) []string {
		return []string{"env", Awake(wrong.Name, misread.Name), binary}
	}
	if said, _ := h.run(t.Context(), binary, Mutant{}); !strings.Contains(said, "the sum is 5") || !strings.Contains(said, "the half is 0") {
		t.Errorf("with two mutants awake: %s", said)
	}
}

func TestAHuntRuns(t *testing.T) {
	h := hunt(t, wrong, unseen)
	h.Controls, h.Only = []string{"TestSum", "TestHalf"}, []string{wrong.Name}
	h.Run(t)
}

// A mutant whose place in the source is gone is no mutant, and the hunt says so.
func TestMutantsMustFit(t *testing.T) {
	for want, m := range map[string]Mutant{
		"the edit must follow the source": New("gone", "TestSum", "sum/sum.go", "return a - b", "return a"),
		"lost.go":                         New("lost", "TestSum", "sum/lost.go", "return", "return"),
		"undefined: c":                    New("no Go", "TestSum", "sum/sum.go", "return a + b", "return a + c"),
	} {
		h := hunt(t, m)
		if _, err := h.build(t.TempDir()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error with %q", m.Name, err, want)
		}
	}
}

func TestSomeMutantsAreChosen(t *testing.T) {
	for _, test := range []struct {
		only, chosen []string
		ok           bool
	}{
		{nil, []string{wrong.Name, unseen.Name}, true},
		{[]string{unseen.Name}, []string{unseen.Name}, true},
		{[]string{ending.Name}, nil, false},
	} {
		h := Hunt{Mutants: []Mutant{wrong, unseen}, Only: test.only}
		var names []string
		list, err := h.chosen()
		for _, m := range list {
			names = append(names, m.Name)
		}
		if (err == nil) != test.ok || !slices.Equal(names, test.chosen) {
			t.Errorf("of %q: %q, %v", test.only, names, err)
		}
	}
}

// Into does not change the build that it is given: another build may use that.
func TestABuildIsLeftAlone(t *testing.T) {
	b := program.Build{Module: module(t), Added: map[string]string{"sum/more.go": "package sums\n"}}
	with, err := Into(b, []Mutant{wrong})
	if err != nil || len(with.Edits) != 1 || len(with.Added) != 2 || !strings.HasPrefix(with.Added["sum/mutant.go"], "package sums\n") {
		t.Errorf("%+v, %v", with, err)
	}
	if len(b.Edits) != 0 || len(b.Added) != 1 {
		t.Errorf("the build has become %+v", b)
	}
}
