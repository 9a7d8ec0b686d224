package sqlite

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/assets/assetstore"
	"github.com/vitrine-go/vitrine/storage/internal/lists"
	"github.com/vitrine-go/vitrine/storage/internal/stream"
	"github.com/vitrine-go/vitrine/storage/sqlite/internal/fts5"
)

// Assets returns the store's assets and folders.
func (db *DB) Assets() assetstore.Store { return assetStore{db} }

type assetStore struct{ db *DB }

var assetErrors = sentinels{vitrine.ErrBusy, vitrine.ErrFull, vitrine.ErrUnknown}

// View runs fn once, in one snapshot. It reads the row of the library first.
func (s assetStore) View(ctx context.Context, lib assetstore.Library, fn func(assetstore.Reader) error) error {
	err := s.db.view(ctx, func(c *conn) error {
		r := &assetReader{db: s.db, c: c}
		defer func() { r.ended = true }()
		if err := r.enter(lib); err != nil {
			return err
		}
		return fn(r)
	})
	return assetErrors.wrap(err)
}

// Update runs fn as an update of the writer, at most once. After the commit it caches which assets have changed and their
// terms, so that cached sets can be brought up to date.
func (s assetStore) Update(ctx context.Context, lib assetstore.Library, fn func(assetstore.Tx) error) error {
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
	return assetErrors.wrap(err)
}

// Libraries yields the libraries that have a State, in one snapshot that lasts until the loop ends.
func (s assetStore) Libraries(ctx context.Context) iter.Seq2[assetstore.Library, error] {
	return stream.Of(func(out func(assetstore.Library) bool) error {
		err := s.db.view(ctx, func(c *conn) error {
			rows := c.query("SELECT network, id FROM library WHERE secret IS NOT NULL ORDER BY network, id")
			defer rows.close()
			for rows.next() && out(assetstore.Library{Network: rows.text(0), ID: rows.text(1)}) {
			}
			return rows.err
		})
		return assetErrors.wrap(err)
	})
}

// assetReader reads one library.
type assetReader struct {
	db     *DB
	c      *conn
	number int64 // of the library; 0 when nothing is stored of it
	state  assetstore.State
	edits  int64 // how many updates have changed assets of the library, so far
	writes bool  // within an update: its reads do not go into the cache, since it may be rolled back
	ended  bool

	index *fts5.Index // nil before it is read
}

// ordinalBits is the number of bits of a rowid that are the ordinal.
const ordinalBits = 40

// place returns the rowid of an asset, in its table and in the index of terms: the number of its library in the upper bits,
// and its ordinal in the lower ones.
func (r *assetReader) place(ordinal int64) int64 { return r.number<<ordinalBits | ordinal }

// places returns the range of rowids of the library's assets with ordinals above after and below before; 0 = no bound.
// If the range is empty, first is above last.
func (r *assetReader) places(after, before int64) (first, last int64) {
	first, last = max(after+1, 1), int64(assetstore.MaxOrdinal)
	if before != 0 {
		last = min(last, before-1)
	}
	if r.number == 0 || first > last {
		return 1, 0
	}
	return r.place(first), r.place(last)
}

// ordinalOf returns the ordinal in a rowid.
func ordinalOf(place int64) int64 { return place & assetstore.MaxOrdinal }

// enter reads the number, the edit count and the State of the library. A library to which nothing was written has the
// number 0.
func (r *assetReader) enter(lib assetstore.Library) error {
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

// check returns errEnded after the function that was given the reader has returned, and the error of ctx if ctx is done.
func (r *assetReader) check(ctx context.Context) error {
	if r.ended {
		return errEnded
	}
	return ctx.Err()
}

// State returns the State of the library.
func (r *assetReader) State(ctx context.Context) (assetstore.State, error) {
	return r.state, r.check(ctx)
}

// Asset returns the asset with this ordinal.
func (r *assetReader) Asset(ctx context.Context, ordinal int64) (assetstore.Record, error) {
	if ordinal < 1 || ordinal > assetstore.MaxOrdinal {
		return assetstore.Record{}, errNoAsset
	}
	return r.one(ctx, "SELECT "+assetColumns+" FROM asset WHERE place = $1", r.place(ordinal))
}

// AssetsFrom yields the assets with these origins, one query each. Other libraries may have the same origin, so the
// query names the range of the library's rowids.
func (r *assetReader) AssetsFrom(ctx context.Context, origins []assetstore.Origin) iter.Seq2[assetstore.Record, error] {
	return stream.Of(func(out func(assetstore.Record) bool) error {
		first, last := r.places(0, 0)
		for _, o := range origins {
			a, err := r.one(ctx, "SELECT "+assetColumns+" FROM asset WHERE origin = $1 AND place BETWEEN $2 AND $3", o[:], first, last)
			if err != nil && !errors.Is(err, vitrine.ErrNotFound) {
				return err
			}
			if !out(a) {
				return nil
			}
		}
		return nil
	})
}

var errNoAsset = fmt.Errorf("%w: asset", vitrine.ErrNotFound)

const assetColumns = "asset.place, origin, created, updated, folders, body"

// one returns the asset of a query for at most one row, or ErrNotFound if there is none.
func (r *assetReader) one(ctx context.Context, sql string, args ...any) (assetstore.Record, error) {
	if err := r.check(ctx); err != nil {
		return assetstore.Record{}, err
	}
	rows := r.c.query(sql, args...)
	defer rows.close()
	if rows.next() {
		return assetOf(rows), nil
	}
	if rows.err != nil {
		return assetstore.Record{}, rows.err
	}
	return assetstore.Record{}, errNoAsset
}

// assetOf reads a row of assetColumns.
func assetOf(rows *rows) assetstore.Record {
	a := assetstore.Record{
		Ordinal: ordinalOf(rows.int(0)), CreatedAt: rows.int(2), UpdatedAt: rows.int(3),
		Folders: lists.Split(rows.blob(4)), Body: rows.blob(5),
	}
	copy(a.Origin[:], rows.blob(1))
	return a
}
