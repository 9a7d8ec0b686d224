//go:build proof

package postgres

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/vitrine-go/vitrine/internal/cluster"
)

// startPooler starts PgBouncer in front of a cluster, in its transaction mode: each transaction runs on whichever of a
// few connections to the server is free. It returns the directory of its socket, for URLBy, and ends with the test.
// Where PgBouncer is not installed the test is skipped; with VITRINE_CI set it fails.
func startPooler(t testing.TB, c *cluster.Cluster) (dir string) {
	t.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		program = "/usr/sbin/pgbouncer" // where Debian puts it, which is not on everybody's PATH
	}
	if _, err := os.Stat(program); err != nil {
		cluster.Missing(t, "PgBouncer is not installed")
	}
	if dir, err = os.MkdirTemp("", "vitrine-pool-"); err != nil {
		t.Fatal(err)
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
`, c.Dir, cluster.User, dir)
	err = os.WriteFile(filepath.Join(dir, "pgbouncer.ini"), []byte(config), 0o644)
	if uid, gid, other := cluster.Owner(); err == nil && other {
		err = os.Chown(dir, uid, gid)
	}
	if err != nil {
		t.Fatal(err)
	}
	// The shell keeps the pooler until its standard input ends, and removes the directory.
	const keeper = `"$1" "$2/pgbouncer.ini" >"$2/log" 2>&1 & read -r _; kill $!; wait; rm -rf "$2"`
	shell := exec.Command("sh", "-c", keeper, "sh", program, dir)
	cluster.Unprivileged(shell)
	orders, err := shell.StdinPipe()
	if err == nil {
		err = shell.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		orders.Close()
		_ = shell.Wait()
	})
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		conn, err := pgconn.Connect(ctx, c.URLBy(dir, "postgres"))
		if err == nil {
			conn.Close(ctx)
			return dir
		}
		if time.Now().After(deadline) {
			log, _ := os.ReadFile(filepath.Join(dir, "log"))
			t.Fatalf("the pooler does not answer: %v\n%s", err, log)
		}
	}
}
