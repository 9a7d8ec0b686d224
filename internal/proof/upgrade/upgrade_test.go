//go:build proof

package upgrade_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/internal/cluster"
	"github.com/vitrine-go/vitrine/internal/proof/intact"
	"github.com/vitrine-go/vitrine/internal/proof/upgrade"
	"github.com/vitrine-go/vitrine/storage/archive"
	"github.com/vitrine-go/vitrine/storage/memory"
	"github.com/vitrine-go/vitrine/storage/postgres"
	"github.com/vitrine-go/vitrine/storage/sqlite"

	_ "modernc.org/sqlite"
)

// stores are the ways in which the first release's data gets into today's stores, by name.
var stores = map[string]func(t *testing.T) archive.Stores{
	"a SQLite file": func(t *testing.T) archive.Stores { return ofSQLite(openFile(t, firstFile(t))) },
	"a PostgreSQL database": func(t *testing.T) archive.Stores {
		return ofPostgreSQL(openDatabase(t, firstDatabase(t)))
	},
	"an archive in memory": func(t *testing.T) archive.Stores {
		return imported(t, archive.Stores{Apps: memory.New().Apps(), Assets: memory.New().Assets(), Reviews: memory.New().Reviews()})
	},
	"an archive in a SQLite file": func(t *testing.T) archive.Stores {
		return imported(t, ofSQLite(openFile(t, filepath.Join(t.TempDir(), "new.db"))))
	},
	"an archive in a PostgreSQL database": func(t *testing.T) archive.Stores {
		return imported(t, ofPostgreSQL(openDatabase(t, cluster.Database(t))))
	},
}

func firstFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "first.db")
	if err := os.WriteFile(path, upgrade.SQLite(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func openFile(t *testing.T, path string) *sqlite.DB {
	t.Helper()
	db, err := sqlite.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(db.Close(), wholeFile(path)); err != nil {
			t.Error(err)
		}
	})
	return db
}

// wholeFile checks the integrity of a store's file with SQL alone.
func wholeFile(path string) (err error) {
	db, err := sql.Open("sqlite", "file:"+path+"?mode=rw")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return intact.Check(context.Background(), db)
}

// firstDatabase returns the address of a database with a store of the first release.
func firstDatabase(t *testing.T) string {
	t.Helper()
	address := cluster.Database(t)
	psql := cluster.Shared(t).Command("psql", "--quiet", "--no-psqlrc", "--set=ON_ERROR_STOP=1", "--output=/dev/null", "--dbname="+address)
	psql.Stdin = strings.NewReader(upgrade.PostgreSQL())
	if out, err := psql.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return address
}

func openDatabase(t *testing.T, address string) *postgres.DB {
	t.Helper()
	db, err := postgres.Open(context.Background(), address, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func imported(t *testing.T, s archive.Stores) archive.Stores {
	t.Helper()
	if _, err := archive.Import(context.Background(), s, bytes.NewReader(upgrade.Archive()), nil); err != nil {
		t.Fatal(err)
	}
	return s
}

func ofSQLite(db *sqlite.DB) archive.Stores {
	return archive.Stores{Apps: db.Apps(), Assets: db.Assets(), Reviews: db.Reviews()}
}

func ofPostgreSQL(db *postgres.DB) archive.Stores {
	return archive.Stores{Apps: db.Apps(), Assets: db.Assets(), Reviews: db.Reviews()}
}

func TestTheFirstReleasesStoresAnswerAsTheyDid(t *testing.T) {
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			if err := upgrade.Check(context.Background(), open(t)); err != nil {
				t.Error(err)
			}
		})
	}
}

// However the first release's data comes into a store of today, it is the same, to the last byte of an
// export.
func TestTheFirstReleasesStoresAreTheSameAfterwards(t *testing.T) {
	exports := map[string]string{}
	for name, open := range stores {
		ok := t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if _, err := archive.Export(context.Background(), open(t), &out); err != nil {
				t.Fatal(err)
			}
			exports[name] = out.String()
		})
		if !ok {
			return
		}
	}
	want := strings.Split(exports["an archive in memory"], "\n")
	for name, text := range exports {
		for i, line := range strings.Split(text, "\n") {
			if i >= len(want) || line != want[i] {
				t.Errorf("%s: line %d of the export is\n%s\nand of another\n%s", name, i+1, line, want[min(i, len(want)-1)])
				break
			}
		}
	}
}

// A process that loses its server at any message of the migration leaves the old schema, or the new
// one, and all that is in it; the next one goes on.
func TestPostgreSQLIsLostWhileMigrating(t *testing.T) {
	ctx := context.Background()
	files, err := filepath.Glob("../../../storage/postgres/migrations/*.sql")
	if err != nil || len(files) < upgrade.Schema {
		t.Fatalf("migrations: %v, %v", files, err)
	}
	for _, file := range files[upgrade.Schema:] {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		first := string(text[:min(len(text), 60)])
		for name, message := range map[string]string{"before it": first, "behind it": "INSERT INTO vitrine_schema", "before the commit": "commit"} {
			t.Run(filepath.Base(file)+" "+name, func(t *testing.T) {
				address := firstDatabase(t)
				cutter := cluster.Shared(t).Cutter(t)
				cutter.CutAtText(message)
				if db, err := postgres.Open(ctx, cutter.Behind(address), nil); err == nil {
					t.Error("the migration was not lost", db.Close())
				}
				if err := upgrade.Check(ctx, ofPostgreSQL(openDatabase(t, address))); err != nil {
					t.Error(err)
				}
			})
		}
	}
}
