//go:build !unix || aix || solaris

package sqlite

import "os"

// lock returns false: on this system nobody can tell whether a build still runs, so its files are not removed.
func lock(*os.File, bool) bool { return false }

// lockStore does not lock: on Windows a file cannot be replaced while it is open.
func lockStore(string) (free func() error, locked bool, err error) {
	return func() error { return nil }, true, nil
}

// rights says nothing: owners and modes are those of Unix.
func rights(string) string { return "" }

// keepOwner does nothing: no owner is told by a number here.
func keepOwner(string, string, *os.File) error { return nil }
