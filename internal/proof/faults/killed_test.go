//go:build proof

package faults

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/reviews/reviewstore"
	"github.com/vitrine-go/vitrine/storage/sqlite"
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

// oldest is the first schema in which a store has apps, assets and reviews.
const oldest = 3

// migration is a step of the schema, as the driver has it.
type migration struct{ name, sql string }

func migrations(t *testing.T) (list []migration) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(module, "storage/sqlite/migrations/*.sql"))
	if err != nil || len(files) < oldest {
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

// oldRows are in an old store before it is migrated. A later step moves the reviews to a new table.
const oldRows = `PRAGMA application_id=0x56697472;
	INSERT INTO app (id, created, updated, version, owner, editor) VALUES ('a', 1, 2, 3, 'o', 'e');
	INSERT INTO review_collection (key, source, id) VALUES (1, 's', 'c');
	WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
		INSERT INTO review (key, collection, id, data) SELECT (1 << 32) + i, 1, i, CAST('{"created":"2020-01-02T03:04:05Z"}' AS BLOB) FROM n`

// oldStore makes a store of the schema v, and returns the tables and indexes that it has.
func oldStore(t *testing.T, path string, steps []migration, v int) string {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	for i, m := range steps[:v] {
		queries := []string{"BEGIN", m.sql, fmt.Sprintf("PRAGMA user_version=%d", i+1), "COMMIT"}
		if i+1 == oldest {
			queries = append(queries, oldRows)
		}
		for _, query := range queries {
			if _, err := db.Exec(query); err != nil {
				t.Fatalf("%s: %s: %v", m.name, query, err)
			}
		}
	}
	s, err := schema(db)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	return s
}

// version returns the number of a file's schema, and an error unless the file has exactly the tables
// and indexes of that schema. schemas begins with the oldest one.
func version(path string, schemas []string) (v int, err error) {
	db, err := sql.Open("sqlite", "file:"+path+"?mode=rw")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := db.QueryRow("PRAGMA user_version").Scan(&v); err != nil {
		return 0, err
	}
	have, err := schema(db)
	if err != nil || v < oldest || v >= oldest+len(schemas) {
		return v, fmt.Errorf("schema %d: %w", v, err)
	}
	if want := schemas[v-oldest]; have != want {
		return v, fmt.Errorf("the schema says that it is %d, and is\n%s\nwant\n%s", v, have, want)
	}
	return v, nil
}

// A store of each older schema is brought to the newest schema and killed at
// any call. It then has one schema as a whole and everything that was in it, and the next attempt brings it to
// the newest.
func TestKilledWhileMigrating(t *testing.T) {
	steps := migrations(t)
	var schemas []string
	for v := oldest; v <= len(steps); v++ {
		schemas = append(schemas, oldStore(t, filepath.Join(t.TempDir(), "store.db"), steps, v))
	}
	for v := oldest; v <= len(steps); v++ {
		if testing.Short() && v > oldest && v < len(steps)-1 {
			continue // the oldest schema goes through all steps
		}
		t.Run(fmt.Sprintf("from schema %d", v), func(t *testing.T) { killedWhileMigrating(t, steps, v, schemas) })
	}
}

func killedWhileMigrating(t *testing.T, steps []migration, from int, schemas []string) {
	path := filepath.Join(t.TempDir(), "store.db")
	oldStore(t, path, steps, from)
	list := images(t, filepath.Dir(path), func() {
		if err := openUpgraded(path, steps[from:]); err != nil {
			t.Fatal(err)
		}
	})
	seen := map[int]int{}
	for call, i := range list {
		if testing.Short() && call%17 != 0 {
			continue
		}
		v, err := version(i.write(t), schemas)
		if err != nil {
			t.Fatalf("killed at call %d: %v", call, err)
		}
		seen[v]++
		if err := openUpgraded(i.write(t), steps[v:]); err != nil {
			t.Fatalf("killed at call %d: %v", call, err)
		}
	}
	t.Logf("killed at %d moments; with which schema how often: %v", len(list), seen)
	if !testing.Short() && len(seen) != len(steps)-from+1 {
		t.Errorf("only these schemas were met: %v", seen)
	}
}

// openUpgraded opens an old store, and returns an error unless all of its rows are there and the driver tells of the steps
// that were left, each once.
func openUpgraded(path string, left []migration) (err error) {
	var want, told []string
	for _, m := range left {
		want = append(want, m.name)
	}
	db, err := sqlite.Open(path, &sqlite.Options{Migrated: func(step string) { told = append(told, step) }})
	if err != nil {
		return err
	}
	if !slices.Equal(told, want) {
		err = fmt.Errorf("the driver tells of the steps %q, want %q", told, want)
	}
	number := 0
	err = errors.Join(err, db.Apps().View(context.Background(), func(r appsvc.Reader) error {
		_, err := r.Head(context.Background(), "a")
		return err
	}), db.Reviews().View(context.Background(), reviews.DefaultNetwork, func(r reviews.Reader) error {
		for _, err := range r.ReviewsByTime(context.Background(), reviewstore.ReviewQuery{Collection: reviews.Key{Source: "s", ID: "c"}}) {
			if err != nil {
				return err
			}
			number++
		}
		return nil
	}))
	if number != 2000 {
		err = errors.Join(err, fmt.Errorf("%d reviews, want 2000", number))
	}
	return errors.Join(err, db.Close(), check(path))
}
