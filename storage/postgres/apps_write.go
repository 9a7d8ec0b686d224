package postgres

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

// appTx implements appsvc.Tx. Most of its writes are sent together with the COMMIT.
type appTx struct{ appReader }

// AddVersion moves the latest version into the history and stores the new one in its row. Owner and time of creation stay
// those of the first version. It locks the app first, and returns ErrExists if the version is not the one after the latest. The
// statements are sent with the commit.
func (t *appTx) AddVersion(ctx context.Context, h appsvc.Head, body appsvc.Body) error {
	last, err := t.row(ctx, h.ID)
	if err != nil {
		return err
	}
	var before vitrine.Version
	if last != nil {
		before = last.Version
	}
	if h.Version != before.Next() {
		return fmt.Errorf("%w: version %s of app %q: want the one after the latest", appsvc.ErrExists, h.Version, h.ID)
	}
	h.Groups, h.Components = slices.Clone(h.Groups), slices.Clone(h.Components)
	next := &appRow{Head: h, body: bytes.Clone(body)}
	if last == nil {
		t.c.insertApp(next)
	} else {
		next.Owner, next.CreatedAt = last.Owner, last.CreatedAt
		err = t.replace(last, next)
	}
	if err == nil {
		t.apps[h.ID] = next
	}
	return err
}

// insertApp adds an app with its first version, and the rows that list it.
func (c *conn) insertApp(a *appRow) {
	c.later(`INSERT INTO app (id, created, updated, version, owner, editor, groups, components, body)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		a.ID, a.CreatedAt, a.UpdatedAt, a.Version.Number(), a.Owner, a.UpdatedBy, joinList(a.Groups), joinList(a.Components), orEmpty(a.body))
	c.link(a, nil, scopes(a.Head), linkScopes, "")
	c.link(a, nil, lists.Unique(a.Components), linkComponents, "")
	c.use(a.ID, lists.Unique(a.Components))
}

// use records that some version of an app has elements of these components.
func (c *conn) use(id string, components []string) {
	if len(components) > 0 {
		c.later("INSERT INTO app_used (component, app) SELECT unnest($1::bytea[]), $2 ON CONFLICT DO NOTHING", components, id)
	}
}

const updateApp = "UPDATE app SET updated = $2, version = $3, editor = $4, groups = $5, components = $6, recent = $7, body = $8 WHERE id = $1"

// replace writes next into the row of last, and adds last to the history.
func (t *appTx) replace(last, next *appRow) error {
	change, err := t.db.codec.Append(last.tail, stored(last.Meta, last.body), stored(next.Meta, next.body))
	if err != nil {
		return fmt.Errorf("version %s of app %q: %w", next.Version, next.ID, err)
	}
	next.tail = change.Tail
	for _, row := range change.Rows {
		t.c.later("INSERT INTO app_history (app, version, snapshot, data) VALUES ($1, $2, $3, $4)",
			next.ID, row.Version, row.Snapshot(), row.Data)
	}
	t.c.later(updateApp,
		next.ID, next.UpdatedAt, next.Version.Number(), next.UpdatedBy, joinList(next.Groups), joinList(next.Components), next.tail, orEmpty(next.body))
	if !slices.Equal(last.Groups, next.Groups) {
		t.c.link(next, scopes(last.Head), scopes(next.Head), linkScopes, unlinkScopes)
	}
	if !slices.Equal(last.Components, next.Components) {
		t.c.link(next, lists.Unique(last.Components), lists.Unique(next.Components), linkComponents, unlinkComponents)
		t.c.use(next.ID, lists.Without(lists.Unique(next.Components), last.Components))
	}
	return nil
}

// Statements for the rows of app_scope and app_component that list an app.
const (
	linkScopes       = "INSERT INTO app_scope (scope, created, app) SELECT unnest($1::bytea[]), $2, $3"
	unlinkScopes     = "DELETE FROM app_scope WHERE scope = ANY($1) AND created = $2 AND app = $3"
	linkComponents   = "INSERT INTO app_component (component, created, app) SELECT unnest($1::bytea[]), $2, $3"
	unlinkComponents = "DELETE FROM app_component WHERE component = ANY($1) AND created = $2 AND app = $3"
)

// link replaces the rows that list an app: those of old by those of next.
func (c *conn) link(a *appRow, old, next []string, add, remove string) {
	if gone := lists.Without(old, next); len(gone) > 0 {
		c.later(remove, gone, a.CreatedAt, a.ID)
	}
	if fresh := lists.Without(next, old); len(fresh) > 0 {
		c.later(add, fresh, a.CreatedAt, a.ID)
	}
}

// scopes returns the values of app_scope.scope for an app: its owner, its groups, and the networks that contain these, each once.
// A caller sees the app in a list if it owns the app or moderates one of these groups.
func scopes(h appsvc.Head) []string {
	out := []string{ownerScope(h.Owner)}
	for _, g := range h.Groups {
		for _, outer := range urn.Containers(g) {
			out = append(out, groupScope(outer))
		}
	}
	return lists.Unique(out)
}

func ownerScope(owner string) string { return "o" + owner }

func groupScope(urn string) string { return "g" + urn }

// orEmpty returns b, and an empty slice for nil, which would be stored as NULL.
func orEmpty(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
