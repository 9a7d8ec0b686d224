package cluster

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Pooler starts PgBouncer in front of the cluster, in its transaction mode: each transaction runs on whichever of a few
// connections to the server is free. It returns the directory of its socket, for URLBy, and ends with the test. Where
// PgBouncer is not installed the test is skipped; with VITRINE_CI set it fails.
func (c *Cluster) Pooler(t testing.TB) (dir string) {
	t.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		program = "/usr/sbin/pgbouncer" // where Debian puts it, which is not on everybody's PATH
	}
	if _, err := os.Stat(program); err != nil {
		missing(t, "PgBouncer is not installed")
	}
	p, err := c.startPooler(program)
	if err != nil {
		t.Fatalf("cluster: pooler: %v", err)
	}
	t.Cleanup(func() {
		p.orders.Close()
		_ = p.shell.Wait()
	})
	if err := p.wait(t, c); err != nil {
		log, _ := os.ReadFile(filepath.Join(p.dir, "log"))
		t.Fatalf("cluster: pooler: %v\n%s", err, log)
	}
	return p.dir
}

// pooler is a running PgBouncer.
type pooler struct {
	dir    string
	shell  *exec.Cmd // keeps the pooler until its standard input ends, and removes the directory
	orders io.Closer
}

// startPooler starts the program with its own configuration.
func (c *Cluster) startPooler(program string) (*pooler, error) {
	dir, err := os.MkdirTemp("", "vitrine-pool-")
	if err != nil {
		return nil, err
	}
	if uid, gid, other := owner(); other {
		if err := os.Chown(dir, uid, gid); err != nil {
			return nil, err
		}
	}
	config := fmt.Sprintf(`[databases]
* = host=%s user=%s
[pgbouncer]
listen_addr =
listen_port = 5432
unix_socket_dir = %s
auth_type = any
pool_mode = transaction
default_pool_size = 8
max_client_conn = 500
`, c.Dir, User, dir)
	ini := filepath.Join(dir, "pgbouncer.ini")
	if err := os.WriteFile(ini, []byte(config), 0o644); err != nil {
		return nil, err
	}
	const keeper = `"$1" "$2/pgbouncer.ini" >"$2/log" 2>&1 & read -r _; kill $!; wait; rm -rf "$2"`
	p := &pooler{dir: dir, shell: exec.Command("sh", "-c", keeper, "sh", program, dir)}
	unprivileged(p.shell)
	if p.orders, err = p.shell.StdinPipe(); err != nil {
		return nil, err
	}
	return p, p.shell.Start()
}

// wait returns when the pooler answers.
func (p *pooler) wait(t testing.TB, c *Cluster) error {
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		conn, err := pgconn.Connect(t.Context(), c.URLBy(p.dir, "postgres"))
		if err == nil {
			return conn.Close(t.Context())
		}
		if time.Now().After(deadline) {
			return err
		}
	}
}
