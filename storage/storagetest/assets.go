package storagetest

import (
	"slices"
	"testing"

	"github.com/vitrine-go/vitrine/assets/assetstore"
)

type assetRule = rule[assetstore.Store]

// Assets tests that a driver follows the rules of assetstore.Store. open returns an empty store.
func Assets(t *testing.T, open func(t *testing.T) assetstore.Store) {
	checkRules(t, open, slices.Concat(
		assetRowRules, assetTermRules, assetLibraryRules, assetTransactionRules, assetFeedRules, assetRandomRules,
	))
}
