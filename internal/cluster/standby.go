package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// Standby starts a server with a copy of the cluster's data that replicates from it. The settings of o override
// those of the cluster. The server is removed at the end of the test.
func (c *Cluster) Standby(t testing.TB, o *Options) *Cluster {
	t.Helper()
	standby, err := start(o, func(standby *Cluster) error { return standby.copy(c) })
	if err != nil {
		t.Fatalf("cluster: standby: %v", err)
	}
	standby.endWith(t)
	return standby
}

// StandbyName is the application_name of every standby, for synchronous_standby_names.
const StandbyName = "standby"

// Follow starts a stopped cluster as a standby of the primary. Its data is replaced by a copy of the primary's.
func (c *Cluster) Follow(primary *Cluster) error {
	if c.runs {
		return errors.New("follow: the server runs: stop it first")
	}
	if err := os.RemoveAll(c.Data); err != nil {
		return err
	}
	if err := c.copy(primary); err != nil {
		return err
	}
	return c.Start()
}

// copy makes the data directory of a standby.
func (c *Cluster) copy(primary *Cluster) error {
	out, err := c.Command("pg_basebackup", "-D", c.Data, "-h", primary.Dir, "-U", User, "-c", "fast",
		"--no-sync").CombinedOutput()
	if err != nil {
		return fmt.Errorf("pg_basebackup: %w\n%s", err, out)
	}
	if err := os.WriteFile(filepath.Join(c.Data, "standby.signal"), nil, 0o600); err != nil {
		return err
	}
	// A standby whose primary is down waits for this interval, also if it is promoted meanwhile. By default that is 5
	// s.
	const retry = "wal_retrieve_retry_interval = 50ms"
	return c.write(append([]string{
		retry, "unix_socket_directories = '" + c.Dir + "'",
		fmt.Sprintf("primary_conninfo = 'host=%s user=%s application_name=%s'", primary.Dir, User, StandbyName),
	}, c.options.Settings...))
}

// Promote makes a standby a primary. It returns when the server accepts writes.
func (c *Cluster) Promote(ctx context.Context) error {
	promoted, err := c.Value(ctx, "postgres", "SELECT pg_promote(true, 60)")
	if err == nil && promoted != "t" {
		err = errors.New("not done after a minute")
	}
	if err != nil {
		return fmt.Errorf("promote: %w", err)
	}
	return nil
}

// Set changes settings of a running server, "name = value" each.
func (c *Cluster) Set(ctx context.Context, settings ...string) error {
	if err := c.write(settings); err != nil {
		return err
	}
	if err := c.Exec(ctx, "postgres", "SELECT pg_reload_conf()"); err != nil {
		return err
	}
	// The checkpointer reads the settings before its next checkpoint. Only then do the commits of all processes wait
	// for standbys, or stop waiting.
	return c.Exec(ctx, "postgres", "CHECKPOINT")
}
