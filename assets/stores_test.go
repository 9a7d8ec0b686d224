//go:build !proof

package assets_test

import (
	"testing"

	"github.com/vitrine-go/vitrine/storage"
)

// moreStores returns stores of drivers that need a server: none without the build tag proof.
func moreStores(*testing.T) map[string]storage.Store { return nil }
