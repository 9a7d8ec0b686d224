package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/vitrine-go/vitrine/storage"
)

var (
	errLost    = errors.New("the connection to the server was lost, or there was none")
	errBusy    = errors.New("timed out")
	errUnknown = errors.New("the connection, or the wait for a standby, was lost during the commit: it may or may " +
		"not have been done")
)

// wrap adds the error of package storage to an error of the server or of a connection. Other errors, such as those of
// the caller's function, stay as they are.
func wrap(err error) error {
	switch {
	case err == nil, errors.Is(err, storage.ErrUnknown), errors.Is(err, storage.ErrFull),
		errors.Is(err, storage.ErrBusy):
		return err
	case errors.Is(err, errUnknown):
		return fmt.Errorf("postgres: %w: %w", storage.ErrUnknown, err)
	case code(err)[:2] == "53" && code(err) != "53300": // no more disk or memory; 53300 is too many connections
		return fmt.Errorf("postgres: %w: %w", storage.ErrFull, err)
	case code(err) == "55P03", code(err) == "57014", // lock_timeout, statement_timeout
		repeatable(err), errors.Is(err, errBusy), errors.Is(err, errNewer):
		return fmt.Errorf("postgres: %w: %w", storage.ErrBusy, err)
	}
	return err
}

// told is an error with a text for whoever runs the server: the cause first, then what to do.
type told struct {
	text string
	error
}

func (t told) Error() string { return t.text }
func (t told) Unwrap() error { return t.error }

// tell returns the error of a connection, or of a statement that the server refuses to everybody alike, as one
// sentence. Other errors stay as they are.
func tell(err error) error {
	var failed *pgconn.ConnectError
	var refused *pgconn.PgError
	connecting, answered := errors.As(err, &failed), errors.As(err, &refused)
	if !connecting && !answered {
		return err
	}
	if !answered {
		text := "cannot connect: " + strings.Join(causes(failed.Unwrap()), "; ")
		switch {
		case strings.HasSuffix(text, noTLS):
			text += ": let it have TLS, or set sslmode=disable where nobody can listen"
		case errors.As(err, new(*net.OpError)), errors.As(err, new(*net.DNSError)):
			text += ": check the host and the port of the address, and whether the server runs and listens there"
		}
		return told{text, err}
	}
	do := ""
	switch refused.Code {
	case "28P01":
		do = "check the user and the password, which the address, PGPASSWORD or the file of PGPASSFILE has"
	case "28000": // no such role, or pg_hba.conf does not let it in
		do = "check the user and the database of the address, and what pg_hba.conf lets in"
	case "3D000":
		do = "create it, with CREATE DATABASE and the role of the address as its OWNER, or name another one"
	case "42501":
		do = "let the role of the address own the database, or a schema that search_path=… names"
	case "53300":
		do = "raise max_connections, or let fewer programs connect (pool_max_conns=… in their addresses)"
	case "57P03":
		do = "wait until it has started, or see its log"
	case readOnly:
		do = "this is a standby, or was made read-only: name the primary, or all servers with " +
			"target_session_attrs=read-write"
	default:
		if !connecting {
			return err
		}
		return told{"the server refuses the connection: " + refused.Error(), err}
	}
	return told{refused.Message + ": " + do, err}
}

// lost wraps an error with errLost. That of a standby, where the connection is well, says so itself.
func lost(err error) error {
	out := fmt.Errorf("%w: %w", errLost, tell(err))
	if code(err) == readOnly {
		return told{tell(err).Error(), out}
	}
	return out
}

// causes returns what was wrong at each server that was tried, each once. A server without TLS is tried without it,
// unless the address asks for TLS.
func causes(err error) (all []string) {
	var called *net.OpError
	var named *net.DNSError
	text := strings.NewReplacer("AfterConnect error: ", "", "ValidateConnect failed: ", "").Replace(err.Error())
	switch each, several := err.(interface{ Unwrap() []error }); {
	case several:
		for _, err := range each.Unwrap() {
			all = append(all, causes(err)...)
		}
		if last := len(all) - 1; last > 0 && !strings.HasSuffix(all[last], noTLS) {
			all = slices.DeleteFunc(all, func(text string) bool { return strings.HasSuffix(text, noTLS) })
		}
		return slices.Compact(all)
	case errors.As(err, &named):
		text = "no address of the host " + named.Name + " is known: " + named.Err
	case errors.As(err, &called) && called.Addr != nil:
		text = called.Addr.String() + ": " + called.Err.Error()
	}
	return []string{text}
}

// noTLS ends the error of pgx for a server that has no TLS.
const noTLS = "server refused TLS connection"

// code returns the SQLSTATE of err, or "00000" if it has none.
func code(err error) string {
	if e := (*pgconn.PgError)(nil); errors.As(err, &e) && len(e.Code) == 5 {
		return e.Code
	}
	return "00000"
}

// repeatable reports whether nothing was committed and a retry of the same transaction may succeed.
func repeatable(err error) bool {
	if err == nil || errors.Is(err, errUnknown) || errors.Is(err, context.Canceled) ||
		errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	switch code(err) {
	case "40001", "40P01", // a conflict with the recovery of a standby, deadlock
		"25P03",                            // the update was idle for too long
		"57P01", "57P02", "57P03", "53300": // the server stops, starts, or has too many connections
		return true
	}
	return errors.Is(err, errLost) || errors.Is(err, errOther)
}

// again runs do, and retries it for at most Options.Busy while it returns an error that is repeatable. Before a retry
// it waits for a random time, of about a millisecond at first and about 100 at last.
func (s *store) again(ctx context.Context, do func() error) error {
	begun := time.Now()
	for wait := time.Millisecond; ; wait = min(2*wait, 100*time.Millisecond) {
		err := do()
		if !repeatable(err) || time.Since(begun) > s.busy {
			return err
		}
		select {
		case <-time.After(wait/2 + rand.N(wait)):
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		}
	}
}

// outcome wraps an error that came after the COMMIT was sent:
//
//   - with errLost, so that the update runs again, if the server never got the COMMIT or is a standby, which writes
//     nothing;
//   - not at all if the server has responded and has not committed;
//   - with errUnknown if it is unknown whether the server has committed.
//
// atCommit says that the error is the response to the COMMIT, and not to a statement that was sent before it. After a
// fatal error at the COMMIT the server may have committed. An error of class 08 comes from a pooler that has lost the
// server, and does not know either whether the server has received the COMMIT.
func outcome(err error, atCommit, closed bool) error {
	var told *pgconn.PgError
	fatal := func() bool { return told.SeverityUnlocalized == "FATAL" || told.SeverityUnlocalized == "PANIC" }
	switch {
	case err == nil:
		return nil
	case pgconn.SafeToRetry(err) || code(err) == readOnly:
		return lost(err)
	case errors.As(err, &told) && !(atCommit && fatal()) && code(err)[:2] != "08":
		return err
	// the server has responded; the error was made here, as for a ROLLBACK in response to COMMIT
	case !closed && told == nil:
		return err
	}
	return fmt.Errorf("%w: %w", errUnknown, err)
}

// readOnly is the SQLSTATE with which a standby rejects a write.
const readOnly = "25006"
