package postgres

import (
	"context"
	"fmt"
	"iter"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/internal/stream"
)

// Tags yields tags of an app by name: those after q.After or, if q.Name is not empty, the one with this name.
func (r *appReader) Tags(ctx context.Context, q appsvc.TagQuery) iter.Seq2[appsvc.Tag, error] {
	return stream.Limited(ctx, r.check, q.Limit, func(out func(appsvc.Tag) bool) error { return r.tags(ctx, q, out) })
}

// tags reads the tags in portions. All of its statements take the same four arguments: "$3::bytea IS NOT NULL" gives a type to
// the one that a statement does not need.
func (r *appReader) tags(ctx context.Context, q appsvc.TagQuery, out func(appsvc.Tag) bool) error {
	if err := r.lockApp(ctx, q.AppID); err != nil {
		return err
	}
	c, err := r.conn(ctx)
	if err != nil {
		return err
	}
	const portion = 256
	sql, from := "SELECT name, version FROM tag WHERE app = $1 AND name > $2 AND $3::bytea IS NOT NULL ORDER BY name LIMIT $4", q.After
	if q.Name != "" {
		sql, from = "SELECT name, version FROM tag WHERE app = $1 AND name = $2 AND name > $3 LIMIT $4", q.Name
	}
	if q.After == "" && q.Name == "" {
		sql = "SELECT name, version FROM tag WHERE app = $1 AND name >= $2 AND $3::bytea IS NOT NULL ORDER BY name LIMIT $4"
	}
	for {
		found := c.query(ctx, sql, q.AppID, from, q.After, portion)
		count := len(found.values)
		for found.next() {
			from = found.text(0)
			if !out(appsvc.Tag{AppID: q.AppID, Name: from, AppVersion: vitrine.NewVersion(found.int(1))}) {
				return nil
			}
		}
		if found.err != nil || count < portion {
			return found.err
		}
		sql = "SELECT name, version FROM tag WHERE app = $1 AND name > $2 AND $3::bytea IS NOT NULL ORDER BY name LIMIT $4"
	}
}

// lockApp locks an app in an Update. This locks its tags, too, since an Update that writes tags locks their app first.
func (r *appReader) lockApp(ctx context.Context, id string) error {
	if r.locks == nil {
		return nil
	}
	_, err := r.row(ctx, id)
	return err
}

// SetTag adds or moves a tag. The row is sent with the commit.
func (t *appTx) SetTag(ctx context.Context, tag appsvc.Tag) error {
	if err := t.lockApp(ctx, tag.AppID); err != nil {
		return err
	}
	t.c.later(`INSERT INTO tag (app, name, version) VALUES ($1, $2, $3)
		ON CONFLICT (app, name) DO UPDATE SET version = excluded.version`, tag.AppID, tag.Name, tag.AppVersion.Number())
	return nil
}

// DeleteTag removes a tag. It waits for the server, since it returns ErrNotFound if there is no such tag.
func (t *appTx) DeleteTag(ctx context.Context, appID, name string) error {
	if err := t.lockApp(ctx, appID); err != nil {
		return err
	}
	n, err := t.c.exec(ctx, "DELETE FROM tag WHERE app = $1 AND name = $2", appID, name)
	if err == nil && n == 0 {
		return fmt.Errorf("%w: tag %q of app %q", vitrine.ErrNotFound, name, appID)
	}
	return err
}
