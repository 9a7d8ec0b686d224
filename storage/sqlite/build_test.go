package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
)

func TestBuildLeavesACompleteStoreOrNothing(t *testing.T) {
	t.Chdir(t.TempDir())
	app := appsvc.Head{Meta: appsvc.Meta{ID: "a", Version: vitrine.NewVersion(0)}}
	fill := func(end error) func(db *DB) error {
		return func(db *DB) error {
			err := db.Apps().Update(t.Context(), func(tx appsvc.Tx) error { return tx.AddVersion(t.Context(), app, []byte("{}")) })
			return errors.Join(err, end)
		}
	}
	nothing := func(when string) {
		t.Helper()
		if files, err := os.ReadDir("."); err != nil || len(files) > 0 {
			t.Errorf("%s: left behind: %v, %v", when, files, err)
		}
	}
	own := errors.New("own")
	if err := Build("v.db", fill(own)); !errors.Is(err, own) {
		t.Errorf("error %v, want that of fill", err)
	}
	nothing("an error")
	if err := Build(filepath.Join("none", "v.db"), fill(nil)); err == nil {
		t.Error("a directory that is not there: no error")
	}
	nothing("no directory")
	if err := Build("v.db", fill(nil)); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile("v.db")
	if err != nil {
		t.Fatal(err)
	}
	if err := Build("v.db", fill(nil)); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a file that is there: %v", err)
	}
	if after, _ := os.ReadFile("v.db"); string(after) != string(before) {
		t.Error("the file that was there has changed")
	}
	db, err := Open("v.db", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.Apps().View(t.Context(), func(r appsvc.Reader) error { _, err := r.Head(t.Context(), "a"); return err })
	if err != nil {
		t.Errorf("what fill has written: %v", err)
	}
}

func TestBuildRefusesALogWithoutItsStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "v.db")
	if err := os.WriteFile(path+"-wal", []byte("log"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Build(path, func(*DB) error { return nil }); err == nil {
		t.Error("no error")
	}
}
