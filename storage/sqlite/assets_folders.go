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
