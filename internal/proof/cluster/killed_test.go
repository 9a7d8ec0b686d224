//go:build proof && linux

package cluster_test

import (
	"bufio"
	"os"
	"os/exec"
	"testing"
	"time"
)

// child is set in the process that TestNothingIsLeftOfAKilledKeeper kills.
const child = "VITRINE_KEEPER_CHILD"

// What a keeper runs ends with a test that is killed, also what has left its parent, and its directory goes.
func TestNothingIsLeftOfAKilledKeeper(t *testing.T) {
	if os.Getenv(child) != "" {
		k := newKeeper(t)
		if err := k.Start("one", nil, "sh", "-c", "setsid sleep 1000 & sleep 1000 & wait"); err != nil {
			t.Fatal(err)
		}
		for len(k.Processes("one")) < 3 {
			time.Sleep(time.Millisecond)
		}
		println(k.Dir)
		select {}
	}
	process := exec.Command(os.Args[0], "-test.run=^TestNothingIsLeftOfAKilledKeeper$")
	process.Env = append(os.Environ(), child+"=1")
	out, err := process.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Scan()
	k := keeper{Dir: lines.Text()}
	if n := len(k.Processes("one")); n < 3 {
		t.Errorf("%q has %d processes, want 3", k.Dir, n)
	}
	if err := process.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = process.Wait() // fails, as it was killed
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		_, err := os.Stat(k.Dir)
		left := k.Processes("one")
		if os.IsNotExist(err) && len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("a minute after the test was killed %s is there (%v), and so are %v", k.Dir, err, left)
		}
	}
}
