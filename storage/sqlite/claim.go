package sqlite

import (
	"os"
	"path/filepath"
	"strings"
)

// claim is an empty file that a process has locked as long as it builds something beside it. What a
// killed process has left has a claim that nobody holds, and the next build of that name removes it.
// The lock is not on what is built: there SQLite has its own, which some file systems confuse with it.
type claim struct{ *os.File }

// newClaim removes what killed processes have left of builds of the file at path, and claims a new
// name for one.
func newClaim(path string) (claim, error) {
	dir, base := filepath.Split(path)
	prefix := "." + base + ".new-"
	removeStale(dir, prefix)
	for {
		f, err := os.CreateTemp(dir, prefix+"*")
		if err != nil {
			return claim{}, err
		}
		c := claim{f}
		held := lock(f, true)
		mine, err := f.Stat()
		there, gone := os.Lstat(f.Name())
		switch {
		case err != nil:
			c.drop()
			return claim{}, err
		case held && gone != nil || gone == nil && !os.SameFile(mine, there):
			_ = f.Close() // another process took it for stale before it was locked
			continue
		}
		return c, nil
	}
}

// file is what is built under the claim.
func (c claim) file() string { return c.Name() + "-store" }

// drop removes the claim and all that was built under it.
func (c claim) drop() {
	tmp := c.file()
	for _, suffix := range []string{"", "-journal", "-wal", "-shm"} {
		os.Remove(tmp + suffix)
	}
	_ = os.Remove(c.Name())
	_ = c.Close() // the lock goes last
}

// removeStale removes what is under claims that nobody holds. What cannot be removed stays.
func removeStale(dir, prefix string) {
	list, err := os.ReadDir(filepath.Clean(dir))
	if err != nil {
		return
	}
	for _, entry := range list {
		number, ours := strings.CutPrefix(entry.Name(), prefix)
		if !ours || number == "" || strings.Trim(number, "0123456789") != "" || !entry.Type().IsRegular() {
			continue
		}
		f, err := os.Open(filepath.Join(dir, entry.Name()))
		if err != nil {
			continue
		}
		if lock(f, false) {
			claim{f}.drop()
		} else {
			_ = f.Close()
		}
	}
}
