package postgres

import (
	"context"
	"fmt"
	"iter"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/internal/stream"
)

// Components yields components by name, and those of one name in the order of adding.
func (r *appReader) Components(ctx context.Context, q appsvc.ComponentQuery) iter.Seq2[appsvc.Component, error] {
	return stream.Limited(ctx, r.check, 0, func(out func(appsvc.Component) bool) error { return r.components(ctx, q, out) })
}

func (r *appReader) components(ctx context.Context, q appsvc.ComponentQuery, out func(appsvc.Component) bool) error {
	if q.Name != "" && q.Name <= q.After {
		return nil
	}
	found, err := r.findComponents(ctx, q)
	if err != nil {
		return err
	}
	defer found.close()
	for found.next() && out(appsvc.Component{
		ID: found.text(0), Name: found.text(1), Version: found.text(2), Main: found.text(3), Manifest: found.blob(4),
	}) {
	}
	return found.err
}

func (r *appReader) findComponents(ctx context.Context, q appsvc.ComponentQuery) (*rows, error) {
	const columns = "SELECT id, name, version, main, CASE WHEN $1 THEN NULL ELSE manifest END FROM component "
	r.lockTable("component", toRead)
	if q.Name != "" && q.Version != "" { // one at most
		query := newStatement(columns+"WHERE name = $2 AND version = $3", []any{q.Brief, q.Name, q.Version})
		return r.read(ctx, query, &query, func(found *rows) [][]any { return found.values }), nil
	}
	c, err := r.conn(ctx)
	if err != nil {
		return nil, err
	}
	const portion = 16
	if q.Name != "" {
		return c.walk(ctx, portion, columns+"WHERE name = $2 ORDER BY place", q.Brief, q.Name), nil
	}
	return c.walk(ctx, portion, columns+"WHERE name > $2 AND ($3 = ''::bytea OR version = $3) ORDER BY name, place", q.Brief, q.After, q.Version), nil
}

// AddComponent adds a component behind all others of its name.
func (t *appTx) AddComponent(ctx context.Context, c appsvc.Component) error {
	if err := t.check(ctx); err != nil {
		return err
	}
	t.lockTable("component", toWrite)
	n, err := t.c.exec(ctx, `INSERT INTO component (name, place, version, id, main, manifest)
		SELECT $1, coalesce(max(place), 0) + 1, $2, $3, $4, $5 FROM component WHERE name = $1 ON CONFLICT DO NOTHING`,
		c.Name, c.Version, c.ID, c.Main, orEmpty(c.Manifest))
	if err == nil && n == 0 {
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
	t.lockTable("component", toWrite)
	n, err := t.c.exec(ctx, "DELETE FROM component WHERE name = $1", name)
	if err == nil && n == 0 {
		return fmt.Errorf("%w: component %q", appsvc.ErrNotFound, name)
	}
	return err
}
