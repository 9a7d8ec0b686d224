//go:build proof && linux

package linear

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/vitrine-go/vitrine/internal/cluster"
)

// tool is one of PostgreSQL's programs, with the password of the user who copies the cluster.
func (m *machine) tool(dir, program string, args ...string) *exec.Cmd {
	return m.Command(dir, []string{"PGPASSWORD=change-me-3"}, filepath.Join(cluster.Programs(), program), args...)
}

// backUp makes a base backup as the README does.
func (m *machine) backUp() {
	m.t.Helper()
	var hosts, numbers []string
	for node := 1; node <= nodes; node++ {
		host, port, _ := strings.Cut(m.address(node, 5432), ":")
		hosts, numbers = append(hosts, host), append(numbers, port)
	}
	m.run(m.tool("backup", "pg_basebackup", "-c", "fast", "-D", m.Dir+"/restored/data", "-d",
		fmt.Sprintf("host=%s port=%s user=replicator target_session_attrs=read-write", strings.Join(hosts, ","), strings.Join(numbers, ","))))
}

// moment is a point in time, as the server and the load count it.
type moment struct {
	server        string
	before, after time.Duration // the load has it between these
}

// mark returns a moment, and has everything before it and a little more archived.
func (w *clusterWorld) mark() (at moment) {
	w.t.Helper()
	at.before = w.now()
	at.server = w.value(w.db(), "SELECT clock_timestamp()")
	at.after = w.now()
	w.goesOn("after the moment to restore", w.acked())
	super := w.local(patroni(w.thePrimary()), 5432+w.offset, "postgres")
	segment := w.value(super, "SELECT pg_walfile_name(pg_switch_wal())")
	w.await("the WAL is archived", func() error {
		_, err := os.Stat(filepath.Join(w.Dir, "backup", "wal", segment))
		return err
	})
	return at
}

// local is the address of a database behind the socket in a program's directory.
func (m *machine) local(dir string, port int, database string) string {
	return "postgres:///" + database + "?" + url.Values{"host": {filepath.Join(m.Dir, dir)}, "port": {strconv.Itoa(port)}, "user": {"postgres"}}.Encode()
}

// value runs SQL until it succeeds, and returns what the first column of the first row has.
func (m *machine) value(address, sql string) (value string) {
	m.t.Helper()
	m.await(sql+" is answered", func() error {
		ctx, cancel := context.WithTimeout(m.t.Context(), 30*time.Second)
		defer cancel()
		conn, err := pgconn.Connect(ctx, address)
		if err != nil {
			return err
		}
		defer conn.Close(ctx)
		results, err := conn.Exec(ctx, sql).ReadAll()
		if err == nil {
			value = string(results[0].Rows[0][0])
		}
		return err
	})
	return value
}

// titles are what the writers of the load call versions.
var titles = regexp.MustCompile(`"[0-9a-f]+-[0-9]+"`)

// restored restores the backup to a moment, and returns what is wrong.
func (w *clusterWorld) restored(at moment) (faults []string) {
	w.t.Helper()
	const port = 5433
	conf := strings.NewReplacer("2026-01-31 12:00:00+00", at.server, "'"+filepath.Join(w.Dir, patroni(0))+"'", "'"+w.Dir+"/restored'").Replace(w.file("restore.conf", 0))
	path := filepath.Join(w.Dir, "restored", "data", "postgresql.conf")
	before, err := os.ReadFile(path)
	w.must(err)
	_, err = w.Write("restored/data/postgresql.conf", string(before)+conf, 0o600)
	w.must(err)
	_, err = w.Write("restored/data/recovery.signal", "", 0o600)
	w.must(err)
	w.must(w.Start("restored", nil, filepath.Join(cluster.Programs(), "postgres"), "-D", w.Dir+"/restored/data"))
	super := w.local("restored", port, "vitrine")
	w.await("the restored server takes writes", func() error {
		if w.value(super, "SELECT pg_is_in_recovery()") != "f" {
			return fmt.Errorf("it recovers: %s", w.Log("restored"))
		}
		return nil
	})
	w.run(exec.Command(w.binary, "feed", "reset", "-db", super))
	archive, err := exec.Command(w.binary, "export", "-db", super).Output()
	w.must(err)
	there := map[string]bool{}
	for _, title := range titles.FindAll(archive, -1) {
		there[string(bytes.Trim(title, `"`))] = true
	}
	checked := 0
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.h.actions {
		a := &w.h.actions[i]
		switch _, acknowledged := a.made(); {
		case acknowledged && a.answer < at.before:
			checked++
			if !there[a.Title] {
				faults = append(faults, fmt.Sprintf("restore: %q was acknowledged before the moment, and is not there", a.Title))
			}
		case a.Kind == Patch && a.call > at.after && there[a.Title]:
			faults = append(faults, fmt.Sprintf("restore: %q was made after the moment, and is there", a.Title))
		}
	}
	w.t.Logf("%d writes restored", checked)
	return faults
}
