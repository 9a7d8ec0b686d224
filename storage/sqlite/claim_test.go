package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// keepBuilding builds a store and waits to be killed.
func keepBuilding(path string) error {
	return Build(path, func(*DB) error {
		os.Stdout.WriteString("building\n")
		time.Sleep(time.Hour) // without cgo the runtime ends a process in which every goroutine waits without a timer
		return nil
	})
}

func left(t *testing.T, dir string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, ".*"))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestABuildRemovesTheFilesOfAKilledBuild(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no such locks there")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "x.db")
	killed, said := process(t, "build", path)
	said.Scan()
	running, saidToo := process(t, "build", path)
	saidToo.Scan() // it has left alone what the first one builds
	if n := len(left(t, dir)); n < 4 {
		t.Fatalf("%d files of two builds", n)
	}
	if err := killed.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	killed.Wait()
	// Another name, and what only looks like one of ours.
	for _, name := range []string{".y.db.new-1", ".x.db.new-mine"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before := len(left(t, dir))
	own := errors.New("own")
	if err := Build(path, func(*DB) error { return own }); !errors.Is(err, own) {
		t.Fatal(err)
	}
	after := left(t, dir)
	if len(after) >= before {
		t.Errorf("nothing of the killed build was removed: %v", after)
	}
	if claims := strings.Count(strings.Join(after, " "), "-store "); claims > 1 {
		t.Errorf("left: %v", after)
	}
	if all := strings.Join(after, " "); !strings.Contains(all, ".x.db.new-mine") || !strings.Contains(all, ".y.db.new-1") {
		t.Errorf("left: %v", after)
	}
	if len(after) == 2 {
		t.Error("what the running build has was removed")
	}
	if err := running.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	running.Wait()
	openAt(t, path, nil)
	if after := left(t, dir); len(after) != 2 {
		t.Errorf("left behind: %v", after)
	}
}
