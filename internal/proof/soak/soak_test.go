//go:build proof

package soak

import (
	"flag"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/internal/proof/program"
)

var (
	lasting   = flag.Duration("lasting", 0, "how long the load lasts, in rounds of a minute; 0 = the short form")
	theBinary = flag.String("server", "", "the server to load; the example server by default")
)

// course is how long the load goes on.
type course struct {
	warm, measured int           // rounds
	round          time.Duration // that a round takes at least; 0 = each kind of load once
	slack          float64       // MiB that memory in use may rise by
}

func TestSoak(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	binary := *theBinary
	if binary == "" {
		var err error
		if binary, err = (program.Build{Module: "../../..",
			Package: "./examples/vitrine"}).Run(t.TempDir()); err != nil {
			t.Fatal(err)
		}
	}
	c := shortForm
	if *lasting > 0 {
		rounds := max(int(*lasting/time.Minute), 8)
		// it takes a while to fill the caches
		c = course{warm: rounds / 2, measured: rounds - rounds/2, round: time.Minute, slack: 8}
	}
	// What rises once may be a matter of the machine and of when garbage was collected; what leaks rises each time.
	found := c.run(t, binary)
	for i := 0; i < 2 && len(found) > 0 && *lasting == 0; i++ {
		t.Log(found)
		found = c.run(t, binary)
	}
	for _, f := range found {
		t.Error(f)
	}
}

// shortForm is for every run of the tests.
var shortForm = course{warm: 3, measured: 10, slack: 4}

// run puts the load on a server, and returns what rises.
func (c course) run(t *testing.T, binary string) []string {
	t.Helper()
	w := newWorld(t, binary)
	w.prepare()
	var all []sample
	for round := range c.warm + c.measured {
		begun := time.Now()
		w.round(round, c.round)
		s := w.atRest()
		if t.Failed() {
			t.Fatalf("in round %d; the log ends with\n%s", round, tail(w.Log()))
		}
		t.Logf("round %d, %.1f s: %s; %s", round, time.Since(begun).Seconds(), s, w.told())
		if round >= c.warm {
			all = append(all, s)
		}
	}
	w.stop()
	return rising(all, c.slack)
}

// kind is one kind of load. It does its part of a round once.
type kind struct {
	name string
	do   func(w *world, round int)
}

// between is how long each kind of load rests before it comes again in the same round.
const between = 500 * time.Millisecond

// round has every kind of load at once, again and again until the time is over, and rotates the keys meanwhile.
func (w *world) round(round int, most time.Duration) {
	end := time.Now().Add(most)
	var all sync.WaitGroup
	for _, k := range kinds {
		all.Go(func() {
			for {
				k.do(w, round)
				w.count(k.name)
				if w.t.Failed() || !time.Now().Add(between).Before(end) {
					return
				}
				time.Sleep(between)
			}
		})
	}
	all.Go(func() { w.rotate(round) })
	all.Wait()
}

// atRest waits until no client is left and the garbage is collected, and reads the figures.
func (w *world) atRest() sample {
	w.t.Helper()
	w.client.CloseIdleConnections()
	have := w.until("the server is at rest", func(have map[string]float64) bool {
		return have["vitrine_http_requests_in_flight"] == 0 && have["vitrine_connections_open"] == 0 &&
			have["vitrine_event_streams_open"] == 0 &&
			have["vitrine_uploads_in_flight"] == 0 && have["vitrine_exports_in_flight"] == 0 &&
			have["vitrine_http_memory_bytes"] == 0 && have["vitrine_webhook_lag_seconds{webhook=\"all\"}"] == 0
	})
	// What a buffer pool holds survives one collection.
	for collected := have["go_gc_duration_seconds_count"] + 3; have["go_gc_duration_seconds_count"] < collected &&
		!w.t.Failed(); have = w.figures() {
		for range 20 {
			w.get("/x/reviews/export", 200)
		}
	}
	w.client.CloseIdleConnections()
	have = w.until("the last client has left", func(have map[string]float64) bool {
		return have["vitrine_http_requests_in_flight"] == 0 && have["vitrine_connections_open"] == 0
	})
	return sample{have["go_goroutines"], have["process_open_fds"] - 2*have["vitrine_sqlite_readers"],
		have["go_gc_heap_live_bytes"], have["process_resident_memory_bytes"]}
}

func tail(s string) string { return s[max(0, len(s)-3000):] }

// told says how often each kind of load was there since it was last asked.
func (w *world) told() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []string
	for _, k := range kinds {
		all = append(all, fmt.Sprintf("%d %s", w.done[k.name], k.name))
	}
	w.done = map[string]int{}
	return strings.Join(all, ", ")
}

func (w *world) count(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done[name]++
}
