package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/internal/stream"
)

// tagsKey is the cache's key for the tags of an app, a tagList.
type tagsKey string

// tagList has all tags of an app by name. If the app has too many to cache, many is true and tags is nil.
type tagList struct {
	tags []appsvc.Tag
	many bool
}

// manyTags is the number of tags above which the tags of an app are not cached.
const manyTags = 256

// Tags yields tags of an app by name. It selects them from the cached list of all tags of the app, or reads the table
// if the app has too many.
func (r *appReader) Tags(ctx context.Context, q appsvc.TagQuery) iter.Seq2[appsvc.Tag, error] {
	return stream.Limited(ctx, r.check, q.Limit, func(out func(appsvc.Tag) bool) error { return r.tags(ctx, q, out) })
}

// tags passes the tags that q asks for to out. The list is sorted by name, so binary search finds the first one: the lowest
// name that is at least q.Name and above q.After.
func (r *appReader) tags(ctx context.Context, q appsvc.TagQuery, out func(appsvc.Tag) bool) error {
	list, err := r.tagList(ctx, q.AppID)
	if err != nil {
		return err
	}
	if list.many {
		return r.manyTags(ctx, q, out)
	}
	first, found := slices.BinarySearchFunc(list.tags, max(q.Name, q.After), func(t appsvc.Tag, name string) int {
		return cmp.Compare(t.Name, name)
	})
	if found && q.After != "" && list.tags[first].Name == q.After {
		first++
	}
	for _, t := range list.tags[first:] {
		if q.Name != "" && t.Name != q.Name || !out(t) {
			break
		}
	}
	return nil
}

// tagList returns all tags of an app from the cache, or reads and caches them.
func (r *appReader) tagList(ctx context.Context, id string) (tagList, error) {
	return read(ctx, r, tagsKey(id), func(c *conn) (tagList, int, error) {
		var list tagList
		size := perEntry
		rows := c.query("SELECT name, version FROM tag WHERE app = $1 ORDER BY name", id)
		defer rows.close()
		for rows.next() {
			if len(list.tags) == manyTags {
				return tagList{many: true}, perEntry, nil
			}
			t := appsvc.Tag{AppID: id, Name: rows.text(0), AppVersion: vitrine.NewVersion(rows.int(1))}
			list.tags = append(list.tags, t)
			size += 64 + len(t.Name)
		}
		return list, size, rows.err
	})
}

// manyTags reads the tags that q asks for from the table.
func (r *appReader) manyTags(ctx context.Context, q appsvc.TagQuery, out func(appsvc.Tag) bool) error {
	c, err := r.conn(ctx)
	if err != nil {
		return err
	}
	sql, from := "SELECT name, version FROM tag WHERE app = $1 AND name > $2 ORDER BY name", q.After
	if q.Name != "" {
		sql, from = "SELECT name, version FROM tag WHERE app = $1 AND name = $2 AND name > $3", q.Name
	}
	rows := c.query(sql, q.AppID, from, q.After)
	defer rows.close()
	for rows.next() && out(appsvc.Tag{AppID: q.AppID, Name: rows.text(0), AppVersion: vitrine.NewVersion(rows.int(1))}) {
	}
	return rows.err
}

// SetTag adds or moves a tag. From then on the transaction, and after the commit everybody, reads the tags of the app anew.
func (t *appTx) SetTag(ctx context.Context, tag appsvc.Tag) error {
	if err := t.check(ctx); err != nil {
		return err
	}
	t.c.remember(tagsKey(tag.AppID), nil, 0)
	_, err := t.c.exec(`INSERT INTO tag (app, name, version) VALUES ($1, $2, $3)
		ON CONFLICT (app, name) DO UPDATE SET version = excluded.version`, tag.AppID, tag.Name, tag.AppVersion.Number())
	return err
}

// DeleteTag removes a tag.
func (t *appTx) DeleteTag(ctx context.Context, appID, name string) error {
	if err := t.check(ctx); err != nil {
		return err
	}
	t.c.remember(tagsKey(appID), nil, 0)
	n, err := t.c.exec("DELETE FROM tag WHERE app = $1 AND name = $2", appID, name)
	if err == nil && n == 0 {
		return fmt.Errorf("%w: tag %q of app %q", vitrine.ErrNotFound, name, appID)
	}
	return err
}

func isNotFound(err error) bool { return errors.Is(err, vitrine.ErrNotFound) }
