package sqlite

import (
	"context"
	"fmt"
	"iter"

	"github.com/vitrine-go/vitrine/appsvc"
)

// Components yields components by name, and those of one name in the order of adding.
func (r *appReader) Components(ctx context.Context, q appsvc.ComponentQuery) iter.Seq2[appsvc.Component, error] {
	return func(yield func(appsvc.Component, error) bool) {
		if err := r.components(ctx, q, limited(ctx, r, 0, yield)); err != nil {
			yield(appsvc.Component{}, err)
		}
	}
}

func (r *appReader) components(ctx context.Context, q appsvc.ComponentQuery, out func(appsvc.Component) bool) error {
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

// AddComponent adds a component behind all others of its name.
func (t *appTx) AddComponent(ctx context.Context, c appsvc.Component) error {
	if err := t.check(ctx); err != nil {
		return err
	}
	_, err := t.c.insert("INSERT INTO component (id, name, version, main, manifest) VALUES ($1, $2, $3, $4, $5)",
		c.ID, c.Name, c.Version, c.Main, orNull(c.Manifest))
	if isTaken(err) {
		return fmt.Errorf("%w: component %q with id %q and version %q: the id, or the name and version, are taken",
			appsvc.ErrExists, c.Name, c.ID, c.Version)
	}
	return err
}

// DeleteComponent removes all versions of a component.
func (t *appTx) DeleteComponent(ctx context.Context, name string) error {
	if err := t.check(ctx); err != nil {
		return err
	}
	n, err := t.c.exec("DELETE FROM component WHERE name = $1", name)
	if err == nil && n == 0 {
		return fmt.Errorf("%w: component %q", appsvc.ErrNotFound, name)
	}
	return err
}

// orNull has an empty blob stored as NULL, since the driver cannot tell the two apart.
func orNull(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	return b
}
