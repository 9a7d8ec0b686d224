package cluster

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
)

// shared is the cluster of this test process. Its shell removes it when the process ends.
var shared = sync.OnceValues(func() (*Cluster, error) { return start(nil, (*Cluster).initialize) })

// Shared returns the cluster that all tests of the process use, without fsync.
func Shared(t testing.TB) *Cluster {
	t.Helper()
	Need(t)
	c, err := shared()
	if err != nil {
		t.Fatalf("cluster: %v", err)
	}
	return c
}

// Database makes an empty database in the shared cluster, and returns its address. It is dropped at the end of the
// test.
func Database(t testing.TB) string {
	t.Helper()
	return Shared(t).URL(temporary(t, "DATABASE", "WITH (FORCE)"))
}

// Schema makes an empty schema in a database that all tests of the process use, and returns the address with which that
// schema is the first in the search path. It is dropped at the end of the test. That is quicker than a database, for
// tests that need many.
func Schema(t testing.TB) string {
	t.Helper()
	return Shared(t).URL("postgres") + "&search_path=" + temporary(t, "SCHEMA", "CASCADE")
}

var made atomic.Int64

// temporary makes an object of this kind in the shared cluster, which is dropped at the end of the test, and returns
// its name.
func temporary(t testing.TB, kind, drop string) string {
	t.Helper()
	c, name := Shared(t), fmt.Sprintf("test_%d", made.Add(1))
	if err := c.Exec(context.Background(), "postgres", "CREATE "+kind+" "+name); err != nil {
		t.Fatalf("cluster: %v", err)
	}
	t.Cleanup(func() {
		if err := c.Exec(context.Background(), "postgres", "DROP "+kind+" "+name+" "+drop); err != nil && c.runs {
			t.Errorf("cluster: %v", err)
		}
	})
	return name
}
