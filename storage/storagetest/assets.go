package storagetest

import (
	"slices"
	"testing"

	"github.com/vitrine-go/vitrine/assets"
)

type assetRule = rule[assets.Store]

// Assets checks a driver against the contract of assets.Store. Open returns an empty store.
func Assets(t *testing.T, open func(t *testing.T) assets.Store) {
	checkRules(t, open, slices.Concat(
		assetRowRules, assetTermRules, assetLibraryRules, assetTransactionRules, assetRandomRules, assetServiceRules,
	))
}
