//go:build unix && !aix && !solaris

package sqlite

import (
	"os"
	"syscall"
)

// lock locks an open directory, and reports whether it has the lock. If alone is true, it tries to get an exclusive lock and does not
// wait for it. Otherwise the lock is shared, and lock waits while another process has an exclusive one. The system releases the lock
// when the directory is closed or the process ends.
func lock(dir *os.File, alone bool) bool {
	how := syscall.LOCK_SH
	if alone {
		how = syscall.LOCK_EX | syscall.LOCK_NB
	}
	for {
		err := syscall.Flock(int(dir.Fd()), how)
		if err != syscall.EINTR {
			return err == nil
		}
	}
}
