package storagetest

import (
	"slices"
	"testing"

	"github.com/vitrine-go/vitrine/appsvc"
)

// Apps tests that a driver follows the rules of appsvc.Store. open returns an empty store.
func Apps(t *testing.T, open func(t *testing.T) appsvc.Store) {
	checkRules(t, open, appRules())
}

// appRules returns the rules in the order of their files, which is from single rows to transactions and random data.
func appRules() []appRule {
	return slices.Concat(
		versionRules, restorationRules, listRules, tagRules, tagMoveRules, userRules, componentRules, answerRules, feedRules,
		transactionRules, parallelRules, iteratorRules, aliasRules, randomRules,
	)
}
