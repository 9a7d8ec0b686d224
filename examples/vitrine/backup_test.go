package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/sqlite"
)

// Of the first span all copies are kept, of the others the newest of each hour, day or week; the newest always is.
func TestCopiesThatAreKept(t *testing.T) {
	newest := time.Date(2026, 3, 31, 12, 30, 0, 0, time.UTC) // a Tuesday; weeks of UTC begin on Thursdays
	ago := func(text string) time.Time {
		d, err := time.ParseDuration(text)
		if err != nil {
			t.Fatal(err)
		}
		return newest.Add(-d)
	}
	for _, c := range []struct{ keep, made, deleted string }{
		{"14d", "0h 1h 2h 335h 336h 337h", "337h"},
		{"2h,1d,2w", "0h 5m 2h 3h 12h 13h 14h 24h 25h 120h 121h 200h 400h", "3h 12h 14h 24h 25h 120h 121h 400h"},
		{"1h,3h", "0h 30m 1h 90m 100m 2h 3h 4h", "90m 2h 4h"},
		{"1w", "0h 5m", ""},
		{"1h", "-87600h -2h 0h 30m 2h", "2h"}, // the clock was ahead once
	} {
		var k retention
		if err := k.Set(c.keep); err != nil {
			t.Fatal(err)
		}
		var made []time.Time
		for _, text := range strings.Fields(c.made) {
			made = append(made, ago(text))
		}
		var deleted []string
		for _, at := range k.outdated(made, newest) {
			for _, text := range strings.Fields(c.made) {
				if ago(text).Equal(at) {
					deleted = append(deleted, text)
				}
			}
		}
		if have := strings.Join(deleted, " "); have != c.deleted {
			t.Errorf("%s of %s: deleted %s, want %s", c.keep, c.made, have, c.deleted)
		}
	}
	for _, wrong := range []string{"", "7", "7x", "d", "-1d", "24h,,7y", "0d"} {
		if err := new(retention).Set(wrong); err == nil {
			t.Errorf("%q is taken", wrong)
		}
	}
}

// Copies in a directory are checked and kept as -keep says, and the note of the newest one is renewed; one with a
// fault is none, and then nothing is deleted.
func TestBackupIntoADirectory(t *testing.T) {
	dir, _ := demoArchive(t)
	copies := filepath.Join(dir, "copies")
	if err := os.Mkdir(copies, 0o700); err != nil {
		t.Fatal(err)
	}
	old := filepath.Join(copies, "vitrine-2020-01-01T000000Z.db")
	others := []string{"mine.db", "vitrine-2020-01-01T000000.5Z.db", "vitrine-2099-01-01T000000Z.db"}
	for _, name := range append(others, filepath.Base(old)) {
		if err := os.WriteFile(filepath.Join(copies, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	others = append(others, "vitrine-2020-01-02T000000Z.db")
	if err := os.Symlink("mine.db", filepath.Join(copies, others[3])); err != nil {
		t.Fatal(err)
	}
	earlier := filepath.Join(copies, "vitrine-2020-01-01T000000Z.db.faulty")
	if err := os.WriteFile(earlier, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	const left = 3 // of these look like copies, and are not
	names := func(pattern string) int {
		all, _ := filepath.Glob(filepath.Join(copies, pattern))
		return len(all)
	}
	for _, wrong := range [][]string{{"want a directory", "-keep", "1d", "new.db"},
		{"want a directory", "-every", "5m", "new.db"}, {"want 1s or more", "-every", "-5m", "copies"},
		{"want 1s or more", "-every", "10ms", "copies"}} {
		if out := run(t, dir, nil, append([]string{"backup", "-db", "v.db"}, wrong[1:]...)...); out.status != 2 ||
			!strings.Contains(out.stderr, wrong[0]) {
			t.Errorf("%v: %+v", wrong, out)
		}
	}
	db, err := sqlite.Open(filepath.Join(dir, "v.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	tag := storage.Entry{}
	put := func(value []byte) {
		err := db.Update(t.Context(), "apps", storage.UpdateOptions{}, func(tx storage.Tx) error {
			for e, err := range tx.Scan(t.Context(), storage.Prefix("apps tag/")) {
				if err != nil {
					return err
				}
				if tag.Key == "" {
					tag = e
				}
				return tx.Put(t.Context(), storage.Entry{Key: tag.Key, Value: value})
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	put([]byte("999"))
	out := run(t, dir, nil, "backup", "-db", "v.db", "-keep", "1d", "copies")
	if _, _, err := lastCopy(filepath.Join(dir, "v.db")); out.status != 1 || names("vitrine-*Z.db.faulty") != 1 ||
		names("vitrine-*.db") != left+1 || err == nil || !strings.Contains(out.stdout, "version 999") {
		t.Errorf("a copy with a fault: %+v, %v", out, err)
	}
	put(tag.Value)
	begun := time.Now().Truncate(time.Second)
	out = run(t, dir, nil, "backup", "-db", "v.db", "-keep", "1d", "copies")
	made, copied, err := lastCopy(filepath.Join(dir, "v.db"))
	if out.status != 0 || names("vitrine-*.db") != left+1 || names("*.faulty") != 1 || names("mine.db") != 1 ||
		made.Before(begun) || err != nil || !strings.Contains(out.stderr, "keys that sign tokens are not in") {
		t.Errorf("%+v, %v, %v", out, made, err)
	}
	if out := run(t, dir, nil, "check", "-db", copied); out.status != 0 {
		t.Errorf("%+v", out)
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	go func() {
		for names("vitrine-*.db") < left+3 && ctx.Err() == nil {
			time.Sleep(10 * time.Millisecond)
		}
		stop()
	}()
	var said strings.Builder
	status := newProgram(nil, "", &said, &said).run(ctx, []string{"backup", "-db", "v.db", "-every", "1s", "copies"})
	if status != 0 || names("vitrine-*.db") < left+3 || said.Len() > 0 { // the first copy has told of the keys
		t.Errorf("status %d, %d copies: %s", status, names("vitrine-*.db"), said.String())
	}
	// Copies that are begun in one second have names of their own.
	often := filepath.Join(dir, "often")
	if err := os.Mkdir(often, 0o700); err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		out := run(t, dir, nil, "backup", "-db", "v.db", "often")
		if made, _ := os.ReadDir(often); out.status != 0 || len(made) != n+1 {
			t.Errorf("%d copies: %+v", len(made), out)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}
