//go:build proof

package crash

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/sqlite"
)

const (
	imported = 150
	perFile  = 20 // reviews of a collection
)

// importProcess is a process that imports a file of reviews.
type importProcess struct {
	file   string
	source string
	cmd    *exec.Cmd

	network string // two take turns

	acknowledged bool // it had said that all was imported before it was killed
}

// startImport writes a file and starts its import into the store.
func startImport(binary, db, dir string, number int) (*importProcess, error) {
	i := &importProcess{source: fmt.Sprintf("import-%d.test", number),
		file:    filepath.Join(dir, fmt.Sprintf("%d.jsonl", number)),
		network: fmt.Sprintf("network-%d.test", number%2)}
	if err := os.WriteFile(i.file, reviewLines(i.source, imported, perFile), 0o600); err != nil {
		return nil, err
	}
	i.cmd = exec.Command(binary, "reviews", "import", "-db", db, "-network", i.network, i.file)
	i.cmd.Env = []string{}
	return i, i.cmd.Start()
}

// kill ends the process.
func (i *importProcess) kill() {
	_ = i.cmd.Process.Kill() // it may have ended
	i.acknowledged = i.cmd.Wait() == nil
}

// verify holds the store against the file; what was not acknowledged is imported once more, and
// then must be there as well.
func (i *importProcess) verify(ctx context.Context, path string) (err error) {
	db, err := sqlite.Open(path, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	svc, operator := reviews.New(db, nil), vitrine.Caller{Operator: true}
	if !i.acknowledged {
		file, err := os.Open(i.file)
		if err != nil {
			return err
		}
		defer file.Close()
		if _, err := svc.As(operator).Import(ctx, reviews.ImportRequest{Network: i.network, File: file}); err != nil {
			return fmt.Errorf("import after the kill: %w", err)
		}
	}
	var text bytes.Buffer
	if err := svc.As(operator).Export(ctx, i.network, &text); err != nil {
		return err
	}
	n := 0
	for line := range strings.Lines(text.String()) {
		var c struct {
			Source  string
			Reviews []struct{ ID string }
		}
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			return err
		}
		if c.Source != i.source {
			continue
		}
		n++
		for r, review := range c.Reviews {
			if review.ID != fmt.Sprint(r) {
				return Lost("review %d of %s has the id %s", r, i.source, review.ID)
			}
		}
		if len(c.Reviews) != perFile {
			return Lost("a collection of %s has %d reviews, want %d", i.source, len(c.Reviews), perFile)
		}
	}
	if n != imported {
		return Lost("%d imported of %s are there, want %d", n, i.source, imported)
	}
	return nil
}
