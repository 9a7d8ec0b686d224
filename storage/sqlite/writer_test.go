package sqlite

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// together runs updates so that they share one commit: they wait behind one that leads them. It is
// for tests in a bubble.
func together(t *testing.T, db *DB, updates ...func(c *conn) error) []error {
	t.Helper()
	ctx, errs, gate := context.Background(), make([]error, len(updates)), make(chan bool)
	var wg sync.WaitGroup
	wg.Go(func() {
		db.update(ctx, func(*conn) error { <-gate; return nil })
	})
	for i, fn := range updates {
		synctest.Wait() // until the one before stands in the queue
		wg.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					errs[i] = fmt.Errorf("panic: %v", p)
				}
			}()
			errs[i] = db.update(ctx, fn)
		})
	}
	synctest.Wait()
	close(gate)
	wg.Wait()
	return errs
}

// inBubble makes a test of a function that can wait until all its goroutines wait.
func inBubble(check func(t *testing.T)) func(t *testing.T) {
	return func(t *testing.T) { synctest.Test(t, check) }
}

func waitFor(t *testing.T, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(mostWait); !cond(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited %v in vain", mostWait)
		}
	}
}

func names(t *testing.T, db *DB) string {
	t.Helper()
	var out []string
	err := db.view(context.Background(), func(c *conn) error {
		r := c.query("SELECT id FROM component ORDER BY key")
		defer r.close()
		for r.next() {
			out = append(out, r.text(0))
		}
		return r.err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(out, " ")
}

func TestUpdatesThatShareACommit(t *testing.T) {
	no := errors.New("no")
	write := func(name string) func(*conn) error { return func(c *conn) error { return mark(c, name) } }
	tests := []struct {
		name string
		bad  func(c *conn) error
		want string // of the error
	}{
		{"an error", func(c *conn) error { mark(c, "bad"); return no }, "no"},
		{"a panic", func(c *conn) error { mark(c, "bad"); panic("help") }, "panic: help"},
		{"the end of the goroutine", func(c *conn) error { mark(c, "bad"); runtime.Goexit(); return nil }, "<nil>"},
		{"a constraint", func(c *conn) error { mark(c, "bad"); return mark(c, "first") }, "constraint"},
		{"a statement that is no SQL", func(c *conn) error { mark(c, "bad"); _, err := c.exec("HELLO"); return err }, "syntax"},
		{"rows left open", func(c *conn) error {
			mark(c, "bad")
			r := c.query("SELECT id FROM component")
			r.next()
			return no
		}, "no"},
	}
	for _, test := range tests {
		t.Run(test.name, inBubble(func(t *testing.T) {
			db := openTest(t, nil)
			errs := together(t, db, write("first"), test.bad, write("last"))
			if errs[0] != nil || errs[2] != nil {
				t.Errorf("the neighbours failed: %v, %v", errs[0], errs[2])
			}
			if got := fmt.Sprint(errs[1]); !strings.Contains(got, test.want) {
				t.Errorf("the update ended with %q, want %q", got, test.want)
			}
			if n := len(db.writer.c.openRows); n > 0 {
				t.Errorf("%d rows are still open", n)
			}
			if got := names(t, db); got != "first last" {
				t.Errorf("kept: %s", got)
			}
			if err := db.update(context.Background(), write("later")); err != nil {
				t.Errorf("a later update: %v", err)
			}
		}))
	}
}

// What an update reads of neighbours that are then lost must not come out as the truth.
func TestErrorsWaitForTheCommit(t *testing.T) { synctest.Test(t, errorsWait) }

func errorsWait(t *testing.T) {
	db := openTest(t, nil)
	seen := errors.New("the first is there")
	errs := together(t, db,
		func(c *conn) error { return mark(c, "first") },
		func(c *conn) error {
			if n, err := c.value("SELECT count(*) FROM component"); err != nil || n != 1 {
				return fmt.Errorf("%d rows before the commit: %w", n, err)
			}
			return seen
		},
		func(c *conn) error { return c.script("ROLLBACK") }, // as SQLite does by itself on a full disk
		func(c *conn) error { return mark(c, "next") },      // waits behind, and is of the next commit
	)
	if errs[3] != nil {
		t.Errorf("the update behind them ended with %v", errs[3])
	}
	for i, err := range errs[:3] {
		if err == nil || errors.Is(err, seen) {
			t.Errorf("update %d ended with %v although nothing was committed", i, err)
		}
	}
	if got := names(t, db); got != "next" {
		t.Errorf("kept: %s", got)
	}
}

func TestUpdatesShareCommits(t *testing.T) { synctest.Test(t, updatesShare) }

func updatesShare(t *testing.T) {
	db := openTest(t, nil)
	before := db.watch.now()
	var updates []func(*conn) error
	for i := range 40 {
		updates = append(updates, func(c *conn) error { return mark(c, fmt.Sprint(i)) })
	}
	for _, err := range together(t, db, updates...) {
		if err != nil {
			t.Error(err)
		}
	}
	after := db.watch.now()
	if n := after.commits() - before.commits(); n != 1 {
		t.Errorf("40 updates that waited took %d commits, want 1", n)
	}
}

func TestUpdateWhoseContextEnds(t *testing.T) { synctest.Test(t, contextEnds) }

func contextEnds(t *testing.T) {
	db, ran := openTest(t, nil), false
	gate, led := make(chan bool), make(chan error)
	go func() { led <- db.update(context.Background(), func(*conn) error { <-gate; return nil }) }()
	synctest.Wait()
	ctx, cancel := context.WithCancel(context.Background())
	answer := make(chan error)
	go func() { answer <- db.update(ctx, func(*conn) error { ran = true; return nil }) }()
	synctest.Wait()
	cancel()
	if err := <-answer; err != context.Canceled {
		t.Errorf("while it waited: %v", err)
	}
	close(gate)
	if err := <-led; err != nil {
		t.Error(err)
	}
	if err := db.update(ctx, func(*conn) error { ran = true; return nil }); err != context.Canceled {
		t.Errorf("before it began: %v", err)
	}
	if err := db.view(ctx, func(*conn) error { ran = true; return nil }); err != context.Canceled {
		t.Errorf("a view: %v", err)
	}
	if err := db.update(context.Background(), func(c *conn) error { return mark(c, "a") }); err != nil {
		t.Errorf("an update after it: %v", err)
	}
	if ran {
		t.Error("the function ran")
	}
}

// A leader whose function panics, or ends its goroutine, still commits for those behind it.
func TestLeaderThatDoesNotReturn(t *testing.T) {
	for name, end := range map[string]func(){"panic": func() { panic("help") }, "goexit": runtime.Goexit} {
		t.Run(name, inBubble(func(t *testing.T) {
			db, ctx, gate := openTest(t, nil), context.Background(), make(chan bool)
			go func() {
				defer func() { recover() }()
				db.update(ctx, func(c *conn) error { mark(c, "bad"); <-gate; end(); return nil })
			}()
			synctest.Wait()
			answer := make(chan error)
			go func() { answer <- db.update(ctx, func(c *conn) error { return mark(c, "good") }) }()
			synctest.Wait()
			close(gate)
			if err := <-answer; err != nil {
				t.Error(err)
			}
			if got := names(t, db); got != "good" {
				t.Errorf("kept: %s", got)
			}
		}))
	}
}

func TestViewWaitsForAConnectionOnlyAsLongAsItsContext(t *testing.T) {
	db := openTest(t, nil)
	var held []*conn
	for range cap(db.readers.free) {
		c, err := db.begin(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, c)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if err := db.Ping(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("with all connections in use: %v", err)
	}
	for _, c := range held {
		db.end(c)
	}
	if err := db.Ping(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestPanicInAView(t *testing.T) {
	db := openTest(t, nil)
	func() {
		defer func() {
			if p := recover(); p != "help" {
				t.Errorf("the panic came out as %v", p)
			}
		}()
		db.view(context.Background(), func(c *conn) error {
			c.query("SELECT name FROM sqlite_schema").next() // and never closes it
			panic("help")
		})
	}()
	for _, c := range db.readers.idle {
		if len(c.openRows) > 0 {
			t.Error("a connection with open rows is kept for others")
		}
	}
	if err := db.Ping(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestCloseWaitsAndLeavesNoGoroutine(t *testing.T) {
	before := runtime.NumGoroutine()
	db := openTest(t, nil)
	started, gate := make(chan bool), make(chan bool)
	answer := make(chan error, 1)
	go func() {
		answer <- db.update(context.Background(), func(c *conn) error { close(started); <-gate; return mark(c, "a") })
	}()
	<-started
	closed := make(chan error, 1)
	go func() { closed <- db.Close() }()
	select {
	case err := <-closed:
		t.Fatalf("closed under a running update: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	close(gate)
	if err := errors.Join(<-answer, <-closed); err != nil {
		t.Error(err)
	}
	for what, err := range map[string]error{
		"view":   db.Ping(context.Background()),
		"update": db.update(context.Background(), func(*conn) error { return nil }),
		"backup": db.Backup(context.Background(), db.path+".copy"),
	} {
		if !errors.Is(err, errClosed) {
			t.Errorf("%s after Close: %v", what, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Errorf("closing again: %v", err)
	}
	waitFor(t, func() bool { return runtime.NumGoroutine() <= before })
	if hasLog(db.path) {
		t.Error("the log is still there")
	}
}
