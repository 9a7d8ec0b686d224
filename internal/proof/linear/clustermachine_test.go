//go:build proof && linux

package linear

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/vitrine-go/vitrine/internal/cluster"
)

// deployed are the files that this package starts.
const deployed = "../../../examples/deploy/postgres"

// nodes is how many nodes the files are for. They are numbered from 1.
const nodes = 3

// patience is how long anything may take that does not depend on a timeout of the files. It is long, so that no
// test fails because a machine is busy.
const patience = 3 * time.Minute

// machine is one machine on which all nodes run, and HAProxy and PgBouncer.
type machine struct {
	*keeper
	t       *testing.T
	net     string // the first three numbers of all addresses, and a dot
	offset  int    // between the ports of the files and those used here
	changes []string
	http    *http.Client
}

// need skips a test, or fails it where nothing may be skipped, if a program is not installed.
func need(t *testing.T, programs ...string) {
	t.Helper()
	cluster.Need(t)
	for _, program := range programs {
		if find(program) != "" {
			continue
		}
		why := program + " is not installed: a cluster needs etcd, patroni, haproxy and pgbouncer (Debian: etcd-server etcd-client patroni haproxy pgbouncer)"
		if os.Getenv("VITRINE_CI") != "" {
			t.Fatal(why)
		}
		t.Skip(why)
	}
}

// find returns where a program is, "" if it is not installed.
func find(program string) string {
	for _, path := range []string{program, "/usr/sbin/" + program} {
		if found, err := exec.LookPath(path); err == nil {
			return found
		}
	}
	return ""
}

// newMachine starts nothing yet. changes are pieces of the files and what stands there instead.
func newMachine(t *testing.T, changes ...string) *machine {
	t.Helper()
	need(t, "etcd", "patroni", "patronictl", "haproxy", "pgbouncer")
	m := &machine{keeper: newKeeper(t), t: t, changes: changes, http: &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}}
	// Addresses that nobody else uses, and ports that no outgoing connection takes meanwhile.
	for free := false; !free; {
		m.net = fmt.Sprintf("127.%d.%d.", 1+rand.IntN(250), 1+rand.IntN(250))
		m.offset = 10000 + rand.IntN(10000)
		free = true
		for i := range nodes + 1 {
			for _, port := range []int{2379, 2380, 5000, 5432, 6432, 8008} {
				l, err := net.Listen("tcp", m.address(i, port))
				if err != nil {
					free = false
					continue
				}
				l.Close()
			}
		}
	}
	return m
}

// address is where something of a node listens; node 0 is the machine with Vitrine.
func (m *machine) address(node, port int) string {
	host := m.net + strconv.Itoa(10+node)
	if node == 0 {
		host = m.net + "1"
	}
	return net.JoinHostPort(host, strconv.Itoa(port+m.offset))
}

var ports = regexp.MustCompile(`\b(2379|2380|5000|5432|6432|8008)\b`)

// file returns a file of the deployment with the addresses, ports and directories of this machine. node is the number
// of the node that it is for, 0 = Vitrine's own machine.
func (m *machine) file(name string, node int) string {
	m.t.Helper()
	raw, err := os.ReadFile(filepath.Join(deployed, name))
	if err != nil {
		m.t.Fatal(err)
	}
	text := string(raw)
	if node > 0 { // the file is node 1's
		text = regexp.MustCompile(`(?m)^((?:PATRONI|ETCD)_(?:NAME|\w*LISTEN\w*|\w*CONNECT_ADDRESS|\w*ADVERTISE\w*)=.*?)(?:node1|10\.0\.0\.11)`).
			ReplaceAllStringFunc(text, func(line string) string {
				return strings.NewReplacer("node1", fmt.Sprint("node", node), "10.0.0.11", fmt.Sprint("10.0.0.", 10+node)).Replace(line)
			})
	}
	for i := 0; i < len(m.changes); i += 2 {
		text = strings.ReplaceAll(text, m.changes[i], m.changes[i+1])
	}
	text = ports.ReplaceAllStringFunc(text, func(port string) string {
		n, _ := strconv.Atoi(port)
		return strconv.Itoa(n + m.offset)
	})
	here := filepath.Join(m.Dir, patroni(node))
	return strings.NewReplacer(
		"10.0.0.0/24", "127.0.0.0/8", "10.0.0.", m.net, "127.0.0.1", m.net+"1",
		"local all postgres peer", "local all postgres trust", // whoever runs the tests
		"    password_encryption:", "    dynamic_shared_memory_type: mmap\n    password_encryption:", // leaves nothing when it is killed
		"/usr/lib/postgresql/15/bin", cluster.Programs(),
		"/var/lib/postgresql/15/vitrine", here+"/data", "/var/lib/postgresql/15/restored", m.Dir+"/restored/data", "/var/lib/postgresql/", here+"/",
		"/var/run/postgresql/pgbouncer.pid", m.Dir+"/pgbouncer/pid", "/var/run/postgresql", here,
		"/var/lib/etcd/vitrine", filepath.Join(m.Dir, etcd(node), "data"),
		"/usr/local/bin/", m.Dir+"/bin/", "/var/backups/postgresql", m.Dir+"/backup",
		"/etc/pgbouncer", m.Dir+"/pgbouncer", "/var/log/postgresql/pgbouncer", m.Dir+"/pgbouncer/pgbouncer",
		"log /dev/log local0", "log stdout format raw local0", "\tuser haproxy\n", "", "\tgroup haproxy\n", "",
	).Replace(text)
}

// The programs of a node, by their directories.
func patroni(node int) string { return fmt.Sprint("node", node) }
func etcd(node int) string    { return fmt.Sprint("etcd", node) }

// write puts a file of the deployment where a program finds it.
func (m *machine) write(dir, name string, node int) (path string) {
	m.t.Helper()
	path, err := m.Write(filepath.Join(dir, name), m.file(name, node), 0o700)
	m.must(err)
	return path
}

func (m *machine) must(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

// env is what an environment file of the deployment sets.
func (m *machine) env(name string, node int) (all []string) {
	m.t.Helper()
	for in := bufio.NewScanner(strings.NewReader(m.file(name, node))); in.Scan(); {
		if line := in.Text(); line != "" && line[0] != '#' {
			all = append(all, line)
		}
	}
	return all
}

// start starts everything, and returns when the database is there and commits wait for a standby.
func (m *machine) start() {
	m.t.Helper()
	m.write("bin", "vitrine-wal-archive", 0)
	m.must(m.Mkdir("backup/wal"))
	for node := 1; node <= nodes; node++ {
		m.startEtcd(node)
	}
	m.await("etcd elects a leader", func() error { return m.etcdHealth(1) })
	for node := 1; node <= nodes; node++ {
		m.write(patroni(node), "patroni.yml", node)
		m.startNode(node)
	}
	m.await("all nodes follow", m.whole)
	setup := m.write(patroni(1), "setup.sql", 1)
	primary, _ := m.primary()
	m.run(m.Command(patroni(primary), nil, filepath.Join(cluster.Programs(), "psql"), "-h", filepath.Join(m.Dir, patroni(primary)), "-p", strconv.Itoa(5432+m.offset),
		"-U", "postgres", "-v", "ON_ERROR_STOP=1", "-v", "password=change-me-5", "-f", setup))
	m.must(m.Start("haproxy", nil, find("haproxy"), "-db", "-f", m.write("haproxy", "haproxy.cfg", 0)))
	m.await("HAProxy knows the primary", m.routed)
	m.write("pgbouncer", "userlist.txt", 0)
	m.must(m.Start("pgbouncer", nil, find("pgbouncer"), m.write("pgbouncer", "pgbouncer.ini", 0)))
	m.await("the database is reached by PgBouncer", func() error {
		ctx, cancel := context.WithTimeout(m.t.Context(), 10*time.Second)
		defer cancel()
		conn, err := pgconn.Connect(ctx, m.db())
		if err == nil {
			err = conn.Close(ctx)
		}
		return err
	})
}

// routed returns nil when HAProxy leads to the primary alone. At first it takes all nodes for it.
func (m *machine) routed() error {
	primary, err := m.primary()
	for node := 1; node <= nodes && err == nil; node++ {
		if node != primary && !strings.Contains(m.Log("haproxy"), fmt.Sprintf("Server primary/node%d is DOWN", node)) {
			err = fmt.Errorf("node %d is not down", node)
		}
	}
	return err
}

// db is what Vitrine gets as -db.
func (m *machine) db() string {
	return "postgres://vitrine:change-me-5@" + m.address(0, 6432) + "/vitrine"
}

func (m *machine) startEtcd(node int) {
	m.t.Helper()
	m.must(m.Start(etcd(node), m.env("etcd.env", node), find("etcd")))
}

// replaceEtcd has etcd forget the member of a node, and starts a new one there.
func (m *machine) replaceEtcd(node int) {
	m.t.Helper()
	other := node%nodes + 1
	etcdctl := func(args ...string) string {
		m.t.Helper()
		args = append(args, "--endpoints=http://"+m.address(other, 2379))
		command := m.Command(etcd(other), []string{"ETCDCTL_API=3"}, find("etcdctl"), args...)
		out, err := command.Output()
		if err != nil {
			m.t.Fatalf("%s: %v", command, err)
		}
		return string(out)
	}
	name := fmt.Sprint("node", node)
	id := regexp.MustCompile(`(?m)^(\w+), \w+, ` + name + `,`).FindStringSubmatch(etcdctl("member", "list"))
	if id == nil {
		m.t.Fatalf("etcd has no member %s", name)
	}
	etcdctl("member", "remove", id[1])
	etcdctl("member", "add", name, "--peer-urls=http://"+m.address(node, 2380))
	env := m.env("etcd.env", node)
	at := slices.Index(env, "ETCD_INITIAL_CLUSTER_STATE=new")
	if at < 0 {
		m.t.Fatalf("etcd.env is %q", env)
	}
	env[at] = "ETCD_INITIAL_CLUSTER_STATE=existing"
	m.must(m.Start(etcd(node), env, find("etcd")))
}

func (m *machine) startNode(node int) {
	m.t.Helper()
	m.must(m.Start(patroni(node), append(m.env("node.env", node), "LC_ALL=C.UTF-8"), find("patroni"), filepath.Join(m.Dir, patroni(node), "patroni.yml")))
}

// ctl runs patronictl.
func (m *machine) ctl(args ...string) {
	m.t.Helper()
	m.run(m.Command(patroni(1), m.env("node.env", 1), find("patronictl"), append([]string{"-c", filepath.Join(m.Dir, patroni(1), "patroni.yml")}, args...)...))
}

func (m *machine) run(command *exec.Cmd) {
	m.t.Helper()
	if out, err := command.CombinedOutput(); err != nil {
		m.t.Fatalf("%s: %v\n%s", command, err, out)
	}
}

// await returns when a condition holds.
func (m *machine) await(what string, holds func() error) {
	m.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		err := holds()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			m.t.Fatalf("after %s it is not so that %s: %v\n%s", patience, what, err, m.logs())
		}
	}
}

// logs are the ends of what all programs have written.
func (m *machine) logs() (text string) {
	files, _ := filepath.Glob(filepath.Join(m.Dir, "*", "log"))
	for _, file := range files {
		said, _ := os.ReadFile(file)
		text += fmt.Sprintf("\n== %s\n%s", file, said[max(0, len(said)-4000):])
	}
	return text
}

// get reads something that a program tells over HTTP.
func (m *machine) get(url string, out any) error {
	answer, err := m.http.Get(url)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	return json.NewDecoder(answer.Body).Decode(out)
}

func (m *machine) etcdHealth(node int) error {
	var health struct{ Health string }
	err := m.get("http://"+m.address(node, 2379)+"/health", &health)
	if err == nil && health.Health != "true" {
		err = errors.New("it has no leader")
	}
	return err
}

// member is a node as Patroni tells of it.
type member struct {
	Name, Role, State string
	Timeline          int
}

// members asks a node for all nodes.
func (m *machine) members(node int) ([]member, error) {
	var told struct{ Members []member }
	err := m.get("http://"+m.address(node, 8008)+"/cluster", &told)
	return told.Members, err
}

// isPrimary reports that a node says that it is the primary, as HAProxy asks it.
func (m *machine) isPrimary(node int) bool {
	answer, err := m.http.Get("http://" + m.address(node, 8008) + "/primary")
	if err != nil {
		return false
	}
	answer.Body.Close()
	return answer.StatusCode == http.StatusOK
}

// primary returns the node that says that it is the primary.
func (m *machine) primary() (int, error) {
	for node := 1; node <= nodes; node++ {
		if m.isPrimary(node) {
			return node, nil
		}
	}
	return 0, errors.New("no node is the primary")
}

// whole returns nil when there is a primary, the others follow it, and it waits for one of them.
func (m *machine) whole() error {
	primary, err := m.primary()
	if err != nil {
		return err
	}
	all, err := m.members(primary)
	if err != nil {
		return err
	}
	have := map[string]int{}
	for _, one := range all {
		if one.State == "running" && one.Timeline == all[0].Timeline {
			have[one.Role]++
		}
	}
	synchronous := 1
	if slices.Contains(m.changes, "synchronous_mode: false") {
		synchronous = 0
	}
	if have["leader"] != 1 || have["sync_standby"] != synchronous || have["replica"] != nodes-1-synchronous {
		return fmt.Errorf("the nodes are %+v", all)
	}
	return nil
}

// noFailsafe returns nil when no node counts on what it was told while etcd had no majority.
func (m *machine) noFailsafe() error {
	for node := 1; node <= nodes; node++ {
		var told struct {
			Active bool `json:"failsafe_mode_is_active"`
		}
		if err := m.get("http://"+m.address(node, 8008)+"/patroni", &told); err != nil || told.Active {
			return fmt.Errorf("node %d: failsafe mode is active: %t, %v", node, told.Active, err)
		}
	}
	return nil
}

// signal sends a signal to those processes of a node whose command line contains a text. There must be one.
func (m *machine) signal(node int, text string, signal syscall.Signal) {
	m.t.Helper()
	found := false
	for _, pid := range m.Processes(patroni(node)) {
		if line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); strings.Contains(string(line), text) {
			found = true
			_ = syscall.Kill(pid, signal)
		}
	}
	if !found {
		m.t.Fatalf("no process of node %d has %q in its command line", node, text)
	}
}

// stopNode stops all of a node but etcd as an operator does, and returns when it has ended.
func (m *machine) stopNode(node int) {
	m.t.Helper()
	m.signal(node, "/patroni\x00", syscall.SIGTERM) // Patroni stops PostgreSQL
	m.await(patroni(node)+" has stopped", func() error {
		if left := m.Processes(patroni(node)); len(left) > 0 {
			return fmt.Errorf("these processes run: %v", left)
		}
		return nil
	})
}
