package memory_test

import (
	"reflect"
	"testing"

	"github.com/vitrine-go/vitrine/storage/memory"
)

func TestAStoreIsClosedOnce(t *testing.T) {
	db := memory.New()
	if err := db.Ping(t.Context()); err != nil {
		t.Errorf("Ping before Close: %v", err)
	}
	for range 2 {
		if err := db.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	if db.Ping(t.Context()) == nil {
		t.Error("Ping succeeds after Close")
	}
}

func TestStoresAreThoseOfOneDB(t *testing.T) {
	db := memory.New()
	if !reflect.DeepEqual([]any{db.Apps(), db.Assets(), db.Reviews()}, []any{db.Apps(), db.Assets(), db.Reviews()}) {
		t.Error("asking twice gives other stores")
	}
	if memory.New().Apps() == db.Apps() {
		t.Error("two DBs share their apps")
	}
}
