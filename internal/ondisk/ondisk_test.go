// Package ondisk tests what the domains promise about a store in a file, and has the benchmarks that read one. These
// tests are not in the packages of the domains: a program that imports a package has the modules in its go.sum that the
// tests of the package need.
package ondisk

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/storage/sqlite"
)

var ctx = context.Background()

const network = "urn:vitrine:example.test"

var (
	lib       = assets.Library{Network: "example.test", ID: "example.test"}
	moderator = vitrine.Caller{URN: network + ":user=mod", Moderates: []string{network}, Components: true}
)

// open opens a new store in a directory of its own, and closes it when the test ends.
func open(t testing.TB) (db *sqlite.DB, dir string) {
	t.Helper()
	dir = t.TempDir()
	db, err := sqlite.Open(filepath.Join(dir, "vitrine.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db, dir
}

// filesWith returns the names of the files of a directory that have a text.
func filesWith(t *testing.T, dir, text string) (names []string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		content, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(content), text) {
			names = append(names, f.Name())
		}
	}
	return names
}
