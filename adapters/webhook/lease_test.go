package webhook

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// stalledStore is a store that a process cannot reach, or all of whose calls wait until resume is called.
type stalledStore struct {
	storage.Store
	mu   sync.Mutex
	err  error
	wait chan struct{}
	// unknown is how many updates are done and reported as ErrUnknown.
	unknown int
}

func (s *stalledStore) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

// stall makes every call wait until resume is called.
func (s *stalledStore) stall() (resume func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	wait := make(chan struct{})
	s.wait = wait
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.wait = nil
		close(wait)
	}
}

func (s *stalledStore) enter() error {
	s.mu.Lock()
	wait := s.wait
	s.mu.Unlock()
	if wait != nil {
		<-wait // whatever the context says: the process itself stands still
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

func (s *stalledStore) View(ctx context.Context, fn func(storage.Reader) error) error {
	if err := s.enter(); err != nil {
		return err
	}
	return s.Store.View(ctx, fn)
}

func (s *stalledStore) Update(ctx context.Context, space string, o storage.UpdateOptions, fn func(storage.Tx) error) error {
	if err := s.enter(); err != nil {
		return err
	}
	err := s.Store.Update(ctx, space, o, fn)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unknown > 0 {
		s.unknown--
		return storage.ErrUnknown
	}
	return err
}

// One of several processes delivers. When it ends, another goes on soon; when it dies, within 30 seconds.
func TestOneOfSeveralProcessesDelivers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		first := f.start(to("a"))
		settle()
		second := f.start(to("a"))
		f.apps.add("apps", "tag.set", 1)
		time.Sleep(10 * time.Minute)
		f.expect("two processes", "a:1")
		first.end()
		time.Sleep(watchEvery + time.Second)
		f.apps.add("apps", "tag.set", 2)
		settle()
		f.expect("the second alone", "a:2")

		dead := &stalledStore{Store: f.store}
		second.end()
		third := f.startOn(dead, f.to, to("a"))
		settle()
		fourth := f.start(to("a"))
		time.Sleep(time.Minute)
		resume := dead.stall() // as if it were killed
		f.apps.add("apps", "tag.set", 3)
		begun := time.Now()
		f.to.set(func(d delivery) (int, error) { return 200, nil })
		var got []delivery
		for len(got) < 2 && time.Since(begun) < time.Hour {
			time.Sleep(time.Second)
			got = append(got, f.to.all()...)
		}
		// The third posted before it stood still at the store, the fourth posts again, with the same id.
		if len(got) != 2 || got[0].n != 3 || got[1].n != 3 || got[0].id != got[1].id || got[1].at.Sub(begun) > 30*time.Second {
			t.Errorf("after %s: %+v", time.Since(begun), got)
		}
		f.apps.add("apps", "tag.set", 4)
		settle()
		f.expect("the fourth", "a:4")
		resume()
		time.Sleep(time.Hour)
		f.apps.add("apps", "tag.set", 5)
		settle()
		f.expect("the third came back", "a:5")
		third.end()
		fourth.end()
	})
}

// A holder that cannot reach the store gives up its delivery before another process begins one, at whatever moment between
// two renewals the store is lost.
func TestAHolderThatCannotRenewStopsInTime(t *testing.T) {
	for offset := range renewEvery / time.Second {
		for phase := range watchEvery / time.Second {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t)
				var inFlight, most, posted atomic.Int64
				slow := roundTripper(func(r *http.Request) (*http.Response, error) {
					most.Store(max(most.Load(), inFlight.Add(1)))
					defer inFlight.Add(-1)
					posted.Add(1)
					select { // a receiver that takes its time, as long as it may
					case <-time.After(respondWithin - time.Millisecond):
						return f.to.RoundTrip(r)
					case <-r.Context().Done():
						return nil, r.Context().Err()
					}
				})
				lost := &stalledStore{Store: f.store}
				first := f.startOn(lost, slow, to("a"))
				time.Sleep(time.Second/2 + phase*time.Second)
				second := f.startOn(f.store, slow, to("a"))
				time.Sleep(2*renewEvery - phase*time.Second + offset*time.Second)
				f.apps.add("apps", "tag.set", 1)
				settle()
				lost.fail(errors.New("unreachable"))
				time.Sleep(5 * time.Minute)
				if most.Load() != 1 || posted.Load() != 2 {
					t.Errorf("after %d s, with the other %d s later: %d deliveries at the same time, %d together", offset, phase, most.Load(), posted.Load())
				}
				first.end()
				second.end()
			})
		}
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (fn roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return fn(r) }

// A holder that stood still in the middle of a delivery does not move the position that another has taken over.
func TestAStalledHolderMovesNoPosition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		stalled := &stalledStore{Store: f.store}
		first := f.startOn(stalled, f.to, to("a"))
		settle()
		second := f.start(to("a"))
		f.apps.add("apps", "tag.set", 1)
		settle()
		resume := stalled.stall()
		f.apps.add("apps", "tag.set", 2) // the first delivers it, and stands still when it stores the position
		settle()
		f.expect("the first", "a:1 a:2")
		f.to.set(func(d delivery) (int, error) { return 0, errSilent })
		before := f.record(leaseKey)
		for begun := time.Now(); f.holder() == holderOf(t, before) && time.Since(begun) < time.Minute; {
			time.Sleep(time.Second)
		}
		if f.holder() == holderOf(t, before) {
			t.Fatal("the second has not taken over")
		}
		taken := f.position("a") // the second is in the middle of its first attempt
		if strings.Contains(taken, `"failed"`) {
			t.Fatalf("the second has not just taken over: %s", taken)
		}
		resume() // and so its update is done now
		settle()
		if now := f.position("a"); now != taken {
			t.Errorf("the position is %s, want %s", now, taken)
		}
		first.end()
		second.end()
	})
}

// Each write tests the lease: one that comes late, after another process has taken it, changes nothing.
func TestWritesTestTheLease(t *testing.T) {
	db := memory.New()
	first := acquire(t.Context(), db, slog.New(slog.DiscardHandler))
	if err := first.put(t.Context(), first.holder); err != nil {
		t.Fatal(err)
	}
	putRecord(t, db, leaseKey, leaseRecord{"second", 7})
	if err := first.put(t.Context(), first.holder, stored(positionKey("a"), 1)); !errors.Is(err, errLost) || first.valid.Err() == nil {
		t.Errorf("the first writes without the lease: %v, %v", err, first.valid.Err())
	}
	first.release(t.Context())
	f := fixture{t: t, store: db}
	if f.holder() != "second" || f.position("a") != "" {
		t.Errorf("the first has written %q, and %s", f.position("a"), f.record(leaseKey))
	}
}

// After a write of unknown outcome the process looks at what is stored: the write is not lost, and is not taken for one of
// another process.
func TestUnknownOutcomes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		s := &stalledStore{Store: f.store}
		p := f.startOn(s, f.to, to("a"))
		settle()
		for i := range 5 {
			s.mu.Lock()
			s.unknown = 1
			s.mu.Unlock()
			f.apps.add("apps", "tag.set", i)
			time.Sleep(time.Minute)
		}
		f.expect("each once", "a:0 a:1 a:2 a:3 a:4")
		if log := f.log.String(); strings.Contains(log, "another process") {
			t.Error(log)
		}
		p.end()
	})
}

// Processes that start at the same time agree on one.
func TestManyProcessesStartAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		var all []*process
		for range 8 {
			all = append(all, f.start(to("a"), to("b")))
		}
		for i := range 50 {
			f.apps.add("apps", "tag.set", i)
			time.Sleep(time.Second)
			if i%10 == 9 {
				all[i/10].end()
			}
		}
		time.Sleep(time.Minute)
		next := map[string]int{}
		for _, d := range f.to.all() {
			if d.n != next[d.host] {
				t.Errorf("%s got %d, want %d", d.host, d.n, next[d.host])
			}
			next[d.host] = d.n + 1
		}
		if next["a"] != 50 || next["b"] != 50 {
			t.Errorf("%v", next)
		}
		for _, p := range all {
			p.end()
		}
	})
}
