package sqlite

import (
	"embed"
	"fmt"

	"github.com/vitrine-go/vitrine/storage/internal/migration"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migrations returns the steps of the schema. The number of the newest goes into user_version.
func migrations() ([]migration.Step, error) { return migration.Steps(migrationFiles) }

// newest returns the user_version that this package writes.
func newest() (int64, error) {
	steps, err := migrations()
	if err != nil {
		return 0, err
	}
	return steps[len(steps)-1].Number, nil
}

// migrate takes the file behind c to the newest schema, each step in a transaction of its own.
func (c *conn) migrate() error {
	steps, err := migrations()
	if err != nil {
		return err
	}
	for _, m := range steps {
		if err := c.apply(m); err != nil {
			return fmt.Errorf("migration %s: %w", m.Name, err)
		}
	}
	return nil
}

func (c *conn) apply(m migration.Step) error {
	if have, err := c.value("PRAGMA user_version"); err != nil || have >= m.Number {
		return err
	}
	if err := c.script("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := func() error {
		// Another process may have done it while this one waited for the lock.
		if have, err := c.value("PRAGMA user_version"); err != nil || have >= m.Number {
			return err
		}
		if err := c.script(m.SQL); err != nil {
			return err
		}
		return c.script(fmt.Sprintf("PRAGMA user_version=%d", m.Number))
	}()
	if err == nil {
		err = c.script("COMMIT")
	}
	if err != nil {
		c.script("ROLLBACK") // the first error is the one to tell
	}
	return err
}
