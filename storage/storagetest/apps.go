package storagetest

import (
	"slices"
	"testing"

	"github.com/vitrine-go/vitrine/appsvc"
)

// Apps checks a driver against the contract of appsvc.Store. Open returns an empty store.
func Apps(t *testing.T, open func(t *testing.T) appsvc.Store) {
	checkRules(t, open, appRules())
}

func appRules() []appRule {
	return slices.Concat(
		versionRules, listRules, tagRules, componentRules, answerRules,
		transactionRules, parallelRules, iteratorRules, aliasRules, randomRules,
	)
}
