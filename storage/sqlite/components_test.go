package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"testing"

	"github.com/vitrine-go/vitrine/appsvc"
)

// readComponent returns the id of a version of a component, "" when there is none.
func readComponent(r appsvc.Reader, name, version string) (id string, err error) {
	for c, err := range r.Components(context.Background(), appsvc.ComponentQuery{Name: name, Version: version}) {
		if want := fmt.Sprintf("manifest of %s", c.ID); err == nil && string(c.Manifest) != want {
			err = fmt.Errorf("component %s has the manifest %q", c.ID, c.Manifest)
		}
		return c.ID, err
	}
	return "", nil
}

// A component that is cached is the present one: after commits of this store, of another one on the
// same file, and inside an update, be it kept or not.
func TestCachedComponentsAreCurrent(t *testing.T) {
	ctx := context.Background()
	one := openTest(t, nil)
	stores := []appsvc.Store{one.Apps(), openAt(t, one.path, nil).Apps()}
	add := func(w appsvc.Tx, id, version string) error {
		return w.AddComponent(ctx, appsvc.Component{ID: id, Name: "map", Version: version, Main: "m", Manifest: []byte("manifest of " + id)})
	}
	check := func(r appsvc.Reader, ids ...string) error { // of version 1, 2 and 3
		for i, want := range append(ids, "", "", "")[:3] {
			version := strconv.Itoa(i + 1)
			if got, err := readComponent(r, "map", version); err != nil || got != want {
				return fmt.Errorf("version %s is %q, want %q: %v", version, got, want, err)
			}
		}
		return nil
	}
	round := 0
	everywhere := func(ids ...string) {
		t.Helper()
		for range 2 { // the second time from the cache
			for n, s := range stores {
				if err := s.View(ctx, func(r appsvc.Reader) error { return check(r, ids...) }); err != nil {
					t.Errorf("round %d, store %d: %v", round, n, err)
				}
			}
		}
	}
	undone := errors.New("undone")
	for ; round < 6; round++ {
		s, first, second := stores[round%2], fmt.Sprintf("%d.1", round), fmt.Sprintf("%d.2", round)
		write := func(keep error, fn func(w appsvc.Tx) error) {
			t.Helper()
			if err := s.Update(ctx, func(w appsvc.Tx) error { return errors.Join(fn(w), keep) }); !errors.Is(err, keep) || keep == nil && err != nil {
				t.Error(err)
			}
		}
		write(nil, func(w appsvc.Tx) error {
			return errors.Join(check(w), add(w, first, "1"), check(w, first), add(w, second, "2"), check(w, first, second))
		})
		everywhere(first, second)
		write(undone, func(w appsvc.Tx) error { return errors.Join(add(w, "y", "3"), check(w, first, second, "y")) })
		everywhere(first, second)
		write(undone, func(w appsvc.Tx) error {
			return errors.Join(check(w, first, second), w.DeleteComponent(ctx, "map"), check(w), add(w, "x", "1"), check(w, "x"))
		})
		everywhere(first, second)
		write(nil, func(w appsvc.Tx) error { return errors.Join(w.DeleteComponent(ctx, "map"), check(w)) })
		everywhere()
	}
}

func TestCachedComponentsTouchNoConnection(t *testing.T) {
	ctx := context.Background()
	db := openTest(t, nil)
	s := db.Apps()
	if err := s.Update(ctx, func(w appsvc.Tx) error {
		return w.AddComponent(ctx, appsvc.Component{ID: "1", Name: "map", Version: "1", Manifest: []byte("manifest of 1")})
	}); err != nil {
		t.Fatal(err)
	}
	look := func(version string) error {
		return s.View(ctx, func(r appsvc.Reader) error { _, err := readComponent(r, "map", version); return err })
	}
	if err := look("1"); err != nil {
		t.Fatal(err)
	}
	db.readers.dial = func() (*conn, error) { return nil, io.ErrUnexpectedEOF }
	for _, c := range db.readers.idle {
		c.close()
	}
	db.readers.idle = nil
	if err := look("1"); err != nil {
		t.Error(err)
	}
	if err := look("2"); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a component that is not cached: %v", err)
	}
}
