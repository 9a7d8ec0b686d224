package postgres

import (
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/internal/stream"
)

// Users yields the apps that match q and have used its component. It reads heads, bodies and tags in portions, since a
// round trip for each app would take most of the time.
func (r *appReader) Users(ctx context.Context, q appsvc.UserQuery) iter.Seq2[appsvc.ComponentUser, error] {
	return stream.Limited(ctx, r.check, 0, func(out func(appsvc.ComponentUser) bool) error { return r.listUsers(ctx, q, out) })
}

func (r *appReader) listUsers(ctx context.Context, q appsvc.UserQuery, out func(appsvc.ComponentUser) bool) error {
	c, err := r.conn(ctx)
	if err != nil {
		return err
	}
	r.lockTable("app", toWrite)
	const sql = `(SELECT app FROM app_used WHERE component = $1 AND app >= $2 AND (app > $2 OR $3) ORDER BY app LIMIT $4)
		UNION (SELECT app FROM app_used WHERE component = ''::bytea AND app >= $2 AND (app > $2 OR $3) ORDER BY app LIMIT $4)
		ORDER BY app LIMIT $4`
	for from, inclusive := q.From, true; ; inclusive = false {
		var ids []string
		found := c.query(ctx, sql, q.Component, from, inclusive, pageRows)
		for found.next() {
			ids = append(ids, found.text(0))
		}
		if found.err != nil || len(ids) == 0 {
			return found.err
		}
		if more, err := r.sendUsers(ctx, c, q, ids, out); err != nil || !more {
			return err
		}
		if len(ids) < pageRows {
			return nil
		}
		from = ids[len(ids)-1]
	}
}

// sendUsers yields those of the apps that match q. more is false when out wants no more.
func (r *appReader) sendUsers(ctx context.Context, c *conn, q appsvc.UserQuery, ids []string, out func(appsvc.ComponentUser) bool) (more bool, err error) {
	var heads []sizedHead
	found := c.query(ctx, "SELECT "+sizedColumns+" FROM app WHERE id = ANY($1)", ids)
	for found.next() {
		if h := scanHead(found); q.Match(h) {
			heads = append(heads, sizedHead{h, found.int(8)})
		}
	}
	if found.err != nil || len(heads) == 0 {
		return true, found.err
	}
	slices.SortFunc(heads, func(a, b sizedHead) int { return strings.Compare(a.ID, b.ID) })
	tags, err := c.tagsOf(ctx, heads)
	if err != nil {
		return false, err
	}
	l := &appList{r: r, c: c}
	for len(heads) > 0 {
		n, bytes := 0, int64(0)
		for n < len(heads) && (n == 0 || bytes+heads[n].size <= pageBytes) {
			bytes += heads[n].size
			n++
		}
		bodies, err := l.bodies(ctx, heads[:n])
		if err != nil {
			return false, err
		}
		for _, h := range heads[:n] {
			if !out(appsvc.ComponentUser{Head: h.Head, Body: bodies[h.ID], Tags: tags[h.ID]}) {
				return false, nil
			}
		}
		heads = heads[n:]
	}
	return true, nil
}

// tagsOf returns the tags of apps by id, each by name.
func (c *conn) tagsOf(ctx context.Context, heads []sizedHead) (map[string][]appsvc.Tag, error) {
	ids := make([]string, len(heads))
	for i, h := range heads {
		ids[i] = h.ID
	}
	out := map[string][]appsvc.Tag{}
	found := c.query(ctx, "SELECT app, name, version FROM tag WHERE app = ANY($1) ORDER BY app, name", ids)
	for found.next() {
		id := found.text(0)
		out[id] = append(out[id], appsvc.Tag{AppID: id, Name: found.text(1), AppVersion: appsvc.NewVersion(found.int(2))})
	}
	return out, found.err
}
