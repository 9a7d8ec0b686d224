package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	"github.com/vitrine-go/vitrine/assets/assetstore"
	"github.com/vitrine-go/vitrine/storage/internal/stream"
)

// Folders yields the folders by id, the deleted ones included.
func (r *assetReader) Folders(ctx context.Context) iter.Seq2[assetstore.FolderRecord, error] {
	return stream.Of(func(out func(assetstore.FolderRecord) bool) error { return r.folders(ctx, out) })
}

// folderPortion is how many folders one round trip reads.
const folderPortion = 1024

// folders reads the folders in portions, so out may read something else in between. The permissions of a folder are JSON in one
// column, since they are only ever read and written together.
func (r *assetReader) folders(ctx context.Context, out func(assetstore.FolderRecord) bool) error {
	if err := r.check(ctx); err != nil {
		return err
	}
	found := r.c.walk(ctx, folderPortion, "SELECT id, parent, label, inherit, deleted, permissions FROM folder WHERE library = $1 ORDER BY id", r.key)
	defer found.close()
	for found.next() {
		f := assetstore.FolderRecord{ID: found.text(0), Parent: found.text(1), Label: found.text(2), Inherit: found.bool(3), Deleted: found.bool(4)}
		if err := json.Unmarshal(found.blob(5), &f.Permissions); err != nil {
			return fmt.Errorf("stored permissions of folder %s: %w", f.ID, err)
		}
		if err := r.check(ctx); err != nil {
			return err
		}
		if !out(f) {
			return nil
		}
	}
	return found.err
}

// PutFolder adds a folder or replaces it. The row is sent with a later statement or with the commit.
func (t *assetTx) PutFolder(ctx context.Context, f assetstore.FolderRecord) error {
	if err := t.check(ctx); err != nil {
		return err
	}
	permissions, err := json.Marshal(f.Permissions)
	if err != nil {
		return err
	}
	t.c.later(`INSERT INTO folder (library, id, parent, label, inherit, deleted, permissions) VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (library, id) DO UPDATE SET parent = excluded.parent, label = excluded.label, inherit = excluded.inherit,
			deleted = excluded.deleted, permissions = excluded.permissions`,
		t.key, f.ID, f.Parent, f.Label, f.Inherit, f.Deleted, permissions)
	t.dirty = true
	return t.spill(ctx)
}
