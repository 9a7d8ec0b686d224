//go:build proof

package postgres

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/vitrine-go/vitrine/internal/cluster"
	"github.com/vitrine-go/vitrine/storage"
)

func put(s storage.Store, key, value string) error {
	return s.Update(ctx, storage.SpaceOf(key), storage.UpdateOptions{}, func(t storage.Tx) error {
		return t.Put(ctx, storage.Entry{Key: key, Value: []byte(value)})
	})
}

func value(t *testing.T, s storage.Store, key string) string {
	t.Helper()
	var found string
	err := s.View(ctx, func(r storage.Reader) error {
		values, err := r.Get(ctx, key)
		if err == nil {
			found = string(values[0])
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return found
}

// openCut opens a store of which every connection can be cut, and one of the same data that cannot.
func openCut(t *testing.T, o *Options) (cut, whole opened, cutter *Cutter) {
	t.Helper()
	whole = openTest(t, nil)
	cutter = NewCutter(t, cluster.Shared(t))
	return openAt(t, cutter.Behind(whole.address), o), whole, cutter
}

func TestAConnectionLostAtCommitIsErrUnknownAndNotRetried(t *testing.T) {
	for arrives, kept := range map[bool]string{false: "", true: "x"} {
		for _, large := range []bool{false, true} {
			db, whole, cutter := openCut(t, nil)
			if err := db.Ping(ctx); err != nil {
				t.Fatal(err)
			}
			runs := 0
			cutter.CutAt("COMMIT", arrives)
			err := db.Update(ctx, "a", storage.UpdateOptions{Large: large}, func(t storage.Tx) error {
				runs++
				return t.Put(ctx, storage.Entry{Key: "a 1", Value: []byte("x")})
			})
			if !errors.Is(err, storage.ErrUnknown) || errors.Is(err, storage.ErrBusy) || runs != 1 {
				t.Errorf("error %v after %d runs, want ErrUnknown after one", err, runs)
			}
			if got := value(t, whole, "a 1"); got != kept {
				t.Errorf("kept %q, want %q", got, kept)
			}
			if err := put(db, "a 2", "y"); err != nil {
				t.Errorf("the next update: %v", err)
			}
		}
	}
}

func TestAConnectionLostBeforeTheCommitIsRetried(t *testing.T) {
	db, whole, cutter := openCut(t, nil)
	for i, arrives := range []bool{true, false} {
		cutter.CutAt(lockSpace, arrives)
		if err := put(db, fmt.Sprint("a ", i), "x"); err != nil || value(t, whole, fmt.Sprint("a ", i)) != "x" {
			t.Errorf("update: %v", err)
		}
	}
	cutter.CutAt("SELECT key, value FROM vitrine_record WHERE key = ANY($1)", false)
	if got := value(t, db, "a 0"); got != "x" || cutter.Planned() > 0 {
		t.Errorf("a View reads %q, with %d cuts to come", got, cutter.Planned())
	}
	cutter.CutAll() // while they are idle
	if err := db.Ping(ctx); err != nil {
		t.Errorf("Ping: %v", err)
	}
}

func TestAnUnreachableServerIsRetriedAndThenErrBusy(t *testing.T) {
	c := cluster.New(t, &cluster.Options{Settings: []string{"autovacuum = off"}})
	patient := openAt(t, c.URL("postgres"), &Options{Busy: time.Minute})
	hasty := openAt(t, c.URL("postgres"), &Options{Busy: 500 * time.Millisecond})
	if err := c.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := put(hasty, "a 1", "x"); !errors.Is(err, storage.ErrBusy) {
		t.Errorf("without a server: %v, want ErrBusy", err)
	}
	kept := make(chan error, 1)
	go func() { kept <- put(patient, "a 2", "x") }()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if err := <-kept; err != nil || value(t, patient, "a 1")+value(t, patient, "a 2") != "x" {
		t.Errorf("when the server came back: %v", err)
	}
}

func TestAReadOnlyServerIsErrBusy(t *testing.T) {
	whole := openTest(t, nil)
	if err := put(whole, "a 1", "x"); err != nil {
		t.Fatal(err)
	}
	db := openAt(t, whole.address+"&default_transaction_read_only=on", &Options{Busy: 500 * time.Millisecond})
	if got := value(t, db, "a 1"); got != "x" {
		t.Errorf("reading: %q", got)
	}
	for _, o := range []storage.UpdateOptions{{}, {Large: true}, {Exclusive: true}} {
		err := db.Update(ctx, "a", o, func(t storage.Tx) error { return t.Put(ctx, storage.Entry{Key: "a 2"}) })
		if !errors.Is(err, storage.ErrBusy) || errors.Is(err, storage.ErrUnknown) ||
			strings.Contains(err.Error(), "lost") || !strings.Contains(err.Error(), "this is a standby, or was made") {
			t.Errorf("%+v: %v, want ErrBusy with what to do", o, err)
		}
	}
}

// Each is a sentence with its cause first, and then what to do. Its words are those of the server.
func TestErrorsOfConnectionsSayTheCauseFirst(t *testing.T) {
	c := cluster.Shared(t)
	empty := cluster.Database(t)
	const roles = "CREATE ROLE told_plain LOGIN; CREATE ROLE told_few LOGIN CONNECTION LIMIT 0"
	if err := c.Exec(ctx, "postgres", roles); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Exec(ctx, "postgres", "DROP ROLE told_plain, told_few") })
	by := func(role string) string { return strings.Replace(empty, "user="+cluster.User, "user="+role, 1) }
	for address, want := range map[string]string{
		"postgres://u@127.0.0.1:1,127.0.0.1:2/d": "cannot connect: 127.0.0.1:1: connect: connection refused; " +
			"127.0.0.1:2: connect: connection refused: check the host and the port",
		"postgres://u:a/b#c@127.0.0.1/d":            "in a user and a password, characters such as / ? # @ : %",
		"postgres://u@host.invalid/d":               "cannot connect: no address of the host host.invalid is known: ",
		c.URL("absent"):                             `database "absent" does not exist: create it`,
		by("nobody"):                                `role "nobody" does not exist: check the user`,
		by("told_plain"):                            "permission denied for schema public: let the role of",
		by("told_few"):                              `too many connections for role "told_few": raise max_connections`,
		empty + "&default_transaction_read_only=on": "in a read-only transaction: this is a standby, or was made",
		empty + "&target_session_attrs=standby":     "server is not in hot standby mode",
		empty + "&no_setting=1":                     `the server refuses the connection: FATAL: unrecognized`,
	} {
		db, err := Open(ctx, address, nil)
		if err == nil {
			t.Errorf("%s: no error", address)
			_ = db.Close()
			continue
		}
		if text := err.Error(); !strings.HasPrefix(text, "postgres: ") || !strings.Contains(text, want) ||
			strings.Contains(text, "failed to connect") || strings.Contains(text, "\n") {
			t.Errorf("%s: %v, want %q", address, err, want)
		}
	}
}

func TestErrorsOfTheServer(t *testing.T) {
	for state, want := range map[string]error{"53100": storage.ErrFull, "53200": storage.ErrFull,
		"53300": storage.ErrBusy, "55P03": storage.ErrBusy, "57P01": storage.ErrBusy} {
		if err := wrap(&pgconn.PgError{Code: state}); !errors.Is(err, want) {
			t.Errorf("%s is %v, want %v", state, err, want)
		}
	}
	for _, test := range []struct {
		name     string
		said     pgconn.PgError
		atCommit bool
		unknown  bool
	}{
		{"a pooler, before the COMMIT is answered", pgconn.PgError{Code: "08P01"}, false, true},
		{"a pooler, in answer to the COMMIT", pgconn.PgError{Code: "08P01"}, true, true},
		{"the server, before the COMMIT is answered", pgconn.PgError{SeverityUnlocalized: "FATAL", Code: "57P01"},
			false, false},
		{"the server, in answer to the COMMIT", pgconn.PgError{SeverityUnlocalized: "FATAL", Code: "57P01"}, true,
			true},
	} {
		if err := outcome(&test.said, test.atCommit, false); errors.Is(err, errUnknown) != test.unknown {
			t.Errorf("%s: %v, unknown should be %t", test.name, err, test.unknown)
		}
	}
}

// A server that gives up waiting for its standby says that the commit is done.
func TestACommitThatStopsWaitingForItsStandbyIsErrUnknown(t *testing.T) {
	c := cluster.New(t, nil)
	db := openAt(t, c.URL("postgres"), nil)
	if err := c.Set(ctx, "synchronous_standby_names = 'absent'"); err != nil {
		t.Fatal(err)
	}
	given := make(chan error, 1)
	go func() { given <- put(db, "a 1", "x") }()
	const cancel = "SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
	for cancelled := "0"; cancelled == "0"; {
		var err error
		if cancelled, err = c.Value(ctx, "postgres", cancel); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-given; !errors.Is(err, storage.ErrUnknown) || value(t, db, "a 1") != "x" {
		t.Errorf("error %v, want ErrUnknown", err)
	}
}

// Behind PgBouncer, no setting of a transaction stays on its connection, which another client gets next.
func TestAPoolerKeepsNoSettings(t *testing.T) {
	c := cluster.Shared(t)
	address := strings.Replace(cluster.Schema(t), c.URL("postgres"), c.URLBy(startPooler(t, c), "postgres"), 1)
	db := openAt(t, address, &Options{Busy: time.Minute})
	if err := put(db, "a 1", "x"); err != nil || !db.s.pooled || value(t, db, "a 1") != "x" {
		t.Errorf("%v; the pooler was noticed: %t", err, db.s.pooled)
	}
	var lock, idle string
	const sql = "SELECT current_setting('lock_timeout'), current_setting('idle_in_transaction_session_timeout')"
	if err := db.s.pool.QueryRow(ctx, sql).Scan(&lock, &idle); err != nil || lock != "0" || idle != "0" {
		t.Errorf("a connection kept lock_timeout %s and idle_in_transaction_session_timeout %s: %v", lock, idle, err)
	}
}
