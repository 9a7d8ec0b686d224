package memory_test

import (
	"testing"

	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
	"github.com/vitrine-go/vitrine/storage/storetest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, storetest.Driver{Open: func(t testing.TB) storage.Store {
		s := memory.New()
		t.Cleanup(func() { s.Close() })
		return s
	}})
}
