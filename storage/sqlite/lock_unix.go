//go:build unix && !aix && !solaris

package sqlite

import (
	"os"
	"syscall"
)

// lock locks an open directory, and reports whether it has the lock. If alone is true, nobody else has a lock beside it, and lock does not
// wait for one. Else others may have one too, and lock waits while somebody is alone. The system releases it when the
// directory is closed or the process ends.
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
