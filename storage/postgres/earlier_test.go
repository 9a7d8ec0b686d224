//go:build proof

package postgres

import (
	"testing"

	"github.com/vitrine-go/vitrine/internal/cluster"
	"github.com/vitrine-go/vitrine/storage"
)

// earlierTables are the tables as v0.2.0 made them, with an update of one record.
const earlierTables = `
	CREATE TABLE vitrine_format (number int8 NOT NULL, building text NOT NULL);
	CREATE TABLE vitrine_space (name bytea PRIMARY KEY, number int8 NOT NULL)
		WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.2);
	CREATE TABLE vitrine_record (key bytea PRIMARY KEY, value bytea NOT NULL) WITH (fillfactor = 80,
		autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0,
		toast.autovacuum_vacuum_scale_factor = 0.05, toast.autovacuum_vacuum_threshold = 1000,
		toast.autovacuum_vacuum_cost_delay = 0);
	ALTER TABLE vitrine_record ALTER key SET STORAGE PLAIN, ALTER value SET STORAGE EXTERNAL;
	INSERT INTO vitrine_format VALUES (3, '');
	INSERT INTO vitrine_space VALUES ('a', 7);
	INSERT INTO vitrine_record VALUES ('a 1', 'one');`

// What the records mean is tested in examples/vitrine, with a SQLite file and an archive of v0.2.0.
func TestTablesOfAnEarlierRelease(t *testing.T) {
	address := cluster.Schema(t)
	s, err := connect(ctx, address, (*Options)(nil).orDefault())
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.pool.Exec(ctx, earlierTables)
	s.pool.Close()
	if err != nil {
		t.Fatal(err)
	}
	db, err := Open(ctx, address, &Options{Existing: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := put(db, "a 2", "two"); err != nil {
		t.Error(err)
	}
	err = db.View(ctx, func(r storage.Reader) error {
		values, err := r.Get(ctx, "a 1", "a 2")
		if err == nil && (string(values[0]) != "one" || string(values[1]) != "two") {
			t.Errorf("the records are %q", values)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
