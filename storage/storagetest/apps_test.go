package storagetest

import (
	"slices"
	"testing"
)

func TestOddNamesAreInByteOrder(t *testing.T) {
	if !slices.IsSorted(oddNames) {
		t.Errorf("sorted they are %q", slices.Sorted(slices.Values(oddNames)))
	}
}
