// Package peer runs programs that benchmarks compare ours with.
package peer

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
)

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
