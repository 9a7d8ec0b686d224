package sqlite

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/storage"
)

func unchecked(*DB) error { return nil }

// note puts one entry, so that a test can tell stores apart.
func note(db *DB, text string) error {
	return db.Update(ctx, "a", storage.UpdateOptions{}, func(tx storage.Tx) error {
		return tx.Put(ctx, storage.Entry{Key: "a " + text, Value: []byte(text)})
	})
}

// notes returns the texts of a store.
func notes(db *DB) (texts []string, err error) {
	err = db.View(ctx, func(r storage.Reader) error {
		for e, err := range r.Scan(ctx, storage.Prefix("a ")) {
			if err != nil {
				return err
			}
			texts = append(texts, string(e.Value))
		}
		return nil
	})
	return texts, err
}

// notesAt opens the store at path and returns its texts.
func notesAt(t *testing.T, path string) (texts []string) {
	t.Helper()
	err := within(path, func(db *DB) (err error) {
		texts, err = notes(db)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

// leaveLog writes a note into the store at path, and leaves the files as a process does that is killed then: the note
// is in the log alone.
func leaveLog(t *testing.T, path, text string) {
	t.Helper()
	files := map[string][]byte{}
	err := within(path, func(db *DB) error {
		err := note(db, text)
		for _, suffix := range []string{"", "-wal", "-shm"} {
			content, readErr := os.ReadFile(path + suffix)
			files[path+suffix], err = content, errors.Join(err, readErr)
		}
		return err
	})
	for name, content := range files {
		err = errors.Join(err, os.WriteFile(name, content, 0o600))
	}
	if err != nil || bytes.Contains(files[path], []byte(text)) || !bytes.Contains(files[path+"-wal"], []byte(text)) {
		t.Fatalf("the note is not in the log alone: %v", err)
	}
}

// backupOf makes a store with a note, and returns the path of a backup of it.
func backupOf(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	err := within(filepath.Join(dir, "v.db"), func(db *DB) error {
		err := errors.Join(storage.EnsureIdentity(ctx, db), note(db, text))
		return errors.Join(err, db.Backup(ctx, filepath.Join(dir, "copy.db")))
	})
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "copy.db")
}

// killedRestoreEnv makes the test's own program a process that restores and kills itself at a step: the path of the
// store, that of the copy, and the number of the step.
const killedRestoreEnv = "VITRINE_TEST_KILLED_RESTORE"

// A process that is killed at any step leaves the old store or the new one, with everything that was committed, and a
// restore after that ends well.
func TestARestoreThatIsKilledLeavesOneOfTheStores(t *testing.T) {
	if args := strings.Split(os.Getenv(killedRestoreEnv), "|"); len(args) == 3 {
		left := 0
		fmt.Sscan(args[2], &left)
		kill := func(string) {
			if left--; left < 0 {
				self, err := os.FindProcess(os.Getpid())
				if err == nil {
					err = self.Kill()
				}
				if err != nil {
					t.Fatal(err)
				}
				select {}
			}
		}
		_, err := restoration{path: args[0], copied: args[1], now: time.Now(), check: unchecked, reached: kill}.run(ctx)
		fmt.Println("not killed", err)
		return
	}
	copied := backupOf(t, "copied")
	for _, damaged := range []bool{false, true} {
		for step := 0; ; step++ {
			path := filepath.Join(t.TempDir(), "vitrine.db")
			if err := within(path, func(db *DB) error { return note(db, "old") }); err != nil {
				t.Fatal(err)
			}
			leaveLog(t, path, "logged")
			if damaged {
				content, err := os.ReadFile(path)
				if err == nil {
					err = os.WriteFile(path, append([]byte("no longer a store"), content[17:]...), 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			killed := exec.Command(os.Args[0], "-test.run", t.Name())
			killed.Env = append(os.Environ(), fmt.Sprintf("%s=%s|%s|%d", killedRestoreEnv, path, copied, step))
			out, err := killed.CombinedOutput()
			done := strings.Contains(string(out), "not killed <nil>")
			if !done && (err == nil || strings.Contains(string(out), "not killed")) {
				t.Fatalf("%v\n%s", err, out)
			}
			switch {
			case !damaged:
				have := notesAt(t, path)
				if !slices.Equal(have, []string{"logged", "old"}) && !slices.Equal(have, []string{"copied"}) {
					t.Errorf("killed at step %d: the store has %q", step, have)
				}
			case !done:
				db, err := Open(path, nil)
				if err == nil {
					have, err := notes(db)
					if err = errors.Join(err, db.Close()); err != nil || !slices.Equal(have, []string{"copied"}) {
						t.Errorf("killed at step %d: what was damaged has %q, %v", step, have, err)
					}
				}
			}
			aside, err := Restore(ctx, path, copied, unchecked)
			if have := notesAt(t, path); err != nil || !slices.Equal(have, []string{"copied"}) {
				t.Errorf("restored after step %d: %q, %v", step, have, err)
			}
			all, _ := filepath.Glob(path + ".before-*Z")
			hasAll := func(one string) bool { return slices.Equal(notesAt(t, one), []string{"logged", "old"}) }
			if !damaged && !slices.ContainsFunc(append(all, aside), hasAll) {
				t.Errorf("after step %d no store that was put aside has what was committed: %q", step, all)
			}
			for _, name := range namesIn(t, filepath.Dir(path)) {
				if name[0] == '.' {
					t.Errorf("after step %d %s is left", step, name)
				}
			}
			if done {
				if step < 6 {
					t.Errorf("only %d steps", step)
				}
				break
			}
		}
	}
}

// Each restore loses nothing: what was committed before is in the store that it puts aside, also what is in its log
// alone.
func TestRestoresPutEverythingAside(t *testing.T) {
	path, one, two := filepath.Join(t.TempDir(), "vitrine.db"), backupOf(t, "one"), backupOf(t, "two")
	before, err := os.ReadFile(one)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	want := map[string][]string{}
	restore := func(copied string) string {
		t.Helper()
		r := restoration{path: path, copied: copied, now: now, check: unchecked, reached: func(string) {}}
		aside, err := r.run(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return aside
	}
	if aside := restore(one); aside != "" {
		t.Errorf("where no store was, %q is put aside", aside)
	}
	leaveLog(t, path, "first")
	want[restore(two)] = []string{"first", "one"}
	leaveLog(t, path, "second")
	first := restore(one)
	want[first] = []string{"second", "two"}
	leaveLog(t, path, "third")
	want[restore(first)] = []string{"one", "third"} // goes back
	want[path] = []string{"second", "two"}
	if len(want) != 4 {
		t.Errorf("the names are %q", want)
	}
	ids := map[string]bool{}
	for name, want := range want {
		err := within(name, func(db *DB) error {
			have, err := notes(db)
			if !slices.Equal(have, want) {
				t.Errorf("%s has %q, want %q", name, have, want)
			}
			return errors.Join(err, db.View(ctx, func(r storage.Reader) error {
				id, err := storage.ReadIdentity(ctx, r)
				ids[string(id.Name)] = true
				return err
			}))
		})
		if err != nil {
			t.Error(err)
		}
	}
	if len(ids) != len(want) {
		t.Errorf("%d stores have %d identities", len(want), len(ids))
	}
	after, err := os.ReadFile(one)
	if err != nil || !bytes.Equal(before, after) || len(namesIn(t, filepath.Dir(one))) != 2 {
		t.Errorf("the copy has changed, or has files beside it: %v", err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

// openEnv makes the test's own program a process that has a store open, and does nothing.
const openEnv = "VITRINE_TEST_OPEN"

// A store that is open anywhere is not replaced, even if nobody uses it.
func TestARestoreRefusesAStoreThatIsOpen(t *testing.T) {
	if path := os.Getenv(openEnv); path != "" {
		if err := within(path, func(*DB) error { fmt.Println("open"); time.Sleep(time.Hour); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	path, copied := filepath.Join(t.TempDir(), "vitrine.db"), backupOf(t, "copied")
	refused := func(how string) {
		t.Helper()
		_, err := Restore(ctx, path, copied, unchecked)
		if err == nil || !strings.Contains(err.Error(), path+" is open: stop the server") {
			t.Errorf("%s: %v", how, err)
		}
	}
	db := openAt(t, path, nil)
	refused("open and new")
	if err := note(db, "kept"); err != nil {
		t.Fatal(err)
	}
	refused("with a log")
	if done, _, _, err := db.store.writer.c.checkpoint("TRUNCATE"); err != nil || !done {
		t.Fatal(done, err)
	}
	refused("with an empty log")
	if err := note(db, "kept too"); err != nil {
		t.Errorf("the store cannot be used after that: %v", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	other := exec.Command(os.Args[0], "-test.run", t.Name())
	other.Env = append(os.Environ(), openEnv+"="+path)
	stdout, err := other.StdoutPipe()
	if err == nil {
		err = other.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stdout.Read(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	refused("open in another process")
	if err := other.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = other.Wait() // it was killed
	if have := notesAt(t, path); !slices.Equal(have, []string{"kept", "kept too"}) {
		t.Errorf("the store has %q", have)
	}
	if _, err := Restore(ctx, path, copied, unchecked); err != nil {
		t.Errorf("after the end of that process: %v", err)
	}
}

// Who opens a store while it is replaced has the new one.
func TestOpeningDuringARestoreOpensTheNewStore(t *testing.T) {
	path, copied := filepath.Join(t.TempDir(), "vitrine.db"), backupOf(t, "copied")
	if err := within(path, func(db *DB) error { return note(db, "old") }); err != nil {
		t.Fatal(err)
	}
	opened := make(chan []string, 1)
	open := func(step string) {
		if step == "locked" {
			go func() {
				var texts []string
				err := within(path, func(db *DB) (err error) {
					texts, err = notes(db)
					return errors.Join(err, note(db, "later"))
				})
				opened <- append(texts, fmt.Sprint(err))
			}()
			time.Sleep(300 * time.Millisecond) // it waits for the lock
		}
	}
	_, err := restoration{path: path, copied: copied, now: time.Now(), check: unchecked, reached: open}.run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if have := <-opened; !slices.Equal(have, []string{"copied", "<nil>"}) {
		t.Errorf("the store that was opened had %q", have)
	}
	if have := notesAt(t, path); !slices.Equal(have, []string{"copied", "later"}) {
		t.Errorf("the store has %q", have)
	}
}

// What cannot be restored is refused, and the store stays as it is.
func TestARestoreRefusesWhatIsNoWholeCopy(t *testing.T) {
	dir, copied := t.TempDir(), backupOf(t, "copied")
	path := filepath.Join(dir, "vitrine.db")
	if err := within(path, func(db *DB) error { return note(db, "old") }); err != nil {
		t.Fatal(err)
	}
	whole := sealed(t)
	put := func(name string, content []byte) string {
		name = filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	logged := put("logged.db", whole)
	leaveLog(t, logged, "logged")
	newer := slices.Clone(whole)
	newer[63] = format + 1
	large := filepath.Join(t.TempDir(), "large.db") // whose pages Open does not read
	if err := Build(large, func(db *DB) error { return fillWith(db, 40_000) }); err != nil {
		t.Fatal(err)
	}
	torn, err := os.ReadFile(large)
	if err != nil || len(torn) <= checkedWhole {
		t.Fatal(len(torn), err)
	}
	clear(torn[len(torn)/2 : len(torn)/2+8192])
	link := filepath.Join(t.TempDir(), "vitrine.db")
	if err := os.Symlink(path, link); err != nil {
		t.Skip(err)
	}
	for _, row := range []struct{ name, path, copied, want string }{
		{"no file", path, filepath.Join(dir, "none"), "no such file"},
		{"no store", path, put("text", bytes.Repeat([]byte("text "), 3000)), "is not a Vitrine store"},
		{"a newer format", path, put("newer.db", newer), "is of a newer version"},
		{"a page that was lost", path, put("torn.db", torn), "is damaged"},
		{"a copy with a log", path, logged, "has a log"},
		{"the store itself", path, path, "is the store itself"},
		{"the store by another name", path, link, "is the store itself"},
		{"a symbolic link", link, copied, "is a symbolic link"},
		{"a directory", dir, copied, "is not a file"},
	} {
		_, err := Restore(ctx, row.path, row.copied, unchecked)
		if err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: want an error with %q, have %v", row.name, row.want, err)
		}
	}
	errFault := errors.New("a fault")
	if _, err := Restore(ctx, path, copied, func(*DB) error { return errFault }); !errors.Is(err, errFault) {
		t.Errorf("a copy with a fault: %v", err)
	}
	if names := namesIn(t, dir); len(names) != 1 {
		t.Errorf("there are %q", names)
	}
	if have := notesAt(t, path); !slices.Equal(have, []string{"old"}) {
		t.Errorf("the store has %q", have)
	}
}

// A log whose store is gone is put aside, so that nothing applies it to the new store.
func TestARestorePutsAsideALogWithoutItsStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vitrine.db")
	if err := within(path, func(db *DB) error { return note(db, "old") }); err != nil {
		t.Fatal(err)
	}
	leaveLog(t, path, "logged")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if aside, err := Restore(ctx, path, backupOf(t, "copied"), nil); err != nil || aside != "" {
		t.Fatal(aside, err)
	}
	if have := notesAt(t, path); !slices.Equal(have, []string{"copied"}) {
		t.Errorf("the store has %q", have)
	}
	if logs, _ := filepath.Glob(path + ".before-*Z-wal"); len(logs) != 1 {
		t.Errorf("there are %q", namesIn(t, filepath.Dir(path)))
	}
}
