package sqlite

import (
	"os"
	"path/filepath"
	"strings"
)

// claim is an empty lock file. A process locks it while it builds another file in the same directory. If the process
// is killed, the system releases the lock, and the next build of the same name removes both files. The lock is not on the
// built file itself: SQLite has its own locks there, and some file systems confuse the two kinds.
type claim struct{ *os.File }

// newClaim removes the files of killed builds of the file at path, and creates a claim for a new build.
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
			_ = f.Close() // another process removed it as stale before this one locked it
			continue
		}
		return c, nil
	}
}

// file returns the path of the file that is built under the claim.
func (c claim) file() string { return c.Name() + "-store" }

// drop removes the claim and the files that were built under it.
func (c claim) drop() {
	tmp := c.file()
	for _, suffix := range []string{"", "-journal", "-wal", "-shm"} {
		os.Remove(tmp + suffix)
	}
	_ = os.Remove(c.Name())
	_ = c.Close() // releases the lock, which must come last
}

// removeStale removes the claims with this prefix that no process has locked, and their files. It ignores errors: what stays is
// tried again by the next build.
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
