//go:build !proof

package appsvc_test

import (
	"testing"

	"github.com/vitrine-go/vitrine/storage"
)

// moreStores returns stores of drivers that need a server, which only the proofs have.
func moreStores(*testing.T) map[string]storage.Store { return nil }
