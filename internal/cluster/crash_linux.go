package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// crash kills all processes of the server, as the end of its machine does. The immediate shutdown of PostgreSQL is no
// such crash: there the server still tells its processes to end, and waits some seconds for each.
func (c *Cluster) crash() error {
	text, err := os.ReadFile(filepath.Join(c.Data, "postmaster.pid"))
	if err != nil {
		return err
	}
	lines := strings.Split(string(text), "\n")
	server, err := strconv.Atoi(lines[0])
	if err != nil || len(lines) < 7 {
		return fmt.Errorf("postmaster.pid is not as it should be: %q", text)
	}
	if err := syscall.Kill(server, syscall.SIGSTOP); err != nil { // from here on it starts no process and waits for none
		return err
	}
	if err := removeSegment(lines[6]); err != nil {
		return err
	}
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", server, server))
	if errors.Is(err, fs.ErrNotExist) { // the kernel was built without this file
		return errors.Join(syscall.Kill(server, syscall.SIGQUIT), syscall.Kill(server, syscall.SIGCONT))
	}
	if err != nil {
		return err
	}
	for child := range strings.FieldsSeq(string(children)) {
		pid, err := strconv.Atoi(child)
		if err != nil {
			return err
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			return err
		}
	}
	for child := range strings.FieldsSeq(string(children)) {
		for ended := false; !ended; {
			if ended, err = isZombie(child); err != nil {
				return err
			}
		}
	}
	return syscall.Kill(server, syscall.SIGKILL)
}

// isZombie reports whether a process has ended and has freed its memory, though its parent has not waited for it yet.
func isZombie(pid string) (bool, error) {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return false, err
	}
	state := stat[bytes.LastIndexByte(stat, ')')+1:] // after the name, which may contain any character
	return bytes.HasPrefix(state, []byte(" Z")), nil
}

// removeSegment removes the shared memory by which two servers on one data directory notice each other. which is its
// key and its id, as in postmaster.pid. A server that was killed cannot remove it.
func removeSegment(which string) error {
	fields := strings.Fields(which)
	if len(fields) != 2 {
		return fmt.Errorf("postmaster.pid has %q where its shared memory should be", which)
	}
	if out, err := exec.Command("ipcrm", "-m", fields[1]).CombinedOutput(); err != nil {
		return fmt.Errorf("ipcrm -m %s: %w: %s", fields[1], err, out)
	}
	return nil
}
