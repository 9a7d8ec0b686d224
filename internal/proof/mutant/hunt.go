package mutant

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/internal/proof/program"
)

// Hunt runs tests against mutants. The tests must fail for each mutant, and pass when no mutant is awake.
type Hunt struct {
	Program  program.Build // built once, with every mutant in it
	Mutants  []Mutant
	Only     []string // the names of those that are looked at; all when there is none
	Controls []string // tests, in the words of Mutant.By, that must pass when every mutant sleeps
	Together bool     // look at several at the same time

	// Command is the command line of the tests that look for a mutant in the program that was built.
	// One without a name is a control.
	Command func(binary string, m Mutant) []string
}

// Run carries out the hunt, unless the tests are to be short.
func (h Hunt) Run(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("the mutants are looked at without -short")
	}
	chosen, err := h.chosen()
	if err != nil {
		t.Fatal(err)
	}
	binary, err := h.build(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, by := range h.Controls {
		if said, err := h.run(t.Context(), binary, Mutant{By: by}); err != nil {
			t.Errorf("without a mutant: %v\n%s", err, said)
		}
	}
	var caught atomic.Int64
	t.Cleanup(func() { // when those that run together have ended too
		t.Logf("%d of %d mutants looked at, %d caught", len(chosen), len(h.Mutants), caught.Load())
	})
	for _, m := range chosen {
		t.Run(m.Name, func(t *testing.T) {
			if h.Together {
				t.Parallel()
			}
			found, err := h.look(t.Context(), binary, m)
			if err != nil {
				t.Fatal(err)
			}
			caught.Add(1)
			t.Log(found)
		})
	}
}

func (h Hunt) build(dir string) (binary string, err error) {
	b, err := Into(h.Program, h.Mutants)
	if err != nil {
		return "", err
	}
	return b.Run(dir)
}

// chosen are the mutants that are looked at.
func (h Hunt) chosen() (list []Mutant, err error) {
	if len(h.Only) == 0 {
		return h.Mutants, nil
	}
	for _, name := range h.Only {
		i := slices.IndexFunc(h.Mutants, func(m Mutant) bool { return m.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no mutant %q", name)
		}
		list = append(list, h.Mutants[i])
	}
	return list, nil
}

// look returns what the tests say of m. It is an error when they do not find it.
func (h Hunt) look(ctx context.Context, binary string, m Mutant) (found string, err error) {
	said, err := h.run(ctx, binary, m)
	switch {
	case err == nil:
		return "", fmt.Errorf("%s does not catch it:\n%s", m.By, said)
	case !strings.Contains(said, "--- FAIL: Test") || strings.Contains(said, "panic: "):
		return "", fmt.Errorf("it ends %s in another way: %w\n%s", m.By, err, said)
	}
	return finding(said), nil
}

// run runs the tests that look for m, with it awake. The error is nil when they pass.
func (h Hunt) run(ctx context.Context, binary string, m Mutant) (said string, err error) {
	const patience = 2 * time.Minute
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	line := h.Command(binary, m)
	command := exec.CommandContext(ctx, line[0], line[1:]...)
	command.Env = append(os.Environ(), Awake(m.Name))
	command.WaitDelay = 5 * time.Second // a server that it has started may outlive it
	out, err := command.CombinedOutput()
	said = string(out)
	switch {
	case ctx.Err() != nil:
		err = errors.Join(err, fmt.Errorf("it does not end in %s", patience))
	case err == nil && strings.Contains(said, "no tests to run"):
		err = errors.New("no test is called so")
	}
	return said, err
}

// finding is the line that tells what was found.
func finding(said string) string {
	for line := range strings.Lines(said) {
		if strings.Contains(line, "_test.go:") {
			return fmt.Sprintf("%.200s", strings.TrimSpace(line))
		}
	}
	return ""
}
