package memory

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/assets/assetstore"
)

// assetTx is the next state of a library while an Update builds it.
type assetTx struct{ *library }

// SetState replaces the state.
func (t assetTx) SetState(ctx context.Context, s assetstore.State) error {
	t.state = s
	return ctx.Err()
}

// PutAsset adds or replaces an asset. It takes the asset out of the indexes where only the old one stood, and then puts it
// into those of the new one.
func (t assetTx) PutAsset(ctx context.Context, r assetstore.Record, x assetstore.Index) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	old, found := t.row(r.Ordinal)
	if found {
		t.origins = t.origins.remove(old)
		t.unlist(old, x.Terms)
	}
	next := &row{r, assetstore.Index{Terms: slices.Clone(x.Terms), Attributes: slices.Clone(x.Attributes)}}
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

// enlist adds the asset to a posting list, if it is not in it.
func (t assetTx) enlist(p posting, ordinal int64) {
	if with := p.with(ordinal); len(with.ordinals) > len(p.ordinals) {
		t.postings = t.postings.put(with)
	}
}

// unlist removes the asset from the posting lists of its terms, except those in keeps, which is sorted, and removes all of
// its attributes.
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

// shorten replaces a posting list by a shorter one, and removes an empty one.
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
		return fmt.Errorf("%w: asset %d", vitrine.ErrNotFound, ordinal)
	}
	t.unlist(r, nil)
	t.shorten(t.posting("").without(ordinal))
	t.rows, t.origins = t.rows.remove(r), t.origins.remove(r)
	return nil
}

// PutFolder adds or replaces a folder.
func (t assetTx) PutFolder(ctx context.Context, f assetstore.FolderRecord) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	t.folders = t.folders.put(f.Clone())
	return nil
}

// AddEntry adds an entry to the feed.
func (t assetTx) AddEntry(ctx context.Context, e assetstore.FeedEntry) error {
	t.feed.add(e)
	return ctx.Err()
}

// RemoveEntries removes the oldest entries of the feed.
func (t assetTx) RemoveEntries(ctx context.Context, before int64, limit int) error {
	t.feed.remove(before, limit)
	return ctx.Err()
}
