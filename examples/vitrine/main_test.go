package main

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// The program as a process of its own: main gives commands the environment, the arguments and standard input, it ends
// with the status of the command, and SIGTERM and SIGINT stop it in order.
func TestTheProgramIsAProcess(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	process := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), self, args...)
		cmd.Dir, cmd.Env = dir,
			[]string{programVariable + "=1", "VITRINE_DB=v.db", "VITRINE_URN=urn:vitrine:example.test:user=editor",
				"VITRINE_ADDR=127.0.0.1:0"}
		return cmd
	}
	for _, signal := range []os.Signal{syscall.SIGTERM, syscall.SIGINT} {
		serving := process()
		stdout, err := serving.StdoutPipe()
		if err == nil {
			err = serving.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(stdout).ReadString('\n')
		ready := readyLine.FindStringSubmatch(strings.TrimSpace(line))
		if ready == nil {
			t.Fatalf("%q, %v", line, err)
		}
		token, err := process("token").Output()
		if err != nil {
			t.Fatal(err)
		}
		s := &testServer{t: t, url: ready[1]}
		s.do(strings.TrimSpace(string(token)), "GET", "/apps/", "", 200)
		if err := serving.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		if err := serving.Wait(); err != nil {
			t.Errorf("%s ends it with %v", signal, err)
		}
	}
	check := process("reviews", "check", "-")
	check.Stdin = strings.NewReader(badRecord)
	if out, err := check.Output(); check.ProcessState.ExitCode() != 1 ||
		!strings.Contains(string(out), "this is not JSON") {
		t.Errorf("%q, %v", out, err)
	}
}
