package storage_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

var ctx = context.Background()

// filled returns a store in which keys have empty values.
func filled(t *testing.T, keys ...string) storage.Store {
	s := memory.New()
	t.Cleanup(func() { s.Close() })
	for _, key := range keys {
		if err := update(s, storage.SpaceOf(key), func(t storage.Tx) error {
			return t.Put(ctx, storage.Entry{Key: key})
		}); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func update(s storage.Store, space string, fn func(storage.Tx) error) error {
	return s.Update(ctx, space, storage.UpdateOptions{}, fn)
}

// contains checks that the store has these keys and no others, with empty values.
func contains(s storage.Store, keys ...string) error {
	return s.View(ctx, func(r storage.Reader) error {
		got := ""
		for e, err := range r.Scan(ctx, storage.Range{}) {
			if err != nil {
				return err
			}
			got += e.Key + string(e.Value) + ";"
		}
		if want := strings.Join(keys, ";") + ";"; got != want {
			return fmt.Errorf("the store has %q, want %q", got, want)
		}
		return nil
	})
}

func TestAnUpdateWritesInItsOwnSpaceAlone(t *testing.T) {
	if err := ownSpace(filled(t, "ab 1", "b 1")); err != nil {
		t.Error(err)
	}
}

func TestAReaderAndATxEndWithTheirFunction(t *testing.T) {
	if err := afterTheEnd(filled(t, "a 1")); err != nil {
		t.Error(err)
	}
}

func ownSpace(s storage.Store) error {
	for name, write := range map[string]func(storage.Tx) error{
		"Put": func(t storage.Tx) error {
			return t.Put(ctx, storage.Entry{Key: "b 1", Value: []byte("x")})
		},
		"Put of a longer space": func(t storage.Tx) error {
			return t.Put(ctx, storage.Entry{Key: "a 1"}, storage.Entry{Key: "ab 1"})
		},
		"Delete":                    func(t storage.Tx) error { return t.Delete(ctx, "b 1") },
		"DeleteRange of everything": func(t storage.Tx) error { return t.DeleteRange(ctx, storage.Range{}) },
		"DeleteRange beyond": func(t storage.Tx) error {
			return t.DeleteRange(ctx, storage.Range{From: "a ", To: "b"})
		},
	} {
		if update(s, "a", write) == nil {
			return fmt.Errorf("%s of another space is taken", name)
		}
	}
	for _, space := range []string{"", "a b", strings.Repeat("s", storage.MaxKey)} {
		if update(s, space, func(storage.Tx) error { return nil }) == nil {
			return fmt.Errorf("%.20q is taken for a space", space)
		}
	}
	return contains(s, "ab 1", "b 1")
}

func afterTheEnd(s storage.Store) error {
	var late storage.Tx
	var reader storage.Reader
	err := errors.Join(update(s, "a", func(t storage.Tx) error { late = t; return nil }),
		s.View(ctx, func(r storage.Reader) error { reader = r; return nil }))
	if err != nil {
		return err
	}
	for _, r := range []storage.Reader{late, reader} {
		_, get := r.Get(ctx, "a 1")
		_, estimate := r.Estimate(ctx, storage.Range{})
		var scan, spaces error
		for _, err := range r.Scan(ctx, storage.Range{}) {
			scan = err
		}
		for _, err := range r.Spaces(ctx, "") {
			spaces = err
		}
		if get == nil || estimate == nil || scan == nil || spaces == nil {
			return fmt.Errorf("a Reader is used after its function: %v, %v, %v, %v", get, estimate, scan, spaces)
		}
	}
	if late.Put(ctx, storage.Entry{Key: "a 2"}) == nil || late.Delete(ctx, "a 1") == nil ||
		late.DeleteRange(ctx, storage.Prefix("a ")) == nil {
		return errors.New("a Tx writes after its function")
	}
	return contains(s, "a 1")
}
