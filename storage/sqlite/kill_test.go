package sqlite

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"

	"github.com/vitrine-go/vitrine/internal/proof"
)

// createAndKeep opens the store and waits to be killed.
func createAndKeep(path string) error {
	fmt.Println("begin")
	db, err := Open(path, nil)
	if err != nil {
		return err
	}
	fmt.Println("whole")
	return db.update(context.Background(), func(*conn) error { select {} })
}

func TestKilledWhileWriting(t *testing.T) {
	db := openTest(t, nil)
	path := db.path
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	kills, last := 20, -1
	if proof.Short() {
		kills = 4
	}
	for i := range kills {
		cmd, acknowledged := process(t, "append", path)
		killSoon := sync.OnceFunc(func() {
			time.AfterFunc(time.Duration(rand.IntN(150))*time.Millisecond, func() { cmd.Process.Kill() })
		})
		if i%4 == 0 {
			killSoon() // perhaps before it writes anything
		}
		for acknowledged.Scan() {
			killSoon()
			v, err := strconv.Atoi(acknowledged.Text())
			if err != nil {
				t.Fatal(err)
			}
			last = max(last, v)
		}
		cmd.Wait()
		db, err := Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if last >= 0 {
			v, err := look(db.Apps(), "app")
			if err != nil || int(v) < last || int(v) > last+1 {
				t.Fatalf("version %d was acknowledged, version %d is there: %v", last, v, err)
			}
			last = int(v) // which the next process may not live to acknowledge anything behind
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if last < kills/2 {
		t.Errorf("only %d writes in all: this test shows nothing", last)
	}
}

func TestKilledWhileCreating(t *testing.T) {
	kills := 25
	if proof.Short() {
		kills = 5
	}
	for i := range kills {
		path := filepath.Join(t.TempDir(), "x.db")
		cmd, said := process(t, "create", path)
		said.Scan()
		time.Sleep(time.Duration(i) * time.Millisecond)
		cmd.Process.Kill()
		cmd.Wait()
		if there, err := exists(path); err != nil {
			t.Fatal(err)
		} else if there {
			if err := inspect(path, time.Second); err != nil {
				t.Errorf("after %d ms there is something else than a store: %v", i, err)
			}
		}
		if db := openAt(t, path, nil); marks(t, db) != 0 {
			t.Error("the new store is not empty")
		}
	}
}

// statements splits a script where SQLite sees the end of one.
func statements(t *testing.T, script string) []string {
	t.Helper()
	tls := libc.NewTLS()
	defer tls.Close()
	var out []string
	start := 0
	for i := range script {
		if script[i] != ';' {
			continue
		}
		text, err := libc.CString(script[start : i+1])
		if err != nil {
			t.Fatal(err)
		}
		if lib.Xsqlite3_complete(tls, text) != 0 {
			out = append(out, script[start:i+1])
			start = i + 1
		}
		libc.Xfree(tls, text)
	}
	return out
}

// Each migration, killed after each of its statements, leaves the store as it was before, and it
// opens. A kill is a copy of the files as they are then.
func TestMigrationKilledAtEachStatement(t *testing.T) {
	steps, err := migrations()
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range steps {
		if i == 0 {
			continue // a new store is built under another name, and gets its own when it is whole
		}
		for n, script := 0, statements(t, m.SQL); n <= len(script); n++ {
			dir := t.TempDir()
			path, copied := filepath.Join(dir, "x.db"), filepath.Join(dir, "copy.db")
			c, err := dial(path, "mode=rwc", fmt.Sprintf("application_id=%d", applicationID))
			if err != nil {
				t.Fatal(err)
			}
			for _, done := range steps[:i] {
				if err := c.apply(done); err != nil {
					t.Fatal(err)
				}
			}
			if err := c.wal(); err != nil {
				t.Fatal(err)
			}
			for _, sql := range append([]string{"PRAGMA cache_size=1", "BEGIN IMMEDIATE"}, script[:n]...) {
				if err := c.script(sql); err != nil {
					t.Fatalf("%s: %v", sql, err)
				}
			}
			for _, suffix := range []string{"", "-wal"} {
				if b, err := os.ReadFile(path + suffix); err == nil {
					if err := os.WriteFile(copied+suffix, b, 0o600); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := c.close(); err != nil {
				t.Fatal(err)
			}
			left := steps[i:]
			db, err := Open(copied, &Options{Migrated: func(step string) {
				if len(left) == 0 || left[0].Name != step {
					t.Fatalf("%s after %d statements: told of %s, want the rest of the steps, each once", m.Name, n, step)
				}
				left = left[1:]
			}})
			if err != nil || len(left) > 0 {
				t.Fatalf("%s after %d statements: %v, %d steps are not told", m.Name, n, err, len(left))
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}
