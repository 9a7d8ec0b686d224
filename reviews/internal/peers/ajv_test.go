package peers_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/vitrine-go/vitrine/internal/peer"
	"github.com/vitrine-go/vitrine/reviews"
)

// The packages that are compared with; they are installed for the benchmark and go with it.
var ajvPackages = []string{"ajv@8.20.0", "ajv-formats@3.0.1"}

// ajv is a node process on one core that checks files with ajv.
type ajv struct{ *peer.Process }

// startAjv skips where node, npm or the packages cannot be had.
func startAjv(b *testing.B) ajv {
	for _, name := range []string{"node", "npm"} {
		if _, err := exec.LookPath(name); err != nil {
			b.Skipf("ajv is not compared: %s is not installed", name)
		}
	}
	dir := b.TempDir()
	args := append([]string{"install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", dir}, ajvPackages...)
	if said, err := exec.Command("npm", args...).CombinedOutput(); err != nil {
		b.Skipf("ajv is not compared: npm cannot install it: %v: %s", err, said)
	}
	schema := filepath.Join(dir, "schema.json")
	if err := os.WriteFile(schema, reviews.RecordSchema(), 0o600); err != nil {
		b.Fatal(err)
	}
	command := []string{"node", filepath.Join("testdata", "ajv.mjs"), dir, schema}
	if _, err := exec.LookPath("taskset"); err == nil {
		command = append([]string{"taskset", "-c", "0"}, command...) // node collects garbage on other cores
	}
	return ajv{peer.Start(b, exec.Command(command[0], command[1:]...))}
}

// check lets the process check a file, of which it must refuse so many lines.
func (a ajv) check(b *testing.B, file string, lines, refused int) {
	a.Ask(b, file, fmt.Sprint(lines, " ", refused))
}

func benchAjv(b *testing.B, file []byte) {
	a := startAjv(b)
	b.SetBytes(int64(len(file)))
	dir := b.TempDir()
	bad := filepath.Join(dir, "bad")
	oneBad := bytes.Replace(file[:1<<20], []byte(`"ratings":[1,100]`), []byte(`"ratings":[1,101]`), 1)
	oneBad = oneBad[:bytes.LastIndexByte(oneBad, '\n')+1]
	if err := os.WriteFile(bad, oneBad, 0o600); err != nil {
		b.Fatal(err)
	}
	good := filepath.Join(dir, "good")
	if err := os.WriteFile(good, file, 0o600); err != nil {
		b.Fatal(err)
	}
	lines := bytes.Count(file, []byte("\n"))
	a.check(b, bad, bytes.Count(oneBad, []byte("\n")), 1)
	a.check(b, good, lines, 0) // compiled for this by now
	for b.Loop() {
		a.check(b, good, lines, 0)
	}
}
