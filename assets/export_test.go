package assets

import (
	"context"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/internal/index"
	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/storage"
)

// SmallTreeCache makes the cache of trees a hundredth of its size for a test.
func SmallTreeCache(t *testing.T) {
	before := maxCached
	t.Cleanup(func() { maxCached = before })
	maxCached /= 100
}

// FacetsByIndex has facets count by the index, however few assets there are, for a test.
func FacetsByIndex(t *testing.T) {
	before := fewAssets
	t.Cleanup(func() { fewAssets = before })
	fewAssets = -1
}

// For tests of the records.
var (
	RebuildIndex = rebuildIndex
	EraseRemoved = (*Session).eraseRemoved
)

// Distance is the number of edits between two words: a letter more, less or other, or two neighbours swapped.
func Distance(a, b []rune) int {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		for j := range d[i] {
			switch {
			case i == 0 || j == 0:
				d[i][j] = i + j
			default:
				d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, d[i-1][j-1]+1)
				if a[i-1] == b[j-1] {
					d[i][j] = d[i-1][j-1]
				}
				if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
					d[i][j] = min(d[i][j], d[i-2][j-2]+1)
				}
			}
		}
	}
	return d[len(a)][len(b)]
}

// Untype stores the assets of a library as v0.2.0 did: they are not indexed by their attachments.
func Untype(ctx context.Context, db storage.Store, lib Library) error {
	return keyval.Update(ctx, db, spaceOf(lib), storage.UpdateOptions{}, func(t *keyval.Tx) error {
		in, err := openRecords(ctx, lib, index.NewCache(segmentBytes), t, t)
		if err != nil {
			return err
		}
		for r, err := range in.assetsIn(nil, pageRange{ascending: true}) {
			if err != nil {
				return err
			}
			before, err := termsOf(r)
			if err != nil {
				return err
			}
			r.typed = false
			after, err := termsOf(r)
			if err == nil {
				err = in.putAsset(r, before, after)
			}
			if err != nil {
				return err
			}
		}
		in.state.Typed = false
		if err := in.putState(in.state, false); err != nil {
			return err
		}
		return in.writer.Finish(ctx)
	})
}

// StoreFiles returns the Files in a store.
func StoreFiles(db storage.Store) Files { return storeFiles{db, time.Now} }
