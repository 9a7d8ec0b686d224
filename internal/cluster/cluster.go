package cluster

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// User is the superuser of each cluster. There are no passwords.
const User = "vitrine"

// Options say how a cluster is made; nil is the default.
type Options struct {
	// If Fsync is true, commits wait for the disk, as those of a real server do. Only tests that
	// measure, or that cut the power, need that.
	Fsync bool
	// Settings are more lines of postgresql.conf, "name = value" each.
	Settings []string
}

// Cluster is a PostgreSQL server with its data. A test may start and stop it; it is removed at the end of the test.
type Cluster struct {
	Dir  string // contains the socket, the log and, in data, the data directory
	Data string

	options Options
	runs    bool
	keeper  *exec.Cmd // the shell that starts and stops the server, and removes the directory at its end
	orders  io.WriteCloser
	done    *bufio.Reader // a line for each order
}

// New makes and starts a cluster that ends with the test. It fails the test if that is not possible.
func New(t testing.TB, o *Options) *Cluster {
	t.Helper()
	Need(t)
	c, err := start(o, (*Cluster).initialize)
	if err != nil {
		t.Fatalf("cluster: %v", err)
	}
	c.endWith(t)
	return c
}

// endWith removes the cluster when the test ends.
func (c *Cluster) endWith(t testing.TB) {
	t.Cleanup(func() {
		if err := c.remover(); err != nil {
			t.Errorf("cluster: %v", err)
		}
	})
}

// start makes and starts a cluster. fill makes its data directory with the settings in it.
func start(o *Options, fill func(*Cluster) error) (*Cluster, error) {
	if o == nil {
		o = new(Options)
	}
	c, err := makeDir(o)
	if err != nil {
		return nil, err
	}
	if err := c.keep(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(c.Dir))
	}
	if err := fill(c); err != nil {
		return nil, errors.Join(err, c.remover())
	}
	if err := c.Start(); err != nil {
		return nil, errors.Join(err, c.remover())
	}
	return c, nil
}

// makeDir makes the directory of a cluster, in /dev/shm if that exists and commits do not wait for the disk. It is
// not below the directory of the test, whose name is long: the path of a socket has at most 107 bytes.
func makeDir(o *Options) (*Cluster, error) {
	const name = "vitrine-pg-"
	parent := os.TempDir()
	if len(parent) > 60 {
		parent = "/tmp"
	}
	dir, err := "", errors.New("not in memory")
	if !o.Fsync {
		dir, err = os.MkdirTemp("/dev/shm", name)
	}
	if err != nil {
		dir, err = os.MkdirTemp(parent, name)
	}
	if err != nil {
		return nil, err
	}
	if uid, gid, other := Owner(); other {
		err = os.Chown(dir, uid, gid)
	}
	return &Cluster{Dir: dir, Data: filepath.Join(dir, "data"), options: *o}, err
}

// initialize makes an empty data directory.
func (c *Cluster) initialize() error {
	out, err := c.Command("initdb", "-D", c.Data, "-U", User, "-A", "trust", "-E", "UTF8", "--locale=C",
		"--no-sync").CombinedOutput()
	if err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	lines := append([]string{
		"listen_addresses = ''", "unix_socket_directories = '" + c.Dir + "'", "port = 5432", "max_connections = 200",
		"shared_buffers = 64MB", "dynamic_shared_memory_type = mmap", "log_line_prefix = '%m [%p] '",
	}, c.options.Settings...)
	if !c.options.Fsync {
		lines = append(lines, "fsync = off", "full_page_writes = off")
	}
	return c.write(lines)
}

// write adds lines to the settings. Of several lines for one setting the last one counts.
func (c *Cluster) write(lines []string) error {
	conf, err := os.OpenFile(filepath.Join(c.Data, "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = io.WriteString(conf, "\n"+strings.Join(lines, "\n")+"\n")
	return errors.Join(err, conf.Close())
}

// keeper is the script of the shell. It executes one order a line and writes "done" after each. Its standard input ends
// with the test process at the latest; then it stops the server and removes the directory.
//
// On Linux the order kill kills all processes of the server at once, as a crash of the machine does. The immediate
// shutdown of PostgreSQL is no such crash: there the server still tells its processes to end, and waits some seconds
// for each.
const keeper = `
server=
end() {
	[ -z "$server" ] || kill -$1 $server
	wait
	server=
}
crash() {
	kill -STOP $server # from here on it starts no process and waits for none
	children=$(cat /proc/$server/task/$server/children) || { kill -CONT $server; end QUIT; return; }
	# The shared memory by which two servers on one directory notice each other, which a killed server cannot remove.
	ipcrm -m $(awk 'NR == 7 { print $2 }' "$2/postmaster.pid") || echo no
	kill -KILL $children
	for child in $children; do
		while grep -q ') [^ZX]' /proc/$child/stat; do :; done # until it has freed its memory
	done
	end KILL
}
while read -r order; do
	case $order in
	start)
		"$1/postgres" -D "$2" >>"$3/log" 2>&1 &
		server=$! ;;
	stop) end INT ;;
	kill) crash "$@" ;;
	esac
	echo done
done
end INT
rm -rf "$3"
`

// keep starts the shell.
func (c *Cluster) keep() (err error) {
	c.keeper = exec.Command("sh", "-c", keeper, "sh", Programs(), c.Data, c.Dir)
	c.keeper.Dir = c.Dir
	Unprivileged(c.keeper)
	if c.orders, err = c.keeper.StdinPipe(); err != nil {
		return err
	}
	done, err := c.keeper.StdoutPipe()
	if err != nil {
		return err
	}
	c.done = bufio.NewReader(done)
	return c.keeper.Start()
}

// order sends an order to the shell, and returns when it is done.
func (c *Cluster) order(what string) error {
	_, err := io.WriteString(c.orders, what+"\n")
	var line string
	if err == nil {
		line, err = c.done.ReadString('\n')
	}
	if err == nil && line != "done\n" {
		err = fmt.Errorf("it says %q", line)
	}
	if err != nil {
		return fmt.Errorf("the shell of the cluster does not %s: %w", what, err)
	}
	return nil
}

// Start starts the server after a Stop or a Kill, and returns when it accepts connections.
func (c *Cluster) Start() error {
	if err := c.order("start"); err != nil {
		return err
	}
	c.runs = true
	return c.wait()
}

// wait returns when the server accepts connections.
func (c *Cluster) wait() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for {
		conn, err := pgconn.Connect(ctx, c.URL("postgres"))
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-ctx.Done():
			log, _ := os.ReadFile(filepath.Join(c.Dir, "log"))
			return fmt.Errorf("the server does not answer: %w\n%s", err, log)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// Stop shuts the server down in order and leaves its data.
func (c *Cluster) Stop() error { return c.end("stop") }

// Kill stops the server as a crash does, and leaves its data.
func (c *Cluster) Kill() error { return c.end("kill") }

// end stops the server by an order of the shell, unless it is stopped already.
func (c *Cluster) end(how string) error {
	if !c.runs {
		return nil
	}
	c.runs = false
	return c.order(how)
}

// remover ends the server and the shell, and removes the directory.
func (c *Cluster) remover() error {
	c.runs = false
	return errors.Join(c.orders.Close(), c.keeper.Wait(), os.RemoveAll(c.Dir))
}

// URL returns the address of a database of the cluster.
func (c *Cluster) URL(database string) string { return c.URLBy(c.Dir, database) }

// URLBy returns the address of a database through a socket in another directory, such as that of a proxy. The name of
// the socket must be Socket.
func (c *Cluster) URLBy(dir, database string) string {
	return "postgres:///" + url.PathEscape(database) + "?" +
		url.Values{"host": {dir}, "user": {User}, "sslmode": {"disable"}}.Encode()
}

// Socket is the name of the server's socket in its directory.
const Socket = ".s.PGSQL.5432"

// Command returns one of PostgreSQL's programs, to be run as the owner of the cluster.
func (c *Cluster) Command(program string, args ...string) *exec.Cmd {
	command := exec.Command(filepath.Join(Programs(), program), args...)
	command.Dir = c.Dir
	command.Env = append(os.Environ(), "HOME="+c.Dir)
	Unprivileged(command)
	return command
}

// Exec runs SQL in a database of the cluster.
func (c *Cluster) Exec(ctx context.Context, database, sql string) error {
	_, err := c.Value(ctx, database, sql)
	return err
}

// Value runs SQL and returns the first column of the last row as text. It returns "" for NULL and if there is no row.
func (c *Cluster) Value(ctx context.Context, database, sql string) (value string, err error) {
	conn, err := pgconn.Connect(ctx, c.URL(database))
	if err != nil {
		return "", err
	}
	results, err := conn.Exec(ctx, sql).ReadAll()
	for _, result := range results {
		for _, row := range result.Rows {
			value = string(row[0])
		}
	}
	return value, errors.Join(err, conn.Close(ctx))
}

// Processor returns the processor time of the running processes of the server, in units of 10 ms. It is 0 on systems
// without /proc.
func (c *Cluster) Processor() (used time.Duration) {
	links, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, link := range links {
		if at, _ := os.Readlink(link); at != c.Data {
			continue
		}
		stat, _ := os.ReadFile(filepath.Join(filepath.Dir(link), "stat"))
		_, rest, _ := strings.Cut(string(stat), ") ")
		for _, field := range append(strings.Fields(rest), make([]string, 13)...)[11:13] { // user time, and system time
			ticks, _ := strconv.Atoi(field)
			used += time.Duration(ticks) * 10 * time.Millisecond
		}
	}
	return used
}
