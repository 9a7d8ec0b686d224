//go:build proof

package postgres

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/vitrine-go/vitrine/internal/cluster"
)

// PgBouncer says "server conn crashed?" when the server has gone with a transaction. The COMMIT may have arrived, also when
// it says so in answer to a statement that was sent along with the COMMIT.
func TestAPoolerThatLosesItsServerAtACommitLeavesTheOutcomeUnknown(t *testing.T) {
	db := openAt(t, cluster.Schema(t), nil)
	err := db.update(ctx, func(c *conn) error {
		if err := c.query(ctx, "SELECT 1").err; err != nil {
			return err
		}
		for _, test := range []struct {
			name     string
			said     pgconn.PgError
			atCommit bool
			unknown  bool
		}{
			{"the pooler, before the COMMIT is answered", pgconn.PgError{Severity: "FATAL", Code: "08P01"}, false, true},
			{"the pooler, in answer to the COMMIT", pgconn.PgError{Severity: "FATAL", Code: "08P01"}, true, true},
			{"the server, before the COMMIT is answered", pgconn.PgError{Severity: "FATAL", SeverityUnlocalized: "FATAL", Code: "57P01"}, false, false},
			{"the server, in answer to the COMMIT", pgconn.PgError{Severity: "FATAL", SeverityUnlocalized: "FATAL", Code: "57P01"}, true, true},
		} {
			if err := c.outcome(&test.said, test.atCommit); errors.Is(err, errUnknown) != test.unknown {
				t.Errorf("%s: %v, unknown should be %t", test.name, err, test.unknown)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
