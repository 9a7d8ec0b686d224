package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	"github.com/vitrine-go/vitrine/assets"
)

// Folders yields the folders.
func (r *assetReader) Folders(ctx context.Context) iter.Seq2[assets.FolderRecord, error] {
	return func(yield func(assets.FolderRecord, error) bool) {
		err := r.check(ctx)
		if err == nil {
			rows := r.c.query("SELECT id, parent, label, inherit, deleted, permissions FROM folder WHERE library = $1 ORDER BY id", r.number)
			defer rows.close()
			for rows.next() {
				f := assets.FolderRecord{
					ID: rows.text(0), Parent: rows.text(1), Label: rows.text(2), Inherit: rows.int(3) != 0, Deleted: rows.int(4) != 0,
				}
				if err = json.Unmarshal([]byte(rows.text(5)), &f.Permissions); err != nil {
					err = fmt.Errorf("stored permissions of folder %s: %w", f.ID, err)
					break
				}
				if err = r.check(ctx); err != nil || !yield(f, nil) {
					break
				}
			}
			if err == nil {
				err = rows.err
			}
		}
		if err != nil {
			yield(assets.FolderRecord{}, err)
		}
	}
}

// Values yields the values that attributes with this key have: each by a look at the index behind
// the one before, since a value may have any number of assets.
func (r *assetReader) Values(ctx context.Context, key string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		sql := "SELECT value FROM attribute WHERE library = $1 AND key = $2 AND value >= $3 ORDER BY value LIMIT 1"
		for last := ""; ; sql = "SELECT value FROM attribute WHERE library = $1 AND key = $2 AND value > $3 ORDER BY value LIMIT 1" {
			value, found, err := r.value(ctx, sql, key, last)
			if err != nil {
				yield("", err)
				return
			}
			if !found || !yield(value, nil) {
				return
			}
			last = value
		}
	}
}

func (r *assetReader) value(ctx context.Context, sql, key, last string) (value string, found bool, err error) {
	if err := r.check(ctx); err != nil {
		return "", false, err
	}
	rows := r.c.query(sql, r.number, key, last)
	defer rows.close()
	if !rows.next() {
		return "", false, rows.err
	}
	return rows.text(0), true, nil
}
