package faults

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// image is a directory as a kill would leave it: its files by their names.
type image map[string][]byte

// images are those of the directory before each call that changes something, while fn runs, and of
// what is there afterwards. Those that equal the one before are left out.
func images(t *testing.T, dir string, fn func()) []image {
	t.Helper()
	var list []image
	take := func() {
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

// A process killed at any call of a change leaves all of the change or nothing of it.
func TestKilledAtEachCall(t *testing.T) {
	_, n := filled()
	all := 0
	for _, r := range chosen(n) {
		c := newCourse(t, r)
		path, _ := newFile(t)
		w, err := openWorld(path, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		list := images(t, filepath.Dir(path), func() {
			if a := w.do(r); a.status != r.status {
				t.Errorf("%s: %d %s", r.name, a.status, a.body)
			}
		})
		for at, i := range list {
			if testing.Short() && at%11 != 0 && at < len(list)-1 {
				continue
			}
			all++
			copied := i.write(t)
			killed, err := openWorld(copied, nil, nil)
			if err != nil {
				t.Fatalf("%s, killed at call %d: %v", r.name, at, err)
			}
			state, err := killed.state(n)
			if last := at == len(list)-1; err != nil || state != c.after && (last || state != c.before) {
				t.Fatalf("%s, killed at call %d of %d: %s, %v", r.name, at, len(list), differ(state, c.after), err)
			}
			if err := errors.Join(killed.db.Close(), check(copied)); err != nil {
				t.Fatalf("%s, killed at call %d: %v", r.name, at, err)
			}
		}
		if err := w.db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d moments to be killed at", all)
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
		path := i.write(t)
		if testing.Short() && at%6 != 0 && at < len(list)-1 {
			continue
		}
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

// migration is a step of the schema, as the driver has it.
type migration struct{ name, sql string }

func migrations(t *testing.T) (list []migration) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(module, "storage/sqlite/migrations/*.sql"))
	if err != nil || len(files) < 3 {
		t.Fatalf("migrations: %v, %v", files, err)
	}
	slices.Sort(files)
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, migration{filepath.Base(f), string(text)})
	}
	return list
}

// schema is what tables and indexes a file has.
func schema(db *sql.DB) (string, error) {
	var out bytes.Buffer
	err := everyRow(db, &out, "SELECT type, name, coalesce(sql, '') FROM sqlite_schema ORDER BY type, name")
	return out.String(), err
}

// oldStore is a store with the schema of the first few migrations, and what a filled store of today
// has in the tables of these.
func oldStore(t *testing.T, path string, steps []migration) {
	t.Helper()
	today, _ := newFile(t)
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	do := func(query string) {
		t.Helper()
		if _, err := db.Exec(query); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
	do("PRAGMA application_id=0x56697472")
	for _, m := range steps {
		do(m.sql)
	}
	do(fmt.Sprintf("PRAGMA user_version=%d", len(steps)))
	do("ATTACH '" + today + "' AS today")
	tables, err := db.Query("SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' AND name NOT LIKE 'sqlite_%'")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for tables.Next() {
		var name string
		if err := tables.Scan(&name); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	for _, name := range names {
		do("INSERT OR REPLACE INTO main." + name + " SELECT * FROM today." + name)
	}
	do("DETACH today")
	do("PRAGMA journal_mode=WAL")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// version holds the schema of a file against that of each migration.
func version(t *testing.T, path string, schemas []string) (int, error) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?mode=rw")
	if err != nil {
		return 0, err
	}
	defer db.Close()
	var v int
	if err := db.QueryRow("PRAGMA user_version").Scan(&v); err != nil {
		return 0, err
	}
	have, err := schema(db)
	if err != nil || v < 1 || v > len(schemas) {
		return v, fmt.Errorf("schema %d: %w", v, err)
	}
	if have != schemas[v-1] {
		return v, fmt.Errorf("the schema says that it is %d, and is\n%s\nwant\n%s", v, have, schemas[v-1])
	}
	return v, nil
}

// Each store with an older schema, killed at any call while it is brought to the newest, has one
// schema as a whole and all that was in it; the next attempt brings it to the newest.
func TestKilledWhileMigrating(t *testing.T) {
	steps := migrations(t)
	var schemas []string
	for v := range steps {
		path := filepath.Join(t.TempDir(), "store.db")
		oldStore(t, path, steps[:v+1])
		db, err := sql.Open("sqlite", "file:"+path)
		if err != nil {
			t.Fatal(err)
		}
		s, err := schema(db)
		if err := errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
		schemas = append(schemas, s)
	}
	for v := 1; v < len(steps); v++ {
		t.Run("from "+steps[v-1].name, func(t *testing.T) { killedWhileMigrating(t, steps[:v], schemas) })
	}
}

func killedWhileMigrating(t *testing.T, steps []migration, schemas []string) {
	path := filepath.Join(t.TempDir(), "store.db")
	oldStore(t, path, steps)
	_, n := filled()
	var whole string
	list := images(t, filepath.Dir(path), func() {
		w, err := openWorld(path, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if whole, err = w.state(n); err != nil {
			t.Fatal(err)
		}
		if err := w.db.Close(); err != nil {
			t.Fatal(err)
		}
	})
	if !strings.Contains(whole, `"id-1"`) || !strings.Contains(whole, "title 3") {
		t.Fatalf("what was in the old store is not in the new one:\n%s", whole)
	}
	seen := map[int]int{}
	for at, i := range list {
		if testing.Short() && at%7 != 0 {
			continue
		}
		v, err := version(t, i.write(t), schemas)
		if err != nil {
			t.Fatalf("killed at call %d: %v", at, err)
		}
		seen[v]++
		copied := i.write(t)
		w, err := openWorld(copied, nil, nil)
		if err != nil {
			t.Fatalf("killed at call %d: %v", at, err)
		}
		if state, err := w.state(n); err != nil || state != whole {
			t.Fatalf("killed at call %d: %s, %v", at, differ(state, whole), err)
		}
		if err := errors.Join(w.db.Close(), check(copied)); err != nil {
			t.Fatalf("killed at call %d: %v", at, err)
		}
	}
	t.Logf("killed at %d moments; with which schema how often: %v", len(list), seen)
	if !testing.Short() && len(seen) != len(schemas)-len(steps)+1 {
		t.Errorf("only these schemas were met: %v", seen)
	}
}
