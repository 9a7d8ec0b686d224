package cluster

import (
	"errors"
	"fmt"
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
	lines := append(strings.Split(string(text), "\n"), make([]string, 7)...)
	server, err := strconv.Atoi(lines[0])
	segment := strings.Fields(lines[6]) // the key and the id of the shared memory by which two servers on one directory notice each other
	if err != nil || len(segment) != 2 {
		return fmt.Errorf("postmaster.pid is not as it should be: %q", text)
	}
	if err := syscall.Kill(server, syscall.SIGSTOP); err != nil { // from here on it starts no process and waits for none
		return err
	}
	if out, err := exec.Command("ipcrm", "-m", segment[1]).CombinedOutput(); err != nil { // which a killed server cannot remove
		return fmt.Errorf("ipcrm -m %s: %w: %s", segment[1], err, out)
	}
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", server, server))
	if err != nil {
		return err
	}
	var all error
	for child := range strings.FieldsSeq(string(children)) {
		pid, err := strconv.Atoi(child)
		if err != nil {
			return err
		}
		all = errors.Join(all, syscall.Kill(pid, syscall.SIGKILL))
	}
	for child := range strings.FieldsSeq(string(children)) {
		for ended := false; !ended && all == nil; { // until it has freed its memory; its parent does not wait for it
			stat, err := os.ReadFile("/proc/" + child + "/stat")
			all, ended = err, strings.Contains(string(stat), ") Z ")
		}
	}
	return errors.Join(all, syscall.Kill(server, syscall.SIGKILL))
}
