package main

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
	"github.com/vitrine-go/vitrine/storage/sqlite"
)

func TestCheckFindsWhatContradicts(t *testing.T) {
	dir, _ := demoArchive(t)
	check := func(status int, says string, more ...string) {
		t.Helper()
		out := run(t, dir, nil, append([]string{"check", "-db", "v.db"}, more...)...)
		if out.status != status || !strings.Contains(out.stdout+out.stderr, says) {
			t.Errorf("%v: %+v, want %d and %q", more, out, status, says)
		}
	}
	change := func(space string, fn func(storage.Tx) error) {
		t.Helper()
		db, err := sqlite.Open(filepath.Join(dir, "v.db"), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if err := db.Update(t.Context(), space, storage.UpdateOptions{}, fn); err != nil {
			t.Fatal(err)
		}
	}
	first := func(tx storage.Tx, prefix string) storage.Entry {
		for e, err := range tx.Scan(t.Context(), storage.Prefix(prefix)) {
			if err != nil {
				t.Fatal(err)
			}
			return e
		}
		t.Fatalf("there is no %s", prefix)
		return storage.Entry{}
	}
	check(0, "nothing is wrong")
	const library = "assets/demo.test/demo.test"
	change(library, func(tx storage.Tx) error { return tx.Delete(t.Context(), first(tx, library+" new1/").Key) })
	check(1, "build the index anew")
	check(0, "nothing is wrong", "-rebuild")
	change("apps", func(tx storage.Tx) error {
		return tx.Put(t.Context(), storage.Entry{Key: first(tx, "apps tag/").Key, Value: []byte("999")})
	})
	check(1, "version 999")
	check(2, "there is no store", "-db", "none.db")
}

// A check that is interrupted may report faults that a whole copy does not have: the copy must keep its name.
func TestAnInterruptedCheckFindsNothingMore(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	out, in := io.Pipe()
	go func() {
		_, _ = out.Read(make([]byte, 1)) // the first fault
		stop()
		_, _ = io.Copy(io.Discard, out)
	}()
	s := memory.New()
	err := s.Update(ctx, "apps", storage.UpdateOptions{}, func(tx storage.Tx) error {
		return tx.Put(ctx, storage.Entry{Key: "apps odd/1"}, storage.Entry{Key: "apps tag/2"})
	})
	if err != nil {
		t.Fatal(err)
	}
	p := &program{stdout: in}
	if faults, err := p.printFaults(ctx, s, nil, true); faults != 1 || !errors.Is(err, context.Canceled) {
		t.Errorf("%d faults, %v", faults, err)
	}
}
