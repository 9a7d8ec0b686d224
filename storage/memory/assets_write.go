package memory

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/vitrine-go/vitrine/assets"
)

// assetTx is a library that is being built.
type assetTx struct{ *library }

// SetState replaces the state.
func (t assetTx) SetState(ctx context.Context, s assets.State) error {
	t.state = s
	return ctx.Err()
}

// PutAsset adds or replaces an asset.
func (t assetTx) PutAsset(ctx context.Context, r assets.Record, x assets.Index) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	old, found := t.row(r.Ordinal)
	if found {
		t.origins = t.origins.remove(old)
		t.unlist(old, x.Terms)
	}
	next := &row{r, assets.Index{Terms: slices.Clone(x.Terms), Attributes: slices.Clone(x.Attributes)}}
	next.Folders, next.Body = slices.Clone(r.Folders), bytes.Clone(r.Body)
	t.rows, t.origins = t.rows.put(next), t.origins.put(next)
	for i, term := range next.index.Terms {
		p := t.posting(term)
		if len(p.ordinals) > 0 {
			next.index.Terms[i] = p.term // one string for all assets
		}
		t.enlist(p, r.Ordinal)
	}
	t.enlist(t.posting(""), r.Ordinal)
	for _, a := range next.index.Attributes {
		t.values = t.values.put(labelled{a, r.Ordinal})
	}
	return nil
}

// enlist adds the asset to the list, if it is not there.
func (t assetTx) enlist(p posting, ordinal int64) {
	if with := p.with(ordinal); len(with.ordinals) > len(p.ordinals) {
		t.postings = t.postings.put(with)
	}
}

// unlist takes the asset out of all lists but those of the terms that it keeps.
func (t assetTx) unlist(r *row, keeps []string) {
	for _, term := range r.index.Terms {
		if _, kept := slices.BinarySearch(keeps, term); kept {
			continue
		}
		t.shorten(t.posting(term).without(r.Ordinal))
	}
	for _, a := range r.index.Attributes {
		t.values = t.values.remove(labelled{a, r.Ordinal})
	}
}

// shorten puts a list in place of a longer one.
func (t assetTx) shorten(p posting) {
	if len(p.ordinals) == 0 {
		t.postings = t.postings.remove(p)
		return
	}
	t.postings = t.postings.put(p)
}

// DeleteAsset removes an asset.
func (t assetTx) DeleteAsset(ctx context.Context, ordinal int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r, found := t.row(ordinal)
	if !found {
		return fmt.Errorf("%w: asset %d", assets.ErrNotFound, ordinal)
	}
	t.unlist(r, nil)
	t.shorten(t.posting("").without(ordinal))
	t.rows, t.origins = t.rows.remove(r), t.origins.remove(r)
	return nil
}

// PutFolder adds or replaces a folder.
func (t assetTx) PutFolder(ctx context.Context, f assets.FolderRecord) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	t.folders = t.folders.put(f.Clone())
	return nil
}
