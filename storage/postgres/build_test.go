//go:build proof

package postgres

import (
	"errors"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/internal/cluster"
)

// gone builds until something is in the store, and then loses its builder as if it were killed. It
// returns what the builder has still got.
func gone(t *testing.T, address string, then func(*DB)) error {
	t.Helper()
	return Build(ctx, address, nil, func(db *DB) error {
		if err := putTag(db, 5000); err != nil {
			return err
		}
		// The server says true when the connection has ended, which on a busy machine takes a while.
		const end = "SELECT count(*) FILTER (WHERE pg_terminate_backend(pid, 60000))::text FROM pg_locks WHERE relation = 'vitrine_building'::regclass AND pid <> pg_backend_pid()"
		if n := db.list(t, end); n != "1" {
			t.Errorf("%s connections hold the mark", n)
		}
		then(db)
		return nil
	})
}

func putTag(db *DB, n int64) error {
	return db.update(ctx, func(c *conn) error {
		_, err := c.exec(ctx, "INSERT INTO tag VALUES ('app', int8send($1), $1)", n)
		return err
	})
}

func refused(t *testing.T, address string, want error) {
	t.Helper()
	for _, existing := range []bool{false, true} {
		db, err := Open(ctx, address, &Options{Existing: existing})
		if err == nil {
			db.Close()
		}
		if !errors.Is(err, want) {
			t.Errorf("opening it, existing %t: %v, want %v", existing, err, want)
		}
	}
}

func TestBuildLeavesACompleteStoreOrNothing(t *testing.T) {
	address := cluster.Database(t)
	own := errors.New("own")
	err := Build(ctx, address, nil, func(db *DB) error { return errors.Join(putTag(db, 5000), own) })
	if !errors.Is(err, own) {
		t.Errorf("error %v, want that of fill", err)
	}
	plain := &DB{pool: openPool(t, address)}
	if left := plain.tables(t); left != "" {
		t.Errorf("an error leaves %s", left)
	}
	err = Build(ctx, address, &Options{Connections: 1}, func(db *DB) error {
		refused(t, address, errUnfinished)
		if err := Build(ctx, address, nil, func(*DB) error { return nil }); !errors.Is(err, errTaken) {
			t.Errorf("a second builder: %v", err)
		}
		return putTag(db, 5000)
	})
	if err != nil {
		t.Fatal(err)
	}
	if left := plain.tables(t); strings.Contains(left, "building") {
		t.Errorf("the mark is there: %s", left)
	}
	db := openAt(t, address, &Options{Existing: true})
	if got := db.list(t, "SELECT max(version)::text FROM tag"); got != "5000" {
		t.Errorf("what fill has written: %s", got)
	}
	if err := Build(ctx, address, nil, func(*DB) error { return own }); !errors.Is(err, ErrExists) {
		t.Errorf("where a store is: %v", err)
	}
}

func TestAnInterruptedBuildIsRefusedAndCanBeRepeated(t *testing.T) {
	address := cluster.Schema(t)
	err := gone(t, address, func(db *DB) {
		if err := putTag(db, 5001); err != nil { // nobody has taken over yet
			t.Error(err)
		}
	})
	if err == nil {
		t.Error("a builder that was cut off reports a store")
	}
	refused(t, address, errUnfinished)
	if err := Build(ctx, address, nil, func(db *DB) error { return putTag(db, 5001) }); err != nil {
		t.Fatal(err)
	}
	db := openAt(t, address, nil)
	if got := db.list(t, "SELECT string_agg(version::text, ',') FROM tag"); got != "5001" {
		t.Errorf("the store holds %s", got)
	}
}

// A builder that has lost its hold, and not noticed, writes nothing into the store of the next one.
func TestABuilderWritesOnlyIntoItsOwnStore(t *testing.T) {
	for _, whole := range []bool{true, false} {
		address := cluster.Schema(t)
		own := errors.New("own")
		_ = gone(t, address, func(old *DB) {
			late := func() {
				if err := putTag(old, 6000); err == nil {
					t.Error("the builder of before still writes")
				}
			}
			err := Build(ctx, address, nil, func(db *DB) error {
				late()
				if whole {
					return nil
				}
				return own
			})
			if whole != (err == nil) {
				t.Errorf("the next build: %v", err)
			}
			late()
		})
		if !whole {
			refusedAbsent(t, address)
			continue
		}
		if got := openAt(t, address, nil).list(t, "SELECT max(version)::text FROM tag"); got != "" {
			t.Errorf("the store holds %s", got)
		}
	}
}

// Where only a store that is there is wanted, nothing is made.
func TestOpenWithExistingCreatesNoStore(t *testing.T) {
	address := cluster.Database(t)
	refusedAbsent(t, address)
	if left := (&DB{pool: openPool(t, address)}).tables(t); left != "" {
		t.Errorf("it leaves %s", left)
	}
}

func refusedAbsent(t *testing.T, address string) {
	t.Helper()
	db, err := Open(ctx, address, &Options{Existing: true})
	if err == nil {
		db.Close()
	}
	if !errors.Is(err, ErrAbsent) {
		t.Errorf("error %v, want ErrAbsent", err)
	}
}
