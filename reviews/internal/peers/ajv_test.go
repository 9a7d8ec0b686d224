package peers_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/vitrine-go/vitrine/reviews"
)

// The packages that are compared with; they are installed for the benchmark and go with it.
var ajvPackages = []string{"ajv@8.20.0", "ajv-formats@3.0.1"}

// ajv is a node process on one core that checks files with ajv.
type ajv struct{ *process }

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
	return ajv{start(b, exec.Command(command[0], command[1:]...))}
}

// check lets the process check a file, of which it must refuse so many lines.
func (a ajv) check(b *testing.B, file string, lines, refused int) {
	a.ask(b, file, fmt.Sprint(lines, " ", refused))
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

// process is a program that answers each line of its standard input with a line.
type process struct {
	in  io.WriteCloser
	out *bufio.Reader
}

// start starts a command, which ends with the benchmark.
func start(b *testing.B, cmd *exec.Cmd) *process {
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			b.Error(err)
		}
	})
	return &process{in, bufio.NewReader(out)}
}

// ask sends a line and expects a line. An empty question only waits for what the process says by itself.
func (p *process) ask(b *testing.B, question, want string) {
	if question != "" {
		fmt.Fprintln(p.in, question)
	}
	if got, err := p.out.ReadString('\n'); err != nil || got != want+"\n" {
		b.Fatalf("%q is answered %q, want %q; %v", question, got, want, err)
	}
}
