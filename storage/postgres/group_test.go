//go:build proof

package postgres

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/vitrine-go/vitrine/internal/cluster"
	"github.com/vitrine-go/vitrine/storage"
)

// together has updates wait for their space at the same time, so that they make one group. It returns their errors.
func together(t *testing.T, db opened, fns ...func(storage.Tx) error) []error {
	t.Helper()
	errs := make([]error, len(fns))
	var all sync.WaitGroup
	err := db.Update(ctx, "a", storage.UpdateOptions{Large: true}, func(storage.Tx) error {
		for i, fn := range fns {
			all.Go(func() {
				defer func() {
					if p := recover(); p != nil {
						errs[i] = fmt.Errorf("panic: %v", p)
					}
				}()
				errs[i] = db.Update(ctx, "a", storage.UpdateOptions{}, fn)
			})
		}
		for n := 0; n < len(fns); time.Sleep(time.Millisecond) {
			db.s.mu.Lock()
			n = len(db.s.lanes["a"])
			db.s.mu.Unlock()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	all.Wait()
	return errs
}

// increment counts in an entry and logs what it was.
func increment(t storage.Tx) error {
	values, err := t.Get(ctx, "a n")
	if err != nil {
		return err
	}
	n, _ := strconv.Atoi(string(values[0]))
	return t.Put(ctx, storage.Entry{Key: "a n", Value: []byte(strconv.Itoa(n + 1))},
		storage.Entry{Key: fmt.Sprintf("a log/%03d", n)})
}

func TestAGroupIsItsUpdatesOneAfterTheOther(t *testing.T) {
	db := openTest(t, nil)
	failure := errors.New("a failure")
	counted := func(tx storage.Tx) error { // needs a second trip, and what it has read first is outdated then
		if err := increment(tx); err != nil {
			return err
		}
		for range tx.Scan(ctx, storage.Prefix("a log/")) {
		}
		values, err := tx.Get(ctx, "a n", "a other")
		if err != nil {
			return err
		}
		return tx.Put(ctx, storage.Entry{Key: "a counted " + string(values[0])})
	}
	fns := []func(storage.Tx) error{
		func(tx storage.Tx) error { return errors.Join(increment(tx), failure) },
		func(tx storage.Tx) error { _ = increment(tx); panic("thrown") },
		counted, counted,
		func(tx storage.Tx) error { // more than fits a group
			return errors.Join(increment(tx),
				tx.Put(ctx, storage.Entry{Key: "a large", Value: make([]byte, 2*groupBytes)}))
		},
	}
	for range 10 {
		fns = append(fns, increment)
	}
	before := db.Stats().Commits
	errs := together(t, db, fns...)
	for i, err := range errs {
		switch {
		case i == 0 && errors.Is(err, failure), i == 1 && err != nil && err.Error() == "panic: thrown", i > 1 &&
			err == nil:
		default:
			t.Errorf("update %d: %v", i, err)
		}
	}
	if got := value(t, db, "a n"); got != "13" {
		t.Errorf("13 updates have counted to %s", got)
	}
	if got := db.Stats().Commits - before; got != 2 { // that of the group, and of one that does not fit
		t.Errorf("%d commits", got)
	}
	logged, counts := 0, 0
	err := db.View(ctx, func(r storage.Reader) error {
		for e, err := range r.Scan(ctx, storage.Prefix("a ")) {
			if err != nil {
				return err
			}
			if strings.HasPrefix(e.Key, "a log/") {
				logged++
			}
			if strings.HasPrefix(e.Key, "a counted ") {
				counts++
			}
		}
		return nil
	})
	if err != nil || logged != 13 || counts != 2 {
		t.Errorf("%d entries of the log and %d of those that scan; %v", logged, counts, err)
	}
}

func TestStatementsUseTheIndex(t *testing.T) {
	db := openTest(t, nil)
	for _, p := range []portion{
		{ask: ask{from: "a k", to: "a l", rows: 10}},
		{ask: ask{from: "a k", to: "a l", rows: 10, reverse: true}},
		{ask: ask{from: "a log/1", to: "a log/2", rows: 10}},
		{ask: ask{from: "", to: "", rows: 10}},
		{ask: ask{from: "a ", to: "a!", rows: 10, reverse: true}},
		{ask: ask{count: true, from: "a ", to: "a!", rows: 10}},
	} {
		st := p.statement()
		var plan []string
		st.sql, st.take = "EXPLAIN "+st.sql, func(rows pgx.Rows) error {
			var line string
			_, err := pgx.ForEachRow(rows, []any{&line}, func() error { plan = append(plan, line); return nil })
			return err
		}
		if err := db.s.ask(ctx, st); err != nil {
			t.Fatal(err)
		}
		if text := strings.Join(plan, "\n"); !strings.Contains(text, "Index") || strings.Contains(text, "Seq Scan") ||
			strings.Contains(text, "Sort  ") {
			t.Errorf("%+v:\n%s", p.ask, text)
		}
	}
}

func TestBuild(t *testing.T) {
	address := cluster.Schema(t)
	failure := errors.New("a failure")
	if _, err := Open(ctx, address, &Options{Existing: true}); !errors.Is(err, ErrAbsent) {
		t.Errorf("no store: %v", err)
	}
	if err := Build(ctx, address, nil, func(*DB) error { return failure }); !errors.Is(err, failure) {
		t.Errorf("a build that fails: %v", err)
	}
	err := Build(ctx, address, nil, func(first *DB) error {
		if _, err := Open(ctx, address, nil); !errors.Is(err, errUnfinished) {
			t.Errorf("an unfinished store: %v", err)
		}
		if err := put(first, "a 1", "first"); err != nil {
			t.Error(err)
		}
		if err := Build(ctx, address, nil, func(second *DB) error { return put(second, "a 2", "second") }); err != nil {
			t.Errorf("the second builder: %v", err)
		}
		if err := put(first, "a 3", "first"); !errors.Is(err, errTaken) {
			t.Errorf("an update of the first builder: %v", err)
		}
		return nil
	})
	if !errors.Is(err, errTaken) {
		t.Errorf("the first builder: %v", err)
	}
	db := openAt(t, address, &Options{Existing: true})
	if value(t, db, "a 1")+value(t, db, "a 2") != "second" {
		t.Error("the store is not that of the second builder")
	}
	if err := Build(ctx, address, nil, func(*DB) error { return nil }); !errors.Is(err, ErrExists) {
		t.Errorf("a complete store: %v", err)
	}
	if _, err := db.s.pool.Exec(ctx, "UPDATE vitrine_format SET number = 99"); err != nil {
		t.Fatal(err)
	}
	if err := put(db, "a 4", ""); !errors.Is(err, storage.ErrBusy) || !strings.Contains(err.Error(), "format 99") {
		t.Errorf("an update of a newer format: %v", err)
	}
	if _, err := Open(ctx, address, nil); !errors.Is(err, errNewer) {
		t.Errorf("a newer format: %v", err)
	}
}

func TestOtherTablesAreRefused(t *testing.T) {
	for table, want := range map[string]string{
		"vitrine_schema": "with v0.2.0 (vitrine import -db STORE FILE)",
		"something":      `holds "something"; name an empty`,
	} {
		address := cluster.Schema(t)
		s, err := connect(ctx, address, (*Options)(nil).orDefault())
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.pool.Exec(ctx, "CREATE TABLE "+table+" (n int)")
		s.pool.Close()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Open(ctx, address, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", table, err)
		}
	}
}
