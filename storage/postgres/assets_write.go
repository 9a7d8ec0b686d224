package postgres

import (
	"context"
	"fmt"
	"slices"

	"github.com/vitrine-go/vitrine/assets/assetstore"
	"github.com/vitrine-go/vitrine/storage/internal/lists"
)

// assetTx writes one library. The library is locked from the beginning, so nobody else writes it meanwhile. Assets and changes of
// posting lists wait in memory, and are written together: at the end, before a read that needs them, or when they take too much
// memory. The row of the library is written last.
type assetTx struct {
	assetReader
	lib   assetstore.Library
	dirty bool  // something was written, so the row of the library must be written too
	top   int64 // the highest ordinal that was ever put
	named bool  // the library has a State

	terms   map[int64][]string // the names of the lists of assets that were read or put, by ordinal
	added   addedAssets        // assets that wait
	index   assetIndex         // changes of lists that wait
	waiting int                // how many of these may wait: maxWaiting, or less in tests
}

// newAssetTx returns an assetTx, whose library is not locked yet.
func newAssetTx(c *conn, lib assetstore.Library, s assetStore) *assetTx {
	t := &assetTx{assetReader: assetReader{c: c, key: libraryKey(lib), state: new(assetstore.State)}, lib: lib, waiting: s.waiting}
	t.tx, t.terms, t.index = t, map[int64][]string{}, newAssetIndex(s.part)
	return t
}

// lock locks the library until the commit, whether or not it has a row, and reads the row.
func (t *assetTx) lock(ctx context.Context) error {
	read := func() (there bool, err error) {
		found := t.c.query(ctx, "SELECT "+libraryColumns+" FROM library WHERE key = $1 FOR UPDATE", t.key)
		if !found.next() {
			return false, found.err
		}
		*t.state, t.named, t.top = stateOf(found), found.blob(0) != nil, found.int(5)
		return true, nil
	}
	there, err := read()
	if err == nil && !there {
		t.c.claim("library", t.key)
		_, err = read() // another update may have added it before the claim
	}
	t.index.top = t.top
	return err
}

// SetState replaces the library's State. It is written at the end.
func (t *assetTx) SetState(ctx context.Context, s assetstore.State) error {
	if err := t.check(ctx); err != nil {
		return err
	}
	*t.state, t.named, t.dirty = s, true, true
	return nil
}

// finish writes all that waits, and the row of the library.
func (t *assetTx) finish(ctx context.Context) error {
	if !t.dirty {
		return nil
	}
	if err := t.flush(ctx); err != nil {
		return err
	}
	var secret []byte
	if t.named {
		secret = t.state.Key[:]
	}
	t.c.later(`INSERT INTO library (key, network_name, id, secret, last, at, count, tree, top) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
		ON CONFLICT (key) DO UPDATE SET secret = excluded.secret, last = excluded.last, at = excluded.at, count = excluded.count,
			tree = excluded.tree, top = excluded.top`,
		t.key, t.lib.Network, t.lib.ID, secret, t.state.Last, t.state.At, t.state.Count, t.state.Tree, t.top)
	return nil
}

// PutAsset adds an asset or replaces it, with all of its index entries. To change the lists it needs the old entries of the
// asset: it has none if its ordinal was never put, and most others were read by the Update before.
func (t *assetTx) PutAsset(ctx context.Context, a assetstore.Record, x assetstore.Index) error {
	if err := t.check(ctx); err != nil {
		return err
	}
	if a.Ordinal < 1 || a.Ordinal > assetstore.MaxOrdinal {
		return fmt.Errorf("asset %d: want an ordinal from 1 to %d", a.Ordinal, int64(assetstore.MaxOrdinal))
	}
	terms := listsOf(x)
	old, err := t.termsOf(ctx, a.Ordinal)
	if err != nil {
		return err
	}
	t.added.put(a, terms)
	t.index.change(a.Ordinal, old, terms, x.Attributes)
	t.terms[a.Ordinal] = terms
	t.top, t.dirty = max(t.top, a.Ordinal), true
	return t.spill(ctx)
}

// termsOf returns the names of the lists of an asset, none if there is no such asset.
func (t *assetTx) termsOf(ctx context.Context, ordinal int64) ([]string, error) {
	if terms, known := t.terms[ordinal]; known || ordinal > t.top {
		return terms, nil
	}
	t.added.insert(t.c, t.key)
	found := t.c.query(ctx, "SELECT terms FROM asset WHERE library = $1 AND ordinal = $2", t.key, ordinal)
	if !found.next() {
		return nil, found.err
	}
	return lists.Split(found.blob(0)), nil
}

// DeleteAsset removes an asset, and takes it out of its lists. It returns ErrNotFound if there is none with this ordinal.
func (t *assetTx) DeleteAsset(ctx context.Context, ordinal int64) error {
	if err := t.check(ctx); err != nil {
		return err
	}
	t.added.insert(t.c, t.key)
	found := t.c.query(ctx, "DELETE FROM asset WHERE library = $1 AND ordinal = $2 RETURNING terms", t.key, ordinal)
	if !found.next() {
		if found.err != nil {
			return found.err
		}
		return errNoAsset
	}
	t.index.change(ordinal, lists.Split(found.blob(0)), nil, nil)
	delete(t.terms, ordinal)
	t.dirty = true
	return t.spill(ctx)
}

const (
	maxWaiting    = 1 << 17 // changes of lists that wait for the end of the transaction
	maxStatements = 256     // statements that wait for the next round trip
)

// spill writes what waits, if that takes too much memory.
func (t *assetTx) spill(ctx context.Context) error {
	if t.index.waiting > t.waiting {
		clear(t.terms)
		return t.flush(ctx)
	}
	if t.added.size > maxAdded {
		t.added.insert(t.c, t.key)
		return t.c.query(ctx, "SELECT").err
	}
	if len(t.c.ahead) > maxStatements {
		return t.c.query(ctx, "SELECT").err
	}
	return nil
}

// flush writes the assets and the changes of lists that wait.
func (t *assetTx) flush(ctx context.Context) error {
	t.added.insert(t.c, t.key)
	err := t.index.flush(ctx, t.c, t.key)
	t.index.top = t.top
	return err
}

// diff returns the strings that are in only one of two sorted lists.
func diff(a, b []string) (onlyA, onlyB []string) {
	for _, s := range a {
		if _, in := slices.BinarySearch(b, s); !in {
			onlyA = append(onlyA, s)
		}
	}
	for _, s := range b {
		if _, in := slices.BinarySearch(a, s); !in {
			onlyB = append(onlyB, s)
		}
	}
	return onlyA, onlyB
}
