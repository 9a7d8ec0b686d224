package cluster

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"github.com/vitrine-go/vitrine/internal/proof"
)

// Programs returns the directory with PostgreSQL's own programs: that of the newest release in the place where Debian
// installs them, or else the directory of the postgres on the PATH, with symbolic links resolved. It is "" if there is
// none.
var Programs = sync.OnceValue(func() string {
	best, newest := "", 0
	dirs, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	for _, dir := range dirs {
		release, err := strconv.Atoi(filepath.Base(filepath.Dir(dir)))
		if err == nil && release > newest && whole(dir) {
			best, newest = dir, release
		}
	}
	if best != "" {
		return best
	}
	if found, err := exec.LookPath("postgres"); err == nil {
		if real, err := filepath.EvalSymlinks(found); err == nil && whole(filepath.Dir(real)) {
			return filepath.Dir(real)
		}
	}
	return ""
})

// whole reports whether a directory has all programs that a cluster needs.
func whole(dir string) bool {
	for _, name := range []string{"initdb", "postgres"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}

// Need skips the test without the build tag proof, and if PostgreSQL is not installed. If VITRINE_CI is set and
// PostgreSQL is not installed, it fails the test.
func Need(t testing.TB) {
	t.Helper()
	why := ""
	switch {
	case !proof.Tagged:
		t.Skip("PostgreSQL is tested with -tags proof")
	case runtime.GOOS == "windows":
		why = "clusters for tests are kept by a shell, which this system does not have"
	case Programs() == "":
		why = "PostgreSQL is not installed: initdb and postgres are neither in /usr/lib/postgresql/*/bin nor on the " +
			"PATH"
	default:
		return
	}
	Missing(t, why)
}

// Missing skips a test that needs something that is not installed, or fails it if VITRINE_CI is set.
func Missing(t testing.TB, why string) {
	t.Helper()
	if os.Getenv("VITRINE_CI") != "" {
		t.Fatal(why)
	}
	t.Skip(why)
}
