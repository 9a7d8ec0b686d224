//go:build proof

package faults

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A store that was cut off anywhere is refused and left as it is. What else a file can be that is no
// store (foreign, newer, empty, read-only, with a log and without) is tested beside the driver, in
// storage/sqlite/files_test.go.
func TestAStoreCutOffAnywhere(t *testing.T) {
	content, _ := filled()
	dir := t.TempDir()
	path, refused := filepath.Join(dir, "store.db"), 0
	step := cutStep(31, 509)
	for length := 0; length < len(content); length += step {
		if err := os.WriteFile(path, content[:length], 0o600); err != nil {
			t.Fatal(err)
		}
		w, err := openWorld(path, nil, nil)
		if err == nil {
			w.db.Close()
			t.Fatalf("%d bytes of %d were opened", length, len(content))
		}
		if !strings.Contains(err.Error(), path) {
			t.Errorf("%d bytes of %d: the error does not name the file: %v", length, len(content), err)
		}
		refused++
		if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, content[:length]) {
			t.Fatalf("%d bytes of %d: the file has changed: %v", length, len(content), err)
		}
		if others := beside(t, dir); len(others) != 1 {
			t.Fatalf("%d bytes of %d: beside it are %v", length, len(content), others)
		}
	}
	t.Logf("%d lengths, all refused", refused)
}

// cutStep is how many bytes lie between two lengths, in the long form and in the short ones.
func cutStep(long, usual int) int {
	switch {
	case *rounds > 0:
		return long
	case testing.Short():
		return 7 * usual
	}
	return usual
}

// A store whose log was cut off anywhere holds its changes up to one of them, each as a whole.
func TestALogCutOffAnywhere(t *testing.T) {
	l := newLogged(t)
	path, n := newFile(t)
	var states []string // after none of the changes, after the first, after both
	w, err := openWorld(path, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	note := func() {
		state, err := w.state(n)
		if err != nil {
			t.Fatal(err)
		}
		states = append(states, state)
	}
	note()
	for _, r := range scenarios(n)[:2] {
		w.must(r.status, r)
		note()
	}
	if err := w.db.Close(); err != nil || states[2] != l.state {
		t.Fatalf("the changes are others, or %v", err)
	}
	step, seen := cutStep(61, 997), map[int]int{}
	for length := 0; length <= len(l.log); length += step {
		cut := logged{l.store, l.log[:length], l.names, ""}
		w, err := openWorld(cut.write(t, t.TempDir()), nil, nil)
		if err != nil {
			t.Fatalf("%d bytes of a log of %d: %v", length, len(l.log), err)
		}
		state, err := w.state(n)
		at := -1
		for i, s := range states {
			if s == state {
				at = i
			}
		}
		if seen[at]++; at < 0 {
			t.Fatalf("%d bytes of a log of %d: %s, %v", length, len(l.log), differ(state, states[0]), err)
		}
		if err := w.db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("how often how many changes were there: %v", seen)
	if len(seen) < 2 {
		t.Error("that is always the same")
	}
}
