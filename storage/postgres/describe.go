package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// Describe is for a command that helps whoever runs a server. It calls fact with each thing that is known of the
// database at address, and wrong with what should be mended: release, format, sizes, dead rows, connections, standbys
// and copies. A fact is a string, an int64 (bytes) or a map[string]string, and none is secret. A store that Open
// refuses is described too. What the role of the address may not see is left out. Describe returns the error of a
// connection that fails, as Open does.
func Describe(ctx context.Context, address string, fact func(name string, value any), wrong func(error)) error {
	s, err := connect(ctx, address, (&Options{Connections: 1}).orDefault())
	if err != nil {
		return fmt.Errorf("postgres: %w", tell(err))
	}
	defer s.pool.Close()
	d := &description{fact, wrong}
	for _, part := range []func(context.Context, pgx.Tx) error{d.server, d.tables, d.log} {
		err := s.inTx(ctx, func(tx pgx.Tx) error {
			// Somebody may have locked a table.
			if _, err := tx.Exec(ctx, "SET LOCAL statement_timeout = '5s'"); err != nil {
				return err
			}
			return part(ctx, tx)
		})
		if err != nil && code(err) != "42501" { // the role may not see it
			wrong(fmt.Errorf("postgres: %w", err))
		}
	}
	return nil
}

type description struct {
	fact  func(string, any)
	wrong func(error)
}

// when is a time for people.
func when(t *time.Time) string {
	if t == nil {
		return "never"
	}
	return t.UTC().Format(time.RFC3339)
}

// server describes what all databases of the server share.
func (d *description) server(ctx context.Context, tx pgx.Tx) error {
	var release, autovacuum, waits, archive string
	var used, most int64
	var standby, behind bool
	var replayed, archived, failed *time.Time
	var senders []string
	// A role outside of pg_monitor sees that a standby is there, and nothing else of it. The last column tells whether
	// four whole segments of the WAL came after the last one that was archived: a name has a timeline, the upper half
	// of the position, and the number of the segment within that. Archiving without a result is given ten minutes.
	const sql = `SELECT current_setting('server_version'), current_setting('autovacuum'),
			current_setting('synchronous_standby_names'), current_setting('archive_mode'),
			(SELECT sum(numbackends)::int8 FROM pg_stat_database),
			current_setting('max_connections')::int8 - current_setting('superuser_reserved_connections')::int8,
			pg_is_in_recovery(), pg_last_xact_replay_timestamp(), last_archived_time, last_failed_time,
			ARRAY(SELECT concat_ws(' ', application_name, state, sync_state, pg_size_pretty(pg_wal_lsn_diff(
				CASE WHEN pg_is_in_recovery() THEN pg_last_wal_receive_lsn() ELSE pg_current_wal_lsn() END,
				replay_lsn)) || ' behind') FROM pg_stat_replication ORDER BY 1),
			current_setting('archive_mode') <> 'off' AND CASE
				WHEN pg_is_in_recovery() OR last_archived_wal !~ '^[0-9A-F]{24}' THEN false
				WHEN last_archived_wal IS NULL THEN pg_postmaster_start_time() < now() - interval '10 minutes'
				ELSE pg_current_wal_lsn() - '0/0' >= segment * 5 +
					('x' || substr(last_archived_wal, 9, 8))::bit(32)::int8 * 4294967296 +
					('x' || substr(last_archived_wal, 17, 8))::bit(32)::int8 * segment END
		FROM pg_stat_archiver, pg_size_bytes(current_setting('wal_segment_size')) segment`
	err := tx.QueryRow(ctx, sql).Scan(&release, &autovacuum, &waits, &archive, &used, &most, &standby, &replayed,
		&archived, &failed, &senders, &behind)
	if err != nil {
		return err
	}
	d.fact("postgres", release)
	d.fact("connections", fmt.Sprintf("%d of %d in use", used, most))
	if used >= most*9/10 {
		d.wrong(fmt.Errorf("%d of %d connections are in use: raise max_connections, or let fewer programs connect",
			used, most))
	}
	if autovacuum != "on" {
		d.wrong(errors.New("autovacuum is off: the tables only grow; set autovacuum = on"))
	}
	switch {
	case standby:
		d.fact("replication", "standby, last commit replayed: "+when(replayed))
	case len(senders) > 0:
		d.fact("replication", "primary, followed by "+strings.Join(senders, "; "))
	default:
		d.fact("replication", "primary, no standby is connected")
		if waits != "" {
			d.wrong(errors.New("commits wait for a standby (synchronous_standby_names), and none is connected"))
		}
	}
	copied := "none is known: the server archives no WAL"
	if archive != "off" {
		copied = "WAL, last archived: " + when(archived)
	}
	d.fact("lastCopy", copied)
	if failed != nil && (archived == nil || failed.After(*archived)) {
		d.wrong(fmt.Errorf("archiving of WAL failed at %s: the log of the database server says why", when(failed)))
	} else if behind { // a command that is not found counts as no failure
		d.wrong(errors.New("segments of WAL wait to be archived: the log of the database server says why"))
	}
	return nil
}

// tables describes the tables of the store.
func (d *description) tables(ctx context.Context, tx pgx.Tx) error {
	f, err := look(ctx, tx)
	if err != nil {
		return nil // Open returns it
	}
	d.fact("format", fmt.Sprint(f.number))
	// Values of more than 2 KB are in rows of a TOAST table.
	const sql = `SELECT c.relname::text, pg_total_relation_size(c.oid), pg_size_pretty(pg_total_relation_size(c.oid)),
			s.n_live_tup + coalesce(t.n_live_tup, 0), s.n_dead_tup + coalesce(t.n_dead_tup, 0),
			greatest(s.last_vacuum, s.last_autovacuum, t.last_vacuum, t.last_autovacuum)
		FROM pg_class c JOIN pg_stat_all_tables s ON s.relid = c.oid
			LEFT JOIN pg_stat_all_tables t ON t.relid = c.reltoastrelid
		WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND c.relname LIKE 'vitrine\_%'
		ORDER BY 1`
	rows, err := tx.Query(ctx, sql)
	if err != nil {
		return err
	}
	tables, all := map[string]string{}, int64(0)
	var name, pretty string
	var size, live, dead int64
	var vacuumed *time.Time
	_, err = pgx.ForEachRow(rows, []any{&name, &size, &pretty, &live, &dead, &vacuumed}, func() error {
		tables[name] = fmt.Sprintf("%s, rows: about %d, dead rows: %d, last vacuumed: %s", pretty, live, dead,
			when(vacuumed))
		all += size
		if dead > 10000+live {
			d.wrong(fmt.Errorf(
				"%s has more dead rows (%d) than others (%d): a transaction that has been open for long "+
					"keeps them (pg_stat_activity), or autovacuum does not keep up", name, dead, live))
		}
		return nil
	})
	if err == nil {
		d.fact("bytes", all)
		d.fact("tables", tables)
	}
	return err
}

// log describes the WAL.
func (d *description) log(ctx context.Context, tx pgx.Tx) error {
	var size int64
	err := tx.QueryRow(ctx, "SELECT coalesce(sum(size), 0)::int8 FROM pg_ls_waldir()").Scan(&size)
	if err == nil {
		d.fact("logBytes", size)
	}
	return err
}
