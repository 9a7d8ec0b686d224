//go:build unix && !aix && !solaris

package sqlite

import (
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
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

// rights says who owns the file at path and its directory, as far as that can be seen, and who this process is.
func rights(path string) (said string) {
	for _, of := range []string{path, filepath.Dir(path)} {
		if info, err := os.Stat(of); err == nil {
			said += fmt.Sprintf("%s is %s and belongs to %s, ", of, info.Mode(), userName(ownerOf(info).Uid))
		}
	}
	return said + "this process runs as " + userName(uint32(os.Geteuid()))
}

// userName returns the name of a user, or the number of one without a name.
func userName(id uint32) string {
	number := strconv.FormatUint(uint64(id), 10)
	if u, err := user.LookupId(number); err == nil {
		return u.Username
	}
	return "user " + number
}

func ownerOf(info fs.FileInfo) *syscall.Stat_t { return info.Sys().(*syscall.Stat_t) }

// keepOwner gives the file tmp, where this process is root, the owner of the file at path, or of the directory if there
// is no such file: a store that belongs to root can be opened by no service.
func keepOwner(tmp, path string, dir *os.File) error {
	if os.Geteuid() != 0 {
		return nil
	}
	info, err := os.Stat(path)
	if err != nil {
		if info, err = dir.Stat(); err != nil {
			return err
		}
	}
	return os.Lchown(tmp, int(ownerOf(info).Uid), int(ownerOf(info).Gid))
}
