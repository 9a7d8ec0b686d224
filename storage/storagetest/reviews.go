package storagetest

import (
	"slices"
	"testing"

	"github.com/vitrine-go/vitrine/reviews/reviewstore"
)

// Reviews tests that a driver follows the rules of reviewstore.Store. open returns an empty store. For a rule about
// one network the store has a second network, which must not change.
func Reviews(t *testing.T, open func(t *testing.T) reviewstore.Store) {
	checkRules(t, open, reviewNetworkRules)
	var rules []reviewStoreRule
	for _, r := range slices.Concat(
		collectionRules, reviewRules, reviewTransactionRules, reviewParallelRules, reviewIteratorRules, reviewEraseRules, reviewRandomRules,
	) {
		rules = append(rules, reviewStoreRule{r.words, func(t *testing.T, s reviewstore.Store) {
			network, neighbour := beside(t, s)
			r.check(t, network)
			checkNeighbour(t, neighbour)
		}})
	}
	checkRules(t, open, rules)
}
