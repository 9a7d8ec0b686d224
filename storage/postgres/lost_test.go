//go:build proof

package postgres

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/cluster"
)

// openCut opens a store of which every connection can be cut, and one of the same data that cannot.
func openCut(t *testing.T, o *Options) (cut, whole *DB, cutter *cluster.Cutter) {
	t.Helper()
	address := cluster.Schema(t)
	cutter = cluster.Shared(t).Cutter(t)
	whole = openAt(t, address, nil)
	whole.script(t, "CREATE TABLE n (n int8 PRIMARY KEY)")
	return openAt(t, cutter.Behind(address), o), whole, cutter
}

func TestAConnectionLostAtCommitIsErrUnknownAndNotRetried(t *testing.T) {
	for name, test := range map[string]struct {
		arrives bool
		kept    string
	}{
		"the server hears nothing":   {false, ""},
		"the client hears no answer": {true, "1"},
	} {
		t.Run(name, func(t *testing.T) {
			db, whole, cutter := openCut(t, nil)
			if err := db.Ping(ctx); err != nil {
				t.Fatal(err)
			}
			cutter.CutAt("COMMIT", test.arrives)
			runs := 0
			err := appErrors.wrap(db.update(ctx, func(c *conn) error {
				runs++
				_, err := c.exec(ctx, "INSERT INTO n VALUES (1)")
				return err
			}))
			if !errors.Is(err, vitrine.ErrUnknown) || errors.Is(err, vitrine.ErrBusy) {
				t.Errorf("error %v, want ErrUnknown", err)
			}
			if runs != 1 {
				t.Errorf("the function ran %d times", runs)
			}
			if got := whole.numbers(t); got != test.kept {
				t.Errorf("kept: %q, want %q", got, test.kept)
			}
			if err := db.update(ctx, func(c *conn) error { c.later("INSERT INTO n VALUES (2)"); return nil }); err != nil {
				t.Errorf("the next update: %v", err)
			}
		})
	}
}

// The same for writes that wait for the commit, and so are sent with it.
func TestAConnectionLostWithTheWritesOfACommit(t *testing.T) {
	db, whole, cutter := openCut(t, nil)
	cutter.CutAt("COMMIT", true)
	err := db.update(ctx, func(c *conn) error { c.later("INSERT INTO n VALUES (1)"); return nil })
	if !errors.Is(err, errUnknown) || whole.numbers(t) != "1" {
		t.Errorf("error %v, kept %q", err, whole.numbers(t))
	}
}

func TestAConnectionLostBeforeTheCommitIsRetried(t *testing.T) {
	db, whole, cutter := openCut(t, nil)
	const insert = "INSERT INTO n VALUES ($1)"
	for n, arrives := range []bool{true, false} {
		cutter.CutAt(insert, arrives)
		err := db.update(ctx, func(c *conn) error {
			_, err := c.exec(ctx, insert, n)
			return err
		})
		if err != nil {
			t.Errorf("update: %v", err)
		}
	}
	if got := whole.numbers(t); got != "0,1" {
		t.Errorf("kept %s", got)
	}
	cutter.CutAt("SELECT n FROM n", false)
	err := db.view(ctx, func(c *conn) error { return c.query(ctx, "SELECT n FROM n").err })
	if err != nil || cutter.Planned() > 0 {
		t.Errorf("view: %v, with %d cuts to come", err, cutter.Planned())
	}
	cutter.CutAll() // while they are idle
	if err := db.Ping(ctx); err != nil {
		t.Errorf("Ping: %v", err)
	}
}

func TestAConnectionLostAtItsBeginningIsRetried(t *testing.T) {
	db, _, cutter := openCut(t, nil)
	cutter.CutAll()
	cutter.CutAtText("set_config")
	err := db.update(ctx, func(c *conn) error { c.later("INSERT INTO n VALUES (1)"); return c.query(ctx, "SELECT 1").err })
	if err != nil || cutter.Planned() > 0 {
		t.Errorf("%v, with %d cuts to come", err, cutter.Planned())
	}
}

// A server that gives up waiting for its standby says that the commit is done.
func TestACommitThatStopsWaitingForItsStandbyIsErrUnknown(t *testing.T) {
	c := cluster.New(t, nil)
	db := openAt(t, c.URL("postgres"), nil)
	db.script(t, "CREATE TABLE n (n int8 PRIMARY KEY)")
	if err := c.Set(ctx, "synchronous_standby_names = 'absent'"); err != nil {
		t.Fatal(err)
	}
	given := make(chan error, 1)
	go func() {
		given <- db.update(ctx, func(c *conn) error { c.later("INSERT INTO n VALUES (1)"); return nil })
	}()
	const cancel = "SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
	for cancelled := "0"; cancelled == "0"; {
		var err error
		if cancelled, err = c.Value(ctx, "postgres", cancel); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-given; !errors.Is(err, errUnknown) || db.numbers(t) != "1" {
		t.Errorf("error %v, want errUnknown", err)
	}
	if err := c.Set(ctx, "synchronous_standby_names = ''"); err != nil {
		t.Fatal(err)
	}
	if err := db.update(ctx, func(c *conn) error { c.later("INSERT INTO n VALUES (2)"); return nil }); err != nil {
		t.Errorf("the next update: %v", err)
	}
}

// A function that may run only once gets an error instead of another run.
func TestViewOnceRunsOnce(t *testing.T) {
	db, _, cutter := openCut(t, nil)
	cutter.CutAt("SELECT n FROM n", false)
	runs := 0
	err := db.viewOnce(ctx, func(c *conn) error {
		runs++
		return c.query(ctx, "SELECT n FROM n").err
	})
	if runs != 1 || !errors.Is(err, errLost) {
		t.Errorf("%d runs, error %v", runs, err)
	}
	cutter.CutAt("SELECT 1", false) // the snapshot is not there yet
	if err := db.viewOnce(ctx, func(c *conn) error { return nil }); err != nil {
		t.Error(err)
	}
}

func TestAnUnreachableServerIsRetriedAndThenErrBusy(t *testing.T) {
	c := cluster.New(t, &cluster.Options{Settings: []string{"autovacuum = off"}})
	patient, hasty := openAt(t, c.URL("postgres"), &Options{Busy: time.Minute}), openAt(t, c.URL("postgres"), &Options{Busy: 500 * time.Millisecond})
	patient.script(t, "CREATE TABLE n (n int8 PRIMARY KEY)")
	insert := func(n int) func(*conn) error {
		return func(c *conn) error { c.later("INSERT INTO n VALUES ($1)", n); return c.query(ctx, "SELECT 1").err }
	}
	if err := c.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := appErrors.wrap(hasty.update(ctx, insert(1))); !errors.Is(err, vitrine.ErrBusy) {
		t.Errorf("without a server: %v, want ErrBusy", err)
	}
	kept := make(chan error, 1)
	go func() { kept <- patient.update(ctx, insert(2)) }()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if err := <-kept; err != nil {
		t.Errorf("when the server came back: %v", err)
	}
	hasty.busy = time.Minute // which is for whether it connects again, not how fast
	if err := hasty.update(ctx, insert(3)); err != nil || patient.numbers(t) != "2,3" {
		t.Errorf("%v; kept %s", err, patient.numbers(t))
	}
}

func TestAFullDiskIsErrFull(t *testing.T) {
	for state, want := range map[string]error{"53100": vitrine.ErrFull, "53200": vitrine.ErrFull, "53300": vitrine.ErrBusy, "57014": vitrine.ErrBusy, "22012": nil} {
		db := openTest(t, &Options{Busy: time.Minute})
		if want == vitrine.ErrBusy { // after it has been tried again
			db.busy = time.Millisecond
		}
		err := appErrors.wrap(db.update(ctx, func(c *conn) error {
			_, err := c.exec(ctx, fmt.Sprintf("DO $$ BEGIN RAISE EXCEPTION 'full' USING ERRCODE = '%s'; END $$", state))
			return err
		}))
		if err == nil || want != nil && !errors.Is(err, want) || want == nil && (errors.Is(err, vitrine.ErrFull) || errors.Is(err, vitrine.ErrBusy)) {
			t.Errorf("%s: error %v, want %v", state, err, want)
		}
	}
}

// On a standby one can read; writing waits for a primary, and is busy.
func TestAReadOnlyServerIsErrBusy(t *testing.T) {
	address := cluster.Schema(t)
	openAt(t, address, nil)
	db := openAt(t, address+"&default_transaction_read_only=on", &Options{Busy: time.Minute})
	if err := db.Ping(ctx); err != nil {
		t.Errorf("reading: %v", err)
	}
	db.busy = 20 * time.Millisecond
	for name, fn := range map[string]func(*conn) error{
		"a statement":          func(c *conn) error { c.claim("x", "y"); return c.query(ctx, "SELECT 1").err },
		"one with the commit":  func(c *conn) error { c.claim("x", "y"); return nil },
		"one that fn is quiet": func(c *conn) error { c.claim("x", "y"); c.query(ctx, "SELECT 1"); return nil },
	} {
		if err := appErrors.wrap(db.update(ctx, fn)); !errors.Is(err, vitrine.ErrBusy) || errors.Is(err, vitrine.ErrUnknown) {
			t.Errorf("%s: %v, want ErrBusy", name, err)
		}
	}
}

// A server that is not there is not busy: the domains' error for one that is says what it is.
func TestTheErrorOfAStoppedServerSaysThatItIsNotAvailable(t *testing.T) {
	db, _, cutter := openCut(t, &Options{Busy: 50 * time.Millisecond})
	for range 200 {
		cutter.CutAtText("set_config")
	}
	cutter.CutAll()
	err := appErrors.wrap(db.update(ctx, func(c *conn) error { return c.query(ctx, "SELECT 1").err }))
	if !errors.Is(err, vitrine.ErrBusy) || !strings.Contains(err.Error(), "not available") || strings.Contains(err.Error(), "busy") {
		t.Errorf("error %v", err)
	}
}
