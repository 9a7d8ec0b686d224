package postgres

import (
	"context"
	"fmt"
	"iter"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/history"
	"github.com/vitrine-go/vitrine/storage/internal/stream"
)

// App returns a version of an app. The row of the app has the latest version; older ones are decoded from the rows of
// the history.
func (r *appReader) App(ctx context.Context, id string, v vitrine.Version) (appsvc.App, error) {
	row, err := r.there(ctx, id)
	switch {
	case err != nil:
		return appsvc.App{}, err
	case v == vitrine.Latest || v == row.Version:
		return row.app(), nil
	case v.IsZero() || v.Compare(row.Version) > 0:
		return appsvc.App{}, fmt.Errorf("%w: version %s of app %q", vitrine.ErrNotFound, v, id)
	}
	list, err := r.older(ctx, row, v.Number(), 1)
	if err != nil {
		return appsvc.App{}, fmt.Errorf("version %s of app %q: %w", v, id, err)
	}
	return row.version(list[0]), nil
}

// Versions yields versions of an app from the highest below q.Before down: the latest from the row of the app, and
// older ones in batches, as older reads them.
func (r *appReader) Versions(ctx context.Context, q appsvc.VersionQuery) iter.Seq2[appsvc.App, error] {
	return stream.Limited(ctx, r.check, q.Limit, func(out func(appsvc.App) bool) error { return r.versions(ctx, q, out) })
}

// versions is the walk of Versions. An Update locks the app first.
func (r *appReader) versions(ctx context.Context, q appsvc.VersionQuery, out func(appsvc.App) bool) error {
	row, err := r.row(ctx, q.AppID)
	if err != nil || row == nil {
		return err
	}
	next := row.Version.Number() // the next to yield
	if before := q.Before.Number(); before >= 0 {
		next = min(next, before-1)
	}
	if next == row.Version.Number() {
		if !out(row.app()) {
			return nil
		}
		next--
	}
	for next >= 0 {
		n := 64 // decoding the first takes most of the time; the versions before it come almost for free
		if q.Limit > 0 {
			n = min(q.Limit, n)
		}
		list, err := r.older(ctx, row, next, n)
		if err != nil {
			return fmt.Errorf("versions of app %q: %w", q.AppID, err)
		}
		for _, v := range list {
			if !out(row.version(v)) {
				return nil
			}
		}
		next -= int64(len(list))
	}
	return nil
}

// older returns at most n versions from v down, and at least one. Outside of an Update the tail of the history is not
// read with the app, so it is read here, in the same round trip as the history.
func (r *appReader) older(ctx context.Context, row *appRow, v int64, n int) ([]history.Version, error) {
	const bytes = 1 << 20
	c, err := r.conn(ctx)
	if err != nil {
		return nil, err
	}
	tail := row.tail
	newest, known := row.chains[v]
	if known {
		return r.db.codec.List(tail, c.history(ctx, row.ID, newest), v, n, bytes)
	}
	if r.locks == nil {
		c.also(func(found *rows) error {
			if found.next() {
				tail = found.blob(0)
			}
			return found.err
		}, "SELECT recent FROM app WHERE id = $1", row.ID)
	}
	newest, err = c.chain(ctx, row.ID, v)
	if err != nil {
		return nil, err
	}
	return r.db.codec.List(tail, c.history(ctx, row.ID, newest), v, n, bytes)
}

// chainSQL finds the rows that are needed to read a version: those from the version down to the newest snapshot at or
// below it. The column snapshot says which rows package history can begin at.
const chainSQL = `SELECT version, data FROM app_history WHERE app = $1 AND version <= $2 AND version >=
	(SELECT version FROM app_history WHERE app = $1 AND version <= $2 AND snapshot ORDER BY version DESC LIMIT 1)
	ORDER BY version DESC`

// chain returns the rows of a history from version v down to the newest snapshot that is not above v.
func (c *conn) chain(ctx context.Context, app string, v int64) ([]history.Row, error) {
	found := c.query(ctx, chainSQL, app, v)
	var out []history.Row
	for found.next() {
		out = append(out, history.Row{Version: found.int(0), Data: found.blob(1)})
	}
	return out, found.err
}

// history yields the rows of a chain, newest first, and then those of the chains before it, each of which takes a round trip. For
// one version the codec reads only the first chain.
func (c *conn) history(ctx context.Context, app string, rows []history.Row) history.Rows {
	return func(yield func(history.Row, error) bool) {
		for len(rows) > 0 {
			for _, row := range rows {
				if !yield(row, nil) {
					return
				}
			}
			var err error
			if rows, err = c.chain(ctx, app, rows[len(rows)-1].Version-1); err != nil {
				yield(history.Row{}, err)
				return
			}
		}
	}
}

// app returns the latest version.
func (r *appRow) app() appsvc.App { return appsvc.App{Meta: r.Meta, Body: r.body} }

// version returns an old version of the app: owner and creation are those of the app, the rest is of the version.
func (r *appRow) version(v history.Version) appsvc.App {
	m := r.Meta
	m.Version, m.UpdatedAt, m.UpdatedBy = vitrine.NewVersion(v.Number), v.UpdatedAt, v.UpdatedBy
	return appsvc.App{Meta: m, Body: v.Body}
}

// stored returns a version in the form of package history.
func stored(m appsvc.Meta, body []byte) history.Version {
	return history.Version{Number: m.Version.Number(), UpdatedAt: m.UpdatedAt, UpdatedBy: m.UpdatedBy, Body: body}
}
