//go:build linux

package cluster_test

import (
	"context"
	"flag"
	"fmt"
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

// trouble is something that happens to the cluster. The load goes on meanwhile, and must be answered again after it.
type trouble struct {
	name string
	// do does it and returns when it is over: the cluster is whole again.
	do    func(w *world)
	brief bool // is in the short form
}

var troubles = []trouble{
	{"PostgreSQL of the primary is killed", (*world).crash, false},
	{"the node of the primary is killed", (*world).lose, false},
	{"the node of the primary stands still and wakes up later", (*world).freeze, true},
	{"one member of etcd is killed", (*world).oneEtcd, false},
	{"two members of etcd are killed", (*world).twoEtcd, false},
	{"the nodes are stopped and started in turn", (*world).inTurn, false},
	{"the primary is switched over", (*world).switchOver, true},
	{"PostgreSQL is restarted everywhere, the primary after a switchover", (*world).restart, false},
}

// world is the cluster and the load on it.
type world struct {
	*machine
	*load
	binary string
}

func newWorld(t *testing.T, changes ...string) *world {
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
	w := &world{m, newLoad(t, binary, m.db()), binary}
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
	chosen := troubles
	if *long == 0 {
		chosen = slices.DeleteFunc(slices.Clone(troubles), func(one trouble) bool { return !one.brief })
	}
	w := newWorld(t)
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
	t.Logf("%d writes acknowledged, %d of unknown outcome, %d refused; %d reads; %d apps", w.count[acknowledged], w.count[unknown], w.count[refused], len(w.h.reads), len(w.h.stored))
}

// TestALossIsFound has commits wait for no standby, and a standby take over that was away for a while.
func TestALossIsFound(t *testing.T) {
	if *long == 0 {
		t.Skip("takes a minute: run it with -long")
	}
	w := newWorld(t, "synchronous_mode: true", "synchronous_mode: false", "synchronous_mode_strict: true", "maximum_lag_on_failover: 1000000000")
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
func (w *world) goesOn(when string, before [processes]int) {
	w.t.Helper()
	w.await(when+" each process acknowledges writes", func() error { return w.more(before) })
}

// thePrimary returns the primary, when there is one.
func (w *world) thePrimary() (node int) {
	w.t.Helper()
	w.await("there is a primary", func() (err error) {
		node, err = w.primary()
		return err
	})
	return node
}

func (w *world) crash() {
	w.Signal(patroni(w.thePrimary())+"/data", syscall.SIGKILL)
	w.goesOn("after a crash of PostgreSQL", w.acked())
	w.await("all nodes follow", w.whole)
}

func (w *world) lose() {
	lost := w.thePrimary()
	w.Kill(patroni(lost))
	w.goesOn("after the loss of a node", w.acked())
	w.startNode(lost)
	w.await("all nodes follow", w.whole)
}

// freeze has the node of the primary stand still until another is the primary, with a session open to it that writes then.
func (w *world) freeze() {
	ctx := w.t.Context()
	old := w.thePrimary()
	conn, err := pgconn.Connect(ctx, strings.Replace(w.db(), w.address(0, 6432), w.address(old, 5432), 1))
	w.must(err)
	defer conn.Close(context.WithoutCancel(ctx))
	_, err = conn.Exec(ctx, "CREATE TABLE IF NOT EXISTS taken (at text)").ReadAll()
	w.must(err)
	w.Signal(patroni(old), syscall.SIGSTOP)
	w.goesOn("after a node stands still", w.acked())
	title := fmt.Sprint("at ", w.now())
	written := make(chan error, 1)
	go func() {
		_, err := conn.Exec(ctx, "INSERT INTO taken VALUES ('"+title+"')").ReadAll()
		written <- err
	}()
	time.Sleep(100 * time.Millisecond) // so that the statement waits in the socket; it is refused as well if it comes later
	w.Signal(patroni(old), syscall.SIGCONT)
	select {
	case err := <-written:
		if err == nil {
			w.t.Errorf("node %d was the primary, woke up when another was, and has acknowledged a write", old)
		}
	case <-time.After(patience):
		w.t.Errorf("node %d does not end the session that it had as the primary", old)
	}
	w.await("all nodes follow", w.whole)
}

func (w *world) oneEtcd() {
	w.Kill(etcd(2))
	w.goesOn("without one member of etcd", w.acked())
	w.startEtcd(2)
	w.await("the member is back", func() error { return w.etcdHealth(2) })
}

// twoEtcd leaves etcd without a majority for longer than the lease of the primary.
func (w *world) twoEtcd() {
	w.Kill(etcd(1))
	w.Kill(etcd(3))
	begun := w.now()
	time.Sleep(30 * time.Second)
	w.t.Logf("without a majority of etcd: the longest time without an acknowledged write in 30 s is %.1f s", w.gap(begun).Seconds())
	w.startEtcd(1)
	w.startEtcd(3)
	w.await("etcd is back", func() error { return w.etcdHealth(1) })
	w.await("all nodes follow", w.whole)
}

func (w *world) inTurn() {
	for node := 1; node <= nodes; node++ {
		w.stopNode(node)
		w.goesOn("with a node stopped", w.acked())
		w.startNode(node)
		w.await("all nodes follow", w.whole)
	}
}

func (w *world) switchOver() {
	old := w.thePrimary()
	w.ctl("switchover", "--force")
	w.await("another node is the primary", func() error {
		if now, err := w.primary(); err != nil || now == old {
			return fmt.Errorf("node %d is the primary, %w", now, err)
		}
		return nil
	})
	w.goesOn("after a switchover", w.acked())
	w.await("all nodes follow", w.whole)
}

func (w *world) restart() {
	last := w.thePrimary()
	for node := 1; node <= nodes; node++ {
		if node != last {
			w.restartNode(node)
		}
	}
	w.switchOver()
	w.restartNode(last)
}

func (w *world) restartNode(node int) {
	w.ctl("restart", "vitrine", "node"+strconv.Itoa(node), "--force")
	w.await("all nodes follow", w.whole)
}
