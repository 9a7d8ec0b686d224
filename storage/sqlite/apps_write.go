package sqlite

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/urn"
	"github.com/vitrine-go/vitrine/storage/internal/lists"
)

// appTx is a writing transaction, on the writer's connection. Each write tells the connection with remember which
// cached values it changes. They go into the cache when the transaction is committed, and are forgotten when it is
// rolled back.
type appTx struct{ appReader }

// tailKey is the cache's key for the tail of an app's history.
type tailKey string

// lastVersion is the latest version of an app, with its body and the tail of its history.
type lastVersion struct {
	headRow
	body, tail []byte
}

// Announce has nothing to do: reads are no round trips.
func (t *appTx) Announce(ctx context.Context, _ string, _ []appsvc.ComponentRef) error {
	return t.check(ctx)
}

// AddVersion moves the latest version into the history and replaces it by the new one. It returns ErrExists, before it
// writes, unless the new version is the next one. The owner and the time of creation stay those of the first version. The
// cached values of the app are dropped before the first write and set after the last, so a write that fails leaves none that
// is wrong.
func (t *appTx) AddVersion(ctx context.Context, h appsvc.Head, body appsvc.Body) error {
	last, found, err := t.last(ctx, h.ID)
	if err != nil {
		return err
	}
	if h.Version != last.Version.Next() || h.Version.Number() > maxVersion {
		return fmt.Errorf("%w: version %s of app %q: want the one after the latest", appsvc.ErrExists, h.Version, h.ID)
	}
	h.Groups, h.Components = slices.Clone(h.Groups), slices.Clone(h.Components) // the cache keeps them
	head, latest, tail := headKey(h.ID), versionKey{h.ID, vitrine.Latest}, tailKey(h.ID)
	t.c.remember(head, nil, 0)
	t.c.remember(latest, nil, 0)
	t.c.remember(tail, nil, 0)
	row := headRow{last.key, h}
	var grown []byte
	if found {
		row.Owner, row.CreatedAt = last.Owner, last.CreatedAt
		grown, err = t.replace(last, row, body)
	} else {
		row.key, err = t.c.insertApp(h, body)
	}
	if err != nil {
		return err
	}
	t.c.remember(head, row, row.size())
	t.c.remember(latest, appsvc.App{Meta: row.Meta, Body: bytes.Clone(body)}, perEntry+len(body))
	t.c.remember(tail, grown, perEntry+len(grown))
	return nil
}

// last returns the latest version of an app with what it takes to add another one. found is false if there is no app.
func (t *appTx) last(ctx context.Context, id string) (last lastVersion, found bool, err error) {
	last.headRow, err = t.head(ctx, id)
	if isNotFound(err) {
		return last, false, nil
	}
	if err != nil {
		return last, false, err
	}
	app, err := t.latestApp(ctx, id)
	if err != nil {
		return last, false, err
	}
	last.body = app.Body
	last.tail, err = read(ctx, &t.appReader, tailKey(id), func(c *conn) ([]byte, int, error) {
		tail, err := c.tail(last.key)
		return tail, perEntry + len(tail), err
	})
	return last, true, err
}

// insertApp adds an app with its first version, and returns its key.
func (c *conn) insertApp(h appsvc.Head, body []byte) (int64, error) {
	key, err := c.insert(`INSERT INTO app (id, created, updated, version, owner, editor, groups, components, body)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		h.ID, h.CreatedAt, h.UpdatedAt, h.Version.Number(), h.Owner, h.UpdatedBy,
		lists.Join(h.Groups), lists.Join(h.Components), orNull(body))
	if err != nil {
		return 0, err
	}
	if err := c.link(key, scopes(h.Groups), "INSERT INTO app_scope (scope, app) VALUES ($1, $2)"); err != nil {
		return 0, err
	}
	if err := c.use(h.ID, lists.Unique(h.Components)); err != nil {
		return 0, err
	}
	return key, c.link(key, lists.Unique(h.Components), "INSERT INTO app_component (component, app) VALUES ($1, $2)")
}

// use records in app_used that some version of an app has elements of these components. What is recorded already stays.
func (c *conn) use(id string, components []string) error {
	for _, component := range components {
		if _, err := c.exec("INSERT OR IGNORE INTO app_used (component, app) VALUES ($1, $2)", component, id); err != nil {
			return err
		}
	}
	return nil
}

// replace replaces the latest version by next, and returns the new tail of the history. It changes the rows of app_scope,
// app_used and app_component only if the groups or the components differ.
func (t *appTx) replace(last lastVersion, next headRow, body []byte) (tail []byte, err error) {
	change, err := t.db.codec.Append(last.tail, stored(last.Meta, last.body), stored(next.Meta, body))
	if err != nil {
		return nil, fmt.Errorf("version %s of app %q: %w", next.Version, next.ID, err)
	}
	for _, row := range change.Rows {
		_, err := t.c.insert("INSERT INTO app_history (key, data) VALUES ($1, $2)",
			historyKey(last.key, row.Version), row.Data)
		if err != nil {
			return nil, err
		}
	}
	_, err = t.c.exec(`UPDATE app SET updated = $2, version = $3, editor = $4, groups = $5, components = $6, tail = $7, body = $8
		WHERE key = $1`,
		last.key, next.UpdatedAt, next.Version.Number(), next.UpdatedBy,
		lists.Join(next.Groups), lists.Join(next.Components), orNull(change.Tail), orNull(body))
	if err != nil {
		return nil, err
	}
	if !slices.Equal(last.Groups, next.Groups) {
		err = t.c.relink(last.key, scopes(last.Groups), scopes(next.Groups),
			"DELETE FROM app_scope WHERE scope = $1 AND app = $2", "INSERT INTO app_scope (scope, app) VALUES ($1, $2)")
	}
	if err == nil && !slices.Equal(last.Components, next.Components) {
		err = t.c.use(next.ID, lists.Without(next.Components, last.Components))
	}
	if err == nil && !slices.Equal(last.Components, next.Components) {
		err = t.c.relink(last.key, lists.Unique(last.Components), lists.Unique(next.Components),
			"DELETE FROM app_component WHERE component = $1 AND app = $2", "INSERT INTO app_component (component, app) VALUES ($1, $2)")
	}
	return change.Tail, err
}

// relink removes the rows of an app for the strings that are only in old, and adds rows for those that are only in next.
func (c *conn) relink(app int64, old, next []string, remove, add string) error {
	if err := c.link(app, lists.Without(old, next), remove); err != nil {
		return err
	}
	return c.link(app, lists.Without(next, old), add)
}

// link runs a statement for each value, with the value and the app's key as arguments.
func (c *conn) link(app int64, values []string, sql string) error {
	for _, v := range values {
		if _, err := c.exec(sql, v, app); err != nil {
			return err
		}
	}
	return nil
}

// scopes returns the URNs that contain one of the groups, the groups themselves included, each once.
func scopes(groups []string) []string {
	var out []string
	for _, g := range groups {
		out = append(out, urn.Containers(g)...)
	}
	return lists.Unique(out)
}
