//go:build linux || darwin || freebsd

package main

import "syscall"

// diskOf returns the room on the disk of a file or directory. ok is false if the system does not say.
func diskOf(path string) (d disk, ok bool) {
	var s syscall.Statfs_t
	if syscall.Statfs(path, &s) != nil {
		return disk{}, false
	}
	unit := int64(s.Bsize)
	return disk{free: int64(s.Bavail) * unit, size: int64(s.Blocks) * unit, readOnly: s.Flags&1 != 0}, true
}
