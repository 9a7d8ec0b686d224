package postgres

import (
	"context"
	"fmt"
	"iter"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/internal/stream"
)

// Components yields components by name, and those of one name in the order of adding.
//
// Components are few and seldom change. So an Update that reads one locks the whole table against writes, and one that writes
// a component locks it against other Updates that read or write it. Reading Updates do not wait for each other.
func (r *appReader) Components(ctx context.Context, q appsvc.ComponentQuery) iter.Seq2[appsvc.Component, error] {
	return stream.Limited(ctx, r.check, 0, func(out func(appsvc.Component) bool) error { return r.components(ctx, q, out) })
}

// components first looks among the components that Announce has read.
func (r *appReader) components(ctx context.Context, q appsvc.ComponentQuery, out func(appsvc.Component) bool) error {
	if q.Name != "" && q.Name <= q.After {
		return nil
	}
	if c, known := r.announced[appsvc.ComponentRef{Name: q.Name, Version: q.Version}]; known {
		if c != nil {
			found := *c
			if q.Brief {
				found.Manifest = nil
			}
			out(found)
		}
		return nil
	}
	found, err := r.findComponents(ctx, q)
	if err != nil {
		return err
	}
	defer found.close()
	for found.next() && out(componentOf(found)) {
	}
	return found.err
}

// componentOf reads a row of id, name, version, main and manifest.
func componentOf(found *rows) appsvc.Component {
	return appsvc.Component{ID: found.text(0), Name: found.text(1), Version: found.text(2), Main: found.text(3), Manifest: found.blob(4)}
}

// findComponents runs the query for q. One version of one component may be read before the transaction begins; see read. With
// q.Brief the manifests stay on the server.
func (r *appReader) findComponents(ctx context.Context, q appsvc.ComponentQuery) (*rows, error) {
	const columns = "SELECT id, name, version, main, CASE WHEN $1 THEN NULL ELSE manifest END FROM components "
	r.lockTable("components", toRead)
	if q.Name != "" && q.Version != "" { // finds at most one row
		query := newStatement(columns+"WHERE name = $2 AND version = $3", []any{q.Brief, q.Name, q.Version})
		return r.read(ctx, query, &query, func(found *rows) []row { return found.values }), nil
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

// maxAnnounced is how many components an Update reads together. Manifests may be large.
const maxAnnounced = 16

// Announce locks the app and reads it and some of the components, in one round trip. If the Update may join a group, the group
// does that; see group.go. Components beyond maxAnnounced are read when the Update asks for them.
func (t *appTx) Announce(ctx context.Context, appID string, components []appsvc.ComponentRef) error {
	if err := t.check(ctx); err != nil {
		return err
	}
	if t.mayJoin() && len(components) <= maxAnnounced && t.db.joinGroup(t.member, appID, components) {
		return t.readInGroup(ctx)
	}
	components = components[:min(len(components), maxAnnounced)]
	if len(components) > 0 {
		t.lockTable("components", toRead)
		t.c.alsoComponents(components, func(found announcedComponents) { t.announced = found })
	}
	_, err := t.row(ctx, appID)
	return err
}

// announcedComponents are components that were read ahead; nil = there is none.
type announcedComponents map[appsvc.ComponentRef]*appsvc.Component

// alsoComponents reads components in the round trip of the next statement, and gives them to take. The table must be locked.
func (c *conn) alsoComponents(refs []appsvc.ComponentRef, take func(announcedComponents)) {
	var names, versions []string
	for _, ref := range refs {
		names, versions = append(names, ref.Name), append(versions, ref.Version)
	}
	c.also(func(found *rows) error {
		components := announcedComponents{}
		for _, ref := range refs {
			components[ref] = nil
		}
		for found.next() {
			one := componentOf(found)
			components[appsvc.ComponentRef{Name: one.Name, Version: one.Version}] = &one
		}
		take(components)
		return found.err
	}, "SELECT id, name, version, main, manifest FROM components WHERE (name, version) IN (SELECT * FROM unnest($1::bytea[], $2::bytea[]))", names, versions)
}

// AddComponent adds a component after all others of its name. It returns ErrExists if the id, or the name and version, are
// taken. Without ON CONFLICT such an error would end the transaction.
func (t *appTx) AddComponent(ctx context.Context, c appsvc.Component) error {
	if err := t.check(ctx); err != nil {
		return err
	}
	t.lockTable("components", toWrite)
	t.announced = nil
	n, err := t.c.exec(ctx, `INSERT INTO components (name, place, version, id, main, manifest)
		SELECT $1, coalesce(max(place), 0) + 1, $2, $3, $4, $5 FROM components WHERE name = $1 ON CONFLICT DO NOTHING`,
		c.Name, c.Version, c.ID, c.Main, orEmpty(c.Manifest))
	if err == nil && n == 0 {
		return fmt.Errorf("%w: component %q with id %q and version %q: the id, or the name and version, are taken",
			appsvc.ErrExists, c.Name, c.ID, c.Version)
	}
	return err
}

// DeleteComponent removes all versions of a component. It returns ErrNotFound if there are none.
func (t *appTx) DeleteComponent(ctx context.Context, name string) error {
	if err := t.check(ctx); err != nil {
		return err
	}
	t.lockTable("components", toWrite)
	t.announced = nil
	n, err := t.c.exec(ctx, "DELETE FROM components WHERE name = $1", name)
	if err == nil && n == 0 {
		return fmt.Errorf("%w: component %q", vitrine.ErrNotFound, name)
	}
	return err
}
