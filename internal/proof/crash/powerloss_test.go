//go:build proof

package crash

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/vitrine-go/vitrine/internal/proof/program"
)

var wantedImages = flag.Int("images", 0, "how many disks are looked at; 0 = the short form")

const (
	// perRecord is how many disks are made from one record.
	perRecord = 5000
	// levelVariable is the level of synchronous that a control runs with.
	levelVariable = "VITRINE_POWERLOSS_LEVEL"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(storeVariable); path != "" {
		if err := work(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// needStrace skips the test where strace is not there or may not trace.
func needStrace(t *testing.T) {
	t.Helper()
	works := func() error { return exec.Command("strace", "-f", "--seccomp-bpf", "-o", os.DevNull, "true").Run() }
	err := works()
	if err == nil {
		return
	}
	if os.Getenv("VITRINE_CI") == "" {
		t.Skipf("strace cannot be used, so nothing can be recorded: %v", err)
	}
	install := "apt-get update -q && apt-get install -q -y --no-install-recommends strace"
	if os.Getuid() != 0 {
		install = "sudo sh -c '" + install + "'"
	}
	if said, err := exec.Command("sh", "-c", install).CombinedOutput(); err != nil {
		t.Fatalf("strace is needed and cannot be installed: %v\n%s", err, said)
	}
	if err := works(); err != nil {
		t.Fatalf("strace is there and cannot be used: %v", err)
	}
}

func images(usual int) int {
	if *wantedImages > 0 {
		return *wantedImages
	}
	return usual
}

func TestNothingAcknowledgedIsLost(t *testing.T) {
	if testing.Short() {
		t.Skip("the disks are made without -short")
	}
	needStrace(t)
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	wanted, n := images(240), diskTally{}
	for n.images.Load() < int64(wanted) && !t.Failed() {
		events, err := record(own, filepath.Join(t.TempDir(), "power.db"))
		if err != nil {
			t.Fatal(err)
		}
		n.records++
		look(events, 0, min(perRecord, wanted-int(n.images.Load())), anyLoss, &n,
			func(l loss, point int, d disk, err error) {
				t.Errorf("power lost after event %d of %d, %s, acknowledged %v: %v", point, len(events), l,
					d.acknowledged, err)
			})
	}
	t.Logf("%d disks from %d records, %d acknowledged updates on them; lost: %d disks", n.images.Load(), n.records,
		n.acknowledged.Load(), n.lost.Load())
}

// The same driver with less than synchronous=FULL loses updates, which shows that the test detects a loss.
func TestControlsLose(t *testing.T) {
	if testing.Short() {
		t.Skip("the controls are made without -short")
	}
	needStrace(t)
	control, err := program.Build{Module: module, Package: "./internal/proof/crash", Test: true, Edits: []program.Edit{{
		File: "storage/sqlite/db.go",
		Old:  `"synchronous=FULL"`,
		New:  `"synchronous=" + synchronous()`,
	}}, Added: map[string]string{
		"storage/sqlite/synchronous.go": "package sqlite\n\nimport \"os\"\n\nfunc synchronous() string { return " +
			"os.Getenv(\"" + levelVariable + "\") }\n",
	}}.Run(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, level := range []string{"NORMAL", "OFF"} {
		t.Run(level, func(t *testing.T) {
			events, err := record(control, filepath.Join(t.TempDir(), "power.db"), levelVariable+"="+level)
			if err != nil {
				t.Fatal(err)
			}
			var n diskTally
			var first atomic.Value
			begin := slices.IndexFunc(events, func(e event) bool { return e.kind == mark })
			look(events, begin+1, min(images(80), perRecord), realLoss, &n, func(l loss, point int, d disk, err error) {
				first.CompareAndSwap(nil, fmt.Sprintf("after event %d of %d, %s: %v", point, len(events), l, err))
			})
			lost, all := n.lost.Load(), n.images.Load()
			t.Logf("%d of %d disks lost something; the first, %v", lost, all, first.Load())
			if lost*4 < all*3 {
				t.Errorf("synchronous=%s has lost something on %d of %d disks only: these disks show nothing", level,
					lost, all)
			}
		})
	}
}

// diskTally counts what was looked at.
type diskTally struct {
	records                    int
	images, acknowledged, lost atomic.Int64
}

// look makes disks from a record, as they may be when so many or more of its events have been. It
// opens each and calls failed for those that have lost something.
func look(events []event, from, count int, kinds []loss, n *diskTally, failed func(loss, int, disk, error)) {
	const together = 2
	var next atomic.Int64
	var wg sync.WaitGroup
	for range together {
		wg.Go(func() {
			for i := int(next.Add(1)); i <= count; i = int(next.Add(1)) {
				n.images.Add(1)
				r := rand.New(rand.NewPCG(rand.Uint64(), uint64(i)))
				l, point := kinds[i%len(kinds)], from+r.IntN(len(events)-from+1)
				d := crash(events[:point], l, r)
				if err := open(d); err != nil {
					n.lost.Add(1)
					failed(l, point, d, err)
				}
				for _, a := range d.acknowledged {
					n.acknowledged.Add(int64(a))
				}
			}
		})
	}
	wg.Wait()
}

// open opens the store on a disk and verifies it.
func open(d disk) error {
	dir, err := os.MkdirTemp("", "vitrine-powerloss-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := d.save(dir); err != nil {
		return err
	}
	return verify(context.Background(), filepath.Join(dir, "power.db"), d.acknowledged)
}
