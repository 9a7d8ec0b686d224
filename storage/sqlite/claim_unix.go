//go:build unix && !aix && !solaris

package sqlite

import (
	"os"
	"syscall"
)

// lock takes the lock of an open file, which ends with the process. It reports whether it has it.
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
