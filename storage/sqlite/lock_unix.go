//go:build unix && !aix && !solaris

package sqlite

import (
	"cmp"
	"io"
	"os"
	"runtime"
	"syscall"
)

// lock locks an open directory, and reports whether it has the lock. If alone is true, it tries to get an exclusive
// lock and does not wait for it. Otherwise the lock is shared, and lock waits while another process has an exclusive
// one. The system releases the lock when the directory is closed or the process ends.
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

// setLock is F_OFD_SETLK where a system has it. Such a lock conflicts with those of other descriptors, even in the same
// process, and package syscall does not name it.
var setLock = cmp.Or(map[string]int{"linux": 37, "darwin": 90}[runtime.GOOS], syscall.F_SETLK)

// SQLite's locks of a file are locks of these bytes. A connection has a shared lock on one or all of the last 510 from
// its first read in the mode WAL until it is closed, also while it is idle.
const lockedFrom, lockedBytes = 0x40000000, 512

// lockStore locks the file at path so that SQLite cannot open it, and returns what unlocks it. locked is false if a
// connection of any process is open: then the descriptor stays open, since closing it would drop the locks that this
// process has on the file.
func lockStore(path string) (free func() error, locked bool, err error) {
	fd, err := syscall.Open(path, syscall.O_RDWR|syscall.O_CLOEXEC|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, false, &os.PathError{Op: "open", Path: path, Err: err}
	}
	how := syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart, Start: lockedFrom, Len: lockedBytes}
	switch err := syscall.FcntlFlock(uintptr(fd), setLock, &how); err {
	case nil:
		return func() error { return syscall.Close(fd) }, true, nil
	case syscall.EAGAIN, syscall.EACCES:
		return nil, false, nil
	default:
		return nil, false, &os.PathError{Op: "lock", Path: path, Err: err}
	}
}
