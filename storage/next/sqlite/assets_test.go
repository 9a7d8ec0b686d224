package sqlite

import (
	"testing"

	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/storage/storagetest"
)

func TestAssets(t *testing.T) {
	storagetest.Assets(t, func(t *testing.T) assets.Store { return assets.NewRecords(openTest(t, nil)) })
}
