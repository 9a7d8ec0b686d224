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

// Database makes an empty database in the shared cluster, and returns its address. It is dropped
// with the test.
func Database(t testing.TB) string {
	t.Helper()
	return Shared(t).Database(t)
}

// Schema makes an empty schema in a database that all tests of the process use, and returns the
// address with which that schema is the first in the search path. It is dropped with the test. That
// is quicker than a database, for tests that need many.
func Schema(t testing.TB) string {
	t.Helper()
	ctx := context.Background()
	c := Shared(t)
	name := fmt.Sprintf("test_%d", databases.Add(1))
	if err := c.Exec(ctx, "postgres", "CREATE SCHEMA "+name); err != nil {
		t.Fatalf("cluster: %v", err)
	}
	t.Cleanup(func() {
		if err := c.Exec(ctx, "postgres", "DROP SCHEMA "+name+" CASCADE"); err != nil {
			t.Errorf("cluster: %v", err)
		}
	})
	return c.URL("postgres") + "&search_path=" + name
}

var databases atomic.Int64

// Database makes an empty database, dropped with the test, and returns its address.
func (c *Cluster) Database(t testing.TB) string {
	t.Helper()
	ctx := context.Background()
	name := fmt.Sprintf("test_%d", databases.Add(1))
	if err := c.Exec(ctx, "postgres", "CREATE DATABASE "+name); err != nil {
		t.Fatalf("cluster: %v", err)
	}
	t.Cleanup(func() {
		if err := c.Exec(ctx, "postgres", "DROP DATABASE "+name+" WITH (FORCE)"); err != nil && c.runs {
			t.Errorf("cluster: %v", err)
		}
	})
	return c.URL(name)
}
