// Package peer builds programs that benchmarks compare ours with. What they import is fetched for the run: it is no
// dependency of this module, nor of a program that embeds it.
package peer

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Module returns the directory of a new Go module with these files, by name, which requires these modules, each as
// path@version. It skips the benchmark if they cannot be fetched.
func Module(b *testing.B, require []string, files map[string][]byte) string {
	dir := b.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	for _, args := range [][]string{{"mod", "init", "peer.test"}, append([]string{"get"}, require...), {"mod", "tidy"}} {
		if said, err := goCommand(dir, args...).CombinedOutput(); err != nil {
			b.Skipf("%s is not compared: go %s: %v: %s", require[0], args, err, said)
		}
	}
	return dir
}

// Test runs the module's benchmarks, which print their own lines.
func Test(b *testing.B, dir string) {
	cmd := goCommand(dir, "test", "-bench", ".", "-benchtime", "100x")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		b.Fatal(err)
	}
}

// Build builds the program that the module is, and returns the command that runs it.
func Build(b *testing.B, dir string, args ...string) *exec.Cmd {
	program := filepath.Join(dir, "peer.exe")
	if said, err := goCommand(dir, "build", "-o", program, ".").CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, said)
	}
	return exec.Command(program, args...)
}

// Process is a program that answers each line of its standard input with a line.
type Process struct {
	in  io.WriteCloser
	out *bufio.Reader
}

// Start starts a command, which ends with the benchmark.
func Start(b *testing.B, cmd *exec.Cmd) *Process {
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
	return &Process{in, bufio.NewReader(out)}
}

// Ask sends a line and expects a line. An empty question only waits for what the process says by itself.
func (p *Process) Ask(b *testing.B, question, want string) {
	if question != "" {
		fmt.Fprintln(p.in, question)
	}
	if got, err := p.out.ReadString('\n'); err != nil || got != want+"\n" {
		b.Fatalf("%q is answered %q, want %q; %v", question, got, want, err)
	}
}

// goCommand returns a go command that runs in the module in dir, without the flags and the workspace of this run.
func goCommand(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off", "PWD="+dir)
	return cmd
}
