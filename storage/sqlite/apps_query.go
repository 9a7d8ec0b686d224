package sqlite

import (
	"context"
	"encoding/json"
	"iter"
	"math"
	"slices"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/internal/stream"
)

// fewApps is the highest number of candidates that Apps reads one by one and sorts. If there are more, it reads all apps
// in order instead: of a million apps at least one in 256 is a candidate then, so a page is found soon.
const fewApps = 4096

// Apps yields the latest versions of the apps that match q, in order.
//
// If at most fewApps apps may match, it reads and sorts them. Otherwise it reads all apps in the order of q and skips those
// that do not match. An index of both groups and times would avoid this, but each new version would have to change
// it for every group of the app.
func (r *appReader) Apps(ctx context.Context, q appsvc.AppQuery) iter.Seq2[appsvc.App, error] {
	return stream.Limited(ctx, r.check, q.Limit, func(out func(appsvc.App) bool) error { return r.apps(ctx, q, out) })
}

// apps sorts the candidates if they are few, and otherwise walks all apps in order.
func (r *appReader) apps(ctx context.Context, q appsvc.AppQuery, out func(appsvc.App) bool) error {
	c, err := r.conn(ctx)
	if err != nil {
		return err
	}
	keys, all, err := c.candidates(q, r.db.few)
	if err != nil {
		return err
	}
	if all {
		return c.sorted(q, keys, out)
	}
	return r.walk(ctx, c, q, out)
}

// IDs yields the IDs of all apps.
func (r *appReader) IDs(ctx context.Context) iter.Seq2[string, error] {
	return stream.Limited(ctx, r.check, 0, func(out func(string) bool) error { return r.ids(ctx, out) })
}

func (r *appReader) ids(ctx context.Context, out func(string) bool) error {
	c, err := r.conn(ctx)
	if err != nil {
		return err
	}
	rows := c.query("SELECT id FROM app ORDER BY id")
	defer rows.close()
	for rows.next() && out(rows.text(0)) {
	}
	return rows.err
}

// candidates returns the keys of apps that may match. They are the apps with the component, if q has one and these are at most
// few; otherwise those of the owner and of the groups. Every app that matches is among them if all is true. all is false if
// the apps of the owner and of the groups are more than few; then keys are only a part of them.
func (c *conn) candidates(q appsvc.AppQuery, few int) (keys map[int64]bool, all bool, err error) {
	if q.Component != "" {
		keys = map[int64]bool{}
		err = c.gather(keys, few, "SELECT app FROM app_component WHERE component = $1", q.Component)
		if err != nil || len(keys) <= few {
			return keys, true, err
		}
	}
	keys = map[int64]bool{}
	if err := c.gather(keys, few, "SELECT key FROM app WHERE owner = $1", q.Owner); err != nil {
		return nil, false, err
	}
	groups, err := json.Marshal(q.Groups)
	if err != nil {
		return nil, false, err
	}
	err = c.gather(keys, few, "SELECT app FROM app_scope WHERE scope IN (SELECT value FROM json_each($1))", string(groups))
	return keys, len(keys) <= few, err
}

// gather adds the keys that sql yields for arg, until there are more than few.
func (c *conn) gather(keys map[int64]bool, few int, sql, arg string) error {
	r := c.query(sql, arg)
	defer r.close()
	for len(keys) <= few && r.next() {
		keys[r.int(0)] = true
	}
	return r.err
}

// sorted yields the apps with these keys that match q, in the order of q.
func (c *conn) sorted(q appsvc.AppQuery, keys map[int64]bool, out func(appsvc.App) bool) error {
	var found []headRow
	for key := range keys {
		r := c.query("SELECT "+headColumns+" FROM app WHERE key = $1", key)
		if r.next() {
			if h := scanHead(r); q.Match(h.Head) {
				found = append(found, h)
			}
		}
		r.close()
		if r.err != nil {
			return r.err
		}
	}
	slices.SortFunc(found, func(a, b headRow) int { return q.Compare(a.Head, b.Head) })
	for _, h := range found {
		app, err := c.withBody(h)
		if err != nil || !out(app) {
			return err
		}
	}
	return nil
}

// walk yields the apps that match q. It reads all apps in the order of an index and skips those that do not match.
func (r *appReader) walk(ctx context.Context, c *conn, q appsvc.AppQuery, out func(appsvc.App) bool) error {
	rows := c.inOrder(q)
	defer rows.close()
	for rows.next() {
		if err := r.check(ctx); err != nil { // many apps may be skipped before the next match
			return err
		}
		h := scanHead(rows)
		if !q.Match(h.Head) {
			continue
		}
		app, err := c.withBody(h)
		if err != nil || !out(app) {
			return err
		}
	}
	return rows.err
}

// inOrder yields the heads of all apps after q.After. The condition on the time alone, which stands first, lets SQLite
// begin in the index.
func (c *conn) inOrder(q appsvc.AppQuery) *rows {
	after := appsvc.AppPosition{Time: math.MinInt64}
	if q.Descending() {
		after.Time = math.MaxInt64
	}
	if q.After != nil {
		after = *q.After
	}
	sql := "SELECT " + headColumns + " FROM app WHERE created >= $1 AND (created > $1 OR id > $2) ORDER BY created, id"
	switch q.Sort {
	case appsvc.CreatedDescending:
		sql = "SELECT " + headColumns + " FROM app WHERE created <= $1 AND (created < $1 OR id > $2) ORDER BY created DESC, id"
	case appsvc.UpdatedAscending:
		sql = "SELECT " + headColumns + " FROM app WHERE updated >= $1 AND (updated > $1 OR id > $2) ORDER BY updated, id"
	case appsvc.UpdatedDescending:
		sql = "SELECT " + headColumns + " FROM app WHERE updated <= $1 AND (updated < $1 OR id > $2) ORDER BY updated DESC, id"
	}
	return c.query(sql, after.Time, after.ID)
}

// withBody returns the app with this head. Bodies are read apart from heads, so that skipped apps cost little.
func (c *conn) withBody(h headRow) (appsvc.App, error) {
	r := c.query("SELECT body FROM app WHERE key = $1", h.key)
	defer r.close()
	if !r.next() {
		return appsvc.App{}, r.err
	}
	return appsvc.App{Meta: h.Meta, Body: r.blob(0)}, nil
}
