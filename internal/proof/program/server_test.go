//go:build proof && unix

package program_test

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/internal/proof"
	"github.com/vitrine-go/vitrine/internal/proof/program"
)

func TestAServerEndsWithAKilledTest(t *testing.T) {
	if proof.ChildState() != "" {
		s, err := program.StartServer(nil, "/bin/sh", "-c", "echo serving here; exec sleep 1000")
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(os.Stderr, s.Pid())
		select {}
	}
	line, kill := proof.StartChild(t, "running")
	pid, err := strconv.Atoi(line)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, 0); err != nil {
		t.Errorf("the server does not run: %v", err)
	}
	kill()
	for deadline := time.Now().Add(time.Minute); syscall.Kill(pid, 0) == nil; time.Sleep(time.Millisecond) {
		if stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); zombie(string(stat)) {
			return // whose new parent has not looked at it
		}
		if time.Now().After(deadline) {
			t.Fatal("the server runs a minute after its test was killed")
		}
	}
}

// zombie reports that a process has ended, by what Linux says of it.
func zombie(stat string) bool {
	var pid int
	var name, state string
	n, _ := fmt.Sscan(stat, &pid, &name, &state)
	return n == 3 && state == "Z"
}

func TestAServerEnds(t *testing.T) {
	for range 50 {
		s, err := program.StartServer(nil, "/bin/sh", "-c", "echo serving here; exec sleep 1000")
		if err != nil {
			t.Fatal(err)
		}
		s.Kill()
		if status, err := s.Wait(time.Minute); err != nil || status != -1 {
			t.Errorf("status %d, %v", status, err)
		}
	}
	if s, err := program.StartServer(nil, "/bin/sh", "-c", "exit 3"); err == nil {
		t.Errorf("%s serves", s.URL)
	}
}
