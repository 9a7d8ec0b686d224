package sqlite

import (
	"context"
	"iter"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/internal/stream"
)

// Users yields the apps that match q and of which some version has an element of its component. Apps that the first release
// has stored are yielded too if they match: it did not record which components they have used. It reads past the cache: a
// walk over all apps would push out what is read often.
func (r *appReader) Users(ctx context.Context, q appsvc.UserQuery) iter.Seq2[appsvc.ComponentUser, error] {
	return stream.Limited(ctx, r.check, 0, func(out func(appsvc.ComponentUser) bool) error { return r.users(ctx, q, out) })
}

// users reads ids in portions and then each app, so that no query stays open while out runs. app_used has the apps of which some
// version has the component, and under the empty name the apps of the first release, of which only the latest version is known.
func (r *appReader) users(ctx context.Context, q appsvc.UserQuery, out func(appsvc.ComponentUser) bool) error {
	c, err := r.conn(ctx)
	if err != nil {
		return err
	}
	const portion = 256
	for from, inclusive := q.From, true; ; inclusive = false {
		ids, err := c.users(q.Component, from, inclusive, portion)
		if err != nil {
			return err
		}
		for _, id := range ids {
			if err := r.check(ctx); err != nil { // many apps may be skipped before the next match
				return err
			}
			user, ok, err := c.user(q, id)
			if err != nil || ok && !out(user) {
				return err
			}
		}
		if len(ids) < portion {
			return nil
		}
		from = ids[len(ids)-1]
	}
}

// users returns up to limit ids of apps that have used a component, or of which that is not known. They are above from or, with
// inclusive, at least from.
func (c *conn) users(component, from string, inclusive bool, limit int) (ids []string, err error) {
	rows := c.query(`SELECT app FROM (SELECT app FROM app_used WHERE component = $1 AND app >= $2 AND (app > $2 OR $3) ORDER BY app LIMIT $4)
		UNION SELECT app FROM (SELECT app FROM app_used WHERE component = '' AND app >= $2 AND (app > $2 OR $3) ORDER BY app LIMIT $4)
		ORDER BY app LIMIT $4`, component, from, inclusive, limit)
	defer rows.close()
	for rows.next() {
		ids = append(ids, rows.text(0))
	}
	return ids, rows.err
}

// user returns an app with its tags; ok is false if it does not match q. The body is read only if it does.
func (c *conn) user(q appsvc.UserQuery, id string) (user appsvc.ComponentUser, ok bool, err error) {
	rows := c.query("SELECT "+headColumns+", body FROM app WHERE id = $1", id)
	if rows.next() {
		user.Head = scanHead(rows).Head
		ok = q.Match(user.Head)
		if ok {
			user.Body = rows.blob(9)
		}
	}
	rows.close()
	if rows.err != nil || !ok {
		return user, false, rows.err
	}
	tags := c.query("SELECT name, version FROM tag WHERE app = $1 ORDER BY name", id)
	defer tags.close()
	for tags.next() {
		user.Tags = append(user.Tags, appsvc.Tag{AppID: id, Name: tags.text(0), AppVersion: vitrine.NewVersion(tags.int(1))})
	}
	return user, true, tags.err
}
