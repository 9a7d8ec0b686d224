//go:build proof && linux

package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A copy in which check finds a fault gets another name and the run fails; only a run that succeeds deletes old copies,
// and nothing else.
func TestBackupsWithAFaultAreNone(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"vitrine-old.db": "", "vitrine-recent.db": "", "other.db": "",
		"vitrine": "#!/bin/sh\ncase $1 in backup) echo copy >\"$4\" ;; check) exit \"$FAULTY\" ;; esac\n"} {
		write(t, filepath.Join(dir, name), text)
	}
	if err := os.Chmod(filepath.Join(dir, "vitrine"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"vitrine-old.db", "other.db"} {
		if err := os.Chtimes(filepath.Join(dir, name), time.Time{}, time.Now().AddDate(0, 0, -30)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		faulty string
		ends   bool
		copies []string // the ends of the names of the files that are left
	}{
		{"1", false, []string{"other.db", "vitrine-old.db", "vitrine-recent.db", "Z.db.faulty"}},
		{"0", true, []string{"other.db", "vitrine-recent.db", "Z.db", "Z.db.faulty"}},
	} {
		command := exec.Command("sh", filepath.Join(root, "examples", "deploy", "vitrine-backup"),
			filepath.Join(dir, "store"), dir, "14")
		command.Env = []string{"PATH=" + dir + ":" + os.Getenv("PATH"), "FAULTY=" + c.faulty}
		if out, err := command.CombinedOutput(); (err == nil) != c.ends {
			t.Errorf("check with status %s: %v: %s", c.faulty, err, out)
		}
		files, err := filepath.Glob(filepath.Join(dir, "*.db*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range c.copies {
			if !slices.ContainsFunc(files, func(file string) bool { return strings.HasSuffix(file, want) }) {
				t.Errorf("check with status %s: no %s in %q", c.faulty, want, files)
			}
		}
		if len(files) != len(c.copies) {
			t.Errorf("check with status %s: %q", c.faulty, files)
		}
	}
}
