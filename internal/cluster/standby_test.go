package cluster_test

import (
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/internal/cluster"
)

// A primary and its standby take turns.
func TestAStandbyTakesOver(t *testing.T) {
	primary := cluster.New(t, &cluster.Options{Settings: []string{"max_wal_size = 64MB"}})
	if err := primary.Exec(ctx, "postgres", "CREATE TABLE kept (n int)"); err != nil {
		t.Fatal(err)
	}
	standby := primary.Standby(t, &cluster.Options{Settings: []string{"work_mem = 5MB"}})
	for turn, rows := range []string{"1", "2"} {
		const streaming = "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming' AND application_name = '" + cluster.StandbyName + "'"
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
			if n, err := primary.Value(ctx, "postgres", streaming); err != nil || time.Now().After(deadline) {
				t.Fatalf("%s standbys, %v", n, err)
			} else if n == "1" {
				break
			}
		}
		if err := primary.Set(ctx, "synchronous_standby_names = '"+cluster.StandbyName+"'"); err != nil {
			t.Fatal(err)
		}
		if err := primary.Exec(ctx, "postgres", "INSERT INTO kept VALUES (1)"); err != nil {
			t.Fatal(err)
		}
		if err := standby.Exec(ctx, "postgres", "INSERT INTO kept VALUES (2)"); err == nil {
			t.Error("a standby takes writes")
		}
		if err := primary.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := standby.Promote(ctx); err != nil {
			t.Fatal(err)
		}
		if n, err := standby.Value(ctx, "postgres", "SELECT count(*) FROM kept"); err != nil || n != rows {
			t.Errorf("turn %d: %s rows, want %s: %v", turn, n, rows, err)
		}
		if m, err := standby.Value(ctx, "postgres", "SHOW work_mem"); turn == 0 && m != "5MB" {
			t.Errorf("the standby's own setting is %s: %v", m, err)
		}
		if err := standby.Follow(primary); err == nil {
			t.Error("a server that runs was made a standby")
		}
		if err := primary.Follow(standby); err != nil {
			t.Fatal(err)
		}
		primary, standby = standby, primary
	}
}
