package sqlite

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The file was written by the build of commit a5a6f64; examples/vitrine/testdata/README.md says what is in it.
func TestAFileOfTheReleaseBeforeIsRefusedWithTheCommands(t *testing.T) {
	zipped, err := os.ReadFile("testdata/a5a6f64.db.gz")
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(zipped))
	if err != nil {
		t.Fatal(err)
	}
	before, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "vitrine.db")
	if err := os.WriteFile(path, before, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := Open(path, nil)
	if err == nil {
		db.Close()
		t.Fatal("the file is opened")
	}
	for _, want := range []string{path, "vitrine export -db ", "vitrine import -db "} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error lacks %q: %v", want, err)
		}
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, before) {
		t.Errorf("the file has changed, %v", err)
	}
}
