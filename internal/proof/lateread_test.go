package proof_test

import (
	"testing"

	"github.com/vitrine-go/vitrine/internal/proof"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
	"github.com/vitrine-go/vitrine/storage/storetest"
)

func TestAStoreOfLateReadsIsAStore(t *testing.T) {
	storetest.Run(t, storetest.Driver{Open: func(testing.TB) storage.Store { return proof.LateReads(memory.New()) }})
}
