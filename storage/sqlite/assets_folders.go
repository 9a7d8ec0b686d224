package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	"github.com/vitrine-go/vitrine/assets/assetstore"
	"github.com/vitrine-go/vitrine/storage/internal/stream"
)

// Folders yields the folders by id, the deleted ones included. The permissions of a folder are JSON in one column, since they are
// only ever read and written together.
func (r *assetReader) Folders(ctx context.Context) iter.Seq2[assetstore.FolderRecord, error] {
	return stream.Limited(ctx, r.check, 0, func(out func(assetstore.FolderRecord) bool) error {
		if err := r.check(ctx); err != nil {
			return err
		}
		rows := r.c.query("SELECT id, parent, label, inherit, deleted, permissions FROM folder WHERE library = $1 ORDER BY id", r.number)
		defer rows.close()
		for rows.next() {
			f := assetstore.FolderRecord{
				ID: rows.text(0), Parent: rows.text(1), Label: rows.text(2), Inherit: rows.int(3) != 0, Deleted: rows.int(4) != 0,
			}
			if err := json.Unmarshal([]byte(rows.text(5)), &f.Permissions); err != nil {
				return fmt.Errorf("stored permissions of folder %s: %w", f.ID, err)
			}
			if !out(f) {
				return nil
			}
		}
		return rows.err
	})
}
