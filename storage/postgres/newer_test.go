//go:build proof

package postgres

import (
	"errors"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/internal/cluster"
	"github.com/vitrine-go/vitrine/storage/internal/migration"
)

const migrateFurther = "INSERT INTO vitrine_schema (number, name) VALUES (9999, 'later')"

// A process goes on reading a store that a newer release has migrated, and writes nothing into it.
func TestAnOldProcessCannotWriteAfterAMigration(t *testing.T) {
	db := openTest(t, nil)
	if err := db.Apps().Update(ctx, func(tx appsvc.Tx) error { return putApp(tx, "app") }); err != nil {
		t.Fatal(err)
	}
	db.script(t, "CREATE TABLE n (n int8 PRIMARY KEY); "+migrateFurther)
	for name, write := range map[string]func() error{
		"an app": func() error {
			return db.Apps().Update(ctx, func(tx appsvc.Tx) error { return putApp(tx, "other") })
		},
		"a tag of an app that is there": func() error {
			return db.Apps().Update(ctx, func(tx appsvc.Tx) error { return tx.SetTag(ctx, appsvc.Tag{AppID: "app", Name: "tag"}) })
		},
		"writes that are sent with the commit": func() error {
			return appErrors.wrap(db.update(ctx, func(c *conn) error { c.later("INSERT INTO n VALUES (1)"); return nil }))
		},
		"a write whose error is not looked at": func() error {
			return appErrors.wrap(db.update(ctx, func(c *conn) error { c.exec(ctx, "INSERT INTO n VALUES (2)"); return nil }))
		},
	} {
		err := write()
		if !errors.Is(err, vitrine.ErrBusy) || !strings.Contains(err.Error(), "schema 9999") {
			t.Errorf("%s: %v, want ErrBusy that names schema 9999", name, err)
		}
	}
	err := db.Assets().Update(ctx, assets.Library{Network: "n", ID: "l"}, func(tx assets.Tx) error { return tx.SetState(ctx, assets.State{Last: 1}) })
	if !errors.Is(err, vitrine.ErrBusy) || !strings.Contains(err.Error(), "schema 9999") {
		t.Errorf("assets: %v", err)
	}
	if got := db.numbers(t); got != "" {
		t.Errorf("kept %s", got)
	}
	err = db.Apps().View(ctx, func(r appsvc.Reader) error { _, err := r.Head(ctx, "app"); return err })
	if err != nil {
		t.Errorf("reading: %v", err)
	}
}

// An update keeps a newer release from migrating until it has ended, and one that begins while a
// release migrates waits for it and is refused.
func TestAMigrationAndUpdatesDoNotOverlap(t *testing.T) {
	address := cluster.Schema(t)
	db := openAt(t, address, nil)
	newer := openPool(t, address)
	locked := make(chan error, 1)
	finish := make(chan bool)
	migrated := make(chan error, 1)
	err := db.update(ctx, func(c *conn) error {
		if err := c.query(ctx, "SELECT").err; err != nil {
			return err
		}
		go func() {
			tx, err := newer.Begin(ctx)
			if err == nil {
				err = lockSchema(ctx, tx)
			}
			locked <- err
			<-finish
			if err == nil {
				_, err = tx.Exec(ctx, migrateFurther)
			}
			if err == nil {
				err = tx.Commit(ctx)
			}
			migrated <- err
		}()
		db.waitFor(t, "SELECT count(*) FROM pg_locks WHERE relation = 'vitrine_schema'::regclass AND NOT granted")
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if err := <-locked; err != nil {
		t.Fatal(err)
	}
	late := make(chan error, 1)
	go func() { late <- db.update(ctx, func(c *conn) error { return c.query(ctx, "SELECT").err }) }()
	db.waitFor(t, "SELECT count(*) FROM pg_locks WHERE relation = 'vitrine_schema'::regclass AND NOT granted")
	finish <- true
	if err := <-migrated; err != nil {
		t.Error(err)
	}
	if err := <-late; !errors.Is(err, migration.ErrNewer) {
		t.Errorf("an update that began during the migration: %v", err)
	}
}

// A process of the first release looks at no schema number. Each of its writing transactions runs one
// of these statements, and none of them runs here.
func TestProcessesOfTheFirstReleaseCannotWrite(t *testing.T) {
	db := openTest(t, nil)
	for name, sql := range map[string]string{
		"anything that is not there":          "SELECT FROM gate WHERE number = 1 FOR UPDATE",
		"an app that is there, and its tags":  "SELECT id, created, updated, version, owner, editor, groups, components, body, tail FROM app WHERE id = '' FOR UPDATE",
		"any write that looks at a component": "LOCK TABLE component IN SHARE MODE",
		"adding or deleting a component":      "LOCK TABLE component IN SHARE ROW EXCLUSIVE MODE",
		"a library": `INSERT INTO library (key, network, id, secret, last, at, count, tree, top) VALUES ('', '', '', '', 0, 0, 0, 0, 0)
			ON CONFLICT (key) DO UPDATE SET last = excluded.last`,
	} {
		_, err := db.pool.Exec(ctx, "BEGIN; "+sql+"; ROLLBACK")
		if state := code(err); state != "42P01" && state != "42703" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
