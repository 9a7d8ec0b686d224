//go:build proof

package faults

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/storage/sqlite"
)

// kinds are the ways in which a disk fails while a store is opened, closed or copied.
func kinds() []plan {
	return []plan{{name: "broken for a moment", ends: broken}, {name: "unwritable", ends: unwritable, reading: true},
		{name: "full", ends: full, reading: true}}
}

// everyCall makes the Nth call fail, for every N, until try makes no such call. try gets a new
// directory and a function that arms it and one that heals it.
func everyCall(t *testing.T, try func(t *testing.T, dir string, arm, heal func())) {
	t.Helper()
	tries := 0
	for _, p := range kinds() {
		for number := 1 + rand.IntN(stride(p)); ; number += stride(p) {
			if p.fails = once(number); p.reading {
				p.fails = lasting(number)
			}
			var failed atomic.Int64
			dir := t.TempDir()
			ok := t.Run(fmt.Sprintf("%s, call %d", p.name, number), func(t *testing.T) {
				try(t, dir, func() { theDisk.fail(dir, p.rule(&failed)) }, func() { theDisk.fail(dir, nil) })
			})
			if theDisk.fail(dir, nil); !ok {
				return
			}
			if failed.Load() == 0 {
				break
			}
			tries++
		}
	}
	t.Logf("%d times a call has failed", tries)
}

// beside lists the files in a directory without those that SQLite keeps beside the named ones.
func beside(t *testing.T, dir string, names ...string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var others []string
	for _, e := range entries {
		own := false
		for _, n := range names {
			own = own || e.Name() == n || e.Name() == n+"-wal" || e.Name() == n+"-shm"
		}
		if !own {
			others = append(others, e.Name())
		}
	}
	return others
}

// A store that could not be built is not there, or whole, and the next attempt builds it.
func TestBuildingAStoreOnADiskThatFails(t *testing.T) {
	everyCall(t, func(t *testing.T, dir string, arm, heal func()) {
		path := filepath.Join(dir, "store.db")
		arm()
		db, err := sqlite.Open(path, nil)
		heal()
		if err == nil {
			err = db.Close()
		}
		if _, missing := os.Stat(path); missing == nil {
			if err := check(path); err != nil {
				t.Errorf("what is there under the store's name: %v", err)
			}
		} else if err == nil {
			t.Errorf("opened, and not there: %v", missing)
		}
		if others := beside(t, dir, "store.db"); len(others) > 0 {
			t.Errorf("left behind: %v", others)
		}
		w, err := openWorld(path, nil, nil)
		if err != nil {
			t.Fatalf("the next attempt: %v", err)
		}
		w.must(201, post("/components/", poll))
		if err := errors.Join(w.db.Close(), check(path)); err != nil {
			t.Error(err)
		}
	})
}

// logged is the store of a process that was killed: a file and its log.
type logged struct {
	store, log []byte
	names
	state string
}

func newLogged(t *testing.T) logged {
	t.Helper()
	path, n := newFile(t)
	w, err := openWorld(path, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.db.Close()
	l := logged{names: n}
	for _, r := range scenarios(n)[:2] {
		w.must(r.status, r)
	}
	var errs [3]error
	l.state, errs[0] = w.state(n)
	l.store, errs[1] = os.ReadFile(path)
	l.log, errs[2] = os.ReadFile(path + "-wal")
	if err := errors.Join(errs[:]...); err != nil || len(l.log) == 0 {
		t.Fatalf("a log of %d bytes: %v", len(l.log), err)
	}
	return l
}

func (l logged) write(t *testing.T, dir string) (path string) {
	t.Helper()
	path = filepath.Join(dir, "store.db")
	if err := errors.Join(os.WriteFile(path, l.store, 0o600), os.WriteFile(path+"-wal", l.log, 0o600)); err != nil {
		t.Fatal(err)
	}
	return path
}

func (l logged) check(t *testing.T, path string) {
	t.Helper()
	w, err := openWorld(path, nil, nil)
	if err != nil {
		t.Fatalf("the next attempt: %v", err)
	}
	if state, err := w.state(l.names); err != nil || state != l.state {
		t.Errorf("%s, %v", differ(state, l.state), err)
	}
	w.must(201, probe(l.names))
	if err := errors.Join(w.db.Close(), check(path)); err != nil {
		t.Error(err)
	}
}

// A store that could not be opened, with a log to bring in, loses nothing by that.
func TestOpeningAStoreOnADiskThatFails(t *testing.T) {
	l := newLogged(t)
	everyCall(t, func(t *testing.T, dir string, arm, heal func()) {
		path := l.write(t, dir)
		arm()
		db, err := sqlite.Open(path, nil)
		heal()
		if err == nil {
			_ = db.Close()
		} else if !strings.Contains(err.Error(), path) {
			t.Errorf("the error does not say which file: %v", err)
		}
		l.check(t, path)
	})
}

// Nor does one that could not be closed.
func TestClosingAStoreOnADiskThatFails(t *testing.T) {
	l := newLogged(t)
	everyCall(t, func(t *testing.T, dir string, arm, heal func()) {
		path := l.write(t, dir)
		db, err := sqlite.Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		arm()
		_ = db.Close() // an error is right here, and so is none: what it wanted to do is done by the next
		heal()
		l.check(t, path)
	})
}

// A backup that failed is not there; the store goes on, and the next backup is whole.
func TestBackupOnADiskThatFails(t *testing.T) {
	l := newLogged(t)
	everyCall(t, func(t *testing.T, dir string, arm, heal func()) {
		path, copied := l.write(t, dir), filepath.Join(dir, "copy.db")
		db, err := sqlite.Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		arm()
		err = db.Backup(context.Background(), copied)
		heal()
		if err != nil {
			if _, err := os.Stat(copied); !errors.Is(err, fs.ErrNotExist) {
				t.Error("it failed, and left a copy")
			}
			err = db.Backup(context.Background(), copied)
		}
		if others := beside(t, dir, "store.db", "copy.db"); err != nil || len(others) > 0 {
			t.Errorf("left behind: %v; the next backup: %v", others, err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		l.check(t, copied)
		l.check(t, path)
	})
}

// On a disk that fails, a look is answered with an error, or with all there is.
func TestLookingOnADiskThatFails(t *testing.T) {
	l := newLogged(t)
	everyCall(t, func(t *testing.T, dir string, arm, heal func()) {
		w, err := openWorld(l.write(t, dir), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer w.db.Close()
		arm()
		shown, err := w.shown(l.names)
		heal()
		if err == nil && !strings.HasPrefix(l.state, shown) {
			t.Errorf("shown was %s", differ(shown, l.state))
		}
		if shown, err := w.shown(l.names); err != nil || !strings.HasPrefix(l.state, shown) {
			t.Errorf("shown then is %s, %v", differ(shown, l.state), err)
		}
	})
}

// However many looks fail, those after them do not.
func TestManyLooksFail(t *testing.T) {
	path, n := newFile(t)
	w, err := openWorld(path, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- manyLooksFail(w, n) }()
	select {
	case err := <-ended:
		if err := errors.Join(err, w.db.Close()); err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("a look waits for ever")
	}
}

func manyLooksFail(w *world, n names) error {
	dir := filepath.Dir(w.path)
	theDisk.fail(dir, func(c call) verdict { return broken[c.op] })
	defer theDisk.fail(dir, nil)
	for i := range 300 {
		if shown, err := w.shown(n); err == nil {
			return fmt.Errorf("look %d on a disk on which nothing goes: %s", i, shown)
		}
	}
	theDisk.fail(dir, nil)
	_, err := w.shown(n)
	return err
}
