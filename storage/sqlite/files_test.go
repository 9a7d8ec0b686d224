package sqlite

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// content returns a whole store with a row, as the bytes of its file.
func content(t *testing.T, change ...string) []byte {
	t.Helper()
	db := openTest(t, nil)
	if err := db.update(context.Background(), func(c *conn) error { return mark(c, "a") }); err != nil {
		t.Fatal(err)
	}
	for _, sql := range change {
		if err := db.writer.c.script(sql); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(db.path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestRefusedFilesAreUnchanged(t *testing.T) {
	whole := content(t)
	damaged := bytes.Clone(whole)
	clear(damaged[len(damaged)/2 : len(damaged)/2+4096])
	tests := []struct {
		name string
		file []byte
		want string // in the error
	}{
		{"empty", nil, "is empty"},
		{"one byte", []byte("x"), "not a Vitrine store"},
		{"text", []byte(strings.Repeat("hello\n", 5000)), "not a Vitrine store"},
		{"zeros", make([]byte, 8192), "not a Vitrine store"},
		{"header alone", whole[:100], ""},
		{"a page and a half", whole[:6000], ""},
		{"cut in the middle", whole[:len(whole)/2], ""},
		{"the last page cut off", whole[:len(whole)-4096], ""},
		{"cut by a byte", whole[:len(whole)-1], "cut off"},
		{"cut by a page", whole[:len(whole)-4096], "damaged"},
		{"a page of zeros in the middle", damaged, "damaged"},
		{"another program's", content(t, "PRAGMA application_id=77"), "not a Vitrine store"},
		{"nobody's", content(t, "PRAGMA application_id=0"), "not a Vitrine store"},
		{"newer", content(t, "PRAGMA user_version=9999"), "newer"},
		{"without a schema", content(t, "PRAGMA user_version=0"), "damaged"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.db")
			if err := os.WriteFile(path, test.file, 0o600); err != nil {
				t.Fatal(err)
			}
			db, err := Open(path, nil)
			if err == nil {
				db.Close()
				t.Fatal("it was opened")
			}
			if !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("the error does not name the file and say %q: %v", test.want, err)
			}
			after, err := os.ReadFile(path)
			if err != nil || !bytes.Equal(after, test.file) {
				t.Errorf("the file has changed: %v", err)
			}
			if names := ls(t, filepath.Dir(path)); names != "x.db" {
				t.Errorf("beside it stand now: %s", names)
			}
		})
	}
}

func ls(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

// A newer or foreign store that was killed has its marks, or the rest of them, in the log.
func TestRefusedFilesWithALog(t *testing.T) {
	for name, change := range map[string]string{
		"newer":   "PRAGMA user_version=9999",
		"foreign": "PRAGMA application_id=77",
	} {
		t.Run(name, func(t *testing.T) {
			db := openTest(t, nil)
			if err := db.writer.c.script(change); err != nil {
				t.Fatal(err)
			}
			copied := filepath.Join(t.TempDir(), "x.db") // as a kill now would leave it
			before := map[string][]byte{}
			for _, suffix := range []string{"", "-wal", "-shm"} {
				b, err := os.ReadFile(db.path + suffix)
				if err == nil {
					err = os.WriteFile(copied+suffix, b, 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
				before[suffix] = b
			}
			if other, err := Open(copied, nil); err == nil {
				other.Close()
				t.Fatal("it was opened")
			}
			for _, suffix := range []string{"", "-wal"} {
				if b, err := os.ReadFile(copied + suffix); err != nil || !bytes.Equal(b, before[suffix]) {
					t.Errorf("x.db%s has changed: %v", suffix, err)
				}
			}
		})
	}
}

func TestPathsThatAreNotFiles(t *testing.T) {
	dir := t.TempDir()
	readOnly := filepath.Join(dir, "readonly.db")
	if err := os.WriteFile(readOnly, content(t), 0o400); err != nil {
		t.Fatal(err)
	}
	lost := filepath.Join(dir, "lost.db")
	if err := os.WriteFile(lost+"-wal", []byte("log"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		dir:                                 "not a file",
		readOnly:                            "read-only",
		lost:                                "lost.db-wal",
		filepath.Join(dir, "no", "such.db"): "no such file",
	} {
		db, err := Open(path, nil)
		if err == nil {
			db.Close()
			t.Errorf("%s was opened", path)
		} else if !strings.Contains(err.Error(), want) {
			t.Errorf("%s: want %q in the error: %v", path, want, err)
		}
	}
	if names := ls(t, dir); names != "lost.db-wal readonly.db" {
		t.Errorf("in the directory stand now: %s", names)
	}
}

func TestOddPaths(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "target.db")
	openAt(t, target, nil).Close()
	link := filepath.Join(dir, "link.db")
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a b?c=d&e#f%20.db", "ä日.db", "file:x.db", "link.db"} {
		db := openAt(t, filepath.Join(dir, name), nil)
		if err := db.update(context.Background(), func(c *conn) error { return mark(c, name) }); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	if db := openAt(t, target, nil); marks(t, db) != 1 {
		t.Error("the link led to another store")
	}
}

func TestPrivateFile(t *testing.T) {
	db := openAt(t, filepath.Join(t.TempDir(), "x.db"), nil)
	if info, err := os.Stat(db.path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file's mode is %v: %v", info.Mode(), err)
	}
}

func TestParallelCreationOfOneFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			db, err := Open(path, nil)
			if err != nil {
				t.Error(err)
				return
			}
			if err := db.update(context.Background(), func(c *conn) error { return mark(c, string(rune('a'+i))) }); err != nil {
				t.Error(err)
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if db := openAt(t, path, nil); marks(t, db) != 8 {
		t.Errorf("%d of 8 rows are there", marks(t, db))
	}
	if names := ls(t, filepath.Dir(path)); strings.Contains(names, ".new-") {
		t.Errorf("left behind: %s", names)
	}
}

func TestBackup(t *testing.T) {
	ctx := context.Background()
	db := openTest(t, nil)
	s := db.Apps()
	if _, err := nextVersion(s, "app"); err != nil {
		t.Fatal(err)
	}
	done := make(chan bool)
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			if _, err := nextVersion(s, "app"); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for i := range 3 {
		path := filepath.Join(t.TempDir(), "copy.db")
		least, err := look(s, "app")
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Backup(ctx, path); err != nil {
			t.Fatal(err)
		}
		if names := ls(t, filepath.Dir(path)); names != "copy.db" {
			t.Errorf("beside the copy stand: %s", names)
		}
		copied := openAt(t, path, nil)
		if v, err := look(copied.Apps(), "app"); err != nil || v < least {
			t.Errorf("copy %d has version %d, at least %d was there: %v", i, v, least, err)
		}
		if err := db.Backup(ctx, path); !errors.Is(err, fs.ErrExist) {
			t.Errorf("over a file that is there: %v", err)
		}
	}
	close(done)
	wg.Wait()
	path := filepath.Join(t.TempDir(), "copy.db")
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if err := db.Backup(ended, path); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}
	if err := db.Backup(ctx, filepath.Join(path, "no", "such")); err == nil {
		t.Error("into a directory that is not there")
	}
	if names := ls(t, filepath.Dir(path)); names != "" {
		t.Errorf("left behind: %s", names)
	}
}

func TestAtLeast(t *testing.T) {
	for version, want := range map[string]bool{
		"3.51.3": true, "3.51.10": true, "3.52": true, "4": true, "3.53.4": true,
		"3.51.2": false, "3.51": false, "3.7.17": false, "2.99.99": false, "": false,
	} {
		if got := atLeast(version, 3, 51, 3); got != want {
			t.Errorf("%s: %v", version, got)
		}
	}
}

// A program that has a file of its own is told to open the store beside it, and can read both in one query.
func TestAFileWithTablesOfTheProgram(t *testing.T) {
	own := filepath.Join(t.TempDir(), "own.db")
	c, err := dial(own, "mode=rwc")
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	if err := c.script("CREATE TABLE app (mine TEXT); CREATE TABLE customer (name TEXT); CREATE TABLE invoice (n); CREATE TABLE zone (n); INSERT INTO app VALUES ('kept')"); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(own)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Open(own, nil)
	if err == nil {
		t.Fatal("the program's file was opened as a store")
	}
	for _, want := range []string{own, `"app", "customer", "invoice", others`, "a file of its own", "open a path where there is no file yet", "ATTACH"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not say %q: %v", want, err)
		}
	}
	if after, err := os.ReadFile(own); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the program's file has changed: %v", err)
	}

	path := filepath.Join(filepath.Dir(own), "vitrine.db")
	db, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.update(context.Background(), func(c *conn) error { return mark(c, "a") }); err != nil {
		t.Fatal(err)
	}
	if err := c.script("ATTACH 'file:" + path + "?mode=ro' AS vitrine"); err != nil {
		t.Fatal(err)
	}
	if n, err := c.value("SELECT count(*) FROM main.app, vitrine.component"); err != nil || n < 1 {
		t.Errorf("a query over both files finds %d rows, %v", n, err)
	}
	if err := c.script("DELETE FROM vitrine.component"); err == nil {
		t.Error("the attached store can be written to")
	}
}
