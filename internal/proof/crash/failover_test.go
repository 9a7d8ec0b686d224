//go:build proof

package crash

import (
	"errors"
	"flag"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/internal/proof/program"
)

var wantedFailovers = flag.Int("failovers", 0, "how often the primary is lost; 0 = the short form")

func TestFailover(t *testing.T) {
	failovers := *wantedFailovers
	if failovers == 0 {
		failovers = 2
		if testing.Short() {
			failovers = 1
		}
	}
	w := newWorld(t, build(t), true)
	var gaps []time.Duration
	for i := range failovers {
		// A standby that was away is one that commits have waited for, so it lacks none of them.
		away := time.Duration(0)
		if i%2 == 1 {
			away = 200 * time.Millisecond
		}
		err := w.round(t.Context(), away, i == failovers-1)
		if err == nil && i < failovers-1 {
			err = w.rejoin(t.Context())
		}
		if err != nil {
			t.Fatalf("failover %d: %v", i+1, err)
		}
		gaps = append(gaps, w.gap())
	}
	slices.Sort(gaps)
	t.Logf("%d failovers, %d acknowledged, 0 lost, %d with an unknown outcome, %d refused as busy; the next "+
		"acknowledged write came %s to %s after the loss of the primary, median %s",
		failovers, w.acknowledged, w.unknown, w.busy, gaps[0], gaps[failovers-1], gaps[failovers/2])
	if w.acknowledged < 100*failovers {
		t.Error("hardly anything was written: this shows nothing")
	}
}

// Without what the promise rests on acknowledged writes are lost, and that is seen.
func TestALossByAFailoverIsFound(t *testing.T) {
	if testing.Short() {
		t.Skip("the controls are made without -short")
	}
	for name, control := range map[string]struct {
		synchronous bool
		edits       []program.Edit
	}{
		"nobody waits for the standby": {false, nil},
		"synchronous_commit is not overruled": {true,
			[]program.Edit{{File: "storage/postgres/settings.go", Old: `"synchronous_commit": "on"`,
				New: `"synchronous_commit": "off"`}}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, build(t, control.edits...), control.synchronous)
			err := w.round(t.Context(), time.Duration(200+rand.IntN(200))*time.Millisecond, true)
			if !errors.Is(err, ErrLost) {
				t.Errorf("a standby that was away has become the primary, and the error is %v", err)
			}
		})
	}
}
