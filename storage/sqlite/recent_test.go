package sqlite

import (
	"fmt"
	"testing"

	"github.com/vitrine-go/vitrine/storage"
)

// set puts entries, as pairs of a key and a value.
func set(t *testing.T, db *DB, pairs ...string) {
	t.Helper()
	err := db.Update(ctx, "a", storage.UpdateOptions{}, func(tx storage.Tx) error {
		for i := 0; i < len(pairs); i += 2 {
			if err := tx.Put(ctx, storage.Entry{Key: pairs[i], Value: []byte(pairs[i+1])}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A View whose keys were read since the last commit takes no connection. If one of them changes before it reads
// something else, it is called again, and if others change it goes on.
func TestAViewOfRecentValues(t *testing.T) {
	db := openTest(t, nil)
	other := openAt(t, db.store.path, nil)
	set(t, db, "a 1", "old", "a 2", "old")
	for _, test := range []struct {
		change []string
		want   string
		calls  int
	}{
		{nil, "old old", 1},
		{[]string{"a 3", "x"}, "old old", 1},
		{[]string{"a 2", "new"}, "old new", 1},
		{[]string{"a 1", "newer", "a 2", "newer"}, "newer newer", 2},
	} {
		one := func(r storage.Reader, key string) string {
			values, err := r.Get(ctx, key)
			if err != nil {
				return err.Error()
			}
			return string(values[0])
		}
		if err := db.View(ctx, func(r storage.Reader) error { one(r, "a 1"); return nil }); err != nil {
			t.Fatal(err)
		}
		calls, got := 0, ""
		err := db.View(ctx, func(r storage.Reader) error {
			calls++
			got = one(r, "a 1")
			if n := db.Stats().ReadersBusy; calls == 1 && n != 0 {
				t.Errorf("a View of a key that was read before has %d connections", n)
			}
			if calls == 1 && test.change != nil {
				set(t, other, test.change...)
			}
			got += " " + one(r, "a 2")
			return nil
		})
		if err != nil || got != test.want || calls != test.calls {
			t.Errorf("%q is committed during a View: it reads %s, called %d times, %v; want %s and %d", test.change,
				got, calls, err, test.want, test.calls)
		}
	}
}

// What Views read is kept within bounds, and not at all once it is large.
func TestRecentValuesAreBounded(t *testing.T) {
	db := openTest(t, nil)
	set(t, db, "a large", string(make([]byte, mostRecentValue+1)))
	for i := range 2 * mostRecent / mostRecentValue {
		key := fmt.Sprint("a ", i)
		set(t, db, key, string(make([]byte, mostRecentValue)))
	}
	for i := range 2 * mostRecent / mostRecentValue {
		err := db.View(ctx, func(r storage.Reader) error {
			_, err := r.Get(ctx, fmt.Sprint("a ", i), "a large")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		c, size := db.store.recent, 0
		for _, v := range c.value {
			size += len(v)
		}
		if size > mostRecent+mostRecentValue || len(c.value) == 0 || c.value["a large"] != nil {
			t.Fatalf("after %d values of %d bytes, %d bytes are kept, want %d at most", i+1, mostRecentValue, size,
				mostRecent)
		}
	}
}

// The index of a log is open once for all stores in a file, and is closed when SQLite has removed it and not before:
// that would drop the locks of the stores that are still open.
func TestTheIndexIsClosedOnceItIsRemoved(t *testing.T) {
	db := openTest(t, nil)
	set(t, db, "a 1", "one")
	path := db.store.path
	index := db.store.recent.index
	other := openAt(t, path, nil)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := index.Stat(); err != nil || other.store.recent.index != index {
		t.Fatalf("the index is closed while a store is open: %v", err)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := index.Stat(); err == nil || indexes.open[index.Name()] != nil {
		t.Error("the index is still open though no store is")
	}
	if c := openAt(t, path, nil).store.recent; c.commit() == "" {
		t.Error("a store that was opened again does not know its last commit")
	}
}
