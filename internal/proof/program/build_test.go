//go:build proof

package program_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/internal/proof/program"
)

// writeModule makes a module with one program, which uses the given expression.
func writeModule(t *testing.T, expression string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":  "module example.test/program\n\ngo 1.26\n",
		"main.go": "package main\n\nfunc main() { println(" + expression + ") }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// An edit that does not fit its source exactly once is an error: the program would be another one
// than the test believes.
func TestEditsMustFit(t *testing.T) {
	for _, test := range []struct{ name, expression, want string }{
		{"once", "1 + 2", ""},
		{"not there", "2 + 3", `main.go has 0 times "1", want it once`},
		{"twice", "1 + 1", `main.go has 2 times "1", want it once`},
		{"does not compile", "1 + x", "undefined: x"},
	} {
		t.Run(test.name, func(t *testing.T) {
			module := writeModule(t, test.expression)
			before, err := os.ReadFile(filepath.Join(module, "main.go"))
			if err != nil {
				t.Fatal(err)
			}
			b := program.Build{Module: module, Package: ".",
				Edits: []program.Edit{{File: "main.go", Old: "1", New: "one"}},
				Added: map[string]string{"one.go": "package main\n\nconst one = 1\n"}}
			path, err := b.Run(t.TempDir())
			switch {
			case test.want == "" && err != nil:
				t.Error(err)
			case test.want == "":
				if _, err := os.Stat(path); err != nil {
					t.Error(err)
				}
			case err == nil || !strings.Contains(err.Error(), test.want):
				t.Errorf("the error is %v, want one with %q", err, test.want)
			}
			if after, err := os.ReadFile(filepath.Join(module, "main.go")); err != nil ||
				string(after) != string(before) {
				t.Errorf("the source has changed: %v", err)
			}
		})
	}
}
