package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/vitrine-go/vitrine/storage"
)

// A store that is opened for reading has what is committed, also by others later, and takes no update.
func TestAStoreIsOpenedForReading(t *testing.T) {
	db := openTest(t, nil)
	if err := note(db, "one"); err != nil {
		t.Fatal(err)
	}
	reading := openAt(t, db.store.path, &Options{ReadOnly: true})
	for _, text := range []string{"one", "two"} {
		if err := note(reading, "no"); !errors.Is(err, errReading) {
			t.Errorf("an update: %v", err)
		}
		if have, err := notes(reading); err != nil || !slices.Contains(have, text) || slices.Contains(have, "no") {
			t.Errorf("it has %q, %v", have, err)
		}
		if err := note(db, "two"); err != nil {
			t.Error(err)
		}
	}
	path := filepath.Join(t.TempDir(), "none.db")
	_, err := Open(path, &Options{ReadOnly: true})
	if !errors.Is(err, os.ErrNotExist) || len(namesIn(t, filepath.Dir(path))) != 0 {
		t.Errorf("a file that does not exist: %v", err)
	}
}

// A file that is read without its log must not change meanwhile.
func TestAFileThatChangesIsNotReadAsImmutable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vitrine.db")
	if err := within(path, func(db *DB) error { return note(db, "one") }); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	s := startImmutable(path, info)
	reading := &DB{storage.Checked(s), s}
	if have, err := notes(reading); err != nil || !slices.Equal(have, []string{"one"}) {
		t.Errorf("it has %q, %v", have, err)
	}
	if names := namesIn(t, filepath.Dir(path)); len(names) != 1 {
		t.Errorf("there are %q", names)
	}
	select {
	case <-reading.Changed(""):
		t.Error("it has changed")
	default:
	}
	if reading.Stats() != (Stats{}) {
		t.Errorf("%+v", reading.Stats())
	}
	err = within(path, func(db *DB) error {
		err := note(db, "two")
		if _, readErr := notes(reading); !errors.Is(readErr, ErrUnreadable) { // the commit is in the log
			t.Errorf("while another process has a commit in the log: %v", readErr)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := notes(reading); !errors.Is(err, ErrUnreadable) { // and now in the file
		t.Errorf("after another process has changed the file: %v", err)
	}
	if err := reading.Close(); err != nil {
		t.Error(err)
	}
}
