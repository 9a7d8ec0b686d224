package sqlite

import (
	"context"
	"fmt"
	"iter"
	"math"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/history"
	"github.com/vitrine-go/vitrine/storage/internal/stream"
)

// versionKey is the cache's key for a version of an app. The value under Latest changes with each new version, the values
// under version numbers never do.
type versionKey struct {
	id      string
	version vitrine.Version
}

// maxVersion is the highest version of an app. A key of app_history is one integer, which has the app in its upper half
// and the version in its lower half, so that the versions of an app are neighbours in the table.
const maxVersion = math.MaxUint32

// historyKey returns the key of a version in app_history and app_restoration. app is the app's key, not its id.
func historyKey(app, version int64) int64 { return app<<32 | version }

// App returns a version of an app. The latest version is a row of its own. An older one is decoded from the rows of the
// history, which takes some 60 to 200 µs, and is cached: it never changes.
func (r *appReader) App(ctx context.Context, id string, v vitrine.Version) (appsvc.App, error) {
	if v == vitrine.Latest {
		return r.latestApp(ctx, id)
	}
	h, err := r.head(ctx, id)
	switch {
	case err != nil:
		return appsvc.App{}, err
	case v.IsZero() || v.Compare(h.Version) > 0:
		return appsvc.App{}, fmt.Errorf("%w: version %s of app %q", vitrine.ErrNotFound, v, id)
	case v == h.Version:
		return r.latestApp(ctx, id)
	}
	return read(ctx, r, versionKey{id, v}, func(c *conn) (appsvc.App, int, error) {
		tail, err := c.tail(h.key)
		if err != nil {
			return appsvc.App{}, 0, err
		}
		old, err := r.db.codec.Read(tail, c.history(h.key, v.Number()), v.Number())
		if err != nil {
			return appsvc.App{}, 0, fmt.Errorf("version %s of app %q: %w", v, id, err)
		}
		return h.version(old), perEntry + len(old.Body), nil
	})
}

// latestApp returns the latest version of an app from the cache, or reads and caches it with its head.
func (r *appReader) latestApp(ctx context.Context, id string) (appsvc.App, error) {
	return read(ctx, r, versionKey{id, vitrine.Latest}, func(c *conn) (appsvc.App, int, error) {
		rows := c.query("SELECT "+headColumns+", body FROM app WHERE id = $1", id)
		defer rows.close()
		if !rows.next() {
			return appsvc.App{}, 0, noApp(rows, id)
		}
		row := scanHead(rows)
		r.keep(headKey(id), row, row.size()) // callers that read one usually read the other too
		app := appsvc.App{Meta: row.Meta, Body: rows.blob(9)}
		return app, perEntry + len(app.Body), nil
	})
}

// Versions yields versions of an app from the highest below q.Before down: the latest from its own row, and older ones
// in batches, as older reads them.
func (r *appReader) Versions(ctx context.Context, q appsvc.VersionQuery) iter.Seq2[appsvc.App, error] {
	return stream.Limited(ctx, r.check, q.Limit, func(out func(appsvc.App) bool) error { return r.versions(ctx, q, out) })
}

// versions is the walk of Versions. It holds no rows open while out runs.
func (r *appReader) versions(ctx context.Context, q appsvc.VersionQuery, out func(appsvc.App) bool) error {
	h, err := r.head(ctx, q.AppID)
	if isNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	next := h.Version.Number() // the next to yield
	if before := q.Before.Number(); before >= 0 {
		next = min(next, before-1)
	}
	if next == h.Version.Number() {
		app, err := r.latestApp(ctx, q.AppID)
		if err != nil || !out(app) {
			return err
		}
		next--
	}
	for next >= 0 {
		list, err := r.older(ctx, h, next, q.Limit)
		if err != nil {
			return fmt.Errorf("versions of app %q: %w", q.AppID, err)
		}
		for _, v := range list {
			if !out(h.version(v)) {
				return nil
			}
		}
		next -= int64(len(list))
	}
	return nil
}

// older returns some versions from v down, at least one. Decoding starts at a snapshot below v and goes up to v, so the
// versions on the way are decoded anyway. So it returns up to 64 versions or 1 MiB at once, but not more than limit (0 = no
// limit).
func (r *appReader) older(ctx context.Context, h headRow, v int64, limit int) ([]history.Version, error) {
	const count, bytes = 64, 1 << 20
	c, err := r.conn(ctx)
	if err != nil {
		return nil, err
	}
	tail, err := c.tail(h.key)
	if err != nil {
		return nil, err
	}
	n := count
	if limit > 0 {
		n = min(limit, count)
	}
	return r.db.codec.List(tail, c.history(h.key, v), int64(v), n, bytes)
}

// tail returns the tail of an app's history: the part that still grows.
func (c *conn) tail(app int64) ([]byte, error) {
	rows := c.query("SELECT tail FROM app WHERE key = $1", app)
	defer rows.close()
	if !rows.next() {
		return nil, rows.err
	}
	return rows.blob(0), nil
}

// history yields the rows of an app's history from version v down.
func (c *conn) history(app, v int64) history.Rows {
	return func(yield func(history.Row, error) bool) {
		rows := c.query("SELECT key, data FROM app_history WHERE key BETWEEN $1 AND $2 ORDER BY key DESC",
			historyKey(app, 0), historyKey(app, v))
		defer rows.close()
		for rows.next() {
			if !yield(history.Row{Version: rows.int(0) & maxVersion, Data: rows.blob(1)}, nil) {
				return
			}
		}
		if rows.err != nil {
			yield(history.Row{}, rows.err)
		}
	}
}

// version returns an old version of the app with this head.
func (h headRow) version(v history.Version) appsvc.App {
	m := h.Meta
	m.Version, m.UpdatedAt, m.UpdatedBy = vitrine.NewVersion(v.Number), v.UpdatedAt, v.UpdatedBy
	return appsvc.App{Meta: m, Body: v.Body}
}

// stored returns a version in the form of package history.
func stored(m appsvc.Meta, body []byte) history.Version {
	return history.Version{Number: m.Version.Number(), UpdatedAt: m.UpdatedAt, UpdatedBy: m.UpdatedBy, Body: body}
}
