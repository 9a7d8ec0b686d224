//go:build unix && !aix && !solaris

package sqlite

import (
	"os"
	"syscall"
)

// lock takes the lock of an open file, and reports whether it has it. If another process has the lock, it waits, or returns false
// if wait is false. The system releases the lock when the file is closed or the process ends.
func lock(f *os.File, wait bool) bool {
	how := syscall.LOCK_EX
	if !wait {
		how |= syscall.LOCK_NB
	}
	for {
		err := syscall.Flock(int(f.Fd()), how)
		if err != syscall.EINTR {
			return err == nil
		}
	}
}
