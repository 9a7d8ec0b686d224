package webhook

import (
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitrine-go/vitrine/internal/proof"
)

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
		time.Sleep(5 * time.Second)
		f.apps.add("apps", "tag.set", 2)
		settle()
		f.expect("the second alone", "a:2")

		dead := &proof.FaultyStore{Store: f.store}
		second.end()
		third := f.startOn(dead, f.to, to("a"))
		settle()
		fourth := f.start(to("a"))
		time.Sleep(time.Minute)
		resume := dead.Stall() // as if it were killed
		f.apps.add("apps", "tag.set", 3)
		begun := time.Now()
		f.to.set(func(d delivery) (int, error) { return 200, nil })
		var got []delivery
		for len(got) < 2 && time.Since(begun) < time.Hour {
			time.Sleep(time.Second)
			got = append(got, f.to.all()...)
		}
		// The third posted before it stood still at the store, the fourth posts again, with the same id.
		if len(got) != 2 || got[0].n != 3 || got[1].n != 3 || got[0].id != got[1].id ||
			got[1].at.Sub(begun) > 30*time.Second {
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

// A delivery that is under way when the holder cannot renew its lease is given up before another process delivers.
func TestAHolderThatCannotRenewGivesItsDeliveryUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		var inFlight, most, posted atomic.Int64
		slow := roundTripper(func(r *http.Request) (*http.Response, error) {
			most.Store(max(most.Load(), inFlight.Add(1)))
			defer inFlight.Add(-1)
			posted.Add(1)
			select { // a receiver that takes as long as it may
			case <-time.After(respondWithin - time.Millisecond):
				return f.to.RoundTrip(r)
			case <-r.Context().Done():
				return nil, r.Context().Err()
			}
		})
		lost := &proof.FaultyStore{Store: f.store}
		first := f.startOn(lost, slow, to("a"))
		settle()
		second := f.startOn(f.store, slow, to("a"))
		time.Sleep(14 * time.Second) // the lease is renewed after 8 and 16 seconds
		lost.Fail(errors.New("unreachable"))
		time.Sleep(10 * time.Second)
		f.apps.add("apps", "tag.set", 1)
		time.Sleep(5 * time.Minute)
		if most.Load() != 1 || posted.Load() != 2 {
			t.Errorf("%d deliveries at the same time, %d together", most.Load(), posted.Load())
		}
		first.end()
		second.end()
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (fn roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return fn(r) }

// A holder that stood still in the middle of a delivery does not move the position that another has taken over.
func TestAStalledHolderMovesNoPosition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		stalled := &proof.FaultyStore{Store: f.store}
		first := f.startOn(stalled, f.to, to("a"))
		settle()
		second := f.start(to("a"))
		f.apps.add("apps", "tag.set", 1)
		settle()
		resume := stalled.Stall()
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
