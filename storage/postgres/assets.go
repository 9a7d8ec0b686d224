package postgres

import (
	"context"
	"fmt"
	"iter"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/assets/assetstore"
	"github.com/vitrine-go/vitrine/storage/internal/lists"
	"github.com/vitrine-go/vitrine/storage/internal/stream"
)

// Assets returns the store's assets and folders.
func (db *DB) Assets() assetstore.Store { return assetStore{db, partBytes, maxWaiting} }

type assetStore struct {
	db            *DB
	part, waiting int // partBytes and maxWaiting, except in tests
}

var assetErrors = sentinels{vitrine.ErrBusy, vitrine.ErrFull, vitrine.ErrUnknown}

// View runs fn in one snapshot. fn may run again if the connection is lost.
func (s assetStore) View(ctx context.Context, lib assetstore.Library, fn func(assetstore.Reader) error) error {
	err := s.db.view(ctx, func(c *conn) error {
		r := &assetReader{c: c, key: libraryKey(lib)}
		defer func() { r.ended = true }()
		return fn(r)
	})
	return assetErrors.wrap(err)
}

// Update runs fn in a transaction that locks the library, so its updates are serializable. Updates of one library wait for each
// other before they take a connection; those of other processes wait in the server. fn may run again.
func (s assetStore) Update(ctx context.Context, lib assetstore.Library, fn func(assetstore.Tx) error) error {
	leave, err := s.db.libraries.enter(ctx, libraryKey(lib), s.db.busy, "other updates of this library")
	if err != nil {
		return assetErrors.wrap(err)
	}
	defer leave()
	err = s.db.update(ctx, func(c *conn) error {
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

// Libraries yields the libraries that have a State, in one snapshot that lasts until the loop ends.
func (s assetStore) Libraries(ctx context.Context) iter.Seq2[assetstore.Library, error] {
	return stream.Of(func(out func(assetstore.Library) bool) error {
		err := s.db.viewOnce(ctx, func(c *conn) error {
			found := c.walk(ctx, 1024, "SELECT network_name, id FROM library WHERE secret IS NOT NULL ORDER BY network_name, id")
			defer found.close()
			for found.next() && out(assetstore.Library{Network: found.text(0), ID: found.text(1)}) {
			}
			return found.err
		})
		return assetErrors.wrap(err)
	})
}

// libraryKey returns the key of a library, the first column of all of its rows. Names may be longer than an index holds.
func libraryKey(lib assetstore.Library) string { return digest(lib.Network, lib.ID) }

// assetReader reads one library, in a View or an Update. In an Update a read first writes the waiting changes that it depends on,
// so that the Update sees its own writes.
type assetReader struct {
	c     *conn
	key   string            // of the library
	tx    *assetTx          // nil in a View
	state *assetstore.State // nil before it is read
	ended bool              // the function of the View or Update has returned
	last  lastFound         // what was counted last, in a View
}

// check returns errEnded after the function that was given the reader has returned, and the error of ctx if ctx is done.
func (r *assetReader) check(ctx context.Context) error {
	if r.ended {
		return errEnded
	}
	return ctx.Err()
}

const libraryColumns = "secret, last, at, count, tree, top"

// stateOf reads a row of libraryColumns. Without a secret the library has no State, and it returns the zero State.
func stateOf(found *rows) (s assetstore.State) {
	if key := found.blob(0); key != nil {
		copy(s.Key[:], key)
		s.Last, s.At, s.Count, s.Tree = found.int(1), found.int(2), found.int(3), found.int(4)
	}
	return s
}

// State returns the State of the library.
func (r *assetReader) State(ctx context.Context) (assetstore.State, error) {
	if err := r.check(ctx); err != nil {
		return assetstore.State{}, err
	}
	if r.state == nil {
		var s assetstore.State
		found := r.c.query(ctx, "SELECT "+libraryColumns+" FROM library WHERE key = $1", r.key)
		if found.next() {
			s = stateOf(found)
		}
		if found.err != nil {
			return assetstore.State{}, found.err
		}
		r.state = &s
	}
	return *r.state, nil
}

// Asset returns the asset with this ordinal. An Update keeps its terms for a change of the asset.
func (r *assetReader) Asset(ctx context.Context, ordinal int64) (assetstore.Record, error) {
	if err := r.check(ctx); err != nil {
		return assetstore.Record{}, err
	}
	columns := assetColumns
	if r.tx != nil {
		columns += ", terms"
		r.tx.added.insert(r.c, r.key)
	}
	found := r.c.query(ctx, "SELECT "+columns+" FROM asset WHERE library = $1 AND ordinal = $2", r.key, ordinal)
	switch {
	case found.next():
		a := assetOf(found)
		if r.tx != nil {
			r.tx.terms[a.Ordinal] = lists.Split(found.blob(6))
		}
		return a, nil
	case found.err != nil:
		return assetstore.Record{}, found.err
	}
	return assetstore.Record{}, errNoAsset
}

var errNoAsset = fmt.Errorf("%w: asset", vitrine.ErrNotFound)

// assetsFrom reads the assets of some origins until their rows have $3 bytes together. Of the others it returns no more than that
// they exist.
const assetsFrom = `SELECT number, sent, ordinal, origin, created, updated, CASE WHEN sent THEN folders END, CASE WHEN sent THEN body END,
		CASE WHEN sent THEN terms END
	FROM (SELECT *, number = min(number) OVER () OR sum(size) OVER (ORDER BY number) <= $3 AS sent
		FROM unnest($2::bytea[]) WITH ORDINALITY AS wanted (one, number)
		CROSS JOIN LATERAL (SELECT *, octet_length(folders) + octet_length(body) + octet_length(terms) AS size
			FROM asset WHERE library = $1 AND origin = wanted.one OFFSET 0) a) found
	ORDER BY number`

const (
	originPortion = 4096    // origins that one round trip looks up
	originBytes   = 4 << 20 // bytes of assets that one round trip reads, unless the first asset has more
)

// AssetsFrom yields, for each origin, the asset that has it, or the zero Record. It looks up originPortion of them in one round
// trip, or fewer if their assets are large.
func (r *assetReader) AssetsFrom(ctx context.Context, origins []assetstore.Origin) iter.Seq2[assetstore.Record, error] {
	return stream.Limited(ctx, r.check, 0, func(out func(assetstore.Record) bool) error {
		for rest := origins; len(rest) > 0; {
			portion := rest[:min(len(rest), originPortion)]
			known, more, err := r.from(ctx, portion, out)
			if err != nil || !more {
				return err
			}
			rest = rest[known:]
		}
		return nil
	})
}

// from yields the assets of the first of some origins, and for an origin without an asset the zero Record. known is the number
// of origins for which it has yielded something: not all of them if the assets have more than originBytes. more is false if out
// has returned false.
func (r *assetReader) from(ctx context.Context, origins []assetstore.Origin, out func(assetstore.Record) bool) (known int, more bool, err error) {
	wanted := make([][]byte, len(origins))
	for i := range origins {
		wanted[i] = origins[i][:]
	}
	if r.tx != nil {
		r.tx.added.insert(r.c, r.key)
	}
	found := r.c.query(ctx, assetsFrom, r.key, wanted, originBytes)
	if r.tx != nil {
		r.tx.noteTerms(found.values)
	}
	for found.next() {
		for number := int(found.int(0)) - 1; known < number; known++ {
			if !out(assetstore.Record{}) {
				return known, false, nil
			}
		}
		if !found.bool(1) {
			return known, true, nil
		}
		if !out(assetAt(found, 2)) {
			return known, false, nil
		}
		known++
	}
	if found.err != nil {
		return known, false, found.err
	}
	for ; known < len(origins); known++ {
		if !out(assetstore.Record{}) {
			return known, false, nil
		}
	}
	return known, true, nil
}

// noteTerms keeps the terms of rows of assetsFrom. It is called when the rows have just been read: the Update may write
// these assets before it has been given all of them, and then the rows are out of date.
func (t *assetTx) noteTerms(found []row) {
	for i := range found {
		row := rows{values: found, at: i + 1}
		if sent := row.bool(1); sent {
			t.terms[row.int(2)] = lists.Split(row.blob(8))
		}
	}
}

const assetColumns = "ordinal, origin, created, updated, folders, body"

// assetOf reads a row of assetColumns.
func assetOf(found *rows) assetstore.Record { return assetAt(found, 0) }

// assetAt reads a row that has assetColumns from the i-th on.
func assetAt(found *rows, i int) assetstore.Record {
	a := assetstore.Record{
		Ordinal: found.int(i), CreatedAt: found.int(i + 2), UpdatedAt: found.int(i + 3),
		Folders: lists.Split(found.blob(i + 4)), Body: found.blob(i + 5),
	}
	copy(a.Origin[:], found.blob(i+1))
	return a
}
