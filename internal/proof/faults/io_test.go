//go:build proof

package faults

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/storage/sqlite"
)

var rounds = flag.Int("rounds", 0,
	"how often each change meets random faults, beside every Nth call alone; 0 = the short form")

// theDisk is under every store of this process.
var theDisk *disk

// plan says which calls of a request fail.
type plan struct {
	name    string
	ends    map[string]verdict    // how calls that can fail do; others do not count
	fails   func(number int) bool // numbered from 1
	reading bool                  // whether what is committed can be read as long as it lasts
	random  bool                  // its calls end in more than one way
}

// the Nth call alone fails, and all from the Nth on.
func once(n int) func(int) bool    { return func(number int) bool { return number == n } }
func lasting(n int) func(int) bool { return func(number int) bool { return number >= n } }

// randomPlan fails calls of a few kinds here and there.
func randomPlan() plan {
	seed, ends := rand.Uint64(), map[string]verdict{}
	r := rand.New(rand.NewPCG(seed, 0))
	from := pick(r, broken, unwritable, full)
	for _, op := range slices.Sorted(maps.Keys(from)) {
		if r.IntN(3) > 0 {
			ends[op] = from[op]
		}
	}
	begin, often := 1+r.IntN(20), 1+r.IntN(6)
	return plan{name: fmt.Sprint("random, seed ", seed), ends: ends, random: true, fails: func(number int) bool {
		return number >= begin && r.IntN(often) == 0
	}}
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

// rule makes a rule of the plan, and counts what has failed.
func (p plan) rule(failed *atomic.Int64) func(call) verdict {
	number := 0
	return func(c call) verdict {
		v, counts := p.ends[c.op]
		if !counts {
			return 0
		}
		if number++; !p.fails(number) {
			return 0
		}
		failed.Add(1)
		return v
	}
}

// try makes the change on a disk with the faults of the plan. It returns false when nothing failed.
func (c course) try(t *testing.T, p plan, n *tally) bool {
	t.Helper()
	path, _ := newFile(t)
	w, err := openWorld(path, &sqlite.Options{Busy: 5 * time.Millisecond}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.db.Close()
	dir := filepath.Dir(path)
	var failed atomic.Int64
	theDisk.fail(dir, p.rule(&failed))
	defer theDisk.fail(dir, nil)
	a := w.do(c.request)
	want := c.after
	if a.status != c.status {
		want = c.before
		c.checkRefusal(t, p, a)
		if failed.Load() > 0 {
			c.checkKept(t, p, a, imageOf(t, dir))
		}
	}
	if failed.Load() == 0 {
		return false
	}
	if p.reading {
		if shown, err := w.shown(c.names); err != nil {
			t.Fatalf("%s: reading while it lasts: %v", p.name, err)
		} else if !strings.HasPrefix(want, shown) {
			t.Fatalf("%s: while it lasts, after %d, %s", p.name, a.status, differ(shown, want))
		}
	}
	theDisk.fail(dir, nil)
	n.faults.Add(failed.Load())
	n.requests.Add(1)
	c.checkState(t, p.name, w, want)
	if a.status == c.status {
		n.absorbed.Add(1)
	} else {
		n.refused.Add(1)
		if again := w.do(c.request); again.status != c.status {
			t.Fatalf("%s: done again: %d %s", p.name, again.status, again.body)
		}
		c.checkState(t, p.name, w, c.after)
	}
	if end := c.finish(t, w); end != c.end {
		t.Fatalf("%s: in the end, %s", p.name, differ(end, c.end))
	}
	return true
}

// isUnknown reports an answer that leaves open whether the change was kept.
func isUnknown(a answer) bool {
	return a.status == 503 && strings.Contains(a.body, "it is not known whether the write was kept")
}

// checkKept kills the process right after a refusal: what the next process finds on the disk must not contradict the
// answer. Nothing of the change is there, or, where the answer leaves that open, nothing or all of it.
func (c course) checkKept(t *testing.T, p plan, a answer, i image) {
	t.Helper()
	next, err := openWorld(i.write(t), nil, nil)
	if err != nil {
		t.Fatalf("%s: killed after the answer: %v", p.name, err)
	}
	defer next.db.Close()
	state, err := next.state(c.names)
	switch {
	case err != nil:
		t.Fatalf("%s: killed after the answer: %v", p.name, err)
	case state == c.after && isUnknown(a):
		keptAfterAll.Add(1)
	case state != c.before:
		t.Fatalf("%s: killed after the answer %d %s: %s", p.name, a.status, a.body, differ(state, c.before))
	}
}

// keptAfterAll counts changes of unknown outcome that were there after a restart.
var keptAfterAll atomic.Int64

// checkRefusal compares an answer with the way in which the disk of the plan fails. A write or a sync that fails
// during the commit leaves the outcome open.
func (c course) checkRefusal(t *testing.T, p plan, a answer) {
	t.Helper()
	if p.random && a.status >= 500 {
		return
	}
	if isUnknown(a) && p.ends["write"] == broken["write"] && a.header.Get("Etag")+a.header.Get("Location") == "" {
		return
	}
	want, after := 500, ""
	switch p.ends["write"] {
	case full["write"]:
		want = 507
	case 0: // locks alone
		want, after = 503, "1"
	}
	if a.status != want || a.header.Get("Retry-After") != after || a.header.Get("Etag")+a.header.Get("Location") != "" {
		t.Fatalf("%s: answered %d %v %s, want %d", p.name, a.status, a.header, a.body, want)
	}
}

// stride leaves out most of the numbers in the short forms, other ones each time.
func stride(p plan) int {
	switch {
	case *rounds > 0:
		return 1
	case testing.Short():
		return 29
	case p.reading:
		return 9
	}
	return 4
}

// The Nth call that a change makes to the operating system fails, for every N.
func TestTheNthCallToTheDiskFails(t *testing.T) {
	var n tally
	t.Run("changes", func(t *testing.T) {
		_, names := filled()
		for _, r := range chosen(names) {
			t.Run(r.name, func(t *testing.T) {
				t.Parallel()
				c := newCourse(t, r)
				for _, p := range append(kinds(), plan{name: "locked", ends: locked, reading: true},
					plan{name: "crowded", ends: crowded}) {
					name, step := p.name, stride(p)
					for number := 1 + rand.IntN(step); ; number += step {
						p.name = fmt.Sprintf("%s, call %d", name, number)
						if p.fails = once(number); p.reading {
							p.fails = lasting(number)
						}
						if !c.try(t, p, &n) {
							break
						}
					}
				}
				for range *rounds {
					c.try(t, randomPlan(), &n)
				}
			})
		}
	})
	t.Log(&n)
	t.Logf("%d changes of unknown outcome were there after a restart", keptAfterAll.Load())
}

// The disk fails to sync the log at the end of a commit. The commit is written, and may be found by the next process,
// so the answer must not say that nothing was committed.
func TestACommitWhoseSyncFailsIsOfUnknownOutcome(t *testing.T) {
	_, names := filled()
	r := patch(names.app, 4, "patched")
	r.status = 200
	c := newCourse(t, r)
	path, _ := newFile(t)
	w, err := openWorld(path, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.db.Close()
	dir, syncs := filepath.Dir(path), 0
	theDisk.fail(dir, func(call call) verdict {
		if call.op != "sync" || !strings.HasSuffix(call.file, "-wal") {
			return 0
		}
		if syncs++; syncs == 1 { // of the header of a new log, before the commit is written
			return 0
		}
		return broken["sync"]
	})
	a := w.do(c.request)
	theDisk.fail(dir, nil)
	if !isUnknown(a) {
		t.Errorf("answered %d %s", a.status, a.body)
	}
	next, err := openWorld(imageOf(t, dir).write(t), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer next.db.Close()
	c.checkState(t, "in the next process", next, c.after) // else this test shows nothing
	c.checkState(t, "in this process", w, c.before)
	if again := w.do(c.request); again.status != c.status {
		t.Errorf("done again: %d %s", again.status, again.body)
	}
	c.checkState(t, "done again", w, c.after)
}
