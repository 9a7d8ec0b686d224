package assets

import "testing"

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
	EraseRemoved = (*Service).eraseRemoved
)
