package storagetest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/vitrine-go/vitrine/storage/memory"
)

func TestOddNamesAreInByteOrder(t *testing.T) {
	if !slices.IsSorted(oddNames) {
		t.Errorf("sorted they are %q", slices.Sorted(slices.Values(oddNames)))
	}
}

func TestAppsEqualFindsAStoreEqualToItself(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			AppsEqual(t, memory.New().Apps(), memory.New().Apps(), seed, 100)
		})
	}
}

func TestFeedsEqualFindStoresEqualToThemselves(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			AppFeedsEqual(t, memory.New().Apps(), memory.New().Apps(), seed, 100)
			AssetFeedsEqual(t, memory.New().Assets(), memory.New().Assets(), seed, 100)
		})
	}
}
