//go:build proof

package crash

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/internal/cluster"
)

// pair is a primary and the standby that takes over from it.
type pair struct {
	primary, standby *cluster.Cluster
	synchronous      bool // whether commits wait for the standby
}

func newPair(t *testing.T, synchronous bool) *pair {
	t.Helper()
	primary := cluster.New(t, &cluster.Options{Settings: []string{"max_wal_size = 128MB", "synchronous_commit = off"}})
	p := &pair{primary, primary.Standby(t, nil), synchronous}
	if err := p.attach(t.Context()); err != nil {
		t.Fatal(err)
	}
	return p
}

// address is that of whichever of the two is the primary.
func (p *pair) address() string {
	return p.primary.URLBy(p.primary.Dir+","+p.standby.Dir, "postgres") + "&target_session_attrs=read-write"
}

// attach returns when the standby has what the primary has, and commits wait for it if they are to.
func (p *pair) attach(ctx context.Context) error {
	state := "async"
	if p.synchronous {
		state = "sync"
		if err := p.primary.Set(ctx, "synchronous_standby_names = '"+cluster.StandbyName+"'"); err != nil {
			return err
		}
	}
	at, err := p.primary.Value(ctx, "postgres", "SELECT pg_current_wal_lsn()")
	if err != nil {
		return err
	}
	return p.await(ctx, 1, fmt.Sprintf("sync_state = '%s' AND flush_lsn >= '%s'", state, at))
}

// await returns when the primary has so many standbys like that.
func (p *pair) await(ctx context.Context, standbys int, like string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	for {
		have, err := p.primary.Value(ctx, "postgres", "SELECT count(*) FROM pg_stat_replication WHERE "+like)
		if err != nil {
			return fmt.Errorf("waiting for %d standbys with %s: %w", standbys, like, err)
		}
		if have == fmt.Sprint(standbys) {
			return nil
		}
		time.Sleep(time.Millisecond)
	}
}

// cut has the standby follow no longer.
func (p *pair) cut(ctx context.Context) error {
	if err := p.standby.Set(ctx, "primary_conninfo = ''"); err != nil {
		return err
	}
	return p.await(ctx, 0, "true")
}

// failOver stops the primary hard and promotes the standby.
func (p *pair) failOver(ctx context.Context) error {
	if err := p.primary.Kill(); err != nil {
		return err
	}
	if err := p.standby.Promote(ctx); err != nil {
		return err
	}
	p.primary, p.standby = p.standby, p.primary
	return nil
}

// rejoin makes the server that was lost a standby of the new primary.
func (p *pair) rejoin(ctx context.Context) error {
	if err := p.standby.Follow(p.primary); err != nil {
		return err
	}
	return p.attach(ctx)
}
