//go:build proof

package faults

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// image is a directory as a kill would leave it: its files by their names.
type image map[string][]byte

// imageOf returns the directory as a kill at this moment would leave it.
func imageOf(t *testing.T, dir string) image {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Error(err)
	}
	now := image{}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), "-shm") {
			continue // it is made anew when nobody has it open
		}
		if now[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			t.Error(err)
		}
	}
	return now
}

// images are those of the directory before each call that changes something, while fn runs, and of
// what is there afterwards. Those that equal the one before are left out.
func images(t *testing.T, dir string, fn func()) []image {
	t.Helper()
	var list []image
	take := func() {
		now := imageOf(t, dir)
		if n := len(list); n == 0 || !now.equal(list[n-1]) {
			list = append(list, now)
		}
	}
	theDisk.fail(dir, func(c call) verdict {
		if _, changes := unwritable[c.op]; changes {
			take()
		}
		return 0
	})
	fn()
	theDisk.fail(dir, nil)
	take()
	return list
}

func (i image) equal(j image) bool {
	for name := range i {
		if !bytes.Equal(i[name], j[name]) {
			return false
		}
	}
	return len(i) == len(j)
}

// write puts the image into a new directory and returns the path of the store.
func (i image) write(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range i {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "store.db")
}

// One killed at any call of building a store leaves none or a whole one, and the next attempt has one.
func TestKilledWhileBuilding(t *testing.T) {
	dir := t.TempDir()
	list := images(t, dir, func() {
		w, err := openWorld(filepath.Join(dir, "store.db"), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.db.Close(); err != nil {
			t.Fatal(err)
		}
	})
	there := 0
	for at, i := range list {
		if testing.Short() && at%17 != 0 && at < len(list)-1 {
			continue
		}
		path := i.write(t)
		if _, err := os.Stat(path); err == nil {
			there++
			if err := check(path); err != nil {
				t.Errorf("killed at call %d: %v", at, err)
			}
			path = i.write(t) // as it was, without what the check left behind
		}
		w, err := openWorld(path, nil, nil)
		if err != nil {
			t.Fatalf("killed at call %d: %v", at, err)
		}
		w.must(201, post("/components/", poll))
		if err := errors.Join(w.db.Close(), check(path)); err != nil {
			t.Errorf("killed at call %d: %v", at, err)
		}
	}
	t.Logf("%d moments to be killed at, in %d of them the store is there", len(list), there)
	if there == 0 || there == len(list) {
		t.Error("these are not the moments before and after it is there")
	}
}
