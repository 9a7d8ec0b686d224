package proof

import (
	"bufio"
	"os"
	"os/exec"
	"testing"
)

const childEnv = "VITRINE_TEST_CHILD"

// ChildState returns the state that StartChild has given to this process, or "" if another program has started it.
func ChildState() string { return os.Getenv(childEnv) }

// StartChild runs the calling test in a process of its own, in which ChildState returns state. It returns the first
// line that the process writes to standard error, and a function that kills the process and returns when it has ended.
func StartChild(t *testing.T, state string) (line string, kill func()) {
	t.Helper()
	process := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	process.Env = append(os.Environ(), childEnv+"="+state)
	out, err := process.StderrPipe()
	if err == nil {
		err = process.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	kill = func() {
		_ = process.Process.Kill() // fails if it has ended
		_ = process.Wait()         // fails, as it was killed
	}
	t.Cleanup(kill)
	lines := bufio.NewScanner(out)
	lines.Scan()
	return lines.Text(), kill
}
