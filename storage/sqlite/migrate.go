package sqlite

import (
	"embed"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migration is one step of the schema. Its number goes into user_version.
type migration struct {
	number int64
	name   string
	sql    string
}

// migrations returns the steps in the order of their numbers.
func migrations() ([]migration, error) {
	files, err := fs.ReadDir(migrationFiles, "migrations") // in the order of names
	if err != nil {
		return nil, err
	}
	var out []migration
	for _, f := range files {
		prefix, _, _ := strings.Cut(f.Name(), "_")
		n, err := strconv.ParseInt(prefix, 10, 32)
		if err != nil || len(out) > 0 && n <= out[len(out)-1].number {
			return nil, fmt.Errorf("migration %s: want NNNN_name.sql with a number of its own", f.Name())
		}
		sql, err := fs.ReadFile(migrationFiles, "migrations/"+f.Name())
		if err != nil {
			return nil, err
		}
		out = append(out, migration{n, f.Name(), string(sql)})
	}
	return out, nil
}

// newest returns the user_version that this package writes.
func newest() (int64, error) {
	steps, err := migrations()
	if err != nil {
		return 0, err
	}
	return steps[len(steps)-1].number, nil
}

// migrate takes the file behind c to the newest schema, each step in a transaction of its own.
func (c *conn) migrate() error {
	steps, err := migrations()
	if err != nil {
		return err
	}
	for _, m := range steps {
		if err := c.apply(m); err != nil {
			return fmt.Errorf("migration %s: %w", m.name, err)
		}
	}
	return nil
}

func (c *conn) apply(m migration) error {
	if have, err := c.value("PRAGMA user_version"); err != nil || have >= m.number {
		return err
	}
	if err := c.script("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := func() error {
		// Another process may have done it while this one waited for the lock.
		if have, err := c.value("PRAGMA user_version"); err != nil || have >= m.number {
			return err
		}
		if err := c.script(m.sql); err != nil {
			return err
		}
		return c.script(fmt.Sprintf("PRAGMA user_version=%d", m.number))
	}()
	if err == nil {
		err = c.script("COMMIT")
	}
	if err != nil {
		c.script("ROLLBACK") // the first error is the one to tell
	}
	return err
}
