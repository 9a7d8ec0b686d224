package sqlite

import (
	"cmp"
	"context"
	"fmt"
	"iter"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/internal/stream"
)

// Components yields components by name, and those of one name in the order of adding.
func (r *appReader) Components(ctx context.Context, q appsvc.ComponentQuery) iter.Seq2[appsvc.Component, error] {
	return stream.Limited(ctx, r.check, 0, func(out func(appsvc.Component) bool) error { return r.components(ctx, q, out) })
}

// componentKey is the cache's key for a component.
type componentKey struct{ name, version string }

// components reads one version of one component through the cache, since that is what every patch asks for. All other
// queries go to the table: lists are rare, and their results may be large.
func (r *appReader) components(ctx context.Context, q appsvc.ComponentQuery, out func(appsvc.Component) bool) error {
	if q.Name > q.After && q.Version != "" {
		found, err := r.component(ctx, componentKey{q.Name, q.Version})
		if q.Brief {
			found.Manifest = nil
		}
		if isNotFound(err) {
			return nil
		}
		if err == nil {
			out(found)
		}
		return err
	}
	c, err := r.conn(ctx)
	if err != nil {
		return err
	}
	const columns = "SELECT id, name, version, main, iif($3, NULL, manifest) FROM component "
	sql, name := columns+"WHERE name > $1 AND ($2 = '' OR version = $2) ORDER BY name, key", q.After
	if q.Name != "" {
		if q.Name <= q.After {
			return nil
		}
		sql, name = columns+"WHERE name = $1 AND ($2 = '' OR version = $2) ORDER BY name, key", q.Name
	}
	rows := c.query(sql, name, q.Version, q.Brief)
	defer rows.close()
	for rows.next() && out(appsvc.Component{
		ID: rows.text(0), Name: rows.text(1), Version: rows.text(2), Main: rows.text(3), Manifest: rows.blob(4),
	}) {
	}
	return rows.err
}

// component returns one version of a component from the cache, or reads and caches it. It returns ErrNotFound if there is none.
func (r *appReader) component(ctx context.Context, key componentKey) (appsvc.Component, error) {
	return read(ctx, r, key, func(c *conn) (appsvc.Component, int, error) {
		rows := c.query("SELECT id, main, manifest FROM component WHERE name = $1 AND version = $2", key.name, key.version)
		defer rows.close()
		if !rows.next() {
			return appsvc.Component{}, 0, cmp.Or(rows.err, vitrine.ErrNotFound)
		}
		found := appsvc.Component{ID: rows.text(0), Name: key.name, Version: key.version, Main: rows.text(1), Manifest: rows.blob(2)}
		return found, perEntry + len(found.Main) + len(found.Manifest), nil
	})
}

// AddComponent adds a component after all others of its name. The index on name and version, and that on id, refuse a
// second one; isTaken recognizes the error of either.
func (t *appTx) AddComponent(ctx context.Context, c appsvc.Component) error {
	if err := t.check(ctx); err != nil {
		return err
	}
	t.c.remember(componentKey{c.Name, c.Version}, nil, 0)
	_, err := t.c.insert("INSERT INTO component (id, name, version, main, manifest) VALUES ($1, $2, $3, $4, $5)",
		c.ID, c.Name, c.Version, c.Main, orNull(c.Manifest))
	if isTaken(err) {
		return fmt.Errorf("%w: component %q with id %q and version %q: the id, or the name and version, are taken",
			appsvc.ErrExists, c.Name, c.ID, c.Version)
	}
	return err
}

// DeleteComponent removes all versions of a component, from the table and, with the commit, from the cache. It returns
// ErrNotFound if there are none.
func (t *appTx) DeleteComponent(ctx context.Context, name string) error {
	if err := t.check(ctx); err != nil {
		return err
	}
	rows := t.c.query("SELECT version FROM component WHERE name = $1", name)
	defer rows.close()
	for rows.next() {
		t.c.remember(componentKey{name, rows.text(0)}, nil, 0)
	}
	if rows.err != nil {
		return rows.err
	}
	n, err := t.c.exec("DELETE FROM component WHERE name = $1", name)
	if err == nil && n == 0 {
		return fmt.Errorf("%w: component %q", vitrine.ErrNotFound, name)
	}
	return err
}

// orNull returns nil for an empty blob, so that it is stored as NULL. The driver reads both as nil, so nothing is lost.
func orNull(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	return b
}
