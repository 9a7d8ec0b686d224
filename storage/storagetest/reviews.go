package storagetest

import (
	"slices"
	"testing"

	"github.com/vitrine-go/vitrine/reviews"
)

// Reviews checks a driver against the contract of reviews.Store. Open returns an empty store.
func Reviews(t *testing.T, open func(t *testing.T) reviews.Store) {
	checkRules(t, open, slices.Concat(
		collectionRules, reviewRules, reviewTransactionRules, reviewParallelRules, reviewIteratorRules, reviewRandomRules,
	))
}
