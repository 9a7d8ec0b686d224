package sqlite

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/assets/assetstore"
	"github.com/vitrine-go/vitrine/storage/internal/lists"
)

// assetTx writes one library. It writes each asset to three tables at once: asset, asset_term (the index of FTS5) and attribute.
type assetTx struct {
	assetReader
	lib  assetstore.Library
	done edit // what the update has changed so far; Update caches it after the commit
}

// ready adds a row for the library, and so gives it a number, if it has none yet. Each method that adds something calls it first.
func (t *assetTx) ready(ctx context.Context) error {
	if err := t.check(ctx); err != nil || t.number != 0 {
		return err
	}
	number, err := t.c.insert("INSERT INTO library (network, id, last, at, count, tree, edits) VALUES ($1, $2, 0, 0, 0, 0, 0)", t.lib.Network, t.lib.ID)
	if err == nil && number >= 1<<(63-ordinalBits) {
		err = fmt.Errorf("%w: there are %d libraries", vitrine.ErrFull, number-1)
	}
	if err == nil {
		t.number = number
	}
	return err
}

// edit records that an asset has these terms now; none if it was removed. Every write of an asset calls it. The first call of an
// update raises the library's edit count by one, which makes the cached sets of the library out of date.
func (t *assetTx) edit(ordinal int64, terms []string) error {
	first := t.done.size == 0
	t.done.add(ordinal, terms)
	if !first {
		return nil
	}
	t.edits++
	_, err := t.c.exec("UPDATE library SET edits = $2 WHERE number = $1", t.number, t.edits)
	return err
}

// SetState replaces the library's State.
func (t *assetTx) SetState(ctx context.Context, s assetstore.State) error {
	if err := t.ready(ctx); err != nil {
		return err
	}
	_, err := t.c.exec("UPDATE library SET secret = $2, last = $3, at = $4, count = $5, tree = $6 WHERE number = $1",
		t.number, s.Key[:], s.Last, s.At, s.Count, s.Tree)
	if err == nil {
		t.state = s
	}
	return err
}

// PutAsset adds an asset, or replaces it with all of its terms and attributes. It tries to insert first, since nearly
// all assets are new.
func (t *assetTx) PutAsset(ctx context.Context, a assetstore.Record, x assetstore.Index) error {
	if err := t.ready(ctx); err != nil {
		return err
	}
	if a.Ordinal < 1 || a.Ordinal > assetstore.MaxOrdinal {
		return fmt.Errorf("asset %d: want an ordinal from 1 to %d", a.Ordinal, int64(assetstore.MaxOrdinal))
	}
	if err := t.edit(a.Ordinal, x.Terms); err != nil {
		return err
	}
	place := t.place(a.Ordinal)
	args := []any{place, a.Origin[:], a.CreatedAt, a.UpdatedAt, orNull(lists.Join(a.Folders)), []byte(a.Body)}
	_, err := t.c.exec("INSERT INTO asset (place, origin, created, updated, folders, body) VALUES ($1, $2, $3, $4, $5, $6)", args...)
	switch {
	case err == nil:
		_, err = t.c.exec("INSERT INTO asset_term (rowid, terms) VALUES ($1, $2)", place, termText(x.Terms))
	case isTaken(err):
		_, err = t.c.exec("UPDATE asset SET origin = $2, created = $3, updated = $4, folders = $5, body = $6 WHERE place = $1", args...)
		if err == nil {
			_, err = t.c.exec("UPDATE asset_term SET terms = $2 WHERE rowid = $1", place, termText(x.Terms))
		}
		if err == nil {
			err = t.deleteAttributes(a.Ordinal)
		}
	}
	for _, attribute := range x.Attributes {
		if err == nil {
			_, err = t.c.exec("INSERT INTO attribute (library, key, value, ordinal) VALUES ($1, $2, $3, $4)",
				t.number, attribute.Key, attribute.Value, a.Ordinal)
		}
	}
	return err
}

// termText joins terms to a text that FTS5's tokenizer splits into the same terms.
func termText(terms []string) string {
	var b []byte
	for _, term := range terms {
		b = append(encodeTerm(b, term), ' ')
	}
	return string(b)
}

// deleteAttributes removes the attributes of an asset from their table.
func (t *assetTx) deleteAttributes(ordinal int64) error {
	_, err := t.c.exec("DELETE FROM attribute WHERE library = $1 AND ordinal = $2", t.number, ordinal)
	return err
}

// DeleteAsset removes an asset with its terms and attributes. It returns ErrNotFound if there is none with this ordinal.
func (t *assetTx) DeleteAsset(ctx context.Context, ordinal int64) error {
	if err := t.check(ctx); err != nil {
		return err
	}
	if ordinal < 1 || ordinal > assetstore.MaxOrdinal {
		return errNoAsset
	}
	n, err := t.c.exec("DELETE FROM asset WHERE place = $1", t.place(ordinal))
	if err == nil && n == 0 {
		return errNoAsset
	}
	if err == nil {
		err = t.edit(ordinal, nil)
	}
	if err == nil {
		_, err = t.c.exec("DELETE FROM asset_term WHERE rowid = $1", t.place(ordinal))
	}
	if err == nil {
		err = t.deleteAttributes(ordinal)
	}
	return err
}

// PutFolder adds a folder or replaces it.
func (t *assetTx) PutFolder(ctx context.Context, f assetstore.FolderRecord) error {
	if err := t.ready(ctx); err != nil {
		return err
	}
	permissions, err := json.Marshal(f.Permissions)
	if err != nil {
		return err
	}
	_, err = t.c.exec(`INSERT INTO folder (library, id, parent, label, inherit, deleted, permissions) VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT DO UPDATE SET parent = excluded.parent, label = excluded.label, inherit = excluded.inherit,
			deleted = excluded.deleted, permissions = excluded.permissions`,
		t.number, f.ID, f.Parent, f.Label, f.Inherit, f.Deleted, string(permissions))
	return err
}
