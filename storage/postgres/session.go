package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/vitrine-go/vitrine/storage/internal/migration"
)

// The server ends a transaction in which no statement is sent for this long, and releases its locks.
const (
	// An update computes between two statements and waits for nobody.
	idleUpdate = time.Minute
	// A View may stream to a client that reads slowly: before its next statement it sends what the one before has read.
	idleView = time.Hour
)

// settings is the list of settings with which all transactions run. They are set once for each connection or, behind a pooler,
// in each transaction. An acknowledged write must be durable on the server and on its synchronous standbys, so a weaker
// synchronous_commit of the server is overruled; a stronger one stays. With the keepalives the server notices that the machine of
// a client is gone, and releases its locks. If $3 is true, the settings end with the transaction.
const settings = `set_config('lock_timeout', $1, $3), set_config('idle_in_transaction_session_timeout', $2, $3),
	set_config('synchronous_commit', CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, $3),
	set_config('tcp_keepalives_idle', '30', $3), set_config('tcp_keepalives_interval', '10', $3), set_config('tcp_keepalives_count', '3', $3)`

// settings returns the arguments of the list of settings. local says that they end with the transaction.
func (db *DB) settings(local bool) []any {
	return []any{milliseconds(db.busy), milliseconds(idleView), local}
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// errPooler means that a connection leads to a pooler, although the first one of the store did not.
var errPooler = errors.New("the address leads to a connection pooler now, and did not when the store was opened: open the store again")

// prepare sets up a new connection. It returns errPooler if the connection leads to a pooler and db is not made for one, and an
// error if the server is older than the oldest release that works.
//
// Behind a pooler the settings of a connection would apply to other clients, so nothing is set then. A pooler tells its clients
// another process number than that of the server process, so the two are compared.
func (db *DB) prepare(ctx context.Context, c *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, max(db.busy, connectWait)) // a pooler may have no connection to give
	defer cancel()
	const local = "pg_backend_pid() <> $4::int8"
	sql := "SELECT " + local + ", current_setting('server_version_num')::int8, " + strings.ReplaceAll(settings, "$3", "$3 OR "+local)
	var pooler bool
	var release int64
	var set [6]string
	args := append([]any{pgx.QueryExecModeExec}, append(db.settings(false), int64(c.PgConn().PID()))...)
	err := c.QueryRow(ctx, sql, args...).Scan(&pooler, &release, &set[0], &set[1], &set[2], &set[3], &set[4], &set[5])
	switch {
	case err != nil && c.IsClosed():
		return fmt.Errorf("%w: %w", errLost, err)
	case err != nil:
		return err
	case pooler && !db.pooled:
		return errPooler
	case release < oldest:
		return fmt.Errorf("PostgreSQL %d is too old: %d or newer is needed", release/10000, oldest/10000)
	}
	return nil
}

// needsPooling reports whether err, the error of the first connection, means that it leads to a pooler. Some poolers refuse a
// connection because of a startup parameter that they do not know.
func needsPooling(err error) bool {
	return errors.Is(err, errPooler) || code(err) == "08P01" && strings.Contains(err.Error(), "startup parameter")
}

// behindPooler changes the configuration of a pool for connections that lead to a pooler. There each transaction may run on
// another connection to the server. So settings are made in each transaction, and statements are not kept prepared, unless the
// address says how to execute them.
func (db *DB) behindPooler(config *pgxpool.Config, address string) {
	db.pooled = true
	if !strings.Contains(address, "default_query_exec_mode") {
		config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	}
	// Poolers know these startup parameters. All others, such as search_path, are set in each transaction.
	known := []string{"application_name", "client_encoding", "datestyle", "timezone", "standard_conforming_strings"}
	params := config.ConnConfig.RuntimeParams
	for _, name := range slices.Sorted(maps.Keys(params)) {
		if !slices.Contains(known, strings.ToLower(name)) {
			db.params = append(db.params, name)
			db.values = append(db.values, params[name])
			delete(params, name)
		}
	}
}

// opening returns the statements that begin a transaction: begin itself, behind a pooler the settings, and in an update the
// checks of the schema and of the builder.
func (db *DB) opening(begin string) []statement {
	out := []statement{{sql: begin}}
	if db.pooled {
		out = append(out, statement{sql: "SELECT " + settings, args: db.settings(true)})
		if len(db.params) > 0 {
			out = append(out, statement{sql: setParams, args: []any{db.params, db.values}})
		}
	}
	if begin == beginUpdate {
		// Having read the table, the transaction keeps a newer release from changing the schema until it ends; see lockSchema.
		out = append(out, statement{sql: lookAtSchema, args: []any{milliseconds(idleUpdate)}, take: db.sameSchema})
		if db.builder != "" {
			out = append(out, stillBuilding(db.builder))
		}
	}
	return out
}

const (
	setParams = "SELECT set_config(name, value, true) FROM unnest($1::text[], $2::text[]) AS s (name, value)"
	// lookAtSchema reads the number of the schema, and sets how long an update may be idle.
	lookAtSchema = "SELECT coalesce(max(number), 0), set_config('idle_in_transaction_session_timeout', $1, true) FROM vitrine_schema"
)

// sameSchema takes the result of lookAtSchema. It returns migration.ErrNewer if the store has a newer schema than this release
// knows.
func (db *DB) sameSchema(found *rows) error {
	if found.next() {
		return migration.CheckKnown(found.int(0), db.schema)
	}
	return found.err
}

// inTx runs fn in a transaction on c that is neither a view nor an update, as Open and Build need it. It commits if fn returns
// nil.
func (db *DB) inTx(ctx context.Context, c *pgx.Conn, fn func(pgx.Tx) error) error {
	return pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
		if err := db.localSettings(ctx, tx); err != nil {
			return err
		}
		return fn(tx)
	})
}

// localSettings sets the settings of the store within a transaction, if the connection leads to a pooler.
func (db *DB) localSettings(ctx context.Context, tx pgx.Tx) error {
	for _, s := range db.opening(beginView)[1:] {
		if _, err := tx.Exec(ctx, s.sql, s.args...); err != nil {
			return err
		}
	}
	return nil
}
