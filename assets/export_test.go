package assets

import "testing"

// SmallTreeCache makes the cache of trees a hundredth of its size for a test.
func SmallTreeCache(t *testing.T) {
	before := maxCached
	t.Cleanup(func() { maxCached = before })
	maxCached /= 100
}

// For tests of the records.
var (
	RebuildIndex = rebuildIndex
	EraseRemoved = (*Service).eraseRemoved
)
