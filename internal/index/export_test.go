package index

import "testing"

// Small makes segments and folds small for a test, so that a few records meet all that many do.
func Small(t *testing.T) {
	a, b, c, d := foldAt, fanout, sliceAt, slice
	t.Cleanup(func() { foldAt, fanout, sliceAt, slice = a, b, c, d })
	foldAt, fanout, sliceAt, slice = 200, 3, 10, 7
}

// FoldAt is how many changes there are when a fold begins.
func FoldAt() int { return foldAt }
