package postgres

import (
	"context"
	"fmt"
	"iter"

	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/storage/internal/lists"
	"github.com/vitrine-go/vitrine/storage/internal/stream"
)

// Assets returns the store's assets and folders.
func (db *DB) Assets() assets.Store { return assetStore{db, partBytes, maxWaiting} }

type assetStore struct {
	db            *DB
	part, waiting int // partBytes and maxWaiting, but in tests
}

var assetErrors = sentinels{assets.ErrBusy, assets.ErrFull, assets.ErrUnknown}

// View runs fn on one snapshot.
func (s assetStore) View(ctx context.Context, lib assets.Library, fn func(assets.Reader) error) error {
	err := s.db.view(ctx, func(c *conn) error {
		r := &assetReader{c: c, key: libraryKey(lib)}
		defer func() { r.ended = true }()
		return fn(r)
	})
	return assetErrors.wrap(err)
}

// Update runs fn in a transaction that locks the library.
func (s assetStore) Update(ctx context.Context, lib assets.Library, fn func(assets.Tx) error) error {
	err := s.db.update(ctx, func(c *conn) error {
		t := newAssetTx(c, lib, s)
		defer func() { t.ended = true }()
		if err := t.lock(ctx); err != nil {
			return err
		}
		if err := fn(t); err != nil {
			return err
		}
		return t.finish(ctx)
	})
	return assetErrors.wrap(err)
}

// Libraries yields the libraries that have a State.
func (s assetStore) Libraries(ctx context.Context) iter.Seq2[assets.Library, error] {
	return stream.Of(func(out func(assets.Library) bool) error {
		err := s.db.viewOnce(ctx, func(c *conn) error {
			found := c.walk(ctx, 1024, "SELECT network, id FROM library WHERE secret IS NOT NULL ORDER BY network, id")
			defer found.close()
			for found.next() && out(assets.Library{Network: found.text(0), ID: found.text(1)}) {
			}
			return found.err
		})
		return assetErrors.wrap(err)
	})
}

func libraryKey(lib assets.Library) string { return digest(lib.Network, lib.ID) }

// assetReader reads one library.
type assetReader struct {
	c     *conn
	key   string
	tx    *assetTx      // nil in a View
	state *assets.State // nil before it is read
	ended bool
}

func (r *assetReader) check(ctx context.Context) error {
	if r.ended {
		return errEnded
	}
	return ctx.Err()
}

const libraryColumns = "secret, last, at, count, tree, top"

func stateOf(found *rows) (s assets.State) {
	if key := found.blob(0); key != nil {
		copy(s.Key[:], key)
		s.Last, s.At, s.Count, s.Tree = found.int(1), found.int(2), found.int(3), found.int(4)
	}
	return s
}

// State returns what the library knows of itself.
func (r *assetReader) State(ctx context.Context) (assets.State, error) {
	if err := r.check(ctx); err != nil {
		return assets.State{}, err
	}
	if r.state == nil {
		var s assets.State
		found := r.c.query(ctx, "SELECT "+libraryColumns+" FROM library WHERE key = $1", r.key)
		if found.next() {
			s = stateOf(found)
		}
		if found.err != nil {
			return assets.State{}, found.err
		}
		r.state = &s
	}
	return *r.state, nil
}

// Asset returns the asset with this ordinal.
func (r *assetReader) Asset(ctx context.Context, ordinal int64) (assets.Record, error) {
	return r.one(ctx, "ordinal = $2", ordinal)
}

// AssetFrom returns the asset with this origin.
func (r *assetReader) AssetFrom(ctx context.Context, o assets.Origin) (assets.Record, error) {
	return r.one(ctx, "origin = $2", o[:])
}

var errNoAsset = fmt.Errorf("%w: asset", assets.ErrNotFound)

// one returns an asset. In an Update it notes the terms, which a change will ask for.
func (r *assetReader) one(ctx context.Context, where string, arg any) (assets.Record, error) {
	if err := r.check(ctx); err != nil {
		return assets.Record{}, err
	}
	columns := assetColumns
	if r.tx != nil {
		columns += ", terms"
	}
	found := r.c.query(ctx, "SELECT "+columns+" FROM asset WHERE library = $1 AND "+where, r.key, arg)
	switch {
	case found.next():
		a := assetOf(found)
		if r.tx != nil {
			r.tx.terms[a.Ordinal] = lists.Split(found.blob(6))
		}
		return a, nil
	case found.err != nil:
		return assets.Record{}, found.err
	}
	return assets.Record{}, errNoAsset
}

const assetColumns = "ordinal, origin, created, updated, folders, body"

// assetOf reads a row of assetColumns.
func assetOf(found *rows) assets.Record {
	a := assets.Record{
		Ordinal: found.int(0), CreatedAt: found.int(2), UpdatedAt: found.int(3),
		Folders: lists.Split(found.blob(4)), Body: found.blob(5),
	}
	copy(a.Origin[:], found.blob(1))
	return a
}
