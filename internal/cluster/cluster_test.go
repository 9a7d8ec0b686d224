package cluster_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/vitrine-go/vitrine/internal/cluster"
	"github.com/vitrine-go/vitrine/internal/proof"
)

var ctx = context.Background()

func TestDatabasesAndSchemasAreEmptyAndApart(t *testing.T) {
	for _, address := range []string{cluster.Database(t), cluster.Database(t), cluster.Schema(t), cluster.Schema(t)} {
		conn, err := pgconn.Connect(ctx, address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(ctx)
		if _, err := conn.Exec(ctx, "CREATE TABLE one (n int)").ReadAll(); err != nil {
			t.Error(err)
		}
	}
}

func TestDataOutlivesStopAndKill(t *testing.T) {
	c := cluster.New(t, &cluster.Options{Fsync: true, Settings: []string{"wal_level = minimal", "max_wal_senders = 0"}})
	if err := c.Exec(ctx, "postgres", "CREATE TABLE kept (n int)"); err != nil {
		t.Fatal(err)
	}
	for _, end := range []func() error{c.Stop, c.Kill} {
		if err := end(); err != nil {
			t.Fatal(err)
		}
		if err := c.Exec(ctx, "postgres", "SELECT 1"); err == nil {
			t.Error("the server answers after its end")
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		if err := c.Exec(ctx, "postgres", "SELECT * FROM kept"); err != nil {
			t.Error(err)
		}
	}
}

func TestNothingIsLeftOfAKilledTest(t *testing.T) {
	cluster.Need(t)
	switch proof.ChildState() {
	case "running":
		println(cluster.Shared(t).Dir)
		select {}
	case "stopped":
		c := cluster.New(t, nil)
		if err := c.Kill(); err != nil {
			t.Fatal(err)
		}
		println(c.Dir)
		select {}
	}
	for _, state := range []string{"running", "stopped"} {
		t.Run(state, func(t *testing.T) { testNothingIsLeft(t, state) })
	}
}

func testNothingIsLeft(t *testing.T, state string) {
	dir, kill := proof.StartChild(t, state)
	if _, err := os.Stat(dir); err != nil {
		t.Fatalf("the child says %q: %v", dir, err)
	}
	kill()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(dir); os.IsNotExist(err) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s is there a minute after the test was killed", dir)
		}
	}
}
