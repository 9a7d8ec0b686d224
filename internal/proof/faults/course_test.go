//go:build proof

package faults

import (
	"fmt"
	"sync/atomic"
	"testing"
)

// course is a change without faults: the states before and after it, and the rows of the file when
// one more change has been made and the store was closed.
type course struct {
	request
	names
	before, after, end string
	calls              int // that the service makes to its store for it
}

// probe is a change that is made at the end, to see that changes can be made.
func probe(n names) request {
	return request{name: "probe", method: "PUT", path: "/apps/" + n.other + "/tags/probe", body: `{"appVersion":"0"}`,
		status: 201}
}

func newCourse(t *testing.T, r request) course {
	t.Helper()
	path, n := newFile(t)
	c := course{request: r, names: n}
	first, counting := gated(t, path, false)
	counting.arm(unknown, false, nil)
	first.do(r)
	if err := first.db.Close(); err != nil {
		t.Fatal(err)
	}
	// A service that has cached what it needs makes fewer calls. The calls of such a one are counted: its last one
	// failed before.
	path, _ = newFile(t)
	w, g := gated(t, path, false)
	g.arm(unknown, false, once(counting.calls))
	w.do(r)
	var err error
	if c.before, err = w.state(n); err != nil {
		t.Fatal(err)
	}
	g.arm(unknown, false, nil)
	a := w.do(r)
	c.calls = g.calls
	if a.status != r.status {
		t.Fatalf("without faults: %d %s", a.status, a.body)
	}
	if c.after, err = w.state(n); err != nil {
		t.Fatal(err)
	}
	if c.before == c.after {
		t.Fatal("this changes nothing")
	}
	c.end = c.finish(t, w)
	return c
}

func (c course) checkState(t *testing.T, name string, w *world, want string) {
	t.Helper()
	if have, err := w.state(c.names); err != nil {
		t.Fatalf("%s: reading: %v", name, err)
	} else if have != want {
		t.Fatalf("%s: %s", name, differ(have, want))
	}
}

// finish makes the probing change, closes the store and returns the rows of the file, which must be
// whole.
func (c course) finish(t *testing.T, w *world) string {
	t.Helper()
	if a := w.do(probe(c.names)); a.status != 201 {
		t.Fatalf("a change after it: %d %s", a.status, a.body)
	}
	if err := w.db.Close(); err != nil {
		t.Fatal(err)
	}
	end, err := rows(w.path)
	if err != nil {
		t.Fatal(err)
	}
	if err := check(w.path); err != nil {
		t.Fatal(err)
	}
	return end
}

// tally counts what was done.
type tally struct{ faults, requests, refused, absorbed atomic.Int64 }

func (n *tally) String() string {
	return fmt.Sprintf("%d requests met %d faults: %d were refused and done again, %d went through",
		n.requests.Load(), n.faults.Load(), n.refused.Load(), n.absorbed.Load())
}
