package sqlite

import (
	"context"
	"fmt"
	"iter"

	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/storage/internal/lists"
	"github.com/vitrine-go/vitrine/storage/internal/stream"
)

// Assets returns the store's assets and folders.
func (db *DB) Assets() assets.Store { return assetStore{db} }

type assetStore struct{ db *DB }

// View runs fn on one snapshot.
func (s assetStore) View(ctx context.Context, lib assets.Library, fn func(assets.Reader) error) error {
	err := s.db.view(ctx, func(c *conn) error {
		r := &assetReader{db: s.db, c: c}
		defer func() { r.ended = true }()
		if err := r.enter(lib); err != nil {
			return err
		}
		return fn(r)
	})
	return domainError(err, assets.ErrBusy, assets.ErrFull)
}

// Update runs fn in the turn that the writer gives it.
func (s assetStore) Update(ctx context.Context, lib assets.Library, fn func(assets.Tx) error) error {
	var t *assetTx
	err := s.db.update(ctx, func(c *conn) error {
		t = &assetTx{assetReader: assetReader{db: s.db, c: c, writes: true}, lib: lib}
		defer func() { t.ended = true }()
		if err := t.enter(lib); err != nil {
			return err
		}
		return fn(t)
	})
	if err == nil && len(t.done.changes) > 0 {
		s.db.edits.put(timeless, effect{editKey{t.number, t.edits}, t.done, perEntry + t.done.size})
	}
	return domainError(err, assets.ErrBusy, assets.ErrFull)
}

// Libraries yields the libraries that have a State.
func (s assetStore) Libraries(ctx context.Context) iter.Seq2[assets.Library, error] {
	return stream.Of(func(out func(assets.Library) bool) error {
		err := s.db.view(ctx, func(c *conn) error {
			rows := c.query("SELECT network, id FROM library WHERE secret IS NOT NULL ORDER BY network, id")
			defer rows.close()
			for rows.next() && out(assets.Library{Network: rows.text(0), ID: rows.text(1)}) {
			}
			return rows.err
		})
		return domainError(err, assets.ErrBusy, assets.ErrFull)
	})
}

// assetReader reads one library.
type assetReader struct {
	db     *DB
	c      *conn
	number int64 // of the library; 0 when nothing is stored of it
	state  assets.State
	edits  int64 // of the library, so far
	writes bool  // within an update: what it reads may never be kept
	ended  bool

	lists *postings // nil before the first is read
}

// ordinalBits is how many bits of a place hold the ordinal.
const ordinalBits = 40

// place is the key of an asset: the rowid of its row and of its terms.
func (r *assetReader) place(ordinal int64) int64 { return r.number<<ordinalBits | ordinal }

// places returns the first and the last place of the library between two ordinals, 0 = no bound. The
// first is above the last when there is none.
func (r *assetReader) places(after, before int64) (first, last int64) {
	first, last = max(after+1, 1), int64(assets.MaxOrdinal)
	if before != 0 {
		last = min(last, before-1)
	}
	if r.number == 0 || first > last {
		return 1, 0
	}
	return r.place(first), r.place(last)
}

func ordinalOf(place int64) int64 { return place & assets.MaxOrdinal }

func (r *assetReader) enter(lib assets.Library) error {
	rows := r.c.query("SELECT number, edits, secret, last, at, count, tree FROM library WHERE network = $1 AND id = $2", lib.Network, lib.ID)
	defer rows.close()
	if !rows.next() {
		return rows.err
	}
	r.number, r.edits = rows.int(0), rows.int(1)
	if key := rows.blob(2); key != nil {
		copy(r.state.Key[:], key)
		r.state.Last, r.state.At, r.state.Count, r.state.Tree = rows.int(3), rows.int(4), rows.int(5), rows.int(6)
	}
	return nil
}

func (r *assetReader) check(ctx context.Context) error {
	if r.ended {
		return errEnded
	}
	return ctx.Err()
}

// State returns what the library knows of itself.
func (r *assetReader) State(ctx context.Context) (assets.State, error) { return r.state, r.check(ctx) }

// Asset returns the asset with this ordinal.
func (r *assetReader) Asset(ctx context.Context, ordinal int64) (assets.Record, error) {
	if ordinal < 1 || ordinal > assets.MaxOrdinal {
		return assets.Record{}, errNoAsset
	}
	return r.one(ctx, "SELECT "+assetColumns+" FROM asset WHERE place = $1", r.place(ordinal))
}

// AssetFrom returns the asset with this origin.
func (r *assetReader) AssetFrom(ctx context.Context, o assets.Origin) (assets.Record, error) {
	first, last := r.places(0, 0)
	return r.one(ctx, "SELECT "+assetColumns+" FROM asset WHERE origin = $1 AND place BETWEEN $2 AND $3", o[:], first, last)
}

var errNoAsset = fmt.Errorf("%w: asset", assets.ErrNotFound)

const assetColumns = "asset.place, origin, created, updated, folders, body"

func (r *assetReader) one(ctx context.Context, sql string, args ...any) (assets.Record, error) {
	if err := r.check(ctx); err != nil {
		return assets.Record{}, err
	}
	rows := r.c.query(sql, args...)
	defer rows.close()
	if rows.next() {
		return assetOf(rows), nil
	}
	if rows.err != nil {
		return assets.Record{}, rows.err
	}
	return assets.Record{}, errNoAsset
}

// assetOf reads a row of assetColumns.
func assetOf(rows *rows) assets.Record {
	a := assets.Record{
		Ordinal: ordinalOf(rows.int(0)), CreatedAt: rows.int(2), UpdatedAt: rows.int(3),
		Folders: lists.Split(rows.blob(4)), Body: rows.blob(5),
	}
	copy(a.Origin[:], rows.blob(1))
	return a
}
