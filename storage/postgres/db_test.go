//go:build proof

package postgres

import (
	"context"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/internal/cluster"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/storetest"
)

var ctx = context.Background()

// opened is a store, and where it is.
type opened struct {
	*DB
	address string
}

func openAt(t testing.TB, address string, o *Options) opened {
	t.Helper()
	db, err := Open(ctx, address, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return opened{db, address}
}

// openTest opens a store in a schema of its own.
func openTest(t testing.TB, o *Options) opened {
	t.Helper()
	return openAt(t, cluster.Schema(t), o)
}

func TestStore(t *testing.T) {
	storetest.Run(t, storetest.Driver{
		Open: func(t testing.TB) storage.Store { return openTest(t, nil) },
		Again: func(t testing.TB, closed storage.Store) storage.Store {
			return openAt(t, closed.(opened).address, nil)
		},
		Beside: func(t testing.TB, open storage.Store) storage.Store { return openAt(t, open.(opened).address, nil) },
	})
}

func TestStoreBehindAPooler(t *testing.T) {
	c := cluster.Shared(t)
	dir := startPooler(t, c)
	behind := func(address string) string {
		return strings.Replace(address, c.URL("postgres"), c.URLBy(dir, "postgres"), 1)
	}
	storetest.Run(t, storetest.Driver{
		Open:   func(t testing.TB) storage.Store { return openAt(t, behind(cluster.Schema(t)), nil) },
		Beside: func(t testing.TB, open storage.Store) storage.Store { return openAt(t, open.(opened).address, nil) },
	})
}
