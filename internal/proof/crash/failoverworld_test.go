//go:build proof

package crash

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// world is a fleet on a pair, and who writes there.
type world struct {
	*pair
	*fleet
	writers  []Writer
	promoted chan struct{} // closed when the standby of this round takes writes

	lost time.Time // when this round's primary was stopped

	mu                          sync.Mutex
	acks                        []time.Time // of this round
	acknowledged, unknown, busy int         // of all rounds
}

func newWorld(t *testing.T, binary string, synchronous bool) *world {
	t.Helper()
	p := newPair(t, synchronous)
	w := &world{pair: p, fleet: newFleet(t, binary, p.address())}
	for i := range 8 {
		w.writers = append(w.writers, NewApps(urn, i))
	}
	for i := range 3 {
		w.writers = append(w.writers, NewAssets(urn, library, i))
	}
	for i := range 2 {
		w.writers = append(w.writers, newImporter(i))
	}
	return w
}

// round has everybody write, loses the primary meanwhile, and holds the service against what was
// answered. away is how long the standby was cut off before, 0 = not at all.
func (w *world) round(ctx context.Context, away time.Duration, all bool) error {
	w.acks, w.promoted = nil, make(chan struct{})
	writing, stop := context.WithCancel(ctx)
	defer stop()
	errs := make([]error, len(w.writers))
	var group sync.WaitGroup
	for i, who := range w.writers {
		group.Go(func() {
			if errs[i] = w.write(writing, who); errs[i] != nil {
				stop()
			}
		})
	}
	time.Sleep(time.Duration(300+rand.IntN(300)) * time.Millisecond)
	err := w.lose(ctx, away)
	if err == nil {
		err = w.goesOn(writing)
	}
	stop()
	group.Wait()
	if err := errors.Join(append(errs, err, w.running())...); err != nil {
		return err
	}
	return w.verify(all)
}

// lose has the standby take over.
func (w *world) lose(ctx context.Context, away time.Duration) error {
	defer close(w.promoted)
	if away > 0 {
		if err := w.cut(ctx); err != nil {
			return err
		}
		time.Sleep(away)
	}
	w.lost = time.Now()
	return w.failOver(ctx)
}

// goesOn returns when each process has acknowledged writes again, or somebody has stopped writing.
func (w *world) goesOn(writing context.Context) error {
	const enough = 20
	var begun [processes]int64
	for i := range begun {
		begun[i] = w.acked[i].Load()
	}
	for i := range begun {
		for w.acked[i].Load() < begun[i]+enough && writing.Err() == nil {
			if time.Since(w.lost) > 5*time.Minute {
				return fmt.Errorf("five minutes after the primary was lost process %d acknowledges nothing: %s", i,
					w.servers[i].Log())
			}
			time.Sleep(time.Millisecond)
		}
	}
	return nil
}

// write has one writer write until all are stopped.
func (w *world) write(writing context.Context, who Writer) error {
	c, err := w.client(who.User(), true)
	if err != nil {
		return err
	}
	for writing.Err() == nil {
		err := who.Step(c)
		w.note(err)
		unknown := errors.Is(err, ErrUnknown)
		switch {
		case err == nil:
			continue
		case unknown:
			<-w.promoted // what the old primary answers meanwhile would not be the last word
		case !errors.Is(err, ErrBusy):
			return fmt.Errorf("%s: %w", who.User(), err)
		}
		if err := who.Settle(c, unknown); err != nil {
			return fmt.Errorf("%s, after a write that may be there (%t): %w", who.User(), unknown, err)
		}
	}
	return nil
}

// note counts what a write came to.
func (w *world) note(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case err == nil:
		w.acks = append(w.acks, time.Now())
		w.acknowledged++
	case errors.Is(err, ErrUnknown):
		w.unknown++
	case errors.Is(err, ErrBusy):
		w.busy++
	}
}

// gap is the time from the loss of the primary to the acknowledgement that ends the longest pause.
// Answers that were on their way when it was lost come before that.
func (w *world) gap() time.Duration {
	longest, last, gap := time.Duration(0), w.lost, time.Duration(0)
	for _, at := range w.acks {
		if pause := at.Sub(last); pause > longest {
			longest, gap = pause, at.Sub(w.lost)
		}
		if at.After(last) {
			last = at
		}
	}
	return gap
}

// verify holds the service against what all writers were answered.
func (w *world) verify(all bool) error {
	for _, who := range w.writers {
		c, err := w.client(who.User(), !who.Owns())
		if err != nil {
			return err
		}
		if err := who.Verify(c, all); err != nil {
			return fmt.Errorf("%s: %w", who.User(), err)
		}
	}
	return nil
}
