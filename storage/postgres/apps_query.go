package postgres

import (
	"context"
	"iter"
	"math"
	"slices"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/internal/lists"
	"github.com/vitrine-go/vitrine/storage/internal/stream"
)

const (
	// fewApps is the highest number of candidates that Apps reads and sorts. If there are more, a walk along an index fills
	// the page sooner.
	fewApps = 4096

	pageRows  = 128     // heads that one query reads
	pageBytes = 1 << 20 // bytes of bodies that one query reads, unless the first body has more
)

// Apps yields the latest versions of the apps that match q, in order.
//
// If at most fewApps apps have the component of q, these are read and sorted. Otherwise a list by time of creation follows the
// primary key of app_scope, which has the apps of each owner and group in this order. A list by time of change reads and sorts
// the apps of the owner and of the groups if they are at most fewApps; if they are more, it walks the index of all apps and skips
// those that do not match: an index for each owner and group would have to be written with every version.
//
// An Update locks the table first, so that nobody adds an app or changes one.
func (r *appReader) Apps(ctx context.Context, q appsvc.AppQuery) iter.Seq2[appsvc.App, error] {
	return stream.Limited(ctx, r.check, q.Limit, func(out func(appsvc.App) bool) error { return r.listApps(ctx, q, out) })
}

func (r *appReader) listApps(ctx context.Context, q appsvc.AppQuery, out func(appsvc.App) bool) error {
	c, err := r.conn(ctx)
	if err != nil {
		return err
	}
	r.lockTable("app", toWrite)
	l := &appList{r: r, c: c, q: q, out: out, scopes: []string{ownerScope(q.Owner)}}
	for _, g := range q.Groups {
		l.scopes = append(l.scopes, groupScope(g))
	}
	l.scopes = lists.Unique(l.scopes)
	byUpdate := q.Sort == appsvc.UpdatedAscending || q.Sort == appsvc.UpdatedDescending
	var ids []string
	all := false
	if q.Component != "" {
		ids, all, err = l.few(ctx, "SELECT app FROM app_component WHERE component = $1 LIMIT $2", q.Component)
	}
	if err == nil && !all && byUpdate {
		ids, all, err = l.few(ctx, "SELECT app FROM app_scope WHERE scope = ANY($1) LIMIT $2", l.scopes)
	}
	switch {
	case err != nil:
		return err
	case all:
		return l.sorted(ctx, ids)
	case byUpdate:
		return l.byUpdate(ctx)
	}
	return l.byCreation(ctx)
}

// appList yields the apps of one query. It finds positions first, then reads the heads of the apps in portions, and last the
// bodies of those that match.
type appList struct {
	r      *appReader
	c      *conn
	q      appsvc.AppQuery
	out    func(appsvc.App) bool
	scopes []string // of the apps that the caller sees; see app_scope
	sent   int      // apps that were yielded
	over   bool     // out has returned false
}

// sizedHead is a head with the size of its body, by which send limits how many bodies it reads together.
type sizedHead struct {
	appsvc.Head
	size int64
}

const sizedColumns = headColumns + ", octet_length(body)::int8"

// few returns the ids that sql yields for arg, sorted and each once. all is false if there are more than DB.few; then the ids
// are only a part of them.
func (l *appList) few(ctx context.Context, sql string, arg any) (ids []string, all bool, err error) {
	found := l.c.query(ctx, sql, arg, l.r.db.few+1)
	for found.next() {
		ids = append(ids, found.text(0))
	}
	return lists.Unique(ids), len(ids) <= l.r.db.few, found.err
}

// sorted reads the apps with these ids, sorts those that match, and yields them.
func (l *appList) sorted(ctx context.Context, ids []string) error {
	var matching []sizedHead
	for part := range slices.Chunk(ids, pageRows) {
		heads, err := l.heads(ctx, part)
		if err != nil {
			return err
		}
		matching = append(matching, heads...)
	}
	return l.send(ctx, matching)
}

// heads returns the heads of the apps with these ids that match.
func (l *appList) heads(ctx context.Context, ids []string) ([]sizedHead, error) {
	return l.matching(l.c.query(ctx, "SELECT "+sizedColumns+" FROM app WHERE id = ANY($1)", ids))
}

// matching reads rows of sizedColumns, and returns the heads of those that match.
func (l *appList) matching(found *rows) (out []sizedHead, err error) {
	for found.next() {
		if h := scanHead(found); l.q.Match(h) {
			out = append(out, sizedHead{h, found.int(8)})
		}
	}
	return out, found.err
}

// These find the apps after a position, in each of the four orders. Apps of the same time are in ascending order of ids in
// all of them.
const (
	createdAscending = `SELECT DISTINCT x.created, x.app FROM unnest($1::bytea[]) AS s (scope) CROSS JOIN LATERAL (
			SELECT created, app FROM app_scope WHERE scope = s.scope AND created >= $2 AND (created > $2 OR app > $3)
			ORDER BY created, app LIMIT $4) x
		ORDER BY 1, 2 LIMIT $4`
	createdDescending = `SELECT DISTINCT x.created, x.app FROM unnest($1::bytea[]) AS s (scope) CROSS JOIN LATERAL (
			SELECT created, app FROM app_scope WHERE scope = s.scope AND created <= $2 AND (created < $2 OR app > $3)
			ORDER BY created DESC, app LIMIT $4) x
		ORDER BY 1 DESC, 2 LIMIT $4`
	updatedAscending  = "SELECT " + sizedColumns + " FROM app WHERE updated >= $1 AND (updated > $1 OR id > $2) ORDER BY updated, id LIMIT $3"
	updatedDescending = "SELECT " + sizedColumns + " FROM app WHERE updated <= $1 AND (updated < $1 OR id > $2) ORDER BY updated DESC, id LIMIT $3"
)

// byCreation yields the matching apps in the order of the primary key of app_scope.
func (l *appList) byCreation(ctx context.Context) error {
	sql := createdAscending
	if l.q.Descending() {
		sql = createdDescending
	}
	after := l.start()
	for !l.over {
		var ids []string
		found := l.c.query(ctx, sql, l.scopes, after.Time, after.ID, pageRows)
		for found.next() {
			after = appsvc.AppPosition{Time: found.int(0), ID: found.text(1)}
			ids = append(ids, after.ID)
		}
		if found.err != nil || len(ids) == 0 {
			return found.err
		}
		heads, err := l.heads(ctx, ids)
		if err == nil {
			err = l.send(ctx, heads)
		}
		if err != nil || len(ids) < pageRows {
			return err
		}
	}
	return nil
}

// byUpdate walks all apps in the order of the index app_by_updated, and yields those that match.
func (l *appList) byUpdate(ctx context.Context) error {
	sql := updatedAscending
	if l.q.Descending() {
		sql = updatedDescending
	}
	after := l.start()
	for !l.over {
		if err := l.r.check(ctx); err != nil {
			return err
		}
		found := l.c.query(ctx, sql, after.Time, after.ID, pageRows)
		count := len(found.values)
		if count > 0 {
			last := scanHead(&rows{values: found.values, at: count})
			after = l.q.Position(last)
		}
		heads, err := l.matching(found)
		if err == nil {
			err = l.send(ctx, heads)
		}
		if err != nil || count < pageRows {
			return err
		}
	}
	return nil
}

// start returns the position after which the list begins.
func (l *appList) start() appsvc.AppPosition {
	switch {
	case l.q.After != nil:
		return *l.q.After
	case l.q.Descending():
		return appsvc.AppPosition{Time: math.MaxInt64}
	}
	return appsvc.AppPosition{Time: math.MinInt64}
}

// send sorts apps and yields them, until out returns false. It reads their bodies in portions of pageBytes, and none beyond the
// limit of q.
func (l *appList) send(ctx context.Context, heads []sizedHead) error {
	slices.SortFunc(heads, func(a, b sizedHead) int { return l.q.Compare(a.Head, b.Head) })
	for len(heads) > 0 && !l.over {
		n, bytes := 0, int64(0)
		for n < len(heads) && (n == 0 || bytes+heads[n].size <= pageBytes) && (l.q.Limit == 0 || l.sent+n < l.q.Limit) {
			bytes += heads[n].size
			n++
		}
		bodies, err := l.bodies(ctx, heads[:n])
		if err != nil {
			return err
		}
		for _, h := range heads[:n] {
			l.sent++
			if !l.out(appsvc.App{Meta: h.Meta, Body: bodies[h.ID]}) {
				l.over = true
				return nil
			}
		}
		heads = heads[n:]
	}
	return nil
}

// bodies reads the bodies of apps, by id.
func (l *appList) bodies(ctx context.Context, heads []sizedHead) (map[string][]byte, error) {
	ids := make([]string, len(heads))
	for i, h := range heads {
		ids[i] = h.ID
	}
	out := make(map[string][]byte, len(heads))
	found := l.c.query(ctx, "SELECT id, body FROM app WHERE id = ANY($1)", ids)
	for found.next() {
		out[found.text(0)] = found.blob(1)
	}
	return out, found.err
}

// IDs yields the IDs of all apps, sorted. An Update locks the whole table first, as it does for a list of apps, so that nobody
// adds an app or changes one.
func (r *appReader) IDs(ctx context.Context) iter.Seq2[string, error] {
	return stream.Limited(ctx, r.check, 0, func(out func(string) bool) error { return r.ids(ctx, out) })
}

func (r *appReader) ids(ctx context.Context, out func(string) bool) error {
	c, err := r.conn(ctx)
	if err != nil {
		return err
	}
	r.lockTable("app", toWrite)
	found := c.walk(ctx, 1024, "SELECT id FROM app ORDER BY id")
	defer found.close()
	for found.next() && out(found.text(0)) {
	}
	return found.err
}
