package sqlite

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/assets/assetstore"
	"github.com/vitrine-go/vitrine/internal/feed"
	"github.com/vitrine-go/vitrine/storage/internal/stream"
)

// The feeds of all libraries are in one table. The key of an entry has the number of the library in its upper bits and the
// position of the entry in its lower bits, as that of an asset has the ordinal; see place.

// Changed returns a channel that is closed after the next commit of any process, as DB.wait says.
func (s assetStore) Changed() <-chan struct{} { return s.db.wait() }

// Feed returns the state of the library's feed. The key and the identity are those of the whole store.
func (r *assetReader) Feed(ctx context.Context) (assetstore.FeedState, error) {
	if err := r.check(ctx); err != nil {
		return assetstore.FeedState{}, err
	}
	rows := r.c.query(`SELECT key, identity, coalesce((SELECT removed FROM library WHERE number = $1), 0),
		coalesce((SELECT max(place) FROM asset_change WHERE place BETWEEN $2 AND $3), 0) FROM feed`,
		r.number, r.place(0), r.place(assetstore.MaxOrdinal))
	defer rows.close()
	if !rows.next() {
		return assetstore.FeedState{}, errors.Join(rows.err, errNoFeed)
	}
	removed := rows.int(2)
	return feed.State{
		Key: rows.blob(0), Identity: rows.blob(1),
		Removed: feed.Position{Number: removed}, Last: feed.Position{Number: max(removed, ordinalOf(rows.int(3)))},
	}, nil
}

// Entries yields the entries of the library after a position, in the order of commits.
func (r *assetReader) Entries(ctx context.Context, after assetstore.FeedPosition, limit int) iter.Seq2[assetstore.FeedEntry, error] {
	return stream.Limited(ctx, r.check, limit, func(out func(assetstore.FeedEntry) bool) error {
		if err := r.check(ctx); err != nil || r.number == 0 {
			return err
		}
		rows := r.c.query("SELECT place, at, data FROM asset_change WHERE place > $1 AND place <= $2 ORDER BY place LIMIT $3",
			r.place(after.Number), r.place(assetstore.MaxOrdinal), limit)
		return eachEntry(rows, r.c.name, func(e feed.Entry) bool {
			e.Position.Number = ordinalOf(e.Position.Number)
			return out(e)
		})
	})
}

// AddEntry adds an entry to the feed of the library. Its position is one above the last one that was ever committed: only one
// update writes at a time. It returns ErrFull when the positions of the library are used up.
func (t *assetTx) AddEntry(ctx context.Context, e assetstore.FeedEntry) error {
	if err := t.ready(ctx); err != nil {
		return err
	}
	keys := make([]int64, len(e.Names))
	for i, name := range e.Names {
		var err error
		if keys[i], err = t.c.keyOf(name); err != nil {
			return err
		}
	}
	state, err := t.Feed(ctx)
	if err != nil {
		return err
	}
	next := state.Last.Number + 1
	if next > assetstore.MaxOrdinal {
		return fmt.Errorf("%w: the library has had %d changes", vitrine.ErrFull, state.Last.Number)
	}
	_, err = t.c.insert("INSERT INTO asset_change (place, at, data) VALUES ($1, $2, $3)", t.place(next), e.At, joinNames(keys, e.Data))
	return err
}

// RemoveEntries removes the oldest entries of the library. The library's row keeps the last position that was removed,
// so it is not assigned again.
func (t *assetTx) RemoveEntries(ctx context.Context, before int64, limit int) error {
	if err := t.check(ctx); err != nil || t.number == 0 {
		return err
	}
	first, end := t.place(0), t.place(assetstore.MaxOrdinal)
	last, err := t.c.lastToRemove("SELECT place, at FROM asset_change WHERE place BETWEEN $1 AND $2 ORDER BY place LIMIT $3", before, first, end, limit)
	if err != nil || last == 0 {
		return err
	}
	if _, err := t.c.exec("DELETE FROM asset_change WHERE place BETWEEN $1 AND $2", first, last); err != nil {
		return err
	}
	_, err = t.c.exec("UPDATE library SET removed = $2 WHERE number = $1", t.number, ordinalOf(last))
	return err
}
