package postgres

import (
	"testing"

	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/storage/storagetest"
)

func TestAssets(t *testing.T) {
	storagetest.Assets(t, func(t *testing.T) assets.Store { return openTest(t, nil).Assets() })
}

// Lists that take many parts mean the same.
func TestAssetsInManyParts(t *testing.T) {
	if testing.Short() {
		t.Skip("the same rules once more")
	}
	storagetest.Assets(t, func(t *testing.T) assets.Store { return assetStore{openTest(t, nil), 3} })
}
