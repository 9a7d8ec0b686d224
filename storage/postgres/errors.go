package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
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
		return fmt.Errorf("%w: %w", errLost, err)
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
