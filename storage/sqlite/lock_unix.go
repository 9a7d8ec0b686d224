//go:build unix && !aix && !solaris

package sqlite

import (
	"os"
	"syscall"
)

// lock takes a lock of an open directory: if alone is true, one beside which there is no other, unless there is another already; else
// one that others may have too, as soon as nobody is alone. It reports whether it has the lock. The system releases it when the
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
