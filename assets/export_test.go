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

// Outdate stores the index of a library as v0.2.0 did.
func Outdate(ctx context.Context, db storage.Store, lib Library) error {
	return keyval.Update(ctx, db, spaceOf(lib), storage.UpdateOptions{}, func(t *keyval.Tx) error {
		in, err := openRecords(ctx, lib, index.NewCache(segmentBytes), t, t)
		if err != nil {
			return err
		}
		now := in.indexBy(newRules, nil)
		if _, err := now.Drop(ctx, t, 0); err != nil {
			return err
		}
		w, err := in.indexBy(oldRules, in.index.Cache).Writer(t, nil)
		if err != nil {
			return err
		}
		for a, err := range in.assetsIn(nil, pageRange{ascending: true}) {
			if err != nil {
				return err
			}
			terms, err := termsOf(a, oldRules)
			if err != nil {
				return err
			}
			w.Change(a.Ordinal, nil, terms)
		}
		in.state.Rules = oldRules
		if err := in.putState(in.state, false); err != nil {
			return err
		}
		if err := w.Finish(ctx); err != nil {
			return err
		}
		return t.Delete(ctx, now.Key())
	})
}

// BuildStep makes a step of building the index of a library.
func BuildStep(ctx context.Context, db storage.Store, lib Library) (more bool, err error) {
	return builder{db, lib, index.NewCache(segmentBytes)}.step(ctx)
}

// SmallSteps makes the steps of building an index small for a test.
func SmallSteps(t *testing.T) {
	assets, drops := stepAssets, stepDrops
	t.Cleanup(func() { stepAssets, stepDrops = assets, drops })
	stepAssets, stepDrops = 7, 3
}

// StoreFiles returns the Files in a store.
func StoreFiles(db storage.Store) Files { return storeFiles{db, time.Now} }
