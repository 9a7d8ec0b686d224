package sqlite

import (
	"context"
	"fmt"
	"slices"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/internal/lists"
)

// headRow is a row of table app without its history and body. It is what most calls need first, so it is cached.
type headRow struct {
	key int64 // by which other tables name the app; it never changes
	appsvc.Head
}

// headColumns are the columns that scanHead reads. A query may have more columns after them, from column 9 on.
const headColumns = "key, id, created, updated, version, owner, editor, groups, components"

func scanHead(r *rows) headRow {
	return headRow{r.int(0), appsvc.Head{
		Meta: appsvc.Meta{
			ID: r.text(1), CreatedAt: r.int(2), UpdatedAt: r.int(3), Version: vitrine.NewVersion(r.int(4)),
			Owner: r.text(5), UpdatedBy: r.text(6),
		},
		Groups:     lists.Split(r.blob(7)),
		Components: lists.Split(r.blob(8)),
	}}
}

// headKey is the cache's key for the headRow of an app.
type headKey string

// perEntry estimates the overhead of a cache entry, in bytes.
const perEntry = 512

// size estimates how many bytes the row takes in the cache.
func (h headRow) size() int {
	return perEntry + 2*len(lists.Join(h.Groups)) + 2*len(lists.Join(h.Components))
}

// Head returns the Head of the latest version.
func (r *appReader) Head(ctx context.Context, id string) (appsvc.Head, error) {
	row, err := r.head(ctx, id)
	if err != nil {
		return appsvc.Head{}, err
	}
	h := row.Head
	h.Groups, h.Components = slices.Clone(h.Groups), slices.Clone(h.Components)
	return h, nil
}

// head returns the row of an app from the cache, or reads and caches it. It returns ErrNotFound if there is no such app.
func (r *appReader) head(ctx context.Context, id string) (headRow, error) {
	return read(ctx, r, headKey(id), func(c *conn) (headRow, int, error) {
		rows := c.query("SELECT "+headColumns+" FROM app WHERE id = $1", id)
		defer rows.close()
		if !rows.next() {
			return headRow{}, 0, noApp(rows, id)
		}
		row := scanHead(rows)
		return row, row.size(), nil
	})
}

// noApp returns the error of a query for an app that has yielded no row: that of rows, or ErrNotFound if rows has not failed.
func noApp(rows *rows, id string) error {
	if rows.err != nil {
		return rows.err
	}
	return fmt.Errorf("%w: app %q", vitrine.ErrNotFound, id)
}
