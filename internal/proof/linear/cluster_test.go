//go:build proof && linux

package linear

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/vitrine-go/vitrine/internal/proof/program"
)

var long = flag.Duration("long", 0, "how long the cluster is put through all trouble, one round at least; 0 = the short form, with a frozen primary and a switchover")

var only = flag.String("only", "", "of the troubles of the long form only those whose name contains this text")

// trouble is something that happens to the cluster. The load goes on meanwhile, and must be answered again after it.
type trouble struct {
	name string
	// do does it and returns when it is over: the cluster is whole again.
	do    func(w *clusterWorld)
	brief bool // is in the short form
}

var troubles = []trouble{
	{"PostgreSQL of the primary is killed", (*clusterWorld).crash, false},
	{"the node of the primary is killed", (*clusterWorld).lose, false},
	{"the node of the primary stands still and wakes up later", (*clusterWorld).freeze, true},
	{"Patroni of the primary is killed and started later", (*clusterWorld).orphan, false},
	{"the node of the synchronous standby is killed", (*clusterWorld).loseStandby, false},
	{"one member of etcd is killed", (*clusterWorld).oneEtcd, false},
	{"two members of etcd are killed", (*clusterWorld).twoEtcd, false},
	{"the nodes are stopped and started in turn", (*clusterWorld).inTurn, false},
	{"the primary is switched over", (*clusterWorld).switchOver, true},
	{"PostgreSQL is restarted everywhere, the primary after a switchover", (*clusterWorld).restart, false},
	{"the machine of the primary is lost, and an empty one replaces it", (*clusterWorld).replace, false},
}

// clusterWorld is the cluster and the load on it.
type clusterWorld struct {
	*machine
	*load
	binary string
}

func newClusterWorld(t *testing.T, changes ...string) *clusterWorld {
	t.Helper()
	m := newMachine(t, changes...)
	built := make(chan string, 1)
	go func() {
		binary, err := program.Build{Module: "../../..", Package: "./examples/vitrine"}.Run(t.TempDir())
		if err != nil {
			t.Error(err)
		}
		built <- binary
	}()
	m.start()
	binary := <-built
	if t.Failed() {
		t.FailNow()
	}
	w := &clusterWorld{m, newLoad(t, binary, m.db()), binary}
	t.Cleanup(func() {
		if !t.Failed() {
			return
		}
		for i, s := range w.servers {
			t.Logf("process %d has written\n%s", i, s.Log())
		}
		t.Log(w.logs())
	})
	return w
}

func TestCluster(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute and a half")
	}
	chosen := slices.DeleteFunc(slices.Clone(troubles), func(one trouble) bool {
		return *long == 0 && !one.brief || !strings.Contains(one.name, *only)
	})
	if *long > 0 {
		need(t, "etcdctl")
	}
	w := newClusterWorld(t)
	w.backUp()
	w.goesOn("at the beginning", w.acked())
	until := time.Now().Add(*long)
	worst := map[string]time.Duration{}
	times := map[string]int{}
	for round := 0; round == 0 || time.Now().Before(until); round++ {
		for _, one := range chosen {
			begun := w.now()
			one.do(w)
			w.goesOn("after "+one.name, w.acked())
			gap := w.gap(begun)
			t.Logf("%s: the longest time without an acknowledged write is %.1f s; it took %.0f s", one.name, gap.Seconds(), (w.now() - begun).Seconds())
			worst[one.name] = max(worst[one.name], gap)
			times[one.name]++
		}
	}
	for _, one := range chosen {
		t.Logf("%d times %s: at most %.1f s without an acknowledged write", times[one.name], one.name, worst[one.name].Seconds())
	}
	at := w.mark()
	for _, fault := range append(w.end(t), w.restored(at)...) {
		t.Error(fault)
	}
	t.Logf("%d operations on %d apps; of the patches %d acknowledged, %d of unknown outcome, %d refused, %d for another version",
		len(w.h.actions), len(w.h.stored),
		w.count[Done], w.count[Unknown], w.count[Refused], w.count[Conflict])
}

// TestAClusterThatLosesIsFound has commits wait for no standby, and a standby take over that was away for a while.
func TestAClusterThatLosesIsFound(t *testing.T) {
	if *long == 0 {
		t.Skip("takes a minute: run it with -long")
	}
	w := newClusterWorld(t, "synchronous_mode: true", "synchronous_mode: false", "synchronous_mode_strict: true", "maximum_lag_on_failover: 1000000000")
	primary := w.thePrimary()
	super := w.local(patroni(primary), 5432+w.offset, "postgres")
	begun := w.value(super, "SELECT pg_current_wal_lsn()")
	w.await("the standbys have the database", func() error {
		if n := w.value(super, "SELECT count(*) FROM pg_stat_replication WHERE replay_lsn >= '"+begun+"'"); n != strconv.Itoa(nodes-1) {
			return fmt.Errorf("%s of them have what was written up to %s", n, begun)
		}
		return nil
	})
	for node := 1; node <= nodes; node++ {
		if node != primary {
			w.Kill(patroni(node))
		}
	}
	w.goesOn("without a standby", w.acked())
	w.Kill(patroni(primary))
	for node := 1; node <= nodes; node++ {
		if node != primary {
			w.startNode(node)
		}
	}
	w.await("another node is the primary", func() error {
		_, err := w.primary()
		return err
	})
	found := strings.Join(w.end(t), "\n")
	if !strings.Contains(found, "lost: version") {
		t.Errorf("a standby that was away has become the primary, and what was found is %q", found)
	}
}

// goesOn returns when each process acknowledges writes.
func (w *clusterWorld) goesOn(when string, before [processes]int) {
	w.t.Helper()
	w.await(when+" each process acknowledges writes", func() error { return w.more(before) })
}

// thePrimary returns the primary, when there is one.
func (w *clusterWorld) thePrimary() (node int) {
	w.t.Helper()
	w.await("there is a primary", func() (err error) {
		node, err = w.primary()
		return err
	})
	return node
}

func (w *clusterWorld) crash() {
	w.Signal(patroni(w.thePrimary())+"/data", syscall.SIGKILL)
	w.goesOn("after a crash of PostgreSQL", w.acked())
	w.await("all nodes follow", w.whole)
}

func (w *clusterWorld) lose() { w.killNode(w.thePrimary()) }

// killNode kills a node, and starts it when the others go on.
func (w *clusterWorld) killNode(lost int) {
	w.Kill(patroni(lost))
	w.goesOn("after the loss of a node", w.acked())
	w.startNode(lost)
	w.await("all nodes follow", w.whole)
}

// loseStandby kills the node that commits wait for.
func (w *clusterWorld) loseStandby() {
	all, err := w.members(w.thePrimary())
	w.must(err)
	for _, one := range all {
		if node, _ := strconv.Atoi(strings.TrimPrefix(one.Name, "node")); one.Role == "sync_standby" {
			w.killNode(node)
			return
		}
	}
	w.t.Fatalf("there is no synchronous standby: %+v", all)
}

// freeze has the node of the primary stand still until another is the primary.
func (w *clusterWorld) freeze() {
	w.overtaken(func(old int) { w.Signal(patroni(old), syscall.SIGSTOP) }, func(old int) { w.Signal(patroni(old), syscall.SIGCONT) })
}

// orphan has PostgreSQL of the primary go on without Patroni, also when another is the primary.
func (w *clusterWorld) orphan() {
	w.overtaken(func(old int) {
		w.signal(old, "/patroni\x00", syscall.SIGKILL)
		w.succeeded(old)
	}, w.startNode)
}

// succeeded returns when another node is the primary.
func (w *clusterWorld) succeeded(old int) {
	w.t.Helper()
	w.await("another node is the primary", func() error {
		if now, err := w.primary(); err != nil || now == old {
			return fmt.Errorf("node %d is the primary, %v", now, err)
		}
		return nil
	})
}

// overtaken does something to the node of the primary, and undoes it when another is the primary. A session that was open to
// the old one must not be told that it has written then.
func (w *clusterWorld) overtaken(do, undo func(old int)) {
	ctx := w.t.Context()
	old := w.thePrimary()
	conn, err := pgconn.Connect(ctx, strings.Replace(w.db(), w.address(0, 6432), w.address(old, 5432), 1))
	w.must(err)
	defer conn.Close(context.WithoutCancel(ctx))
	_, err = conn.Exec(ctx, "CREATE TABLE IF NOT EXISTS taken (at text)").ReadAll()
	w.must(err)
	do(old)
	w.goesOn("after another node has taken over", w.acked())
	title := fmt.Sprint("at ", w.now())
	written := make(chan error, 1)
	go func() {
		_, err := conn.Exec(ctx, "INSERT INTO taken VALUES ('"+title+"')").ReadAll()
		written <- err
	}()
	time.Sleep(100 * time.Millisecond) // so that the statement is on its way; it is refused as well if it comes later
	undo(old)
	select {
	case err := <-written:
		if err == nil {
			w.t.Errorf("node %d was the primary, and has acknowledged a write when another was", old)
		}
	case <-time.After(patience):
		w.t.Errorf("node %d does not end the session that it had as the primary", old)
	}
	w.await("all nodes follow", w.whole)
}

func (w *clusterWorld) oneEtcd() {
	w.Kill(etcd(2))
	w.goesOn("without one member of etcd", w.acked())
	w.startEtcd(2)
	w.await("the member is back", func() error { return w.etcdHealth(2) })
}

// twoEtcd leaves etcd without a majority for longer than the lease of the primary.
func (w *clusterWorld) twoEtcd() {
	w.Kill(etcd(1))
	w.Kill(etcd(3))
	begun := w.now()
	time.Sleep(30 * time.Second)
	w.t.Logf("without a majority of etcd: the longest time without an acknowledged write in 30 s is %.1f s", w.gap(begun).Seconds())
	w.startEtcd(1)
	w.startEtcd(3)
	w.await("etcd is back", func() error { return w.etcdHealth(1) })
	w.await("all nodes follow", w.whole)
	w.await("failsafe mode is over", w.noFailsafe) // until then no standby takes over, also from a primary that is stopped
}

func (w *clusterWorld) inTurn() {
	for node := 1; node <= nodes; node++ {
		what, begun := "a standby", w.now()
		if node == w.thePrimary() {
			what = "the primary"
		}
		w.stopNode(node)
		stopped := w.now()
		w.goesOn("with a node stopped", w.acked())
		w.t.Logf("node %d, %s, is stopped in %.1f s: the longest time without an acknowledged write is %.1f s",
			node, what, (stopped - begun).Seconds(), w.gap(begun).Seconds())
		w.startNode(node)
		w.await("all nodes follow", w.whole)
	}
}

func (w *clusterWorld) switchOver() {
	old := w.thePrimary()
	w.ctl("switchover", "--force")
	w.succeeded(old)
	w.goesOn("after a switchover", w.acked())
	w.await("all nodes follow", w.whole)
}

func (w *clusterWorld) restart() {
	last := w.thePrimary()
	for node := 1; node <= nodes; node++ {
		if node != last {
			w.restartNode(node)
		}
	}
	w.switchOver()
	w.restartNode(last)
}

// replace gives the node of the primary an empty disk, as the README says. Its member of etcd is replaced as well.
func (w *clusterWorld) replace() {
	lost := w.thePrimary()
	// A segment of the WAL that the lost machine has not archived must be in the archive nevertheless.
	w.signal(lost, "archiver", syscall.SIGSTOP)
	w.value(w.local(patroni(lost), 5432+w.offset, "postgres"), "SELECT pg_switch_wal()")
	w.goesOn("after a segment of the WAL", w.acked())
	w.Kill(patroni(lost))
	w.Kill(etcd(lost))
	w.goesOn("after the loss of a machine", w.acked())
	for _, dir := range []string{patroni(lost), etcd(lost)} {
		w.must(os.RemoveAll(filepath.Join(w.Dir, dir, "data")))
	}
	begun := w.now()
	w.replaceEtcd(lost)
	w.await("the new member is there", func() error { return w.etcdHealth(lost) })
	w.startNode(lost)
	w.await("all nodes follow", w.whole)
	w.t.Logf("node %d, replaced by an empty one, follows after %.0f s", lost, (w.now() - begun).Seconds())
}

func (w *clusterWorld) restartNode(node int) {
	w.ctl("restart", "vitrine", "node"+strconv.Itoa(node), "--force")
	w.await("all nodes follow", w.whole)
}
