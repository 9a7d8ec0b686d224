package program

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Edit replaces one piece of a source file. Old must be in the file exactly once, so that a build fails if an edit no
// longer applies.
type Edit struct {
	File     string // relative to the module's directory
	Old, New string
}

// Build is a program to be built.
type Build struct {
	Module  string // directory of the module
	Package string // relative to it: "./examples/vitrine"
	Test    bool   // build the package's tests
	Race    bool   // with the race detector, which ends the program with RaceStatus
	Edits   []Edit
	Added   map[string]string // more files: their text by path, relative to Module
}

// RaceStatus is the exit status of a program whose race detector has found something.
const RaceStatus = 66

// Run builds the program into the directory dir and returns its path.
func (b Build) Run(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	overlay, err := b.overlay(dir)
	if err != nil {
		return "", err
	}
	out := filepath.Join(dir, "program")
	args := []string{"build"}
	if b.Test {
		args = []string{"test", "-c", "-tags", "proof"}
	}
	if b.Race {
		args = append(args, "-race")
	}
	command := exec.Command("go", append(args, "-overlay", overlay, "-o", out, b.Package)...)
	command.Dir = b.Module
	if said, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s: %w\n%s", b.Package, err, said)
	}
	return out, nil
}

// overlay writes the changed files and the list of them for the flag -overlay of the go command.
func (b Build) overlay(dir string) (string, error) {
	module, err := filepath.Abs(b.Module)
	if err != nil {
		return "", err
	}
	files := map[string]string{}
	for name, text := range b.Added {
		files[name] = text
	}
	var failed error
	for _, e := range b.Edits {
		text, found := files[e.File]
		if !found {
			raw, err := os.ReadFile(filepath.Join(module, e.File))
			if err != nil {
				return "", err
			}
			text = string(raw)
		}
		if n := strings.Count(text, e.Old); n != 1 {
			failed = errors.Join(failed,
				fmt.Errorf("%s has %d times %q, want it once: the edit must follow the source", e.File, n, e.Old))
		}
		files[e.File] = strings.Replace(text, e.Old, e.New, 1)
	}
	if failed != nil {
		return "", failed
	}
	replace := map[string]string{}
	for name, text := range files {
		changed := filepath.Join(dir, strings.ReplaceAll(name, "/", "-"))
		if err := os.WriteFile(changed, []byte(text), 0o600); err != nil {
			return "", err
		}
		replace[filepath.Join(module, name)] = changed
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, list, 0o600)
}
