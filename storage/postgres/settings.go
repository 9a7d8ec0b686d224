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
)

// The server ends a transaction in which no statement is sent for this long, and releases its locks.
const (
	// An update only computes between two statements, and meanwhile other updates of its space wait.
	idleUpdate = 5 * time.Second
	// A View may stream to a client that reads slowly: between two statements it sends what the first has read.
	idleView = time.Hour
)

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// settings are those with which all transactions run. They are set once for each connection or, behind a pooler, in
// each transaction, together with those that the address names.
func settings(busy time.Duration) map[string]string {
	return map[string]string{
		"lock_timeout":                        milliseconds(busy),
		"idle_in_transaction_session_timeout": milliseconds(idleView),
		// An acknowledged write must be durable on the server and on its synchronous standbys, so a weaker setting is
		// overruled.
		"synchronous_commit": "on",
		// The server notices that the machine of a client is down, and releases its locks.
		"tcp_keepalives_idle": "30", "tcp_keepalives_interval": "10", "tcp_keepalives_count": "3",
		// Every statement uses an index, even if the planner estimates that a table is small.
		"enable_seqscan": "off", "enable_bitmapscan": "off", "plan_cache_mode": "force_generic_plan", "jit": "off",
	}
}

// setting is an SQL expression for the value of a setting: it keeps a stronger synchronous_commit of the server.
const setting = "CASE WHEN name = 'synchronous_commit' AND current_setting(name) = 'remote_apply' THEN " +
	"'remote_apply' ELSE value END"

// errPooler means that a connection leads to a pooler, although the first one of the store did not.
var errPooler = errors.New("the address leads to a connection pooler now, and did not when the store was opened: " +
	"open the store again")

// oldest is the oldest version of PostgreSQL that can run all statements, as server_version_num writes it.
const oldest = 130000

// prepare sets up a new connection. It returns errPooler if the connection leads to a pooler and s is not made for one,
// and an error if the server is too old.
//
// Behind a pooler the settings of a connection would apply to other clients, so nothing is set then. A pooler is
// detected by its process number, which differs from that of the server process.
func (s *store) prepare(ctx context.Context, c *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, max(s.busy, connectWait)) // a pooler may have no free connection
	defer cancel()
	const pooler = "pg_backend_pid() <> $3::int8"
	const sql = "SELECT " + pooler + ", current_setting('server_version_num')::int8, count(set_config(name, " +
		setting + ", " + pooler + `))
		FROM unnest($1::text[], $2::text[]) AS s (name, value)`
	var pooled bool
	var release, set int64
	names, values := lists(settings(s.busy))
	err := c.QueryRow(ctx, sql, pgx.QueryExecModeExec, names, values, int64(c.PgConn().PID())).Scan(&pooled, &release,
		&set)
	switch {
	case err != nil && c.IsClosed():
		return lost(err)
	case err != nil:
		return err
	case pooled && !s.pooled:
		return errPooler
	case release < oldest:
		return tooOld(int(release))
	}
	return nil
}

func tooOld(release int) error {
	return fmt.Errorf("PostgreSQL %d is too old: %d or newer is needed", release/10000, oldest/10000)
}

// lists returns the names of settings and their values.
func lists(of map[string]string) (names, values []string) {
	for _, name := range slices.Sorted(maps.Keys(of)) {
		names, values = append(names, name), append(values, of[name])
	}
	return names, values
}

// needsPooling reports whether err, the error of the first connection, means that it leads to a pooler. Some poolers
// reject a connection with a startup parameter that they do not know.
func needsPooling(err error) bool {
	return errors.Is(err, errPooler) || code(err) == "08P01" && strings.Contains(err.Error(), "startup parameter")
}

// behindPooler changes the configuration of a pool for connections that lead to a pooler. There each transaction may
// run on another connection to the server. So settings are made in each transaction, and statements are not kept
// prepared, unless the address says how to execute them.
func (s *store) behindPooler(config *pgxpool.Config, address string) {
	s.pooled = true
	if !strings.Contains(address, "default_query_exec_mode") {
		config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	}
	// Poolers know these startup parameters. All others, such as search_path, are set in each transaction.
	known := []string{"application_name", "client_encoding", "datestyle", "timezone", "standard_conforming_strings"}
	all, params := settings(s.busy), config.ConnConfig.RuntimeParams
	for _, name := range slices.Sorted(maps.Keys(params)) {
		if !slices.Contains(known, strings.ToLower(name)) {
			all[strings.ToLower(name)] = params[name]
			delete(params, name)
		}
	}
	s.names, s.values = lists(all)
}

// opening returns the statements that begin a transaction: begin itself and, behind a pooler, the settings.
func (s *store) opening(begin string) []stmt {
	if !s.pooled {
		return []stmt{{sql: begin}}
	}
	const set = "SELECT set_config(name, " + setting + ", true) FROM unnest($1::text[], $2::text[]) AS s (name, value)"
	return []stmt{{sql: begin}, {sql: set, args: []any{s.names, s.values}}}
}

// sql returns a statement with the schema of the tables written into it if the pool is the program's: its connections
// may prepare statements before the transaction has set the search path.
func (s *store) sql(text string) string {
	if s.tables == nil {
		return text
	}
	return s.tables.Replace(text)
}
