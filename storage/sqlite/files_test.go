package sqlite

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/vitrine-go/vitrine/storage"
)

// namesIn returns the names of the files in a directory, hidden ones included.
func namesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

func fillWith(db *DB, n int) error {
	return db.Update(ctx, "a", storage.UpdateOptions{Large: true}, func(tx storage.Tx) error {
		for i := range n {
			if err := tx.Put(ctx,
				storage.Entry{Key: fmt.Sprintf("a %09d", i), Value: bytes.Repeat([]byte("word "), i%300)}); err != nil {
				return err
			}
		}
		return nil
	})
}

// sealed returns the content of a store's file with some entries.
func sealed(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "whole.db")
	if err := Build(path, func(db *DB) error { return fillWith(db, 500) }); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func TestFilesThatAreNoStoreAreRefusedAndStayAsTheyAre(t *testing.T) {
	whole := sealed(t)
	header := func(at int, to byte) []byte {
		changed := slices.Clone(whole)
		changed[at] = to
		return changed
	}
	foreign := filepath.Join(t.TempDir(), "foreign.db")
	c, err := dial(foreign, "mode=rwc")
	if err == nil {
		err = errors.Join(c.script("CREATE TABLE guests (name)"), c.close())
	}
	if err != nil {
		t.Fatal(err)
	}
	guests, err := os.ReadFile(foreign)
	if err != nil {
		t.Fatal(err)
	}
	torn := slices.Clone(whole)
	clear(torn[len(torn)/2 : len(torn)/2+8192])
	for _, row := range []struct {
		name    string
		content []byte
		want    string
	}{
		{"a file of another program", guests, `it holds the tables "guests"`},
		{"a text", bytes.Repeat([]byte("text "), 3000), "not a Vitrine store"},
		{"an empty file", nil, "is damaged: it is empty"},
		{"a newer format", header(63, format+1), "is of a newer version"},
		{"no format", header(63, 0), "is damaged"},
		{"a store of v0.1.0", header(63, 12), "and make a store of it with v0.2.0 (vitrine import "},
		{"a file whose end was cut off", whole[:len(whole)-8192], "damaged"},
		{"a part of a page", whole[:len(whole)-100], "its end was cut off"},
		{"a page that was lost", torn, "is damaged"},
	} {
		t.Run(row.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "vitrine.db")
			if err := os.WriteFile(path, row.content, 0o600); err != nil {
				t.Fatal(err)
			}
			db, err := Open(path, nil)
			if err == nil {
				db.Close()
				t.Fatal("it is opened")
			}
			if !strings.Contains(err.Error(), row.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("the error lacks %q or the path: %v", row.want, err)
			}
			if damaged := strings.Contains(err.Error(), "damaged"); IsDamaged(err) != damaged {
				t.Errorf("damaged %t: %v", !damaged, err)
			}
			if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, row.content) {
				t.Errorf("the file has changed, %v", err)
			}
			if names := namesIn(t, filepath.Dir(path)); len(names) != 1 {
				t.Errorf("there are %q", names)
			}
		})
	}
	t.Run("a directory", func(t *testing.T) {
		if _, err := Open(t.TempDir(), nil); err == nil || !strings.Contains(err.Error(), "is not a file") {
			t.Error(err)
		}
	})
	t.Run("no path", func(t *testing.T) {
		t.Chdir(t.TempDir())
		for path, want := range map[string]string{"": "the path is empty", ":memory:": "storage/memory",
			"file::memory:": "want the path", "file:a.db?mode=rwc": "want the path"} {
			_, err := Open(path, nil)
			_, restored := Restore(ctx, path, "copy.db", nil)
			for of, err := range map[string]error{"Open": err, "Restore": restored,
				"Build": Build(path, func(*DB) error { return nil })} {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s of %q: %v, want %q", of, path, err, want)
				}
			}
		}
		if names := namesIn(t, "."); len(names) > 0 {
			t.Errorf("there are %q", names)
		}
	})
	t.Run("a read-only file", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "vitrine.db")
		if err := os.WriteFile(path, whole, 0o400); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path, nil); err == nil || !strings.Contains(err.Error(), "is read-only") {
			t.Error(err)
		}
	})
	t.Run("a log without its store", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "vitrine.db")
		if err := os.WriteFile(path+"-wal", []byte("log"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path, nil); err == nil ||
			!strings.Contains(err.Error(), "is the log of a store that is gone") {
			t.Error(err)
		}
	})
}

func TestABuildThatFailsLeavesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vitrine.db")
	errFailed := errors.New("failed")
	if err := Build(path, func(db *DB) error {
		return errors.Join(fillWith(db, 10), errFailed)
	}); !errors.Is(err, errFailed) {
		t.Error(err)
	}
	if names := namesIn(t, filepath.Dir(path)); len(names) != 0 {
		t.Errorf("there are %q", names)
	}
	late := func(db *DB) error {
		return errors.Join(fillWith(db, 10), os.WriteFile(path, []byte("another's"), 0o600))
	}
	if err := Build(path, late); !errors.Is(err, fs.ErrExist) {
		t.Errorf("building where a file comes up meanwhile: %v", err)
	}
	if content, err := os.ReadFile(path); string(content) != "another's" {
		t.Errorf("the file has %.9q, %v", content, err)
	}
	os.Remove(path)
	if err := Build(path, func(db *DB) error { return fillWith(db, 10) }); err != nil {
		t.Fatal(err)
	}
	before, _ := os.ReadFile(path)
	if err := Build(path, func(db *DB) error { return fillWith(db, 20) }); !errors.Is(err, fs.ErrExist) {
		t.Errorf("building over a store: %v", err)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, before) ||
		len(namesIn(t, filepath.Dir(path))) != 1 {
		t.Errorf("the store has changed, %v", err)
	}
}

// killedEnv is the path at which the test's own program, started again, begins a build that is killed.
const killedEnv = "VITRINE_TEST_KILLED_BUILD"

func TestAKilledBuildLeavesNothingThatIsTakenForAStore(t *testing.T) {
	if path := os.Getenv(killedEnv); path != "" {
		err := Build(path, func(db *DB) error {
			if err := fillWith(db, 1000); err != nil {
				return err
			}
			self, err := os.FindProcess(os.Getpid())
			if err != nil {
				return err
			}
			if err := self.Kill(); err != nil {
				return err
			}
			select {}
		})
		t.Fatal("not killed", err)
	}
	if runtime.GOOS == "windows" {
		t.Skip("the files of killed builds stay there")
	}
	path := filepath.Join(t.TempDir(), "vitrine.db")
	killed := exec.Command(os.Args[0], "-test.run", t.Name())
	killed.Env = append(os.Environ(), killedEnv+"="+path)
	if out, err := killed.CombinedOutput(); err == nil || strings.Contains(string(out), "not killed") {
		t.Fatalf("%v\n%s", err, out)
	}
	left := namesIn(t, filepath.Dir(path))
	if len(left) == 0 || slices.Contains(left, "vitrine.db") {
		t.Errorf("there are %q", left)
	}
	db := openAt(t, path, nil)
	err := db.View(ctx, func(r storage.Reader) error {
		for e := range r.Scan(ctx, storage.Range{}) {
			t.Errorf("the new store has %q", e.Key)
			break
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	for _, name := range namesIn(t, filepath.Dir(path)) {
		if slices.Contains(left, name) {
			t.Errorf("%s is left", name)
		}
	}
}

func TestABackupIsOneMomentOfAStoreThatIsWrittenTo(t *testing.T) {
	db := openTest(t, nil)
	if err := errors.Join(storage.EnsureIdentity(ctx, db), fillWith(db, 3000)); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		for n := byte(1); ; n++ {
			select {
			case <-done:
				return
			default:
			}
			// Each update changes the first and the last entry, and one of many pages.
			err := db.Update(ctx, "a", storage.UpdateOptions{}, func(tx storage.Tx) error {
				return tx.Put(ctx, storage.Entry{Key: "a 0", Value: []byte{n}},
					storage.Entry{Key: "a 9", Value: []byte{n}},
					storage.Entry{Key: "a 9 large", Value: bytes.Repeat([]byte{n}, 100_000)})
			})
			if err != nil {
				t.Error(err)
				return
			}
		}
	})
	defer writer.Wait()
	defer close(done)
	read := func(db *DB) (id storage.Identity, n int) {
		err := db.View(ctx, func(r storage.Reader) (err error) {
			if id, err = storage.ReadIdentity(ctx, r); err != nil {
				return err
			}
			values, err := r.Get(ctx, "a 0", "a 9", "a 9 large")
			if err == nil &&
				(!bytes.Equal(values[0], values[1]) || values[2] != nil &&
					!bytes.Equal(values[2], bytes.Repeat(values[0], 100_000))) {
				err = fmt.Errorf("it has %v, %v and %.9v", values[0], values[1], values[2])
			}
			for _, err := range r.Scan(ctx, storage.Prefix("a 000")) {
				if n++; err != nil {
					return err
				}
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
		return id, n
	}
	id, _ := read(db)
	dir := t.TempDir()
	for i := range 3 {
		path := filepath.Join(dir, fmt.Sprint(i))
		if err := db.Backup(ctx, path); err != nil {
			t.Fatal(err)
		}
		copied, n := read(openAt(t, path, nil))
		if n != 3000 {
			t.Errorf("the copy has %d entries", n)
		}
		if !bytes.Equal(copied.Secret, id.Secret) || len(copied.Name) == 0 || bytes.Equal(copied.Name, id.Name) {
			t.Errorf("the copy has the identity %v, the store %v", copied, id)
		}
		if err := db.Backup(ctx, path); !errors.Is(err, fs.ErrExist) {
			t.Errorf("a backup over a file: %v", err)
		}
	}
	if names := namesIn(t, dir); slices.ContainsFunc(names, func(name string) bool { return name[0] == '.' }) {
		t.Errorf("there are %q", names)
	}
}

// A change of a store whose file was removed or replaced would be lost, and is refused, and nobody reads the other
// file.
func TestAFileThatIsGoneTakesNoChanges(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows keeps files that are open")
	}
	path := filepath.Join(t.TempDir(), "store.db")
	db := openAt(t, path, nil)
	put := func() error {
		return db.Update(ctx, "a", storage.UpdateOptions{}, func(tx storage.Tx) error {
			return tx.Put(ctx, storage.Entry{Key: "a 1", Value: []byte("x")})
		})
	}
	aside := path + ".aside"
	for _, replaced := range []bool{false, true} {
		if err := errors.Join(put(), db.Moved(), os.Rename(path, aside)); err != nil {
			t.Fatal(err)
		}
		if replaced {
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		err := put()
		if !errors.Is(err, storage.ErrBusy) || !strings.Contains(err.Error(), "was removed or replaced") ||
			db.Moved() == nil {
			t.Errorf("replaced %t: %v, %v", replaced, err, db.Moved())
		}
		err = db.View(ctx, func(r storage.Reader) error {
			found, err := r.Get(ctx, "a 1")
			if err == nil && found[0] == nil {
				t.Error("it reads another file")
			}
			return err
		})
		if err != nil && !strings.Contains(err.Error(), "was removed or replaced") {
			t.Error(err)
		}
		if err := os.Rename(aside, path); err != nil {
			t.Fatal(err)
		}
	}
	if err := put(); err != nil {
		t.Error(err)
	}
}
