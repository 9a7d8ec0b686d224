//go:build proof

package faults

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// gated is a world with a gate between the service and its stores.
func gated(t *testing.T, path string, again bool) (*world, *gate) {
	t.Helper()
	g := &gate{again: again}
	w, err := openWorld(path, nil, g.change)
	if err != nil {
		t.Fatal(err)
	}
	return w, g
}

// refusals are what a request is answered with by what a call of its store failed with.
var refusals = [...]struct {
	name       string
	status     int
	retryAfter string
}{unknown: {"an error", 500, ""}, busy: {"busy", 503, "1"}, noRoom: {"full", 507, ""}}

// The Nth call that the service makes to its store fails, for every N. All of them happen to one
// service: none of them spoils it.
func TestTheNthCallToTheStoreFails(t *testing.T) {
	var n tally
	t.Run("changes", func(t *testing.T) {
		_, names := filled()
		for _, r := range chosen(names) {
			t.Run(r.name, func(t *testing.T) {
				t.Parallel()
				c := newCourse(t, r)
				path, _ := newFile(t)
				w, g := gated(t, path, false)
				for i, late := range []bool{false, true, false, true, false} {
					c.refused(t, w, g, kind((i+1)/2), late, &n)
				}
				if a := w.do(r); a.status != r.status {
					t.Fatalf("in the end it is answered %d %s", a.status, a.body)
				}
				c.checkState(t, "after all of these", w, c.after)
				if end := c.finish(t, w); end != c.end {
					t.Fatalf("in the end, %s", differ(end, c.end))
				}
			})
		}
	})
	t.Log(&n)
}

// refused makes the change with its Nth call failing, for every N.
func (c course) refused(t *testing.T, w *world, g *gate, k kind, late bool, n *tally) {
	t.Helper()
	step := 1
	if testing.Short() {
		step = 6
	}
	for number := 1 + rand.IntN(step); number <= c.calls; number += step {
		g.arm(k, late, once(number))
		a := w.do(c.request)
		failed := g.failed
		g.arm(unknown, false, nil)
		name := fmt.Sprintf("call %d of %d fails, %s, late: %t", number, c.calls, refusals[k].name, late)
		if failed == 0 {
			t.Fatalf("%s: it is not made, and the answer is %d", name, a.status)
		}
		if want := refusals[k]; a.status != want.status || a.header.Get("Retry-After") != want.retryAfter {
			t.Fatalf("%s: answered %d %s, want %d", name, a.status, a.body, want.status)
		}
		n.requests.Add(1)
		n.refused.Add(1)
		n.faults.Add(int64(failed))
		c.checkState(t, name, w, c.before)
	}
}

// A read whose Nth call fails is answered with an error, never with a part of the data.
func TestTheNthCallOfALookFails(t *testing.T) {
	path, names := newFile(t)
	w, g := gated(t, path, false)
	defer w.db.Close()
	looked := 0
	for _, look := range looks(names) {
		r := request{method: "GET", path: look}
		w.send(r) // what is read once and kept, is kept now
		g.arm(unknown, false, nil)
		whole := w.send(r)
		calls := g.calls
		for number := range calls {
			for k, want := range refusals {
				g.arm(kind(k), false, once(number+1))
				if a := w.send(r); a.status != want.status || a.header.Get("Retry-After") != want.retryAfter {
					t.Errorf("GET %s, call %d of %d fails, %s: %d %s", look, number+1, calls, want.name, a.status,
						a.body)
				}
				looked++
			}
			g.arm(unknown, false, nil)
			if a := w.send(r); a.status != whole.status || a.body != whole.body {
				t.Errorf("GET %s after call %d has failed: %d %s, want %d %s", look, number+1, a.status, a.body,
					whole.status, whole.body)
			}
		}
	}
	t.Logf("%d looks with a fault, none of them was answered", looked)
}

// A store may call the function of an update again. Only the last call has an effect.
func TestUpdatesThatAreCalledAgain(t *testing.T) {
	_, names := filled()
	for _, r := range chosen(names) {
		t.Run(r.name, func(t *testing.T) {
			c := newCourse(t, r)
			path, _ := newFile(t)
			w, _ := gated(t, path, true)
			if a := w.do(r); a.status != r.status {
				t.Fatalf("answered %d %s", a.status, a.body)
			}
			c.checkState(t, "called again", w, c.after)
			if end := c.finish(t, w); end != c.end {
				t.Fatalf("in the end, %s", differ(end, c.end))
			}
		})
	}
}
