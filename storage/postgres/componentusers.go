package postgres

import (
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/history"
	"github.com/vitrine-go/vitrine/storage/internal/stream"
)

// Users yields the apps that match q and of which some version has an element of its component. Apps that the first release
// has stored are yielded too if they match: it did not record which components they have used. It reads heads, bodies and
// tags in portions, since a round trip for each app would take most of the time. A View also reads what App needs for the
// tagged versions. An Update locks the table of apps.
func (r *appReader) Users(ctx context.Context, q appsvc.UserQuery) iter.Seq2[appsvc.ComponentUser, error] {
	return stream.Limited(ctx, r.check, 0, func(out func(appsvc.ComponentUser) bool) error { return r.listUsers(ctx, q, out) })
}

// listUsers reads ids in portions, and then the apps of each portion. app_used has the apps of which some version has the
// component, and under the empty name the apps of the first release, of which only the latest version is known.
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

// sendUsers yields those of the apps that match q, by ID. more is false when out wants no more.
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
	for len(heads) > 0 {
		n, bytes := 0, int64(0)
		for n < len(heads) && (n == 0 || bytes+heads[n].size <= pageBytes) {
			bytes += heads[n].size
			n++
		}
		rows, err := r.users(ctx, c, heads[:n], tags)
		if err != nil {
			return false, err
		}
		for _, row := range rows {
			if !r.sendUser(row, tags[row.ID], out) {
				return false, nil
			}
		}
		heads = heads[n:]
	}
	return true, nil
}

// sendUser yields an app. Until the caller asks for the next app, a View takes what it reads of this one from the row.
func (r *appReader) sendUser(row *appRow, tags []appsvc.Tag, out func(appsvc.ComponentUser) bool) (more bool) {
	if _, known := r.apps[row.ID]; !known && r.locks == nil {
		r.apps[row.ID] = row
		defer delete(r.apps, row.ID)
	}
	return out(appsvc.ComponentUser{Head: row.head(), Body: row.body, Tags: tags})
}

// maxAhead bounds how many tagged versions one statement looks for: an app may have a thousand tags, and a portion more
// than a hundred apps. App reads the others when it is asked for them.
const maxAhead = 512

// users returns the rows of apps, in the order of heads. In a View it also reads, in the same round trip, the chains of at most
// maxAhead of their tagged versions. An Update locks an app before it reads a version, and so reads nothing ahead.
func (r *appReader) users(ctx context.Context, c *conn, heads []sizedHead, tags map[string][]appsvc.Tag) ([]*appRow, error) {
	list, byID := make([]*appRow, len(heads)), make(map[string]*appRow, len(heads))
	var ids, tagged []string
	var versions []int64
	for i, h := range heads {
		list[i] = &appRow{Head: h.Head}
		byID[h.ID] = list[i]
		ids = append(ids, h.ID)
		for _, tag := range tags[h.ID] {
			if tag.AppVersion != h.Version && len(tagged) < maxAhead {
				tagged, versions = append(tagged, h.ID), append(versions, tag.AppVersion.Number())
			}
		}
	}
	if r.locks == nil && len(tagged) > 0 {
		c.also(func(found *rows) error {
			for found.next() {
				row, v := byID[found.text(0)], found.int(1)
				if row.chains == nil {
					row.chains = map[int64][]history.Row{}
				}
				row.chains[v] = append(row.chains[v], history.Row{Version: found.int(2), Data: found.blob(3)})
			}
			return found.err
		}, chainsSQL, tagged, versions, pageBytes)
	}
	found := c.query(ctx, "SELECT id, body, recent FROM app WHERE id = ANY($1)", ids)
	for found.next() {
		row := byID[found.text(0)]
		row.body, row.tail = found.blob(1), found.blob(2)
	}
	return list, found.err
}

// chainsSQL finds the chain of each of several versions, until they have $3 bytes together. A chain that would exceed that, and
// all after it, are left out; App reads them when it is asked for them.
const chainsSQL = `SELECT app, wanted, version, data FROM (
		SELECT w.app, w.version AS wanted, h.version, h.data, sum(octet_length(h.data)) OVER (ORDER BY w.app, w.version) AS bytes
		FROM (SELECT DISTINCT * FROM unnest($1::bytea[], $2::int8[])) AS w (app, version) CROSS JOIN LATERAL (
			SELECT version, data FROM app_history WHERE app = w.app AND version <= w.version AND version >= (SELECT version FROM app_history
				WHERE app = w.app AND version <= w.version AND snapshot ORDER BY version DESC LIMIT 1)) AS h
	) AS chains WHERE bytes <= $3 ORDER BY app, wanted, version DESC`

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
		out[id] = append(out[id], appsvc.Tag{AppID: id, Name: found.text(1), AppVersion: vitrine.NewVersion(found.int(2))})
	}
	return out, found.err
}
