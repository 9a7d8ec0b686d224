//go:build unix

package cluster

import (
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// Unprivileged makes a command run as another user than root, in a process group of its own, so that a Ctrl-C for the
// tests does not reach the shell that must clean up.
func Unprivileged(command *exec.Cmd) {
	attr := &syscall.SysProcAttr{Setpgid: true}
	if uid, gid, other := Owner(); other {
		attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid), NoSetGroups: false}
	}
	command.SysProcAttr = attr
}

// Owner returns the user whom a cluster belongs to. other is false if that is the user who runs the tests.
func Owner() (uid, gid int, other bool) {
	if os.Getuid() != 0 {
		return 0, 0, false
	}
	for _, name := range []string{"postgres", "nobody"} {
		if u, err := user.Lookup(name); err == nil {
			uid, _ = strconv.Atoi(u.Uid)
			gid, _ = strconv.Atoi(u.Gid)
			return uid, gid, true
		}
	}
	return 65534, 65534, true
}
