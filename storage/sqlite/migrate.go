package sqlite

import (
	"embed"
	"fmt"

	"github.com/vitrine-go/vitrine/storage/internal/migration"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migrations returns the steps of the schema, oldest first. The number of the newest goes into user_version.
func migrations() ([]migration.Step, error) { return migration.Steps(migrationFiles) }

// newest returns the user_version of a file with the newest schema that this package knows.
func newest() (int64, error) {
	steps, err := migrations()
	if err != nil {
		return 0, err
	}
	return steps[len(steps)-1].Number, nil
}

// migrate brings the file to the newest schema, each step in a transaction of its own. If several processes do so at the same
// time, each step is done once.
func (c *conn) migrate() error {
	steps, err := migrations()
	if err != nil {
		return err
	}
	// A step may move the rows of a table to another one. SQLite overwrites the old ones with zeros: they may be reviews, which
	// are erased in the new table alone.
	if err := c.script("PRAGMA secure_delete=ON"); err != nil {
		return err
	}
	defer func() { _ = c.script("PRAGMA secure_delete=OFF") }()
	for _, m := range steps {
		if err := c.apply(m); err != nil {
			return fmt.Errorf("migration %s: %w", m.Name, err)
		}
	}
	return nil
}

// apply runs a step of the schema, unless it was run before. It writes the number of the step in the same transaction.
func (c *conn) apply(m migration.Step) error {
	if have, err := c.value("PRAGMA user_version"); err != nil || have >= m.Number {
		return err
	}
	if err := c.script("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	ran := false
	err := func() error {
		// Another process may have done it while this one waited for the lock.
		if have, err := c.value("PRAGMA user_version"); err != nil || have >= m.Number {
			return err
		}
		if err := c.script(m.SQL); err != nil {
			return err
		}
		ran = true
		return c.script(fmt.Sprintf("PRAGMA user_version=%d", m.Number))
	}()
	if err == nil {
		err = c.script("COMMIT")
	}
	if err == nil && ran && c.migrated != nil {
		c.migrated(m.Name)
	}
	if err != nil {
		c.script("ROLLBACK") // the first error is the one to tell
	}
	return err
}

// checkSchema returns migration.ErrNewer if another process has migrated the file. others is what othersVersion has returned. The
// file's number is read again only after another connection has committed.
func (w *writer) checkSchema(others int64) error {
	if others == w.checked {
		return nil
	}
	have, err := w.c.value("PRAGMA user_version")
	if err == nil {
		err = migration.CheckKnown(have, w.schema)
	}
	if err == nil {
		w.checked = others
	}
	return err
}
